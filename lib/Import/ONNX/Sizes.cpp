// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Arithmetic on small integer tensors.
#include "Sizes.h"
#include "IndexRange.h"

using namespace adze;
using namespace adze::importer;
using mlir::Value;

Value Sizes::number(int64_t value) {
  return b.scalar(b.builder.getI64Type(), double(value));
}

Value Sizes::toVector(Value value) {
  value = b.cast(value, b.builder.getI64Type());
  if (!value || b.getRank(value) == 1)
    return value;
  return b.reshape(
      value, graph::product(b.builder.getContext(), graph::getDims(value)));
}

Value Sizes::pick(Value values, int64_t index) {
  return b.slice(values, 0, index, b.expr(1));
}

Value Sizes::concat(llvm::ArrayRef<Value> pieces) {
  if (pieces.empty())
    return vector({});
  if (pieces.size() == 1)
    return pieces.front();
  return b.create<graph::ConcatOp>(pieces, b.attr("axis", int64_t(0)));
}

Value Sizes::product(Value x) {
  return b.create<graph::ReduceProdOp>(
      x,
      {b.attr("axes", llvm::ArrayRef<int64_t>{0}), b.attr("keepdims", false)});
}

Value Sizes::sum(Value x) {
  return b.create<graph::ReduceSumOp>(
      x,
      {b.attr("axes", llvm::ArrayRef<int64_t>{0}), b.attr("keepdims", false)});
}

Value Sizes::all(Value conditions) {
  llvm::SmallVector<int64_t> axes;
  if (conditions)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, b.getRank(conditions)));
  Value every = b.create<graph::ReduceProdOp>(
      b.cast(conditions, b.builder.getI64Type()),
      {b.attr("axes", axes), b.attr("keepdims", false)});
  return b.cast(every, b.builder.getI1Type());
}

Value Sizes::normalizeAxes(Value axes, int64_t rank) {
  axes = toVector(axes);
  auto known = graph::getConstantElements(axes);
  if (known)
    (void)b.normalizeAxes(*known, rank);
  else if (mlir::failed(checkAxes(b, axes, rank)))
    return {};
  Value result = select(less(axes, number(0)), add(axes, number(rank)), axes);
  if (known || !result)
    return result;
  // Each axis equals itself only.
  Value pairs = equal(b.unsqueeze(result, {0}), b.unsqueeze(result, {1}));
  b.check(equal(sum(toVector(pairs)), pickScalar(shape(result), 0)),
          "expected each axis once");
  return result;
}

Value Sizes::spread(Value values, Value axes, Value rest) {
  if (b.hasFailed())
    return {};
  auto known = graph::getConstantElements(axes);
  if (!known) {
    mlir::Attribute none = graph::ScatterReductionAttr::get(
        b.builder.getContext(), graph::ScatterReduction::None);
    return b.create<graph::ScatterElementsOp>(
        {rest, axes, values},
        {b.attr("axis", int64_t(0)), b.attr("reduction", none)});
  }
  auto count = graph::getConstant(graph::getDims(rest)[0]);
  llvm::SmallVector<Value> pieces;
  for (int64_t i = 0; i < *count; ++i) {
    auto at = llvm::find(*known, i);
    pieces.push_back(at == known->end() ? pick(rest, i)
                                        : pick(values, at - known->begin()));
  }
  return concat(pieces);
}

Value Sizes::range(Value start, Value step, mlir::AffineExpr count) {
  return b.createAs<graph::RangeOp>(
      graph::makeType(b.builder.getI64Type(), count), {start, start, step});
}

Value Sizes::iota(Value vector) {
  if (!vector)
    return {};
  mlir::AffineExpr count = graph::getDims(vector)[0];
  auto known = graph::getConstant(count);
  constexpr int64_t most = 64; // dims
  if (known && *known > most) {
    (void)b.fail("expected at most " + llvm::Twine(most) +
                 " numbers, but got " + llvm::Twine(*known));
    return {};
  }
  if (known)
    return b.ints(llvm::to_vector(llvm::seq<int64_t>(0, *known)));
  return range(number(0), number(1), count);
}
