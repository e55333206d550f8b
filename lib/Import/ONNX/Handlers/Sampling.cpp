// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operators that read an image at computed coordinates: GridSample, DeformConv
// and the pooling of regions. Interpolation is a sum of gathers.
#include "../IndexRange.h"
#include "../OpTable.h"
#include "../Sizes.h"
#include "Arithmetic.h"
#include "Windows.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

namespace {

enum class Padding { Zeros, Border, Reflection };

/// Reads images [N, C, spatial..] at coordinates [N, P] for each spatial dim:
/// [N, C, P]. Coordinates have the type of the images; integers are elements.
class Sampler {
public:
  Sampler(Binder &b, Value images, Padding padding, bool alignCorners)
      : b(b), a(b), padding(padding), alignCorners(alignCorners),
        images(images) {
    spatial = b.getRank(images) - 2;
    flat = a.flatten(images, 2, spatial + 2);
    for (int64_t i = 0; i < spatial; ++i)
      sizes.push_back(a.size(images, i + 2));
  }

  Value nearest(llvm::ArrayRef<Value> at);
  Value linear(llvm::ArrayRef<Value> at);
  Value cubic(llvm::ArrayRef<Value> at);

private:
  Value reflect(Value x, int64_t dim);
  Value bring(Value x, int64_t dim);
  Value read(llvm::ArrayRef<Value> cells);
  Value combine(llvm::ArrayRef<llvm::SmallVector<std::pair<Value, Value>>> taps,
                llvm::SmallVector<Value> &cells, Value weight);
  Value size(int64_t dim, Value like) {
    return b.cast(sizes[dim], b.getElementType(like));
  }

