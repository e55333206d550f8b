// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Pooling and local response normalisation.
#include "../OpTable.h"
#include "Arithmetic.h"
#include "Windows.h"
#include <cmath>
#include <limits>

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

/// Adds dynamic pads of elements `fill` to `x`.
static LogicalResult getPool(Binder &b, Value &x, Window &window,
                             llvm::SmallVector<mlir::NamedAttribute> &attrs,
                             Value fill = {}) {
  if (b.getRank(x) < 3)
    return b.fail("expected an input of at least 3 dims, but got " +
                  llvm::Twine(b.getRank(x)) + "-D");
  if (mlir::failed(getPoolWindow(b, b.getRank(x) - 2, window)) ||
      mlir::failed(addPads(b, x, window, fill)))
    return mlir::failure();
  attrs = {b.attr("kernel", window.kernel), b.attr("strides", window.strides),
           b.attr("pads", window.pads), b.attr("dilations", window.dilations),
           b.attr("ceil_mode", b.getInt("ceil_mode", 0) != 0)};
  return mlir::success();
}

/// Returns a scalar that is never the greatest element.
static Value getLeast(Binder &b, Value x) {
  mlir::Type type = b.getElementType(x);
  auto integer = llvm::dyn_cast<mlir::IntegerType>(type);
  if (!integer)
    return b.scalar(type, -std::numeric_limits<double>::infinity());
  unsigned bits = integer.getWidth();
  return b.scalar(type, integer.isUnsigned() ? 0 : -std::ldexp(1.0, bits - 1));
}

static LogicalResult importMaxPool(Binder &b) {
  Window window;
  llvm::SmallVector<mlir::NamedAttribute> attrs;
  Value x = b.operand(0), padded = x, places;
  if (mlir::failed(getPool(b, padded, window, attrs, getLeast(b, x))))
    return mlir::failure();
  Value result = b.create<graph::MaxPoolOp>(padded, attrs);
  if (b.wants(1)) {
    if (padded != x)
      return b.unsupported("expected static spatial dims with auto_pad, a "
                           "stride and indices");
    attrs.push_back(b.attr("column_major", b.getInt("storage_order", 0) != 0));
    places = b.create<graph::MaxPoolIndexOp>(x, attrs);
  }
  return b.done({result, places});
}

static LogicalResult importAveragePool(Binder &b) {
  Window window;
  llvm::SmallVector<mlir::NamedAttribute> attrs;
  Value x = b.operand(0), padded = x;
  if (mlir::failed(getPool(b, padded, window, attrs)))
    return mlir::failure();
  bool countsPad = b.getInt("count_include_pad", 0) != 0, isData = padded != x;
  attrs.push_back(b.attr("count_include_pad", countsPad || isData));
  Value mean = b.create<graph::AvgPoolOp>(padded, attrs);
  if (countsPad || !isData)
    return b.done(mean);
  // The share of each window that is not padding is the mean of ones.
  Arithmetic a(b);
  Value ones = b.broadcastTo(a.like(x, 1), graph::getDims(x));
  Window same;
  llvm::SmallVector<mlir::NamedAttribute> ignored;
  if (mlir::failed(getPool(b, ones, same, ignored)))
    return mlir::failure();
  return b.done(a.div(mean, b.create<graph::AvgPoolOp>(ones, attrs)));
}

/// Adds zeros at the end, so that windows added by ceil_mode are complete.
static Value padForCeil(Binder &b, Value x, Window &window) {
  size_t spatial = window.kernel.size();
  Dims dims = graph::getDims(x);
  llvm::SmallVector<int64_t> low(2, 0), high(2, 0);
  for (size_t i = 0; i < spatial; ++i) {
    auto size = dims[i + 2] ? graph::getConstant(dims[i + 2]) : std::nullopt;
    if (!size) {
      (void)b.unsupported("expected spatial dims to be static with ceil_mode");
      return {};
    }
    int64_t stride = window.strides[i], before = window.pads[i],
            reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t span = *size + before + window.pads[spatial + i] - reach;
    int64_t windows = llvm::divideCeil(std::max<int64_t>(span, 0), stride) + 1;
    // The last window starts inside of the input or the padding before it.
    if ((windows - 1) * stride >= *size + before)
      --windows;
    low.push_back(before);
    high.push_back((windows - 1) * stride + reach - *size - before);
  }
  window.pads.assign(2 * spatial, 0);
  return b.create<graph::PadOp>(x, {b.attr("low", low), b.attr("high", high)});
}

