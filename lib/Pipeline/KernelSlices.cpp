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

/// The part of the last dimension of the memory that a view has; none where it
/// is not known, or where users of the view depend on its type.
static std::optional<std::pair<int64_t, int64_t>>
getLastRange(memref::SubViewOp view) {
  int64_t begin = view.getStaticOffsets().back(),
          size = view.getStaticSizes().back();
  bool areAccesses = llvm::all_of(view->getUsers(), [](Operation *user) {
    return isa<tile::LoadOp, tile::StoreOp, memref::DimOp>(user);
  });
  if (!areAccesses || view.getDroppedDims().any() ||
      view.getStaticStrides().back() != 1 || ShapedType::isDynamic(begin) ||
      ShapedType::isDynamic(size))
    return std::nullopt;
  return std::pair(begin, begin + size);
}

static std::optional<std::pair<int64_t, int64_t>>
getLastRange(Operation *access, Value memref) {
  if (auto view = dyn_cast<memref::SubViewOp>(access))
    return getLastRange(view);
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

/// Returns true if the last dimension of the result is that of the operand.
static bool keepsLast(memref::CollapseShapeOp collapse) {
  return collapse.getReassociationIndices().back().size() == 1;
}

/// Extends [begin, end) to the part of the last dimension of memory that is
/// accessed. Fails if it is not known.
static LogicalResult extendRange(Value memory, int64_t &begin, int64_t &end) {
  int64_t last = cast<MemRefType>(memory.getType()).getRank() - 1;
  for (Operation *user : memory.getUsers()) {
    if (asksOtherSize(user, last))
      continue;
    auto collapse = dyn_cast<memref::CollapseShapeOp>(user);
    if (collapse && keepsLast(collapse)) {
      if (failed(extendRange(collapse.getResult(), begin, end)))
        return failure();
      continue;
    }
    auto range = getLastRange(user, memory);
    if (!range)
      return failure();
    begin = std::min(begin, range->first);
    end = std::max(end, range->second);
  }
  return success();
}

static std::optional<KernelSlice> getSlice(BlockArgument argument) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  int64_t last = type ? type.getRank() - 1 : 0;
  if (last < 1 || !type.getLayout().isIdentity() || type.isDynamicDim(last))
    return std::nullopt;
  // Memory that is only the place of an output has no user.
  int64_t size = type.getDimSize(last);
  if (argument.use_empty())
    return KernelSlice{argument.getArgNumber(), size, 0, 0};
  int64_t begin = size, end = 0;
  if (failed(extendRange(argument, begin, end)) || begin >= end || begin < 0 ||
      end > size)
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

/// Makes a view of the argument one of `slice`, where it has the same elements.
static void moveView(memref::SubViewOp view, Value slice, int64_t begin) {
  OpBuilder builder(view);
  SmallVector<OpFoldResult> offsets = view.getMixedOffsets();
  offsets.back() = builder.getIndexAttr(view.getStaticOffsets().back() - begin);
  auto moved =
      memref::SubViewOp::create(builder, view.getLoc(), slice, offsets,
                                view.getMixedSizes(), view.getMixedStrides());
  // The type has other strides, on which no user depends.
  view.getResult().replaceAllUsesWith(moved.getResult());
  view.erase();
}

/// Creates a view of the slice.
static Value createView(OpBuilder &builder, Value memory,
                        const KernelSlice &slice, OpFoldResult begin) {
  Location loc = memory.getLoc();
  auto type = cast<MemRefType>(memory.getType());
  int64_t last = type.getRank() - 1;
  SmallVector<OpFoldResult> offsets(last, builder.getIndexAttr(0)), sizes;
  offsets.push_back(begin);
  for (int64_t dim = 0; dim < last; ++dim)
    sizes.push_back(
        type.isDynamicDim(dim)
            ? OpFoldResult(
                  memref::DimOp::create(builder, loc, memory, dim).getResult())
            : builder.getIndexAttr(type.getDimSize(dim)));
  sizes.push_back(builder.getIndexAttr(slice.width));
  SmallVector<OpFoldResult> steps(last + 1, builder.getIndexAttr(1));
  return memref::SubViewOp::create(builder, loc, memory, offsets, sizes, steps);
}

/// Makes all accesses of memory, an argument or dimensions of it that are
/// collapsed, accesses of a view of the slice, created by `builder`.
static void takeSliceOf(Value memory, OpBuilder &builder,
                        const KernelSlice &slice, OpFoldResult begin) {
  SmallVector<Operation *> users(memory.getUsers());
  Value view = createView(builder, memory, slice, begin);
  auto retarget = [&](auto access) {
    access.getMemrefMutable().assign(view);
    SmallVector<int64_t> places(access.getStaticOffsets());
    places.back() -= slice.begin;
    access.setStaticOffsets(places);
  };
  for (Operation *user : users)
    if (auto load = dyn_cast<tile::LoadOp>(user)) {
      retarget(load);
    } else if (auto store = dyn_cast<tile::StoreOp>(user)) {
      retarget(store);
    } else if (auto part = dyn_cast<memref::SubViewOp>(user)) {
      moveView(part, view, slice.begin);
    } else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(user)) {
      collapse.getResult().setType(
          memref::CollapseShapeOp::computeCollapsedType(
              cast<MemRefType>(memory.getType()),
              collapse.getReassociationIndices()));
      OpBuilder after(collapse->getContext());
      after.setInsertionPointAfter(collapse);
      takeSliceOf(collapse.getResult(), after, slice, begin);
    }
}

void takeSlice(tile::KernelOp kernel, const KernelSlice &slice, AffineExpr size,
               OpFoldResult begin) {
  setLastSize(kernel, slice.argument, size);
  BlockArgument argument = kernel.getArgument(slice.argument);
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  // The accesses follow the computation of the offset.
  if (auto value = dyn_cast<Value>(begin))
    builder.setInsertionPointAfter(value.getDefiningOp());
  takeSliceOf(argument, builder, slice, begin);
}

} // namespace adze
