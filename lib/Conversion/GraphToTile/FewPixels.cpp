// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Winograd convolution of an image of few pixels, for which patches would be
// mostly padding, and the transformed filter is larger. A program copies the
// windows of its pixels and multiplies them by the untransformed taps. Taps
// that are out of bounds for all pixels are skipped.
#include "Convolution.h"
#include "Dialect/Graph/IR/Winograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

using Carried = KernelEmitter::Carried;

namespace {
/// The pixels of the result, all input channels, those that are multiplied at
/// once, and the channels of the result. The numbers differ from those of
/// patches, and are in the order of a product.
enum Axis { Pixel = 5, Input = 6, Depth = 7, Channel = 8 };

class FewPixelsEmitter {
public:
  FewPixelsEmitter(KernelEmitter &e, WinogradConvOp op,
                   const FewPixels &program)
      : e(e), op(op), program(program),
        element(getSignlessType(getElementTypeOrSelf(op.getResult()))),
        type(getAccumulatorType(element)) {}

  LogicalResult run();

private:
  using TapBody =
      function_ref<FailureOr<Carried>(Value y, Value x, ValueRange)>;
  FailureOr<Carried> forEachTap(ValueRange carried, TapBody body);
  Value getTap(Value y, Value x) {
    return e.add(e.mul(y, e.index(Winograd::taps)), x);
  }
  LogicalResult copyPixel(Value pixel);
  FailureOr<Value> sumTaps();
  LogicalResult multiply();

  KernelEmitter &e;
  WinogradConvOp op;
  const FewPixels &program;
  Type element, type;
};
} // namespace

/// Emits a loop over the taps that are in bounds for a pixel of the image.
FailureOr<Carried> FewPixelsEmitter::forEachTap(ValueRange carried,
                                                TapBody body) {
  auto getDim = [&](unsigned d) {
    WindowDim dim{e.index(-op.getPads()[d]), e.size(op.getInput(), d + 1),
                  Winograd::taps, /*dilation=*/1, /*inside=*/false};
    dim.reach = e.sub(e.size(op.getResult(), d + 1), e.index(1));
    return dim;
  };
  return loopTaps(e, getDim(0), carried, [&](Value y, Value, ValueRange outer) {
    return loopTaps(e, getDim(1), outer, [&](Value x, Value, ValueRange inner) {
      return body(y, x, inner);
    });
  });
}

/// Copies the window of a pixel, tap by tap.
LogicalResult FewPixelsEmitter::copyPixel(Value pixel) {
  Value at = e.add(program.pixel, pixel);
  Value width = e.size(op.getResult(), 2), height = e.size(op.getResult(), 1);
  Value column = e.rem(at, width), line = e.div(at, width);
  Value row = e.rem(line, height), image = e.div(line, height);
  auto copied =
      forEachTap({}, [&](Value y, Value x, ValueRange) -> FailureOr<Carried> {
        auto copy = [&]() -> LogicalResult {
          auto shifted = [&](Value from, Value tap, unsigned d) {
            Value to = e.sub(e.add(from, tap), e.index(op.getPads()[d]));
            return DimRange{to, -1, 1, 1};
          };
          DimRange channels{e.index(0), Input, 1, 1};
          Axes axes{Input};
          auto tile = e.emit(op.getInput(), {{image, -1, 1, 1},
                                             shifted(row, y, 0),
                                             shifted(column, x, 1),
                                             channels});
          if (failed(tile))
            return failure();
          Type stored = getElementTypeOrSelf(program.memory.getType());
          Value value = e.broadcast(e.convert(*tile, stored), axes);
          return e.store(
              {value, axes}, program.memory,
              {{getTap(y, x), -1, 1, 1}, {pixel, -1, 1, 1}, channels});
        };
        if (failed(e.phase(copy)))
          return failure();
        return Carried{};
      });
  return success(succeeded(copied));
}

/// Emits the sum of products over all taps and channels.
FailureOr<Value> FewPixelsEmitter::sumTaps() {
  int64_t products = (op.getTile() + 2) * (op.getTile() + 2);
  Value zero = e.constant(cast<TypedAttr>(e.builder().getZeroAttr(type)),
                          {Pixel, Channel});
  auto step = [&](Value tap, Value k, Value sum) -> FailureOr<Carried> {
    DimRange inner{k, Depth, 1, 1};
    auto left = e.load(program.memory,
                       {{tap, -1, 1, 1}, {e.index(0), Pixel, 1, 1}, inner});
    auto right = e.emitOn(op.getFilter(),
                          {{e.add(tap, e.index(products)), -1, 1, 1},
                           inner,
                           {program.channel, Channel, 1, 1}},
                          {Depth, Channel});
    if (failed(left) || failed(right))
      return failure();
    Type factor = getElementTypeOrSelf(left->value.getType());
    Emitted wide = e.convert({*right, {Depth, Channel}}, factor);
    return Carried{createDot(e, left->value, wide.value, sum)};
  };
  auto sum = forEachTap(zero, [&](Value y, Value x, ValueRange carried) {
    return e.loop(program.depth, program.blockK, carried,
                  [&](Value k, ValueRange inner) {
                    return step(getTap(y, x), k, inner[0]);
                  });
  });
  if (failed(sum))
    return failure();
  return (*sum)[0];
}

LogicalResult FewPixelsEmitter::multiply() {
  auto sum = sumTaps();
  if (failed(sum))
    return failure();
  DimRanges ranges{{program.pixel, Pixel, 1, 3},
                   {program.channel, Channel, 1, 1}};
  e.define(op.getResult(), ranges,
           e.convert({*sum, {Pixel, Channel}}, element));
  return e.storeOutputs(op.getResult(), ranges);
}

LogicalResult FewPixelsEmitter::run() {
  e.setAxis(Pixel, program.block);
  e.setAxis(Channel, program.channels);
  e.setAxis(Input, program.depth);
  e.setAxis(Depth, program.blockK);
  Value count = e.min(program.block, e.sub(program.pixels, program.pixel));
  auto copied = e.loop(count, e.index(1), {},
                       [&](Value pixel, ValueRange) -> FailureOr<Carried> {
                         if (failed(copyPixel(pixel)))
                           return failure();
                         return Carried{};
                       });
  return success(succeeded(copied) &&
                 succeeded(e.phase([&] { return multiply(); })));
}

LogicalResult adze::emitFewPixels(KernelEmitter &e, WinogradConvOp op,
                                  const FewPixels &program) {
  return FewPixelsEmitter(e, op, program).run();
}
