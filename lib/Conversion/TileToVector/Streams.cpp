// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Which stores go past the caches.
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

/// If the first element of this memory is aligned, do all vectors of the
/// layout begin at multiples of their size?
static bool areVectorsAligned(const Window &window, const Layout &layout) {
  auto type = cast<MemRefType>(window.memref.getType());
  int64_t offset, lanes = layout.lanes;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || offset % lanes != 0)
    return false;
  for (int64_t stride : ArrayRef<int64_t>(strides).drop_back())
    if (ShapedType::isDynamic(stride) || stride % lanes != 0)
      return false;
  const Digit &digit = window.dims[layout.laneDim].back();
  const Slice &slice = layout.slices[layout.laneDim];
  return slice.at % lanes == 0 &&
         getKnownDivisor(window.offsets[digit.dim]) % lanes == 0;
}

/// At the top of the function: is the memory aligned, and has it more bytes?
static Value makeCondition(OpBuilder &b, Location loc, Value memory,
                           int64_t alignment, int64_t bytes) {
  auto type = cast<MemRefType>(memory.getType());
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value).getResult();
  };
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  Value rest = arith::AndIOp::create(b, loc, address, constant(alignment - 1));
  Value condition = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          rest, constant(0));
  if (type.hasStaticShape())
    return condition;
  Value size = constant(type.getElementTypeBitWidth() / 8);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    size = arith::MulIOp::create(b, loc, size,
                                 memref::DimOp::create(b, loc, memory, dim));
  Value large = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, size,
                                      constant(bytes));
  return arith::AndIOp::create(b, loc, condition, large);
}

/// Whether what is stored here goes past the caches; null: never.
Value KernelLowering::streamsTo(const Window &window, const Layout &layout) {
  std::optional<int64_t> bytes = getStreamBytes(root);
  Value argument = argumentOf(window.memref);
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!bytes || !type || !isa<BlockArgument>(argument) ||
      !type.getLayout().isIdentity() || layout.lanes == 1)
    return {};
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  if (layout.lanes * elementBytes != unit.bytes ||
      (type.hasStaticShape() &&
       type.getNumElements() * elementBytes <= *bytes) ||
      !areVectorsAligned(window, layout))
    return {};
  Value &condition = streams[argument];
  if (!condition) {
    OpBuilder atEntry = OpBuilder::atBlockBegin(entry);
    condition = makeCondition(atEntry, root->getLoc(), mapped(argument),
                              unit.bytes, *bytes);
  }
  return condition;
}
