// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operators of com.microsoft in exported models, as the graph ops of operators
// of ai.onnx. Attention is in MicrosoftAttention.cpp.
#include "Microsoft.h"
#include "../IndexRange.h"
#include "../OpTable.h"
#include "Arithmetic.h"
#include "Quantization.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

Value adze::importer::unpack(Binder &b, Value bytes, int64_t bits) {
  Arithmetic a(b);
  if (bits == 8 || !bytes)
    return bytes;
  llvm::SmallVector<Value> parts;
  int64_t last = b.getRank(bytes);
  for (int64_t shift = 0; shift < 8; shift += bits)
    parts.push_back(b.unsqueeze(
        a.bitAnd(a.shiftRight(bytes, double(shift)), double((1 << bits) - 1)),
        {last}));
  return a.flatten(a.concat(parts, last), last - 1, last + 1);
}

namespace {

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

Value normalize(Binder &b, Value x, Value scale, Value bias, double epsilon) {
  if (!x)
    return {};
  llvm::SmallVector<Value> operands{x, scale};
  if (bias)
    operands.push_back(bias);
  mlir::Attribute segments =
      b.builder.getDenseI32ArrayAttr({1, 1, bias ? 1 : 0});
  return b.create<graph::LayerNormOp>(
      operands, {b.attr("operandSegmentSizes", segments),
                 b.attr("axis", b.getRank(x) - 1), b.attr("epsilon", epsilon)});
}

Value normalizeSimply(Binder &b, Value x, Value scale, int64_t axis,
                      double epsilon) {
  return b.create<graph::RMSNormOp>(
      {x, scale}, {b.attr("axis", axis), b.attr("epsilon", epsilon)});
}

/// Normalizes input + skip + bias; the sum is an output, too.
LogicalResult importSkipLayerNormalization(Binder &b) {
  Arithmetic a(b);
  Value sum = a.add(b.operand(0), b.operand(1));
  if (b.operand(4))
    sum = a.add(sum, b.operand(4));
  Value result = normalize(b, sum, b.operand(2), b.operand(3),
                           b.getFloat("epsilon", double(1e-12f)));
  return b.done({result, {}, {}, sum});
}

LogicalResult importSkipSimplified(Binder &b) {
  Arithmetic a(b);
  Value sum = a.add(b.operand(0), b.operand(1));
  if (b.operand(3))
    sum = a.add(sum, b.operand(3));
  if (!sum)
    return mlir::failure();
  Value result = normalizeSimply(b, sum, b.operand(2), b.getRank(sum) - 1,
                                 b.getFloat("epsilon", double(1e-12f)));
  return b.done({result, {}, {}, sum});
}

/// The result has the type of the scale.
LogicalResult importSimplified(Binder &b) {
  Value x = b.operand(0), scale = b.operand(1);
  Value result = normalizeSimply(b, x, b.cast(scale, b.getElementType(x)),
                                 b.getAxis("axis", -1, b.getRank(x)),
                                 b.getFloat("epsilon", double(1e-5f)));
  return b.done(b.cast(result, b.getElementType(scale)));
}

/// Normalizes the sum of gathers by word, position and segment.
LogicalResult importEmbedLayerNormalization(Binder &b) {
  Arithmetic a(b);
  Value ids = b.operand(0), segments = b.operand(1), mask = b.operand(7),
        positions = b.operand(8);
  if (b.getRank(ids) != 2)
    return b.fail("expected input_ids of 2 dims");
  for (unsigned i : {2, 3, 5, 6})
    if (!b.operand(i))
      return b.fail("expected operand " + llvm::Twine(i) + " to be present");
  auto check = [&](Value indices, unsigned table) {
    return checkIndices(b, indices, graph::getDims(b.operand(table))[0],
                        NegativeIndex::OutOfRange);
  };
  Value sum = a.gather(b.operand(2), ids, 0);
  if (!positions)
    positions = a.iota(ids, 1);
  if (mlir::failed(check(ids, 2)) || mlir::failed(check(positions, 3)) ||
      (segments && b.operand(4) && mlir::failed(check(segments, 4))))
    return mlir::failure();
  sum = a.add(sum, a.gather(b.operand(3), positions, 0));
  if (segments) {
    if (!b.operand(4))
      return b.fail("expected segment_embedding with segment_ids");
    sum = a.add(sum, a.gather(b.operand(4), segments, 0));
  }
  Value result = normalize(b, sum, b.operand(5), b.operand(6),
                           b.getFloat("epsilon", double(1e-12f)));
  // Returns the number of tokens that count; 0 without a mask.
  mlir::Type i32 = b.builder.getI32Type();
  Value lengths;
  if (b.wants(1))
    lengths = mask ? a.sum(b.cast(mask, i32), {1})
                   : b.broadcastTo(b.scalar(i32, 0), graph::getDims(ids)[0]);
  return b.done({result, lengths, sum});
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

Value gelu(Binder &b, Value x, graph::GeluMode mode) {
  mlir::Attribute attribute =
      graph::GeluModeAttr::get(b.builder.getContext(), mode);
  return b.create<graph::GeluOp>(x, b.attr("approximate", attribute));
}

template <graph::GeluMode mode>
LogicalResult importBiasGelu(Binder &b) {
  Value x = b.operand(0);
  if (Value bias = b.operand(1))
    x = Arithmetic(b).add(x, bias);
  return b.done(gelu(b, x, mode));
}

/// Computes x * sigmoid(alpha * x).
LogicalResult importQuickGelu(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  double alpha = b.getFloat("alpha", double(1.702f));
  return b.done(a.mul(x, a.sigmoid(a.mul(x, alpha))));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Moves the rows of a batch to the front of the matrix: [M, B.., K] from [B..,
/// M, K].
Value swapBatch(Binder &b, Value x) {
  if (!x)
    return {};
  int64_t rank = b.getRank(x);
  llvm::SmallVector<int64_t> perm;
  for (int64_t i = 1; i + 1 < rank; ++i)
    perm.push_back(i);
  perm.append({0, rank - 1});
  return b.transpose(x, perm);
}

LogicalResult importFusedMatMul(Binder &b) {
  Arithmetic a(b);
  Value lhs = b.operand(0), rhs = b.operand(1);
  if (b.getInt("transBatchA", 0) != 0)
    lhs = swapBatch(b, lhs);
  if (b.getInt("transBatchB", 0) != 0)
    rhs = swapBatch(b, rhs);
  Value result = b.create<graph::MatmulOp>(
      {lhs, rhs}, {b.attr("transpose_a", b.getInt("transA", 0) != 0),
                   b.attr("transpose_b", b.getInt("transB", 0) != 0)});
  double alpha = b.getFloat("alpha", 1.0);
  return b.done(alpha == 1.0 ? result : a.mul(result, alpha));
}

/// Returns the rows [N, columns] of blocks [N, B, bytes] with scales and zero
/// points [N, B].
Value dequantizeBlocks(Binder &b, Value packed, Value scales, Value zeros,
                       int64_t bits, int64_t block, int64_t columns) {
  // ONNX Runtime rounds x to 8 bits from this level on.
  constexpr int64_t int8Level = 4;
  llvm::SmallVector<mlir::NamedAttribute> attributes{b.attr("bits", bits),
                                                     b.attr("block", block)};
  if (b.getInt("accuracy_level", 0) >= int8Level)
    attributes.push_back(b.attr("int8_products", b.builder.getUnitAttr()));
  llvm::SmallVector<Value> operands{packed, scales};
  if (zeros)
    operands.push_back(zeros);
  auto type = graph::makeType(b.getElementType(scales),
                              {graph::getDims(packed)[0], b.expr(columns)});
  return b.createAs<graph::DequantizeBlocksOp>(type, operands, attributes);
}

/// Computes x * W' with W [N, K] quantized in blocks, each with a scale.
LogicalResult importMatMulNBits(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0), packed = b.operand(1), scales = b.operand(2),
        zeros = b.operand(3), groups = b.operand(4), bias = b.operand(5);
  int64_t rows = b.getInt("N", 0), columns = b.getInt("K", 0),
          bits = b.getInt("bits", 4), block = b.getInt("block_size", 0);
  if (rows < 1 || columns < 1 || block < 1 ||
      (bits != 2 && bits != 4 && bits != 8))
    return b.fail("expected N, K and block_size of at least 1, and 2, 4 or 8 "
                  "bits");
  if (groups)
    return b.unsupported("expected g_idx to be absent");
  if (mlir::failed(expectInts(b, {{"weight_prepacked", 0}})))
    return mlir::failure();
  int64_t blocks = llvm::divideCeil(columns, block);
  AffineExpr n = b.expr(rows), count = b.expr(blocks);
  if (zeros && llvm::isa<mlir::IntegerType>(b.getElementType(zeros))) {
    // Each row of zero points begins at a byte.
    int64_t bytes = llvm::divideCeil(blocks * bits, int64_t(8));
    zeros = unpack(b, b.reshape(zeros, {n, b.expr(bytes)}), bits);
    zeros = b.slice(zeros, 1, 0, count);
  }
  mlir::Type type = b.getElementType(x);
  scales = b.cast(b.reshape(scales, {n, count}), type);
  packed = b.reshape(packed, {n, count, b.expr(block * bits / 8)});
  if (!packed || !scales || b.hasFailed())
    return mlir::failure();
  constexpr int64_t granule = 16;
  bool isFloat = zeros && llvm::isa<mlir::FloatType>(b.getElementType(zeros));
  Value dense;
  if (isFloat || block % granule != 0) {
    Value weights =
        b.reshape(unpack(b, packed, bits), {n, count, b.expr(block)});
    Value zero = b.scalar(type, double(1 << (bits - 1)));
    if (zeros)
      zero = b.cast(b.reshape(zeros, {n, count, b.expr(1)}), type);
    dense = a.mul(a.sub(b.cast(weights, type), zero), b.unsqueeze(scales, {2}));
    dense = b.reshape(dense, {n, b.expr(blocks * block)});
    if (blocks * block != columns)
      dense = b.slice(dense, 1, 0, b.expr(columns));
  } else {
    dense = dequantizeBlocks(b, packed, scales, zeros, bits, block, columns);
  }
  Value result = a.matmul(x, dense, /*transposeY=*/true);
  return b.done(bias ? a.add(result, bias) : result);
}

/// Gathers rows of a table [V, K] quantized in blocks along K, each with a
/// scale.
LogicalResult importGatherBlockQuantized(Binder &b) {
  Arithmetic a(b);
  Value data = b.operand(0), indices = b.operand(1), zeros = b.operand(3);
  int64_t bits = b.getInt("bits", 4), block = b.getInt("block_size", 128);
  if (mlir::failed(expectInts(b, {{"gather_axis", 0}, {"quantize_axis", 1}})))
    return mlir::failure();
  // A byte holds several numbers; elements of int4 and uint4 are numbers.
  bool isPacked = b.getElementType(data).isUnsignedInteger(8);
  if (isPacked && bits != 4 && bits != 8)
    return b.unsupported("expected bytes of 4 or 8 bits, but got " +
                         llvm::Twine(bits));
  if (b.getRank(data) != 2 || b.getRank(b.operand(2)) != 2 || block < 1)
    return b.fail("expected data and scales of 2 dims, and a block_size of at "
                  "least 1");
  if (mlir::failed(checkIndices(b, indices, graph::getDims(data)[0])))
    return mlir::failure();
  auto pick = [&](Value table) {
    Value rows = a.gather(table, indices, 0);
    return isPacked && table != b.operand(2) ? unpack(b, rows, bits) : rows;
  };
  Value rows = pick(data), scales = pick(b.operand(2));
  if (!rows || !scales)
    return mlir::failure();
  mlir::Type f32 = b.builder.getF32Type(), type = b.getElementType(scales);
  int64_t last = b.getRank(rows) - 1;
  auto spread = [&](Value numbers) {
    return repeatBlocks(b, b.cast(numbers, f32), rows, last, block);
  };
  Value x = b.cast(rows, f32);
  if (zeros) {
    zeros = b.slice(pick(zeros), last, 0, graph::getDims(scales)[last]);
    x = a.sub(x, spread(zeros));
  } else if (isPacked) {
    x = a.sub(x, double(1 << (bits - 1)));
  }
  return b.done(b.cast(a.mul(x, spread(scales)), type));
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

LogicalResult importRotaryEmbedding(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0), positions = b.operand(1), cos = b.operand(2),
        sin = b.operand(3);
  int64_t rank = b.getRank(x), heads = b.getInt("num_heads", 0),
          rotated = b.getInt("rotary_embedding_dim", 0);
  if (mlir::failed(expectInts(b, {{"is_packed_batching", 0}})))
    return mlir::failure();
  if ((rank != 3 && rank != 4) || b.getRank(cos) != 2)
    return b.fail("expected an input of 3 or 4 dims and caches of 2");
  Dims dims = graph::getDims(x);
  Value heads4 = x; // [B, S, N, D]
  if (rank == 4) {
    heads4 = b.transpose(x, {0, 2, 1, 3});
  } else {
    AffineExpr size = rotated > 0 && heads > 0
                          ? graph::divideExactly(dims[2], b.expr(heads))
                          : graph::mulExprs(graph::getDims(cos)[1], b.expr(2));
    AffineExpr number = size ? graph::divideExactly(dims[2], size) : size;
    if (!number)
      return b.fail("expected a hidden size divisible by the heads, but "
                    "got " +
                    graph::toString(dims));
    heads4 = b.reshape(x, {dims[0], dims[1], number, size});
  }
  if (!heads4)
    return mlir::failure();
  Value places = positions;
  if (b.getRank(positions) < 2) {
    // One offset for all is the first position.
    Value first = b.reshape(b.cast(positions, b.builder.getI64Type()), {});
    places = b.unsqueeze(a.add(a.iota(heads4, 1), first), {0});
  }
  if (mlir::failed(checkIndices(b, places, graph::getDims(cos)[0],
                                NegativeIndex::OutOfRange)))
    return mlir::failure();
  Value result =
      rotate(b, heads4, places, cos, sin, b.getInt("interleaved", 0) != 0);
  if (rank == 4)
    return b.done(b.transpose(result, {0, 2, 1, 3}));
  return b.done(b.reshape(result, dims));
}

} // namespace

LogicalResult adze::importer::expectInts(
    Binder &b, llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> values) {
  for (auto [name, value] : values)
    if (int64_t given = b.getInt(name, value); given != value)
      return b.unsupported("expected attribute '" + name + "' to be " +
                           llvm::Twine(value) + ", but got " +
                           llvm::Twine(given));
  return mlir::failure(b.hasFailed());
}

Value adze::importer::rotate(Binder &b, Value x, Value positions, Value cos,
                             Value sin, bool interleaved) {
  Arithmetic a(b);
  if (!x || !positions || !cos || !sin)
    return {};
  mlir::Type type = b.getElementType(x);
  // The shape is [B, S, 1, half], where B may be 1.
  cos = b.unsqueeze(b.cast(a.gather(cos, positions, 0), type), {2});
  sin = b.unsqueeze(b.cast(a.gather(sin, positions, 0), type), {2});
  if (!cos || !sin)
    return {};
  Dims dims = graph::getDims(x);
  AffineExpr half = graph::getDims(cos)[3];
  auto halfSize = graph::getConstant(half), size = graph::getConstant(dims[3]);
  // With unknown sizes, a whole head is rotated, which is checked at run time.
  bool isKnown = halfSize && size;
  if (isKnown && 2 * *halfSize > *size) {
    (void)b.fail("expected caches of half a head at most");
    return {};
  }
  bool isPart = isKnown && 2 * *halfSize < *size;
  Value turned = isPart ? b.slice(x, 3, 0, b.expr(2 * *halfSize)) : x;
  Value first, second;
  if (isKnown && !interleaved) {
    first = b.slice(turned, 3, 0, half);
    second = b.slice(turned, 3, *halfSize, half);
  } else {
    int64_t axis = interleaved ? 4 : 3;
    Dims pairs = dims;
    pairs[3] = half;
    Dims apart = pairs;
    apart.insert(apart.begin() + axis, b.expr(2));
    Value both = b.reshape(turned, apart);
    first = b.reshape(b.slice(both, axis, 0, b.expr(1)), pairs);
    second = b.reshape(b.slice(both, axis, 1, b.expr(1)), pairs);
  }
  Value real = a.sub(a.mul(first, cos), a.mul(second, sin));
  Value imaginary = a.add(a.mul(first, sin), a.mul(second, cos));
  Value result = interleaved ? a.flatten(a.concat({b.unsqueeze(real, {4}),
                                                   b.unsqueeze(imaginary, {4})},
                                                  4),
                                         3, 5)
                             : a.concat({real, imaginary}, 3);
  if (!isPart)
    return b.reshape(result, dims);
  return a.concat(
      {result, b.slice(x, 3, 2 * *halfSize, b.expr(*size - 2 * *halfSize))}, 3);
}

void adze::importer::addMicrosoftOps(std::vector<OpRow> &rows) {
  // These have version 0, as the model may not state their operator set.
  auto add = [&](llvm::StringRef name, unsigned required, Handler handler,
                 llvm::StringRef note = "",
                 llvm::StringRef domain = "com.microsoft") {
    rows.push_back({name, 0, required, handler, note, INT32_MAX, domain});
  };
  using graph::GeluMode;
  add("BiasGelu", 2, importBiasGelu<GeluMode::None>);
  add("EmbedLayerNormalization", 1, importEmbedLayerNormalization);
  add("FastGelu", 1, importBiasGelu<GeluMode::Tanh>);
  add("FusedMatMul", 2, importFusedMatMul);
  add("GatherBlockQuantized", 3, importGatherBlockQuantized,
      "other axes than rows of blocks along the columns");
  add("Gelu", 1, importBiasGelu<GeluMode::None>);
  add("MatMulNBits", 3, importMatMulNBits, "g_idx, weights packed before");
  add("QuickGelu", 1, importQuickGelu);
  add("RotaryEmbedding", 4, importRotaryEmbedding, "packed batches");
  add("SkipLayerNormalization", 3, importSkipLayerNormalization,
      "statistics as outputs");
  add("SkipSimplifiedLayerNormalization", 3, importSkipSimplified,
      "statistics as outputs");
  // Exporters write it as an operator of ai.onnx, which ONNX does not define.
  add("SimplifiedLayerNormalization", 2, importSimplified,
      "statistics as outputs");
  add("SimplifiedLayerNormalization", 2, importSimplified, "", "");
}
