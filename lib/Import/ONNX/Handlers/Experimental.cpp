// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Experimental operators of early versions of ONNX, which were removed.
// Converters of that time wrote them, and ONNX Runtime still supports them.
#include "../OpTable.h"
#include "Arithmetic.h"
#include "Ml.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

namespace {

LogicalResult importAffine(Binder &b) {
  Arithmetic a(b);
  return b.done(a.add(a.mul(b.operand(0), b.getFloat("alpha", 1.0)),
                      b.getFloat("beta", 0.0)));
}

LogicalResult importScaledTanh(Binder &b) {
  Arithmetic a(b);
  Value y = a.tanh(a.mul(b.operand(0), b.getFloat("beta", 1.0)));
  return b.done(a.mul(y, b.getFloat("alpha", 1.0)));
}

/// Computes alpha * log(1 + exp(beta * x)).
LogicalResult importParametricSoftplus(Binder &b) {
  Arithmetic a(b);
  Value x = a.mul(b.operand(0), b.getFloat("beta", 1.0));
  Value rest = a.log(a.add(a.exp(a.neg(a.abs(x))), 1.0));
  return b.done(a.mul(a.add(a.max(x, 0.0), rest), b.getFloat("alpha", 1.0)));
}

/// Computes scale * x + a number for each channel.
LogicalResult importImageScaler(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  std::vector<double> bias = getNumbers(b, "bias");
  if (b.getRank(x) != 4 || bias.empty())
    return b.fail("expected an input of 4 dims and a bias of each channel");
  Value table =
      makeTable(b, b.getElementType(x), bias, {int64_t(bias.size()), 1, 1});
  return b.done(a.add(a.mul(x, b.getFloat("scale", 1.0)), table));
}

/// Removes the border [left, top, right, bottom], or with a scale, crops to
/// that height and width.
LogicalResult importCrop(Binder &b) {
  Value x = b.operand(0);
  auto border = b.getInts("border"), scale = b.getInts("scale");
  if (b.getRank(x) != 4 || !border || border->size() != 4 ||
      (scale && !scale->empty() && scale->size() != 2))
    return b.fail("expected an input of 4 dims, a border of 4 numbers and a "
                  "scale of 2 or none");
  for (int64_t axis : {2, 3}) {
    int64_t first = (*border)[3 - axis], last = (*border)[5 - axis];
    mlir::AffineExpr size = graph::getDims(x)[axis];
    mlir::AffineExpr left = graph::subExprs(size, b.expr(first));
    mlir::AffineExpr kept = scale && !scale->empty()
                                ? b.expr((*scale)[axis - 2])
                                : graph::subExprs(left, b.expr(last));
    if (first < 0 || last < 0 || !left || !kept || !b.assumeNonNegative(kept) ||
        !b.assumeNonNegative(graph::subExprs(left, kept)))
      return b.fail("expected a border inside of the input");
    x = b.slice(x, axis, first, kept);
    if (!x)
      return mlir::failure();
  }
  return b.done(x);
}

/// Normalizes over all images, or over each channel of all images.
LogicalResult importMeanVarianceNormalization(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  if (b.getRank(x) != 4)
    return b.fail("expected an input of 4 dims");
  llvm::SmallVector<int64_t> axes{0, 2, 3};
  if (b.getInt("across_channels", 0) != 0)
    axes.insert(axes.begin() + 1, 1);
  Value centred =
      a.sub(x, a.reduce<graph::ReduceMeanOp>(x, axes, /*keepdims=*/true));
  if (b.getInt("normalize_variance", 1) == 0)
    return b.done(centred);
  Value variance = a.reduce<graph::ReduceMeanOp>(a.mul(centred, centred), axes,
                                                 /*keepdims=*/true);
  return b.done(a.div(centred, a.add(a.sqrt(variance), 1e-9)));
}

} // namespace

void adze::importer::addExperimentalOps(std::vector<OpRow> &rows) {
  // These have version 0, as ONNX does not define them any more.
  auto add = [&](llvm::StringRef name, Handler handler) {
    rows.push_back({name, 0, 1, handler, "", 0});
  };
  // ONNX Runtime inserts copies of values between devices.
  auto copy = [](Binder &b) { return b.done(b.operand(0)); };
  add("Affine", importAffine);
  add("Crop", importCrop);
  add("ImageScaler", importImageScaler);
  add("MeanVarianceNormalization", importMeanVarianceNormalization);
  add("MemcpyFromHost", copy);
  add("MemcpyToHost", copy);
  add("ParametricSoftplus", importParametricSoftplus);
  add("ScaledTanh", importScaledTanh);
}
