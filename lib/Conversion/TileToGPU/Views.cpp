// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Views of kernel arguments.
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "KernelLowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;

namespace adze::togpu {

unsigned bytesOf(Type elementType) {
  if (isa<IndexType>(elementType))
    return 8;
  if (!elementType.isIntOrFloat())
    return 0;
  unsigned bits = elementType.getIntOrFloatBitWidth();
  return bits == 1 ? 1 : bits % 8 ? 0 : bits / 8;
}

/// Returns x * y; either may be a constant.
static OpFoldResult times(OpBuilder &b, Location loc, OpFoldResult x,
                          OpFoldResult y) {
  auto cx = getConstantIntValue(x), cy = getConstantIntValue(y);
  if (cx && cy)
    return b.getIndexAttr(*cx * *cy);
  if (cx == 1)
    return y;
  if (cy == 1)
    return x;
  return arith::MulIOp::create(b, loc,
                               getValueOrCreateConstantIndexOp(b, loc, x),
                               getValueOrCreateConstantIndexOp(b, loc, y))
      .getResult();
}

SmallVector<OpFoldResult> rowMajorStrides(OpBuilder &b, Location loc,
                                          ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(sizes.size());
  OpFoldResult stride = b.getIndexAttr(1);
  for (int64_t i = sizes.size() - 1; i >= 0; --i) {
    strides[i] = stride;
    if (i)
      stride = times(b, loc, stride, sizes[i]);
  }
  return strides;
}

Value expandAffine(OpBuilder &b, Location loc, AffineExpr e,
                   ArrayRef<Value> dims, ArrayRef<Value> symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(e))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
    return symbols[symbol.getPosition()];
  if (auto c = dyn_cast<AffineConstantExpr>(e))
    return arith::ConstantIndexOp::create(b, loc, c.getValue());
  auto bin = cast<AffineBinaryOpExpr>(e);
  Value x = expandAffine(b, loc, bin.getLHS(), dims, symbols),
        y = expandAffine(b, loc, bin.getRHS(), dims, symbols);
  switch (bin.getKind()) {
  case AffineExprKind::Add:
    return b.createOrFold<arith::AddIOp>(loc, x, y);
  case AffineExprKind::Mul:
    return b.createOrFold<arith::MulIOp>(loc, x, y);
  case AffineExprKind::FloorDiv:
    return b.createOrFold<arith::DivUIOp>(loc, x, y);
  case AffineExprKind::Mod:
    return b.createOrFold<arith::RemUIOp>(loc, x, y);
  default:
    return b.createOrFold<arith::CeilDivUIOp>(loc, x, y);
  }
}

/// Returns true if the elements of the dimensions are contiguous.
static bool isContiguous(const MemView &view, ArrayRef<int64_t> group) {
  for (auto [i, d] : llvm::enumerate(group.drop_front())) {
    auto outer = getConstantIntValue(view.strides[group[i]]);
    auto inner = getConstantIntValue(view.strides[d]),
         size = getConstantIntValue(view.sizes[d]);
    if (outer && inner && size && *outer != *inner * *size)
      return false;
  }
  return true;
}

static bool collapse(OpBuilder &b, Location loc, memref::CollapseShapeOp op,
                     const MemView &from, MemView &to) {
  for (ReassociationIndices group : op.getReassociationIndices()) {
    if (!isContiguous(from, group))
      return false;
    OpFoldResult size = b.getIndexAttr(1);
    for (int64_t d : group)
      size = times(b, loc, size, from.sizes[d]);
    to.sizes.push_back(size);
    to.strides.push_back(from.strides[group.back()]);
  }
  return true;
}

static void expandShape(OpBuilder &b, Location loc, memref::ExpandShapeOp op,
                        const IRMapping &map, const MemView &from,
                        MemView &to) {
  for (OpFoldResult size : op.getMixedOutputShape())
    to.sizes.push_back(
        isa<Value>(size) ? OpFoldResult(map.lookupOrDefault(cast<Value>(size)))
                         : size);
  to.strides.resize(to.sizes.size());
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices())) {
    OpFoldResult stride = from.strides[d];
    for (int64_t i : llvm::reverse(group)) {
      to.strides[i] = stride;
      stride = times(b, loc, stride, to.sizes[i]);
    }
  }
}

