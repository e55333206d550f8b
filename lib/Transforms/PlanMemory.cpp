// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// plan-memory: assigns offsets to slots in the arena and to constants in the
// weights.
#include "SlotLives.h"
#include "Support/PackedLayout.h"
#include "Transforms/ArenaFormula.h"
#include "Transforms/ArenaPacking.h"
#include "Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_PLANMEMORY
#include "Transforms/Passes.h.inc"

namespace {
class PlanMemoryPass final : public impl::PlanMemoryBase<PlanMemoryPass> {
public:
  void runOnOperation() override;

private:
  void planArena(func::FuncOp program);
  void planWeights(func::FuncOp program);
  void planComputed(func::FuncOp program);
};

/// A size as a number times an expression, which is 1 for static sizes.
struct Scaled {
  AffineExpr unit;
  int64_t count;
};

/// A sum of multiples of units, which are expressions of the symbols that are
/// never negative. Sums are comparable for all symbols. The terms are sorted by
/// unit.
struct Sum {
  SmallVector<std::pair<unsigned, int64_t>, 2> terms;

  void add(unsigned unit, int64_t count);
  bool covers(const Sum &other) const;
};

/// Applies the order of a packing to the ops.
class Placement {
public:
  Placement(MutableArrayRef<Slot> slots, const PackingOrder &order);

  /// Sets the offset of each slot, or the slots that it follows.
  void apply();
  /// Returns the expressions whose maximum is the end of all slots with an
  /// offset.
  SmallVector<AffineExpr> getEnds() const;

private:
  std::optional<Sum> getOffset(unsigned slot) const;
  AffineExpr getExpr(const Sum &sum) const;
  void moveToFront();

  MutableArrayRef<Slot> slots;
  const PackingOrder &order;
  llvm::MapVector<AffineExpr, unsigned> units;
  std::vector<std::optional<Sum>> ends; // none: follows other slots
};
} // namespace

static Scaled split(AffineExpr expr) {
  AffineExpr one = getAffineConstantExpr(1, expr.getContext());
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {one, constant.getValue()};
  if (expr.getKind() == AffineExprKind::Mul) {
    auto product = cast<AffineBinaryOpExpr>(expr);
    if (auto constant = dyn_cast<AffineConstantExpr>(product.getRHS()))
      return {product.getLHS(), constant.getValue()};
  }
  return {expr, 1};
}

/// Splits a size into a multiple of the alignment and a unit. The unit of other
/// symbolic sizes is the rounded size itself.
static Scaled splitAligned(AffineExpr expr) {
  Scaled scaled = split(expr);
  if (isa<AffineConstantExpr>(scaled.unit))
    return {scaled.unit,
            int64_t(llvm::alignTo(scaled.count, host::placeAlignment))};
  if (scaled.count % host::placeAlignment == 0)
    return scaled;
  return {expr.ceilDiv(host::placeAlignment), host::placeAlignment};
}

/// Returns the sums of live sizes that no other sum exceeds in all units.
/// Static sizes have one.
static SmallVector<AffineExpr> getLowerBounds(ArrayRef<Slot> slots,
                                              MLIRContext *context) {
  llvm::MapVector<AffineExpr, unsigned> units;
  std::map<unsigned, SmallVector<std::pair<unsigned, int64_t>>> changes;
  for (const Slot &slot : slots) {
    Scaled size = split(slot.bytes);
    unsigned unit = units.try_emplace(size.unit, units.size()).first->second;
    changes[slot.begin].push_back({unit, size.count});
    changes[slot.end + 1].push_back({unit, -size.count});
  }
  using Sum = SmallVector<int64_t, 4>;
  Sum current(units.size(), 0);
  std::vector<Sum> best;
  auto exceeds = [](const Sum &a, const Sum &b) {
    return llvm::all_of(llvm::zip(a, b), [](auto pair) {
      return std::get<0>(pair) >= std::get<1>(pair);
    });
  };
  for (auto &[step, list] : changes) {
    for (auto [unit, count] : list)
      current[unit] += count;
    if (llvm::any_of(best, [&](const Sum &b) { return exceeds(b, current); }))
      continue;
    llvm::erase_if(best, [&](const Sum &b) { return exceeds(current, b); });
    best.push_back(current);
  }
  SmallVector<AffineExpr> results;
  for (const Sum &sum : best) {
    AffineExpr expr = getAffineConstantExpr(0, context);
    for (auto [unit, count] : llvm::zip(units, sum))
      expr = expr + unit.first * count;
    results.push_back(expr);
  }
  if (results.empty())
    results.push_back(getAffineConstantExpr(0, context));
  return results;
}

