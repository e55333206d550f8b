// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Resize and its predecessor Upsample.
#include "../OpTable.h"
#include "../Sizes.h"
#include "Arithmetic.h"
#include "ResizeByData.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;
using Attributes = llvm::SmallVector<mlir::NamedAttribute>;

namespace {

/// Returns floor(dim * scale), which is symbolic if the scale is integral, or
/// null if it is unknown.
AffineExpr scaleDim(Binder &b, AffineExpr dim, double scale) {
  if (auto size = dim ? graph::getConstant(dim) : std::nullopt) {
    double scaled = std::floor(double(*size) * scale);
    return scaled >= 0 && scaled <= INT32_MAX ? b.expr(int64_t(scaled))
                                              : AffineExpr();
  }
  if (!dim || scale != std::floor(scale) || scale < 1 || scale > INT32_MAX)
    return {};
  return graph::mulExprs(dim, b.expr(int64_t(scale)));
}

bool isEmpty(Value value) {
  auto dims = value ? graph::getDims(value) : Dims();
  return !value || (dims.size() == 1 && graph::getConstant(dims[0]) == 0);
}

bool isConstant(Value value) {
  return value.getDefiningOp<graph::ConstantOp>() != nullptr;
}

/// The sizes, scales and region of a node. Unknown values are computed at run
/// time: sizes are bound to symbols, scales and region become gathers.
class Request {
public:
  Request(Binder &b, llvm::ArrayRef<int64_t> axes)
      : b(b), a(b), s(b), x(b.operand(0)), axes(axes), dims(graph::getDims(x)),
        result(dims), f64(b.builder.getF64Type()) {}

  LogicalResult addSizes(Value given);
  /// Adds the scales in operand i.
  LogicalResult addScales(unsigned i);
  LogicalResult addScales(llvm::ArrayRef<double> given);
  LogicalResult addRegion(Value given);
  Value build(const ResizeModes &modes);

private:
  bool keepAspectRatio(llvm::StringRef policy);
  void keepAspectRatioByData(bool notLarger);
  LogicalResult bindSizes(Value wanted);
  /// Fails if elements are added to a dim that has none.
  LogicalResult checkFilled();
  /// Returns the sizes of the resized dims, as a vector.
  Value getFrom() { return a.gather(s.shape(x), s.vector(axes), 0); }
  Value getNumbers(llvm::ArrayRef<double> values);
  Value buildByData(const ResizeModes &modes);

