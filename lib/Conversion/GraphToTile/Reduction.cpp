// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over any dims, and the index of the greatest or least element. The
// last dim of the input is along the lanes. If it is kept, the reduced dims are
// loops that carry a tile. If it is reduced, each tile is reduced along it, or
// each lane has an accumulator until its end if tiles do not divide it. On a
// GPU, rows of columns that are kept are walked in the same way: threads have
// accumulators of several rows of a few columns.
// Reductions of the same dims share these loops; one that uses the result of
// another has separate loops after those.
#include "Folds.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// One dim (or merged dims) of the input.
struct Part {
  unsigned begin, end;
  bool reduced;
  AffineExpr size;
  Value block; // null: one position
  int axis = -1;
  Value offset;

  DimRange range() const { return {offset, axis, 1, end - begin}; }
};

/// Emits the loops and programs around folds.
class Reduction {
public:
  using Carried = KernelEmitter::Carried;
  using Folds = SmallVector<Fold *>;

  /// `all` are folds of one shape, over the same dims.
  Reduction(KernelEmitter &e, ArrayRef<std::unique_ptr<Fold>> all)
      : e(e), all(all), reduced(all.front()->getReduced().axes),
        dims(getDims(all.front()->getReduced().input)) {}

  LogicalResult tileParts(Tiling tiling);
  LogicalResult setPrograms();
  /// Emits the results of some of the folds.
  LogicalResult run(const Folds &chosen);
  /// Returns the ranges of the result of a fold.
  DimRanges getResultRanges(const Fold &fold);

private:
  LogicalResult setBlocks();
  bool walkColumns(int64_t size);
  LogicalResult setRowAxis(int64_t rows);
  AffineExpr keptRows() const;
  AffineExpr keptOuter() const;
  /// Returns the carried values of the folds over all elements.
  FailureOr<SmallVector<Carried>> walk(const Folds &chosen);
  FailureOr<Carried> loopParts(unsigned part, ValueRange carried);
  FailureOr<Carried> walkLanes(Part &part, ValueRange carried);
  FailureOr<Carried> takeTile();
  FailureOr<Carried> takeTile(Fold &fold, RangesRef ranges, const Part &along);
  /// Returns the number of reduced elements.
  Value count();
  /// Returns true if tiles have an axis of reduced elements.
  bool hasLanes() const { return rowStep || parts.back().reduced; }
  /// Returns the bytes that all folds carry for an element.
  int64_t getCarriedBytes() const {
    int64_t bits = 0;
    for (const auto &fold : all)
      bits += fold->getAccumulator().getIntOrFloatBitWidth();
    return llvm::divideCeil(bits, 8);
  }
  /// Splits the carried values by fold.
  SmallVector<Carried> split(ValueRange carried) const;
  Carried begin(ArrayRef<int> axes) const;
  Carried merge(ValueRange first, ValueRange second, Value mask,
                ArrayRef<int> axes) const;
  Carried foldLanes(ValueRange carried, ArrayRef<int> axes) const;
  bool each(llvm::function_ref<bool(const Fold &)> is) const {
    return llvm::all_of(all, [&](auto &fold) { return is(*fold); });
  }

  KernelEmitter &e;
  ArrayRef<std::unique_ptr<Fold>> all;
  Folds folds;                  // of the current loops
  SmallVector<unsigned> widths; // number of carried values of each fold
  SmallVector<int64_t> reduced;
  Dims dims;
  SmallVector<Part> parts;
  Axes axes;           // of carried values
  WalkedRows walked{}; // chunk 0: tiles divide the dim of the lanes
  Value rowStep;       // of the walked elements on a GPU
};

} // namespace

/// Merges adjacent dims of one kind into a part with `Flat`.
LogicalResult Reduction::tileParts(Tiling tiling) {
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    bool goes = llvm::is_contained(reduced, int64_t(dim));
    if (tiling == Tiling::Flat && !parts.empty() &&
        parts.back().reduced == goes) {
      parts.back().end = dim + 1;
      parts.back().size = mulExprs(parts.back().size, dims[dim]);
    } else {
      parts.push_back({dim, dim + 1, goes, dims[dim], {}, -1, {}});
    }
  }
  if (parts.empty() || !llvm::any_of(parts, [](Part &p) { return p.reduced; }))
    return e.fail("the reduction has no dims");
  return setBlocks();
}