  Binder &b;
  Arithmetic a;
  Padding padding;
  bool alignCorners;
  Value images, flat;
  int64_t spatial;
  llvm::SmallVector<Value> sizes; // i64
};

/// Reflects coordinates into the image: about the centres of the border
/// elements, or about their outer edges.
Value Sampler::reflect(Value x, int64_t dim) {
  if (!x)
    return {};
  Value extent = size(dim, x);
  double low = alignCorners ? 0.0 : -0.5;
  Value range = a.max(alignCorners ? a.sub(extent, 1) : extent, 1.0);
  // With period 2 * range, the second half is reversed.
  Value rest = a.mod(a.sub(x, low), a.mul(range, 2));
  Value mirrored = a.min(rest, a.sub(a.mul(range, 2), rest));
  return a.add(mirrored, low);
}

/// Maps a coordinate or an element index by the padding mode.
Value Sampler::bring(Value x, int64_t dim) {
  if (!x || padding == Padding::Zeros)
    return x;
  if (padding == Padding::Reflection)
    x = reflect(x, dim);
  return a.min(a.max(x, 0.0), a.sub(size(dim, x), 1));
}

/// Reads the elements at integral coordinates; 0 out of bounds with zero
/// padding.
Value Sampler::read(llvm::ArrayRef<Value> cells) {
  mlir::Type i64 = b.builder.getI64Type();
  Value index, inside;
  for (int64_t i = 0; i < spatial; ++i) {
    Value x = cells[i];
    if (!x)
      return {};
    if (padding == Padding::Zeros) {
      Value holds = a.both(a.greaterEqual(x, 0.0), a.less(x, size(i, x)));
      inside = inside ? a.both(inside, holds) : holds;
      x = a.min(a.max(x, 0.0), a.sub(size(i, x), 1));
    }
    Value cell = b.cast(x, i64);
    index = index ? a.add(a.mul(index, sizes[i]), cell) : cell;
  }
  if (!index || !flat)
    return {};
  Dims dims = graph::getDims(index), result = graph::getDims(flat);
  result[2] = dims[1];
  Value places = b.broadcastTo(b.unsqueeze(index, {1}), result);
  Value value = b.create<graph::GatherElementsOp>({flat, places},
                                                  b.attr("axis", int64_t(2)));
  return inside ? a.select(b.unsqueeze(inside, {1}), value, a.like(value, 0))
                : value;
}

Value Sampler::nearest(llvm::ArrayRef<Value> at) {
  llvm::SmallVector<Value> cells;
  for (auto [i, x] : llvm::enumerate(at))
    cells.push_back(
        bring(a.round(padding == Padding::Reflection ? bring(x, i) : x), i));
  return read(cells);
}

/// Computes the sum over all taps of all dims: weights times elements.
Value Sampler::combine(
    llvm::ArrayRef<llvm::SmallVector<std::pair<Value, Value>>> taps,
    llvm::SmallVector<Value> &cells, Value weight) {
  if (taps.empty()) {
    Value value = read(cells);
    return a.mul(value, b.unsqueeze(weight, {1}));
  }
  Value sum;
  for (auto [cell, part] : taps.front()) {
    cells.push_back(cell);
    Value value =
        combine(taps.drop_front(), cells, weight ? a.mul(weight, part) : part);
    cells.pop_back();
    sum = sum ? a.add(sum, value) : value;
  }
  return sum;
}

Value Sampler::linear(llvm::ArrayRef<Value> at) {
  llvm::SmallVector<llvm::SmallVector<std::pair<Value, Value>>> taps;
  for (auto [i, coordinate] : llvm::enumerate(at)) {
    Value x = bring(coordinate, i);
    Value low = a.floor(x), high = a.add(low, 1.0);
    Value weight = a.sub(x, low);
    if (padding != Padding::Zeros)
      high = bring(high, i);
    taps.push_back({{low, a.sub(1.0, weight)}, {high, weight}});
  }
  llvm::SmallVector<Value> cells;
  return combine(taps, cells, {});
}

/// Keys' kernel with -0.75, and four taps for each dim.
Value Sampler::cubic(llvm::ArrayRef<Value> at) {
  constexpr double k = -0.75;
  auto near = [&](Value t) { // |t| <= 1
    Value inner = a.sub(a.mul(t, k + 2), k + 3);
    return a.add(a.mul(a.mul(inner, t), t), 1.0);
  };
  auto far = [&](Value t) { // 1 < |t| < 2
    Value inner = a.add(a.mul(a.sub(a.mul(t, k), 5 * k), t), 8 * k);
    return a.sub(a.mul(inner, t), 4 * k);
  };
  llvm::SmallVector<llvm::SmallVector<std::pair<Value, Value>>> taps;
  for (auto [i, x] : llvm::enumerate(at)) {
    Value low = a.floor(x), t = a.sub(x, low);
    Value weights[4] = {far(a.add(t, 1.0)), near(t), near(a.sub(1.0, t)),
                        far(a.sub(2.0, t))};
    auto &dim = taps.emplace_back();
    for (int64_t tap = 0; tap < 4; ++tap)
      dim.push_back({bring(a.add(low, double(tap - 1)), i), weights[tap]});
  }
  llvm::SmallVector<Value> cells;
  return combine(taps, cells, {});
}

//===----------------------------------------------------------------------===//
// GridSample
//===----------------------------------------------------------------------===//

/// Maps [-1, 1] to element coordinates.
Value toCells(Arithmetic &a, Value x, Value size, bool alignCorners) {
  if (alignCorners)
    return a.mul(a.div(a.add(x, 1.0), 2.0), a.sub(size, 1.0));
  return a.div(a.sub(a.mul(a.add(x, 1.0), size), 1.0), 2.0);
}

LogicalResult importGridSample(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0), grid = b.operand(1);
  int64_t spatial = b.getRank(x) - 2;
  if (spatial < 1 || b.getRank(grid) != spatial + 2)
    return b.fail("expected an input of at least 3 dims and a grid of as many");
  llvm::StringRef mode = b.getString("mode", "linear"),
                  name = b.getString("padding_mode", "zeros");
  std::optional<Padding> padding =
      llvm::StringSwitch<std::optional<Padding>>(name)
          .Case("zeros", Padding::Zeros)
          .Case("border", Padding::Border)
          .Case("reflection", Padding::Reflection)
          .Default(std::nullopt);
  if (!padding)
    return b.fail("expected padding_mode to be zeros, border or reflection, "
                  "but got '" +
                  name + "'");
  bool alignCorners = b.getInt("align_corners", 0) != 0;
  mlir::Type type = b.getElementType(x);
  // Coordinates are at least f32, as the grid may be finer than the values.
  mlir::Type wide = type.getIntOrFloatBitWidth() < 32
                        ? mlir::Type(b.builder.getF32Type())
                        : type;
  bool isFloat = llvm::isa<mlir::FloatType>(type);
  if (!isFloat)
    wide = b.builder.getF32Type();
  Value images = isFloat ? b.cast(x, wide) : x;
  Dims dims = graph::getDims(grid);
  Value places = a.flatten(b.cast(grid, wide), 1, spatial + 1); // [N, P, d]
  Sampler sampler(b, images, *padding, alignCorners);
  llvm::SmallVector<Value> at;
  for (int64_t i = 0; i < spatial && places; ++i) {
    Dims plane = graph::getDims(places);
    plane.pop_back();
    Value coordinate =
        b.reshape(b.slice(places, 2, spatial - 1 - i, b.expr(1)), plane);
    at.push_back(
        toCells(a, coordinate, b.cast(a.size(x, i + 2), wide), alignCorners));
  }
  if (b.hasFailed())
    return mlir::failure();
  Value result;
  if (mode == "nearest")
    result = sampler.nearest(at);
  else if (!isFloat)
    return b.unsupported("expected floats to interpolate");
  else if (mode == "linear" || mode == "bilinear")
    result = sampler.linear(at);
  else if (mode == "cubic" || mode == "bicubic")
    result = sampler.cubic(at);
  else
    return b.fail("expected mode to be linear, nearest or cubic, but got '" +
                  mode + "'");
  Dims shape{graph::getDims(x)[0], graph::getDims(x)[1]};
  shape.append(dims.begin() + 1, dims.end() - 1);
  return b.done(b.cast(b.reshape(result, shape), type));
}

