// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-form-block-products: products by blockwise quantized weights, which
// stay packed.
#include "Dialect/Graph/IR/Blob.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Precision.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Quantized.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Endian.h"
#include <map>

namespace adze::graph {
#define GEN_PASS_DEF_FORMBLOCKPRODUCTSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

constexpr int64_t byteBits = 8, wordBytes = 4;

AffineExpr number(Value like, int64_t size) {
  return getAffineConstantExpr(size, like.getContext());
}

//===----------------------------------------------------------------------===//
// In parts
//===----------------------------------------------------------------------===//

/// Unpacks the numbers [N, B, block] from bytes.
Value unpack(OpBuilder &b, Location loc, DequantizeBlocksOp op) {
  Value packed = op.getPacked();
  int64_t bits = op.getBits();
  Dims dims = getDims(packed), apart = dims, all = dims;
  all.back() = number(packed, op.getBlock());
  if (bits == byteBits)
    return packed;
  apart.push_back(number(packed, 1));
  Type type = getElement(packed);
  SmallVector<Value> parts;
  for (int64_t shift = 0; shift < byteBits; shift += bits) {
    Value low =
        ShiftRightOp::create(b, loc, packed, createNumber(b, loc, type, shift));
    Value part = BitwiseAndOp::create(
        b, loc, low, createNumber(b, loc, type, (1 << bits) - 1));
    parts.push_back(createReshape(b, loc, part, apart));
  }
  Value joined = ConcatOp::create(b, loc, parts, /*axis=*/3);
  return createReshape(b, loc, joined, all);
}

/// Emits (q - zero) * scale.
void decompose(DequantizeBlocksOp op, RewriterBase &b) {
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  Type type = getElement(op.getResult());
  Dims each = getDims(op.getScales());
  each.push_back(number(op.getPacked(), 1));
  Value zero =
      op.getZeros()
          ? createCast(b, loc, createReshape(b, loc, op.getZeros(), each), type)
          : createNumber(b, loc, type, 1 << (op.getBits() - 1));
  Value numbers = createCast(b, loc, unpack(b, loc, op), type);
  Value x = SubOp::create(b, loc, numbers, zero);
  x = MulOp::create(b, loc, x, createReshape(b, loc, op.getScales(), each));
  Dims rows = getDims(op.getResult());
  int64_t padded =
      cast<RankedTensorType>(op.getPacked().getType()).getDimSize(1) *
      op.getBlock();
  x = createReshape(b, loc, x, {rows[0], number(x, padded)});
  if (getConstant(rows[1]) != padded)
    x = SliceOp::create(b, loc, op.getResult().getType(), x,
                        ArrayRef<int64_t>{0, 0}, ArrayRef<int64_t>{1, 1});
  b.replaceOp(op, x);
}

//===----------------------------------------------------------------------===//
// In words
//===----------------------------------------------------------------------===//

/// Returns the constant before reshapes, or null.
ElementsAttr getProducingConstant(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? constant.getValue() : ElementsAttr();
}

/// Returns the scales as f32, or an empty vector if they are not constant.
std::vector<float> readScales(DequantizeBlocksOp op) {
  Value scales = op.getScales();
  while (auto cast = scales.getDefiningOp<CastOp>())
    scales = cast.getInput();
  ElementsAttr elements = getProducingConstant(scales);
  auto type =
      elements ? dyn_cast<FloatType>(elements.getElementType()) : FloatType();
  std::vector<char> storage;
  if (!type)
    return {};
  auto bytes = readElements(elements, storage, [&] { return op.emitError(); });
  if (failed(bytes))
    return {};
  std::vector<float> result(elements.getNumElements());
  unsigned width = type.getWidth() / byteBits;
  for (auto [i, scale] : llvm::enumerate(result)) {
    uint64_t raw = 0;
    std::memcpy(&raw, bytes->data() + i * width, width);
    APFloat value(type.getFloatSemantics(), APInt(type.getWidth(), raw));
    bool losesInfo;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    scale = value.convertToFloat();
  }
  return result;
}

/// Packs `count` bytes, whose elements are in order from the lowest bits on,
/// into words of `graph.word_matmul`: byte b of a word holds elements b, 4 + b,
/// ..
template <int64_t bits>
void formWords(const uint8_t *bytes, int64_t count, uint32_t *words,
               int64_t stride) {
  constexpr int64_t parts = byteBits / bits, mask = (1 << bits) - 1;
  for (int64_t w = 0; w < count / wordBytes; ++w) {
    uint32_t word = 0;
    for (int64_t i = 0; i < wordBytes * parts; ++i) {
      uint32_t element =
          bytes[w * wordBytes + i / parts] >> (i % parts * bits) & mask;
      word |= element << (i % wordBytes * byteBits + i / wordBytes * bits);
    }
    words[w * stride] = word;
  }
}

/// Creates the right operand [B, words + 1, N], or null if it is not a
/// constant.
Value formRight(DequantizeBlocksOp op, OpBuilder &b) {
  ElementsAttr packed = getProducingConstant(op.getPacked());
  std::vector<float> scales = readScales(op);
  if (!packed || scales.empty())
    return {};
  std::vector<char> storage;
  auto bytes = readElements(packed, storage, [&] { return op.emitError(); });
  if (failed(bytes))
    return {};
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(op.getPacked().getType()).getShape();
  int64_t columns = shape[0], blocks = shape[1], count = shape[2],
          rows = count / wordBytes + 1;
  std::vector<uint32_t> words(blocks * rows * columns);
  auto form = op.getBits() == 2   ? formWords<2>
              : op.getBits() == 4 ? formWords<4>
                                  : formWords<8>;
  constexpr int64_t lineWords = 16; // columns of a cache line
  for (int64_t line = 0; line < columns; line += lineWords)
    for (int64_t k = 0; k < blocks; ++k)
      for (int64_t n = line; n < std::min(columns, line + lineWords); ++n) {
        uint32_t *first = words.data() + k * rows * columns + n;
        form(reinterpret_cast<const uint8_t *>(bytes->data()) +
                 (n * blocks + k) * count,
             count, first, columns);
        std::memcpy(first + (rows - 1) * columns, &scales[n * blocks + k],
                    sizeof(float));
      }
  auto type = RankedTensorType::get({blocks, rows, columns}, b.getI32Type());
  auto elements =
      makeElements(type,
                   ArrayRef(reinterpret_cast<const char *>(words.data()),
                            words.size() * wordBytes),
                   [&] { return op.emitError(); });
  return succeeded(elements)
             ? Value(ConstantOp::create(b, op.getLoc(), *elements))
             : Value();
}

/// Moves the elements at even places of words to their lower halves, and the
/// others to the upper halves, so that adjacent ones are at equal places of the
/// halves: exchanges the inner two of four adjacent runs, of one element and
/// then of twice as many.
void pairElements(MutableArrayRef<uint32_t> words, unsigned bits) {
  constexpr unsigned halfBits = 16, wordBits = 32;
  for (unsigned run = bits; run < halfBits; run *= 2) {
    APInt second = APInt::getBitsSet(4 * run, run, 2 * run);
    uint32_t mask = APInt::getSplat(wordBits, second).getZExtValue();
    for (uint32_t &word : words) {
      uint32_t differ = (word ^ word >> run) & mask;
      word ^= differ ^ differ << run;
    }
  }
}

/// Returns the bytes [N, B, W * 4] of weights as words [N, B, W] with pairs of
/// elements, or null if they are not constant.
Value joinWords(DequantizeBlocksOp op, OpBuilder &b) {
  ElementsAttr packed = getProducingConstant(op.getPacked());
  std::vector<char> storage;
  if (!packed)
    return {};
  auto bytes = readElements(packed, storage, [&] { return op.emitError(); });
  if (failed(bytes))
    return {};
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(op.getPacked().getType()).getShape());
  shape.back() /= wordBytes;
  std::vector<uint32_t> paired(bytes->size() / wordBytes);
  for (auto [i, word] : llvm::enumerate(paired))
    word = llvm::support::endian::read32le(bytes->data() + i * wordBytes);
  pairElements(paired, op.getBits());
  auto elements = makeElements(
      RankedTensorType::get(shape, b.getI32Type()),
      {reinterpret_cast<const char *>(paired.data()), bytes->size()},
      [&] { return op.emitError(); });
  return succeeded(elements)
             ? Value(ConstantOp::create(b, op.getLoc(), *elements))
             : Value();
}

