// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Pooling and local response normalisation.
#include "../OpTable.h"
#include "Windows.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

static LogicalResult getPool(Binder &b, Window &window,
                             llvm::SmallVector<mlir::NamedAttribute> &attrs) {
  Value x = b.operand(0);
  if (b.getRank(x) < 3)
    return b.fail("expected an input of at least 3 dims, but got " +
                  llvm::Twine(b.getRank(x)) + "-D");
  if (mlir::failed(getPoolWindow(b, b.getRank(x) - 2, window)) ||
      mlir::failed(addPads(b, graph::getDims(x), window)))
    return mlir::failure();
  attrs = {b.attr("kernel", window.kernel), b.attr("strides", window.strides),
           b.attr("pads", window.pads), b.attr("dilations", window.dilations),
           b.attr("ceil_mode", b.getInt("ceil_mode", 0) != 0)};
  return mlir::success();
}

static LogicalResult importMaxPool(Binder &b) {
  Window window;
  llvm::SmallVector<mlir::NamedAttribute> attrs;
  if (mlir::failed(getPool(b, window, attrs)))
    return mlir::failure();
  return b.done(b.create<graph::MaxPoolOp>(b.operand(0), attrs));
}

static LogicalResult importAveragePool(Binder &b) {
  Window window;
  llvm::SmallVector<mlir::NamedAttribute> attrs;
  if (mlir::failed(getPool(b, window, attrs)))
    return mlir::failure();
  attrs.push_back(
      b.attr("count_include_pad", b.getInt("count_include_pad", 0) != 0));
  return b.done(b.create<graph::AvgPoolOp>(b.operand(0), attrs));
}

/// (sum of |x|^p over the window)^(1/p), the sum from an average over windows
/// that count their padding.
static LogicalResult importLpPool(Binder &b) {
  Window window;
  llvm::SmallVector<mlir::NamedAttribute> attrs;
  if (mlir::failed(getPool(b, window, attrs)))
    return mlir::failure();
  attrs.push_back(b.attr("count_include_pad", true));
  if (b.getInt("ceil_mode", 0) != 0)
    return b.unsupported("expected ceil_mode to be 0");
  Value x = b.operand(0);
  mlir::Type type = b.getElementType(x);
  double p = b.getInt("p", 2), count = 1;
  for (int64_t size : window.kernel)
    count *= size;
  Value power =
      b.create<graph::PowOp>({b.create<graph::AbsOp>(x), b.scalar(type, p)});
  Value mean = b.create<graph::AvgPoolOp>(power, attrs);
  Value sum = b.create<graph::MulOp>({mean, b.scalar(type, count)});
  return b.done(b.create<graph::PowOp>({sum, b.scalar(type, 1 / p)}));
}

/// All dims behind the channels.
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
  int64_t p = b.getInt("p", 2);
  if (p == 1)
    return importGlobalPool<graph::ReduceL1Op>(b);
  if (p == 2)
    return importGlobalPool<graph::ReduceL2Op>(b);
  return b.unsupported("expected p to be 1 or 2, but got " + llvm::Twine(p));
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
          {"GlobalLpPool", 2, 1, importGlobalLpPool, "p other than 1 and 2"},
          {"GlobalMaxPool", 1, 1, importGlobalPool<graph::ReduceMaxOp>},
          {"LRN", 1, 1, importLRN},
          {"LpPool", 2, 1, importLpPool, "ceil_mode"},
          {"MaxPool", 1, 1, importMaxPool, "output Indices"},
      });
}
