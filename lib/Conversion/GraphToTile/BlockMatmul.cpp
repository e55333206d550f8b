// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Products by blockwise quantized weights, for GPUs: threads dequantize words
// in registers. The version for few rows divides the depth among warps, which
// add products before they are scaled, by their matrix instruction if it has
// the element type of the rows. The version for many rows is a product of
// tiles, of which the right one is dequantized.
#include "Convolution.h"
#include "Dialect/Graph/IR/Precision.h"
#include "Dialect/Tile/IR/Units.h"
#include "FewRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Returns true if the matrix instruction of a warp multiplies the rows.
static bool hasUnit(tile::CudaTargetAttr target, BlockMatmulOp op) {
  Type element = getElementTypeOrSelf(op.getLhs());
  auto product = tile::ProductAttr::get(op.getContext(), element, element,
                                        Float32Type::get(op.getContext()));
  return target && mayUseUnit(op) && tile::findWarpUnit(target, product);
}

namespace {
class BlockMatmul {
public:
  BlockMatmul(KernelEmitter &e, BlockMatmulOp op)
      : e(e), op(op), f32(e.builder().getF32Type()), bits(op.getBits()),
        isFew(e.version.isFew()), byUnit(isFew && hasUnit(e.gpu, op)),
        blocks(getKnown(getDims(op.getRhs())[1])),
        words(getKnown(getDims(op.getRhs())[2])) {}

  LogicalResult emit() { return isFew ? emitFew() : emitMany(); }

private:
  /// `Step`: the blocks of a step, which are divided among warps. `Part`: the
  /// elements of a word, which are pairs of elements at equal places of its
  /// halves. `Side`: the first or second half of these pairs, each in a thread.
  /// `Depth`: the elements of several blocks.
  enum Axis {
    Row,
    Column,
    Depth,
    Step,
    Warp,
    Block,
    Word,
    Part,
    Side,
    OfSide,
    Pair,
    Half
  };

  LogicalResult emitFew();
  LogicalResult emitMany();
  LogicalResult setAxes(int64_t mostColumns, Value programRows);
  Axis getStepAxis() const { return isFew ? Step : Block; }
  Emitted divide(const Emitted &tile) {
    return isFew ? splitAxis(e, tile, Step, Warp, Block) : tile;
  }
  bool hasSides() const { return isFew && !byUnit; }
  int64_t countCopiedBlocks();
  FailureOr<Emitted> load(Value operand, Value block, bool hasWords);
  FailureOr<Emitted> emitRows(Value block);
  FailureOr<Emitted> emitNumbers(Value block);
  FailureOr<Emitted> emitDifferences(Value block, FloatType type);
  FailureOr<Emitted> emitOffsets(Value block);
  FailureOr<Emitted> emitWeights(Value block, FloatType type);
  FailureOr<Emitted> multiplyBlocks(Value block);
  FailureOr<Emitted> emitFloats(Value operand, Value block, Type type);
  FailureOr<Emitted> emitZeros(Value block, Type type);
  Value inHalves(APInt half, ArrayRef<int> axes);
  Emitted joinDepth(const Emitted &tile);
  Value sumInWarp(Emitted products);
  LogicalResult store(const Emitted &total);
  static constexpr int64_t halfBits = 16; ///< of a word
  /// Returns the elements of a word.
  int64_t getParts() const { return 2 * halfBits / bits; }
  double getLevels() const { return int64_t(1) << bits; }
  Value number(double value, ArrayRef<int> axes, Type type) {
    return e.constant(e.builder().getFloatAttr(type, value), axes);
  }
  Value number(double value, ArrayRef<int> axes) {
    return number(value, axes, f32);
  }

  KernelEmitter &e;
  BlockMatmulOp op;
  FloatType f32;
  int64_t bits;
  bool isFew;
  bool byUnit; ///< few rows are one tile, for the matrix instruction of a warp
  int64_t blocks, words; ///< of a column, of a block
  int rowAxis = -1;
  Value row, column, word; ///< the first ones
  unsigned rowSpan = 1;
};
} // namespace

/// Returns the bits of the significand of a float, without the hidden one.
static int64_t getSignificandBits(Type element) {
  return cast<FloatType>(element).getFPMantissaWidth() - 1;
}

bool adze::mayUseUnit(BlockMatmulOp op) {
  Type element = getElementTypeOrSelf(op.getLhs());
  return element.getIntOrFloatBitWidth() == 16 &&
         getSignificandBits(element) >= int64_t(op.getBits());
}