/// Distributes the rows of few columns over the threads of a block, or of a
/// cluster of blocks, if the rows are not known to be few. Returns false if
/// they are.
bool Reduction::walkColumns(int64_t size) {
  constexpr int64_t lineBytes = 128, warpThreads = 32, elements = 16,
                    mostWarps = 8, fewRows = 64;
  Part *rows = llvm::find_singleton<Part>(
      parts, [](Part &part, bool) { return part.reduced ? &part : nullptr; });
  int64_t known = rows ? getKnown(rows->size) : 0;
  if (!rows || (known >= 0 && known < fewRows))
    return false;
  Type element = all.front()->getAccumulator();
  int64_t columns = lineBytes * 8 / element.getIntOrFloatBitWidth();
  int64_t each = std::max<int64_t>(1, elements * warpThreads /
                                          (columns * int64_t(all.size())));
  int64_t warps = mostWarps;
  while (warps > 1 && known >= 0 && known < warps * each)
    warps /= 2;
  Part &last = parts.back();
  last.axis = Row;
  last.block = e.param("ROWS", chooseLanes(size, columns));
  e.setAxis(Row, last.block);
  axes = {Row};
  rows->axis = Lane;
  rowStep = e.mul(e.param("PARTS", warps), e.index(each));
  return true;
}

LogicalResult Reduction::setBlocks() {
  constexpr int64_t elements = 4096, leastChunk = 16;
  Part &last = parts.back();
  int64_t size = getKnown(last.size);
  last.axis = Lane;
  if (!last.reduced && e.gpu && walkColumns(size))
    return success();
  if (!last.reduced) {
    // Carried values are in registers; fewer than four would be limited by
    // latency. If there are few programs, each has only that many.
    constexpr int64_t least = 64, enoughPrograms = 8;
    int64_t lanes = e.gpu ? least : std::max<int64_t>(256 / all.size(), least);
    int64_t outer = std::max<int64_t>(getKnown(keptOuter()), 1);
    while (lanes > least && size > 0 &&
           outer * ((size + lanes - 1) / lanes) < enoughPrograms)
      lanes /= 2;
    last.block = e.param("BLOCK_N", chooseLanes(size, lanes));
    e.setAxis(Lane, last.block);
    axes = {Lane};
    return success();
  }
  // Chunks that divide the row need no mask.
  int64_t chunk =
      size < 1 ? 0 : largestDivisor(size, getLongestTileRow(e.getSource()));
  bool isPlain = each([](const Fold &fold) { return fold.isPlain(); });
  bool fits =
      isPlain && chunk >= 1 && chunk >= std::min<int64_t>(size, leastChunk);
  if (fits) {
    last.block = e.index(chunk);
    e.setAxis(Lane, last.block);
    return setRowAxis(std::clamp<int64_t>(elements / chunk, 1, 16));
  }
  walked = chooseWalkedRows(e, e.getKnownRows(keptRows()), size);
  if (e.gpu) {
    // Carried values are in registers.
    for (int64_t bytes = 4; bytes < getCarriedBytes(); bytes *= 2)
      walked.chunk /= 2;
    rowStep = e.param("BLOCK_N", walked.chunk);
  }
  return setRowAxis(walked.rows);
}

/// Returns the size of the innermost kept part, or 1.
AffineExpr Reduction::keptRows() const {
  for (const Part &part : llvm::reverse(parts))
    if (!part.reduced)
      return part.size;
  return getAffineConstantExpr(1, all.front()->getReduced().input.getContext());
}

/// Returns the size of all kept parts before the last one.
AffineExpr Reduction::keptOuter() const {
  AffineExpr outer =
      getAffineConstantExpr(1, all.front()->getReduced().input.getContext());
  for (const Part &part : ArrayRef(parts).drop_back())
    if (!part.reduced)
      outer = mulExprs(outer, part.size);
  return outer;
}

LogicalResult Reduction::setRowAxis(int64_t rows) {
  axes = {Row};
  for (Part &part : llvm::reverse(parts))
    if (!part.reduced) {
      part.axis = Row;
      // Values computed from the result of a single row expect no axis for
      // rows.
      part.block =
          getKnown(part.size) == 1
              ? e.index(1)
              : e.param("ROWS", chooseBlock(getKnown(part.size), rows));
      e.setAxis(Row, part.block);
      return success();
    }
  if (!each([](const Fold &fold) { return fold.getReduced().keepdims; }))
    return e.fail("the reduction has a scalar result");
  e.setAxis(Row, e.index(1));
  return success();
}

LogicalResult Reduction::setPrograms() {
  SmallVector<Value> counts;
  SmallVector<Part *> kept;
  for (Part &part : llvm::reverse(parts)) {
    Value size = e.size(part.size);
    if (!size)
      return failure();
    if (part.reduced)
      continue;
    counts.push_back(part.block ? e.ceilDiv(size, part.block) : size);
    kept.push_back(&part);
  }
  SmallVector<Value> ids = e.programIds(counts);
  for (auto [part, id] : llvm::zip(kept, ids))
    part->offset = part->block ? e.mul(id, part->block) : id;
  return success();
}

