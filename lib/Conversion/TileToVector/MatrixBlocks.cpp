// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Dots on a matrix unit (AMX) between other computations: their accumulators
// are in scratch memory, and their operands may be computed in the kernel, as
// in attention. Rows of the left operand that are adjacent in memory along the
// depth are read in place; all other operands are packed in scratch memory.
#include "MatrixDots.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace adze::tile;

constexpr int64_t wordBits = 32;

//===--- Words ------------------------------------------------------------===//

/// Returns the elements of vectors as words of 32 bits, and the reverse.
static Value asWords(OpBuilder &b, Location loc, Value value) {
  auto type = cast<VectorType>(value.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  return vector::BitCastOp::create(
      b, loc, VectorType::get(bits / wordBits, b.getI32Type()), value);
}
static Value asElements(OpBuilder &b, Location loc, Value words, Type element) {
  int64_t count = cast<VectorType>(words.getType()).getNumElements();
  return vector::BitCastOp::create(
      b, loc,
      VectorType::get(count * wordBits / element.getIntOrFloatBitWidth(),
                      element),
      words);
}

LoadOp adze::tile::getRoundedLoad(Value operand) {
  if (auto rounded = operand.getDefiningOp<arith::TruncFOp>())
    operand = rounded.getIn();
  return operand.getDefiningOp<LoadOp>();
}

/// Reads registers of an operand and rounds them; lanes beyond the end of the
/// tile are zero, whatever is next to it in memory.
Carried MatrixDots::read(Value tile, const Layout &layout) {
  Carried values =
      kernel.read(kernel.window(getRoundedLoad(tile)), layout).values;
  auto type = VectorType::get(layout.lanes, tileType(tile).getElementType());
  for (Value &value : values)
    if (value.getType() != type)
      value = arith::TruncFOp::create(b, loc, type, value);
  int64_t live = liveLanes(kernel.classes, layout, 0);
  if (live >= layout.lanes)
    return values;
  SmallVector<bool> bits(layout.lanes, false);
  std::fill_n(bits.begin(), std::max<int64_t>(live, 0), true);
  Value mask = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(VectorType::get(layout.lanes, b.getI1Type()),
                             bits));
  Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  for (Value &value : values)
    value = arith::SelectOp::create(b, loc, mask, value, zeros);
  return values;
}

//===--- Operands ---------------------------------------------------------===//

Value MatrixDots::groupsOf(Value tile) {
  for (Scope &scope : llvm::reverse(kernel.scopes))
    for (Kept &kept : scope.lookup(tile))
      if (kept.groups)
        return kept.groups;
  return {};
}

/// Returns the buffer of the current slice of a right operand in groups: a row
/// has a group of each column, and rows fill whole registers.
Kept MatrixDots::groupsFor(Value tile) {
  Kept &kept = kernel.groups[tile];
  if (kept.groups)
    return kept;
  int64_t group = kernel.classes.getMatrixUnit().getGroup();
  int k = kernel.classes.of(tile)[0], c = kernel.classes.of(tile)[1];
  int64_t depth = llvm::alignTo(kernel.classes.size(k), shape[2]);
  OpBuilder atEntry = OpBuilder::atBlockBegin(kernel.entry);
  kept.groups = memref::AllocaOp::create(
      atEntry, loc,
      MemRefType::get({depth / group, kernel.classes.step(c) * group},
                      tileType(tile).getElementType()),
      b.getI64IntegerAttr(64));
  return kept;
}

/// Returns the row of a group of the right operand, `row` positions after the
/// current slice of the depth.
Value MatrixDots::groupRow(int k, int64_t row) {
  int64_t group = kernel.classes.getMatrixUnit().getGroup();
  Slice self = kernel.slice(k);
  Value at = kernel.index((self.at + row) / group);
  if (!self.start)
    return at;
  Value start =
      b.createOrFold<arith::DivUIOp>(loc, self.start, kernel.index(group));
  return kernel.add(start, at);
}

/// Emits `body` for each depth of a register; the last one may have elements
/// beyond the end.
Carried MatrixDots::forDepth(int k, Carried init, StepBody body) {
  int64_t size = kernel.classes.size(k), full = size / shape[2] * shape[2];
  SliceScope scope(kernel.context, k);
  kernel.looping.push_back(k);
  if (full > 0)
    init = kernel.chunkLoop(k, shape[2], kernel.index(0), kernel.index(full),
                            init, body);
  if (full < size) {
    kernel.context[k] = {Value(), full, shape[2]};
    kernel.scopes.emplace_back();
    init = body(init);
    kernel.scopes.pop_back();
  }
  kernel.looping.pop_back();
  return init;
}

