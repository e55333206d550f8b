// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Products by the matrix instruction of a warp (PTX ISA, mma.sync and
// ldmatrix): operands come from shared memory, and accumulators stay in
// registers.
#include "KernelLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace adze::togpu {

/// The rows of a matrix that ldmatrix loads, and the bytes of each row.
static constexpr int64_t kPieceRows = 8, kPieceBytes = 16;

namespace {
/// Emits the instructions of one product.
class WarpProduct {
public:
  WarpProduct(OpBuilder &b, Location loc, tile::TargetUnitAttr unit)
      : b(b), loc(loc), unit(unit) {}

  /// Loads one, two or four matrices, the addresses of whose rows are in the
  /// lanes.
  SmallVector<Value> load(Value pointer, int64_t count, bool transposed) {
    Type i32 = b.getI32Type();
    Type type = i32;
    if (count > 1)
      type = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                              SmallVector<Type>(count, i32));
    auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
    Value loaded = NVVM::LdMatrixOp::create(
        b, loc, type, pointer, count,
        transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
        NVVM::LdStMatrixEltType::B16);
    if (count == 1)
      return {toOperand(loaded)};
    SmallVector<Value> parts;
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(toOperand(
          LLVM::ExtractValueOp::create(b, loc, loaded, ArrayRef<int64_t>{i})));
    return parts;
  }

  /// Adds a product to four accumulators.
  void multiply(ArrayRef<Value> lhs, ArrayRef<Value> rhs,
                MutableArrayRef<Value *> sums) {
    SmallVector<Value> acc;
    for (Value *sum : sums)
      acc.push_back(*sum);
    Type type = LLVM::LLVMStructType::getLiteral(
        b.getContext(), SmallVector<Type>(sums.size(), acc[0].getType()));
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (unit.getAcc().isInteger())
      overflow = NVVM::MMAIntOverflow::wrapped;
    SmallVector<int64_t> shape(unit.getShape());
    if (rhs.size() == 1) // half of the depth
      shape[2] /= 2;
    Value result = NVVM::MmaOp::create(
        b, loc, type, lhs, rhs, acc, shape, std::nullopt, overflow,
        std::array{getPtxType(unit.getLhs()), getPtxType(unit.getRhs())},
        std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (auto [i, sum] : llvm::enumerate(sums))
      *sum = LLVM::ExtractValueOp::create(b, loc, result,
                                          ArrayRef<int64_t>{int64_t(i)});
  }

  /// Returns a vector of two adjacent elements along k as an operand.
  Value fromPair(Value pair) {
    if (unit.getLhs().isF16())
      return pair;
    return LLVM::BitcastOp::create(b, loc, b.getI32Type(), pair);
  }

private:
  static NVVM::MMATypes getPtxType(Type type) {
    return type.isF16()                ? NVVM::MMATypes::f16
           : type.isBF16()             ? NVVM::MMATypes::bf16
           : isa<FloatTF32Type>(type)  ? NVVM::MMATypes::tf32
           : type.isUnsignedInteger(8) ? NVVM::MMATypes::u8
                                       : NVVM::MMATypes::s8;
  }
  /// The instruction takes pairs of f16 as vectors, and all others as words.
  Value toOperand(Value word) {
    if (!unit.getLhs().isF16())
      return word;
    return LLVM::BitcastOp::create(b, loc, VectorType::get(2, unit.getLhs()),
                                   word);
  }

  OpBuilder &b;
  Location loc;
  tile::TargetUnitAttr unit;
};
} // namespace

/// Returns the registers of a left operand whose elements are computed at the
/// places of accumulators: for each 16 elements of the depth, those of two
/// blocks of 8 rows at one position, and then at the next.
static SmallVector<Value>
getRegisters(WarpProduct &product, const Operand &operand,
             const Fragment &elements, const Axes &axes, int64_t row,
             int64_t depth, function_ref<Value(Value, Value)> pair) {
  constexpr int64_t both = 2;
  int64_t k = operand.kDim, numInner = axes[1]->regs();
  auto at = [&](int64_t r, int64_t d) {
    return elements[(k ? r : d) * numInner + (k ? d : r)];
  };
  SmallVector<Value> registers;
  for (int64_t d = depth; d < depth + 2 * both; d += both)
    for (int64_t r = row; r < row + both; ++r)
      registers.push_back(product.fromPair(pair(at(r, d), at(r, d + 1))));
  return registers;
}

