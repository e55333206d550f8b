// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Non-maximum suppression for GPUs. A kernel selects boxes into a tensor with
// room for as many as may be selected; the selected ones are then counted and
// gathered.
#include "Dialect/Graph/IR/Reduced.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Matching.h"
#include "Parallelize.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// The operands of a call of `non_max_suppression` that are known.
struct Suppression {
  Value boxes, scores;
  int64_t count; // selected boxes of a class
  double overlap, score;
  bool isCenter;
};

/// Returns the operands, or nothing if a program cannot hold the scores of all
/// boxes, selects too many, or the call fails.
std::optional<Suppression> match(CallOp call) {
  constexpr double mostBoxes = 1024;
  if (call.getFunction() != "non_max_suppression")
    return std::nullopt;
  ValueRange inputs = call.getInputs();
  std::array<double, 4> numbers;
  for (auto [number, input] : llvm::zip_equal(numbers, inputs.drop_front(2))) {
    auto splat = getSplatNumber(input);
    if (!splat)
      return std::nullopt;
    number = *splat;
  }
  auto [limit, overlap, score, center] = numbers;
  Dims boxes = getDims(inputs[0]), classes = getDims(inputs[1]);
  auto length = getConstant(boxes[1]);
  bool fits = length && *length > 0 && *length <= longestSelectedRow &&
              getConstant(boxes[2]) == 4 && areEqual(boxes[0], classes[0]) &&
              areEqual(boxes[1], classes[2]) && overlap >= 0 && overlap <= 1;
  if (!fits)
    return std::nullopt;
  double count = std::min(limit, double(*length));
  if (count < 1 || count > mostBoxes)
    return std::nullopt;
  return Suppression{inputs[0], inputs[1], int64_t(count),
                     overlap,   score,     center != 0};
}

/// Returns the ends and areas of boxes [batches, boxes, 4]: corners in any
/// order, or with `isCenter` centers and sizes.
Value createEnds(OpBuilder &b, Location loc, Value boxes, bool isCenter) {
  auto part = [&](Value rows, int64_t first, int64_t count) {
    return createSlice(b, loc, rows, 1, b.getAffineConstantExpr(first),
                       b.getAffineConstantExpr(count));
  };
  Value rows = TransposeOp::create(b, loc, boxes, ArrayRef<int64_t>{0, 2, 1});
  Value from = part(rows, 0, 2), to = part(rows, 2, 2);
  if (isCenter) {
    auto scalar = RankedTensorType::get({}, b.getF32Type());
    Value half =
        ConstantOp::create(b, loc, DenseElementsAttr::get(scalar, 0.5f));
    Value distance = MulOp::create(b, loc, to, half), center = from;
    from = SubOp::create(b, loc, center, distance);
    to = AddOp::create(b, loc, center, distance);
  }
  Value low = MinimumOp::create(b, loc, from, to),
        high = MaximumOp::create(b, loc, from, to);
  Value size = SubOp::create(b, loc, high, low);
  Value area = MulOp::create(b, loc, part(size, 0, 1), part(size, 1, 1));
  return ConcatOp::create(b, loc, ValueRange{low, high, area}, /*axis=*/1);
}

/// Returns triples of batch, class and box of the selected boxes, whose
/// number is bound to the symbol of the call.
Value createTriples(OpBuilder &b, Location loc, Value selected, CallOp call) {
  MLIRContext *context = b.getContext();
  Type i64 = b.getI64Type();
  AffineExpr count = getDims(call.getResult(0))[0];
  auto one = b.getAffineConstantExpr(1);
  Value zero = ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(RankedTensorType::get({}, i64), int64_t(0)));
  Value isSelected = GreaterEqualOp::create(b, loc, selected, zero);
  Value flags = createReshape(b, loc, createCast(b, loc, isSelected, i64),
                              {product(context, getDims(selected))});
  Value sum = ReduceSumOp::create(b, loc, flags, int64_t(0), /*keepdims=*/true);
  BindOp::create(b, loc, sum, call.getSymbols());
  Value places = NonZeroOp::create(
      b, loc, makeType(i64, {b.getAffineConstantExpr(3), count}), isSelected);
  Value rows = TransposeOp::create(b, loc, places, ArrayRef<int64_t>{1, 0});
  Value boxes = createReshape(
      b, loc, GatherNDOp::create(b, loc, selected, rows, /*batch_dims=*/0),
      {count, one});
  Value classes = createSlice(b, loc, rows, 1, b.getAffineConstantExpr(0),
                              b.getAffineConstantExpr(2));
  return ConcatOp::create(b, loc, ValueRange{classes, boxes}, /*axis=*/1);
}

} // namespace

unsigned adze::graph::selectBoxes(func::FuncOp function) {
  SmallVector<CallOp> calls;
  function.walk([&](CallOp call) { calls.push_back(call); });
  unsigned numSelections = 0;
  for (CallOp call : calls) {
    std::optional<Suppression> s = match(call);
    if (!s)
      continue;
    OpBuilder b(call);
    Location loc = call.getLoc();
    Dims dims = getDims(s->scores);
    dims.back() = b.getAffineConstantExpr(s->count);
    Value selected = SelectBoxesOp::create(
        b, loc, makeType(b.getI64Type(), dims),
        createEnds(b, loc, s->boxes, s->isCenter), s->scores,
        b.getF32FloatAttr(s->overlap), b.getF32FloatAttr(s->score));
    call.getResult(0).replaceAllUsesWith(createTriples(b, loc, selected, call));
    call.erase();
    ++numSelections;
  }
  return numSelections;
}
