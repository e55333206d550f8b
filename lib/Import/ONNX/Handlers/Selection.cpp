// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operators that select elements sequentially: functions of the run time.
#include "../OpTable.h"
#include "Arithmetic.h"
#include <limits>

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

/// Returns unique elements (or slices along an axis), the position of their
/// first occurrence, the index of each element among them, and their counts.
static LogicalResult importUnique(Binder &b) {
  Value x = b.operand(0);
  int64_t rank = b.getRank(x), axis = -1;
  mlir::AffineExpr count = b.makeFreshSymbol(), all;
  Dims dims{count};
  if (b.hasAttribute("axis")) {
    axis = b.getAxis("axis", 0, rank);
    if (b.hasFailed())
      return mlir::failure();
    dims = graph::getDims(x);
    all = std::exchange(dims[axis], count);
  } else {
    all = graph::product(b.builder.getContext(), graph::getDims(x));
  }
  mlir::Type i64 = b.builder.getI64Type();
  Value options = b.ints({b.getInt("sorted", 1), axis});
  return b.done(b.call("unique", {x, options},
                       {{b.getElementType(x), dims},
                        {i64, {count}},
                        {i64, {all}},
                        {i64, {count}}},
                       {count}));
}

static LogicalResult importNonMaxSuppression(Binder &b) {
  Arithmetic a(b);
  mlir::Type f32 = b.builder.getF32Type(), i64 = b.builder.getI64Type();
  auto scalar = [&](unsigned i, mlir::Type type, double otherwise) {
    return b.operand(i) ? b.reshape(b.cast(b.operand(i), type), {})
                        : b.scalar(type, otherwise);
  };
  Value boxes = b.operand(0), scores = b.operand(1);
  if (b.getRank(boxes) != 3 || b.getRank(scores) != 3)
    return b.fail("expected 3-D boxes and scores");
  Value threshold =
      scalar(4, f32, -double(std::numeric_limits<float>::infinity()));
  return b.done(
      b.callForOne("non_max_suppression",
                   {b.cast(boxes, f32), b.cast(scores, f32), scalar(2, i64, 0),
                    scalar(3, f32, 0), threshold,
                    b.scalar(i64, double(b.getInt("center_point_box", 0)))},
                   {i64, {mlir::AffineExpr(), b.expr(3)}}));
}

void adze::importer::addSelectionOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(),
              {
                  {"NonMaxSuppression", 10, 2, importNonMaxSuppression},
                  {"Unique", 11, 1, importUnique},
              });
}
