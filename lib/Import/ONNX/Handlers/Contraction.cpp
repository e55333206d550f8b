// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matrix products and convolutions.
#include "../OpTable.h"
#include "Quantization.h"
#include "Windows.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

/// numpy.matmul: a vector is a row on the left, a column on the right, and its
/// dim is not in the result.
Value adze::importer::buildMatmul(Binder &b, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return {};
  bool leftVector = b.getRank(lhs) == 1, rightVector = b.getRank(rhs) == 1;
  if (b.getRank(lhs) == 0 || b.getRank(rhs) == 0) {
    (void)b.fail("expected operands of at least one dim");
    return {};
  }
  if (leftVector)
    lhs = b.unsqueeze(lhs, {0});
  if (rightVector)
    rhs = b.unsqueeze(rhs, {1});
  Value result = b.create<graph::MatmulOp>({lhs, rhs});
  if (!result || !(leftVector || rightVector))
    return result;
  Dims dims = graph::getDims(result);
  if (rightVector)
    dims.pop_back();
  if (leftVector)
    dims.erase(dims.end() - (rightVector ? 1 : 2));
  return b.reshape(result, dims);
}

static LogicalResult importMatMul(Binder &b) {
  return b.done(buildMatmul(b, b.operand(0), b.operand(1)));
}

/// In i32, less the zero points (per row of a, per column of b).
static LogicalResult importMatMulInteger(Binder &b) {
  mlir::Type i32 = b.builder.getI32Type();
  auto prepare = [&](unsigned i) {
    Value x = b.cast(b.operand(i), i32), zero = b.cast(b.operand(i + 2), i32);
    if (!zero)
      return x;
    if (i == 0 && b.getRank(zero) == 1)
      zero = b.unsqueeze(zero, {1});
    return b.create<graph::SubOp>({x, zero});
  };
  Value lhs = prepare(0), rhs = prepare(1);
  return b.done(buildMatmul(b, lhs, rhs));
}

/// alpha * A' * B' + beta * C.
static LogicalResult importGemm(Binder &b) {
  Value lhs = b.operand(0), rhs = b.operand(1), bias = b.operand(2);
  if (b.getRank(lhs) != 2 || b.getRank(rhs) != 2)
    return b.fail("expected 2-D operands, but got " +
                  llvm::Twine(b.getRank(lhs)) + "-D and " +
                  llvm::Twine(b.getRank(rhs)) + "-D");
  double alpha = b.getFloat("alpha", 1.0), beta = b.getFloat("beta", 1.0);
  Value result = b.create<graph::MatmulOp>(
      {lhs, rhs}, {b.attr("transpose_a", b.getInt("transA", 0) != 0),
                   b.attr("transpose_b", b.getInt("transB", 0) != 0)});
  mlir::Type type = b.getElementType(lhs);
  if (alpha != 1.0)
    result = b.create<graph::MulOp>({result, b.scalar(type, alpha)});
  if (!bias || beta == 0.0)
    return b.done(result);
  if (beta != 1.0)
    bias = b.create<graph::MulOp>({bias, b.scalar(type, beta)});
  Value sum = b.create<graph::AddOp>({result, bias});
  if (sum && b.getRank(sum) != 2)
    return b.fail("expected C to broadcast to the product, but got " +
                  llvm::Twine(b.getRank(bias)) + "-D");
  return b.done(sum);
}

static LogicalResult importConv(Binder &b) {
  Value x = b.operand(0), filter = b.operand(1);
  int64_t rank = b.getRank(filter);
  if (b.getRank(x) < 3)
    return b.fail("expected an input of at least 3 dims, but got " +
                  llvm::Twine(b.getRank(x)) + "-D");
  if (rank != b.getRank(x))
    return b.fail("expected " + llvm::Twine(b.getRank(x)) +
                  "-D weights, but got " + llvm::Twine(rank) + "-D");
  Window window;
  if (mlir::failed(getFilterWindow(b, filter, window)) ||
      mlir::failed(addPads(b, graph::getDims(x), window)))
    return mlir::failure();
  llvm::SmallVector<Value> operands{x, filter};
  if (Value bias = b.operand(2))
    operands.push_back(bias);
  return b.done(b.create<graph::ConvOp>(
      operands, {b.attr("strides", window.strides), b.attr("pads", window.pads),
                 b.attr("dilations", window.dilations),
                 b.attr("group", b.getInt("group", 1))}));
}