/// The blocks of a column whose weights are packed together.
static constexpr int64_t kTogether = 4;

/// Returns the packing of weights for the matrix instruction, or of one element
/// for each of their blocks: those of 16 columns and four blocks are
/// contiguous, and a warp loads them at once. The four elements that a thread
/// loads of a column are adjacent.
static AffineMap packBlocks(BlockMatmulOp op, bool hasWords) {
  MLIRContext *context = op.getContext();
  AffineExpr column, block, word;
  bindDims(context, column, block, word);
  Dims dims = getDims(op.getRhs());
  if (!mayUseUnit(op) || getKnown(dims[0]) % kUnitColumns ||
      getKnown(dims[1]) % kTogether)
    return AffineMap::getMultiDimIdentityMap(hasWords ? 3 : 2, context);
  SmallVector<AffineExpr> places{column.floorDiv(kUnitColumns),
                                 block.floorDiv(kTogether),
                                 column % kUnitColumns, block % kTogether};
  if (hasWords)
    places.insert(std::prev(places.end()), word);
  return AffineMap::get(hasWords ? 3 : 2, 0, places, context);
}

/// Loads the weights, or one element for each block, from `block` on.
FailureOr<Emitted> BlockMatmul::load(Value operand, Value block,
                                     bool hasWords) {
  DimRanges ranges{{column, Column, 1, 1}, {block, getStepAxis(), 1, 1}};
  Axes axes{Column, getStepAxis()};
  if (hasWords) {
    ranges.push_back({word, Word, 1, 1});
    axes.push_back(Word);
  }
  auto tile = e.emitOn(operand, ranges, axes);
  if (failed(tile))
    return failure();
  return divide({*tile, axes});
}

/// Returns the scales or zero points of blocks as floats.
FailureOr<Emitted> BlockMatmul::emitFloats(Value operand, Value block,
                                           Type type) {
  auto tile = load(operand, block, /*hasWords=*/false);
  if (failed(tile))
    return failure();
  if (isa<FloatType>(getElementTypeOrSelf(tile->value)))
    return e.convert(*tile, type);
  return Emitted{arith::UIToFPOp::create(e.builder(), e.loc(),
                                         e.tileType(tile->axes, type),
                                         tile->value),
                 tile->axes};
}

/// Returns the zero points of blocks as floats, or that of all blocks.
FailureOr<Emitted> BlockMatmul::emitZeros(Value block, Type type) {
  if (op.getZeros())
    return emitFloats(op.getZeros(), block, type);
  return Emitted{number(getLevels() / 2, {}, type), {}};
}

/// Returns the elements of few rows that the blocks from `block` on multiply.
FailureOr<Emitted> BlockMatmul::emitRows(Value block) {
  auto tile = e.emit(op.getLhs(), {{row, rowAxis, 1, rowSpan},
                                   {block, Step, 1, 1},
                                   {word, Word, 1, 1},
                                   {e.index(0), Part, 1, 1}});
  if (failed(tile))
    return failure();
  Emitted rows = divide(*tile);
  rows = hasSides() ? splitAxis(e, rows, Part, Side, OfSide)
                    : splitAxis(e, rows, Part, Pair, Half);
  return e.convert(rows, f32);
}

/// Returns constants of words, whose halves both are `half`.
Value BlockMatmul::inHalves(APInt half, ArrayRef<int> axes) {
  APInt word = APInt::getSplat(2 * halfBits, half);
  return e.constant(e.builder().getI32IntegerAttr(word.getZExtValue()), axes);
}

/// Returns the bits of a power of two as a float.
static APInt getPowerBits(FloatType type, int64_t exponent) {
  return scalbn(APFloat::getOne(type.getFloatSemantics()), exponent,
                APFloat::rmNearestTiesToEven)
      .bitcastToAPInt();
}

