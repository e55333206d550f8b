// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Linear quantisation, expanded to arithmetic.
#include "Quantization.h"
#include "../OpTable.h"
#include "Arithmetic.h"
#include "Windows.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

Value adze::importer::repeatBlocks(Binder &b, Value numbers, Value x,
                                   int64_t axis, int64_t block) {
  if (!numbers)
    return {};
  Dims dims = graph::getDims(numbers), wide = dims, all = dims;
  wide.insert(wide.begin() + axis + 1, b.expr(block));
  all[axis] = graph::mulExprs(dims[axis], b.expr(block));
  Value apart = b.broadcastTo(b.unsqueeze(numbers, {axis + 1}), wide);
  Value repeated = b.reshape(apart, all);
  mlir::AffineExpr size = graph::getDims(x)[axis];
  if (graph::areEqual(size, all[axis]))
    return repeated;
  return b.slice(repeated, axis, 0, size);
}

/// Returns the scale or zero point in a shape that broadcasts: a scalar, one
/// number for each index of `axis`, or one for each block of it.
static Value getParameter(Binder &b, unsigned i, mlir::Type type) {
  Value x = b.operand(0), parameter = b.cast(b.operand(i), type);
  int64_t rank = b.getRank(x);
  if (!parameter || b.getRank(parameter) == 0)
    return parameter;
  Dims dims = graph::getDims(parameter);
  int64_t block = b.getInt("block_size", 0);
  if (block > 0 && int64_t(dims.size()) == rank)
    return repeatBlocks(b, parameter, x, b.getAxis("axis", 1, rank), block);
  // A vector without a valid axis can only have one element.
  if (dims.size() == 1 && block == 0 && b.getInt("axis", 1) >= rank) {
    parameter = b.withLength(parameter, 1);
    return b.reshape(parameter, {});
  }
  if (dims.size() == 1 && graph::getConstant(dims[0]) == 1)
    return b.reshape(parameter, {});
  if (dims.size() != 1 || block > 0) {
    (void)b.fail("expected scales per tensor, per axis or per block, but got " +
                 graph::toString(dims));
    return {};
  }
  return b.alongAxis(parameter, b.getAxis("axis", 1, rank), rank);
}

/// Computes (x - zero) * scale, in f32 or f64.
static LogicalResult importDequantizeLinear(Binder &b) {
  Arithmetic a(b);
  mlir::Type type = b.getElementType(b.operand(1)), to = type;
  if (int64_t declared = b.getInt("output_dtype", 0))
    to = getElementType(b.builder.getContext(), declared);
  if (!to)
    return b.unsupported("expected an output_dtype that Adze supports");
  if (type.getIntOrFloatBitWidth() < 32)
    type = b.builder.getF32Type();
  Value x = b.cast(b.operand(0), type);
  if (b.operand(2))
    x = a.sub(x, getParameter(b, 2, type));
  return b.done(b.cast(a.mul(x, getParameter(b, 1, type)), to));
}

Value adze::importer::buildRequantize(Binder &b, Value scaled, Value zero,
                                      mlir::Type to) {
  Arithmetic a(b);
  if (!scaled)
    return {};
  mlir::Type type = b.getElementType(scaled);
  auto integer = llvm::dyn_cast<mlir::IntegerType>(to);
  if (!integer) {
    // Floats saturate in the conversion.
    if (zero)
      scaled = a.add(scaled, b.cast(zero, type));
    return b.cast(scaled, to);
  }
  unsigned bits = integer.getWidth();
  if (bits > 16) {
    (void)b.fail("expected a zero point of 16 bits at most, but got " +
                 llvm::Twine(bits));
    return {};
  }
  Value whole = a.round(scaled);
  if (zero)
    whole = a.add(whole, b.cast(zero, type));
  double low = integer.isUnsigned() ? 0 : -double(int64_t(1) << (bits - 1));
  double high = low + double((int64_t(1) << bits) - 1);
  return b.cast(a.min(a.max(whole, low), high), to);
}

