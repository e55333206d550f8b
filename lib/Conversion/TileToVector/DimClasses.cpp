// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Computes the classes of tile dimensions by union-find over the ops of a
// kernel.
#include "DimClasses.h"
#include "Dialect/Tile/IR/Faults.h"
#include "Dialect/Tile/IR/PhysicalType.h"
#include "Nearby.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace adze::tile;

//===--- Union-find -------------------------------------------------------===//

int DimClasses::find(int x) const {
  while (parent[x] != x)
    x = parent[x];
  return x;
}

void DimClasses::unite(int x, int y) {
  x = find(x);
  y = find(y);
  if (x != y)
    parent[std::max(x, y)] = std::min(x, y);
}

ArrayRef<int> DimClasses::raw(Value tile) {
  auto [it, fresh] = ids.try_emplace(tile);
  if (fresh)
    for (int64_t size : tileType(tile).getShape()) {
      it->second.push_back(parent.size());
      parent.push_back(parent.size());
      info.emplace_back().size = size;
    }
  return it->second;
}

SmallVector<int> DimClasses::of(Value tile) const {
  SmallVector<int> classes;
  for (int id : ids.lookup(tile))
    classes.push_back(find(id));
  return classes;
}

void DimClasses::uniteTiles(Value x, Value y) {
  SmallVector<int> one(raw(x)), other(raw(y));
  for (auto [i, j] : llvm::zip_equal(one, other))
    unite(i, j);
}

bool adze::tile::isUnitReshape(ReshapeOp reshape,
                               SmallVectorImpl<int64_t> &map) {
  ArrayRef<int64_t> from = reshape.getSource().getType().getShape();
  ArrayRef<int64_t> to = reshape.getType().getShape();
  int64_t next = 0, rank = from.size();
  for (int64_t size : to) {
    while (next < rank && from[next] == 1 && size != 1)
      ++next;
    if (size == 1) {
      map.push_back(-1);
      continue;
    }
    if (next == rank || from[next] != size)
      return false;
    map.push_back(next++);
  }
  return llvm::all_of(from.drop_front(next), [](int64_t s) { return s == 1; });
}

/// Unites the dimensions that a reshape preserves: leading and trailing ones of
/// equal size, or all of them up to unit dimensions.
void DimClasses::uniteReshape(ReshapeOp reshape) {
  SmallVector<int> from(raw(reshape.getSource())), to(raw(reshape.getResult()));
  SmallVector<int64_t> map;
  if (isUnitReshape(reshape, map)) {
    for (auto [i, j] : llvm::enumerate(map))
      if (j >= 0)
        unite(from[j], to[i]);
    return;
  }
  auto size = [&](int id) { return info[id].size; };
  while (!from.empty() && !to.empty() && size(from.back()) == size(to.back())) {
    unite(from.back(), to.back());
    from.pop_back();
    to.pop_back();
  }
}

void DimClasses::uniteOp(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](DotOp dot) {
        uniteTiles(dot.getAcc(), dot.getResult());
        SmallVector<int> l(raw(dot.getLhs())), r(raw(dot.getRhs())),
            x(raw(dot.getResult()));
        unite(l[0], x[0]);
        unite(r[1], x[1]);
        unite(l[1], r[0]);
      })
      .Case([&](ReduceOp reduce) {
        SmallVector<int> from(raw(reduce.getSource())),
            to(raw(reduce.getResult()));
        from.erase(from.begin() + reduce.getDim());
        for (auto [i, j] : llvm::zip_equal(from, to))
          unite(i, j);
      })
      .Case([&](BroadcastOp broadcast) {
        SmallVector<int> to(raw(broadcast.getResult()));
        if (!isTile(broadcast.getSource()))
          return;
        SmallVector<int> from(raw(broadcast.getSource()));
        for (auto [i, dim] : llvm::zip_equal(from, *broadcast.getDims()))
          unite(i, to[dim]);
      })
      .Case([&](GatherOp gather) {
        uniteTiles(gather.getIndices(), gather.getResult());
      })
      .Case([&](TransposeOp transpose) {
        SmallVector<int> from(raw(transpose.getSource())),
            to(raw(transpose.getResult()));
        for (auto [i, dim] : llvm::enumerate(transpose.getPerm()))
          unite(to[i], from[dim]);
      })
      .Case([&](ReshapeOp reshape) { uniteReshape(reshape); })
      .Case([&](scf::ForOp loop) {
        for (auto [init, argument, yielded, result] :
             llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                       loop.getYieldedValues(), loop.getResults()))
          if (isTile(init)) {
            carried.push_back(init);
            uniteTiles(init, argument);
            uniteTiles(init, yielded);
            uniteTiles(init, result);
          }
      })
      .Case([&](scf::IfOp branch) {
        for (auto [i, result] : llvm::enumerate(branch.getResults()))
          if (isTile(result)) {
            uniteTiles(result, branch.thenYield().getOperand(i));
            uniteTiles(result, branch.elseYield().getOperand(i));
          }
      })
      .Default([&](Operation *other) {
        if (!other->hasTrait<OpTrait::Elementwise>())
          return;
        for (Value operand : other->getOperands())
          if (isTile(operand))
            uniteTiles(operand, other->getResult(0));
      });
}