  Binder &b;
  Arithmetic a;
  Sizes s;
  Value x;
  llvm::ArrayRef<int64_t> axes;
  Dims dims, result;
  mlir::Type f64;
  /// One for each dim of the input; empty: the quotients of the sizes.
  llvm::SmallVector<double> scales, region;
  /// The same values of the resized dims, if they are dynamic; their sizes.
  Value dataScales, dataRegion, sizes;
};

/// Uses one scale for all resized dims. Returns false if it is dynamic.
bool Request::keepAspectRatio(llvm::StringRef policy) {
  double scale = 0;
  for (int64_t axis : axes) {
    auto from = dims[axis] ? graph::getConstant(dims[axis]) : std::nullopt;
    auto to = graph::getConstant(result[axis]);
    if (!from || !to || *from == 0)
      return false;
    double ratio = double(*to) / double(*from);
    scale = axis == axes.front()     ? ratio
            : policy == "not_larger" ? std::min(scale, ratio)
                                     : std::max(scale, ratio);
  }
  scales.assign(dims.size(), 1.0);
  for (int64_t axis : axes) {
    scales[axis] = scale;
    // A value that cannot be a size is kept as a number, and rejected later.
    constexpr double most = 0x1p62;
    double size = std::floor(scale * *graph::getConstant(dims[axis]) + 0.5);
    result[axis] = b.expr(int64_t(std::clamp(size, -1.0, most)));
  }
  return true;
}

void Request::keepAspectRatioByData(bool notLarger) {
  Value from = b.cast(getFrom(), f64);
  Value ratios = a.div(b.cast(sizes, f64), from);
  Value ratio = notLarger ? a.reduce<graph::ReduceMinOp>(ratios, {0}, true)
                          : a.reduce<graph::ReduceMaxOp>(ratios, {0}, true);
  dataScales = b.broadcastTo(ratio, b.expr(axes.size()));
  (void)bindSizes(b.cast(a.floor(a.add(a.mul(dataScales, from), 0.5)),
                         b.builder.getI64Type()));
}

LogicalResult Request::bindSizes(Value wanted) {
  sizes = wanted;
  Dims elements = b.getSizes(sizes);
  if (b.hasFailed())
    return mlir::failure();
  for (auto [size, axis] : llvm::zip(elements, axes))
    result[axis] = size;
  return mlir::success();
}

/// Returns true if an empty dim is known to stay empty.
static bool isEmptyIfEmpty(AffineExpr dim, AffineExpr size) {
  if (graph::areEqual(dim, size) || graph::getConstant(size) == 0)
    return true;
  if (!size || !llvm::isa_and_present<mlir::AffineSymbolExpr>(dim))
    return graph::getConstant(dim).value_or(0) > 0;
  AffineExpr zero = mlir::getAffineConstantExpr(0, dim.getContext());
  return graph::getConstant(size.replace(dim, zero)) == 0;
}

LogicalResult Request::checkFilled() {
  bool needsRun = false;
  for (int64_t axis : axes) {
    AffineExpr dim = dims[axis], size = result[axis];
    if (isEmptyIfEmpty(dim, size))
      continue;
    if (!dim || !graph::getConstant(size))
      needsRun = true;
    else if (!b.assumeNonNegative(graph::subExprs(dim, b.expr(1))))
      return b.fail("expected elements to resize, but got none");
  }
  if (needsRun)
    b.check(s.all(s.either(s.equal(sizes, s.number(0)),
                           s.less(s.number(0), getFrom()))),
            "expected elements to resize, but got none");
  return mlir::failure(b.hasFailed());
}

LogicalResult Request::addSizes(Value given) {
  llvm::StringRef policy = b.getString("keep_aspect_ratio_policy", "stretch");
  bool stretches = policy == "stretch", notLarger = policy == "not_larger";
  if (!stretches && !notLarger && policy != "not_smaller")
    return b.fail("expected keep_aspect_ratio_policy to be stretch, not_larger "
                  "or not_smaller, but got '" +
                  policy + "'");
  sizes = b.withLength(s.toVector(given), axes.size());
  if (!sizes)
    return mlir::failure();
  if (auto elements = graph::getElements(sizes)) {
    for (auto [size, axis] : llvm::zip(*elements, axes)) {
      if (!b.assumeNonNegative(size))
        return b.fail("expected sizes >= 0");
      result[axis] = size;
    }
    if (stretches || keepAspectRatio(policy))
      return checkFilled();
  }
  if (!stretches)
    keepAspectRatioByData(notLarger);
  else if (mlir::failed(bindSizes(sizes)))
    return mlir::failure();
  return checkFilled();
}

LogicalResult Request::addScales(llvm::ArrayRef<double> given) {
  if (given.size() != axes.size())
    return b.fail("expected " + llvm::Twine(axes.size()) + " scales, but got " +
                  llvm::Twine(given.size()));
  scales.assign(dims.size(), 1.0);
  bool isKnown = true;
  for (auto [scale, axis] : llvm::zip(given, axes)) {
    if (!(scale > 0))
      return b.fail("expected scales > 0, but got " + std::to_string(scale));
    scales[axis] = scale;
    result[axis] = scaleDim(b, dims[axis], scale);
    isKnown &= bool(result[axis]);
  }
  if (isKnown)
    return mlir::success();
  Value wanted = a.floor(a.mul(b.cast(getFrom(), f64), getNumbers(given)));
  return bindSizes(b.cast(wanted, b.builder.getI64Type()));
}

LogicalResult Request::addScales(unsigned i) {
  if (isConstant(b.operand(i))) {
    auto values = b.getConstantFloats(i);
    return values ? addScales(*values) : mlir::failure();
  }
  Value given = b.withLength(b.operand(i), axes.size());
  if (!given)
    return mlir::failure();
  dataScales = b.cast(given, f64);
  b.check(b.create<graph::LessOp>(
              {b.scalar(f64, 0.0),
               a.reduce<graph::ReduceMinOp>(dataScales, {0}, false)}),
          "expected scales > 0");
  Value wanted = a.floor(a.mul(b.cast(getFrom(), f64), dataScales));
  return bindSizes(b.cast(wanted, b.builder.getI64Type()));
}

LogicalResult Request::addRegion(Value given) {
  size_t count = axes.size(), rank = dims.size();
  if (isEmpty(given))
    return b.fail("expected roi with tf_crop_and_resize, but got none");
  given = b.withLength(given, 2 * count);
  if (!given)
    return mlir::failure();
  if (!isConstant(given)) {
    dataRegion = b.cast(given, f64);
    return mlir::success();
  }
  auto roi = b.getConstantFloats(1);
  if (!roi || roi->size() != 2 * count)
    return b.fail("expected roi of " + llvm::Twine(2 * count) + " numbers");
  region.assign(rank, 0.0);
  region.append(rank, 1.0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    region[axis] = (*roi)[i];
    region[rank + axis] = (*roi)[count + i];
  }
  return mlir::success();
}

Value Request::getNumbers(llvm::ArrayRef<double> values) {
  return b.constant(mlir::DenseElementsAttr::get(
      mlir::RankedTensorType::get({int64_t(values.size())}, f64), values));
}

Value Request::buildByData(const ResizeModes &modes) {
  size_t count = axes.size(), rank = dims.size();
  DataResize resize{axes, {}, sizes, dataScales, dataRegion};
  llvm::SmallVector<double> known;
  for (int64_t axis : axes) {
    resize.dims.push_back(result[axis]);
    if (!scales.empty())
      known.push_back(scales[axis]);
  }
  if (!resize.sizes) {
    Value factors = getNumbers(known);
    resize.sizes = b.cast(a.floor(a.mul(b.cast(getFrom(), f64), factors)),
                          b.builder.getI64Type());
  }
  if (!resize.scales)
    resize.scales = scales.empty()
                        ? a.div(b.cast(sizes, f64), b.cast(getFrom(), f64))
                        : getNumbers(known);
  if (!region.empty()) {
    llvm::SmallVector<double> ends(2 * count);
    for (auto [i, axis] : llvm::enumerate(axes)) {
      ends[i] = region[axis];
      ends[count + i] = region[rank + axis];
    }
    resize.region = getNumbers(ends);
  }
  return b.hasFailed() ? Value() : resizeByData(b, x, resize, modes);
}

Attributes getAttributes(Binder &b, const ResizeModes &modes) {
  mlir::MLIRContext *context = b.builder.getContext();
  mlir::Attribute mode = graph::ResizeModeAttr::get(context, modes.mode),
                  coordinates = graph::CoordinateModeAttr::get(
                      context, modes.coordinates),
                  nearest = graph::NearestModeAttr::get(context, modes.nearest);
  return {b.attr("mode", mode),
          b.attr("coordinates", coordinates),
          b.attr("nearest_mode", nearest),
          b.attr("cubic_coeff", modes.cubic),
          b.attr("exclude_outside", modes.excludeOutside),
          b.attr("antialias", modes.antialias),
          b.attr("extrapolation", modes.extrapolation)};
}

Value Request::build(const ResizeModes &modes) {
  if (Binder::isString(x)) {
    if (modes.mode != graph::ResizeMode::Nearest)
      (void)b.fail("expected mode nearest for strings");
    return a.moveStrings(x, [&](Value numbers) {
      x = numbers;
      return build(modes);
    });
  }
  if (dataScales || dataRegion)
    return buildByData(modes);
  Attributes attributes = getAttributes(b, modes);
  auto add = [&](llvm::StringRef name, llvm::ArrayRef<double> values) {
    if (!values.empty())
      attributes.push_back(b.attr(
          name, mlir::Attribute(b.builder.getDenseF64ArrayAttr(values))));
  };
  add("scales", scales);
  add("roi", region);
  if (b.hasFailed())
    return {};
  return b.createAs<graph::ResizeOp>(
      graph::makeType(b.getElementType(x), result), x, attributes);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Parses "nearest", "linear" (or "bilinear", "trilinear"), and "cubic".
graph::ResizeMode getMode(Binder &b) {
  llvm::StringRef name = b.getString("mode", "nearest");
  auto mode = graph::symbolizeResizeMode(
      name == "bilinear" || name == "trilinear" ? "linear" : name);
  if (!mode)
    (void)b.fail("expected mode to be nearest, linear or cubic, but got '" +
                 name + "'");
  return mode.value_or(graph::ResizeMode::Nearest);
}

/// Upsample and Resize-10 have scales only; coordinates are divided and rounded
/// down.
LogicalResult importUpsample(Binder &b) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, b.getRank(b.operand(0))));
  Request request(b, axes);
  LogicalResult added = mlir::failure();
  if (b.version() >= 9) {
    if (!b.operand(1))
      return b.fail("expected operand 1 to be present");
    added = request.addScales(1);
  } else if (const Attribute *attribute = b.node.find("scales")) {
    llvm::SmallVector<double> scales(attribute->floats.begin(),
                                     attribute->floats.end());
    added = request.addScales(scales);
  } else {
    return b.fail("expected scales, but got none");
  }
  if (mlir::failed(added))
    return mlir::failure();
  ResizeModes modes;
  modes.mode = getMode(b);
  modes.coordinates = graph::CoordinateMode::Asymmetric;
  modes.nearest = graph::NearestMode::Floor;
  return b.done(request.build(modes));
}

