// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Maps ranges of results to ranges of operands.
#include "KernelEmitter.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

static bool isUnit(AffineExpr size) { return size && getConstant(size) == 1; }

SmallVector<int64_t> KernelEmitter::alignRight(unsigned operandRank,
                                               unsigned resultRank) {
  SmallVector<int64_t> map;
  for (unsigned dim = 0; dim < operandRank; ++dim)
    map.push_back(int64_t(dim) + resultRank - operandRank);
  return map;
}

namespace {
/// The dims of a value, by the range that covers them.
struct Cover {
  SmallVector<unsigned> rangeOf;               // by dim
  SmallVector<SmallVector<unsigned>> realDims; // by range, without unit dims

  Cover(ArrayRef<DimRange> ranges, ArrayRef<AffineExpr> dims) {
    unsigned dim = 0;
    for (auto [i, range] : llvm::enumerate(ranges)) {
      SmallVector<unsigned> &real = realDims.emplace_back();
      for (unsigned k = 0; k < range.span && dim < dims.size(); ++k, ++dim) {
        rangeOf.push_back(i);
        if (!isUnit(dims[dim]))
          real.push_back(dim);
      }
    }
  }
};
} // namespace

/// Implements mapRanges without splitting ranges.
static FailureOr<DimRanges> mapWholeRanges(KernelEmitter &e,
                                           ArrayRef<DimRange> ranges,
                                           Value result, Value operand,
                                           ArrayRef<int64_t> dimMap) {
  Dims resultDims = getDims(result), operandDims = getDims(operand);
  bool same = areEqual(resultDims, operandDims);
  for (auto [dim, target] : llvm::enumerate(dimMap))
    same &= target == int64_t(dim);
  if (same)
    return DimRanges(ranges);
  Cover cover(ranges, resultDims);
  DimRanges mapped;
  ArrayRef<unsigned> open; // dims of the current range
  auto unitRange = [&] { return DimRange{e.index(0), -1, 1, 1}; };
  for (auto [dim, size] : llvm::enumerate(operandDims)) {
    if (isUnit(size)) {
      if (open.empty())
        mapped.push_back(unitRange());
      else
        ++mapped.back().span;
      continue;
    }
    int64_t target = dimMap[dim];
    if (target < 0 || !areEqual(size, resultDims[target])) {
      Value extent = e.splitsPoints ? e.size(size) : Value();
      bool isPoint = extent && target >= 0 && open.empty() &&
                     ranges[cover.rangeOf[target]].span == 1 &&
                     ranges[cover.rangeOf[target]].axis < 0;
      if (!isPoint)
        return e.fail("it is unknown whether a dim is broadcast");
      Value offset = ranges[cover.rangeOf[target]].offset;
      mapped.push_back({e.min(offset, e.sub(extent, e.index(1))), -1, 1, 1});
      continue;
    }
    if (open.empty()) {
      DimRange range = ranges[cover.rangeOf[target]];
      range.span = 0;
      mapped.push_back(range);
      open = cover.realDims[cover.rangeOf[target]];
    }
    if (open.front() != target)
      return e.fail("merged dims are separate in an operand");
    ++mapped.back().span;
    open = open.drop_front();
  }
  if (!open.empty())
    return e.fail("an operand has only some of the merged dims");
  return mapped;
}

FailureOr<DimRanges> KernelEmitter::mapRanges(ArrayRef<DimRange> ranges,
                                              Value result, Value operand,
                                              ArrayRef<int64_t> dimMap) {
  auto mapped = mapWholeRanges(*this, ranges, result, operand, dimMap);
  if (succeeded(mapped) || !splitsPoints)
    return mapped;
  auto split = splitRanges(ranges, result, /*keepsTiles=*/true);
  if (failed(split))
    return failure();
  return mapWholeRanges(*this, *split, result, operand, dimMap);
}

