// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels without an anchor: elementwise chains and data movement.
#include "Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// An operand whose dims are in another order than those of the result: the
/// dims of the result that are not of size 1, in the order of the operand, and
/// the distance in bytes of elements along the last dim of the result, negative
/// if it is dynamic.
struct MovedOperand {
  SmallVector<unsigned> order;
  int64_t elementBytes, pitch;
};

/// Finds the adjacent dims of the result that can be merged: those that are
/// adjacent, or both absent, in every operand.
class DimGroups {
public:
  explicit DimGroups(Value result) : dims(getDims(result)) {
    for (auto [dim, size] : llvm::enumerate(dims))
      if (getKnown(size) != 1)
        real.push_back(dim);
    joined.assign(real.size(), true);
    visit(result, KernelEmitter::alignRight(dims.size(), dims.size()));
  }

  /// Prevents that a dim is merged with the previous one.
  void tiling(int64_t dim) {
    for (auto [i, target] : llvm::enumerate(real))
      if (int64_t(target) >= dim) {
        joined[i] = false;
        return;
      }
  }

  /// Returns the number of dims in each group.
  SmallVector<unsigned> getSpans() const {
    SmallVector<unsigned> spans;
    unsigned begin = 0;
    for (unsigned i = 1; i < real.size(); ++i)
      if (!joined[i]) {
        spans.push_back(real[i] - begin);
        begin = real[i];
      }
    spans.push_back(dims.size() - begin);
    return spans;
  }

  /// Returns the first operand that is permuted, or nothing if all have the
  /// order of the result, or a subset of its dims.
  const std::optional<MovedOperand> &getMoved() const { return moved; }

private:
  /// Visits a value; `target[j]` is the dim of the result along which its dim j
  /// runs.
  void visit(Value value, ArrayRef<int64_t> target) {
    Operation *op = value.getDefiningOp();
    auto follow = [&](Value operand, ArrayRef<int64_t> map) {
      SmallVector<int64_t> next;
      for (int64_t dim : map)
        next.push_back(target[dim]);
      visit(operand, next);
    };
    if (!op) {
      restrict(value, target);
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      SmallVector<int64_t> inverse(target.size());
      for (auto [dim, source] : llvm::enumerate(transpose.getPerm()))
        inverse[source] = dim;
      follow(transpose.getInput(), inverse);
    } else if (auto norm = dyn_cast<BatchNormOp>(op)) {
      visit(norm.getInput(), target);
      for (Value operand : norm->getOperands().drop_front())
        follow(operand, {int64_t(norm.getAxis())});
    } else if (isa<ElementwiseOpInterface, BroadcastToOp>(op)) {
      for (Value operand : op->getOperands())
        follow(operand, KernelEmitter::alignRight(getDims(operand).size(),
                                                  target.size()));
    } else if (auto slice = dyn_cast<SliceOp>(op); slice && !slice.getBegin()) {
      tileAround(slice, target);
      visit(slice.getInput(), target);
    } else if (auto trilu = dyn_cast<TriluOp>(op)) {
      tiling(target[target.size() - 2]);
      tiling(target.back());
      tiling(target.back() + 1);
      visit(trilu.getInput(), target);
    } else if (isa<RangeOp>(op)) {
      restrict(op->getResult(0), target);
    } else if (auto map = mapUnitReshape(op)) {
      follow(op->getOperand(0), *map);
    } else if (!isa<ConstantOp>(op)) {
      std::fill(joined.begin(), joined.end(), false);
    }
  }

  /// Returns the dims of the result that the dims of the operand of a reshape
  /// are, if it only adds and drops dims of size 1.
  static std::optional<SmallVector<int64_t>> mapUnitReshape(Operation *op) {
    auto reshape = dyn_cast<ReshapeOp>(op);
    if (!reshape || reshape.getShape())
      return std::nullopt;
    Dims from = getDims(reshape.getInput()), to = getDims(reshape.getResult());
    SmallVector<int64_t> map;
    size_t next = 0;
    auto skipOnes = [&] {
      while (next < to.size() && getKnown(to[next]) == 1)
        ++next;
    };
    for (AffineExpr size : from) {
      if (getKnown(size) != 1)
        skipOnes();
      if (to.empty() || (getKnown(size) != 1 &&
                         (next == to.size() || !areEqual(to[next], size))))
        return std::nullopt;
      map.push_back(getKnown(size) == 1 ? std::min(next, to.size() - 1)
                                        : next++);
    }
    skipOnes();
    return next == to.size() ? std::optional(map) : std::nullopt;
  }