DynamicBytes adze::importer::buildDynamicQuantization(Binder &b, Value x) {
  Arithmetic a(b);
  constexpr double steps = 255;
  llvm::SmallVector<int64_t> all =
      llvm::to_vector(llvm::seq<int64_t>(0, b.getRank(x)));
  Value low = a.min(a.reduce<graph::ReduceMinOp>(x, all), 0);
  Value high = a.max(a.reduce<graph::ReduceMaxOp>(x, all), 0);
  Value range = a.sub(high, low);
  Value scale =
      a.select(a.equal(range, 0), a.like(range, 1), a.div(range, steps));
  mlir::Type type = b.builder.getIntegerType(8, /*isSigned=*/false);
  Value zero = b.cast(
      a.round(a.min(a.max(a.sub(0, a.div(low, scale)), 0), steps)), type);
  return {buildRequantize(b, a.div(x, scale), zero, type), scale, zero};
}

/// Computes round(x / scale) + zero, clamped to the type.
static LogicalResult importQuantizeLinear(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  mlir::Type type = b.getElementType(b.operand(1));
  mlir::Type to = b.builder.getIntegerType(8, /*isSigned=*/false);
  if (b.operand(2))
    to = b.getElementType(b.operand(2));
  else if (int64_t declared = b.getInt("output_dtype", 0))
    to = getElementType(b.builder.getContext(), declared);
  if (!to || to.getIntOrFloatBitWidth() > 16)
    return b.unsupported("expected to quantise to 16 bits at most");
  if (!llvm::isa<mlir::IntegerType>(b.getElementType(x)))
    type = b.getElementType(x);
  // Both are integers, but their quotient is not.
  if (llvm::isa<mlir::IntegerType>(type))
    type = b.builder.getF64Type();
  // Quotients of 16-bit types are rounded to 16 bits before they are rounded to
  // integers.
  mlir::Type wide = type.getIntOrFloatBitWidth() < 32
                        ? mlir::Type(b.builder.getF32Type())
                        : type;
  if (int64_t precision = b.getInt("precision", 0))
    wide = type = getElementType(b.builder.getContext(), precision);
  if (!wide)
    return b.unsupported("expected a precision that Adze supports");
  Value scaled = a.div(b.cast(x, wide), getParameter(b, 1, wide));
  Value zero = b.operand(2) ? getParameter(b, 2, wide) : Value();
  return b.done(buildRequantize(b, scaled, zero, to));
}

//===----------------------------------------------------------------------===//
// Products of quantised tensors
//===----------------------------------------------------------------------===//

/// Returns a parameter of a matrix: for the tensor, for each row (`axis` -2) or
/// column (-1).
static Value alongMatrix(Binder &b, Value parameter, int64_t axis) {
  if (!parameter || b.getRank(parameter) != 1 || axis == -1)
    return parameter;
  return b.unsqueeze(parameter, {1});
}

/// Computes x - zero in i32, or in f32 for floats.
static Value center(Binder &b, Value x, Value zero) {
  Arithmetic a(b);
  if (!x)
    return {};
  mlir::Type type = llvm::isa<mlir::FloatType>(b.getElementType(x))
                        ? mlir::Type(b.builder.getF32Type())
                        : mlir::Type(b.builder.getI32Type());
  x = b.cast(x, type);
  return zero ? a.sub(x, b.cast(zero, type)) : x;
}

/// Computes sum * (lhs * rhs / out) + zero, in the type of `zero`.
static Value rescale(Binder &b, Value sum, Value lhs, Value rhs, Value out,
                     Value zero) {
  Arithmetic a(b);
  mlir::Type f32 = b.builder.getF32Type();
  if (!sum || !zero)
    return {};
  Value factor =
      a.div(a.mul(b.cast(lhs, f32), b.cast(rhs, f32)), b.cast(out, f32));
  return buildRequantize(b, a.mul(b.cast(sum, f32), factor), zero,
                         b.getElementType(zero));
}