static Value buildPower(Binder &b, Value x, double p) {
  Arithmetic a(b);
  return p == 1 ? a.abs(x) : p == 2 ? a.mul(x, x) : a.pow(a.abs(x), p);
}

static Value buildRoot(Binder &b, Value x, double p) {
  Arithmetic a(b);
  return p == 1 ? x : p == 2 ? a.sqrt(x) : a.pow(x, 1 / p);
}

/// Computes (sum of |x|^p over the window)^(1/p), with the sum as an average
/// over windows that count their padding.
static LogicalResult importLpPool(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  Window window;
  llvm::SmallVector<mlir::NamedAttribute> attrs;
  if (mlir::failed(getPool(b, x, window, attrs)))
    return mlir::failure();
  if (b.getInt("ceil_mode", 0) != 0)
    x = padForCeil(b, x, window);
  double p = b.getInt("p", 2), count = 1;
  for (int64_t size : window.kernel)
    count *= size;
  Value mean = b.create<graph::AvgPoolOp>(
      buildPower(b, x, p),
      {b.attr("kernel", window.kernel), b.attr("strides", window.strides),
       b.attr("pads", window.pads), b.attr("dilations", window.dilations),
       b.attr("count_include_pad", true)});
  return b.done(buildRoot(b, a.mul(mean, count), p));
}

/// Reduces all dims after the channels.
template <typename OpT>
static LogicalResult importGlobalPool(Binder &b) {
  Value x = b.operand(0);
  if (b.getRank(x) < 2)
    return b.fail("expected an input of at least 2 dims, but got " +
                  llvm::Twine(b.getRank(x)) + "-D");
  auto axes = llvm::to_vector(llvm::seq<int64_t>(2, b.getRank(x)));
  return b.done(
      b.create<OpT>(x, {b.attr("axes", axes), b.attr("keepdims", true)}));
}

static LogicalResult importGlobalLpPool(Binder &b) {
  double p = b.getInt("p", 2);
  Value x = b.operand(0);
  if (b.getRank(x) < 2)
    return b.fail("expected an input of at least 2 dims, but got " +
                  llvm::Twine(b.getRank(x)) + "-D");
  auto axes = llvm::to_vector(llvm::seq<int64_t>(2, b.getRank(x)));
  Value sum = Arithmetic(b).sum(buildPower(b, x, p), axes, /*keepdims=*/true);
  return b.done(buildRoot(b, sum, p));
}

static LogicalResult importLRN(Binder &b) {
  int64_t size = b.getInt("size", 0);
  if (size < 1)
    return b.fail("expected a size of at least 1, but got " +
                  llvm::Twine(size));
  return b.done(b.create<graph::LRNOp>(
      b.operand(0),
      {b.attr("size", size), b.attr("alpha", b.getFloat("alpha", 0.0001f)),
       b.attr("beta", b.getFloat("beta", 0.75)),
       b.attr("bias", b.getFloat("bias", 1.0))}));
}

void adze::importer::addPoolingOps(std::vector<OpRow> &rows) {
  rows.insert(
      rows.end(),
      {
          {"AveragePool", 1, 1, importAveragePool},
          {"GlobalAveragePool", 1, 1, importGlobalPool<graph::ReduceMeanOp>},
          {"GlobalLpPool", 2, 1, importGlobalLpPool},
          {"GlobalMaxPool", 1, 1, importGlobalPool<graph::ReduceMaxOp>},
          {"LRN", 1, 1, importLRN},
          {"LpPool", 2, 1, importLpPool},
          {"MaxPool", 1, 1, importMaxPool},
      });
}
