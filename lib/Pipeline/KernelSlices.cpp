// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Slices of the last dimension of arguments.
#include "KernelSlices.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Host/IR/Host.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <optional>

using namespace mlir;

namespace adze {

/// The part of the last dimension that a load or store accesses; none where it
/// is not known.
template <typename OpT>
static std::optional<std::pair<int64_t, int64_t>>
getLastRange(OpT access, RankedTensorType tile) {
  int64_t begin = access.getStaticOffsets().back(), size = 1;
  SmallVector<int64_t> dims = access.getMemDims();
  int64_t last = access.getStaticOffsets().size() - 1;
  auto found = llvm::find(dims, last);
  if (found != dims.end()) {
    int64_t index = found - dims.begin();
    size = tile.getDimSize(index);
    if (access.getSteps()[index] != 1 || llvm::count(dims, last) != 1)
      return std::nullopt;
  }
  if (ShapedType::isDynamic(begin) || ShapedType::isDynamic(size))
    return std::nullopt;
  return std::pair(begin, begin + size);
}

static std::optional<std::pair<int64_t, int64_t>>
getLastRange(Operation *access, Value memref) {
  if (auto load = dyn_cast<tile::LoadOp>(access))
    return getLastRange(load, load.getType());
  auto store = dyn_cast<tile::StoreOp>(access);
  if (!store || store.getMemref() != memref)
    return std::nullopt;
  return getLastRange(store,
                      cast<RankedTensorType>(store.getValue().getType()));
}

static bool asksOtherSize(Operation *op, int64_t last) {
  auto dim = dyn_cast<memref::DimOp>(op);
  return dim && dim.getConstantIndex() && dim.getConstantIndex() != last;
}

static std::optional<KernelSlice> getSlice(BlockArgument argument) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  int64_t last = type ? type.getRank() - 1 : 0;
  if (last < 1 || !type.getLayout().isIdentity() || type.isDynamicDim(last))
    return std::nullopt;
  int64_t size = type.getDimSize(last), begin = size, end = 0;
  for (Operation *user : argument.getUsers()) {
    if (asksOtherSize(user, last))
      continue;
    auto range = getLastRange(user, argument);
    if (!range || range->first < 0 || range->second > size)
      return std::nullopt;
    begin = std::min(begin, range->first);
    end = std::max(end, range->second);
  }
  if (begin >= end)
    return std::nullopt;
  return KernelSlice{argument.getArgNumber(), size, begin, end - begin};
}

SmallVector<KernelSlice> getSlices(tile::KernelOp kernel) {
  SmallVector<KernelSlice> slices;
  for (BlockArgument argument : kernel.getArguments())
    if (std::optional<KernelSlice> slice = getSlice(argument))
      slices.push_back(*slice);
  return slices;
}

void setArgumentShape(tile::KernelOp kernel, unsigned index,
                      ArrayRef<int64_t> shape) {
  BlockArgument argument = kernel.getArgument(index);
  auto type = cast<MemRefType>(argument.getType());
  argument.setType(MemRefType::get(shape, type.getElementType(),
                                   type.getLayout(), type.getMemorySpace()));
  SmallVector<Type> types(kernel.getArgumentTypes());
  types[index] = argument.getType();
  kernel.setType(FunctionType::get(kernel.getContext(), types, {}));
}

/// Gives the last dimension of an argument another size.
static void setLastSize(tile::KernelOp kernel, unsigned index,
                        AffineExpr size) {
  BlockArgument argument = kernel.getArgument(index);
  auto type = cast<MemRefType>(argument.getType());
  SmallVector<int64_t> shape(type.getShape());
  auto constant = dyn_cast_if_present<AffineConstantExpr>(size);
  shape.back() = constant ? constant.getValue() : ShapedType::kDynamic;
  setArgumentShape(kernel, index, shape);
  if (constant)
    return;
  SmallVector<AffineExpr> dims;
  if (auto map = kernel.getArgAttrOfType<AffineMapAttr>(index, host::dimsAttr))
    dims.append(map.getValue().getResults().begin(),
                map.getValue().getResults().end());
  else
    for (int64_t dim : type.getShape())
      dims.push_back(getAffineConstantExpr(dim, kernel.getContext()));
  dims.back() = size ? size : getAffineConstantExpr(0, kernel.getContext());
  kernel.setArgAttr(
      index, host::dimsAttr,
      AffineMapAttr::get(AffineMap::get(0, graph::countSymbols(dims), dims,
                                        kernel.getContext())));
}

void takeSlice(tile::KernelOp kernel, const KernelSlice &slice, AffineExpr size,
               OpFoldResult begin) {
  setLastSize(kernel, slice.argument, size);
  BlockArgument argument = kernel.getArgument(slice.argument);
  auto type = cast<MemRefType>(argument.getType());
  SmallVector<Operation *> accesses;
  for (Operation *user : argument.getUsers())
    if (isa<tile::LoadOp, tile::StoreOp>(user))
      accesses.push_back(user);
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  // The accesses follow the computation of the offset.
  if (auto value = dyn_cast<Value>(begin))
    builder.setInsertionPointAfter(value.getDefiningOp());
  Location loc = kernel.getLoc();
  int64_t last = type.getRank() - 1;
  SmallVector<OpFoldResult> offsets(last, builder.getIndexAttr(0)), sizes;
  offsets.push_back(begin);
  for (int64_t dim = 0; dim < last; ++dim)
    sizes.push_back(
        type.isDynamicDim(dim)
            ? OpFoldResult(memref::DimOp::create(builder, loc, argument, dim)
                               .getResult())
            : builder.getIndexAttr(type.getDimSize(dim)));
  sizes.push_back(builder.getIndexAttr(slice.width));
  SmallVector<OpFoldResult> steps(last + 1, builder.getIndexAttr(1));
  Value view =
      memref::SubViewOp::create(builder, loc, argument, offsets, sizes, steps);
  auto retarget = [&](auto access) {
    access.getMemrefMutable().assign(view);
    SmallVector<int64_t> places(access.getStaticOffsets());
    places.back() -= slice.begin;
    access.setStaticOffsets(places);
  };
  for (Operation *access : accesses)
    if (auto load = dyn_cast<tile::LoadOp>(access))
      retarget(load);
    else
      retarget(cast<tile::StoreOp>(access));
}

} // namespace adze
