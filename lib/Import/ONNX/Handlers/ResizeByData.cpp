// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Resize by dynamic scales: dim by dim, taps are gathered and weighted.
// Coordinates are computed in f64.
#include "ResizeByData.h"
#include "../Sizes.h"
#include "Arithmetic.h"

using namespace adze;
using namespace adze::importer;
using graph::CoordinateMode;
using graph::ResizeMode;
using mlir::Value;

namespace {

/// One dim: its index among the resized ones and in the tensor, sizes and the
/// scale as f64 scalars.
struct Dim {
  int64_t number, axis;
  Value in, out, scale;
};

class Resizing {
public:
  Resizing(Binder &b, Value x, const DataResize &resize,
           const ResizeModes &modes)
      : b(b), a(b), s(b), r(resize), m(modes), x(x),
        f64(b.builder.getF64Type()), i64(b.builder.getI64Type()) {}

  Value run();

private:
  Value getCropped(const Dim &dim, Value places);
  Value getCoordinates(const Dim &dim, Value places);
  Value roundNearest(Value place);
  Value getWeight(Value distance);
  Value clamp(const Dim &dim, Value at);
  void markOutside(const Dim &dim, Value places);
  void interpolate(const Dim &dim, Value places);
  void resizeDim(int64_t i);

  Binder &b;
  Arithmetic a;
  Sizes s;
  const DataResize &r;
  const ResizeModes &m;
  Value x, outside;
  mlir::Type f64, i64;
};

/// For tf_crop_and_resize, the ends of the region are the first and last
/// coordinates.
Value Resizing::getCropped(const Dim &dim, Value places) {
  int64_t count = r.axes.size();
  Value start = s.pickScalar(r.region, dim.number),
        end = s.pickScalar(r.region, count + dim.number);
  Value last = a.sub(dim.in, 1.0), size = a.mul(dim.in, dim.scale);
  Value steps = a.select(a.less(1.0, size), a.sub(size, 1.0), 1.0);
  Value step = a.div(a.mul(a.sub(end, start), last), steps);
  Value moving = a.add(a.mul(start, last), a.mul(places, step));
  Value middle = a.mul(a.mul(a.add(start, end), last), 0.5);
  return a.select(a.less(1.0, size), moving, middle);
}

/// Returns the coordinates in the input of output indices, by the formulas of
/// ONNX.
Value Resizing::getCoordinates(const Dim &dim, Value places) {
  // ONNX uses the size before it is rounded down.
  Value size = a.mul(dim.in, dim.scale);
  auto halfPixel = [&] {
    return a.sub(a.div(a.add(places, 0.5), dim.scale), 0.5);
  };
  // A size of 1 would cause a division by 0.
  auto guarded = [&](Value value) {
    return a.select(a.less(1.0, size), value, 0.0);
  };
  switch (m.coordinates) {
  case CoordinateMode::HalfPixel:
    return halfPixel();
  case CoordinateMode::HalfPixelSymmetric: {
    // The centre of the input is mapped to that of the (rounded) output.
    Value adjustment = a.div(dim.out, size);
    Value offset = a.mul(a.mul(dim.in, 0.5), a.sub(1.0, adjustment));
    return a.add(halfPixel(), offset);
  }
  case CoordinateMode::PytorchHalfPixel:
    return guarded(halfPixel());
  case CoordinateMode::AlignCorners: {
    Value steps = a.select(a.less(1.0, size), a.sub(size, 1.0), 1.0);
    return guarded(a.div(a.mul(places, a.sub(dim.in, 1.0)), steps));
  }
  case CoordinateMode::Asymmetric:
    return a.div(places, dim.scale);
  case CoordinateMode::TfHalfPixelForNN:
    return a.div(a.add(places, 0.5), dim.scale);
  case CoordinateMode::TfCropAndResize:
    return getCropped(dim, places);
  }
  llvm_unreachable("all modes are handled");
}

Value Resizing::roundNearest(Value place) {
  switch (m.nearest) {
  case graph::NearestMode::RoundPreferFloor:
    return a.ceil(a.sub(place, 0.5));
  case graph::NearestMode::RoundPreferCeil:
    return a.floor(a.add(place, 0.5));
  case graph::NearestMode::Floor:
    return a.floor(place);
  case graph::NearestMode::Ceil:
    return a.ceil(place);
  }
  llvm_unreachable("all modes are handled");
}

/// Returns the weight of a tap at this distance: a triangle, or Keys' kernel.
Value Resizing::getWeight(Value distance) {
  Value d = a.abs(distance);
  if (m.mode == ResizeMode::Linear)
    return a.max(a.sub(1.0, d), 0.0);
  double k = m.cubic;
  auto polynomial = [&](double c3, double c2, double c1, double c0) {
    Value y = a.add(a.mul(a.add(a.mul(d, c3), c2), d), c1);
    return a.add(a.mul(y, d), c0);
  };
  Value near = polynomial(k + 2, -(k + 3), 0, 1);
  Value far = polynomial(k, -5 * k, 8 * k, -4 * k);
  return a.select(a.lessEqual(d, 1.0), near,
                  a.select(a.less(d, 2.0), far, 0.0));
}

/// Positions beyond the ends are clamped.
Value Resizing::clamp(const Dim &dim, Value at) {
  return b.cast(a.max(a.min(at, a.sub(dim.in, 1.0)), 0.0), i64);
}

/// Computes the weighted sum of `count` taps from `first` on; the kernel is
/// stretched over the range of one element of the output.
void Resizing::interpolate(const Dim &dim, Value places) {
  bool cubic = m.mode == ResizeMode::Cubic;
  Value first = a.floor(places), taps, shrink;
  if (m.antialias) {
    // Positions are relative to the left, so that one element covers itself
    // only.
    first = a.sub(a.ceil(places), 1.0);
    shrink = a.select(a.less(dim.scale, 1.0), dim.scale, 1.0);
    Value start = a.add(a.floor(a.div(cubic ? -2.0 : -1.0, shrink)), 1.0);
    Value count = b.cast(a.mul(a.sub(1.0, start), 2.0), i64);
    Dims length = b.getSizes(b.reshape(count, b.expr(1)));
    if (b.hasFailed())
      return;
    taps = a.add(b.cast(a.range(length[0], count), f64), start);
  } else {
    taps = b.cast(s.vector(cubic ? llvm::ArrayRef<int64_t>{-1, 0, 1, 2}
                                 : llvm::ArrayRef<int64_t>{0, 1}),
                  f64);
  }
  Value at = a.add(b.unsqueeze(first, {1}), taps); // [out, taps]
  Value distance = a.sub(at, b.unsqueeze(places, {1}));
  Value weights = getWeight(shrink ? a.mul(distance, shrink) : distance);
  if (m.excludeOutside) {
    Value inside = a.both(a.lessEqual(a.like(at, 0), at), a.less(at, dim.in));
    weights = a.select(inside, weights, 0.0);
  }
  if (m.excludeOutside || m.antialias)
    weights = a.div(weights, a.sum(weights, {1}, /*keepdims=*/true));
  Value found = a.gather(x, clamp(dim, at), dim.axis);
  // A tap of weight 0 is ignored, so that infinities next to a copied element
  // do not affect it.
  int64_t after = b.getRank(x) - 1 - dim.axis;
  weights = a.withTail(weights, after);
  Value products =
      a.select(a.equal(weights, 0.0), a.like(found, 0), a.mul(found, weights));
  x = a.sum(products, {dim.axis + 1});
}

void Resizing::markOutside(const Dim &dim, Value places) {
  Value beyond =
      a.either(a.less(places, 0.0), a.less(a.sub(dim.in, 1.0), places));
  beyond = a.withTail(beyond, b.getRank(x) - 1 - dim.axis);
  outside = outside ? a.either(outside, beyond) : beyond;
}

void Resizing::resizeDim(int64_t i) {
  Dim dim{i, r.axes[i], {}, {}, s.pickScalar(r.scales, i)};
  Value size = s.pickScalar(r.sizes, i);
  dim.in = b.cast(a.size(x, dim.axis), f64);
  dim.out = b.cast(size, f64);
  Value places = getCoordinates(dim, b.cast(a.range(r.dims[i], size), f64));
  if (m.crops())
    markOutside(dim, places);
  if (m.mode == ResizeMode::Nearest)
    x = a.gather(x, clamp(dim, roundNearest(places)), dim.axis);
  else
    interpolate(dim, places);
}

Value Resizing::run() {
  mlir::Type type = b.getElementType(x);
  bool isNearest = m.mode == ResizeMode::Nearest;
  if (!isNearest)
    x = b.cast(x, f64);
  for (size_t i = 0; i < r.axes.size() && !b.hasFailed(); ++i)
    resizeDim(i);
  // Integers are rounded like floats.
  if (!isNearest && llvm::isa<mlir::IntegerType>(type))
    x = a.round(x);
  x = b.cast(x, type);
  return outside ? a.select(outside, a.like(x, m.extrapolation), x) : x;
}

} // namespace

Value adze::importer::resizeByData(Binder &b, Value x, const DataResize &resize,
                                   const ResizeModes &modes) {
  return Resizing(b, x, resize, modes).run();
}
