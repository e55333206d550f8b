// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Gathers: either the index is a scalar of the program and the tile runs along
// the dims that are not indexed, or the lanes hold indices.
#include "Dialect/Graph/IR/Checks.h"
#include "Dialect/Tile/IR/Faults.h"
#include "Families.h"
#include "Lookups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Returns true if tiles of the tensor hold 0 outside of its bounds. Loaded
/// tiles do, unless the kernel combines elements with another neutral element.
static bool isZeroBeyond(KernelEmitter &e, Value tensor) {
  while (auto cast = tensor.getDefiningOp<CastOp>())
    tensor = cast.getInput();
  auto isPlain = [](Operation &op) {
    return isa<ElementwiseOpInterface, GatherOp, GatherElementsOp, GatherNDOp>(
               op) ||
           op.hasTrait<OpTrait::ConstantLike>();
  };
  return e.getMemory(tensor) &&
         llvm::all_of(e.getSource().getBody().front().without_terminator(),
                      isPlain);
}

/// Emits the check that the positions of a gather are in [0, extent), if the
/// gather requires it. For index tuples, `column` is the element of the tuple.
static LogicalResult emitCheck(KernelEmitter &e, Operation *lookup,
                               Value indices, ArrayRef<DimRange> ranges,
                               Emitted positions, Value extent,
                               int64_t column) {
  std::optional<int64_t> fault = getFault(lookup, column);
  if (!fault)
    return success();
  OpBuilder &b = e.builder();
  Dims dims = getDims(indices);
  ArrayRef<AffineExpr> rest = dims;
  for (const DimRange &range : ranges) {
    ArrayRef<AffineExpr> spanned = rest.take_front(range.span);
    rest = rest.drop_front(range.span);
    if (!llvm::is_contained(positions.axes, range.axis) ||
        isZeroBeyond(e, indices))
      continue;
    Value end =
        range.end ? range.end : e.size(product(indices.getContext(), spanned));
    if (!end)
      return failure();
    if (range.stride != 1)
      return e.fail("checked indices have a stride");
    Emitted inside = e.emitInside(range.axis, range.offset, end);
    positions.value = arith::SelectOp::create(
        b, e.loc(), e.broadcast(inside, positions.axes), positions.value,
        e.broadcast({e.index(0), {}}, positions.axes));
  }
  tile::CheckOp::create(b, e.loc(), positions.value, extent, *fault);
  return success();
}

Emitted adze::countFromEnd(KernelEmitter &e, const Emitted &indices,
                           Value extent) {
  OpBuilder &b = e.builder();
  const Axes &axes = indices.axes;
  auto all = [&](Value scalar) { return e.broadcast({scalar, {}}, axes); };
  Type type = b.getIndexType();
  if (!axes.empty())
    type = e.tileType(axes, type);
  Value index = arith::IndexCastOp::create(b, e.loc(), type, indices.value);
  Value negative = arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::slt,
                                         index, all(e.index(0)));
  Value fromEnd = arith::AddIOp::create(b, e.loc(), index, all(extent));
  return {arith::SelectOp::create(b, e.loc(), negative, fromEnd, index), axes};
}

Emitted adze::clampPositions(KernelEmitter &e, Operation *lookup,
                             const Emitted &positions, Value extent) {
  OpBuilder &b = e.builder();
  auto all = [&](Value scalar) {
    return e.broadcast({scalar, {}}, positions.axes);
  };
  // This form saves one operation, which the check uses.
  if (getFault(lookup)) {
    Value last = e.sub(e.max(extent, e.index(1)), e.index(1));
    return {arith::MinUIOp::create(b, e.loc(), positions.value, all(last)),
            positions.axes};
  }
  Value last = e.sub(extent, e.index(1));
  Value below = arith::MinSIOp::create(b, e.loc(), positions.value, all(last));
  return {arith::MaxSIOp::create(b, e.loc(), below, all(e.index(0))),
          positions.axes};
}

/// Emits positions in [0, extent) from the index tensor of a gather, or from a
/// column of index tuples.
static FailureOr<Emitted> emitIndices(KernelEmitter &e, Operation *lookup,
                                      Value indices, ArrayRef<DimRange> ranges,
                                      Value extent, int64_t column = 0) {
  if (!extent)
    return failure();
  // A tile of one element along an axis has one position.
  DimRanges points(ranges);
  for (DimRange &range : points)
    if (range.axis >= 0 && getConstantIntValue(e.getAxisSize(range.axis)) == 1)
      range = DimRange{range.offset, -1, 1, range.span};
  auto element = e.emit(indices, points);
  if (failed(element))
    return failure();
  Emitted positions = countFromEnd(e, *element, extent);
  if (failed(emitCheck(e, lookup, indices, points, positions, extent, column)))
    return failure();
  return clampPositions(e, lookup, positions, extent);
}