void MatrixDots::pack(DotOp op, bool isRhs) {
  if (isRhs) {
    Value tile = op.getRhs();
    if (groupsOf(tile))
      return;
    LoadOp load = getRoundedLoad(tile);
    kernel.scopes.back()[tile].push_back(groupsFor(tile));
    return load && isReadAlong(load, 0) ? packTransposed(op) : packPairs(op);
  }
  Value tile = op.getLhs();
  auto load = tile.getDefiningOp<LoadOp>();
  if (kernel.scratchOf(tile) || (load && isReadAlong(load, 1)))
    return;
  if (LoadOp source = getRoundedLoad(tile); source && isReadAlong(source, 0))
    return copyTransposed(op);
  kernel.materialise(tile);
}

/// Packs a right operand whose depth is contiguous in memory: words are
/// transposed.
void MatrixDots::packTransposed(DotOp op) {
  Value tile = op.getRhs(), groups = groupsOf(tile);
  int k = kernel.classes.of(tile)[0], c = kernel.classes.of(tile)[1];
  Type element = tileType(tile).getElementType();
  int64_t group = kernel.classes.getMatrixUnit().getGroup();
  forDepth(k, {}, [&](ArrayRef<Value>) -> Carried {
    Slice columns = kernel.slice(c);
    for (int64_t column = 0; column < columns.size; column += shape[1]) {
      Layout layout = kernel.layoutOf(tile, /*scalars=*/true);
      layout.slices[1] = {columns.start, columns.at + column, shape[1]};
      layout.counts = {1, shape[1]};
      layout.laneDim = 0;
      layout.lanes = shape[2];
      Carried rows = read(tile, layout);
      for (Value &row : rows)
        row = asWords(b, loc, row);
      transposeBlocks(b, loc, rows);
      for (auto [i, row] : llvm::enumerate(rows))
        vector::StoreOp::create(
            b, loc, asElements(b, loc, row, element), groups,
            ValueRange{groupRow(k, i * group), kernel.index(column * group)});
    }
    return {};
  });
}

/// Packs a right operand with lanes along its columns: rows are interleaved.
/// Rows beyond the end are zero.
void MatrixDots::packPairs(DotOp op) {
  Value tile = op.getRhs(), groups = groupsOf(tile);
  int k = kernel.classes.of(tile)[0];
  kernel.forChunks(
      k, kernel.classes.step(k), {}, [&](ArrayRef<Value>) -> Carried {
        kernel.scopes.emplace_back();
        Registers rows = kernel.emit(tile);
        int64_t vectors = rows.layout.counts[1], lanes = rows.layout.lanes;
        for (int64_t row = 0; row < rows.layout.counts[0]; row += 2)
          for (int64_t i = 0; i < vectors; ++i)
            vector::StoreOp::create(
                b, loc,
                vector::InterleaveOp::create(
                    b, loc, rows.values[row * vectors + i],
                    rows.values[(row + 1) * vectors + i]),
                groups,
                ValueRange{groupRow(k, row), kernel.index(2 * i * lanes)});
        kernel.scopes.pop_back();
        return {};
      });
  auto type = cast<MemRefType>(groups.getType());
  int64_t group = kernel.classes.getMatrixUnit().getGroup(),
          width = shape[1] * group;
  Value zeros = arith::ConstantOp::create(
      b, loc, b.getZeroAttr(VectorType::get(width, type.getElementType())));
  for (int64_t row = kernel.classes.padded(k) / group; row < type.getDimSize(0);
       ++row)
    for (int64_t column = 0; column < type.getDimSize(1); column += width)
      vector::StoreOp::create(
          b, loc, zeros, groups,
          ValueRange{kernel.index(row), kernel.index(column)});
}