  /// Merged dims may be split along the first of them only.
  void tileAround(SliceOp slice, ArrayRef<int64_t> target) {
    Dims from = getDims(slice.getInput()), to = getDims(slice.getResult());
    Dims starts = slice.getStartExprs();
    for (auto [dim, range] : llvm::enumerate(target)) {
      bool steps = slice.getSteps()[dim] != 1;
      if (steps || getConstant(starts[dim]) != 0 ||
          !areEqual(from[dim], to[dim]))
        tiling(range);
      if (steps)
        tiling(range + 1);
    }
  }

  void restrict(Value value, ArrayRef<int64_t> target) {
    Dims sizes = getDims(value);
    SmallVector<int> position(dims.size(), -1);
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (getKnown(size) != 1)
        position[target[dim]] = dim;
    if (!moved)
      findMoved(value, position);
    for (unsigned i = 1; i < real.size(); ++i) {
      int before = position[real[i - 1]], here = position[real[i]];
      bool apart = before < 0 ? here >= 0 : here < before;
      for (int dim = before + 1; !apart && before >= 0 && dim < here; ++dim)
        apart |= getKnown(sizes[dim]) != 1;
      if (apart)
        joined[i] = false;
    }
  }

  void findMoved(Value value, ArrayRef<int> position) {
    SmallVector<unsigned> order(real);
    llvm::sort(order, [&](unsigned x, unsigned y) {
      return position[x] < position[y];
    });
    if (order == real || position[order.front()] < 0)
      return;
    int64_t bits = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
    int64_t bytes = llvm::divideCeil(bits, 8), pitch = bytes;
    Dims sizes = getDims(value);
    for (AffineExpr size : llvm::drop_begin(sizes, position[real.back()] + 1))
      pitch = pitch < 0 || getKnown(size) < 0 ? -1 : pitch * getKnown(size);
    moved = {order, bytes, pitch};
  }

  Dims dims;
  SmallVector<unsigned> real; // dims other than 1
  SmallVector<bool> joined;   // real dim i is merged with the previous one
  std::optional<MovedOperand> moved;
};

/// The dims of the result in merged groups, and the order of programs: first
/// along the last group, whose parts are the columns of a block. Its rows are
/// parts of another group.
struct DimGrouping {
  SmallVector<unsigned> spans, walk;
  unsigned rowGroup = 0;
  std::optional<MovedOperand> turned; // contiguous along the rows

  unsigned groupOf(unsigned dim) const {
    unsigned group = 0;
    for (unsigned end = spans[0]; end <= dim;)
      end += spans[++group];
    return group;
  }
};

} // namespace

/// Chooses the group of the rows and the order of programs. Programs are in the
/// order of the result by default. With non-temporal stores of whole rows they
/// follow the operand, as memory tolerates writes in any order better than
/// reads. If an operand is contiguous along another dim than the last, the rows
/// of blocks are along that one.
static void followOperand(DimGrouping &groups, const MovedOperand &moved,
                          bool follows) {
  llvm::SmallSetVector<unsigned, 4> walk;
  for (unsigned dim : llvm::reverse(moved.order))
    walk.insert(groups.groupOf(dim));
  if (walk.size() < 2)
    return;
  if (walk.front() != groups.spans.size() - 1) {
    groups.rowGroup = walk.front();
    groups.turned = moved;
    return;
  }
  if (!follows)
    return;
  groups.rowGroup = walk[1];
  walk.insert(groups.walk.begin(), groups.walk.end()); // groups of size 1
  groups.walk = walk.takeVector();
}