//===--- Construction -----------------------------------------------------===//

DimClasses::DimClasses(Operation *root, CpuTargetAttr target, bool inOrder,
                       bool largeResults)
    : root(root), target(target), inOrder(inOrder), largeResults(largeResults) {
  root->walk([&](Operation *op) {
    for (Value value : op->getOperands())
      if (isTile(value))
        (void)raw(value);
    for (Value value : op->getResults())
      if (isTile(value))
        (void)raw(value);
    uniteOp(op);
  });
  root->walk([&](Operation *op) {
    voteLanes(op);
    markRoles(op);
  });
  for (auto &[value, list] : ids) {
    Type element = getElementTypeOrSelf(value.getType());
    if (element.isInteger(1))
      continue;
    int64_t bytes =
        element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8;
    // Wide elements that only compute indices do not reduce the lanes of
    // others.
    bool isFloat = isa<FloatType>(element) &&
                   !(element.isF64() && followsFromPositions(value));
    for (int id : list) {
      Info &x = info[find(id)];
      int64_t &most = isFloat ? x.floatBytes : x.intBytes;
      most = std::max(most, bytes);
    }
  }
  findConflict();
  chooseLanes();
  chooseSplits();
  chooseDepthDots();
  chooseMatrixDots();
  chooseSteps();
}

void DimClasses::findConflict() {
  root->walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      SmallVector<int> classes = of(result);
      llvm::sort(classes);
      for (size_t i = 1; i < classes.size() && !twice; ++i)
        if (classes[i] == classes[i - 1] && info[classes[i]].size > 1)
          twice = result;
    }
  });
}

//===--- Lanes ------------------------------------------------------------===//

void DimClasses::voteAccess(Value memref, Value tile, ArrayRef<int64_t> dims,
                            ArrayRef<int64_t> steps, int64_t weight) {
  int64_t contiguous = getContiguousDim(cast<MemRefType>(memref.getType()));
  auto it = llvm::find(dims, contiguous);
  if (it == dims.end() || steps[it - dims.begin()] != 1)
    return;
  info[of(tile)[it - dims.begin()]].score +=
      weight * tileType(tile).getNumElements();
}

/// Votes for the dimension of the tile that only the indices follow, if they
/// are positions in contiguous memory.
void DimClasses::voteGather(GatherOp gather) {
  ArrayRef<int64_t> dims = gather.getDims();
  int64_t last =
      getContiguousDim(cast<MemRefType>(gather.getMemref().getType()));
  if (int64_t(gather.getAlong()) == last && llvm::count(dims, -1) == 1)
    info[of(gather.getResult())[llvm::find(dims, -1) - dims.begin()]].score +=
        tileType(gather.getResult()).getNumElements();
}

void DimClasses::voteLanes(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](LoadOp load) {
        voteAccess(load.getMemref(), load.getResult(), load.getMemDims(),
                   load.getSteps(), 1);
      })
      .Case([&](StoreOp store) {
        voteAccess(store.getMemref(), store.getValue(), store.getMemDims(),
                   store.getSteps(), 2);
      })
      .Case([&](GatherOp gather) { voteGather(gather); })
      .Case([&](DotOp dot) {
        info[of(dot.getResult())[1]].score += int64_t(1) << 40;
      })
      .Case([&](ReshapeOp reshape) { // of a load: along its last dimension
        SmallVector<int> classes = of(reshape.getResult());
        if (!classes.empty())
          info[classes.back()].score += 1;
      });
}

/// Only one class of the source of a reduction, that with the highest lane
/// score, gets lanes: rows whose sums are adjacent in memory are reduced one by
/// one.
void DimClasses::demoteRows() {
  root->walk([&](ReduceOp reduce) {
    int64_t best = 0;
    for (int c : of(reduce.getSource()))
      best = std::max(best, info[c].score);
    for (int c : of(reduce.getSource()))
      if (info[c].score < best)
        info[c].score = 0;
  });
}

