// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits dots on a matrix unit (AMX).
#include "MatrixDots.h"
#include "Products.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace adze;
using namespace adze::tile;

//===--- Registers of the unit --------------------------------------------===//

/// Returns the first rows of registers of `whole` rows that cover `size` rows.
/// If `size` is not a multiple, the last two overlap: all registers have one
/// shape, since the unit is configured once for a function.
static SmallVector<int64_t, 4> cutRows(int64_t size, int64_t whole) {
  SmallVector<int64_t, 4> starts;
  for (int64_t at = 0; at < size; at += whole)
    starts.push_back(std::max<int64_t>(0, std::min(at, size - whole)));
  return starts;
}

/// Returns the registers of the current slice of accumulators, in column-major
/// order.
SmallVector<MatrixDots::Piece> MatrixDots::cut(Value sums) {
  SmallVector<int> own = kernel.classes.of(sums);
  SmallVector<Piece> pieces;
  int64_t height = kernel.slice(own[0]).size,
          rows = std::min(height, kernel.classes.getMatrixRows());
  for (int64_t column = 0; column < kernel.slice(own[1]).size;
       column += shape[1])
    for (int64_t row : cutRows(height, rows))
      pieces.push_back({row, column, rows, shape[1]});
  return pieces;
}

Type MatrixDots::getType(const Piece &piece) {
  return amx::TileType::get(
      {piece.rows, piece.columns},
      getSignless(kernel.classes.getMatrixUnit().getAcc()));
}

SmallVector<Type> MatrixDots::getTypes(Value sums) {
  return llvm::map_to_vector(
      cut(sums), [&](const Piece &piece) { return getType(piece); });
}

bool adze::tile::isZeroTile(Value tile) {
  Value element = tile;
  if (auto broadcast = tile.getDefiningOp<BroadcastOp>())
    element = broadcast.getSource();
  return matchPattern(element, m_AnyZeroFloat()) ||
         matchPattern(element, m_Zero());
}

/// Returns the number of steps of the depth by which dots add to the sums.
int64_t MatrixDots::countSteps(Value sums) {
  constexpr int64_t unknown = 64;
  int64_t steps = 0;
  for (OpOperand &use : sums.getUses()) {
    if (auto loop = dyn_cast<scf::ForOp>(use.getOwner())) {
      std::optional<APInt> trips = loop.getStaticTripCount();
      int64_t inner = countSteps(loop.getTiedLoopRegionIterArg(&use));
      steps =
          std::max(steps, inner * (trips ? trips->getSExtValue() : unknown));
    } else if (auto dot = dyn_cast<DotOp>(use.getOwner());
               dot && dot.getAcc() == sums) {
      int64_t depth =
          kernel.classes.size(kernel.classes.of(dot.getLhs()).back());
      steps = std::max<int64_t>(
          steps, llvm::divideCeil(depth, kernel.classes.getMatrixDepth(dot)));
    }
  }
  return steps;
}

Carried MatrixDots::take(Value tile) {
  constexpr int64_t fewSteps = 8;
  for (Scope &scope : llvm::reverse(kernel.scopes))
    for (Kept &kept : scope.lookup(tile))
      if (!kept.matrices.empty())
        return kept.matrices;
  Carried sums;
  SmallVector<Piece> pieces = cut(tile);
  if (isZeroTile(tile)) {
    // A product of many steps hides the time of these prefetches.
    if (countSteps(tile) > fewSteps)
      kernel.prefetchStores(kernel.layoutOf(tile));
    for (const Piece &piece : pieces)
      sums.push_back(amx::TileZeroOp::create(b, loc, getType(piece)));
    return sums;
  }
  std::optional<Kept> kept = kernel.scratchOf(tile);
  if (!kept) {
    kernel.materialise(tile);
    kept = kernel.scratchOf(tile);
  }
  for (const Piece &piece : pieces)
    sums.push_back(amx::TileLoadOp::create(
        b, loc, getType(piece), kept->scratch,
        ValueRange{kernel.index(piece.row), kernel.index(piece.column)}));
  return sums;
}

/// Returns true if the tile covers the whole memory of a store.
static bool fillsMemory(StoreOp store) {
  auto type = cast<MemRefType>(store.getMemref().getType());
  return type.hasStaticShape() && type.getLayout().isIdentity() &&
         type.getShape() == tileType(store.getValue()).getShape() &&
         llvm::equal(store.getMemDims(),
                     llvm::seq<int64_t>(0, type.getRank())) &&
         llvm::all_of(store.getMixedOffsets(), isZeroInteger);
}