void Sum::add(unsigned unit, int64_t count) {
  auto place = llvm::lower_bound(terms, std::pair(unit, INT64_MIN));
  if (place != terms.end() && place->first == unit)
    place->second += count;
  else
    terms.insert(place, {unit, count});
}

bool Sum::covers(const Sum &other) const {
  return llvm::all_of(other.terms, [&](const std::pair<unsigned, int64_t> &t) {
    auto place = llvm::lower_bound(terms, std::pair(t.first, INT64_MIN));
    return place != terms.end() && place->first == t.first &&
           place->second >= t.second;
  });
}

/// Returns the sum that is at least all others, if there is one.
static std::optional<Sum> getGreatest(ArrayRef<Sum> sums) {
  Sum best;
  for (const Sum &sum : sums)
    if (sum.covers(best))
      best = sum;
  bool covers =
      llvm::all_of(sums, [&](const Sum &sum) { return best.covers(sum); });
  return covers ? std::optional(best) : std::nullopt;
}

Placement::Placement(MutableArrayRef<Slot> slots, const PackingOrder &order)
    : slots(slots), order(order), ends(slots.size()) {
  for (const Slot &slot : slots)
    units.try_emplace(splitAligned(slot.bytes).unit, units.size());
}

AffineExpr Placement::getExpr(const Sum &sum) const {
  AffineExpr expr = getAffineConstantExpr(0, slots.front().bytes.getContext());
  for (auto [unit, count] : sum.terms)
    expr = expr + units.begin()[unit].first * count;
  return expr;
}

std::optional<Sum> Placement::getOffset(unsigned slot) const {
  // Longer formulas say less than the slots that they come from.
  constexpr size_t maxTerms = 8;
  SmallVector<Sum> below;
  for (unsigned other : order.below[slot]) {
    if (!ends[other] || ends[other]->terms.size() > maxTerms)
      return std::nullopt;
    below.push_back(*ends[other]);
  }
  return getGreatest(below);
}

/// Slots are moved in the order of their offsets, so that each is defined
/// before the slots that follow it.
void Placement::moveToFront() {
  auto program = slots.front().op->getParentOfType<func::FuncOp>();
  Block *block = &program.front();
  for (unsigned slot : llvm::reverse(order.order))
    slots[slot].op->moveBefore(block, block->begin());
}

void Placement::apply() {
  bool anyFollows = false;
  for (unsigned index : order.order) {
    Slot &slot = slots[index];
    std::optional<Sum> offset = getOffset(index);
    if (offset) {
      slot.op.setOffsetAttr(host::getBytesAttr(getExpr(*offset)));
      Scaled size = splitAligned(slot.bytes);
      offset->add(units.lookup(size.unit), size.count);
      ends[index] = offset;
      continue;
    }
    anyFollows = true;
    SmallVector<Value> predecessors;
    for (unsigned other : order.below[index])
      predecessors.push_back(slots[other].op.getResult());
    slot.op.getAfterMutable().assign(predecessors);
  }
  if (anyFollows)
    moveToFront();
}

SmallVector<AffineExpr> Placement::getEnds() const {
  std::vector<Sum> greatest;
  std::vector<bool> isLast(slots.size(), true);
  for (ArrayRef<unsigned> below : order.below)
    for (unsigned other : below)
      isLast[other] = false;
  for (size_t slot = 0; slot < ends.size(); ++slot) {
    const std::optional<Sum> &end = ends[slot];
    if (!end || !isLast[slot])
      continue;
    if (llvm::any_of(greatest, [&](const Sum &s) { return s.covers(*end); }))
      continue;
    llvm::erase_if(greatest, [&](const Sum &s) { return end->covers(s); });
    greatest.push_back(*end);
  }
  SmallVector<AffineExpr> results;
  for (const Sum &sum : greatest)
    results.push_back(getExpr(sum));
  return results;
}

/// Returns the sizes for some values of the symbols: small, common and large
/// ones.
static SmallVector<SmallVector<LiveBuffer>> getSamples(func::FuncOp program,
                                                       ArrayRef<Slot> slots) {
  SmallVector<SmallVector<LiveBuffer>> samples;
  SmallVector<SmallVector<int64_t>> points;
  for (int64_t usual : {128, 16, 512}) {
    SmallVector<int64_t> point = getTypicalSymbols(program, usual);
    if (llvm::is_contained(points, point))
      continue;
    points.push_back(point);
    auto &sample = samples.emplace_back();
    for (const Slot &slot : slots) {
      int64_t bytes = std::max<int64_t>(0, evaluate(slot.bytes, point));
      sample.push_back({int64_t(llvm::divideCeil(bytes, host::placeAlignment)),
                        slot.begin, slot.end});
    }
  }
  return samples;
}