void DimClasses::chooseLanes() {
  demoteRows();
  for (Info &x : info) {
    int64_t bytes =
        x.floatBytes ? x.floatBytes : std::max<int64_t>(x.intBytes, 1);
    if (x.row && !x.column)
      x.score = 0; // a dot reads its rows one by one
    if (x.score > 0) {
      int64_t most = std::max<int64_t>(target.getVectorBytes() / bytes, 1);
      x.lanes = std::min<int64_t>(most, llvm::PowerOf2Ceil(x.size));
    }
    x.padded = llvm::alignTo(x.size, x.lanes);
    x.step = 1;
  }
}

//===--- Splits and steps -------------------------------------------------===//

Value adze::tile::getRootTile(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([](DotOp dot) { return dot.getResult(); })
      .Case([](ReduceOp reduce) -> Value {
        // A reduction that is only an operand of another one is part of it.
        if (reduce->hasOneUse() && isa<ReduceOp>(*reduce->user_begin()) &&
            reduce->getBlock() == (*reduce->user_begin())->getBlock())
          return {};
        return reduce.getResult();
      })
      .Case([](StoreOp store) { return store.getValue(); })
      .Case([](CheckOp check) {
        return isTile(check.getPositions()) ? check.getPositions() : Value();
      })
      .Case([](ReshapeOp reshape) -> Value {
        SmallVector<int64_t> map;
        if (reshape.getSource().getDefiningOp<LoadOp>() ||
            isUnitReshape(reshape, map))
          return {};
        return reshape.getSource();
      })
      .Default([](Operation *) { return Value(); });
}

/// Returns true if the tile broadcasts a non-constant tile.
static bool isRepeated(Value tile) {
  auto broadcast = tile.getDefiningOp<BroadcastOp>();
  return broadcast && isTile(broadcast.getSource()) &&
         !matchPattern(broadcast.getSource(), m_Constant());
}

void DimClasses::markRoles(Operation *op) {
  if (auto dot = dyn_cast<DotOp>(op)) {
    hasDots = true;
    SmallVector<int> classes = of(dot.getResult());
    info[classes[0]].row = true;
    info[classes[1]].column = true;
    info[of(dot.getLhs())[1]].contracted = true;
    auto right = dot.getRhs().getDefiningOp<LoadOp>();
    info[classes[1]].packed |=
        right && !right.getMemref().getType().getLayout().isIdentity();
  }
  hasReduces |= isa<ReduceOp>(op);
  if (auto gather = dyn_cast<GatherOp>(op))
    sharesIndices |= isRepeated(gather.getIndices());
  loads += isa<LoadOp>(op);
  stores += isa<StoreOp>(op);
  hasFunctions |= isa<math::ExpOp, math::LogOp, math::TanhOp, math::ErfOp,
                      math::SinOp, math::CosOp, math::PowFOp>(op);
}

/// Splits the classes that all roots have: the whole body can run for one slice
/// of such a class at a time.
void DimClasses::chooseSplits() {
  if (inOrder || twice)
    return;
  int64_t roots = 0;
  std::vector<int64_t> carried(info.size());
  root->walk([&](Operation *op) {
    Value tile = getRootTile(op);
    if (!tile)
      return;
    ++roots;
    for (int c : of(tile))
      ++carried[c];
  });
  for (int c = 0, e = info.size(); c < e; ++c)
    info[c].split = roots && find(c) == c && carried[c] == roots;
  keepRewrittenWhole();
  // The result of a computed reshape is in scratch memory of the whole tile, in
  // row-major order. So its merged dimensions are not split.
  root->walk([&](ReshapeOp reshape) {
    SmallVector<int64_t> map;
    if (isUnitReshape(reshape, map) ||
        reshape.getSource().getDefiningOp<LoadOp>())
      return;
    SmallVector<int> from = of(reshape.getSource());
    for (int c : of(reshape.getResult()))
      if (!llvm::is_contained(from, c))
        info[c].split = false;
  });
  for (int c = 0, e = info.size(); c < e; ++c)
    if (info[c].split)
      order.push_back(c);
  // Columns are the outer loop, so that a column panel of B stays in cache.
  llvm::sort(order, [&](int x, int y) {
    return std::pair(!info[x].column, x) < std::pair(!info[y].column, y);
  });
}