void MatrixDots::store(StoreOp op) {
  Value tile = op.getValue();
  Window target = kernel.window(op);
  Layout layout = kernel.layoutOf(tile);
  for (auto [piece, sum] : llvm::zip_equal(cut(tile), take(tile)))
    amx::TileStoreOp::create(
        b, loc, kernel.mapped(target.memref),
        kernel
            .getAccess(target, layout,
                       layout.indexOf({piece.row, piece.column}))
            .indices,
        sum);
}

void MatrixDots::keep(Value tile, const Carried &sums) {
  Kept inRegisters;
  inRegisters.matrices = sums;
  kernel.scopes.back()[tile].push_back(inRegisters);
  bool staysThere = llvm::all_of(tile.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto loop = dyn_cast<scf::ForOp>(user))
      return kernel.classes.isMatrixSum(loop.getTiedLoopResult(&use));
    if (auto store = dyn_cast<StoreOp>(user))
      return fillsMemory(store);
    return isa<scf::YieldOp>(user) ||
           (isa<DotOp>(user) && cast<DotOp>(user).getAcc() == tile);
  });
  if (staysThere)
    return;
  Kept buffer = kernel.scratchFor(tile);
  for (auto [piece, sum] : llvm::zip_equal(cut(tile), sums))
    amx::TileStoreOp::create(
        b, loc, buffer.scratch,
        ValueRange{kernel.index(piece.row), kernel.index(piece.column)}, sum);
  kernel.scopes.back()[tile].push_back(buffer);
}

//===--- Operands ---------------------------------------------------------===//

Value adze::tile::strideOf(OpBuilder &b, Location loc, Value memory,
                           int64_t dim, int64_t step) {
  auto [strides, offset] =
      cast<MemRefType>(memory.getType()).getStridesAndOffset();
  if (!ShapedType::isDynamic(strides[dim]))
    return arith::ConstantIndexOp::create(b, loc, strides[dim] * step);
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memory);
  Value by = arith::ConstantIndexOp::create(b, loc, step);
  return b.createOrFold<arith::MulIOp>(loc, metadata.getStrides()[dim], by);
}

/// Returns true if registers read the left operand in place, as all rows of the
/// current slice are in memory.
bool MatrixDots::isInPlace(DotOp op) {
  if (!kernel.hasGroupsInPlace(op))
    return false;
  Window self = kernel.window(op.getLhs().getDefiningOp<LoadOp>());
  return llvm::all_of(
      llvm::seq<int64_t>(0, self.offsets.size()), [&](int64_t dim) {
        return kernel.isProven(self, dim) ||
               dim == kernel.contractedDim(self) || kernel.limited(self, dim) ||
               (kernel.fast && kernel.isUnproven(self, dim));
      });
}

/// Returns the address of a row of the left operand, at the current slice of
/// the contracted dimension.
Located MatrixDots::placeRow(DotOp op, const Layout &layout, int64_t row) {
  if (std::optional<Kept> kept = kernel.scratchOf(op.getLhs()))
    return {kept->scratch, kernel.scratchIndices(*kept, layout, {row, 0})};
  Window self = kernel.window(op.getLhs().getDefiningOp<LoadOp>());
  return {kernel.mapped(self.memref),
          kernel.getAccess(self, layout, layout.indexOf({row, 0})).indices};
}

/// Returns the rows of a piece of the left operand, at the current slice of the
/// contracted dimension. A partial slice is padded with zeros.
Value MatrixDots::readLeft(DotOp op, const Piece &piece, Value end) {
  Layout layout = kernel.layoutOf(op.getLhs(), /*scalars=*/true);
  int64_t depth = kernel.classes.getMatrixDepth(op);
  Type element = tileType(op.getLhs()).getElementType();
  auto type = amx::TileType::get({piece.rows, depth * op.getWordElements()},
                                 getSignless(op.getProduct().getLhs()));
  if (!end) {
    auto [memory, indices] = placeRow(op, layout, piece.row);
    Value stride;
    if (!kernel.scratchOf(op.getLhs())) {
      Digit rows =
          kernel.window(op.getLhs().getDefiningOp<LoadOp>()).dims[0].front();
      stride = strideOf(b, loc, memory, rows.dim, rows.step);
    }
    return amx::TileLoadOp::create(b, loc, type, memory, indices, stride);
  }
  OpBuilder atEntry = OpBuilder::atBlockBegin(kernel.entry);
  Value padded = memref::AllocaOp::create(
      atEntry, loc, MemRefType::get({piece.rows, depth}, element),
      b.getI64IntegerAttr(64));
  auto vector = VectorType::get(depth, element);
  Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
  Value mask = vector::CreateMaskOp::create(
      b, loc, VectorType::get(depth, b.getI1Type()), end);
  for (int64_t row = 0; row < piece.rows; ++row) {
    auto [memory, indices] = placeRow(op, layout, piece.row + row);
    Value read = vector::MaskedLoadOp::create(b, loc, vector, memory, indices,
                                              mask, zeros);
    vector::StoreOp::create(b, loc, read, padded,
                            ValueRange{kernel.index(row), kernel.index(0)});
  }
  return amx::TileLoadOp::create(b, loc, type, padded,
                                 ValueRange{kernel.index(0), kernel.index(0)});
}