/// Returns the packing with the best worst case over the samples.
static PackingOrder
chooseOrder(MutableArrayRef<SmallVector<LiveBuffer>> samples) {
  SmallVector<int64_t> bounds;
  SmallVector<PackingOrder> candidates;
  for (ArrayRef<LiveBuffer> sample : samples) {
    bounds.push_back(std::max<int64_t>(1, getGreatestLiveSum(sample)));
    llvm::append_range(candidates, getPackingOrders(sample));
  }
  PackingOrder *best = nullptr;
  double leastExcess = 0;
  for (PackingOrder &candidate : candidates) {
    double excess = 0;
    for (auto [sample, bound] : llvm::zip(samples, bounds))
      excess = std::max(excess, double(placeInOrder(candidate, sample)) /
                                    double(bound));
    if (!best || excess < leastExcess) {
      best = &candidate;
      leastExcess = excess;
    }
  }
  return std::move(*best);
}

/// Removes the places that an earlier plan gave to the slots.
static void clearPlaces(func::FuncOp program) {
  program.walk([](host::SlotOp slot) {
    slot.removeOffsetAttr();
    slot.getAfterMutable().clear();
  });
}

void PlanMemoryPass::planArena(func::FuncOp program) {
  clearPlaces(program);
  SmallVector<Slot> slots = collectSlots(program);
  numberBoxes(program, slots);
  SmallVector<SmallVector<LiveBuffer>> samples = getSamples(program, slots);
  PackingOrder order = chooseOrder(samples);
  Placement placement(slots, order);
  if (!slots.empty())
    placement.apply();
  SmallVector<AffineExpr> ends = placement.getEnds();
  if (ends.empty())
    ends.push_back(getAffineConstantExpr(0, &getContext()));
  SmallVector<AffineExpr> bounds = getLowerBounds(slots, &getContext());
  program->setAttr(host::arenaBytesAttr,
                   AffineMapAttr::get(host::getSymbolMap(ends, program)));
  program->setAttr(host::arenaLowerBoundAttr,
                   AffineMapAttr::get(host::getSymbolMap(bounds, program)));
  ArenaSize size = getArenaSize(program, getTypicalSymbols(program));
  arenaBytes += size.bytes;
  lowerBoundBytes += size.lowerBound;
}

/// Places the op where one with an equal key is, or at the end of `total`
/// bytes, which it increases. Returns true if it is the first one.
template <typename OpT, typename KeyT>
static bool place(OpT op, const KeyT &key,
                  llvm::DenseMap<KeyT, int64_t> &offsets, int64_t &total) {
  auto [known, isFirst] = offsets.try_emplace(key, total);
  op.setOffset(known->second);
  if (isFirst)
    total += llvm::alignTo(op.getStoredBytes(), host::placeAlignment);
  return isFirst;
}

void PlanMemoryPass::planWeights(func::FuncOp program) {
  using Key = std::pair<Attribute, Attribute>;
  llvm::DenseMap<Key, int64_t> offsets;
  int64_t total = 0;
  program.walk([&](host::ConstantOp op) {
    if (!place(op, Key(op.getValue(), op.getLayoutAttr()), offsets, total))
      ++numShared;
  });
  program->setAttr(host::weightsBytesAttr,
                   Builder(&getContext()).getI64IntegerAttr(total));
  weightsBytes += total;
}

/// Places the weights that the run time computes from those of the module.
void PlanMemoryPass::planComputed(func::FuncOp program) {
  using Key = std::tuple<int64_t, int64_t, Attribute>;
  llvm::DenseMap<Key, int64_t> offsets;
  int64_t total = 0;
  auto getOffset = [](Value constant) {
    return *constant.getDefiningOp<host::ConstantOp>().getOffset();
  };
  program.walk([&](host::TransformOp op) {
    Key key(getOffset(op.getFilter()), getOffset(op.getMatrix()),
            op.getLayoutAttr());
    place(op, key, offsets, total);
  });
  if (total)
    program->setAttr(host::computedBytesAttr,
                     Builder(&getContext()).getI64IntegerAttr(total));
}

void PlanMemoryPass::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (!function->hasAttr(host::numInputsAttr) ||
        function->hasAttr(host::arenaBytesAttr)) // planned already
      continue;
    planArena(function);
    planWeights(function);
    planComputed(function);
  }
}

} // namespace adze