/// Returns acc + lhs * rhs over the chunk in shared memory. Lane l addresses
/// row l % 8 of matrix l / 8. The four matrices of the left operand are two
/// blocks of 8 rows at one position of k, and then at the next; those of the
/// right operand are a block of 8 columns at two positions of k, and then the
/// next block.
Fragment KernelLowering::multiplyByUnit(tile::DotOp dot,
                                        const Operands &operands, Value start,
                                        Fragment acc, const Axes &out) {
  tile::TargetUnitAttr unit = plan.getUnit(dot);
  WarpProduct product(b, loc, unit);
  constexpr int64_t lanes = 32, both = 2;
  bool isTransposed = plan.isTransposed(dot);
  const Axis *rowAxis = out[isTransposed], *columnAxis = out[!isTransposed];
  const Operand *sides[2] = {&operands[isTransposed], &operands[!isTransposed]};
  int64_t threads = rowAxis->spread.threads; // that share the rows
  auto bits = [&](int64_t first, int64_t count) -> Value {
    Value shifted =
        arith::ShRUIOp::create(b, loc, frame.threadId, constant(first));
    return arith::AndIOp::create(b, loc, shifted, constant(count - 1));
  };
  Value row = bits(0, kPieceRows), low = bits(3, both), high = bits(4, both);
  Value warp = bits(llvm::Log2_64(lanes), threads / kPieceRows);

  // Returns the start of the row of a lane, without its constant part.
  auto getStart = [&](const Operand &operand, Value other, Value depth) {
    Value k =
        multiplyBy(depth, kPieceBytes / bytesOf(operand.shared.elementType));
    Value &along = operand.hasRowsAlongDepth() ? other : k;
    along = add(along, row);
    if (operand.whole)
      k = add(k, start);
    Axes axes = {positionAxis(k), positionAxis(other)};
    return sharedPointer(operand.shared, axes, {0, 0});
  };
  Value rows = add(multiplyBy(warp, kPieceRows), multiplyBy(low, threads));
  // The last instruction may have half the depth, for which lanes address two
  // blocks of columns at one position.
  int64_t chunk = operands[0].chunk, depth = unit.getShape()[2];
  enum { Left, Right, HalfRight };
  Value starts[3];
  if (!sides[0]->isInRegisters)
    starts[Left] = getStart(*sides[0], rows, high);
  starts[Right] = getStart(*sides[1], multiplyBy(high, kPieceRows), low);
  if (chunk % depth)
    starts[HalfRight] =
        getStart(*sides[1], multiplyBy(low, kPieceRows), constant(0));
  auto load = [&](int i, int64_t k, int64_t other, int64_t count) {
    const Operand &operand = *sides[i != Left];
    int64_t offset =
        k * operand.shared.strides[0] + other * operand.shared.strides[1];
    Value pointer = LLVM::GEPOp::create(b, loc, starts[i].getType(),
                                        operand.shared.elementType, starts[i],
                                        LLVM::GEPArg(int32_t(offset)));
    return product.load(pointer, count, !operand.hasRowsAlongDepth());
  };

  Axes ownAxes;
  Fragment own;
  if (sides[0]->isInRegisters) {
    ownAxes = axesFor(sides[0]->tile);
    own = emit(sides[0]->tile, ownAxes);
  }
  auto loadLeft = [&](int64_t k, int64_t row) {
    if (own.empty())
      return load(Left, k, row * threads, k + depth > chunk ? both : 2 * both);
    return getRegisters(product, *sides[0], own, ownAxes, row,
                        k / kPieceRows * both,
                        [&](Value x, Value y) { return makeVector({x, y}); });
  };
  int64_t numRows = rowAxis->regs(), numColumns = columnAxis->regs();
  auto getSum = [&](int64_t row, int64_t column) {
    return &acc[isTransposed ? column * numRows + row
                             : row * numColumns + column];
  };
  for (int64_t k = 0; k < chunk; k += depth) {
    bool isHalf = k + depth > chunk;
    int64_t each = isHalf ? 1 : both; // registers of a right operand
    SmallVector<SmallVector<Value>> lhs;
    for (int64_t r = 0; r < numRows; r += both)
      lhs.push_back(loadLeft(k, r));
    for (int64_t c = 0; c < numColumns; c += 2 * both) {
      int64_t blocks = std::min(both, (numColumns - c) / both);
      SmallVector<Value> rhs = load(isHalf ? HalfRight : Right, k,
                                    c / both * kPieceRows, blocks * each);
      for (int64_t r = 0; r < numRows; r += both)
        for (int64_t block = 0; block < blocks; ++block) {
          int64_t column = c + block * both;
          Value *sums[] = {getSum(r, column), getSum(r, column + 1),
                           getSum(r + 1, column), getSum(r + 1, column + 1)};
          product.multiply(lhs[r / both],
                           ArrayRef(rhs).slice(block * each, each), sums);
        }
    }
  }
  return acc;
}

/// Returns the axes of some dims.
static Axes select(const Axes &axes, ArrayRef<unsigned> dims) {
  return llvm::map_to_vector(dims, [&](unsigned dim) { return axes[dim]; });
}

/// Returns the number of an element over these dims.
static int64_t getNumber(const Axes &axes, ArrayRef<unsigned> dims,
                         Registers regs) {
  int64_t number = 0;
  for (unsigned dim : dims)
    number = number * axes[dim]->regs() + regs[dim];
  return number;
}