//===----------------------------------------------------------------------===//
// DeformConv
//===----------------------------------------------------------------------===//

/// A convolution whose taps are moved by `offset` and weighted by `mask`: the
/// samples of all taps, then one product for each group.
class DeformConv {
public:
  explicit DeformConv(Binder &b) : b(b), a(b) {}
  LogicalResult run();

private:
  Value getPlaces(int64_t dim, Value offsets);
  Value sample(AffineExpr count);

  Binder &b;
  Arithmetic a;
  Value x;
  Window window;
  int64_t spatial = 0, offsetGroups = 1;
  Dims kernel, out; // spatial dims of the weights and of the result
};

/// Returns the coordinates [N * groups, taps * positions] of one spatial dim.
Value DeformConv::getPlaces(int64_t dim, Value offsets) {
  // Offsets are [N, groups, taps, spatial, out..].
  Dims dims = graph::getDims(offsets);
  Value mine = b.slice(offsets, 3, dim, b.expr(1));
  Dims apart{dims[0], dims[1]};
  llvm::append_range(apart, kernel);
  apart.append(out);
  Value moved = b.reshape(mine, apart); // [N, G, kernel.., out..]
  if (!moved)
    return {};
  mlir::Type type = b.getElementType(moved);
  int64_t tapsAfter = spatial - 1 - dim + spatial;
  Value tap =
      a.withTail(b.cast(a.iota(window.filter, 2 + dim), type), tapsAfter);
  Value position = a.withTail(b.cast(a.iota(moved, 2 + spatial + dim), type),
                              spatial - 1 - dim);
  Value base = a.add(a.mul(tap, double(window.dilations[dim])),
                     a.sub(a.mul(position, double(window.strides[dim])),
                           double(window.pads[dim])));
  Value all = a.add(moved, base);
  return a.flatten(a.flatten(all, 2, 2 + 2 * spatial), 0, 2);
}

/// Returns all samples as [N, C, taps, positions].
Value DeformConv::sample(AffineExpr count) {
  Value offset = b.operand(2), mask = b.operand(4);
  Dims dims = graph::getDims(x);
  AffineExpr perGroup = a.quotient(dims[1], offsetGroups);
  AffineExpr groups = b.expr(offsetGroups);
  if (!perGroup) {
    (void)b.fail("expected offset_group to divide the channels");
    return {};
  }
  Dims apart{dims[0], groups, count, b.expr(spatial)};
  apart.append(out);
  Value offsets = b.reshape(offset, apart);
  if (!offsets)
    return {};
  Dims imageDims{graph::mulExprs(dims[0], groups), perGroup};
  imageDims.append(dims.begin() + 2, dims.end());
  Sampler sampler(b, b.reshape(x, imageDims), Padding::Zeros, true);
  llvm::SmallVector<Value> at;
  for (int64_t i = 0; i < spatial; ++i)
    at.push_back(getPlaces(i, offsets));
  Value samples = sampler.linear(at); // [N * G, C / G, taps * positions]
  if (mask) {
    AffineExpr positions = graph::product(b.builder.getContext(), out);
    Value weights = b.reshape(
        mask, {imageDims[0], b.expr(1), graph::mulExprs(count, positions)});
    samples = a.mul(samples, weights);
  }
  AffineExpr positions = graph::product(b.builder.getContext(), out);
  return b.reshape(samples, {dims[0], dims[1], count, positions});
}