FailureOr<DimRanges> KernelEmitter::splitRanges(ArrayRef<DimRange> ranges,
                                                Value value, bool keepsTiles) {
  Dims dims = getDims(value);
  Cover cover(ranges, dims);
  DimRanges split;
  unsigned dim = 0;
  for (auto [i, range] : llvm::enumerate(ranges)) {
    unsigned end = dim + range.span;
    ArrayRef<unsigned> real = cover.realDims[i];
    if (range.span == 1 || real.size() <= 1) {
      for (; dim < end; ++dim) {
        bool carries = range.span == 1 ||
                       (real.empty() ? dim + 1 == end : real.front() == dim);
        DimRange &part =
            split.emplace_back(carries ? range : DimRange{index(0), -1, 1, 1});
        part.span = 1;
      }
      continue;
    }
    if (range.axis >= 0 && !keepsTiles)
      return fail("a tile axis runs along several dims that cannot be merged");
    if (range.axis >= 0) {
      split.push_back(range);
      dim = end;
      continue;
    }
    SmallVector<DimRange> parts;
    Value rest = range.offset;
    for (unsigned inner = end; inner-- > dim;) {
      Value extent = size(dims[inner]);
      if (!extent)
        return failure();
      parts.push_back({inner == dim ? rest : rem(rest, extent), -1, 1, 1});
      if (inner != dim)
        rest = div(rest, extent);
    }
    llvm::append_range(split, llvm::reverse(parts));
    dim = end;
  }
  return split;
}

FailureOr<DimRanges> KernelEmitter::alignRanges(ArrayRef<DimRange> ranges,
                                                Value value,
                                                ArrayRef<unsigned> boundaries) {
  unsigned dim = 0;
  for (const DimRange &range : ranges) {
    for (unsigned boundary : boundaries)
      if (boundary > dim && boundary < dim + range.span)
        return splitRanges(ranges, value);
    dim += range.span;
  }
  return DimRanges(ranges);
}

/// Returns the memory with the dims of each range merged into one, or null if
/// the layout of the viewed memory does not allow that.
Value KernelEmitter::view(Value memory, ArrayRef<DimRange> ranges) {
  if (llvm::all_of(ranges,
                   [](const DimRange &range) { return range.span == 1; }))
    return memory;
  std::vector<int64_t> spans;
  SmallVector<ReassociationIndices> groups;
  int64_t dim = 0;
  for (const DimRange &range : ranges) {
    spans.push_back(range.span);
    ReassociationIndices &group = groups.emplace_back();
    for (unsigned i = 0; i < range.span; ++i)
      group.push_back(dim++);
  }
  Value &known = views[{memory.getAsOpaquePointer(), spans}];
  if (auto moved = movedMemory.find(memory); moved != movedMemory.end()) {
    SmallVector<unsigned> counts(spans.begin(), spans.end());
    if (!known)
      known = this->moved(moved->second.memory, moved->second.move, counts,
                          moved->second.value);
    return known;
  }
  if (!known)
    known = atTop([&]() -> Value {
      return memref::CollapseShapeOp::create(b, location, memory, groups);
    });
  return known;
}

void KernelEmitter::setEnd(int axis, Value start, Value end) {
  axisEnds[axis] = {start, end};
}

/// Ends ranges where their axes end. Returns true if all such axes have a
/// range.
bool KernelEmitter::endAxes(MutableArrayRef<DimRange> ranges) const {
  return llvm::all_of(axisEnds, [&](auto &entry) {
    auto [start, end] = entry.second;
    auto range =
        llvm::find_if(ranges, [&, start = start](const DimRange &range) {
          return range.axis == entry.first && range.offset == start &&
                 range.stride == 1 && !range.end;
        });
    if (range == ranges.end())
      return false;
    range->end = end;
    return true;
  });
}

/// Creates a view that ends where ranges do.
static Value tileView(OpBuilder &b, tile::ViewOp view,
                      ArrayRef<DimRange> ranges) {
  auto type = cast<MemRefType>(view.getResult().getType());
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  for (auto [range, size] : llvm::zip_equal(ranges, view.getMixedSizes())) {
    Value own = range.end ? range.end : dyn_cast<Value>(size);
    auto known =
        range.end ? std::optional<int64_t>() : getConstantIntValue(size);
    shape.push_back(known.value_or(ShapedType::kDynamic));
    if (!known)
      sizes.push_back(own);
  }
  auto tiling = MemRefType::get(shape, type.getElementType(), type.getLayout());
  return tile::ViewOp::create(b, view.getLoc(), tiling, view.getSource(), sizes,
                              shape);
}