/// Copies a left operand whose rows are contiguous in memory to scratch memory
/// in which the depth is: pairs along the depth are interleaved to words, and
/// these transposed.
void MatrixDots::copyTransposed(DotOp op) {
  Value tile = op.getLhs();
  int r = kernel.classes.of(tile)[0], k = kernel.classes.of(tile)[1];
  Type element = tileType(tile).getElementType();
  Kept kept = kernel.scratchFor(tile);
  int64_t size = kernel.classes.size(k);
  auto copy = [&](ArrayRef<Value>) -> Carried {
    Slice depth = kernel.slice(k);
    kernel.forChunks(r, shape[0], {}, [&](ArrayRef<Value>) -> Carried {
      Layout layout = kernel.layoutOf(tile, /*scalars=*/true);
      layout.counts = {1, shape[2]};
      layout.laneDim = 0;
      layout.lanes = shape[0];
      Carried source = read(tile, layout), rows;
      for (int64_t i = 0; i < shape[2]; i += 2)
        rows.push_back(asWords(
            b, loc,
            vector::InterleaveOp::create(b, loc, source[i], source[i + 1])));
      transposeBlocks(b, loc, rows);
      Slice first = kernel.slice(r);
      for (auto [i, row] : llvm::enumerate(rows)) {
        Value at = kernel.index(first.at + i);
        if (first.start)
          at = kernel.add(first.start, at);
        vector::StoreOp::create(b, loc, asElements(b, loc, row, element),
                                kept.scratch, ValueRange{at, depth.start});
      }
      return {};
    });
    return {};
  };
  SliceScope scope(kernel.context, k);
  kernel.looping.push_back(k);
  Value end = kernel.contractedEnd(op, {getRoundedLoad(tile).getResult()}),
        cut = kernel.index(size);
  if (end) {
    Value rest =
        b.createOrFold<arith::RemSIOp>(loc, end, kernel.index(shape[2]));
    cut = b.createOrFold<arith::SubIOp>(loc, end, rest);
  }
  kernel.chunkLoop(k, shape[2], kernel.index(0), cut, {}, copy);
  if (end) { // rows beyond the end are zero
    bool outer = std::exchange(kernel.staging, true);
    kernel.chunkLoop(k, shape[2], cut, kernel.index(size), {}, copy);
    kernel.staging = outer;
  }
  kernel.looping.pop_back();
  kernel.scopes.back()[tile].push_back(kept);
}

/// Returns the current rows of the left operand at the current depth, copied
/// with zeros out of bounds and beyond the end of the depth.
Value MatrixDots::readBorder(DotOp op) {
  Value tile = op.getLhs();
  Layout layout = kernel.layoutOf(tile, /*scalars=*/true);
  layout.counts = {shape[0], 1};
  layout.laneDim = 1;
  layout.lanes = shape[2];
  Type element = tileType(tile).getElementType();
  Carried rows;
  if (std::optional<Kept> kept = kernel.scratchOf(tile)) {
    int64_t live = std::min(shape[2], kernel.classes.padded(layout.classes[1]) -
                                          layout.slices[1].at);
    auto type = VectorType::get(live, element);
    Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < shape[2]; ++lane)
      order.push_back(std::min(lane, live));
    for (int64_t row = 0; row < shape[0]; ++row) {
      Value part = vector::LoadOp::create(
          b, loc, type, kept->scratch,
          kernel.scratchIndices(*kept, layout, {row, 0}));
      rows.push_back(vector::ShuffleOp::create(b, loc, part, zeros, order));
    }
  } else {
    rows = read(tile, layout);
  }
  OpBuilder atEntry = OpBuilder::atBlockBegin(kernel.entry);
  Value padded = memref::AllocaOp::create(
      atEntry, loc, MemRefType::get({shape[0], shape[2]}, element),
      b.getI64IntegerAttr(64));
  for (auto [i, row] : llvm::enumerate(rows))
    vector::StoreOp::create(b, loc, row, padded,
                            ValueRange{kernel.index(i), kernel.index(0)});
  return amx::TileLoadOp::create(
      b, loc, amx::TileType::get({shape[0], shape[2]}, element), padded,
      ValueRange{kernel.index(0), kernel.index(0)});
}

