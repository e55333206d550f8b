// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows that may be out of bounds at run time, such as those of windows at the
// border of an image. Each row is read in place, or replaced by a row of pads,
// so that nothing is masked or copied. A dot is skipped if all rows of its left
// operand are out of bounds.
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace adze::tile;

/// Returns the memory dimension along which each row of a left operand can be
/// read from its first element, or -1.
static int64_t alongRow(const Window &window) {
  auto type = cast<MemRefType>(window.memref.getType());
  int64_t last = type.getRank() - 1, offset;
  SmallVector<int64_t> strides;
  auto isPlain = [](const SmallVector<Digit, 1> &digits) {
    return digits.size() == 1;
  };
  if (window.indices || !llvm::all_of(window.dims, isPlain) ||
      window.memref.getDefiningOp<ViewOp>() ||
      failed(type.getStridesAndOffset(strides, offset)) || strides[last] != 1 ||
      type.isDynamicDim(last) || type.getDimSize(last) == 1)
    return -1;
  Digit depth = window.dims[1].front();
  return depth.dim == last && depth.step == 1 &&
                 window.dims[0].front().dim != last
             ? last
             : -1;
}

/// Returns the dimension along which rows of the left operand of a dot are read
/// one by one. Returns -1 if all rows are in bounds, if their positions are
/// constant, or if the operand is copied.
int64_t KernelLowering::borderRowsAlong(DotOp op) {
  auto load = op.getLhs().getDefiningOp<LoadOp>();
  if (!load || load->getBlock() != op->getBlock() || inOrder ||
      classes.multipliesGroups(op) || classes.runsAlongDepth(op) ||
      scratchOf(op.getLhs()))
    return -1;
  Window self = window(load);
  if (!isBorder(self) || self.pad != b.getZeroAttr(self.pad.getType()) ||
      tileType(self.tile).getElementType() != self.pad.getType())
    return -1;
  for (int64_t dim = 0, e = self.offsets.size(); dim < e; ++dim)
    if (isChecked(self, dim) && isDecided(self, dim))
      return -1;
  int64_t along = alongRow(self);
  return along >= 0 && !isChecked(self, along) ? along : -1;
}

/// Returns memory of this type, a row, that holds pads.
Value KernelLowering::padRow(MemRefType row, Attribute pad) {
  Value &made = padRows[{row, pad}];
  if (made)
    return made;
  int64_t size = row.getDimSize(0);
  int64_t lanes = std::max<int64_t>(
      target.getVectorBytes() * 8 / row.getElementTypeBitWidth(), 1);
  int64_t padded = llvm::alignTo(size, lanes);
  auto type = MemRefType::get({padded}, row.getElementType());
  auto vector = VectorType::get(lanes, row.getElementType());
  OpBuilder top = OpBuilder::atBlockBegin(entry);
  Value memory =
      memref::AllocaOp::create(top, loc, type, b.getI64IntegerAttr(64));
  Value from = arith::ConstantIndexOp::create(top, loc, 0);
  Value to = arith::ConstantIndexOp::create(top, loc, padded);
  Value step = arith::ConstantIndexOp::create(top, loc, lanes);
  Value pads =
      arith::ConstantOp::create(top, loc, DenseElementsAttr::get(vector, pad));
  auto fill = scf::ForOp::create(top, loc, from, to, step);
  OpBuilder inside = OpBuilder::atBlockBegin(fill.getBody());
  vector::StoreOp::create(inside, loc, pads, memory, fill.getInductionVar());
  auto attributes = [&](int64_t value) {
    return SmallVector<OpFoldResult>{b.getIndexAttr(value)};
  };
  Value part = memref::SubViewOp::create(top, loc, memory, attributes(0),
                                         attributes(size), attributes(1));
  made = memref::CastOp::create(top, loc, row, part);
  return made;
}

/// Finds the addresses of the rows of the current slices.
BorderRows KernelLowering::findBorderRows(DotOp op) {
  BorderRows result;
  int64_t along = borderRowsAlong(op);
  if (along < 0)
    return result;
  result.operand = op.getLhs();
  Window self = window(op.getLhs().getDefiningOp<LoadOp>());
  Layout layout = layoutOf(self.tile, /*scalars=*/true);
  Value memory = mapped(self.memref);
  auto type = cast<MemRefType>(memory.getType());
  int64_t rank = type.getRank(), size = type.getDimSize(along);
  SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1)), sizes = ones;
  sizes[along] = b.getIndexAttr(size);
  Attribute zero = b.getZeroAttr(type.getElementType());
  bool isSure = false;
  for (int64_t i = 0; i < layout.counts[0]; ++i) {
    result.rows.emplace_back();
    SmallVector<int64_t> at{i, 0};
    if (isDead(layout, layout.indexOf(at)))
      continue;
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0));
    Value exists;
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (dim == along)
        continue;
      Value place = position(self, layout, dim, at);
      offsets[dim] = place;
      if (!isChecked(self, dim))
        continue;
      // The comparison is unsigned, so that negative indices are out of bounds.
      Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          place, extent(self.memref, dim));
      exists = bothMasks(b, loc, exists, holds);
    }
    auto rowType = memref::SubViewOp::inferRankReducedResultType(
        {size}, type, offsets, sizes, ones);
    Value row = memref::SubViewOp::create(b, loc, rowType, memory, offsets,
                                          sizes, ones);
    result.rows.back() = exists ? arith::SelectOp::create(b, loc, exists, row,
                                                          padRow(rowType, zero))
                                      .getResult()
                                : row;
    isSure |= !exists;
    if (exists)
      result.any =
          result.any
              ? arith::OrIOp::create(b, loc, result.any, exists).getResult()
              : exists;
  }
  if (isSure)
    result.any = Value();
  return result;
}

