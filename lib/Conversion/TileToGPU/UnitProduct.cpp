// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits products by the matrix instruction of a warp.
#include "UnitProduct.h"

using namespace mlir;

namespace adze::togpu {

/// The rows of a matrix that ldmatrix loads, and the bytes of each row.
static constexpr int64_t kPieceRows = 8, kPieceBytes = 16;
/// Blocks of 8 rows, of 8 columns or of half the depth that instructions load
/// or multiply together.
static constexpr int64_t kBoth = 2;

//===--- instructions -----------------------------------------------------===//

/// The instruction takes pairs of f16 as vectors, and all others as words.
Value WarpUnit::toOperand(Value word) {
  if (!unit.getLhs().isF16())
    return word;
  return LLVM::BitcastOp::create(b, loc, VectorType::get(2, unit.getLhs()),
                                 word);
}

Value WarpUnit::fromPair(Value pair) {
  if (unit.getLhs().isF16())
    return pair;
  return LLVM::BitcastOp::create(b, loc, b.getI32Type(), pair);
}

SmallVector<Value> WarpUnit::load(Value pointer, int64_t count,
                                  bool transposed) {
  Type i32 = b.getI32Type(), type = i32;
  if (count > 1)
    type = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                            SmallVector<Type>(count, i32));
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(b, loc, type, pointer, count,
                                          transposed ? NVVM::MMALayout::col
                                                     : NVVM::MMALayout::row,
                                          shape, NVVM::LdStMatrixEltType::B16);
  if (count == 1)
    return {toOperand(loaded)};
  SmallVector<Value> parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(toOperand(
        LLVM::ExtractValueOp::create(b, loc, loaded, ArrayRef<int64_t>{i})));
  return parts;
}

static NVVM::MMATypes getPtxType(Type type) {
  return type.isF16()                ? NVVM::MMATypes::f16
         : type.isBF16()             ? NVVM::MMATypes::bf16
         : isa<FloatTF32Type>(type)  ? NVVM::MMATypes::tf32
         : type.isUnsignedInteger(8) ? NVVM::MMATypes::u8
                                     : NVVM::MMATypes::s8;
}