Value MatrixDots::readBlockRows(DotOp op) {
  Value tile = op.getLhs();
  int k = kernel.classes.of(tile)[1];
  Slice depth = kernel.slice(k);
  std::optional<Kept> kept = kernel.scratchOf(tile);
  bool isWhole = depth.start || depth.at + shape[2] <= kernel.classes.size(k);
  std::optional<Window> window;
  if (!kept)
    window = kernel.window(tile.getDefiningOp<LoadOp>());
  if (!isWhole && kept && kernel.classes.padded(k) % shape[2] == 0)
    isWhole = true; // zeros in scratch memory
  if (!isWhole || (window && kernel.isBorder(*window)))
    return readBorder(op);
  Type element = tileType(tile).getElementType();
  auto type = amx::TileType::get({shape[0], shape[2]}, element);
  Layout layout = kernel.layoutOf(tile, /*scalars=*/true);
  if (kept)
    return amx::TileLoadOp::create(
        b, loc, type, kept->scratch,
        kernel.scratchIndices(*kept, layout, {0, 0}));
  Value memory = kernel.mapped(window->memref);
  Digit rows = window->dims[0].front();
  return amx::TileLoadOp::create(b, loc, type, memory,
                                 kernel.getAccess(*window, layout, 0).indices,
                                 strideOf(b, loc, memory, rows.dim, rows.step));
}

Value MatrixDots::readBlockColumns(DotOp op, int64_t column) {
  Value tile = op.getRhs();
  int64_t group = kernel.classes.getMatrixUnit().getGroup();
  auto type = amx::TileType::get({shape[2] / group, shape[1] * group},
                                 tileType(tile).getElementType());
  return amx::TileLoadOp::create(
      b, loc, type, groupsOf(tile),
      ValueRange{groupRow(kernel.classes.of(tile)[0], 0),
                 kernel.index(column * group)});
}

//===--- The product ------------------------------------------------------===//

/// Returns the buffer in which a loop carries the result of a dot, if the value
/// of the iteration is read only for the accumulator of the dot, element by
/// element. The dot may then update the buffer in place.
std::optional<Kept> MatrixDots::findHome(DotOp op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!loop)
    return std::nullopt;
  for (OpOperand &use : op->getUses()) {
    if (use.getOwner() != loop.getBody()->getTerminator())
      continue;
    Value carried = loop.getRegionIterArg(use.getOperandNumber()),
          value = carried;
    while (value != op.getAcc() && value.hasOneUse()) {
      Operation *user = *value.user_begin();
      if (!user->hasTrait<OpTrait::Elementwise>() ||
          user->getBlock() != op->getBlock())
        break;
      value = user->getResult(0);
    }
    if (value != op.getAcc() || !value.hasOneUse())
      continue;
    std::optional<Kept> kept = kernel.scratchOf(carried);
    if (kept)
      return kept;
  }
  return std::nullopt;
}

void MatrixDots::lowerBlock(DotOp op) {
  Value result = op.getResult();
  std::optional<Kept> home = findHome(op);
  Kept sums = home ? *home : kernel.scratchFor(result);
  pack(op, /*isRhs=*/true);
  pack(op, /*isRhs=*/false);
  bool isZero = isZeroTile(op.getAcc());
  if (!isZero)
    kernel.copyTo(op.getAcc(), sums);
  int r = kernel.classes.of(result)[0], c = kernel.classes.of(result)[1],
      k = kernel.classes.of(op.getLhs())[1];
  auto type = amx::TileType::get({shape[0], shape[1]},
                                 tileType(result).getElementType());
  kernel.forChunks(r, shape[0], {}, [&](ArrayRef<Value>) -> Carried {
    Layout layout = kernel.layoutOf(result, /*scalars=*/true);
    int64_t width = kernel.slice(c).size;
    Carried registers;
    auto at = [&](int64_t column) {
      return kernel.scratchIndices(sums, layout, {0, column});
    };
    for (int64_t column = 0; column < width; column += shape[1])
      registers.push_back(
          isZero
              ? amx::TileZeroOp::create(b, loc, type).getResult()
              : amx::TileLoadOp::create(b, loc, type, sums.scratch, at(column))
                    .getResult());
    registers = forDepth(k, registers, [&](ArrayRef<Value> before) {
      Carried next(before);
      Value row = readBlockRows(op);
      for (auto [i, sum] : llvm::enumerate(next))
        sum = createMatrixProduct(b, loc, op.getProduct(), row,
                                  readBlockColumns(op, i * shape[1]), sum);
      return next;
    });
    for (auto [i, sum] : llvm::enumerate(registers))
      amx::TileStoreOp::create(b, loc, sums.scratch, at(i * shape[1]), sum);
    return {};
  });
  kernel.scopes.back()[result].push_back(sums);
}