/// Returns numbers for the weights q of the blocks from `block` on: q is placed
/// in the significand of an f32, 2^bits + q, so that no integer is converted.
/// For few rows, a thread has one side of a word, which it shifts to its first
/// element.
FailureOr<Emitted> BlockMatmul::emitNumbers(Value block) {
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  auto packed = load(op.getRhs(), block, /*hasWords=*/true);
  if (failed(packed))
    return failure();
  Axes axes = packed->axes;
  if (hasSides())
    axes.push_back(Side);
  axes.push_back(hasSides() ? OfSide : Part);
  auto word = [&](int64_t value, ArrayRef<int> of) {
    return e.constant(b.getI32IntegerAttr(value), of);
  };
  Value words = e.broadcast(*packed, axes);
  auto shift = [&](const Emitted &amount) {
    words = arith::ShRUIOp::create(b, loc, words, e.broadcast(amount, axes));
  };
  auto multiply = [&](Value value, int64_t by, ArrayRef<int> of) -> Value {
    return arith::MulIOp::create(b, loc, value, word(by, of));
  };
  if (hasSides()) {
    Emitted side = e.emitPositions(Side, b.getI32Type());
    shift({multiply(side.value, halfBits / 2, side.axes), side.axes});
  }
  Emitted at = e.emitPositions(axes.back(), b.getI32Type());
  Value pair = arith::ShRUIOp::create(b, loc, at.value, word(1, at.axes)),
        half = arith::AndIOp::create(b, loc, at.value, word(1, at.axes));
  shift({arith::AddIOp::create(b, loc, multiply(pair, bits, at.axes),
                               multiply(half, halfBits, at.axes)),
         at.axes});
  words = arith::AndIOp::create(b, loc, words, word((1 << bits) - 1, axes));
  words = arith::ShLIOp::create(b, loc, words,
                                word(getSignificandBits(f32) - bits, axes));
  words = arith::OrIOp::create(
      b, loc, words, word(getPowerBits(f32, bits).getZExtValue(), axes));
  return Emitted{arith::BitcastOp::create(b, loc, e.tileType(axes, f32), words),
                 axes};
}

/// Returns the differences from the zero point of the weights q of the blocks
/// from `block` on, which are exact in 16 bits. Both elements of a pair are
/// placed at once in the significands of two floats, p + q for a power of two
/// p. The pairs that fit into a significand stay at their places, so that they
/// are shifted together, and have powers of their own.
FailureOr<Emitted> BlockMatmul::emitDifferences(Value block, FloatType type) {
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  auto packed = load(op.getRhs(), block, /*hasWords=*/true);
  auto zeros = emitZeros(block, type);
  if (failed(packed) || failed(zeros))
    return failure();
  int64_t significand = getSignificandBits(type), together = significand / bits;
  Axes axes = packed->axes;
  axes.push_back(Pair);
  Emitted pairs = e.emitPositions(Pair, b.getI32Type());
  const Axes &ofPairs = pairs.axes;
  auto word = [&](int64_t value) {
    return e.constant(b.getI32IntegerAttr(value), ofPairs);
  };
  auto on = [&](Value value) { return e.broadcast({value, ofPairs}, axes); };
  Value group = arith::DivUIOp::create(b, loc, pairs.value, word(together)),
        inGroup = arith::RemUIOp::create(b, loc, pairs.value, word(together)),
        place = arith::MulIOp::create(b, loc, inGroup, word(bits)),
        distance = arith::MulIOp::create(b, loc, group, word(together * bits)),
        mask = arith::ShLIOp::create(
            b, loc, inHalves(APInt::getLowBitsSet(halfBits, bits), ofPairs),
            place),
        lower = arith::MulIOp::create(
            b, loc, place,
            inHalves(APInt::getOneBitSet(halfBits, significand), ofPairs)),
        powers = arith::SubIOp::create(
            b, loc, inHalves(getPowerBits(type, significand), ofPairs), lower);
  Value words = e.broadcast(*packed, axes);
  words = arith::ShRUIOp::create(b, loc, words, on(distance));
  words = arith::AndIOp::create(b, loc, words, on(mask));
  words = arith::OrIOp::create(b, loc, words, on(powers));
  auto toFloats = [&](Value value) {
    return tile::BitcastOp::create(b, loc, value, TypeAttr::get(type));
  };
  Axes ofOffsets = zeros->axes;
  ofOffsets.append({Pair, Half});
  axes.push_back(Half);
  Value offsets = arith::AddFOp::create(
      b, loc, e.broadcast({toFloats(powers), {Pair, Half}}, ofOffsets),
      e.broadcast(*zeros, ofOffsets));
  return Emitted{arith::SubFOp::create(b, loc, toFloats(words),
                                       e.broadcast({offsets, ofOffsets}, axes)),
                 axes};
}

/// Returns the numbers o of each block for which a weight is s * (x + o), where
/// x is the number of emitNumbers and s the scale.
FailureOr<Emitted> BlockMatmul::emitOffsets(Value block) {
  auto zeros = emitZeros(block, f32);
  if (failed(zeros))
    return failure();
  Value offsets = arith::SubFOp::create(
      e.builder(), e.loc(), number(-getLevels(), zeros->axes), zeros->value);
  return Emitted{offsets, zeros->axes};
}

