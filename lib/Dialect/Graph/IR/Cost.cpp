// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The cost of ops as expressions of the symbols.
#include "Infer.h"

using namespace mlir;
using namespace adze::graph;

AffineExpr op_detail::getElementCost(MLIRContext *context, Type type,
                                     int64_t perElement) {
  return mulExprs(product(context, getDims(type)),
                  getAffineConstantExpr(perElement, context));
}

AffineExpr op_detail::getElementwiseFlops(Operation *op, int64_t perElement) {
  return getElementCost(op->getContext(), op->getResult(0).getType(),
                        perElement);
}

AffineExpr op_detail::getBytes(MLIRContext *context, TypeRange types) {
  AffineExpr total = getAffineConstantExpr(0, context);
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    unsigned bits = tensor.getElementType().getIntOrFloatBitWidth();
    AffineExpr elements = product(context, getDims(type));
    AffineExpr perByte =
        getAffineConstantExpr(bits < 8 && bits > 1 ? 8 / bits : 1, context);
    AffineExpr bytes = getAffineConstantExpr(bits < 8 ? 1 : bits / 8, context);
    AffineExpr rounded = addExprs(
        elements, subExprs(perByte, getAffineConstantExpr(1, context)));
    total = addExprs(total, mulExprs(floorDivExprs(rounded, perByte), bytes));
  }
  return total;
}

// Ops that only move elements have no operations.
#define ADZE_NO_FLOPS(OP)                                                      \
  AffineExpr OP::getFlops() { return getAffineConstantExpr(0, getContext()); }
ADZE_NO_FLOPS(ReshapeOp)
ADZE_NO_FLOPS(TransposeOp)
ADZE_NO_FLOPS(BroadcastToOp)
ADZE_NO_FLOPS(ConcatOp)
ADZE_NO_FLOPS(EmptyOp)
ADZE_NO_FLOPS(InsertSliceOp)
ADZE_NO_FLOPS(SliceOp)
ADZE_NO_FLOPS(PadOp)
ADZE_NO_FLOPS(ReverseOp)
ADZE_NO_FLOPS(TriluOp)
ADZE_NO_FLOPS(GatherOp)
ADZE_NO_FLOPS(GatherElementsOp)
ADZE_NO_FLOPS(GatherNDOp)
ADZE_NO_FLOPS(OneHotOp)
ADZE_NO_FLOPS(NonZeroOp)
ADZE_NO_FLOPS(ShapeOp)
ADZE_NO_FLOPS(EntropyOp)
ADZE_NO_FLOPS(BitcastOp)
ADZE_NO_FLOPS(ByteLookupOp)
#undef ADZE_NO_FLOPS

// There is one operation for each element of the operand that is read or
// combined.
#define ADZE_FLOPS_OF(OP, VALUE, COUNT)                                        \
  AffineExpr OP::getFlops() {                                                  \
    return op_detail::getElementCost(getContext(), VALUE.getType(), COUNT);    \
  }
ADZE_FLOPS_OF(ScatterElementsOp, getUpdates(), 1)
ADZE_FLOPS_OF(ScatterNDOp, getUpdates(), 1)
ADZE_FLOPS_OF(RangeOp, getResult(), 2)
ADZE_FLOPS_OF(CumsumOp, getInput(), 1)
ADZE_FLOPS_OF(CumprodOp, getInput(), 1)
ADZE_FLOPS_OF(TopKOp, getInput(), 1)
ADZE_FLOPS_OF(SelectBoxesOp, getScores(), 1)
ADZE_FLOPS_OF(ArgMaxOp, getInput(), 1)
ADZE_FLOPS_OF(ArgMinOp, getInput(), 1)
#undef ADZE_FLOPS_OF

AffineExpr TreeLeavesOp::getFlops() {
  // The number of comparisons on a path of typical length.
  constexpr int64_t depth = 8;
  return op_detail::getElementwiseFlops(*this, depth);
}

AffineExpr ResizeOp::getFlops() {
  // A dim has 2 taps for linear and 4 for cubic interpolation; nearest only
  // reads.
  int64_t taps = getMode() == ResizeMode::Linear  ? 2
                 : getMode() == ResizeMode::Cubic ? 4
                                                  : 0;
  int64_t perElement = taps ? 2 : 0;
  Dims from = getDims(getInput()), to = getDims(getResult());
  for (auto [in, out] : llvm::zip_equal(from, to))
    if (taps && !areEqual(in, out))
      perElement *= taps;
  return op_detail::getElementCost(getContext(), getResult().getType(),
                                   perElement);
}