LogicalResult DeformConv::run() {
  Value filter = b.operand(1);
  x = b.operand(0);
  spatial = b.getRank(x) - 2;
  if (spatial < 1 || b.getRank(filter) != spatial + 2)
    return b.fail("expected an input and weights of one rank of at least 3");
  if (mlir::failed(getFilterWindow(b, filter, window)) ||
      mlir::failed(addPads(b, x, window)))
    return mlir::failure();
  offsetGroups = b.getInt("offset_group", 1);
  int64_t groups = b.getInt("group", 1);
  kernel = graph::getDims(filter);
  kernel.erase(kernel.begin(), kernel.begin() + 2);
  AffineExpr taps = graph::product(b.builder.getContext(), kernel);
  Dims offset = graph::getDims(b.operand(2)), weights = graph::getDims(filter);
  if (int64_t(offset.size()) != spatial + 2 || offsetGroups < 1 || groups < 1)
    return b.fail("expected offsets of the input's rank and groups of at "
                  "least 1");
  out.assign(offset.begin() + 2, offset.end());
  Dims dims = graph::getDims(x);
  AffineExpr inEach = a.quotient(dims[1], groups),
             outEach = a.quotient(weights[0], groups),
             positions = graph::product(b.builder.getContext(), out);
  if (!inEach || !outEach || !positions)
    return b.fail("expected group to divide the channels");
  Value samples = sample(taps);
  AffineExpr rows = graph::mulExprs(inEach, taps);
  Value columns =
      b.reshape(samples, {dims[0], b.expr(groups), rows, positions});
  Value product =
      a.matmul(b.reshape(filter, {b.expr(groups), outEach, rows}), columns);
  Dims result{dims[0], weights[0]};
  result.append(out);
  Value y = b.reshape(product, result);
  if (Value bias = b.operand(3))
    y = a.add(y, b.alongAxis(bias, 1, spatial + 2));
  return b.done(y);
}

LogicalResult importDeformConv(Binder &b) { return DeformConv(b).run(); }

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

mlir::Type getRegionsType(Binder &b, int64_t height, int64_t width) {
  Dims x = graph::getDims(b.operand(0)), rois = graph::getDims(b.operand(1));
  return graph::makeType(b.getElementType(b.operand(0)),
                         {rois.empty() ? AffineExpr() : rois[0],
                          x.size() > 1 ? x[1] : AffineExpr(), b.expr(height),
                          b.expr(width)});
}

LogicalResult importRoiAlign(Binder &b) {
  llvm::StringRef mode = b.getString("mode", "avg");
  llvm::StringRef coordinates =
      b.getString("coordinate_transformation_mode",
                  b.version() < 16 ? "output_half_pixel" : "half_pixel");
  if ((mode != "avg" && mode != "max") ||
      (coordinates != "half_pixel" && coordinates != "output_half_pixel"))
    return b.fail("expected mode avg or max, and coordinates half_pixel or "
                  "output_half_pixel");
  int64_t height = b.getInt("output_height", 1),
          width = b.getInt("output_width", 1);
  if (height < 1 || width < 1)
    return b.fail("expected an output of at least 1 x 1");
  int64_t samples = b.getInt("sampling_ratio", 0);
  if (samples < 0 || samples > 65536) // a bin has this number squared
    return b.fail("expected a sampling_ratio in [0, 65536], but got " +
                  llvm::Twine(samples));
  if (b.getRank(b.operand(0)) != 4 || b.getRank(b.operand(1)) != 2 ||
      b.getRank(b.operand(2)) != 1)
    return b.fail("expected images of 4 dims, rois of 2 and batch_indices of "
                  "1");
  if (mlir::failed(checkIndices(b, b.operand(2),
                                graph::getDims(b.operand(0))[0],
                                NegativeIndex::OutOfRange)))
    return mlir::failure();
  // There is an image index for each region.
  Value which = b.refine(b.operand(2), graph::getDims(b.operand(1))[0]);
  return b.done(b.createAs<graph::RoiAlignOp>(
      getRegionsType(b, height, width),
      {b.operand(0), b.operand(1), b.cast(which, b.builder.getI64Type())},
      {b.attr("samples", samples),
       b.attr("scale", b.getFloat("spatial_scale", 1.0)),
       b.attr("half_pixel", coordinates == "half_pixel"),
       b.attr("max", mode == "max")}));
}

