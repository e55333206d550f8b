// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Windows that slide over an image. The bounds of loops exclude taps out of
// bounds, so that loads inside of them need no conditions.
#include "Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace adze;

using Carried = KernelEmitter::Carried;
using TapBody =
    llvm::function_ref<FailureOr<Carried>(Value, Value, ValueRange)>;

bool adze::areWindowsInside(AffineExpr size, AffineExpr windows, int64_t taps,
                            int64_t stride, int64_t low, int64_t dilation) {
  int64_t extent = getKnown(size), count = getKnown(windows);
  return low == 0 && extent >= 0 && count >= 0 &&
         (count - 1) * stride + (taps - 1) * dilation < extent;
}

FailureOr<Carried> adze::loopAllTaps(KernelEmitter &e, const WindowDim &dim,
                                     bool unrolled, ValueRange carried,
                                     TapBody body) {
  auto position = [&](Value tap) {
    return e.add(dim.start, e.mul(tap, e.index(dim.dilation)));
  };
  if (!unrolled)
    return e.loop(e.index(dim.taps), e.index(1), carried,
                  [&](Value tap, ValueRange inner) {
                    return body(tap, position(tap), inner);
                  });
  Carried result(carried.begin(), carried.end());
  for (int64_t i = 0; i < dim.taps; ++i) {
    auto next = body(e.index(i), position(e.index(i)), result);
    if (failed(next))
      return failure();
    result = *next;
  }
  return result;
}

FailureOr<Carried> adze::loopTaps(KernelEmitter &e, const WindowDim &dim,
                                  ValueRange carried, TapBody body) {
  if (dim.inside)
    return loopAllTaps(e, dim, /*unrolled=*/false, carried, body);
  // Taps [first, last) satisfy 0 <= start + tap * dilation < extent.
  Value step = e.index(dim.dilation);
  auto ceil = [&](Value n) -> Value {
    return dim.dilation == 1
               ? n
               : arith::CeilDivSIOp::create(e.builder(), e.loc(), n, step)
                     .getResult();
  };
  Value lastStart = dim.reach ? e.add(dim.start, dim.reach) : dim.start;
  Value first = e.max(e.index(0), ceil(e.sub(e.index(0), lastStart)));
  Value last = e.min(e.index(dim.taps), ceil(e.sub(dim.extent, dim.start)));
  // The clamps have no effect, but give bounds to range analysis, which assumes
  // that a dynamic size may be 0.
  auto clamp = [&](Value at, Value end) {
    Value zero = e.index(0), most = e.sub(end, e.index(1));
    return getConstantIntValue(end) ? e.min(e.max(at, zero), most)
                                    : e.max(e.min(at, most), zero);
  };
  return e.loop(e.sub(last, first), e.index(1), carried,
                [&](Value i, ValueRange inner) {
                  Value tap = clamp(e.add(first, i), e.index(dim.taps));
                  Value at = e.add(dim.start, e.mul(tap, step));
                  if (!dim.reach)
                    at = clamp(at, dim.extent);
                  return body(tap, at, inner);
                });
}

RowBlock adze::chooseRowBlock(AffineExpr width, int64_t target,
                              int64_t longest) {
  int64_t known = getKnown(width);
  if (known > 0 && known <= longest)
    return {known, true};
  return {chooseBlock(known, target), false};
}

Value adze::getSize(KernelEmitter &e, const RowBlock &row) {
  return row.whole ? e.index(row.size) : e.param("BLOCK_P", row.size);
}

bool adze::unrollsTaps(const RowBlock &row, int64_t taps) {
  constexpr int64_t maxTaps = 11;
  return (row.whole || row.finds) && row.unrolls && taps <= maxTaps;
}