/// Returns sizes, strides and the offset of a subview; dropped dimensions have
/// size 1.
static void subview(OpBuilder &b, Location loc, memref::SubViewOp op,
                    const IRMapping &map, const MemView &from, MemView &to) {
  auto mapped = [&](OpFoldResult f) {
    return isa<Value>(f) ? OpFoldResult(map.lookupOrDefault(cast<Value>(f)))
                         : f;
  };
  llvm::SmallBitVector dropped = op.getDroppedDims();
  OpFoldResult start = b.getIndexAttr(0);
  int64_t divisor = from.divisor;
  for (auto [d, offset, size, step] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    OpFoldResult move = times(b, loc, mapped(offset), from.strides[d]);
    divisor = std::gcd(divisor, tile::getKnownDivisor(offset) *
                                    tile::getKnownDivisor(from.strides[d]));
    auto a = getConstantIntValue(start), c = getConstantIntValue(move);
    start =
        a && c ? OpFoldResult(b.getIndexAttr(*a + *c))
               : OpFoldResult(
                     arith::AddIOp::create(
                         b, loc, getValueOrCreateConstantIndexOp(b, loc, start),
                         getValueOrCreateConstantIndexOp(b, loc, move))
                         .getResult());
    if (dropped.test(d))
      continue;
    to.sizes.push_back(mapped(size));
    to.strides.push_back(times(b, loc, from.strides[d], mapped(step)));
  }
  to.divisor = divisor;
  if (getConstantIntValue(start) == 0)
    return;
  Value index = arith::IndexCastOp::create(
      b, loc, b.getI64Type(), getValueOrCreateConstantIndexOp(b, loc, start));
  Type type = from.elementType.isInteger(1) ? b.getI8Type() : from.elementType;
  to.base = LLVM::GEPOp::create(b, loc, from.base.getType(), type, from.base,
                                LLVM::GEPArg(index));
}

/// Permutes indices: the map returns those of the source.
static void indexView(tile::ViewOp op, const IRMapping &map,
                      const MemView &from, MemView &to) {
  for (OpFoldResult size : op.getMixedSizes())
    to.sizes.push_back(
        isa<Value>(size) ? OpFoldResult(map.lookupOrDefault(cast<Value>(size)))
                         : size);
  to.map =
      cast<MemRefType>(op.getResult().getType()).getLayout().getAffineMap();
  to.physicalStrides = from.strides;
  to.strides.assign(to.sizes.size(), OpFoldResult());
}

void KernelLowering::lowerView(Operation &op) {
  auto it = frame.views.find(op.getOperand(0));
  if (it == frame.views.end())
    return fail(&op, "expected a view of a kernel argument");
  MemView from = it->second, to = from;
  if (from.map && !isa<memref::CastOp>(op))
    return fail(&op, "expected memory without a layout map");
  to.sizes.clear(), to.strides.clear();
  if (isa<memref::CastOp>(op))
    to.sizes = from.sizes, to.strides = from.strides;
  else if (auto view = dyn_cast<memref::CollapseShapeOp>(op)) {
    if (!collapse(b, loc, view, from, to))
      return fail(&op, "expected contiguous dimensions");
  } else if (auto view = dyn_cast<memref::ExpandShapeOp>(op))
    expandShape(b, loc, view, map, from, to);
  else if (auto view = dyn_cast<memref::SubViewOp>(op))
    subview(b, loc, view, map, from, to);
  else if (auto view = dyn_cast<tile::ViewOp>(op))
    indexView(view, map, from, to);
  else
    return fail(&op, "no rule for this view");
  frame.views[op.getResult(0)] = to;
}

} // namespace adze::togpu