/// Returns the memory up to the ends of ranges. Ends are computed at the top of
/// the kernel, except those of axes.
Value KernelEmitter::clampAtEnds(Value memory, ArrayRef<DimRange> ranges) {
  if (llvm::none_of(ranges, [](const DimRange &range) { return range.end; }))
    return memory;
  std::vector<int64_t> key;
  for (const DimRange &range : ranges)
    key.push_back(reinterpret_cast<intptr_t>(range.end.getAsOpaquePointer()));
  Value &known = clamped[{memory.getAsOpaquePointer(), key}];
  if (known)
    return known;
  auto type = cast<MemRefType>(memory.getType());
  auto make = [&]() -> Value {
    if (auto view = memory.getDefiningOp<tile::ViewOp>())
      return tileView(b, view, ranges);
    SmallVector<OpFoldResult> offsets(ranges.size(), b.getIndexAttr(0)),
        steps(ranges.size(), b.getIndexAttr(1)), sizes;
    for (auto [dim, range] : llvm::enumerate(ranges)) {
      if (range.end)
        sizes.push_back(getAsOpFoldResult(range.end));
      else if (type.isDynamicDim(dim))
        sizes.push_back(
            memref::DimOp::create(b, location, memory, dim).getResult());
      else
        sizes.push_back(b.getIndexAttr(type.getDimSize(dim)));
    }
    return memref::SubViewOp::create(b, location, memory, offsets, sizes,
                                     steps);
  };
  for (auto [axis, ends] : axisEnds)
    for (const DimRange &range : ranges)
      if (range.end == ends.second) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointAfterValue(ends.second);
        return known = make();
      }
  return known = atTop(make);
}

/// Returns the range of a dim, or null if it shares its range with other dims.
static DimRange *rangeOfDim(MutableArrayRef<DimRange> ranges, unsigned dim) {
  unsigned first = 0;
  for (DimRange &range : ranges) {
    if (dim < first + range.span)
      return range.span == 1 ? &range : nullptr;
    first += range.span;
  }
  return nullptr;
}

/// Keeps axes along dims of size 1: operands do not have them, but an output is
/// stored along all axes of its tile.
static void keepUnitAxes(MutableArrayRef<DimRange> from, ArrayRef<int64_t> perm,
                         Value output, MutableArrayRef<DimRange> to) {
  for (auto [dim, size] : llvm::enumerate(getDims(output))) {
    if (!isUnit(size))
      continue;
    DimRange *source = rangeOfDim(from, perm[dim]),
             *target = rangeOfDim(to, dim);
    if (source && target && source->axis >= 0)
      *target = *source;
  }
}

FailureOr<DimRanges> KernelEmitter::outputRanges(Value output, Value anchor,
                                                 ArrayRef<DimRange> ranges) {
  if (output == anchor)
    return DimRanges(ranges);
  Operation *op = output.getDefiningOp();
  if (auto transpose = dyn_cast_or_null<TransposeOp>(op)) {
    auto inner = outputRanges(transpose.getInput(), anchor, ranges);
    if (failed(inner))
      return failure();
    auto where =
        mapRanges(*inner, transpose.getInput(), output, transpose.getPerm());
    if (succeeded(where))
      keepUnitAxes(*inner, transpose.getPerm(), output, *where);
    return where;
  }
  if (isa_and_nonnull<ElementwiseOpInterface, BatchNormOp>(op)) {
    for (Value operand : op->getOperands())
      if (areEqual(getDims(operand), getDims(output)))
        if (auto inner = outputRanges(operand, anchor, ranges);
            succeeded(inner))
          return inner;
  }
  return fail("an output is not an elementwise function of the anchor");
}

LogicalResult KernelEmitter::storeOutputs(Value anchor,
                                          ArrayRef<DimRange> ranges) {
  return storeOutputs(Anchor{anchor, DimRanges(ranges)});
}

LogicalResult KernelEmitter::storeOutputs(ArrayRef<Anchor> anchors) {
  for (auto [i, output] : llvm::enumerate(outputValues)) {
    FailureOr<DimRanges> where = failure();
    for (const auto &[anchor, ranges] : anchors)
      if (succeeded(where = outputRanges(output, anchor, ranges)))
        break;
    if (failed(where))
      return failure();
    auto tile = emit(output, *where);
    if (failed(tile))
      return failure();
    for (int axis : tile->axes)
      if (llvm::none_of(*where,
                        [&](auto &range) { return range.axis == axis; }))
        return fail("a tile axis runs along a unit dim");
    if (failed(storeOutput(*tile, i, *where)))
      return failure();
  }
  return success();
}