/// Creates the left operand from f32 rows: planes of signed bytes by blocks.
class Rows {
public:
  Rows(OpBuilder &b, Location loc, int64_t block, int64_t planes)
      : b(b), loc(loc), block(block), planes(planes) {}

  void quantize(Value x, int64_t blocks) {
    last = getRank(x) - 1;
    Value split = padTo(x, blocks * block);
    Dims dims = getDims(split);
    dims.back() = number(x, blocks);
    dims.push_back(number(x, block));
    split = createReshape(b, loc, split, dims);
    int64_t axis = last + 1;
    Value most = ReduceMaxOp::create(b, loc, AbsOp::create(b, loc, split),
                                     ArrayRef<int64_t>{axis}, true);
    double greatest = 127;
    for (int64_t plane = 1; plane < planes; ++plane)
      greatest *= 256;
    constexpr double least = 1e-30; // not 0, whose reciprocal is infinite
    Value factor = DivOp::create(
        b, loc, createF32(b, loc, greatest),
        MaximumOp::create(b, loc, most, createF32(b, loc, least)));
    Dims each(dims);
    each.pop_back();
    scales = createReshape(
        b, loc, MulOp::create(b, loc, most, createF32(b, loc, 1 / greatest)),
        each);
    Value rest = RoundOp::create(b, loc, MulOp::create(b, loc, split, factor));
    SmallVector<Value> allWords, allSums;
    for (int64_t plane = 0; plane < planes; ++plane) {
      Value bytes = rest;
      if (plane + 1 < planes) {
        // The value is rounded so that the remainder is a signed byte.
        Value up = AddOp::create(b, loc, rest, createF32(b, loc, 128));
        Value high = FloorOp::create(
            b, loc, MulOp::create(b, loc, up, createF32(b, loc, 1. / 256)));
        bytes = SubOp::create(
            b, loc, rest, MulOp::create(b, loc, high, createF32(b, loc, 256)));
        rest = high;
      }
      allWords.push_back(joinBytes(bytes));
      allSums.push_back(
          ReduceSumOp::create(b, loc, bytes, ArrayRef<int64_t>{axis}, true));
    }
    words = concat(allWords, axis);
    sums = concat(allSums, axis);
  }