/// Reads the elements of all rows at the current position along the contracted
/// dimension.
Registers KernelLowering::readBorderRows() {
  Window self = window(borderRows.operand.getDefiningOp<LoadOp>());
  Layout layout = layoutOf(self.tile, /*scalars=*/true);
  Value at = position(self, layout, self.dims[1].front().dim, {0, 0});
  Registers result{layout, {}};
  for (Value row : borderRows.rows)
    result.values.push_back(
        row ? memref::LoadOp::create(b, loc, row, at).getResult()
            : arith::ConstantOp::create(b, loc, self.pad).getResult());
  return result;
}

/// Emits `body` under the condition that a row of the dot is in bounds;
/// otherwise the accumulators do not change.
Carried KernelLowering::ifAnyRow(Carried sums,
                                 llvm::function_ref<Carried(Carried)> body) {
  if (!borderRows.any)
    return body(sums);
  auto branch = scf::IfOp::create(b, loc, ValueRange(sums).getTypes(),
                                  borderRows.any, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, sums);
  b.setInsertionPointToEnd(branch.thenBlock());
  scopes.emplace_back();
  Carried next = body(sums);
  scopes.pop_back();
  scf::YieldOp::create(b, loc, next);
  return Carried(branch.getResults());
}

/// Returns true if the rows of a step that crosses the border are read here, as
/// vectors whose elements are adjacent in memory. Pads are then read from a row
/// of pads, and elements that windows share are loaded once.
bool KernelLowering::picksRows(const Window &window, const Layout &layout) {
  if (overBorder < 0 || !isa<LoadOp>(window.op) || layout.lanes == 1 ||
      !isContiguous(window, layout) || window.memref.getDefiningOp<ViewOp>() ||
      layout.classes[layout.laneDim] == alongDepth.depth ||
      isChecked(window, window.dims[layout.laneDim].back().dim))
    return false;
  auto type = cast<MemRefType>(mapped(window.memref).getType());
  int64_t offset;
  SmallVector<int64_t> strides;
  return cast<MemRefType>(window.memref.getType()).getRank() ==
             type.getRank() &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

/// Returns memory that holds the valid part of a row, from the slice of lanes
/// on, or pads.
Value KernelLowering::rowOrPad(const Window &window, const Layout &layout,
                               int64_t index) {
  int64_t dim = layout.laneDim, size = 0;
  SmallVector<int64_t> coordinates = layout.coordinates(index);
  for (int64_t i = 0; i < layout.counts[dim]; ++i)
    size += liveLanes(classes, layout, i * layout.lanes);
  coordinates[dim] = 0;
  Access at = getAccess(window, layout, layout.indexOf(coordinates));
  return rowOrPad(window, at, size);
}

Value KernelLowering::rowOrPad(const Window &window, const Access &at,
                               int64_t size) {
  Value memory = mapped(window.memref);
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<OpFoldResult> ones(type.getRank(), b.getIndexAttr(1)),
      sizes = ones, offsets(at.indices.begin(), at.indices.end());
  sizes.back() = b.getIndexAttr(size);
  auto rowType = memref::SubViewOp::inferRankReducedResultType(
      {size}, type, offsets, sizes, ones);
  if (size == 1) { // any dims of size 1 may be dropped: keep the last
    auto [strides, offset] = rowType.getStridesAndOffset();
    rowType = MemRefType::get(
        {size}, type.getElementType(),
        StridedLayoutAttr::get(b.getContext(), offset, /*strides=*/{1}));
  }
  Value row =
      memref::SubViewOp::create(b, loc, rowType, memory, offsets, sizes, ones);
  Attribute pad = window.pad;
  if (type.getElementType() != window.pad.getType()) // bools
    pad = b.getI8IntegerAttr(cast<IntegerAttr>(pad).getValue().getBoolValue());
  return arith::SelectOp::create(b, loc, at.exists, row, padRow(rowType, pad));
}
