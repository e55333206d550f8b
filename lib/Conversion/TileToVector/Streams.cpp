// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Selects non-temporal stores.
#include "Dialect/Tile/IR/Streams.h"
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace adze::tile;

static std::optional<int64_t> getStreamBytes(Operation *root) {
  auto kernel = isa<KernelOp>(root) ? cast<KernelOp>(root)
                                    : root->getParentOfType<KernelOp>();
  auto bytes = kernel->getAttrOfType<IntegerAttr>(streamBytesAttr);
  return bytes ? std::optional(bytes.getInt()) : std::nullopt;
}

/// Returns true if all stored memory is known, or assumed, to exceed the
/// caches.
bool DimClasses::streams() const {
  std::optional<int64_t> most = getStreamBytes(root);
  if (!most)
    return false;
  auto isLarge = [&](MemRefType type) {
    return type.hasStaticShape() ? type.getNumElements() >
                                       *most * 8 / type.getElementTypeBitWidth()
                                 : largeResults;
  };
  return !root->walk([&](StoreOp store) {
                return isLarge(cast<MemRefType>(store.getMemref().getType()))
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// The conditions under which all vectors of the layout are aligned to their
/// size, given that the first element of the memory is.
enum class Alignment { never, wholeRows, always };

/// Returns `wholeRows` if the vectors are aligned when the dynamic last
/// dimension of the argument is a multiple of a vector; other strides are
/// multiples of it.
static Alignment getAlignment(const Window &window, const Layout &layout) {
  auto type = cast<MemRefType>(window.memref.getType());
  auto argument = cast<MemRefType>(argumentOf(window.memref).getType());
  int64_t offset, lanes = layout.lanes;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || offset % lanes != 0)
    return Alignment::never;
  int64_t row = argument.getShape().back();
  Alignment result = Alignment::always;
  for (int64_t stride : ArrayRef<int64_t>(strides).drop_back()) {
    bool isKnown = !ShapedType::isDynamic(stride);
    if (isKnown ? stride % lanes != 0
                : !ShapedType::isDynamic(row) && row % lanes != 0)
      return Alignment::never;
    if (!isKnown && ShapedType::isDynamic(row))
      result = Alignment::wholeRows;
  }
  const Digit &digit = window.dims[layout.laneDim].back();
  const Slice &slice = layout.slices[layout.laneDim];
  bool isAligned = slice.at % lanes == 0 &&
                   getKnownDivisor(window.offsets[digit.dim]) % lanes == 0;
  return isAligned ? result : Alignment::never;
}

Value adze::tile::isLarger(OpBuilder &b, Location loc, Value memory,
                           int64_t bytes) {
  auto type = cast<MemRefType>(memory.getType());
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value).getResult();
  };
  Value size = constant(type.getElementTypeBitWidth() / 8);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    size = arith::MulIOp::create(b, loc, size,
                                 memref::DimOp::create(b, loc, memory, dim));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, size,
                               constant(bytes));
}

/// Emits the condition, at the top of the function, that the memory is aligned
/// and has more than `bytes` bytes, and that its rows are multiples of
/// `divisor` elements.
static Value makeCondition(OpBuilder &b, Location loc, Value memory,
                           int64_t alignment, int64_t bytes, int64_t multiple) {
  auto type = cast<MemRefType>(memory.getType());
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value).getResult();
  };
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  Value rest = arith::AndIOp::create(b, loc, address, constant(alignment - 1));
  auto isZero = [&](Value value) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value,
                                 constant(0));
  };
  Value condition = isZero(rest);
  if (type.hasStaticShape())
    return condition;
  condition =
      arith::AndIOp::create(b, loc, condition, isLarger(b, loc, memory, bytes));
  if (multiple == 1)
    return condition;
  Value row = memref::DimOp::create(b, loc, memory, type.getRank() - 1);
  Value whole = isZero(arith::RemUIOp::create(b, loc, row, constant(multiple)));
  return arith::AndIOp::create(b, loc, condition, whole);
}

/// Returns true if one part of the kernel writes this memory and a later one
/// reads it, so that it should stay in the caches.
bool KernelLowering::isReadBack(Value memref) {
  Value argument = argumentOf(memref);
  int64_t loads = 0, stores = 0;
  root->walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      loads += argumentOf(load.getMemref()) == argument;
    else if (auto store = dyn_cast<StoreOp>(op))
      stores += argumentOf(store.getMemref()) == argument;
  });
  return loads > 0 && stores > 1;
}

/// Returns the condition for non-temporal stores of a window, or null if they
/// never are.
Value KernelLowering::streamsTo(const Window &window, const Layout &layout) {
  std::optional<int64_t> bytes = getStreamBytes(root);
  Value argument = argumentOf(window.memref);
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!bytes || !type || !isa<BlockArgument>(argument) ||
      !type.getLayout().isIdentity() || layout.lanes == 1 ||
      type.getRank() == 0)
    return {};
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  if (layout.lanes * elementBytes != target.getVectorBytes() ||
      (type.hasStaticShape() && type.getNumElements() * elementBytes <= *bytes))
    return {};
  Alignment alignment = getAlignment(window, layout);
  if (alignment == Alignment::never || isReadBack(window.memref))
    return {};
  int64_t multiple = alignment == Alignment::wholeRows ? layout.lanes : 1;
  Value &condition = streams[{argument, multiple}];
  if (!condition) {
    OpBuilder atEntry = OpBuilder::atBlockBegin(entry);
    condition = makeCondition(atEntry, root->getLoc(), mapped(argument),
                              target.getVectorBytes(), *bytes, multiple);
  }
  return condition;
}
