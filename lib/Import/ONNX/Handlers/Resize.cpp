// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Resize and its forerunner Upsample.
#include "../OpTable.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// What a node asks for: scales or sizes, one a dim of the input.
struct Request {
  llvm::SmallVector<double> scales;
  Dims sizes;
};

/// floor(dim * scale), symbolic where the scale is whole.
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

/// keep_aspect_ratio_policy: one scale for all resized dims.
LogicalResult keepAspectRatio(Binder &b, llvm::ArrayRef<AffineExpr> dims,
                              llvm::ArrayRef<int64_t> axes, Request &request) {
  llvm::StringRef policy = b.getString("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch")
    return mlir::success();
  bool notLarger = policy == "not_larger";
  if (!notLarger && policy != "not_smaller")
    return b.fail("expected keep_aspect_ratio_policy to be stretch, not_larger "
                  "or not_smaller, but got '" +
                  policy + "'");
  double scale = 0;
  for (int64_t axis : axes) {
    auto from = dims[axis] ? graph::getConstant(dims[axis]) : std::nullopt;
    auto to = graph::getConstant(request.sizes[axis]);
    if (!from || !to || *from == 0)
      return b.unsupported("expected static dims with " + policy);
    double ratio = double(*to) / double(*from);
    scale = axis == axes.front() ? ratio
            : notLarger          ? std::min(scale, ratio)
                                 : std::max(scale, ratio);
  }
  request.scales.assign(dims.size(), 1.0);
  for (int64_t axis : axes) {
    request.scales[axis] = scale;
    request.sizes[axis] = b.expr(
        int64_t(std::floor(scale * *graph::getConstant(dims[axis]) + 0.5)));
  }
  return mlir::success();
}

/// Scales, spread from `axes` to all dims.
LogicalResult addScales(Binder &b, llvm::ArrayRef<double> scales,
                        llvm::ArrayRef<AffineExpr> dims,
                        llvm::ArrayRef<int64_t> axes, Request &request) {
  if (scales.size() != axes.size())
    return b.fail("expected " + llvm::Twine(axes.size()) + " scales, but got " +
                  llvm::Twine(scales.size()));
  request.scales.assign(dims.size(), 1.0);
  for (auto [scale, axis] : llvm::zip(scales, axes)) {
    request.scales[axis] = scale;
    request.sizes[axis] = scaleDim(b, dims[axis], scale);
    if (!request.sizes[axis])
      return b.unsupported("expected scales that give a known size, but got " +
                           std::to_string(scale));
  }
  return mlir::success();
}

LogicalResult addSizes(Binder &b, Value sizes, llvm::ArrayRef<AffineExpr> dims,
                       llvm::ArrayRef<int64_t> axes, Request &request) {
  auto elements = graph::getElements(sizes);
  if (!elements)
    return b.unsupported("expected sizes that the symbolic dims determine");
  if (elements->size() != axes.size())
    return b.fail("expected " + llvm::Twine(axes.size()) + " sizes, but got " +
                  llvm::Twine(elements->size()));
  for (auto [size, axis] : llvm::zip(*elements, axes)) {
    if (!b.assumeNonNegative(size))
      return b.fail("expected sizes >= 0");
    request.sizes[axis] = size;
  }
  return keepAspectRatio(b, dims, axes, request);
}

bool isEmpty(Value value) {
  auto dims = value ? graph::getDims(value) : Dims();
  return !value || (dims.size() == 1 && graph::getConstant(dims[0]) == 0);
}

Value buildResize(Binder &b, const Request &request,
                  llvm::SmallVector<mlir::NamedAttribute> attrs) {
  Value x = b.operand(0);
  if (!request.scales.empty())
    attrs.push_back(b.attr(
        "scales",
        mlir::Attribute(b.builder.getDenseF64ArrayAttr(request.scales))));
  return b.createAs<graph::ResizeOp>(
      graph::makeType(b.getElementType(x), request.sizes), x, attrs);
}

/// "nearest", "linear" (or "bilinear", "trilinear"), "cubic".
mlir::NamedAttribute getMode(Binder &b) {
  llvm::StringRef name = b.getString("mode", "nearest");
  auto mode = graph::symbolizeResizeMode(
      name == "bilinear" || name == "trilinear" ? "linear" : name);
  if (!mode)
    (void)b.fail("expected mode to be nearest, linear or cubic, but got '" +
                 name + "'");
  mlir::Attribute attribute = graph::ResizeModeAttr::get(
      b.builder.getContext(), mode.value_or(graph::ResizeMode::Nearest));
  return b.attr("mode", attribute);
}

