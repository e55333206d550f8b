// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-set-precision: computes products of f32 tensors in a type of less
// precision.
#include "AttentionViews.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Precision.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Matching.h"
#include "PrecisionProducts.h"
#include "mlir/IR/BuiltinOps.h"

namespace adze::graph {
#define GEN_PASS_DEF_SETPRECISIONPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

class SetPrecisionPass final
    : public adze::graph::impl::SetPrecisionPassBase<SetPrecisionPass> {
public:
  using SetPrecisionPassBase::SetPrecisionPassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    bool isTF32 = type == "tf32";
    narrow = isTF32          ? Type(FloatTF32Type::get(context))
             : type == "f16" ? Type(Float16Type::get(context))
                             : Type(BFloat16Type::get(context));
    if (isTF32 && !tile::findCudaTarget(getOperation()))
      return;
    if (failed(findUnits()))
      return signalPassFailure();
    if (isTF32)
      return allowRounding();
    SmallVector<Operation *> products;
    for (auto [i, op] :
         llvm::enumerate(findPrecisionProducts(getOperation(), narrow)))
      if (suits(op) && !llvm::is_contained(wide, int64_t(i)))
        products.push_back(op);
    SmallVector<AttentionOp> attentions;
    getOperation().walk([&](AttentionOp op) {
      if (!getElement(op.getResult()).isF32() || !suitsMatrices(op))
        return;
      if (storesNarrow(op))
        attentions.push_back(op);
      else
        allowRounding(op);
    });
    IRRewriter b(&getContext());
    for (Operation *op : products) {
      b.setInsertionPoint(op);
      if (auto conv = dyn_cast<ConvOp>(op))
        padChannels(b, conv);
      for (OpOperand &operand : op->getOpOperands().take_front(2)) {
        Value x = operand.get();
        operand.set(
            CastOp::create(b, op->getLoc(), makeType(narrow, getDims(x)), x));
      }
      op->setAttr("wide_result", b.getUnitAttr());
      ++narrowed;
    }
    // The products that read them round them now.
    for (AttentionOp op : attentions)
      narrowAttention(op);
  }

private:
  /// Allows the unit to round the operands, as tf32 is not a tensor type. This
  /// includes products of two activations.
  void allowRounding() {
    getOperation().walk([&](Operation *op) {
      if (isPrecisionProduct(op, narrow))
        allowRounding(op);
    });
  }

  void allowRounding(Operation *op) {
    op->setAttr(kPrecisionAttribute, TypeAttr::get(narrow));
    ++narrowed;
  }

  /// Finds the instruction in all targets, and its group of elements along the
  /// contracted dim.
  LogicalResult findUnits() {
    Type f32 = Float32Type::get(&getContext());
    for (Attribute target : tile::getTargets(getOperation())) {
      tile::TargetUnitAttr unit;
      if (auto cpu = dyn_cast<tile::CpuTargetAttr>(target))
        unit = cpu.findUnit(narrow, narrow, f32);
      else if (auto cuda = dyn_cast<tile::CudaTargetAttr>(target))
        unit = cuda.findUnit(narrow, narrow, f32);
      if (!unit)
        return emitError(UnknownLoc::get(&getContext()),
                         "unsupported: --precision=")
               << type << ": "
               << cast<tile::CodegenTargetAttrInterface>(target).getChip()
               << " has no instruction for products of " << narrow
               << "; leave the flag out, or name another "
               << (isa<tile::CpuTargetAttr>(target) ? "CPU by --mcpu"
                                                    : "target");
      group = std::max(group, unit.getGroup());
    }
    return success();
  }

  /// Returns true if instructions of all targets multiply the matrices of
  /// attention. CPUs gain nothing from those that multiply vectors, as operands
  /// are not in groups, and need whole registers of the elements of a value,
  /// and of queries. Attention in f32 remains if a product does, as the error
  /// of each is not known.
  bool suitsMatrices(AttentionOp op) {
    Type f32 = Float32Type::get(&getContext());
    ArrayRef<Attribute> targets = tile::getTargets(getOperation());
    Dims dims = getDims(op.getResult());
    auto queries = getConstant(dims.end()[-2]), size = getConstant(dims.back());
    return !targets.empty() && llvm::all_of(targets, [&](Attribute target) {
      auto cpu = dyn_cast<tile::CpuTargetAttr>(target);
      auto unit = cpu ? cpu.findMatrixUnit(narrow, narrow, f32)
                      : tile::TargetUnitAttr();
      return !cpu ||
             (wide.empty() && unit && size && *size % unit.getShape()[0] == 0 &&
              queries.value_or(INT64_MAX) >= unit.getShape()[1]);
    });
  }

