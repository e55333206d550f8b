// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Dimension classes of a kernel, and their distribution over threads.
#include "KernelPlan.h"
#include "DeviceBuilder.h"
#include "Dialect/Tile/IR/PhysicalType.h"
#include "Dialect/Tile/IR/Units.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace adze::togpu {

/// The number of registers that a thread may hold of a tile that is not that of
/// a root.
static constexpr int64_t kStreamRegs = 64;

//===----------------------------------------------------------------------===//
// Spreads
//===----------------------------------------------------------------------===//

/// Returns the longest run of thread bits outside `used`: {first bit, length}.
static std::pair<int64_t, int64_t> freeRun(uint64_t used, int64_t threads) {
  std::pair<int64_t, int64_t> best{0, 0};
  int64_t bits = llvm::Log2_64(threads);
  for (int64_t i = 0; i < bits;) {
    int64_t j = i;
    while (j < bits && !(used >> j & 1))
      ++j;
    if (j - i > best.second)
      best = {i, j - i};
    i = j + 1;
  }
  return best;
}

/// Distributes over at most `most` threads unless `most` is 0.
static Spread spreadOne(int64_t size, int64_t vec, uint64_t used,
                        int64_t threads, int64_t most = 0) {
  Spread s;
  s.size = size;
  for (s.vec = vec; s.vec > 1 && size % s.vec; s.vec /= 2)
    ;
  auto [shift, length] = freeRun(used, threads);
  int64_t groups = size / s.vec;
  s.shift = shift;
  s.threads =
      std::min<int64_t>(llvm::PowerOf2Ceil(groups), int64_t(1) << length);
  if (most)
    s.threads = std::min(s.threads, most);
  s.regs = llvm::divideCeil(groups, s.threads) * s.vec;
  return s;
}

SmallVector<Spread> spreadDims(ArrayRef<int64_t> sizes,
                               ArrayRef<unsigned> order, int64_t threads,
                               int64_t vec, uint64_t used) {
  SmallVector<Spread> spreads(sizes.size());
  for (unsigned dim : order) {
    spreads[dim] = spreadOne(sizes[dim], vec, used, threads);
    used |= spreads[dim].mask();
    vec = 1;
  }
  return spreads;
}

SmallVector<ReshapeGroup> reshapeGroups(ArrayRef<int64_t> from,
                                        ArrayRef<int64_t> to) {
  SmallVector<ReshapeGroup> groups;
  unsigned i = 0, j = 0;
  auto next = [](ArrayRef<int64_t> sizes, unsigned &at) {
    while (at < sizes.size() && sizes[at] == 1)
      ++at;
    return at < sizes.size();
  };
  while (next(from, i) && next(to, j)) {
    ReshapeGroup group;
    int64_t a = from[i], c = to[j];
    group.from.push_back(i++), group.to.push_back(j++);
    while (a != c) {
      if (a < c && next(from, i))
        a *= from[i], group.from.push_back(i++);
      else if (next(to, j))
        c *= to[j], group.to.push_back(j++);
      else
        break; // sizes differ: diagnosed by the verifier
    }
    groups.push_back(group);
  }
  return groups;
}