FailureOr<Value> adze::emitIndex(KernelEmitter &e, Operation *lookup,
                                 Value indices, ArrayRef<DimRange> ranges,
                                 Value extent, int64_t column) {
  auto picked = emitIndices(e, lookup, indices, ranges, extent, column);
  if (failed(picked))
    return failure();
  if (!picked->axes.empty())
    return e.fail("a tile axis runs along gathered dims");
  return picked->value;
}

/// Emits the elements of `memory`, that of `data` or a view of it, at these
/// ranges, with a tile of positions along dim `axis`.
static FailureOr<Emitted> emitPickedTile(KernelEmitter &e, Value data,
                                         Value memory, unsigned axis,
                                         DimRanges ranges,
                                         const Emitted &picked) {
  ranges[axis] = point(e.index(0));
  Axes axes(picked.axes);
  for (const DimRange &range : ranges)
    if (range.axis >= 0 && !llvm::is_contained(axes, range.axis))
      axes.push_back(range.axis);
  llvm::sort(axes);
  if (!llvm::is_contained(picked.axes, axes.back()))
    return e.fail("a tile axis runs along gathered dims");
  if (!memory || getElementTypeOrSelf(data.getType()).isInteger(1))
    return e.fail("gathered elements are not in a plain buffer");
  if (llvm::any_of(ranges,
                   [](const DimRange &range) { return range.span != 1; }))
    return e.fail("a tile axis runs along several dims that cannot be merged");
  return emitGathered(e, memory, ranges, axis, picked, axes);
}

/// Emits the elements of `data` at these ranges, with the indices as positions
/// along dim `axis`. If a tile of indices is needed, the lanes hold indices;
/// otherwise the kernel is tiled by single rows, and lanes are along other
/// dims.
static FailureOr<Emitted> emitPicked(KernelEmitter &e, Value data,
                                     unsigned axis, DimRanges ranges,
                                     const Emitted &picked) {
  if (!picked.axes.empty())
    return emitPickedTile(e, data, e.getMemory(data), axis, ranges, picked);
  ranges[axis] = point(picked.value);
  return e.emit(data, ranges);
}

FailureOr<Emitted> KernelEmitter::emitGather(GatherOp op,
                                             ArrayRef<DimRange> ranges) {
  unsigned axis = op.getAxis();
  unsigned indexRank = getDims(op.getIndices()).size();
  auto aligned = alignRanges(ranges, op.getResult(), {axis, axis + indexRank});
  if (failed(aligned))
    return failure();
  DimRanges data, indices;
  unsigned dim = 0;
  bool inserted = false;
  for (const DimRange &range : *aligned) {
    if (!inserted && dim >= axis + indexRank) {
      data.push_back(DimRange{});
      inserted = true;
    }
    (dim >= axis && dim < axis + indexRank ? indices : data).push_back(range);
    dim += range.span;
  }
  if (!inserted)
    data.push_back(DimRange{});
  auto picked = emitIndices(*this, op, op.getIndices(), indices,
                            size(op.getData(), axis));
  if (failed(picked))
    return failure();
  unsigned own =
      llvm::find_if(data, [](const DimRange &range) { return !range.offset; }) -
      data.begin();
  return emitPicked(*this, op.getData(), own, data, *picked);
}

FailureOr<Emitted>
KernelEmitter::emitGatherElements(GatherElementsOp op,
                                  ArrayRef<DimRange> ranges) {
  auto split = splitRanges(ranges, op.getResult());
  if (failed(split))
    return failure();
  unsigned axis = op.getAxis();
  auto picked =
      emitIndices(*this, op, op.getIndices(), *split, size(op.getData(), axis));
  if (failed(picked))
    return failure();
  return emitPicked(*this, op.getData(), axis, *split, *picked);
}