/// Memory that is stored to and loaded again: slices of a split class run one
/// after the other, so all accesses must touch the same part of the memory.
/// Other classes are not split.
void DimClasses::keepRewrittenWhole() {
  struct Access {
    Value tile;
    SmallVector<OpFoldResult> offsets;
    SmallVector<int64_t> dims, steps;
  };
  llvm::MapVector<Value, SmallVector<Access>> accesses;
  DenseSet<Value> loaded, stored;
  root->walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      loaded.insert(load.getMemref());
      accesses[load.getMemref()].push_back(
          {load.getResult(), load.getMixedOffsets(), load.getMemDims(),
           load.getSteps()});
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      stored.insert(store.getMemref());
      accesses[store.getMemref()].push_back(
          {store.getValue(), store.getMixedOffsets(), store.getMemDims(),
           store.getSteps()});
    }
  });
  // The dimension, offset and step of a class in an access; nothing if the
  // access does not have the class exactly once.
  using Position = std::tuple<int64_t, OpFoldResult, int64_t>;
  auto find = [&](const Access &access, int c) {
    SmallVector<int> own = of(access.tile);
    auto it = llvm::find(own, c);
    if (it == own.end() || llvm::count(own, c) != 1)
      return std::optional<Position>();
    int64_t i = it - own.begin();
    return std::optional<Position>(Position{
        access.dims[i], access.offsets[access.dims[i]], access.steps[i]});
  };
  for (auto &[memory, list] : accesses)
    if (loaded.contains(memory) && stored.contains(memory))
      for (int c = 0, e = info.size(); c < e; ++c) {
        std::optional<Position> first = find(list.front(), c);
        info[c].split &= llvm::all_of(list, [&](const Access &access) {
          return first && find(access, c) == first;
        });
      }
}

/// Returns true if an operand with these two classes is computed elementwise
/// from loads whose elements are adjacent in memory along `depth`.
bool DimClasses::liesAlongDepth(Value operand, int depth, int columns) const {
  bool found = false;
  SmallVector<Value> work{operand};
  while (!work.empty()) {
    Value tile = work.pop_back_val();
    if (!isTile(tile) || !llvm::is_contained(of(tile), columns))
      continue;
    Operation *op = tile.getDefiningOp();
    if (!op)
      return false;
    if (auto load = dyn_cast<LoadOp>(op)) {
      auto type = cast<MemRefType>(load.getMemref().getType());
      SmallVector<int64_t> dims = load.getMemDims();
      auto it = llvm::find(dims, getContiguousDim(type));
      if (it == dims.end() || of(tile)[it - dims.begin()] != depth ||
          load.getSteps()[it - dims.begin()] != 1)
        return false;
      found = true;
      continue;
    }
    if (op->hasTrait<OpTrait::ConstantLike>())
      continue;
    if (!isa<BroadcastOp>(op) && !op->hasTrait<OpTrait::Elementwise>())
      return false;
    llvm::append_range(work, op->getOperands());
  }
  return found;
}

/// With one block of rows, each element of the right operand is used once for
/// each row. If it is contiguous along the contracted dimension, transposing it
/// would cost more than the product, so the dot runs along that dimension.
void DimClasses::chooseDepthDots() {
  constexpr int64_t fewestLanes = 4;
  if (inOrder || twice)
    return;
  root->walk([&](DotOp dot) {
    SmallVector<int> own = of(dot.getRhs());
    Info &rows = info[of(dot.getResult())[0]], &depth = info[own[0]],
         &columns = info[own[1]];
    bool mayRun = rows.size <= getBlockRows(target) && !rows.column &&
                  rows.lanes == 1 && depth.lanes >= fewestLanes &&
                  dot.getWordElements() == 1 && depth.size >= depth.lanes &&
                  !depth.split && !depth.row && !depth.column && !columns.row &&
                  own[0] != own[1];
    if (!mayRun || !liesAlongDepth(dot.getRhs(), own[0], own[1]))
      return;
    depthDots.insert(dot);
    columns.depthColumn = true;
  });
}

/// Returns the step that divides `size` into equal parts of at most `want`.
static int64_t balanced(int64_t size, int64_t want) {
  int64_t parts = llvm::divideCeil(size, std::max<int64_t>(want, 1));
  return llvm::divideCeil(size, parts);
}