FailureOr<SmallVector<Spread>>
splitSpread(Spread whole, ArrayRef<int64_t> shape, ArrayRef<unsigned> dims) {
  SmallVector<Spread> spreads;
  if (whole.chunks > 1 || whole.ragged() || !llvm::isPowerOf2_64(whole.regs))
    return failure();
  for (unsigned dim : llvm::reverse(dims)) {
    int64_t size = shape[dim];
    if (!llvm::isPowerOf2_64(size))
      return failure();
    // The positions of a vector, its threads, its registers and its part are
    // digits of a position, from the last one on.
    auto take = [&](int64_t &count, int64_t &left) {
      int64_t taken = std::min(count, left);
      count /= taken;
      left /= taken;
      return taken;
    };
    Spread inner = whole;
    int64_t left = inner.size = size;
    if (left < whole.vec)
      return failure();
    int64_t threads = whole.inPart(), vectors = whole.regs / whole.vec;
    left /= whole.vec;
    int64_t takenThreads = take(threads, left),
            takenVectors = take(vectors, left);
    inner.parts = take(whole.parts, left);
    inner.threads = takenThreads * inner.parts;
    inner.regs = takenVectors * whole.vec;
    spreads.push_back(inner);
    whole.size /= size;
    whole.vec = 1;
    whole.threads = threads * whole.parts;
    whole.regs = vectors;
    whole.shift += llvm::Log2_64(takenThreads);
    whole.partShift += llvm::Log2_64(inner.parts);
  }
  std::reverse(spreads.begin(), spreads.end());
  return spreads;
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

int KernelPlan::find(int cls) {
  while (parent[cls] != cls)
    cls = parent[cls] = parent[parent[cls]];
  return cls;
}

void KernelPlan::unite(int a, int b) {
  a = find(a), b = find(b);
  if (a != b)
    parent[b] = a;
}

SmallVector<int> &KernelPlan::idsOf(Value tile) {
  auto [it, fresh] = ids.try_emplace(tile);
  if (fresh)
    for (int64_t size : tileType(tile).getShape()) {
      it->second.push_back(parent.size());
      parent.push_back(parent.size());
      sizes.push_back(size);
    }
  return it->second;
}

SmallVector<int> KernelPlan::classesOf(Value tile) {
  return llvm::map_to_vector(idsOf(tile), [&](int id) { return find(id); });
}

void KernelPlan::same(Value a, Value b) {
  SmallVector<int> x = idsOf(a), y = idsOf(b);
  for (auto [i, j] : llvm::zip_equal(x, y))
    unite(i, j);
}

void KernelPlan::visit(Operation *op) {
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    same(dot.getAcc(), dot.getResult());
    SmallVector<int> l = idsOf(dot.getLhs()), r = idsOf(dot.getRhs()),
                     x = idsOf(dot.getResult());
    unite(l[0], x[0]), unite(r[1], x[1]), unite(l[1], r[0]);
  } else if (isa<tile::ReduceOp, tile::BitcastOp>(op)) {
    SmallVector<int> s = idsOf(op->getOperand(0)), x = idsOf(op->getResult(0));
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      s.erase(s.begin() + reduce.getDim());
    for (auto [i, j] : llvm::zip(s, x)) // a bitcast adds the last dim
      unite(i, j);
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    if (!isTile(broadcast.getSource()))
      return;
    SmallVector<int> s = idsOf(broadcast.getSource()),
                     x = idsOf(broadcast.getResult());
    for (auto [i, d] : llvm::zip_equal(s, *broadcast.getDims()))
      unite(i, x[d]);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, arg, yield, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues(), loop.getResults()))
      if (isTile(init))
        same(init, arg), same(init, yield), same(init, result);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (auto [i, result] : llvm::enumerate(branch.getResults()))
      if (isTile(result))
        same(result, branch.thenYield()->getOperand(i)),
            same(result, branch.elseYield()->getOperand(i));
  } else if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    SmallVector<int> s = idsOf(reshape.getSource()),
                     x = idsOf(reshape.getResult());
    for (const ReshapeGroup &group :
         reshapeGroups(tileType(reshape.getSource()).getShape(),
                       tileType(reshape.getResult()).getShape()))
      if (group.kept())
        unite(s[group.from[0]], x[group.to[0]]);
  } else if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    SmallVector<int> s = idsOf(transpose.getSource()),
                     x = idsOf(transpose.getResult());
    for (auto [i, p] : llvm::enumerate(transpose.getPerm()))
      unite(s[p], x[i]);
  } else if (auto gather = dyn_cast<tile::GatherOp>(op)) {
    same(gather.getIndices(), gather.getResult());
  } else if (auto scan = dyn_cast<tile::ScanOp>(op)) {
    same(scan.getSource(), scan.getResult());
  } else if (auto scatter = dyn_cast<tile::ScatterOp>(op)) {
    same(scatter.getIndices(), scatter.getValue());
  } else if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() &&
             isTile(op->getResult(0))) {
    for (Value operand : op->getOperands())
      if (isTile(operand))
        same(operand, op->getResult(0));
  }
}