/// Moves the rows to the longest dim of known size if a block has few rows and
/// columns, which would leave most threads of a GPU without an element. Rows
/// that are contiguous in an operand stay, unless they are very few: adjacent
/// threads load adjacent elements.
static void lengthenRows(DimGrouping &groups, ArrayRef<AffineExpr> dims) {
  constexpr int64_t enough = 256, enoughTurned = 16;
  SmallVector<int64_t> sizes(groups.spans.size(), 1);
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    int64_t size = getKnown(dims[dim]);
    int64_t &all = sizes[groups.groupOf(dim)];
    all = size < 0 || all < 0 ? -1 : all * size;
  }
  int64_t columns = sizes.back(), rows = sizes[groups.rowGroup];
  if (columns < 0 || rows < 0 || rows * columns >= enough ||
      (groups.turned && rows >= enoughTurned))
    return;
  for (unsigned group : ArrayRef(groups.walk).drop_front())
    if (sizes[group] > sizes[groups.rowGroup]) {
      groups.rowGroup = group;
      groups.turned = std::nullopt;
    }
}

static DimGrouping groupDims(KernelEmitter &e, Tiling tiling) {
  Value output = e.getOutputs()[0];
  DimGroups groups(output);
  DimGrouping result;
  if (tiling == Tiling::Flat) {
    for (unsigned i = 0; i < e.getOutputs().size(); ++i)
      if (e.getPartAxis(i) >= 0)
        groups.tiling(e.getPartAxis(i));
    result.spans = groups.getSpans();
  } else {
    result.spans.assign(getDims(output).size(), 1);
  }
  for (unsigned group = result.spans.size(); group-- > 0;)
    result.walk.push_back(group);
  if (result.walk.size() > 1)
    result.rowGroup = result.walk[1];
  if (groups.getMoved())
    followOperand(result, *groups.getMoved(), !e.gpu && mayStream(e, 0));
  if (e.gpu && result.walk.size() > 1)
    lengthenRows(result, getDims(output));
  return result;
}

/// Emits one element at a time: a program for each row, or on a GPU for each
/// part of a row, and a loop along it.
static LogicalResult emitPoints(KernelEmitter &e) {
  constexpr int64_t warp = 32;
  Value output = e.getOutputs()[0];
  unsigned rank = getDims(output).size();
  SmallVector<Value> counts;
  for (unsigned dim = 0; dim < rank; ++dim) {
    Value count = e.size(output, dim);
    if (!count)
      return failure();
    counts.push_back(count);
  }
  Value length = e.index(1);
  if (rank > 0)
    length = counts.pop_back_val();
  std::reverse(counts.begin(), counts.end());
  Value part = e.gpu && rank > 0 ? e.index(warp) : Value();
  if (part)
    counts.insert(counts.begin(), e.ceilDiv(length, part));
  SmallVector<Value> ids = e.programIds(counts);
  Value first = e.index(0);
  if (part) {
    first = e.mul(ids.front(), part);
    length = e.min(e.sub(length, first), part);
    ids.erase(ids.begin());
  }
  DimRanges ranges;
  for (Value id : llvm::reverse(ids))
    ranges.push_back({id, -1, 1, 1});
  auto done =
      e.loop(length, e.index(1), {},
             [&](Value iv, ValueRange) -> FailureOr<KernelEmitter::Carried> {
               DimRanges here = ranges;
               if (rank > 0)
                 here.push_back({e.add(first, iv), -1, 1, 1});
               if (failed(e.storeOutputs(output, here)))
                 return failure();
               return KernelEmitter::Carried();
             });
  return LogicalResult(done);
}

namespace {
struct GroupSizes {
  SmallVector<AffineExpr> exprs;
  SmallVector<Value> values;
};
} // namespace

static FailureOr<GroupSizes> getGroupSizes(KernelEmitter &e, Value value,
                                           ArrayRef<unsigned> spans) {
  GroupSizes sizes;
  Dims dims = getDims(value);
  unsigned dim = 0;
  for (unsigned span : spans) {
    AffineExpr expr = product(value.getContext(),
                              ArrayRef<AffineExpr>(dims).slice(dim, span));
    Value size = e.size(expr);
    if (!size)
      return failure();
    sizes.exprs.push_back(expr);
    sizes.values.push_back(size);
    dim += span;
  }
  return sizes;
}

static constexpr int64_t elements = 4096; // of a program
static constexpr int64_t maxColumns = 1024;

/// Returns the product of all sizes but the last; unknown ones count as 1.
static int64_t countRows(ArrayRef<AffineExpr> sizes) {
  int64_t rows = 1;
  for (AffineExpr size : sizes.drop_back())
    rows *= std::max<int64_t>(getKnown(size), 1);
  return rows;
}