/// In i32, less the zero points. Padding stands for the zero point: 0 after it
/// is subtracted.
static LogicalResult importConvInteger(Binder &b) {
  mlir::Type i32 = b.builder.getI32Type();
  Value x = b.cast(b.operand(0), i32), filter = b.cast(b.operand(1), i32);
  if (Value zero = b.cast(b.operand(2), i32))
    x = b.create<graph::SubOp>({x, zero});
  if (!x || !filter)
    return mlir::failure();
  if (Value zero = b.cast(b.operand(3), i32))
    filter = b.create<graph::SubOp>(
        {filter, b.alongAxis(zero, 0, b.getRank(filter))});
  Window window;
  if (!filter || mlir::failed(getFilterWindow(b, filter, window)) ||
      mlir::failed(addPads(b, graph::getDims(x), window)))
    return mlir::failure();
  return b.done(b.create<graph::ConvOp>(
      {x, filter},
      {b.attr("strides", window.strides), b.attr("pads", window.pads),
       b.attr("dilations", window.dilations),
       b.attr("group", b.getInt("group", 1))}));
}

/// Pads of a transposed convolution from `output_shape` or `auto_pad`: what is
/// computed beyond the wanted size, split in two; what is missing is padded
/// behind.
static LogicalResult
addTransposedPads(Binder &b, llvm::ArrayRef<int64_t> input,
                  llvm::MutableArrayRef<int64_t> outputPadding,
                  Window &window) {
  size_t spatial = window.kernel.size();
  llvm::StringRef mode = b.getString("auto_pad", "NOTSET");
  auto wanted = b.getInts("output_shape");
  if (!wanted && !mode.starts_with("SAME"))
    return addPads(b, {}, window);
  if (wanted && wanted->size() != spatial)
    return b.fail("expected " + llvm::Twine(spatial) +
                  " numbers in attribute 'output_shape', but got " +
                  llvm::Twine(wanted->size()));
  window.pads.assign(2 * spatial, 0);
  for (size_t i = 0; i < spatial; ++i) {
    if (mlir::ShapedType::isDynamic(input[i]))
      return b.unsupported("expected spatial dims to be static with "
                           "output_shape or auto_pad");
    int64_t size = wanted ? (*wanted)[i] : input[i] * window.strides[i];
    int64_t total = window.strides[i] * (input[i] - 1) + outputPadding[i] +
                    (window.kernel[i] - 1) * window.dilations[i] + 1 - size;
    if (total < 0) {
      outputPadding[i] -= total;
      total = 0;
    }
    int64_t half = total / 2;
    bool moreAtEnd = mode != "SAME_LOWER";
    window.pads[i] = moreAtEnd ? half : total - half;
    window.pads[spatial + i] = total - window.pads[i];
  }
  return mlir::success();
}

static LogicalResult importConvTranspose(Binder &b) {
  Value x = b.operand(0), filter = b.operand(1);
  auto type = llvm::cast<mlir::RankedTensorType>(x.getType());
  if (type.getRank() < 3 || b.getRank(filter) != type.getRank())
    return b.fail("expected input and weights of one rank of at least 3, but "
                  "got " +
                  llvm::Twine(type.getRank()) + "-D and " +
                  llvm::Twine(b.getRank(filter)) + "-D");
  Window window;
  if (mlir::failed(getFilterWindow(b, filter, window)))
    return mlir::failure();
  auto outputPadding = b.getInts("output_padding", window.kernel.size(), 0);
  if (mlir::failed(addTransposedPads(b, type.getShape().drop_front(2),
                                     outputPadding, window)))
    return mlir::failure();
  llvm::SmallVector<Value> operands{x, filter};
  if (Value bias = b.operand(2))
    operands.push_back(bias);
  return b.done(b.create<graph::ConvTransposeOp>(
      operands, {b.attr("strides", window.strides), b.attr("pads", window.pads),
                 b.attr("dilations", window.dilations),
                 b.attr("output_padding", outputPadding),
                 b.attr("group", b.getInt("group", 1))}));
}

void adze::importer::addContractionOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(), {
                              {"Conv", 1, 2, importConv},
                              {"ConvInteger", 10, 2, importConvInteger},
                              {"ConvTranspose", 1, 2, importConvTranspose},
                              {"Gemm", 1, 2, importGemm},
                              {"MatMul", 1, 2, importMatMul},
                              {"MatMulInteger", 10, 2, importMatMulInteger},
                          });
}