/// Returns the carried values of the tile at the current range.
FailureOr<KernelEmitter::Carried> Reduction::takeTile() {
  DimRanges ranges;
  const Part *along = nullptr;
  for (const Part &part : parts) {
    ranges.push_back(part.range());
    if (part.reduced)
      along = &part;
  }
  Carried result;
  for (Fold *fold : folds) {
    auto taken = takeTile(*fold, ranges, *along);
    if (failed(taken))
      return failure();
    result.append(*taken);
  }
  return result;
}

FailureOr<KernelEmitter::Carried>
Reduction::takeTile(Fold &fold, RangesRef ranges, const Part &along) {
  auto x = e.emit(fold.getReduced().input, ranges);
  if (failed(x))
    return failure();
  Axes tileAxes(axes);
  if (hasLanes())
    tileAxes.push_back(Lane);
  Value tile = e.broadcast(e.convert(*x, fold.getAccumulator()), tileAxes);
  auto position = [&](Type type) {
    OpBuilder &b = e.builder();
    Value start = arith::IndexCastOp::create(b, e.loc(), type, along.offset);
    Value first = e.broadcast({start, {}}, tileAxes);
    if (along.axis < 0)
      return first;
    Value own = e.broadcast(e.emitPositions(along.axis, type), tileAxes);
    return arith::AddIOp::create(b, e.loc(), own, first).getResult();
  };
  return fold.take(tile, tileAxes, position);
}

SmallVector<KernelEmitter::Carried> Reduction::split(ValueRange carried) const {
  SmallVector<Carried> result;
  for (unsigned width : widths) {
    result.emplace_back(carried.take_front(width));
    carried = carried.drop_front(width);
  }
  return result;
}

KernelEmitter::Carried Reduction::begin(ArrayRef<int> axes) const {
  Carried result;
  for (Fold *fold : folds)
    result.append(fold->begin(axes));
  return result;
}

KernelEmitter::Carried Reduction::merge(ValueRange first, ValueRange second,
                                        Value mask, ArrayRef<int> axes) const {
  Carried result;
  for (auto [fold, one, other] :
       llvm::zip_equal(folds, split(first), split(second)))
    result.append(fold->merge(one, other, mask, axes));
  return result;
}

KernelEmitter::Carried Reduction::foldLanes(ValueRange carried,
                                            ArrayRef<int> axes) const {
  Carried result;
  for (auto [fold, own] : llvm::zip_equal(folds, split(carried)))
    result.append(fold->foldLanes(own, axes));
  return result;
}

/// Emits a part in two loops, with an accumulator for each lane. They have the
/// same accumulators if their tiles have the same size.
FailureOr<KernelEmitter::Carried> Reduction::walkLanes(Part &part,
                                                       ValueRange before) {
  Carried carried(before), ofLanes;
  Axes tileAxes(axes);
  tileAxes.push_back(Lane);
  Value chunk;
  auto fold = [&] {
    if (chunk)
      carried = merge(carried, foldLanes(ofLanes, tileAxes), {}, axes);
  };
  for (const RowWalk &walk :
       rowStep ? walkRow(e, part.size, rowStep, rowStep)
               : walkRow(e, part.size, walked.chunk, walked.remainder)) {
    if (walk.chunk != chunk) {
      fold();
      chunk = walk.chunk;
      e.setAxis(Lane, chunk);
      ofLanes = begin(tileAxes);
    }
    e.setTail(walk.isTail);
    auto each =
        e.loop(walk.length, chunk, ofLanes,
               [&](Value iv, ValueRange inner) -> FailureOr<Carried> {
                 part.offset = walk.range(e, iv);
                 auto taken = takeTile();
                 if (failed(taken))
                   return failure();
                 Value mask;
                 if (walk.end)
                   mask = e.broadcast(e.emitInside(Lane, part.offset, walk.end),
                                      tileAxes);
                 return merge(inner, *taken, mask, tileAxes);
               });
    e.setTail(false);
    if (failed(each))
      return failure();
    ofLanes = *each;
  }
  fold();
  return carried;
}

FailureOr<KernelEmitter::Carried> Reduction::loopParts(unsigned index,
                                                       ValueRange carried) {
  if (index == parts.size()) {
    auto taken = takeTile();
    if (failed(taken))
      return failure();
    if (!parts.back().reduced)
      return merge(carried, *taken, {}, axes);
    Axes tileAxes(axes);
    tileAxes.push_back(Lane);
    return merge(carried, foldLanes(*taken, tileAxes), {}, axes);
  }
  Part &part = parts[index];
  if (!part.reduced)
    return loopParts(index + 1, carried);
  if (part.axis == Lane && (rowStep || walked.chunk > 0))
    return walkLanes(part, carried);
  Value step = part.block ? part.block : e.index(1);
  return e.loop(e.size(part.size), step, carried,
                [&](Value iv, ValueRange inner) {
                  part.offset = iv;
                  return loopParts(index + 1, inner);
                });
}