/// Chooses the block of columns if programs have single rows: several rows are
/// enough programs, else the columns are divided.
static int64_t chooseColumnBlock(ArrayRef<AffineExpr> sizes, bool hasRows) {
  constexpr int64_t enoughPrograms = 8, fewest = 256;
  int64_t columns = getKnown(sizes.back()), rows = countRows(sizes);
  if (hasRows ||
      (rows >= enoughPrograms && columns >= 0 && columns <= maxColumns))
    return chooseLanes(columns, maxColumns);
  if (columns < 0 || columns >= enoughPrograms * elements)
    return elements;
  return chooseLanes(
      columns, std::clamp<int64_t>(columns / enoughPrograms, fewest, elements));
}

namespace {
struct BlockSizes {
  int64_t rows, columns;
};
} // namespace

/// Chooses the block of a transposition: an operand that is read across its
/// rows is read in runs as long as the block has rows. These are many, as short
/// runs at distant addresses are slow. The columns are a few cache lines of the
/// result, or a single one if the lines are a multiple of the size of a cache
/// way apart, so that they would evict one another.
static BlockSizes chooseTurnedBlock(ArrayRef<AffineExpr> sizes,
                                    unsigned rowGroup,
                                    const MovedOperand &turned) {
  constexpr int64_t most = 16384, enoughPrograms = 64, fewestBytes = 256,
                    wayBytes = 128 * 1024; // of common second-level caches
  int64_t fewest = std::max<int64_t>(64, fewestBytes / turned.elementBytes);
  int64_t all = 1, columns = getKnown(sizes.back());
  for (AffineExpr size : sizes)
    all = getKnown(size) < 0 || all < 0 ? -1 : all * getKnown(size);
  int64_t area =
      all < 0 ? most
              : std::clamp<int64_t>(all / enoughPrograms, elements, most);
  auto shareOf = [&](int64_t others) {
    return std::clamp<int64_t>(area / others / fewest * fewest, fewest,
                               maxColumns);
  };
  bool collide = turned.pitch > 0 && turned.pitch % wayBytes == 0;
  int64_t usual = collide ? fewest / 2 : fewest;
  BlockSizes blocks;
  blocks.rows =
      chooseBlock(getKnown(sizes[rowGroup]),
                  shareOf(columns > 0 ? std::min(columns, usual) : usual));
  blocks.columns =
      chooseLanes(columns, collide ? fewest / 4 : shareOf(blocks.rows));
  return blocks;
}

/// Chooses the block of a transposition on a GPU, whose threads read and write
/// whole cache lines.
static BlockSizes chooseDeviceBlock(int64_t rows, int64_t columns) {
  constexpr int64_t line = 64;
  auto share = [&](int64_t others) {
    return std::clamp<int64_t>(elements / others, line, maxColumns);
  };
  BlockSizes blocks;
  blocks.columns =
      chooseLanes(columns, share(rows > 0 ? std::min(rows, line) : line));
  blocks.rows = chooseBlock(rows, share(blocks.columns));
  return blocks;
}

static BlockSizes chooseBlocks(bool isGpu, ArrayRef<AffineExpr> sizes,
                               const DimGrouping &groups, bool hasRows) {
  if (hasRows && groups.turned && isGpu)
    return chooseDeviceBlock(getKnown(sizes[groups.rowGroup]),
                             getKnown(sizes.back()));
  if (hasRows && groups.turned)
    return chooseTurnedBlock(sizes, groups.rowGroup, *groups.turned);
  int64_t columns = chooseColumnBlock(sizes, hasRows);
  int64_t rows = hasRows ? chooseBlock(getKnown(sizes[groups.rowGroup]),
                                       std::max<int64_t>(1, elements / columns))
                         : 1;
  return {rows, columns};
}

/// Sets the prefetch distances. Programs run along the last group first, then
/// along the previous one. The hardware detects a few rows, and rows at near
/// addresses.
static void setAhead(MutableArrayRef<DimRange> ranges,
                     ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> steps,
                     int64_t pitch) {
  constexpr int64_t farBytes = 256, fewRows = 8;
  int64_t columns = getKnown(sizes.back());
  if ((pitch >= 0 && pitch < farBytes) || (columns >= 0 && columns <= fewRows))
    return;
  for (size_t i = ranges.size(); i-- > 0;)
    if (int64_t size = getKnown(sizes[i]); size < 0 || size > steps[i]) {
      ranges[i].ahead = steps[i];
      return;
    }
}

