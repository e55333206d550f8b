// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Analysis of kernels that compute attention: two products in one loop.
#include "Dialect/Tile/Analysis/Products.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace adze::tile {

namespace {

unsigned getRank(Value tile) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  return type ? type.getRank() : 0;
}

bool isZero(Value tile) {
  if (auto broadcast = tile.getDefiningOp<BroadcastOp>())
    tile = broadcast.getSource();
  return matchPattern(tile, m_AnyZeroFloat());
}

class Finder {
public:
  Finder(KernelOp kernel, std::string &why) : kernel(kernel), why(why) {}

  LogicalResult run(Attention &result) {
    SmallVector<DotOp> dots;
    kernel.walk([&](DotOp dot) { dots.push_back(dot); });
    if (dots.size() != 2 || dots[0]->getBlock() != dots[1]->getBlock())
      return fail(Twine(dots.size()) + " products");
    result.scores = dots[0];
    result.output = dots[1];
    result.loop = dyn_cast<scf::ForOp>(dots[0]->getParentOp());
    result.ids = kernel.getProgramId();
    if (!result.loop || result.loop->getBlock() != &kernel.getBody().front() ||
        !result.ids || result.ids.getOrdered() || kernel.hasPhases())
      return fail("the products are not in one loop");
    if (failed(findOperands(result)) || failed(checkLoop(result)))
      return failure();
    return checkEpilogue(result);
  }

private:
  LogicalResult fail(const Twine &what) {
    why = what.str();
    return failure();
  }

  LogicalResult findOperands(Attention &result) {
    result.keys = result.scores.getLhs().getDefiningOp<LoadOp>();
    result.query = result.scores.getRhs().getDefiningOp<LoadOp>();
    result.values = result.output.getLhs().getDefiningOp<LoadOp>();
    for (LoadOp load : {result.keys, result.query, result.values})
      if (!load || !load.getResult().hasOneUse() ||
          load.getResult().getType().getRank() != 2 ||
          llvm::any_of(load.getSteps(), [](int64_t s) { return s != 1; }))
        return fail("an operand is not loaded for a product alone");
    Block *body = result.loop.getBody();
    if (result.keys->getBlock() != body || result.values->getBlock() != body ||
        result.query->getBlock() == body || !isZero(result.scores.getAcc()))
      return fail("the operands are not loaded where attention loads them");
    return success();
  }

  LogicalResult checkLoop(Attention &result) {
    Value sums = result.output.getResult();
    if (!sums.hasOneUse() || !isa<scf::YieldOp>(*sums.getUsers().begin()))
      return fail("the loop does not carry the sums");
    unsigned number = result.getSumsNumber();
    for (auto [i, init] : llvm::enumerate(result.loop.getInitArgs())) {
      if (i == number ? !isZero(init) : getRank(init) != 1)
        return fail("the loop carries values other than sums and rows");
      if (!getElementTypeOrSelf(init.getType()).isF32())
        return fail("the sums are not f32");
    }
    for (Operation &op : result.loop.getBody()->without_terminator()) {
      if (op.getNumResults() != 1)
        return fail("the loop contains '" + op.getName().getStringRef() + "'");
      auto reduce = dyn_cast<ReduceOp>(op);
      bool known =
          reduce ? reduce.getDim() == 0 && getRank(reduce.getSource()) == 2
                 : isa<DotOp, LoadOp, BroadcastOp, IotaOp, arith::ConstantOp>(
                       op) ||
                       op.hasTrait<OpTrait::Elementwise>() ||
                       getRank(op.getResult(0)) == 0;
      if (!known || op.getNumRegions())
        return fail("the loop contains '" + op.getName().getStringRef() + "'");
    }
    return checkSums(result);
  }

  /// The accumulator of the second product alone depends on the sums: weights
  /// are computed before the product of the block before is complete.
  LogicalResult checkSums(Attention &result) {
    Value sums = result.loop.getRegionIterArgs()[result.getSumsNumber()];
    llvm::SetVector<Operation *> slice;
    getForwardSlice(sums, &slice);
    Operation *output = result.output, *yield = *output->getUsers().begin();
    for (Operation *op : slice)
      if (op != output && op != yield &&
          llvm::is_contained(output->getOperands().drop_back(),
                             op->getResult(0)))
        return fail("the weights depend on the sums");
    for (Value v : yield->getOperands())
      if (v != result.output.getResult() &&
          (v == sums || slice.contains(v.getDefiningOp())))
        return fail("the rows depend on the sums");
    return success();
  }

  LogicalResult checkEpilogue(Attention &result) {
    for (Operation &op : kernel.getBody().front()) {
      if (auto store = dyn_cast<StoreOp>(op)) {
        result.stores.push_back(store);
        if (getRank(store.getValue()) != 2)
          return fail("a result has dims other than the product's");
        continue;
      }
      bool known =
          &op == result.loop ||
          isa<ParamOp, ProgramIdOp, ReturnOp, LoadOp, BroadcastOp>(op) ||
          (!op.getNumRegions() &&
           (op.hasTrait<OpTrait::Elementwise>() || isa<arith::ConstantOp>(op) ||
            (op.getNumResults() == 1 && getRank(op.getResult(0)) == 0)));
      if (!known)
        return fail("the kernel also contains '" + op.getName().getStringRef() +
                    "'");
    }
    return result.stores.empty() ? fail("the kernel stores no result")
                                 : success();
  }

  KernelOp kernel;
  std::string &why;
};

} // namespace

bool Attention::isTriangular() {
  llvm::SetVector<Operation *> slice;
  getForwardSlice(ids.getResult(0), &slice);
  return slice.contains(loop.getUpperBound().getDefiningOp());
}

FailureOr<HeadSizes> Attention::getHeadSizes(std::string &why) {
  constexpr int64_t columns = 8, instructionBytes = 32, rowBytes = 128,
                    most = 256;
  int64_t depth = query.getStaticSizes()[0];
  for (int64_t size : {depth, getColumns()})
    if (size % columns != 0 || size > most)
      return why = "the head size is not a multiple of 8 up to 256", failure();
  int64_t bytes = keys.getMemref().getType().getElementTypeBitWidth() / 8;
  if (bytes == 0)
    return why = "the elements have less than 8 bits", failure();
  bool isWhole = depth * bytes % instructionBytes == 0;
  auto isAlone = [&](LoadOp load, unsigned depthDim) {
    return load.getMemref().getType().getDimSize(load.getMemDims()[depthDim]) ==
           depth;
  };
  if (!isWhole && (!isAlone(keys, 1) || !isAlone(query, 0)))
    return why = "the head size is not a multiple of 16, and its elements are "
                 "a part of longer rows",
           failure();
  int64_t granule = rowBytes / bytes;
  return HeadSizes{depth, getColumns(), int64_t(llvm::alignTo(depth, granule)),
                   int64_t(llvm::alignTo(getColumns(), granule))};
}

FailureOr<Attention> findAttention(KernelOp kernel, std::string &why) {
  Attention result;
  if (failed(Finder(kernel, why).run(result)))
    return failure();
  return result;
}

} // namespace adze::tile