bool KernelPlan::isRoot(Value tile) {
  Operation *op = tile.getDefiningOp();
  return !op ||
         isa<tile::DotOp, tile::ReduceOp, tile::ScanOp, scf::ForOp, scf::IfOp>(
             op);
}

bool KernelPlan::dependsOnRoot(Value tile) {
  llvm::SmallSetVector<Value, 16> work;
  work.insert(tile);
  for (unsigned i = 0; i < work.size(); ++i) {
    if (isRoot(work[i]))
      return true;
    for (Value operand : work[i].getDefiningOp()->getOperands())
      if (isTile(operand))
        work.insert(operand);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The plan of a kernel
//===----------------------------------------------------------------------===//

Value getStored(Operation *op) {
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return store.getValue();
  auto scatter = dyn_cast<tile::ScatterOp>(op);
  return scatter ? scatter.getValue() : Value();
}

/// Distributes both dimensions of an accumulator together. Minimizes
/// multiply-adds first (idle threads cost), then reads of operands from shared
/// memory.
void KernelPlan::spreadDot(tile::DotOp dot) {
  if (spreadByUnit(dot))
    return;
  SmallVector<int> cls = classesOf(dot.getResult());
  if (cls[0] == cls[1] || spreads.count(cls[0]) || spreads.count(cls[1]))
    return spreadTile(dot.getResult());
  Spread best[2];
  double bestCost = 0;
  auto vecOf = [](int64_t size, int64_t threads) {
    int64_t each = llvm::divideCeil(size, threads);
    return each % 4 == 0 && size % 4 == 0   ? 4
           : each % 2 == 0 && size % 2 == 0 ? 2
                                            : 1;
  };
  for (int64_t columns = 1; columns <= threads; columns *= 2) {
    Spread s[2];
    for (int i : {0, 1}) {
      s[i].size = sizes[cls[i]];
      s[i].threads = i ? columns : threads / columns;
      s[i].shift = i ? 0 : llvm::Log2_64(columns);
      s[i].vec = vecOf(s[i].size, s[i].threads);
      s[i].regs =
          llvm::divideCeil(s[i].size / s[i].vec, s[i].threads) * s[i].vec;
    }
    double cost = double(s[0].regs) * s[1].regs +
                  0.5 * (s[0].regs + s[1].regs) +
                  (columns < 16 ? 1.0 / columns : 0);
    if (columns == 1 || cost < bestCost)
      bestCost = cost, best[0] = s[0], best[1] = s[1];
  }
  for (int i : {0, 1})
    spreads[cls[i]] = best[i];
}

void KernelPlan::findScattered() {
  kernel.walk([&](tile::LoadOp load) {
    int64_t inner = innermostTileDim(load);
    if (inner >= 0 && load.getSteps()[inner] != 1)
      scattered.insert(classesOf(load.getResult())[inner]);
  });
  kernel.walk([&](tile::GatherOp gather) {
    ArrayRef<int64_t> dims = gather.getDims();
    if (int64_t(gather.getAlong()) ==
        tile::getContiguousDim(gather.getMemref().getType()))
      for (auto [cls, dim] : llvm::zip(classesOf(gather.getResult()), dims))
        if (dim < 0)
          scattered.insert(cls);
  });
}

/// Gives each thread whole rows of what a kernel stores, if they are one access
/// and loads are contiguous along another dim: adjacent threads then load
/// adjacent elements, and store adjacent rows.
void KernelPlan::spreadShortRows() {
  constexpr int64_t accessBytes = 16;
  kernel.walk([&](tile::StoreOp store) {
    Value tile = store.getValue();
    SmallVector<int> cls = classesOf(tile);
    int64_t inner = innermostTileDim(store);
    if (inner < 0 || spreads.count(cls[inner]))
      return;
    unsigned first = memoryOrder(tile).front();
    if (inner == first)
      return;
    int64_t size = sizes[cls[inner]];
    if (!llvm::isPowerOf2_64(size) ||
        size * bytesOf(tileType(tile).getElementType()) > accessBytes)
      return;
    Spread &row = spreads[cls[inner]];
    row.size = row.vec = row.regs = size;
    scattered.insert(cls[first]);
  });
}

/// Distributes the dimensions that reshapes of sums split, so that these stay
/// in their threads.
void KernelPlan::spreadSplitDims() {
  kernel.walk([&](tile::ReshapeOp op) {
    if (!dependsOnRoot(op.getSource()))
      return;
    SmallVector<int> from = classesOf(op.getSource()),
                     to = classesOf(op.getResult());
    ArrayRef<int64_t> shape = tileType(op.getResult()).getShape();
    for (const ReshapeGroup &group :
         reshapeGroups(tileType(op.getSource()).getShape(), shape)) {
      auto whole = spreads.find(from[group.from[0]]);
      if (group.kept() || group.from.size() > 1 || whole == spreads.end() ||
          llvm::any_of(group.to,
                       [&](unsigned dim) { return spreads.count(to[dim]); }))
        continue;
      auto parts = splitSpread(whole->second, shape, group.to);
      if (failed(parts))
        continue;
      for (auto [dim, spread] : llvm::zip_equal(group.to, *parts)) {
        spreads[to[dim]] = spread;
        held.insert(to[dim]);
      }
    }
  });
}

bool KernelPlan::keepsThreads(tile::ReshapeOp op) {
  SmallVector<int> from = classesOf(op.getSource()),
                   to = classesOf(op.getResult());
  ArrayRef<int64_t> shape = tileType(op.getResult()).getShape();
  return llvm::all_of(
      reshapeGroups(tileType(op.getSource()).getShape(), shape),
      [&](const ReshapeGroup &group) {
        if (group.kept() || group.from.size() > 1)
          return group.kept();
        auto parts =
            splitSpread(spreadOf(from[group.from[0]]), shape, group.to);
        return succeeded(parts) &&
               llvm::all_of(llvm::zip_equal(group.to, *parts), [&](auto part) {
                 return spreadOf(to[std::get<0>(part)]) == std::get<1>(part);
               });
      });
}

/// Distributes the remaining classes of the tile over the thread bits that the
/// other classes do not use.
void KernelPlan::spreadTile(Value tile) {
  SmallVector<int> cls = classesOf(tile);
  uint64_t used = 0;
  for (int c : cls)
    if (auto it = spreads.find(c); it != spreads.end())
      used |= it->second.mask();
  int64_t vec = std::max<int64_t>(
      1, 16 / std::max(1u, bytesOf(tileType(tile).getElementType())));
  int64_t elements = tileType(tile).getNumElements();
  vec = std::min(
      {vec, int64_t(8),
       std::max<int64_t>(1, llvm::bit_floor(uint64_t(elements / threads)))});
  for (unsigned dim : memoryOrder(tile)) {
    if (!spreads.count(cls[dim])) {
      int64_t most = maxThreads.lookup(cls[dim]);
      for (int c : cls) // dims that are reduced share the threads of a row
        if (most && c != cls[dim] && maxThreads.count(c) && spreads.count(c))
          most = std::max<int64_t>(1, most / spreads[c].threads);
      // Elements of a short dim in one thread are adjacent.
      int64_t size = sizes[cls[dim]];
      int64_t together = most == 1 && size <= kShortDim ? kShortDim
                         : scattered.contains(cls[dim]) ? 1
                                                        : vec;
      spreads[cls[dim]] = spreadOne(size, together, used, threads, most);
      used |= spreads[cls[dim]].mask();
    }
    vec = 1;
  }
}

/// Loops over dimensions if a thread would otherwise hold too many registers of
/// a tile that is only loaded, computed and stored.
void KernelPlan::limitRegisters() {
  auto limit = [&](Value tile) {
    SmallVector<int> cls = classesOf(tile);
    int64_t allowed = threads > 512 ? kStreamRegs / 2 : kStreamRegs;
    while (true) {
      int64_t total = 1;
      int widest = -1;
      for (int c : cls) {
        total *= spreads[c].regs;
        bool free = !held.contains(c) && llvm::count(cls, c) == 1 &&
                    spreads[c].regs > spreads[c].vec;
        if (free && (widest < 0 || spreads[c].regs > spreads[widest].regs))
          widest = c;
      }
      if (total <= allowed || widest < 0)
        return;
      Spread &s = spreads[widest];
      s.regs = llvm::divideCeil(s.regs / s.vec, 2) * s.vec;
      s.chunks = llvm::divideCeil(s.size, s.threads * s.regs);
    }
  };
  kernel.walk([&](Operation *op) {
    if (Value stored = getStored(op))
      limit(stored);
    else if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      limit(reduce.getSource());
  });
}

Value argumentOf(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

KernelPlan::KernelPlan(tile::KernelOp kernel, int64_t wanted, int64_t blocks)
    : kernel(kernel), target(tile::findCudaTarget(kernel)), threads(wanted),
      blocks(blocks), narrow(storesNarrow(kernel)) {
  kernel.walk([&](Operation *op) {
    for (Value v : llvm::concat<Value>(llvm::to_vector(op->getOperands()),
                                       llvm::to_vector(op->getResults())))
      if (isTile(v))
        idsOf(v);
    visit(op);
  });
  contractions = findContractions(kernel, target);
  findTransposed();
  if (!threads)
    chooseThreads();
  depthIsShared = blocks > 1 && hasProducts(kernel);
  if (depthIsShared)
    threads /= blocks;
  orderMemory();
  findScattered();
  SmallVector<tile::DotOp> dots;
  SmallVector<Value> tiles, carried;
  kernel.walk([&](Operation *op) {
    if (auto dot = dyn_cast<tile::DotOp>(op))
      dots.push_back(dot);
    else if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      tiles.push_back(reduce.getSource());
    else if (Value stored = getStored(op))
      tiles.push_back(stored);
    for (Value result : op->getResults())
      if (isTile(result) && isRoot(result)) {
        carried.push_back(result);
        held.insert_range(classesOf(result));
      }
  });
  // The largest first; those of equal size in program order.
  auto sortBySize = [](auto &list, auto tileOf) {
    SmallVector<std::pair<int64_t, unsigned>> keys;
    for (auto [i, x] : llvm::enumerate(list))
      keys.push_back({-tileType(tileOf(x)).getNumElements(), i});
    llvm::sort(keys);
    auto old = list;
    for (auto [i, key] : llvm::enumerate(keys))
      list[i] = old[key.second];
  };
  sortBySize(dots, [](tile::DotOp dot) { return dot.getResult(); });
  sortBySize(tiles, [](Value v) { return v; });
  for (tile::DotOp dot : dots)
    spreadDot(dot);
  spreadContractions();
  limitReducedDims();
  spreadParts();
  spreadSplitDims();
  spreadShortRows();
  for (Value tile : llvm::concat<Value>(tiles, carried))
    spreadTile(tile);
  // All other tiles are computed on demand at their users' positions.
  for (int c = 0, e = parent.size(); c < e; ++c)
    if (find(c) == c && !spreads.count(c))
      spreads[c] = spreadOne(sizes[c], 1, 0, threads);
  limitRegisters();
}

} // namespace adze::togpu