FailureOr<SmallVector<KernelEmitter::Carried>>
Reduction::walk(const Folds &chosen) {
  folds = chosen;
  widths.clear();
  Carried init;
  for (Fold *fold : folds) {
    Carried own = fold->begin(axes);
    widths.push_back(own.size());
    init.append(own);
  }
  auto carried = loopParts(0, init);
  if (failed(carried))
    return failure();
  return split(*carried);
}

LogicalResult Reduction::run(const Folds &chosen) {
  Folds shifted;
  for (Fold *fold : chosen)
    if (fold->needsMaximum()) {
      fold->findMaximum();
      shifted.push_back(fold);
    }
  if (!shifted.empty()) {
    auto most = walk(shifted);
    if (failed(most))
      return failure();
    for (auto [fold, own] : llvm::zip_equal(shifted, *most))
      fold->subtractMaximum(own[0], axes);
  }
  auto combined = walk(chosen);
  if (failed(combined))
    return failure();
  for (auto [fold, own] : llvm::zip_equal(chosen, *combined)) {
    Value result = fold->getReduced().result;
    Value tile = fold->finish(own, [&] { return count(); }, axes);
    Type element = getSignlessType(getElementTypeOrSelf(result));
    e.define(result, getResultRanges(*fold), e.convert({tile, axes}, element));
  }
  return success();
}

DimRanges Reduction::getResultRanges(const Fold &fold) {
  DimRanges ranges;
  bool rowPlaced =
      llvm::any_of(parts, [](Part &p) { return !p.reduced && p.axis >= 0; });
  for (const Part &part : parts) {
    if (!part.reduced) {
      ranges.push_back(part.range());
      continue;
    }
    if (!fold.getReduced().keepdims)
      continue;
    for (unsigned dim = part.begin; dim < part.end; ++dim) {
      ranges.push_back({e.index(0), rowPlaced ? -1 : int(Row), 1, 1});
      rowPlaced = true;
    }
  }
  return ranges;
}

Value Reduction::count() {
  Value number = e.index(1);
  for (const Part &part : parts)
    if (part.reduced)
      number = e.mul(number, e.size(part.size));
  OpBuilder &b = e.builder();
  return arith::IndexCastOp::create(b, e.loc(), b.getI64Type(), number);
}

/// Returns the folds of a kernel in levels: first those that use no result of
/// others.
static SmallVector<Reduction::Folds>
sortByNeed(ArrayRef<std::unique_ptr<Fold>> folds) {
  DenseMap<Operation *, unsigned> levels; // number of levels before
  SmallVector<Reduction::Folds> result;
  Operation *first = folds.front()->getReduced().result.getDefiningOp();
  auto fold = folds.begin();
  for (Operation &op : first->getBlock()->without_terminator()) {
    unsigned level = 0;
    for (Value operand : op.getOperands())
      level = std::max(level, levels.lookup(operand.getDefiningOp()));
    bool reduces = fold != folds.end() &&
                   (*fold)->getReduced().result.getDefiningOp() == &op;
    levels[&op] = level + reduces;
    if (!reduces)
      continue;
    if (result.size() <= level)
      result.resize(level + 1);
    result[level].push_back((fold++)->get());
  }
  return result;
}

LogicalResult adze::emitReductions(KernelEmitter &e, Tiling tiling) {
  if (tiling != Tiling::Flat && tiling != Tiling::Dims)
    return e.fail("a reduction has tilings by dims and flat only");
  SmallVector<std::unique_ptr<Fold>> folds;
  for (Operation &op : e.getSource().getBody().front())
    if (getReduced(&op))
      folds.push_back(makeFold(e, &op));
  const Reduced &first = folds.front()->getReduced();
  for (const auto &fold : folds)
    if (!reducesAlike(first, fold->getReduced()))
      return e.fail("the reductions are over different dims");
  Reduction reduction(e, folds);
  if (failed(reduction.tileParts(tiling)) || failed(reduction.setPrograms()))
    return failure();
  for (const Reduction::Folds &chosen : sortByNeed(folds))
    if (failed(reduction.run(chosen)))
      return failure();
  SmallVector<Anchor> results;
  for (const auto &fold : folds)
    results.push_back(
        {fold->getReduced().result, reduction.getResultRanges(*fold)});
  return e.storeOutputs(results);
}