/// Upsample and Resize-10: only scales; coordinates are divided and rounded
/// down.
LogicalResult importUpsample(Binder &b) {
  Value x = b.operand(0);
  std::optional<llvm::SmallVector<double>> scales;
  if (b.version() >= 9) {
    if (!b.operand(1))
      return b.fail("expected operand 1 to be there");
    scales = b.getConstantFloats(1);
  } else if (const Attribute *attribute = b.node.find("scales")) {
    scales.emplace(attribute->floats.begin(), attribute->floats.end());
  }
  if (!scales)
    return b.fail("expected scales, but got none");
  Dims dims = graph::getDims(x);
  Request request;
  request.sizes = dims;
  if (mlir::failed(addScales(
          b, *scales, dims, llvm::to_vector(llvm::seq<int64_t>(0, dims.size())),
          request)))
    return mlir::failure();
  auto *context = b.builder.getContext();
  return b.done(buildResize(
      b, request,
      {getMode(b),
       b.attr("coordinates", mlir::Attribute(graph::CoordinateModeAttr::get(
                                 context, graph::CoordinateMode::Asymmetric))),
       b.attr("nearest_mode", mlir::Attribute(graph::NearestModeAttr::get(
                                  context, graph::NearestMode::Floor)))}));
}

LogicalResult
getResizeAttributes(Binder &b, int64_t rank, llvm::ArrayRef<int64_t> axes,
                    llvm::SmallVector<mlir::NamedAttribute> &attrs) {
  auto *context = b.builder.getContext();
  llvm::StringRef coordinates =
      b.getString("coordinate_transformation_mode", "half_pixel");
  llvm::StringRef nearest = b.getString("nearest_mode", "round_prefer_floor");
  auto coordinateMode = graph::symbolizeCoordinateMode(coordinates);
  auto nearestMode = graph::symbolizeNearestMode(nearest);
  if (!coordinateMode || !nearestMode)
    return b.fail("expected modes of Resize, but got '" + coordinates +
                  "' and '" + nearest + "'");
  attrs = {getMode(b),
           b.attr("coordinates", mlir::Attribute(graph::CoordinateModeAttr::get(
                                     context, *coordinateMode))),
           b.attr("nearest_mode", mlir::Attribute(graph::NearestModeAttr::get(
                                      context, *nearestMode))),
           b.attr("cubic_coeff", b.getFloat("cubic_coeff_a", -0.75)),
           b.attr("exclude_outside", b.getInt("exclude_outside", 0) != 0),
           b.attr("antialias", b.getInt("antialias", 0) != 0),
           b.attr("extrapolation", b.getFloat("extrapolation_value", 0.0))};
  if (*coordinateMode != graph::CoordinateMode::TfCropAndResize)
    return mlir::success();
  if (isEmpty(b.operand(1)))
    return b.fail("expected roi with tf_crop_and_resize, but got none");
  auto roi = b.getConstantFloats(1);
  if (!roi)
    return mlir::failure();
  if (roi->size() != 2 * axes.size())
    return b.fail("expected " + llvm::Twine(2 * axes.size()) +
                  " numbers in roi, but got " + llvm::Twine(roi->size()));
  llvm::SmallVector<double> all(2 * rank, 0.0);
  for (int64_t i = 0; i < rank; ++i)
    all[rank + i] = 1.0;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    all[axis] = (*roi)[i];
    all[rank + axis] = (*roi)[axes.size() + i];
  }
  attrs.push_back(
      b.attr("roi", mlir::Attribute(b.builder.getDenseF64ArrayAttr(all))));
  return mlir::success();
}

LogicalResult importResize(Binder &b) {
  if (b.version() < 11)
    return importUpsample(b);
  Value x = b.operand(0), scales = b.operand(2), sizes = b.operand(3);
  Dims dims = graph::getDims(x);
  int64_t rank = dims.size();
  llvm::SmallVector<int64_t> axes =
      b.getInts("axes").value_or(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  for (int64_t &axis : axes)
    axis = b.normalizeAxis(axis, rank);
  llvm::SmallVector<mlir::NamedAttribute> attrs;
  if (b.hasFailed() || mlir::failed(getResizeAttributes(b, rank, axes, attrs)))
    return mlir::failure();
  Request request;
  request.sizes = dims;
  if (!isEmpty(sizes)) {
    if (mlir::failed(addSizes(b, sizes, dims, axes, request)))
      return mlir::failure();
  } else if (!isEmpty(scales)) {
    auto values = b.getConstantFloats(2);
    if (!values || mlir::failed(addScales(b, *values, dims, axes, request)))
      return mlir::failure();
  } else {
    return b.fail("expected scales or sizes, but got neither");
  }
  return b.done(buildResize(b, request, attrs));
}

} // namespace

void adze::importer::addResizeOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(), {
                              {"Resize", 10, 1, importResize,
                               "scales and roi that are not constant"},
                              {"Upsample", 7, 1, importUpsample, "", 9},
                          });
}