/// Returns the columns of a piece of the right operand: a row of the register
/// has a group of each.
Value MatrixDots::readRight(DotOp op, const Piece &piece) {
  int64_t group = getDepthGroup(op), words = op.getWordElements(),
          depth = kernel.classes.getMatrixDepth(op);
  Layout layout = kernel.layoutOf(op.getRhs());
  auto type = amx::TileType::get({depth / group, piece.columns * group * words},
                                 getSignless(op.getProduct().getRhs()));
  if (words > 1) {
    Window self = kernel.window(op.getRhs().getDefiningOp<LoadOp>());
    Value memory = kernel.mapped(self.memref);
    Digit steps = self.dims[0].front();
    return amx::TileLoadOp::create(
        b, loc, type, memory,
        kernel.getAccess(self, layout, layout.indexOf({0, piece.column}))
            .indices,
        strideOf(b, loc, memory, steps.dim, steps.step));
  }
  auto [memory, indices] =
      kernel.groupsAt(op, layout, layout.indexOf({0, piece.column}));
  return amx::TileLoadOp::create(b, loc, type, memory, indices);
}

/// Returns true if a kernel has several programs, and each has separate columns
/// of a matrix of `all` columns: `own` at least.
static bool haveOwnColumns(KernelOp kernel, int64_t own, int64_t all) {
  ProgramIdOp ids = kernel.getProgramId();
  int64_t programs = 1;
  if (ids)
    for (Value size : ids.getGrid())
      programs *= getConstantIntValue(size).value_or(all + 1);
  return programs > 1 && programs * own <= all;
}

/// Returns the columns of a panel.
static int64_t getPanelColumns(MemRefType type, unsigned panel) {
  auto number = cast<AffineBinaryOpExpr>(
      type.getLayout().getAffineMap().getResult(panel));
  return cast<AffineConstantExpr>(number.getRHS()).getValue();
}

/// Prefetches a part of the next panel of the right operand into the
/// second-level cache while a block of rows runs through the current one. All
/// blocks of rows together prefetch the whole panel. Few blocks of rows
/// prefetch it if the next program reads it.
void MatrixDots::prefetchPanel(DotOp op) {
  constexpr int64_t lineBits = 512;
  auto load = op.getRhs().getDefiningOp<LoadOp>();
  auto logical = cast<MemRefType>(load.getMemref().getType());
  Value memory = kernel.mapped(load.getMemref());
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int> own = kernel.classes.of(op.getResult());
  std::optional<unsigned> panel = getPanelDim(logical);
  if (!panel || !type.hasStaticShape())
    return;
  int64_t step = kernel.classes.step(own[0]),
          size = kernel.classes.size(own[0]),
          columns = getPanelColumns(logical, *panel);
  Slice rows = kernel.slice(own[0]);
  bool areFew = !rows.start || size <= step;
  if (areFew && !haveOwnColumns(op->getParentOfType<KernelOp>(),
                                kernel.classes.size(own[1]),
                                type.getDimSize(*panel) * columns))
    return;
  Layout layout = kernel.layoutOf(op.getRhs());
  SmallVector<Value> at =
      kernel.getAccess(kernel.window(load), layout, 0).indices;
  // The steps of a panel, and the cache lines that a block of rows prefetches
  // in each.
  ArrayRef<int64_t> sizes = type.getShape().drop_front(*panel + 1);
  AffineExpr within = b.getAffineConstantExpr(0);
  SmallVector<Value> digits;
  for (auto [dim, extent] : llvm::enumerate(sizes)) {
    within = within * extent + b.getAffineDimExpr(dim);
    digits.push_back(at[*panel + 1 + dim]);
  }
  int64_t all = llvm::product_of(sizes), elements = shape[2] * columns,
          line = lineBits / type.getElementTypeBitWidth(),
          blocks = llvm::divideCeil(size, step),
          lines = llvm::divideCeil(elements / line, blocks);
  AffineExpr block = b.getAffineConstantExpr(llvm::divideCeil(rows.at, step));
  if (rows.start) {
    block = block + b.getAffineDimExpr(digits.size()).floorDiv(step);
    digits.push_back(rows.start);
  }
  Value first = affine::AffineApplyOp::create(
      b, loc,
      AffineMap::get(digits.size(), 0,
                     (block * (all / elements) + within.floorDiv(elements)) *
                             (lines * line) +
                         all),
      digits);
  SmallVector<ReassociationIndices> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dim <= *panel + 1)
      dims.emplace_back();
    dims.back().push_back(dim);
  }
  Value panels = memref::CollapseShapeOp::create(b, loc, memory, dims);
  at.resize(*panel + 1);
  for (int64_t i = 0; i < lines; ++i) {
    SmallVector<Value> indices(at);
    indices.push_back(kernel.add(first, i * line));
    memref::PrefetchOp::create(b, loc, panels, indices, /*isWrite=*/false,
                               /*localityHint=*/2, /*isDataCache=*/true);
  }
}

