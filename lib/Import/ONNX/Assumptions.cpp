// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes that ops need to agree, collected where the model cannot say that they
// do: inside of a kernel nothing would stop a read beyond the end of a tensor.
#include "Assumptions.h"
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace adze::graph;

namespace {

class Collector {
public:
  Collector(MLIRContext *context, unsigned numSymbols)
      : context(context), numSymbols(numSymbols) {}

  void visit(Operation *op);

  void equal(AffineExpr lhs, AffineExpr rhs) {
    if (lhs && rhs && !areEqual(lhs, rhs))
      equalities.insert(getMap({lhs, rhs}));
  }

  llvm::SetVector<Attribute> broadcasts, equalities;

private:
  void equal(Value vector, AffineExpr size) {
    if (vector)
      equal(getDims(vector)[0], size);
  }
  Attribute getMap(ArrayRef<AffineExpr> sizes) {
    return AffineMapAttr::get(AffineMap::get(0, numSymbols, sizes, context));
  }
  void visitElementwise(Operation *op);
  void visitMatmul(MatmulOp op);
  template <typename OpT>
  void visitConvolution(OpT op);
  template <typename OpT>
  void visitNorm(OpT op, int64_t axis);

  MLIRContext *context;
  unsigned numSymbols;
};

} // namespace

/// A size other than 1 wins over an unknown one, which has to be 1 or the same:
/// no expression of the result says so.
void Collector::visitElementwise(Operation *op) {
  Dims result = getDims(op->getResult(0));
  for (Value operand : op->getOperands()) {
    Dims dims = getDims(operand);
    for (auto [size, to] :
         llvm::zip(llvm::reverse(dims), llvm::reverse(result)))
      if (size && to && getConstant(size) != 1 && !areEqual(size, to) &&
          getBroadcastSizes(to).empty())
        broadcasts.insert(getMap({size, to}));
  }
}

void Collector::visitMatmul(MatmulOp op) {
  Dims lhs = getDims(op.getLhs()), rhs = getDims(op.getRhs());
  equal(lhs[lhs.size() - (op.getTransposeA() ? 2 : 1)],
        rhs[rhs.size() - (op.getTransposeB() ? 1 : 2)]);
}

/// The channels of the input, and one bias an output channel.
template <typename OpT>
void Collector::visitConvolution(OpT op) {
  Dims input = getDims(op.getInput()), filter = getDims(op.getFilter());
  Dims result = getDims(op.getResult());
  bool last = op.getLayout() == Layout::NHWC;
  AffineExpr group = getAffineConstantExpr(op.getGroup(), context);
  AffineExpr channels = last ? input.back() : input[1];
  if constexpr (std::is_same_v<OpT, ConvOp>)
    equal(channels, mulExprs(filter[1], group));
  else
    equal(channels, filter[0]);
  equal(op.getBias(), last ? result.back() : result[1]);
}

template <typename OpT>
void Collector::visitNorm(OpT op, int64_t axis) {
  AffineExpr channels = getDims(op.getInput())[axis];
  for (Value vector : op->getOperands().drop_front())
    equal(vector, channels);
}

void Collector::visit(Operation *op) {
  for (Value result : op->getResults()) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    for (AffineExpr dim : getDims(result))
      if (dim)
        dim.walk([&](AffineExpr part) {
          auto sizes = getBroadcastSizes(part);
          if (!sizes.empty())
            broadcasts.insert(getMap(sizes));
        });
  }
  if (isa<ElementwiseOpInterface>(op))
    visitElementwise(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](MatmulOp op) { visitMatmul(op); })
      .Case<ConvOp, ConvTransposeOp>([&](auto op) { visitConvolution(op); })
      .Case<BatchNormOp, InstanceNormOp>(
          [&](auto op) { visitNorm(op, op.getAxis()); })
      .Case([&](GroupNormOp op) { visitNorm(op, 1); })
      .Case([&](ConcatOp op) {
        Dims first = getDims(op.getInputs().front());
        for (Value input : op.getInputs().drop_front())
          for (auto [dim, size] : llvm::enumerate(getDims(input)))
            if (int64_t(dim) != int64_t(op.getAxis()))
              equal(size, first[dim]);
      })
      .Case([&](ReshapeOp op) {
        if (!op.getShape())
          equal(product(context, getDims(op.getInput())),
                product(context, getDims(op.getResult())));
      })
      .Case([&](ScatterElementsOp op) {
        for (auto [index, update] :
             llvm::zip(getDims(op.getIndices()), getDims(op.getUpdates())))
          equal(index, update);
      });
}

void adze::importer::addAssumptions(
    func::FuncOp function, unsigned numSymbols,
    ArrayRef<std::pair<AffineExpr, AffineExpr>> equalities) {
  Collector collector(function.getContext(), numSymbols);
  for (auto [lhs, rhs] : equalities)
    collector.equal(lhs, rhs);
  // What a branch takes for granted need not hold where it is not taken.
  function.walk([&](Operation *op) {
    if (op->getParentOp() == function)
      collector.visit(op);
  });
  auto set = [&](StringRef name, const llvm::SetVector<Attribute> &maps) {
    if (!maps.empty())
      function->setAttr(
          name, ArrayAttr::get(function.getContext(), maps.getArrayRef()));
  };
  set(broadcastsAttr, collector.broadcasts);
  set(equalitiesAttr, collector.equalities);
}
