// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Maps places of results to places of operands.
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
/// The dims of a value, by the place that covers them.
struct Cover {
  SmallVector<unsigned> placeOf;               // by dim
  SmallVector<SmallVector<unsigned>> realDims; // by place, without unit dims

  Cover(ArrayRef<Place> places, ArrayRef<AffineExpr> dims) {
    unsigned dim = 0;
    for (auto [i, place] : llvm::enumerate(places)) {
      SmallVector<unsigned> &real = realDims.emplace_back();
      for (unsigned k = 0; k < place.span && dim < dims.size(); ++k, ++dim) {
        placeOf.push_back(i);
        if (!isUnit(dims[dim]))
          real.push_back(dim);
      }
    }
  }
};
} // namespace

/// Implements mapPlaces without splitting places.
static FailureOr<Places> mapWholePlaces(KernelEmitter &e,
                                        ArrayRef<Place> places, Value result,
                                        Value operand,
                                        ArrayRef<int64_t> dimMap) {
  Dims resultDims = getDims(result), operandDims = getDims(operand);
  bool same = areEqual(resultDims, operandDims);
  for (auto [dim, target] : llvm::enumerate(dimMap))
    same &= target == int64_t(dim);
  if (same)
    return Places(places);
  Cover cover(places, resultDims);
  Places mapped;
  ArrayRef<unsigned> open; // dims of the current place
  auto unitPlace = [&] { return Place{e.index(0), -1, 1, 1}; };
  for (auto [dim, size] : llvm::enumerate(operandDims)) {
    if (isUnit(size)) {
      if (open.empty())
        mapped.push_back(unitPlace());
      else
        ++mapped.back().span;
      continue;
    }
    int64_t target = dimMap[dim];
    if (target < 0 || !areEqual(size, resultDims[target])) {
      Value extent = e.splitsPoints ? e.size(size) : Value();
      bool isPoint = extent && target >= 0 && open.empty() &&
                     places[cover.placeOf[target]].span == 1 &&
                     places[cover.placeOf[target]].axis < 0;
      if (!isPoint)
        return e.fail("it is unknown whether a dim is broadcast");
      Value offset = places[cover.placeOf[target]].offset;
      mapped.push_back({e.min(offset, e.sub(extent, e.index(1))), -1, 1, 1});
      continue;
    }
    if (open.empty()) {
      Place place = places[cover.placeOf[target]];
      place.span = 0;
      mapped.push_back(place);
      open = cover.realDims[cover.placeOf[target]];
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

FailureOr<Places> KernelEmitter::mapPlaces(ArrayRef<Place> places, Value result,
                                           Value operand,
                                           ArrayRef<int64_t> dimMap) {
  auto mapped = mapWholePlaces(*this, places, result, operand, dimMap);
  if (succeeded(mapped) || !splitsPoints)
    return mapped;
  auto split = splitPlaces(places, result, /*keepsTiles=*/true);
  if (failed(split))
    return failure();
  return mapWholePlaces(*this, *split, result, operand, dimMap);
}

FailureOr<Places> KernelEmitter::splitPlaces(ArrayRef<Place> places,
                                             Value value, bool keepsTiles) {
  Dims dims = getDims(value);
  Cover cover(places, dims);
  Places split;
  unsigned dim = 0;
  for (auto [i, place] : llvm::enumerate(places)) {
    unsigned end = dim + place.span;
    ArrayRef<unsigned> real = cover.realDims[i];
    if (place.span == 1 || real.size() <= 1) {
      for (; dim < end; ++dim) {
        bool carries = place.span == 1 ||
                       (real.empty() ? dim + 1 == end : real.front() == dim);
        Place &part =
            split.emplace_back(carries ? place : Place{index(0), -1, 1, 1});
        part.span = 1;
      }
      continue;
    }
    if (place.axis >= 0 && !keepsTiles)
      return fail("a tile axis runs along several dims that cannot be merged");
    if (place.axis >= 0) {
      split.push_back(place);
      dim = end;
      continue;
    }
    SmallVector<Place> parts;
    Value rest = place.offset;
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

FailureOr<Places> KernelEmitter::alignPlaces(ArrayRef<Place> places,
                                             Value value,
                                             ArrayRef<unsigned> boundaries) {
  unsigned dim = 0;
  for (const Place &place : places) {
    for (unsigned boundary : boundaries)
      if (boundary > dim && boundary < dim + place.span)
        return splitPlaces(places, value);
    dim += place.span;
  }
  return Places(places);
}

/// Returns the memory with the dims of each place merged into one, or null if
/// the layout of the viewed memory does not allow that.
Value KernelEmitter::view(Value memory, ArrayRef<Place> places) {
  if (llvm::all_of(places, [](const Place &place) { return place.span == 1; }))
    return memory;
  std::vector<int64_t> spans;
  SmallVector<ReassociationIndices> groups;
  int64_t dim = 0;
  for (const Place &place : places) {
    spans.push_back(place.span);
    ReassociationIndices &group = groups.emplace_back();
    for (unsigned i = 0; i < place.span; ++i)
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

/// Ends places where their axes end. Returns true if all such axes have a
/// place.
bool KernelEmitter::endAxes(MutableArrayRef<Place> places) const {
  return llvm::all_of(axisEnds, [&](auto &entry) {
    auto [start, end] = entry.second;
    auto place = llvm::find_if(places, [&, start = start](const Place &place) {
      return place.axis == entry.first && place.offset == start &&
             place.stride == 1 && !place.end;
    });
    if (place == places.end())
      return false;
    place->end = end;
    return true;
  });
}

/// Creates a view that ends where places do.
static Value cutView(OpBuilder &b, tile::ViewOp view, ArrayRef<Place> places) {
  auto type = cast<MemRefType>(view.getResult().getType());
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  for (auto [place, size] : llvm::zip_equal(places, view.getMixedSizes())) {
    Value own = place.end ? place.end : dyn_cast<Value>(size);
    auto known =
        place.end ? std::optional<int64_t>() : getConstantIntValue(size);
    shape.push_back(known.value_or(ShapedType::kDynamic));
    if (!known)
      sizes.push_back(own);
  }
  auto cut = MemRefType::get(shape, type.getElementType(), type.getLayout());
  return tile::ViewOp::create(b, view.getLoc(), cut, view.getSource(), sizes,
                              shape);
}

/// Returns the memory up to the ends of places. Ends are computed at the top of
/// the kernel, except those of axes.
Value KernelEmitter::cutAtEnds(Value memory, ArrayRef<Place> places) {
  if (llvm::none_of(places, [](const Place &place) { return place.end; }))
    return memory;
  std::vector<int64_t> key;
  for (const Place &place : places)
    key.push_back(reinterpret_cast<intptr_t>(place.end.getAsOpaquePointer()));
  Value &known = cuts[{memory.getAsOpaquePointer(), key}];
  if (known)
    return known;
  auto type = cast<MemRefType>(memory.getType());
  auto make = [&]() -> Value {
    if (auto view = memory.getDefiningOp<tile::ViewOp>())
      return cutView(b, view, places);
    SmallVector<OpFoldResult> offsets(places.size(), b.getIndexAttr(0)),
        steps(places.size(), b.getIndexAttr(1)), sizes;
    for (auto [dim, place] : llvm::enumerate(places)) {
      if (place.end)
        sizes.push_back(getAsOpFoldResult(place.end));
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
    for (const Place &place : places)
      if (place.end == ends.second) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointAfterValue(ends.second);
        return known = make();
      }
  return known = atTop(make);
}

/// Returns the place of a dim, or null if it shares its place with other dims.
static Place *placeOfDim(MutableArrayRef<Place> places, unsigned dim) {
  unsigned first = 0;
  for (Place &place : places) {
    if (dim < first + place.span)
      return place.span == 1 ? &place : nullptr;
    first += place.span;
  }
  return nullptr;
}

/// Keeps axes along dims of size 1: operands do not have them, but an output is
/// stored along all axes of its tile.
static void keepUnitAxes(MutableArrayRef<Place> from, ArrayRef<int64_t> perm,
                         Value output, MutableArrayRef<Place> to) {
  for (auto [dim, size] : llvm::enumerate(getDims(output))) {
    if (!isUnit(size))
      continue;
    Place *source = placeOfDim(from, perm[dim]), *target = placeOfDim(to, dim);
    if (source && target && source->axis >= 0)
      *target = *source;
  }
}

FailureOr<Places> KernelEmitter::outputPlaces(Value output, Value anchor,
                                              ArrayRef<Place> places) {
  if (output == anchor)
    return Places(places);
  Operation *op = output.getDefiningOp();
  if (auto transpose = dyn_cast_or_null<TransposeOp>(op)) {
    auto inner = outputPlaces(transpose.getInput(), anchor, places);
    if (failed(inner))
      return failure();
    auto where =
        mapPlaces(*inner, transpose.getInput(), output, transpose.getPerm());
    if (succeeded(where))
      keepUnitAxes(*inner, transpose.getPerm(), output, *where);
    return where;
  }
  if (isa_and_nonnull<ElementwiseOpInterface, BatchNormOp>(op)) {
    for (Value operand : op->getOperands())
      if (areEqual(getDims(operand), getDims(output)))
        if (auto inner = outputPlaces(operand, anchor, places);
            succeeded(inner))
          return inner;
  }
  return fail("an output is not an elementwise function of the anchor");
}

LogicalResult KernelEmitter::storeOutputs(Value anchor,
                                          ArrayRef<Place> places) {
  return storeOutputs(Anchor{anchor, Places(places)});
}

LogicalResult KernelEmitter::storeOutputs(ArrayRef<Anchor> anchors) {
  for (auto [i, output] : llvm::enumerate(outputValues)) {
    FailureOr<Places> where = failure();
    for (const auto &[anchor, places] : anchors)
      if (succeeded(where = outputPlaces(output, anchor, places)))
        break;
    if (failed(where))
      return failure();
    auto tile = emit(output, *where);
    if (failed(tile))
      return failure();
    for (int axis : tile->axes)
      if (llvm::none_of(*where,
                        [&](auto &place) { return place.axis == axis; }))
        return fail("a tile axis runs along a unit dim");
    if (failed(storeOutput(*tile, i, *where)))
      return failure();
  }
  return success();
}
