// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Linear quantisation, in the arithmetic that it stands for.
#include "../OpTable.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

/// Scale or zero point, made to broadcast: a scalar, or one number an index of
/// `axis`.
static Value getParameter(Binder &b, unsigned i, mlir::Type type) {
  Value parameter = b.cast(b.operand(i), type);
  int64_t rank = b.getRank(b.operand(0));
  if (!parameter || b.getRank(parameter) == 0)
    return parameter;
  Dims dims = graph::getDims(parameter);
  if (dims.size() == 1 && graph::getConstant(dims[0]) == 1)
    return b.reshape(parameter, {});
  if (dims.size() != 1 || b.getInt("block_size", 0) != 0) {
    (void)b.unsupported("expected scales per tensor or per axis, not blocks");
    return {};
  }
  return b.alongAxis(parameter, b.getAxis("axis", 1, rank), rank);
}

/// (x - zero) * scale.
static LogicalResult importDequantizeLinear(Binder &b) {
  mlir::Type type = b.getElementType(b.operand(1));
  Value x = b.cast(b.operand(0), type);
  Value scale = getParameter(b, 1, type);
  if (b.operand(2))
    x = b.create<graph::SubOp>({x, getParameter(b, 2, type)});
  return b.done(b.create<graph::MulOp>({x, scale}));
}

/// round(x / scale) + zero, clamped to the type.
static LogicalResult importQuantizeLinear(Binder &b) {
  Value x = b.operand(0);
  mlir::Type type = b.getElementType(b.operand(1));
  mlir::Type to = b.builder.getIntegerType(8, /*isSigned=*/false);
  if (b.operand(2))
    to = b.getElementType(b.operand(2));
  else if (int64_t declared = b.getInt("output_dtype", 0))
    to = getElementType(b.builder.getContext(), declared);
  auto integer = llvm::dyn_cast_or_null<mlir::IntegerType>(to);
  if (!integer || integer.getWidth() > 16)
    return b.unsupported("expected to quantise to 8 or 16 bits");
  if (llvm::isa<mlir::IntegerType>(b.getElementType(x)))
    x = b.cast(x, type);
  else
    type = b.getElementType(x);
  if (type.getIntOrFloatBitWidth() < 32) {
    type = b.builder.getF32Type();
    x = b.cast(x, type);
  }
  Value scaled = b.create<graph::DivOp>({x, getParameter(b, 1, type)});
  Value whole = b.create<graph::RoundOp>(scaled);
  if (b.operand(2))
    whole = b.create<graph::AddOp>({whole, getParameter(b, 2, type)});
  unsigned bits = integer.getWidth();
  double low = integer.isUnsigned() ? 0 : -double(1 << (bits - 1));
  double high = low + double((1 << bits) - 1);
  Value bounded = b.create<graph::MaximumOp>({whole, b.scalar(type, low)});
  bounded = b.create<graph::MinimumOp>({bounded, b.scalar(type, high)});
  return b.done(b.cast(bounded, to));
}

void adze::importer::addQuantizationOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(),
              {
                  {"DequantizeLinear", 10, 2, importDequantizeLinear, "blocks"},
                  {"QuantizeLinear", 10, 2, importQuantizeLinear,
                   "blocks, 4-bit, floats"},
              });
}