  /// Returns true if the operands of attention are stored in the type. CPUs
  /// read others in f32 and round them in the kernel: a cast of a cache would
  /// read and write all of it for each token.
  bool storesNarrow(AttentionOp op) {
    return tile::findCudaTarget(getOperation()) ||
           llvm::all_of(ValueRange{op.getQuery(), op.getKey(), op.getValue()},
                        [&](Value operand) { return isOfProduct(operand); });
  }

  /// Returns true if a product computes the value, up to data movement and
  /// elementwise operations.
  static bool isOfProduct(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (isa<MatmulOp>(op))
        return true;
      bool isOfOne = isa<ReshapeOp, TransposeOp, SliceOp>(op) ||
                     isa<ElementwiseOpInterface>(op);
      if (!isOfOne || op->getNumOperands() == 0)
        return false;
      value = op->getOperand(0);
    }
    return false;
  }

  /// Returns true if the contracted dim is a multiple of the group, or will be
  /// padded to it.
  bool suits(Operation *op) {
    auto matmul = dyn_cast<MatmulOp>(op);
    if (auto conv = dyn_cast<ConvOp>(op);
        conv && (getShallowChannels(conv, narrow) || formsBand(conv, narrow)))
      return true;
    Dims weight = getDims(op->getOperand(1));
    auto depth = getConstant(
        matmul ? weight.end()[matmul.getTransposeB() ? -1 : -2] : weight[1]);
    return depth && (*depth % group == 0 || (!matmul && paysPadding(*depth)));
  }

  /// Returns true if products of groups are faster than those of f32 if the
  /// channels of an image are padded to whole groups. Matrix units would mostly
  /// multiply padding.
  bool paysPadding(int64_t channels) {
    Type f32 = Float32Type::get(&getContext());
    return int64_t(llvm::alignTo(channels, group)) < group * channels &&
           llvm::all_of(
               tile::getTargets(getOperation()),
               [&](Attribute target) {
                 auto cpu = dyn_cast<tile::CpuTargetAttr>(target);
                 return cpu && !cpu.findMatrixUnit(narrow, narrow, f32);
               });
  }

  /// Pads the channels of the images and of the filter to whole groups. As the
  /// images are copied, the pads of the convolution become part of them, too.
  void padChannels(OpBuilder &b, ConvOp op) {
    auto channels = getConstant(getDims(op.getFilter())[1]);
    if (!channels || *channels % group == 0 || !paysPadding(*channels))
      return;
    int64_t rank = getRank(op.getInput());
    SmallVector<int64_t> low(rank), high(rank), pads(op.getPads());
    high[1] = llvm::alignTo(*channels, group) - *channels;
    op.setOperand(
        1, PadOp::create(b, op.getLoc(), op.getFilter(), Value(), low, high));
    for (int64_t d = 2; d < rank; ++d) {
      std::swap(low[d], pads[d - 2]);
      std::swap(high[d], pads[rank - 4 + d]);
    }
    op.setOperand(
        0, PadOp::create(b, op.getLoc(), op.getInput(), Value(), low, high));
    op.setPads(pads);
  }

  /// Rounds query, keys and values before data movement, so that the kernels
  /// that compute them round; also rounds the result, which is extended again
  /// unless its users round it.
  void narrowAttention(AttentionOp op) {
    for (OpOperand *operand :
         {&op.getQueryMutable(), &op.getKeyMutable(), &op.getValueMutable()})
      operand->set(roundSource(operand->get()));
    Value result = op.getResult();
    SmallVector<Operation *> moves;
    CastOp rounds = findNarrowing(result, narrow, moves);
    result.setType(withElement(result, narrow));
    ++narrowed;
    if (rounds) {
      for (Operation *moved : moves)
        moved->getResult(0).setType(withElement(moved->getResult(0), narrow));
      rounds.getResult().replaceAllUsesWith(rounds.getInput());
      rounds.erase();
      return;
    }
    OpBuilder b(&getContext());
    b.setInsertionPointAfter(op);
    auto wide = CastOp::create(
        b, op.getLoc(), withElement(result, Float32Type::get(&getContext())),
        result);
    result.replaceAllUsesExcept(wide, wide);
  }

  /// Returns the value in the narrow type, rounded before all data movement.
  /// Values with one source share the rounded value.
  Value roundSource(Value value) {
    Value &rounded = roundedSources[value];
    if (rounded)
      return rounded;
    OpBuilder b(&getContext());
    b.setInsertionPointAfterValue(value);
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<ReshapeOp, TransposeOp, SliceOp>(op) ||
        op->getNumOperands() != 1)
      return rounded = CastOp::create(b, value.getLoc(),
                                      withElement(value, narrow), value);
    Operation *moved = b.clone(*op);
    moved->getResult(0).setType(withElement(value, narrow));
    Value source = roundSource(op->getOperand(0));
    moved->setOperand(0, source);
    return roundedSources[value] = moved->getResult(0);
  }

  Type narrow;
  int64_t group = 1;
  DenseMap<Value, Value> roundedSources;
};

} // namespace
