// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Inverse and MatMulBnb4 of com.microsoft.
#include "../OpTable.h"
#include "Arithmetic.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;
using Values = Binder::Values;

namespace {

//===----------------------------------------------------------------------===//
// Inverse
//===----------------------------------------------------------------------===//

/// Performs one step of the Gauss-Jordan elimination of rows [B, N, 2N]: column
/// k of the left half becomes that of the identity. Row k is swapped with the
/// row from k on with the greatest magnitude in the column.
Value eliminate(Binder &b, Value rows, Value k) {
  Arithmetic a(b);
  Dims dims = graph::getDims(rows);
  Value places = a.iota(rows, 1);
  Value column = a.abs(a.gather(rows, k, 2));
  Value pivot = b.create<graph::ArgMaxOp>(
      a.select(a.greaterEqual(places, k), column, -1.0),
      {b.attr("axis", int64_t(1)), b.attr("keepdims", true)});
  Value isK = a.equal(places, k);
  Value from =
      a.select(isK, pivot, a.select(a.equal(places, pivot), k, places));
  Value swapped = b.create<graph::GatherElementsOp>(
      {rows, b.broadcastTo(b.unsqueeze(from, {2}), dims)},
      b.attr("axis", int64_t(1)));
  Value row = a.gather(swapped, k, 1);
  Value unit =
      b.unsqueeze(a.div(row, b.unsqueeze(a.gather(row, k, 1), {1})), {1});
  Value factors = b.unsqueeze(a.gather(swapped, k, 2), {2});
  Value rest = a.sub(swapped, a.mul(factors, unit));
  return a.select(b.unsqueeze(isK, {1}), unit, rest);
}

LogicalResult importInverse(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  if (rank < 2)
    return b.fail("expected matrices: an input of at least 2 dims");
  mlir::Type type = b.getElementType(x);
  Dims dims = graph::getDims(x);
  AffineExpr size = dims[rank - 1];
  dims[rank - 2] = size;
  mlir::Type wide = type.isF64() ? type : b.builder.getF32Type();
  Value matrices = a.flatten(b.cast(b.refine(x, dims), wide), 0, rank - 2);
  if (!matrices) // not square
    return mlir::failure();
  Value places = a.iota(matrices, 2);
  Value unit = b.cast(a.equal(b.unsqueeze(places, {1}), places), wide);
  Value right = b.broadcastTo(unit, graph::getDims(matrices));
  Value both = a.concat({matrices, right}, 2);
  if (!both)
    return mlir::failure();
  Values results = b.createLoop(
      a.size(matrices, 2), Value(), both,
      [&](Value k, mlir::ValueRange values, Binder::LoopBody &body) {
        body.carried = {eliminate(b, values.front(), k)};
        return mlir::failure(b.hasFailed());
      });
  if (results.empty())
    return mlir::failure();
  Value inverse = b.slice(results.front(), 2, size, size);
  return b.done(b.reshape(b.cast(inverse, type), dims));
}

//===----------------------------------------------------------------------===//
// Products by bitsandbytes' weights
//===----------------------------------------------------------------------===//

/// The values of the 16 numbers of the types FP4 and NF4.
constexpr float kFloats[] = {0.0f,         0.005208333f,  0.66666667f,  1.0f,
                             0.33333333f,  0.5f,          0.16666667f,  0.25f,
                             -0.0f,        -0.005208333f, -0.66666667f, -1.0f,
                             -0.33333333f, -0.5f,         -0.16666667f, -0.25f};
constexpr float kNormalFloats[] = {
    -1.0f,        -0.6961928f,  -0.52507305f, -0.39491749f,
    -0.28444138f, -0.18477343f, -0.09105004f, 0.0f,
    0.0795803f,   0.1609302f,   0.2461123f,   0.33791524f,
    0.44070983f,  0.562617f,    0.72295684f,  1.0f};

/// Returns the matrix [N, K] of numbers, two in a byte, the high one first;
/// each block of elements in row-major order has a scale.
Value dequantize(Binder &b, int64_t n, int64_t k, int64_t block,
                 bool isNormal) {
  Arithmetic a(b);
  Value bytes = b.operand(1), scales = b.operand(2);
  int64_t count = n * k, blocks = (count + block - 1) / block;
  bytes = b.refine(bytes, b.expr((count + 1) / 2));
  scales = b.refine(scales, b.expr(blocks));
  if (!bytes || !scales)
    return {};
  Value pairs = a.concat({b.unsqueeze(a.shiftRight(bytes, 4), {1}),
                          b.unsqueeze(a.bitAnd(bytes, 15), {1})},
                         1);
  Value numbers = b.slice(a.flatten(pairs, 0, 2), 0, 0, b.expr(count));
  llvm::ArrayRef<float> values = isNormal ? kNormalFloats : kFloats;
  auto type = mlir::RankedTensorType::get({16}, b.builder.getF32Type());
  Value table = b.cast(b.constant(mlir::DenseElementsAttr::get(type, values)),
                       b.getElementType(scales));
  Value weights = a.gather(table, b.cast(numbers, b.builder.getI32Type()), 0);
  Value wide =
      b.broadcastTo(b.unsqueeze(scales, {1}), {b.expr(blocks), b.expr(block)});
  wide = b.slice(a.flatten(wide, 0, 2), 0, 0, b.expr(count));
  return b.reshape(a.mul(weights, wide), {b.expr(n), b.expr(k)});
}

LogicalResult importMatMulBnb4(Binder &b) {
  int64_t n = b.getInt("N", 0), k = b.getInt("K", 0),
          block = b.getInt("block_size", 0), kind = b.getInt("quant_type", 0);
  constexpr int64_t most = int64_t(1) << 31;
  if (n < 1 || k < 1 || n > most || k > most || block < 1 || block > most ||
      (kind != 0 && kind != 1))
    return b.fail("expected N, K and block_size of at least 1, and quant_type "
                  "to be 0 (FP4) or 1 (NF4)");
  Value weights = dequantize(b, n, k, block, kind == 1);
  bool isTransposed = b.getInt("transB", 1) != 0;
  return b.done(Arithmetic(b).matmul(b.operand(0), weights, isTransposed));
}

} // namespace

void adze::importer::addMicrosoftMatrixOps(std::vector<OpRow> &rows) {
  auto add = [&](llvm::StringRef name, unsigned required, Handler handler) {
    rows.push_back(
        {name, 0, required, handler, "", INT32_MAX, "com.microsoft"});
  };
  add("Inverse", 1, importInverse);
  add("MatMulBnb4", 3, importMatMulBnb4);
}