  Value words, scales, sums; // of i32, f32, f32

private:
  Value padTo(Value x, int64_t depth) {
    int64_t has = *getConstant(getDims(x).back());
    if (has == depth)
      return x;
    SmallVector<int64_t> low(last + 1, 0), high(last + 1, 0);
    high.back() = depth - has;
    return PadOp::create(b, loc, x, Value(), low, high);
  }

  Value concat(ArrayRef<Value> parts, int64_t axis) {
    return parts.size() == 1
               ? parts.front()
               : ConcatOp::create(b, loc, parts, axis).getResult();
  }

  /// Packs integers in [-128, 127] as bytes of words, four adjacent ones in
  /// each. Halves of a word are exact in f32.
  Value joinBytes(Value bytes) {
    Dims result = getDims(bytes);
    result.back() = number(bytes, block / wordBytes);
    // Whole rows, in which the same byte of all words is an equal step apart.
    int64_t words = *getConstant(result[last]) * block / wordBytes;
    AffineExpr rows = product(bytes.getContext(),
                              ArrayRef<AffineExpr>(result).take_front(last));
    Value split =
        createReshape(b, loc, bytes, {rows, number(bytes, words * wordBytes)});
    Dims dims{rows, number(bytes, words)};
    Type f32 = b.getF32Type(), i32 = b.getI32Type();
    auto take = [&](int64_t i) -> Value {
      return SliceOp::create(b, loc, makeType(f32, dims), split,
                             ArrayRef<int64_t>{0, i},
                             ArrayRef<int64_t>{1, wordBytes});
    };
    auto joinHalf = [&](int64_t i) {
      Value high = MulOp::create(b, loc, take(i + 1), createF32(b, loc, 256));
      Value half = AddOp::create(b, loc, take(i), high);
      half = AddOp::create(b, loc, half, createF32(b, loc, 128 * 257));
      return createCast(b, loc, half, i32);
    };
    Value high =
        MulOp::create(b, loc, joinHalf(2), createNumber(b, loc, i32, 1 << 16));
    Value word = AddOp::create(b, loc, joinHalf(0), high);
    constexpr int64_t signs = 0x80808080;
    word = BitwiseXorOp::create(b, loc, word, createNumber(b, loc, i32, signs));
    return createReshape(b, loc, word, result);
  }

  OpBuilder &b;
  Location loc;
  int64_t block, planes, last = 0;
};

/// The left operand of a product of words.
struct Left {
  Value words, scales, starts;
};