/// Returns how many rows a program of a GPU computes one after the other, if
/// blocks are single rows: positions along short rows are computed once for
/// all of them.
static int64_t chooseLoopedRows(ArrayRef<AffineExpr> sizes, unsigned group) {
  constexpr int64_t enoughPrograms = 4096, mostRows = 8, mostElements = 1024;
  int64_t rows = getKnown(sizes[group]), columns = getKnown(sizes.back());
  if (rows < 1 || columns < 1)
    return 1;
  return largestDivisor(
      rows, std::clamp<int64_t>(std::min(countRows(sizes) / enoughPrograms,
                                         mostElements / columns),
                                1, mostRows));
}

LogicalResult adze::emitPointwise(KernelEmitter &e, Tiling tiling) {
  Value first = e.getOutputs()[0];
  for (Value output : e.getOutputs())
    if (!areEqual(getDims(output), getDims(first)))
      return e.fail("the outputs have different shapes");
  if (tiling == Tiling::Points || getDims(first).empty())
    return emitPoints(e);
  DimGrouping groups = groupDims(e, tiling);
  ArrayRef<unsigned> spans = groups.spans;
  auto sizes = getGroupSizes(e, first, spans);
  if (failed(sizes))
    return failure();
  unsigned last = spans.size() - 1;
  bool rows = last > 0 && tiling != Tiling::Row;
  // Blocks have columns, and enough rows that a program has enough work.
  BlockSizes blocks = chooseBlocks(bool(e.gpu), sizes->exprs, groups, rows);
  SmallVector<int64_t> steps(spans.size(), 1);
  SmallVector<Value> counts(sizes->values), stepSizes(spans.size());
  auto tileGroup = [&](unsigned group, int axis, Value size, int64_t step) {
    e.setAxis(axis, size);
    counts[group] = e.ceilDiv(counts[group], size);
    stepSizes[group] = size;
    steps[group] = step;
  };
  bool isWhole = blocks.columns == getKnown(sizes->exprs[last]);
  tileGroup(last, 1,
            isWhole ? sizes->values[last] : e.param("BLOCK_N", blocks.columns),
            blocks.columns);
  if (rows)
    tileGroup(groups.rowGroup, 0, e.param("BLOCK_M", blocks.rows), blocks.rows);
  unsigned looped = groups.walk.size() > 1 ? groups.walk[1] : 0;
  int64_t several = e.gpu && last > 0 && tiling == Tiling::Row
                        ? chooseLoopedRows(sizes->exprs, looped)
                        : 1;
  if (several > 1)
    counts[looped] = e.ceilDiv(counts[looped], e.index(several));
  SmallVector<Value> walked;
  for (unsigned group : groups.walk)
    walked.push_back(counts[group]);
  DimRanges ranges(spans.size());
  for (auto [group, id] : llvm::zip(groups.walk, e.programIds(walked))) {
    int axis = group == last ? 1 : stepSizes[group] ? 0 : -1;
    Value offset = stepSizes[group] ? e.mul(id, stepSizes[group]) : id;
    ranges[group] = {offset, axis, 1, spans[group]};
  }
  if (rows && groups.turned && !e.gpu)
    setAhead(ranges, sizes->exprs, steps, groups.turned->pitch);
  auto store = [&] {
    // An output that does not depend on the first one is computed separately.
    SmallVector<Anchor> anchors;
    for (Value output : e.getOutputs())
      anchors.push_back({output, ranges});
    return e.storeOutputs(anchors);
  };
  if (several == 1)
    return store();
  Value start = e.mul(ranges[looped].offset, e.index(several));
  return LogicalResult(
      e.loop(e.index(several), e.index(1), {},
             [&](Value iv, ValueRange) -> FailureOr<KernelEmitter::Carried> {
               ranges[looped].offset = e.add(start, iv);
               if (failed(store()))
                 return failure();
               return KernelEmitter::Carried();
             }));
}
