// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Layers of quantized models, and of models of signals.
#include "Builder.h"
#include <cmath>

using namespace mlir;
using namespace adze::graph;

namespace property {

//===----------------------------------------------------------------------===//
// Quantized layers
//===----------------------------------------------------------------------===//

// All scales are powers of two and all sums are small, so that each path
// computes the same numbers, ties of the rounding included.

static Value makeIntegers(GraphBuilder &b, Type element,
                          ArrayRef<int64_t> dims) {
  auto type = RankedTensorType::get(dims, element);
  SmallVector<Attribute> numbers;
  for (int64_t i = 0, end = type.getNumElements(); i < end; ++i)
    numbers.push_back(
        b.builder.getIntegerAttr(element, b.random.between(-9, 9)));
  Value value = ConstantOp::create(
      b.builder, b.builder.getUnknownLoc(),
      cast<ElementsAttr>(DenseElementsAttr::get(type, numbers)));
  b.know(value);
  return value;
}

static Value convert(GraphBuilder &b, Value x, Type element) {
  return x ? b.exactOp("cast", {x}, {}, {Type(makeType(element, getDims(x)))})
           : Value();
}

/// Returns (x - zero) * 2^exponent.
static Value dequantize(GraphBuilder &b, Value x, int64_t zero,
                        int64_t exponent) {
  Type f32 = b.builder.getF32Type();
  x = convert(b, x, f32);
  if (zero != 0)
    x = b.exactOp("sub", {x, b.scalar(f32, double(zero))});
  return b.exactOp("mul", {x, b.scalar(f32, std::ldexp(1, int(exponent)))});
}

/// Returns round(x / 2^exponent) + zero in the range of the element type.
static Value quantize(GraphBuilder &b, Value x, int64_t zero, int64_t exponent,
                      IntegerType element) {
  Type f32 = b.builder.getF32Type();
  double low = element.isUnsigned() ? 0 : -128;
  x = b.exactOp("div", {x, b.scalar(f32, std::ldexp(1, int(exponent)))});
  x = b.exactOp("round", {x});
  if (zero != 0)
    x = b.exactOp("add", {x, b.scalar(f32, double(zero))});
  x = b.exactOp("maximum", {x, b.scalar(f32, low)});
  x = b.exactOp("minimum", {x, b.scalar(f32, low + 255)});
  return convert(b, x, element);
}

/// Adds a convolution of x by integers of 2^-2, sometimes with a bias of the
/// sums' scale and an activation.
static Value addIntegerConv(GraphBuilder &b, Value x, int64_t outputs,
                            int64_t exponent) {
  if (!x)
    return {};
  int64_t taps = b.random.chance(50) ? 3 : 1, pad = taps / 2;
  constexpr int64_t scale = -2;
  Type i8 = b.builder.getI8Type(), i32 = b.builder.getI32Type();
  SmallVector<Value> operands{
      x,
      dequantize(b,
                 makeIntegers(
                     b, i8, {outputs, GraphBuilder::sizeOf(x, 1), taps, taps}),
                 0, scale)};
  if (b.random.chance(60))
    operands.push_back(
        dequantize(b, makeIntegers(b, i32, {outputs}), 0, exponent + scale));
  Value y = b.exactOp("conv", operands,
                      {b.attr("strides", {1, 1}), b.attr("dilations", {1, 1}),
                       b.attr("pads", {pad, pad, pad, pad})});
  return b.random.chance(40) ? b.exactOp("relu", {y}) : y;
}

void addQuantized(GraphBuilder &b) {
  static constexpr int64_t channels[] = {3, 4, 8, 20}, sizes[] = {1, 5, 8},
                           zeros[] = {-128, 0, 1, 7, -3};
  IntegerType i8 = b.builder.getIntegerType(8),
              ui8 = b.builder.getIntegerType(8, /*isSigned=*/false);
  Value q = b.indices(i8,
                      {b.expr(b.random.between(1, 2)),
                       b.expr(b.random.pick<int64_t>(channels)),
                       b.expr(b.random.pick<int64_t>(sizes)),
                       b.expr(b.random.pick<int64_t>(sizes))},
                      /*size=*/128);
  int64_t zero = b.random.pick<int64_t>(zeros), exponent = -4;
  for (int64_t i = b.random.between(1, 3); q && i > 0; --i) {
    int64_t outputs = b.random.pick<int64_t>(channels);
    if (b.random.chance(30)) // by the integer of 0
      q = b.exactOp(
          "pad", {q, b.scalar(GraphBuilder::elementOf(q), double(zero))},
          {b.attr("low", {0, 0, 1, 0}), b.attr("high", {0, 0, 1, 2})});
    Value x = dequantize(b, q, zero, exponent);
    Value y = addIntegerConv(b, x, outputs, exponent);
    if (b.random.chance(40)) // one input of two convolutions
      y = b.exactOp("add", {y, addIntegerConv(b, x, outputs, exponent)});
    zero = b.random.pick<int64_t>(zeros);
    IntegerType element = zero >= 0 && b.random.chance(50) ? ui8 : i8;
    exponent = b.random.between(-3, 0);
    q = quantize(b, y, zero, exponent, element);
  }
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// A convolution of one channel with long windows in steps, as of a resampler
/// or of a spectrum.
void addSignal(GraphBuilder &b) {
  static constexpr int64_t outputs[] = {1, 2, 5, 10}, taps[] = {9, 33, 40, 80},
                           lengths[] = {1, 40, 92, 150, 400};
  Type element = b.builder.getF32Type();
  int64_t filters = b.random.pick<int64_t>(outputs),
          size = b.random.pick<int64_t>(taps);
  Value x = b.input(element,
                    {b.expr(b.random.between(1, 2)), b.expr(1),
                     b.expr(b.random.pick<int64_t>(lengths))},
                    /*tame=*/true);
  SmallVector<Value> operands{x, b.constant(element, {filters, 1, size})};
  if (b.random.chance(50))
    operands.push_back(b.constant(element, {filters}));
  b.op(
      "conv", operands,
      {b.attr("strides", ArrayRef<int64_t>{b.random.between(1, 40)}),
       b.attr("dilations", ArrayRef<int64_t>{1}),
       b.attr("pads", {b.random.between(0, size), b.random.between(0, size)})});
}

} // namespace property
