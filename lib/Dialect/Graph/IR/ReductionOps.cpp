// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Inference of reductions, and their arithmetic.
#include "Dialect/Graph/IR/Reduced.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Infer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze::graph;
using namespace adze::graph::op_detail;

int64_t adze::graph::getLongestTileRow(Operation *op) {
  constexpr int64_t ofCpu = 16384, ofGpu = 32768;
  return tile::findCudaTarget(op) ? ofGpu : ofCpu;
}

std::optional<Reduced> adze::graph::getReduced(Operation *op) {
  auto ofPlace = [](auto op) {
    return Reduced{op.getInput(),
                   op.getResult(),
                   {int64_t(op.getAxis())},
                   op.getKeepdims()};
  };
  if (auto most = dyn_cast_or_null<ArgMaxOp>(op))
    return ofPlace(most);
  if (auto least = dyn_cast_or_null<ArgMinOp>(op))
    return ofPlace(least);
  auto reduce = dyn_cast_or_null<ReduceOpInterface>(op);
  if (!reduce)
    return std::nullopt;
  return Reduced{reduce.getInput(), op->getResult(0),
                 SmallVector<int64_t>(reduce.getAxes()), reduce.getKeepdims()};
}

bool adze::graph::reducesAlike(const Reduced &lhs, const Reduced &rhs) {
  return lhs.axes == rhs.axes &&
         areEqual(getDims(lhs.input), getDims(rhs.input));
}

LogicalResult op_detail::inferReduce(Where where, StringRef name, Value input,
                                     ArrayRef<int64_t> axes, bool keepdims,
                                     Types &types) {
  Dims dims = getDims(input);
  int64_t previous = -1;
  for (int64_t axis : axes) {
    if (axis <= previous || axis >= int64_t(dims.size()))
      return emitOptionalError(where, "'", name,
                               "' op expected ascending axes in [0, ",
                               dims.size(), "), but got [", axes, "]");
    previous = axis;
  }
  AffineExpr one = getAffineConstantExpr(1, input.getContext());
  Dims result;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (!llvm::is_contained(axes, int64_t(i)))
      result.push_back(dim);
    else if (keepdims)
      result.push_back(one);
  }
  types.push_back(makeType(getElement(input), result));
  return success();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

namespace {

Value buildAbs(ElementBuilder &b, Value x) {
  if (isa<FloatType>(getElementTypeOrSelf(x)))
    return math::AbsFOp::create(b.builder, b.loc, x);
  return math::AbsIOp::create(b.builder, b.loc, x);
}

Value buildSquare(ElementBuilder &b, Value x) {
  if (isa<FloatType>(getElementTypeOrSelf(x)))
    return arith::MulFOp::create(b.builder, b.loc, x, x);
  return arith::MulIOp::create(b.builder, b.loc, x, x);
}

/// Applies `body` in a float type; integers are converted to f64 and back.
Value buildInFloat(ElementBuilder &b, Value x,
                   llvm::function_ref<Value(Value)> body) {
  Type type = getElementTypeOrSelf(x);
  if (isa<FloatType>(type))
    return body(x);
  Type f64 = b.builder.getF64Type();
  return buildCast(b, body(buildCast(b, x, type, f64)), f64, type);
}

Value buildSqrt(ElementBuilder &b, Value x) {
  return buildInFloat(b, x, [&](Value v) -> Value {
    return math::SqrtOp::create(b.builder, b.loc, v);
  });
}

Value buildLog(ElementBuilder &b, Value x) {
  return buildInFloat(b, x, [&](Value v) -> Value {
    return math::LogOp::create(b.builder, b.loc, v);
  });
}

Value buildExp(ElementBuilder &b, Value x) {
  return buildInFloat(b, x, [&](Value v) -> Value {
    return math::ExpOp::create(b.builder, b.loc, v, tinyIsZero);
  });
}

Value buildMean(ElementBuilder &b, Value sum, Value count) {
  if (isa<FloatType>(getElementTypeOrSelf(sum)))
    return arith::DivFOp::create(b.builder, b.loc, sum, count);
  return arith::DivSIOp::create(b.builder, b.loc, sum, count);
}

} // namespace

#define ADZE_REDUCTION(OP, COMBINER, PREPARE, FINISH, COUNT, MAX)              \
  Combiner OP::getCombiner() { return Combiner::COMBINER; }                    \
  bool OP::needsCount() { return COUNT; }                                      \
  bool OP::subtractsMax() { return MAX; }                                      \
  Value OP::buildPrepare(ElementBuilder &b, Value x) { return PREPARE; }       \
  Value OP::buildFinish(ElementBuilder &b, Value x, Value count) {             \
    return FINISH;                                                             \
  }

ADZE_REDUCTION(ReduceSumOp, Add, x, x, false, false)
ADZE_REDUCTION(ReduceMeanOp, Add, x, buildMean(b, x, count), true, false)
ADZE_REDUCTION(ReduceMaxOp, Max, x, x, false, false)
ADZE_REDUCTION(ReduceMinOp, Min, x, x, false, false)
ADZE_REDUCTION(ReduceProdOp, Mul, x, x, false, false)
ADZE_REDUCTION(ReduceL1Op, Add, buildAbs(b, x), x, false, false)
ADZE_REDUCTION(ReduceL2Op, Add, buildSquare(b, x), buildSqrt(b, x), false,
               false)
ADZE_REDUCTION(ReduceLogSumOp, Add, x, buildLog(b, x), false, false)
ADZE_REDUCTION(ReduceLogSumExpOp, Add, buildExp(b, x), buildLog(b, x), false,
               true)
ADZE_REDUCTION(ReduceSumSquareOp, Add, buildSquare(b, x), x, false, false)
#undef ADZE_REDUCTION

//===----------------------------------------------------------------------===//
// det
//===----------------------------------------------------------------------===//

LogicalResult DetOp::inferReturnTypes(MLIRContext *context,
                                      std::optional<Location> where,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  Dims dims = getDims(adaptor.getInput());
  if (dims.size() < 2 ||
      areDifferent(dims[dims.size() - 2], dims[dims.size() - 1]))
    return emitOptionalError(where,
                             "'graph.det' op expected square matrices, "
                             "but got ",
                             toString(dims));
  dims.pop_back_n(2);
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  types.push_back(makeType(type.getElementType(), dims));
  return success();
}

AffineExpr DetOp::getFlops() {
  // The cost is 2/3 n^3 for each n x n matrix.
  Dims dims = getDims(getInput());
  return mulExprs(
      op_detail::getElementCost(getContext(), getInput().getType(), 1),
      dims.back());
}