/// Returns the dequantized weights of the blocks from `block` on. The product
/// of an exact difference with the scale is rounded once; f32 needs one
/// operation.
FailureOr<Emitted> BlockMatmul::emitWeights(Value block, FloatType type) {
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  auto scales = emitFloats(op.getScales(), block, type);
  if (failed(scales))
    return failure();
  if (type.getWidth() == halfBits) {
    auto exact = emitDifferences(block, type);
    if (failed(exact))
      return failure();
    return Emitted{arith::MulFOp::create(b, loc, exact->value,
                                         e.broadcast(*scales, exact->axes)),
                   exact->axes};
  }
  auto numbers = emitNumbers(block);
  auto offsets = emitOffsets(block);
  if (failed(numbers) || failed(offsets))
    return failure();
  const Axes &axes = numbers->axes;
  Value shift = arith::MulFOp::create(b, loc, scales->value,
                                      e.broadcast(*offsets, scales->axes));
  return Emitted{math::FmaOp::create(b, loc, numbers->value,
                                     e.broadcast(*scales, axes),
                                     e.broadcast({shift, scales->axes}, axes)),
                 axes};
}

/// Returns products by the blocks from `block` on, of which the sum along all
/// axes but that of the columns is the result. The elements of a word are
/// summed before they are scaled.
FailureOr<Emitted> BlockMatmul::multiplyBlocks(Value block) {
  Type element = getElementTypeOrSelf(op.getLhs());
  auto weights = byUnit ? emitDifferences(block, cast<FloatType>(element))
                        : emitNumbers(block);
  auto x = emitRows(block);
  auto scales = emitFloats(op.getScales(), block, f32);
  if (failed(weights) || failed(x) || failed(scales))
    return failure();
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  Emitted numbers = e.convert(*weights, f32);
  Axes axes = numbers.axes, summed{OfSide, Side};
  if (byUnit) {
    axes.insert(axes.begin(), Row);
    summed = {Pair, Half, Word};
  }
  auto sum = [&](Emitted tile) {
    for (int axis : summed)
      tile = e.reduce(Combiner::Add, f32, tile, axis);
    return tile;
  };
  Value each = arith::MulFOp::create(b, loc, e.broadcast(*x, axes),
                                     e.broadcast(numbers, axes),
                                     arith::FastMathFlags::contract);
  Emitted sums = sum({each, axes});
  auto on = [&](const Emitted &tile) { return e.broadcast(tile, sums.axes); };
  if (!byUnit) {
    auto offsets = emitOffsets(block);
    if (failed(offsets))
      return failure();
    sums.value =
        math::FmaOp::create(b, loc, on(sum(*x)), on(*offsets), sums.value);
  }
  return Emitted{arith::MulFOp::create(b, loc, sums.value, on(*scales),
                                       arith::FastMathFlags::contract),
                 sums.axes};
}

/// Sums along the axes of a warp.
Value BlockMatmul::sumInWarp(Emitted products) {
  for (int axis : {Word, Block})
    if (llvm::is_contained(products.axes, axis))
      products = e.reduce(Combiner::Add, f32, products, axis);
  return products.value;
}

LogicalResult BlockMatmul::store(const Emitted &total) {
  DimRanges ranges{{row, rowAxis, 1, rowSpan}, {column, Column, 1, 1}};
  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  e.define(op.getResult(), ranges, e.convert(total, element));
  return e.storeOutputs(op.getResult(), ranges);
}

/// Returns the columns that a program may have for the matrix instruction: one
/// block of its columns, or two that share the elements of the rows.
static SmallVector<int64_t> listUnitColumns(AffineExpr columns) {
  constexpr int64_t wide = 2 * kUnitColumns;
  if (getKnown(columns) % wide == 0)
    return {kUnitColumns, wide};
  return {kUnitColumns};
}

/// Returns the most of these columns with which programs occupy almost all
/// multiprocessors.
static int64_t chooseUnitColumns(AffineExpr columns, int64_t multiprocessors) {
  int64_t most = listUnitColumns(columns).back();
  bool areEnough = getKnown(columns) / most * 8 >= multiprocessors * 7;
  return areEnough ? most : kUnitColumns;
}