void WarpUnit::multiply(ArrayRef<Value> lhs, ArrayRef<Value> rhs,
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
  if (rhs.size() == 1)
    shape[2] /= 2;
  Value result = NVVM::MmaOp::create(
      b, loc, type, lhs, rhs, acc, shape, std::nullopt, overflow,
      std::array{getPtxType(unit.getLhs()), getPtxType(unit.getRhs())},
      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (auto [i, sum] : llvm::enumerate(sums))
    *sum = LLVM::ExtractValueOp::create(b, loc, result,
                                        ArrayRef<int64_t>{int64_t(i)});
}

//===--- products ---------------------------------------------------------===//

UnitProduct::UnitProduct(KernelLowering &lowering, tile::DotOp dot,
                         const std::array<Operand, 2> &operands, Value start,
                         const Axes &out)
    : lowering(lowering),
      warpUnit(lowering.b, lowering.loc, lowering.plan.getUnit(dot)),
      isTransposed(lowering.plan.isTransposed(dot)),
      left(operands[isTransposed]), right(operands[!isTransposed]),
      chunk(operands[0].chunk),
      depth(lowering.plan.getUnit(dot).getShape()[2]) {
  const Axis *rows = out[isTransposed], *columns = out[!isTransposed];
  rowThreads = rows->spread.threads;
  numRows = rows->regs();
  numColumns = columns->regs();
  // Lane l addresses row l % 8 of matrix l / 8.
  OpBuilder &b = lowering.b;
  auto bits = [&](int64_t first, int64_t count) -> Value {
    Value shifted = arith::ShRUIOp::create(
        b, lowering.loc, lowering.frame.threadId, lowering.constant(first));
    return arith::AndIOp::create(b, lowering.loc, shifted,
                                 lowering.constant(count - 1));
  };
  Value row = bits(0, kPieceRows), low = bits(3, kBoth), high = bits(4, kBoth);
  auto getStart = [&](const Operand &operand, Value other, Value position) {
    Value k = lowering.multiplyBy(
        position, kPieceBytes / bytesOf(operand.shared.elementType));
    Value &along = operand.hasRowsAlongDepth() ? other : k;
    along = lowering.add(along, row);
    if (operand.isWhole())
      k = lowering.add(k, start);
    Axes axes = {lowering.positionAxis(k), lowering.positionAxis(other)};
    return lowering.sharedPointer(operand.shared, axes, {0, 0});
  };
  // Two blocks of rows at one position of k, and then at the next.
  if (left.place == OperandPlace::Registers) {
    ownAxes = lowering.axesFor(left.tile);
    own = lowering.emit(left.tile, ownAxes);
  } else {
    Value warp = bits(llvm::Log2_64(kWarp), rowThreads / kPieceRows);
    starts[Left] = getStart(left,
                            lowering.add(lowering.multiplyBy(warp, kPieceRows),
                                         lowering.multiplyBy(low, rowThreads)),
                            high);
  }
  // A block of columns at two positions of k, and then the next block; of half
  // the depth, two blocks of columns.
  Value part;
  if (columns->spread.parts > 1)
    part = lowering.getPart(columns->spread);
  auto getColumns = [&](Value block) {
    return lowering.add(part, lowering.multiplyBy(block, kPieceRows));
  };
  starts[Right] = getStart(right, getColumns(high), low);
  if (chunk % depth)
    starts[HalfRight] = getStart(right, getColumns(low), lowering.constant(0));
}

SmallVector<Value> UnitProduct::load(Start start, int64_t k, int64_t other,
                                     int64_t count) {
  const Operand &operand = start == Left ? left : right;
  int64_t offset =
      k * operand.shared.strides[0] + other * operand.shared.strides[1];
  Value pointer = LLVM::GEPOp::create(
      lowering.b, lowering.loc, starts[start].getType(),
      operand.shared.elementType, starts[start], LLVM::GEPArg(int32_t(offset)));
  return warpUnit.load(pointer, count, !operand.hasRowsAlongDepth());
}

/// Returns the registers of two blocks of rows of an operand that is computed
/// at the places of accumulators.
SmallVector<Value> UnitProduct::takeLeft(int64_t step, int64_t row) {
  int64_t numInner = ownAxes[1]->regs();
  auto at = [&](int64_t r, int64_t d) {
    return left.kDim ? own[r * numInner + d] : own[d * numInner + r];
  };
  SmallVector<Value> registers;
  int64_t first = step * depth / kPieceRows * kBoth;
  for (int64_t d = first; d < first + kBoth * kBoth; d += kBoth)
    for (int64_t r = row; r < row + kBoth; ++r)
      registers.push_back(
          warpUnit.fromPair(lowering.makeVector({at(r, d), at(r, d + 1)})));
  return registers;
}

SmallVector<Value> UnitProduct::loadLeft(int64_t step, int64_t row) {
  if (left.place == OperandPlace::Registers)
    return takeLeft(step, row);
  return load(Left, step * depth, row * rowThreads,
              isHalf(step) ? kBoth : kBoth * kBoth);
}

/// Returns the registers of two blocks of columns, or of the last one.
SmallVector<Value> UnitProduct::loadRight(int64_t step, int64_t column) {
  int64_t blocks = std::min(kBoth, (numColumns - column) / kBoth);
  return load(isHalf(step) ? HalfRight : Right, step * depth,
              column / kBoth * kPieceRows,
              isHalf(step) ? blocks : blocks * kBoth);
}

/// Multiplies two blocks of rows by one of columns.
void UnitProduct::multiply(ArrayRef<Value> lhs, ArrayRef<Value> rhs,
                           int64_t row, int64_t column, Fragment &acc) {
  auto getSum = [&](int64_t r, int64_t c) {
    return &acc[isTransposed ? c * numRows + r : r * numColumns + c];
  };
  Value *sums[] = {getSum(row, column), getSum(row, column + 1),
                   getSum(row + 1, column), getSum(row + 1, column + 1)};
  warpUnit.multiply(lhs, rhs, sums);
}

SmallVector<Value> UnitProduct::load(int64_t step) {
  SmallVector<Value> registers;
  for (int64_t row = 0; row < numRows; row += kBoth)
    llvm::append_range(registers, loadLeft(step, row));
  for (int64_t column = 0; column < numColumns; column += kBoth * kBoth)
    llvm::append_range(registers, loadRight(step, column));
  return registers;
}

void UnitProduct::multiply(int64_t step, ArrayRef<Value> registers,
                           Fragment &acc) {
  int64_t ofRight = isHalf(step) ? 1 : kBoth, ofLeft = kBoth * ofRight;
  ArrayRef<Value> lhs = registers.take_front(numRows / kBoth * ofLeft),
                  rhs = registers.drop_front(lhs.size());
  for (int64_t column = 0; column < numColumns; column += kBoth)
    for (int64_t row = 0; row < numRows; row += kBoth)
      multiply(lhs.slice(row / kBoth * ofLeft, ofLeft),
               rhs.slice(column / kBoth * ofRight, ofRight), row, column, acc);
}

void UnitProduct::multiplyAll(Fragment &acc) {
  for (int64_t step = 0; step < countSteps(); ++step) {
    int64_t ofRight = isHalf(step) ? 1 : kBoth;
    SmallVector<SmallVector<Value>> lhs;
    for (int64_t row = 0; row < numRows; row += kBoth)
      lhs.push_back(loadLeft(step, row));
    for (int64_t first = 0; first < numColumns; first += kBoth * kBoth) {
      SmallVector<Value> rhs = loadRight(step, first);
      int64_t end = std::min(first + kBoth * kBoth, numColumns);
      for (int64_t row = 0; row < numRows; row += kBoth)
        for (int64_t column = first; column < end; column += kBoth)
          multiply(
              lhs[row / kBoth],
              ArrayRef(rhs).slice((column - first) / kBoth * ofRight, ofRight),
              row, column, acc);
    }
  }
}

} // namespace adze::togpu