Bytes adze::importer::toBytes(Binder &b, Value x, Value zero, bool isSigned) {
  Arithmetic a(b);
  mlir::Type i32 = b.builder.getI32Type();
  Bytes bytes{x, b.cast(zero, i32)};
  bool wasSigned = !b.getElementType(x).isUnsignedInteger();
  if (wasSigned != isSigned) {
    mlir::Type type =
        isSigned ? b.builder.getI8Type() : b.builder.getIntegerType(8, false);
    bytes.values = b.create<graph::BitwiseXorOp>(
        {b.cast(x, type), b.scalar(type, isSigned ? -128 : 128)});
    Value shift = b.scalar(i32, isSigned ? -128 : 128);
    bytes.zero = bytes.zero ? a.add(bytes.zero, shift) : shift;
  }
  auto known =
      bytes.zero ? graph::getConstantElements(bytes.zero) : std::nullopt;
  if (known && llvm::all_of(*known, [](int64_t zero) { return zero == 0; }))
    bytes.zero = {};
  return bytes;
}

bool adze::importer::isMadeOfConstant(Value value) {
  while (value && llvm::isa_and_present<graph::SliceOp, graph::ReshapeOp,
                                        graph::BitwiseXorOp, graph::CastOp>(
                      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value && value.getDefiningOp<graph::ConstantOp>();
}

/// Returns true for bytes by a constant, which is stored in the form that the
/// CPU requires.
static bool areBytesByConstant(Binder &b, Value lhs, Value rhs) {
  auto isByte = [&](Value x) {
    auto type = llvm::dyn_cast<mlir::IntegerType>(b.getElementType(x));
    return type && type.getWidth() == 8;
  };
  return lhs && rhs && isByte(lhs) && isByte(rhs) && isMadeOfConstant(rhs);
}

/// A product of bytes by constants is computed on the bytes: a sum of (a - p)(b
/// - q) is a sum of ab, minus p times that of b, minus q times that of (a - p).
Value adze::importer::buildIntegerMatmul(Binder &b, Value lhs, Value lhsZero,
                                         Value rhs, Value rhsZero) {
  Arithmetic a(b);
  if (!areBytesByConstant(b, lhs, rhs) || b.getRank(lhs) < 2 ||
      b.getRank(rhs) < 2)
    return buildMatmul(b, center(b, lhs, lhsZero), center(b, rhs, rhsZero));
  Bytes left = toBytes(b, lhs, lhsZero, /*isSigned=*/false),
        right = toBytes(b, rhs, rhsZero, /*isSigned=*/true);
  Value product = buildMatmul(b, left.values, right.values);
  mlir::Type i32 = b.builder.getI32Type();
  int64_t depth = b.getRank(lhs) - 1;
  if (left.zero) {
    Value columns = a.sum(b.cast(right.values, i32), {b.getRank(rhs) - 2},
                          /*keepdims=*/true);
    product = a.sub(product, a.mul(left.zero, columns));
  }
  if (right.zero) {
    Value rows = a.sum(b.cast(left.values, i32), {depth}, /*keepdims=*/true);
    if (left.zero)
      rows = a.sub(rows,
                   a.mul(left.zero, b.cast(a.size(left.values, depth), i32)));
    product = a.sub(product, a.mul(right.zero, rows));
  }
  return product;
}

/// Computes the product in i32, minus the zero points (for each row of a, for
/// each column of b).
static LogicalResult importMatMulInteger(Binder &b) {
  return b.done(
      buildIntegerMatmul(b, b.operand(0), alongMatrix(b, b.operand(2), -2),
                         b.operand(1), alongMatrix(b, b.operand(3), -1)));
}

static LogicalResult importQLinearMatMul(Binder &b) {
  Value sum =
      buildIntegerMatmul(b, b.operand(0), alongMatrix(b, b.operand(2), -2),
                         b.operand(3), alongMatrix(b, b.operand(5), -1));
  return b.done(rescale(b, sum, alongMatrix(b, b.operand(1), -2),
                        alongMatrix(b, b.operand(4), -1),
                        alongMatrix(b, b.operand(6), -2),
                        alongMatrix(b, b.operand(7), -2)));
}

/// Adds elements around the spatial dims, and channels of zeros up to a
/// multiple of the group of a CPU unit.
static Value padInput(Binder &b, Value x, llvm::ArrayRef<int64_t> pads,
                      int64_t channels, Value fill) {
  if (!x)
    return {};
  int64_t rank = b.getRank(x), spatial = rank - 2;
  llvm::SmallVector<int64_t> low(rank, 0), high(rank, 0);
  high[1] = channels;
  for (int64_t i = 0; !pads.empty() && i < spatial; ++i) {
    low[2 + i] = pads[i];
    high[2 + i] = pads[spatial + i];
  }
  auto isZero = [](int64_t pad) { return pad == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return x;
  llvm::SmallVector<Value> operands{x};
  if (fill)
    operands.push_back(fill);
  return b.create<graph::PadOp>(operands,
                                {b.attr("low", low), b.attr("high", high)});
}

/// Returns a parameter of a filter, of rank 0 or [O, 1, ..], without the last
/// `dropped` dims.
static Value dropDims(Binder &b, Value parameter, int64_t dropped) {
  int64_t rank = b.getRank(parameter);
  return b.reshape(parameter,
                   llvm::ArrayRef(graph::getDims(parameter))
                       .take_front(std::max<int64_t>(0, rank - dropped)));
}

/// Sums the elements of each window of all channels, with `point` as padding.
static Value sumWindows(Binder &b, Value x, Value point, Value filter,
                        const Window &window) {
  Arithmetic a(b);
  mlir::Type i32 = b.builder.getI32Type();
  Value sums = a.sum(b.cast(x, i32), {1}, /*keepdims=*/true);
  Value fill = point ? a.mul(point, b.cast(a.size(x, 1), i32)) : Value();
  graph::Dims dims = graph::getDims(filter);
  dims[0] = dims[1] = b.expr(1);
  Value ones = b.broadcastTo(b.scalar(i32, 1), dims);
  llvm::SmallVector<int64_t> pads(window.pads.size(), 0);
  return b.create<graph::ConvOp>(
      {padInput(b, sums, window.pads, 0, fill), ones},
      {b.attr("strides", window.strides), b.attr("pads", pads),
       b.attr("dilations", window.dilations)});
}

/// A sum of (a - p)(b - q) is a sum of a (b - q), minus p times that of b - q;
/// the sum of a (b - q) is that of ab, minus q times that of a. This is used
/// for bytes, of which a CPU sums the products ab. The padding is p.
static Value buildConvOfBytes(Binder &b, Value x, Value zero,
                              const Bytes &filter, Value bias,
                              const Window &window) {
  constexpr int64_t group = 4; // bytes of an instruction
  Arithmetic a(b);
  mlir::Type i32 = b.builder.getI32Type(),
             ui8 = b.builder.getIntegerType(8, /*isSigned=*/false);
  Bytes left = toBytes(b, x, zero, /*isSigned=*/false);
  int64_t rank = b.getRank(filter.values);
  auto channels = graph::getConstant(graph::getDims(filter.values)[1]);
  int64_t missing = (group - *channels % group) % group;
  Value point = left.zero ? b.reshape(left.zero, {}) : Value();
  Value padded = padInput(b, left.values, window.pads, missing,
                          point ? b.cast(point, ui8) : Value());
  Value wide = padInput(b, filter.values, {}, missing, {});
  if (point) {
    Value weights = b.cast(filter.values, i32);
    if (filter.zero)
      weights = a.sub(weights, filter.zero);
    Value shift = a.mul(
        point, a.sum(weights, llvm::to_vector(llvm::seq<int64_t>(1, rank))));
    bias = bias ? a.sub(bias, shift) : a.neg(shift);
  }
  llvm::SmallVector<Value> operands{padded, wide};
  if (bias)
    operands.push_back(bias);
  llvm::SmallVector<int64_t> pads(window.pads.size(), 0);
  Value product = b.create<graph::ConvOp>(
      operands, {b.attr("strides", window.strides), b.attr("pads", pads),
                 b.attr("dilations", window.dilations)});
  if (!filter.zero)
    return product;
  Value sums = sumWindows(b, left.values, point, filter.values, window);
  return a.sub(product, a.mul(sums, dropDims(b, filter.zero, 1)));
}

Value adze::importer::buildIntegerConv(Binder &b, Value x, Value zero,
                                       Value filter, Value filterZero,
                                       Value bias) {
  int64_t rank = b.getRank(x);
  if (b.getRank(filter) != rank || rank < 3) {
    (void)b.fail("expected an input and weights of one rank of at least 3");
    return {};
  }
  filterZero = b.alongAxis(filterZero, 0, rank);
  Window window;
  auto isOne = [](mlir::AffineExpr size) {
    return graph::getConstant(size) == 1;
  };
  bool isOfBytes = areBytesByConstant(b, x, filter) &&
                   b.getInt("group", 1) == 1 &&
                   (!zero || llvm::all_of(graph::getDims(zero), isOne));
  Bytes right;
  if (isOfBytes) {
    right = toBytes(b, filter, filterZero, /*isSigned=*/true);
    filter = right.values;
  } else {
    x = center(b, x, zero);
    filter = center(b, filter, filterZero);
  }
  if (!x || !filter || mlir::failed(getFilterWindow(b, filter, window)) ||
      mlir::failed(addPads(b, x, window, isOfBytes ? zero : Value())))
    return {};
  if (isOfBytes)
    return buildConvOfBytes(b, x, zero, right, bias, window);
  llvm::SmallVector<Value> operands{x, filter};
  if (bias)
    operands.push_back(bias);
  return b.create<graph::ConvOp>(
      operands, {b.attr("strides", window.strides), b.attr("pads", window.pads),
                 b.attr("dilations", window.dilations),
                 b.attr("group", b.getInt("group", 1))});
}

/// The padding is the zero point: 0 after it is subtracted.
static LogicalResult importConvInteger(Binder &b) {
  return b.done(buildIntegerConv(b, b.operand(0), b.operand(2), b.operand(1),
                                 b.operand(3), Value()));
}

static LogicalResult importQLinearConv(Binder &b) {
  int64_t rank = b.getRank(b.operand(0));
  Value sum = buildIntegerConv(b, b.operand(0), b.operand(2), b.operand(3),
                               b.operand(5), b.operand(8));
  return b.done(rescale(b, sum, b.operand(1),
                        b.alongAxis(b.operand(4), 1, rank), b.operand(6),
                        b.operand(7)));
}

/// Converts tensors, each with its own scale and zero point, to those of the
/// result.
static LogicalResult importQLinearConcat(Binder &b) {
  Arithmetic a(b);
  mlir::Type f32 = b.builder.getF32Type();
  constexpr llvm::StringRef problem =
      "expected a tensor, a scale and a zero point for each piece";
  unsigned count = b.getNumOperands();
  if (count < 4 || count % 3 == 0)
    return b.fail(problem);
  llvm::SmallVector<Value> pieces;
  for (unsigned i = 2; i < count; i += 3) {
    Value x = b.operand(i), scale = b.operand(i + 1), zero = b.operand(i + 2);
    if (!x || !scale)
      return b.fail(problem);
    x = b.cast(x, f32);
    pieces.push_back(a.mul(zero ? a.sub(x, b.cast(zero, f32)) : x, scale));
  }
  if (b.hasFailed())
    return mlir::failure();
  int64_t axis = b.getAxis("axis", 0, b.getRank(pieces.front()));
  Value whole = b.concat(pieces, axis), zero = b.operand(1);
  if (!whole || !zero)
    return mlir::failure();
  return b.done(buildRequantize(b, a.div(whole, b.operand(0)), zero,
                                b.getElementType(zero)));
}

void adze::importer::addQuantizationOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(),
              {
                  {"ConvInteger", 10, 2, importConvInteger},
                  {"DequantizeLinear", 10, 2, importDequantizeLinear},
                  {"MatMulInteger", 10, 2, importMatMulInteger},
                  {"QLinearConv", 10, 8, importQLinearConv},
                  {"QLinearMatMul", 10, 8, importQLinearMatMul},
                  {"QuantizeLinear", 10, 2, importQuantizeLinear},
                  {"QLinearConcat", 0, 4, importQLinearConcat, "", INT32_MAX,
                   "com.microsoft"},
              });
}