LogicalResult readModes(Binder &b, ResizeModes &modes) {
  llvm::StringRef coordinates =
      b.getString("coordinate_transformation_mode", "half_pixel");
  llvm::StringRef nearest = b.getString("nearest_mode", "round_prefer_floor");
  auto coordinateMode = graph::symbolizeCoordinateMode(coordinates);
  auto nearestMode = graph::symbolizeNearestMode(nearest);
  if (!coordinateMode || !nearestMode)
    return b.fail("expected modes of Resize, but got '" + coordinates +
                  "' and '" + nearest + "'");
  modes.mode = getMode(b);
  modes.coordinates = *coordinateMode;
  modes.nearest = *nearestMode;
  modes.cubic = b.getFloat("cubic_coeff_a", -0.75);
  modes.excludeOutside = b.getInt("exclude_outside", 0) != 0;
  modes.antialias = b.getInt("antialias", 0) != 0;
  modes.extrapolation = b.getFloat("extrapolation_value", 0.0);
  return mlir::failure(b.hasFailed());
}

LogicalResult importResize(Binder &b) {
  if (b.version() < 11)
    return importUpsample(b);
  int64_t rank = b.getRank(b.operand(0));
  llvm::SmallVector<int64_t> axes =
      b.getInts("axes").value_or(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  for (int64_t &axis : axes)
    axis = b.normalizeAxis(axis, rank);
  ResizeModes modes;
  if (b.hasFailed() || mlir::failed(readModes(b, modes)))
    return mlir::failure();
  Request request(b, axes);
  if (modes.crops() && mlir::failed(request.addRegion(b.operand(1))))
    return mlir::failure();
  bool hasSizes = !isEmpty(b.operand(3));
  if (!hasSizes && isEmpty(b.operand(2)))
    return b.fail("expected scales or sizes, but got neither");
  if (mlir::failed(hasSizes ? request.addSizes(b.operand(3))
                            : request.addScales(2)))
    return mlir::failure();
  return b.done(request.build(modes));
}

} // namespace

void adze::importer::addResizeOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(), {
                              {"Resize", 10, 1, importResize},
                              {"Upsample", 7, 1, importUpsample, "", 9},
                          });
}