void DimClasses::stepsOfDots(int64_t accumulators) {
  bool narrow = llvm::none_of(
      info, [](const Info &x) { return x.column && x.padded > x.lanes; });
  for (Info &x : info) {
    if (x.column)
      x.step = std::min(x.padded, (x.depthColumn ? 1 : 2) * x.lanes);
    else if (x.row) // one vector of columns: as many accumulators
      x.step = balanced(x.size, narrow ? accumulators : getBlockRows(target));
    else if (x.score > 0) // contracted dimensions are copied in square blocks
      x.step = std::min(x.padded, (x.contracted ? 1 : 4) * x.lanes);
  }
  // With few rows, wider columns provide enough independent accumulators.
  int64_t rows = 1;
  for (const Info &x : info)
    if (x.row && !x.column)
      rows = std::max(rows, x.step);
  for (Info &x : info)
    if (x.column && !x.depthColumn && rows * 2 <= getBlockRows(target)) {
      // Long runs of rows are at distant addresses; panels are limited to few
      // at once.
      int64_t vectors =
          std::min<int64_t>(accumulators / rows, x.packed ? 8 : 16);
      x.step = std::min(x.padded, vectors * x.lanes);
    }
}

/// Returns true if there are loads of one memory at constant distances along
/// this class, such as sliding windows: several steps at once load most
/// elements once.
bool DimClasses::sharesLoads(int c) const {
  if (info[c].lanes > 1 || info[c].size == 1)
    return false;
  DenseMap<std::pair<Value, Value>, OpFoldResult> seen;
  return root
      ->walk([&](LoadOp load) {
        SmallVector<int> own = of(load.getResult());
        auto it = llvm::find(own, c);
        if (it == own.end())
          return WalkResult::advance();
        OpFoldResult offset =
            load.getMixedOffsets()[load.getMemDims()[it - own.begin()]];
        auto base = dyn_cast<Value>(offset);
        while (auto sum = base ? base.getDefiningOp<arith::AddIOp>()
                               : arith::AddIOp()) {
          if (!getConstantIntValue(sum.getRhs()))
            break;
          base = sum.getLhs();
        }
        auto [other, isFirst] =
            seen.try_emplace({load.getMemref(), base}, offset);
        return isFirst || other->second == offset ? WalkResult::advance()
                                                  : WalkResult::interrupt();
      })
      .wasInterrupted();
}

bool DimClasses::slides() const {
  return llvm::any_of(order, [&](int c) { return sharesLoads(c); });
}

/// Chooses steps of kernels without a dot that fill about `budget` registers,
/// lanes first.
void DimClasses::stepsOfRows() {
  // Sums of rows that are scalars do not fill registers.
  bool carriesTiles = llvm::any_of(carried, [&](Value tile) {
    return llvm::any_of(of(tile), [&](int c) { return info[c].lanes > 1; });
  });
  bool sumsOnly = (carriesTiles || slides()) && !hasReduces;
  int64_t budget = sumsOnly ? getAccumulators(target) : 4;
  // An expanded math function needs registers of its own; with streaming
  // stores, several rows would exceed the first-level cache together with the
  // prefetched ones.
  if (hasReduces && !hasFunctions && !streams())
    budget = 8;
  bool hasRows = llvm::any_of(
      order, [&](int c) { return info[c].lanes == 1 && info[c].size > 1; });
  // If non-temporal stores stall the core, the next sums need registers.
  bool waits =
      slides() && streams() && target.has(CpuTrait::nontemporal_stores_stall);
  int64_t vectors = !sumsOnly || !hasRows ? 4 : waits ? 1 : 2, used = 1;
  constexpr int64_t many = 12; // the tiles fill the registers by themselves
  if (loads > many && stores > 1)
    vectors = budget = 1;
  // All rows of a step share the computation of the indices.
  if (sharesIndices && hasRows)
    vectors = 1;
  // Two classes along lanes are a transposition, in blocks that fit into
  // registers.
  constexpr int64_t mostTurned = 16;
  bool turns =
      llvm::count_if(order, [&](int c) { return info[c].lanes > 1; }) > 1;
  for (Info &x : info)
    if (x.lanes > 1) {
      x.step = std::min(x.padded, (turns ? 1 : vectors) * x.lanes);
      if (turns && &x != &info[order.back()])
        x.step = std::min(x.step, mostTurned);
      used = std::max(used, x.step / x.lanes);
    }
  for (int c : llvm::reverse(order)) {
    Info &x = info[c];
    if (x.lanes > 1)
      continue;
    x.step = balanced(x.size, budget / used);
    used *= x.step;
  }
}

void DimClasses::chooseSteps() {
  if (matrixUnit)
    stepsOfMatrices();
  else if (hasDots)
    stepsOfDots(getAccumulators(target));
  else
    stepsOfRows();
}