LogicalResult importMaxRoiPool(Binder &b) {
  auto shape = b.getInts("pooled_shape", 2, 1);
  if (b.hasFailed() || shape[0] < 1 || shape[1] < 1)
    return b.fail("expected a pooled_shape of at least 1 x 1");
  if (b.getRank(b.operand(0)) != 4 || b.getRank(b.operand(1)) != 2)
    return b.fail("expected images of 4 dims and rois of 2");
  Value images =
      b.cast(b.slice(b.operand(1), 1, 0, b.expr(1)), b.builder.getI64Type());
  if (mlir::failed(checkIndices(b, images, graph::getDims(b.operand(0))[0],
                                NegativeIndex::OutOfRange)))
    return mlir::failure();
  return b.done(b.createAs<graph::RoiPoolOp>(
      getRegionsType(b, shape[0], shape[1]), {b.operand(0), b.operand(1)},
      b.attr("scale", b.getFloat("spatial_scale", 1.0))));
}

/// Returns positions along a dim from -1 to 1: those of the centres of
/// elements, or from the first to the last element.
Value getGridPlaces(Binder &b, AffineExpr size, Value count, bool aligned) {
  Arithmetic a(b);
  mlir::Type f64 = b.builder.getF64Type();
  Value at = b.cast(a.range(size, count), f64), wide = b.cast(count, f64);
  if (aligned)
    return a.sub(a.mul(at, a.div(2.0, a.max(a.sub(wide, 1.0), 1.0))), 1.0);
  Value step = a.div(2.0, wide);
  return a.sub(a.mul(a.add(at, 0.5), step), 1.0);
}

/// Multiplies theta [N, d, d + 1] by the positions (x, y, .., 1).
LogicalResult importAffineGrid(Binder &b) {
  Arithmetic a(b);
  Sizes s(b);
  Value theta = b.operand(0), size = s.toVector(b.operand(1));
  if (b.getRank(theta) != 3)
    return b.fail("expected theta of 3 dims, but got " +
                  llvm::Twine(b.getRank(theta)) + "-D");
  // Any of the shapes may determine the rank.
  auto rank = b.getDeclaredRank();
  if (auto count = graph::getConstant(graph::getDims(size)[0]))
    rank = count;
  else if (auto rows = graph::getConstant(graph::getDims(theta)[1]))
    rank = *rows + 2;
  if (!rank)
    return b.unsupported("expected a grid of known rank");
  int64_t spatial = *rank - 2;
  if (spatial != 2 && spatial != 3)
    return b.fail("expected sizes of 4 or 5 dims, but got " +
                  llvm::Twine(*rank));
  size = b.withLength(size, *rank);
  Dims sizes = b.getSizes(size);
  if (b.hasFailed())
    return mlir::failure();
  theta = b.refine(theta, {sizes[0], b.expr(spatial), b.expr(spatial + 1)});
  mlir::Type type = theta ? b.getElementType(theta) : mlir::Type();
  theta = b.cast(theta, b.builder.getF64Type());
  Dims column(spatial + 2, b.expr(1));
  column.front() = sizes[0];
  column.back() = b.expr(spatial);
  auto getColumn = [&](int64_t i) {
    return b.reshape(b.slice(theta, 2, i, b.expr(1)), column);
  };
  Value result = getColumn(spatial);
  bool aligned = b.getInt("align_corners", 0) != 0;
  // x is the last dim.
  for (int64_t i = spatial - 1; i >= 0; --i) {
    Value places =
        getGridPlaces(b, sizes[2 + i], s.pickScalar(size, 2 + i), aligned);
    result = a.add(result, a.mul(getColumn(spatial - 1 - i),
                                 a.withTail(places, spatial - i)));
  }
  return b.done(type ? b.cast(result, type) : Value());
}

} // namespace

void adze::importer::addSamplingOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(), {
                              {"AffineGrid", 20, 2, importAffineGrid},
                              {"DeformConv", 19, 3, importDeformConv},
                              {"GridSample", 16, 2, importGridSample},
                              {"MaxRoiPool", 1, 2, importMaxRoiPool},
                              {"RoiAlign", 10, 3, importRoiAlign},
                          });
}