/// Sets the axes of columns and weights, and the place of a program of
/// `programRows` rows.
LogicalResult BlockMatmul::setAxes(int64_t mostColumns, Value programRows) {
  Dims result = getDims(op.getResult());
  Value rows = e.size(getRows(op)), columns = e.size(result.back());
  if (!rows || !columns)
    return failure();
  Value blockN =
      byUnit ? e.param("BLOCK_N", mostColumns, listUnitColumns(result.back()))
             : e.param("BLOCK_N",
                       chooseBlock(getKnown(result.back()), mostColumns));
  e.pack(op.getRhs(), packBlocks(op, /*hasWords=*/true));
  e.pack(op.getScales(), packBlocks(op, /*hasWords=*/false));
  if (op.getZeros())
    e.pack(op.getZeros(), packBlocks(op, /*hasWords=*/false));
  word = e.index(0);
  e.setAxis(Column, blockN);
  e.setAxis(Word, e.index(words));
  e.setAxis(Part, e.index(getParts()));
  constexpr int64_t sides = 2, halves = 2;
  e.setAxis(Side, e.index(sides));
  e.setAxis(OfSide, e.index(getParts() / sides));
  e.setAxis(Half, e.index(halves));
  e.setAxis(Pair, e.index(getParts() / halves));
  e.setSummed(Block);
  SmallVector<Value> ids =
      e.programIds({countForVersion(e, e.ceilDiv(rows, programRows)),
                    e.ceilDiv(columns, blockN)});
  row = e.mul(ids[0], programRows);
  column = e.mul(ids[1], blockN);
  rowSpan = result.size() - 1;
  return success();
}

/// Returns the warps that share the depth of a program for the matrix
/// instruction, so that all programs have about 16 a multiprocessor and are
/// resident at once, and the elements along the depth that each multiplies at a
/// time, `leastDepth` at least. Few iterations of many warps are one, whose
/// loads are all in flight; its elements are a multiple of `granule`.
static std::pair<int64_t, int64_t> chooseWarps(int64_t programs, int64_t depth,
                                               int64_t leastDepth,
                                               int64_t granule,
                                               int64_t multiprocessors) {
  constexpr int64_t least = 2, most = 16, ofMultiprocessor = 16, usual = 128,
                    fewIterations = 4;
  int64_t warps = std::clamp<int64_t>(
      llvm::bit_floor(uint64_t(ofMultiprocessor * multiprocessors / programs)),
      least, most);
  int64_t each = std::max(usual, leastDepth),
          iterations = llvm::divideCeil(depth, warps * each);
  if (warps < most && iterations == 1)
    each *= 2; // the sums of fewer warps are added
  if (warps == most && iterations > 1 && iterations <= fewIterations)
    each = llvm::alignTo(llvm::divideCeil(depth, warps), granule);
  return {warps, each};
}

/// Returns the blocks of which a thread copies a scale and a zero point each to
/// shared memory at once.
int64_t BlockMatmul::countCopiedBlocks() {
  unsigned ofCopy = 8 * tile::kLeastCopyBytes, ofBlock = ofCopy;
  for (Value operand : {op.getScales(), op.getZeros()})
    if (operand)
      ofBlock = std::min(ofBlock,
                         getElementTypeOrSelf(operand).getIntOrFloatBitWidth());
  return ofCopy / ofBlock;
}

/// Emits one row in a program, or all for the matrix instruction. All threads
/// have the same columns, which share the elements of the rows, and parts of
/// the depth, which are loaded at once.
LogicalResult BlockMatmul::emitFew() {
  int64_t mostColumns = 4, most = 16, ofWarp = 1024, blockSize = op.getBlock();
  if (byUnit) {
    AffineExpr columns = getDims(op.getResult()).back();
    int64_t multiprocessors = e.gpu.getMultiprocessors();
    mostColumns = chooseUnitColumns(columns, multiprocessors);
    std::tie(most, ofWarp) =
        chooseWarps(llvm::divideCeil(getKnown(columns), mostColumns),
                    blocks * blockSize, countCopiedBlocks() * blockSize,
                    kTogether * blockSize, multiprocessors);
  }
  int64_t step =
      std::min(blocks, std::max<int64_t>(1, most * ofWarp / blockSize));
  int64_t usual = std::min<int64_t>(
      most, llvm::PowerOf2Ceil(llvm::divideCeil(step * blockSize, ofWarp)));
  int64_t ofEach = llvm::divideCeil(step, usual);
  if (byUnit && step > usual * kTogether) // whole groups of packed blocks
    ofEach = llvm::alignTo(ofEach, kTogether);
  Value warps = e.param("PARTS", usual), each = e.index(ofEach);
  if (failed(setAxes(mostColumns, e.index(byUnit ? kUnitRows : 1))))
    return failure();
  if (byUnit) {
    rowAxis = Row;
    e.setAxis(Row, e.index(kUnitRows));
  }
  Value blockK = e.mul(warps, each);
  e.setAxis(Warp, warps);
  e.setAxis(Block, each);
  e.setAxis(Step, blockK);
  e.setSummed(Step);
  Axes results{Column};
  if (byUnit)
    results.insert(results.begin(), Row);
  Axes ofWarps = results;
  ofWarps.push_back(Warp);
  auto sums =
      e.loop(e.index(blocks), blockK, number(0, ofWarps),
             [&](Value block,
                 ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
               auto products = multiplyBlocks(block);
               if (failed(products))
                 return failure();
               return KernelEmitter::Carried{arith::AddFOp::create(
                   e.builder(), e.loc(), carried[0], sumInWarp(*products))};
             });
  if (failed(sums))
    return failure();
  return store(e.reduce(Combiner::Add, f32, {(*sums)[0], ofWarps}, Warp));
}