Value adze::mergeDims(KernelEmitter &e, Value memory, int64_t first,
                      int64_t count) {
  if (count == 1)
    return memory;
  int64_t rank = cast<MemRefType>(memory.getType()).getRank();
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim > first && dim < first + count)
      groups.back().push_back(dim);
    else
      groups.push_back({dim});
  return memref::CollapseShapeOp::create(e.builder(), e.loc(), memory, groups);
}

/// Returns the positions along the merged dims of the data that tuples of
/// positions select.
static Emitted joinPositions(KernelEmitter &e, GatherNDOp op, unsigned first,
                             ArrayRef<Emitted> tuple) {
  OpBuilder &b = e.builder();
  Emitted all = tuple.front();
  for (auto [i, next] : llvm::enumerate(tuple.drop_front())) {
    Value size = e.size(op.getData(), first + i + 1);
    Value scaled = arith::MulIOp::create(b, e.loc(), all.value,
                                         e.broadcast({size, {}}, all.axes));
    all.value = arith::AddIOp::create(b, e.loc(), scaled, next.value);
  }
  return all;
}

FailureOr<Emitted> KernelEmitter::emitGatherND(GatherNDOp op,
                                               ArrayRef<DimRange> ranges) {
  unsigned outer = getDims(op.getIndices()).size() - 1;
  auto aligned = alignRanges(ranges, op.getResult(), {outer});
  if (succeeded(aligned) && op.getBatchDims() > 0)
    aligned = splitRanges(*aligned, op.getResult());
  if (failed(aligned))
    return failure();
  auto tuple = getConstant(getDims(op.getIndices()).back());
  if (!tuple)
    return fail("index tuples have a dynamic length");
  DimRanges prefix, rest;
  unsigned dim = 0;
  for (const DimRange &range : *aligned) {
    (dim < outer ? prefix : rest).push_back(range);
    dim += range.span;
  }
  unsigned batch = op.getBatchDims();
  DimRanges data(prefix.begin(), prefix.begin() + batch);
  SmallVector<Emitted> picked;
  for (int64_t i = 0; i < *tuple; ++i) {
    DimRanges where = prefix;
    where.push_back(point(index(i)));
    auto each = emitIndices(*this, op, op.getIndices(), where,
                            size(op.getData(), batch + i), i);
    if (failed(each))
      return failure();
    picked.push_back(*each);
  }
  if (!picked.front().axes.empty()) {
    // A core takes twice as long for vectors of positions as for single ones.
    if (!gpu)
      return fail("a tile axis runs along gathered dims");
    data.push_back({});
    llvm::append_range(data, rest);
    Value memory = getMemory(op.getData());
    if (memory)
      memory = mergeDims(*this, memory, batch, *tuple);
    return emitPickedTile(*this, op.getData(), memory, batch, data,
                          joinPositions(*this, op, batch, picked));
  }
  for (const Emitted &each : picked)
    data.push_back(point(each.value));
  llvm::append_range(data, rest);
  return emit(op.getData(), data);
}

FailureOr<Emitted> adze::emitGathered(KernelEmitter &e, Value memory,
                                      ArrayRef<DimRange> ranges, unsigned along,
                                      const Emitted &positions,
                                      ArrayRef<int> axes) {
  OpBuilder &b = e.builder();
  OperationState state(e.loc(), tile::GatherOp::getOperationName());
  SmallVector<Value> offsets;
  SmallVector<int64_t> fixed, dims(axes.size(), -1), strides(axes.size(), 1);
  for (auto [dim, range] : llvm::enumerate(ranges)) {
    auto constant = getConstantIntValue(range.offset);
    fixed.push_back(constant.value_or(ShapedType::kDynamic));
    if (!constant)
      offsets.push_back(range.offset);
    if (dim == along || range.axis < 0)
      continue;
    size_t i = llvm::find(axes, range.axis) - axes.begin();
    dims[i] = dim;
    strides[i] = range.stride;
  }
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  state.addOperands(memory);
  state.addOperands(offsets);
  state.addOperands(e.broadcast(positions, axes));
  state.addAttribute("static_offsets", b.getDenseI64ArrayAttr(fixed));
  state.addAttribute("along", b.getI64IntegerAttr(along));
  state.addAttribute("dims", b.getDenseI64ArrayAttr(dims));
  if (llvm::any_of(strides, [](int64_t stride) { return stride != 1; }))
    state.addAttribute("strides", b.getDenseI64ArrayAttr(strides));
  state.addTypes(e.tileType(axes, element));
  return Emitted{b.create(state)->getResult(0), Axes(axes)};
}