class FormBlockProductsPass final
    : public adze::graph::impl::FormBlockProductsPassBase<
          FormBlockProductsPass> {
public:
  using FormBlockProductsPassBase::FormBlockProductsPassBase;

  void runOnOperation() override {
    IRRewriter b(&getContext());
    bool isForGpus = bool(adze::tile::findCudaTarget(getOperation()));
    if (form && (isForGpus || areCpusWithUnit(getOperation()))) {
      SmallVector<MatmulOp> products;
      getOperation().walk([&](MatmulOp op) { products.push_back(op); });
      for (MatmulOp op : products)
        if (succeeded(isForGpus ? rewriteForGpus(op, b) : rewrite(op, b)))
          ++formed;
    }
    getOperation().walk([&](DequantizeBlocksOp op) {
      if (op->use_empty())
        b.eraseOp(op);
      else
        decompose(op, b);
    });
  }

private:
  /// Returns the right operand of all products by the weights, which `form`
  /// creates, or null.
  Value getWords(DequantizeBlocksOp weights,
                 function_ref<Value(DequantizeBlocksOp, OpBuilder &)> form,
                 RewriterBase &b) {
    Value &right = words[weights];
    b.setInsertionPointAfterValue(weights);
    if (!right)
      right = form(weights, b);
    return right;
  }

  LogicalResult rewrite(MatmulOp op, RewriterBase &b) {
    auto weights = op.getRhs().getDefiningOp<DequantizeBlocksOp>();
    Type element = getElement(op.getResult()), f32 = b.getF32Type();
    if (!weights || !op.getTransposeB() || op.getTransposeA() ||
        element.getIntOrFloatBitWidth() > f32.getIntOrFloatBitWidth())
      return failure();
    Value right = getWords(weights, formRight, b);
    if (!right)
      return failure();
    Location loc = op.getLoc();
    b.setInsertionPoint(op);
    constexpr int64_t exactPlanes = 3; // 24 bits
    int64_t planes = weights.getInt8Products() ? 1 : exactPlanes;
    int64_t blocks = cast<RankedTensorType>(right.getType()).getDimSize(0);
    Value zeros = weights.getZeros();
    int64_t zero = zeros ? 1 : int64_t(1) << (weights.getBits() - 1);
    auto [left, isNew] =
        lefts.try_emplace({op->getBlock(), op.getLhs().getAsOpaquePointer(),
                           blocks, weights.getBlock(), planes, zero});
    if (isNew) // dominates the others, as products are rewritten in order
      left->second = quantize(b, loc, createCast(b, loc, op.getLhs(), f32),
                              blocks, weights.getBlock(), planes, zero);
    auto &[lhs, scales, starts] = left->second;
    if (zeros)
      zeros = TransposeOp::create(b, loc, zeros, ArrayRef<int64_t>{1, 0});
    Value result = WordMatmulOp::create(
        b, loc, makeType(f32, getDims(op.getResult())), lhs, scales, starts,
        right, zeros, weights.getBits(), planes);
    b.replaceOp(op, createCast(b, loc, result, element));
    return success();
  }

  /// GPUs multiply floats, and unpack words in registers. Where 8 bits suffice
  /// for the left operand, it may be rounded to bf16, which has its range.
  LogicalResult rewriteForGpus(MatmulOp op, RewriterBase &b) {
    auto weights = op.getRhs().getDefiningOp<DequantizeBlocksOp>();
    if (!weights || !op.getTransposeB() || op.getTransposeA())
      return failure();
    int64_t block = weights.getBlock();
    int64_t blocks =
        cast<RankedTensorType>(weights.getPacked().getType()).getDimSize(1);
    Dims dims = getDims(op.getLhs());
    if (getConstant(dims.back()) != blocks * block)
      return failure();
    Value right = getWords(weights, joinWords, b);
    if (!right)
      return failure();
    b.setInsertionPoint(op);
    dims.back() = number(op.getLhs(), blocks);
    int64_t parts = wordBytes * byteBits / weights.getBits();
    dims.append(
        {number(op.getLhs(), block / parts), number(op.getLhs(), parts)});
    // Products of one operand share its reshape, so that they can be merged.
    auto [left, isNew] = splits.try_emplace(
        {op->getBlock(), op.getLhs().getAsOpaquePointer(), block, parts});
    if (isNew)
      left->second = createReshape(b, op.getLoc(), op.getLhs(), dims);
    std::optional<Type> precision = getPrecision(op);
    if (!precision && weights.getInt8Products())
      precision = b.getBF16Type();
    auto product = b.replaceOpWithNewOp<BlockMatmulOp>(
        op, op.getResult().getType(), left->second, right, weights.getScales(),
        weights.getZeros(), weights.getBits());
    if (precision && getElement(product.getLhs()).isF32())
      product->setAttr(kPrecisionAttribute, TypeAttr::get(*precision));
    return success();
  }

  /// Returns the words, the scales and the starts of each block of f32 rows,
  /// from which a zero point subtracts `zero` times the sums.
  static Left quantize(OpBuilder &b, Location loc, Value x, int64_t blocks,
                       int64_t block, int64_t planes, int64_t zero) {
    Rows rows(b, loc, block, planes);
    rows.quantize(x, blocks);
    Value starts = createCast(
        b, loc,
        MulOp::create(b, loc, rows.sums, createF32(b, loc, double(-zero))),
        b.getI32Type());
    return {rows.words, rows.scales, starts};
  }

  DenseMap<Operation *, Value> words; // by dequantized weight
  /// By quantized value and parameters, as products of one input share it.
  std::map<std::tuple<Block *, void *, int64_t, int64_t, int64_t, int64_t>,
           Left>
      lefts;
  std::map<std::tuple<Block *, void *, int64_t, int64_t>, Value> splits;
};

} // namespace