/// Joins the blocks, words and elements of a tile, which are adjacent axes.
Emitted BlockMatmul::joinDepth(const Emitted &tile) {
  Axes axes;
  for (int axis : tile.axes)
    if (axis == Block)
      axes.push_back(Depth);
    else if (axis == Column)
      axes.push_back(axis);
  return reshapeOn(e, tile.value, axes);
}

/// Emits a product of tiles in the type to which its operands may be rounded. A
/// step along the depth has whole blocks, or whole words of one block.
LogicalResult BlockMatmul::emitMany() {
  constexpr int64_t rowsAtOnce = 64, mostColumns = 64, mostDepth = 2048;
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  int64_t block = op.getBlock(), parts = getParts();
  Value blockM = e.param("BLOCK_M", rowsAtOnce);
  if (failed(setAxes(mostColumns, blockM)))
    return failure();
  Value blockK = e.param(
      "BLOCK_K",
      block * largestDivisor(blocks, std::max<int64_t>(1, mostDepth / block)));
  rowAxis = Row;
  e.setAxis(Row, blockM);
  e.setAxis(Depth, blockK);
  e.setAxis(Block, e.ceilDiv(blockK, e.index(block)));
  e.setAxis(Word,
            arith::MinUIOp::create(b, loc, e.ceilDiv(blockK, e.index(parts)),
                                   e.index(words)));
  std::optional<Type> precision = getPrecision(op);
  Type element = getSignlessType(getElementTypeOrSelf(op.getLhs())),
       type =
           precision && !isa<FloatTF32Type>(*precision) ? *precision : element;
  // Scales of other types may not fit into 16 bits.
  bool isExact =
      mayUseUnit(op) && getElementTypeOrSelf(op.getScales()) == element;
  FloatType arithmetic = isExact ? cast<FloatType>(element) : f32;
  Axes axes{Row, Column};
  auto step = [&](Value k,
                  ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
    Value inBlock = arith::RemUIOp::create(b, loc, k, e.index(block));
    word = arith::DivUIOp::create(b, loc, inBlock, e.index(parts));
    auto weights = emitWeights(
        arith::DivUIOp::create(b, loc, k, e.index(block)), arithmetic);
    auto x = e.emit(op.getLhs(),
                    {{row, rowAxis, 1, rowSpan}, {k, Depth, 1, /*span=*/3}});
    if (failed(weights) || failed(x))
      return failure();
    Emitted lhs = e.convert(*x, type),
            columns = e.convert(joinDepth(*weights), type);
    Value rhs = tile::TransposeOp::create(b, loc, columns.value,
                                          ArrayRef<int64_t>{1, 0});
    return KernelEmitter::Carried{
        createDot(e, lhs.value, rhs, carried[0],
                  getCompute(lhs.value, rhs, f32, precision))};
  };
  auto sums = e.loop(e.index(blocks * block), blockK, number(0, axes), step);
  if (failed(sums))
    return failure();
  return store({(*sums)[0], axes});
}

LogicalResult adze::emitBlockMatmul(KernelEmitter &e, BlockMatmulOp op,
                                    Tiling tiling) {
  if (tiling != Tiling::Flat)
    return e.fail("no other tiling of a product by quantized blocks");
  return BlockMatmul(e, op).emit();
}