/// Returns the sums of a contraction at the registers of the dims that are not
/// summed. The instruction multiplies two blocks of 8 rows and one of 8
/// columns, of each of which a lane has two pairs of elements along the depth.
Fragment KernelLowering::multiplyByUnit(const Contraction &c) {
  constexpr int64_t both = 2, quad = 4;
  using Place = SmallVector<int64_t>; // registers of the dims of the source
  Axes axes = getClassAxes(c.source), rhsAxes = axes;
  rhsAxes[c.columns] = stagingAxis(plan.getOperandColumns(c));
  SmallVector<unsigned> kept;
  for (unsigned dim = 0; dim < axes.size(); ++dim)
    if (!llvm::is_contained(c.summed, dim))
      kept.push_back(dim);
  Fragment rhs = emit(c.rhs.tile, select(rhsAxes, c.rhs.dims)), lhs;
  if (c.lhs.tile)
    lhs = emit(c.lhs.tile, select(axes, c.lhs.dims));
  Value one =
      arith::ConstantOp::create(b, loc, b.getFloatAttr(c.unit.getLhs(), 1.0));
  SmallVector<Place> depth;
  forEachElement(select(axes, c.summed), [&](Registers regs, int64_t) {
    depth.push_back(llvm::to_vector(regs));
  });
  WarpProduct product(b, loc, c.unit);
  auto getPair = [&](Place at, bool isRight, int64_t first) {
    SmallVector<Value> pair;
    for (const Place &place : ArrayRef(depth).slice(first, both)) {
      for (auto [dim, reg] : llvm::zip_equal(c.summed, place))
        at[dim] = reg;
      pair.push_back(isRight       ? rhs[getNumber(rhsAxes, c.rhs.dims, at)]
                     : lhs.empty() ? one
                                   : lhs[getNumber(axes, c.lhs.dims, at)]);
    }
    return product.fromPair(makeVector(pair));
  };
  Fragment sums(countElements(select(axes, kept)),
                arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0)));
  forEachElement(select(axes, kept), [&](Registers regs, int64_t) {
    Place at(axes.size(), 0);
    for (auto [dim, reg] : llvm::zip_equal(kept, regs))
      at[dim] = reg;
    if (at[c.rows] % both || at[c.columns] % both)
      return;
    Place lower = at, right = at;
    ++lower[c.rows];
    right[c.columns] /= both;
    SmallVector<Value *> results;
    for (const Place &row : {at, lower})
      for (int64_t i = 0; i < both; ++i) {
        Place place = row;
        place[c.columns] += i;
        results.push_back(&sums[getNumber(axes, kept, place)]);
      }
    for (int64_t k = 0; k < int64_t(depth.size()); k += quad)
      product.multiply(
          {getPair(at, false, k), getPair(lower, false, k),
           getPair(at, false, k + both), getPair(lower, false, k + both)},
          {getPair(right, true, k), getPair(right, true, k + both)}, results);
  });
  return sums;
}

/// Multiplies chunk by chunk. While one chunk is multiplied, the next one is
/// loaded from global memory to registers.
Fragment KernelLowering::multiplyPipelined(tile::DotOp dot,
                                           const Operands &operands,
                                           Fragment acc, const Axes &out) {
  int64_t k = tileType(dot.getLhs()).getShape()[1], chunk = operands[0].chunk;
  int64_t last = (llvm::divideCeil(k, chunk) - 1) * chunk;
  using Chunks = std::array<Fragment, 2>;
  auto fetchAll = [&](Value start) {
    Chunks chunks;
    for (auto [operand, fetched] : llvm::zip(operands, chunks))
      if (!operand.whole)
        fetched = fetch(operand, start);
    return chunks;
  };
  auto putAll = [&](const Chunks &chunks) {
    barrier();
    for (const auto &[operand, fetched] : llvm::zip(operands, chunks))
      if (!operand.whole)
        put(operand, fetched);
    barrier();
  };
  auto join = [&](const Chunks &chunks) {
    Fragment all = acc;
    for (const Fragment &fetched : chunks)
      llvm::append_range(all, fetched);
    return all;
  };
  auto take = [](ValueRange &values, Fragment &into) {
    llvm::copy(values.take_front(into.size()), into.begin());
    values = values.drop_front(into.size());
  };
  auto split = [&](ValueRange values, Chunks &chunks) {
    take(values, acc);
    for (Fragment &fetched : chunks)
      take(values, fetched);
  };
  Chunks chunks = fetchAll(constant(0));
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(last),
                                 constant(chunk), join(chunks));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value start = loop.getInductionVar();
    split(loop.getRegionIterArgs(), chunks);
    putAll(chunks);
    chunks = fetchAll(add(start, constant(chunk)));
    acc = multiplyByUnit(dot, operands, start, acc, out);
    scf::YieldOp::create(b, loc, join(chunks));
  }
  split(loop.getResults(), chunks);
  putAll(chunks);
  return multiplyByUnit(dot, operands, constant(last), acc, out);
}

} // namespace adze::togpu