//===--- The product ------------------------------------------------------===//

Value adze::tile::createMatrixProduct(OpBuilder &b, Location loc,
                                      ProductAttr product, Value left,
                                      Value right, Value sum) {
  if (isa<FloatType>(product.getAcc()))
    return amx::TileMulFOp::create(b, loc, sum.getType(), left, right, sum);
  return amx::TileMulIOp::create(b, loc, sum.getType(), left, right, sum,
                                 product.getLhs().isUnsignedInteger(),
                                 product.getRhs().isUnsignedInteger());
}

/// Adds the product at the current slice of the contracted dimension, or at its
/// first `end` positions.
Carried MatrixDots::addStep(DotOp op, ArrayRef<Value> before, Value end) {
  Carried sums(before);
  DenseMap<int64_t, Value> rows, columns; // by their first position
  prefetchPanel(op);
  for (auto [piece, sum] : llvm::zip_equal(cut(op.getResult()), sums)) {
    Value &row = rows[piece.row], &column = columns[piece.column];
    if (!column)
      column = readRight(op, piece);
    if (!row)
      row = readLeft(op, piece, end);
    sum = createMatrixProduct(b, loc, op.getProduct(), row, column, sum);
  }
  return sums;
}

/// Adds the products along the contracted dimension up to `end`.
Carried MatrixDots::addDepth(DotOp op, Carried sums, Value end) {
  int k = kernel.classes.of(op.getLhs())[1];
  int64_t step = kernel.classes.getMatrixDepth(op);
  SliceScope scope(kernel.context, k);
  kernel.looping.push_back(k);
  Value rest = b.createOrFold<arith::RemSIOp>(loc, end, kernel.index(step));
  Value cut = b.createOrFold<arith::SubIOp>(loc, end, rest);
  sums = kernel.chunkLoop(
      k, step, kernel.index(0), cut, sums,
      [&](ArrayRef<Value> before) { return addStep(op, before, /*end=*/{}); });
  auto addRest = [&] {
    kernel.context[k] = {cut, 0, step};
    kernel.scopes.emplace_back();
    Carried next = addStep(op, sums, rest);
    kernel.scopes.pop_back();
    return next;
  };
  std::optional<int64_t> known = getConstantIntValue(rest);
  if (known && *known) {
    sums = addRest();
  } else if (!known) {
    Value isLeft = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                         rest, kernel.index(0));
    auto branch = scf::IfOp::create(b, loc, ValueRange(sums).getTypes(), isLeft,
                                    /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, sums);
    b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(b, loc, addRest());
    sums = Carried(branch.getResults());
  }
  kernel.looping.pop_back();
  return sums;
}

void MatrixDots::lower(DotOp op) {
  if (!kernel.scratchOf(op.getLhs()) && !isInPlace(op))
    kernel.materialise(op.getLhs());
  int k = kernel.classes.of(op.getLhs())[1];
  Value end = kernel.contractedEnd(op, {op.getLhs(), op.getRhs()});
  if (!end)
    end = kernel.index(kernel.classes.size(k));
  if (Value limit = kernel.limitOf(k))
    end = b.createOrFold<arith::MinSIOp>(loc, end, limit);
  keep(op.getResult(), addDepth(op, take(op.getAcc()), end));
}
