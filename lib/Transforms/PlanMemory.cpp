// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Offsets: slots in the arena, constants in the weights.
#include "Dialect/Host/IR/Host.h"
#include "Support/PackedLayout.h"
#include "Transforms/ArenaPacking.h"
#include "Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_PLANMEMORY
#include "Transforms/Passes.h.inc"

/// Of every offset, in bytes.
static constexpr int64_t alignment = 64;

namespace {
class PlanMemoryPass final : public impl::PlanMemoryBase<PlanMemoryPass> {
public:
  void runOnOperation() override;

private:
  void planArena(func::FuncOp program);
  void planWeights(func::FuncOp program);
};

struct Slot {
  host::SlotOp op;
  AffineExpr bytes;
  unsigned begin, end;
};

/// A size as number times expression; the expression of static sizes is 1.
struct Scaled {
  AffineExpr unit;
  int64_t count;
};

/// Slots whose sizes are multiples of one expression.
struct SizeClass {
  SmallVector<LiveBuffer> buffers;
  SmallVector<host::SlotOp> ops;
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

/// `split` with a count that is a multiple of the alignment: the unit of other
/// symbolic sizes is the rounded size itself.
static Scaled splitAligned(AffineExpr expr) {
  Scaled scaled = split(expr);
  if (isa<AffineConstantExpr>(scaled.unit))
    return {scaled.unit, int64_t(llvm::alignTo(scaled.count, alignment))};
  if (scaled.count % alignment == 0)
    return scaled;
  return {expr.ceilDiv(alignment), alignment};
}

/// The slots with the steps between which they hold something.
static SmallVector<Slot> collectSlots(func::FuncOp program) {
  llvm::DenseMap<Value, unsigned> slotOf; // of slots and views of them
  SmallVector<Slot> slots;
  unsigned step = 0;
  for (Operation &op : program.front()) {
    if (auto slot = dyn_cast<host::SlotOp>(op)) {
      slotOf[slot.getResult()] = slots.size();
      AffineExpr bytes = host::getBytesExpr(slot.getSize(), op.getContext());
      slots.push_back({slot, bytes, UINT_MAX, 0});
      continue;
    }
    if (auto view = dyn_cast<host::ViewOp>(op)) {
      if (auto source = slotOf.find(view.getSource()); source != slotOf.end())
        slotOf[view.getResult()] = source->second;
      continue;
    }
    ++step;
    for (Value operand : op.getOperands()) {
      auto slot = slotOf.find(operand);
      if (slot == slotOf.end())
        continue;
      Slot &used = slots[slot->second];
      used.begin = std::min(used.begin, step);
      used.end = std::max(used.end, step);
    }
  }
  for (Slot &slot : slots)
    slot.begin = std::min(slot.begin, slot.end); // of one without a use
  return slots;
}

static AffineMapAttr getMapAttr(func::FuncOp program,
                                ArrayRef<AffineExpr> results) {
  unsigned numSymbols = 0;
  if (auto names = program->getAttrOfType<ArrayAttr>(host::symbolsAttr))
    numSymbols = names.size();
  return AffineMapAttr::get(
      AffineMap::get(0, numSymbols, results, program.getContext()));
}

/// Sums of live sizes that no other sum exceeds in every unit; one candidate
/// if all sizes are static.
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

void PlanMemoryPass::planArena(func::FuncOp program) {
  SmallVector<Slot> slots = collectSlots(program);
  AffineExpr one = getAffineConstantExpr(1, &getContext());
  llvm::MapVector<AffineExpr, SizeClass> classes;
  classes[one]; // static sizes come first, at constant offsets
  for (const Slot &slot : slots) {
    Scaled size = splitAligned(slot.bytes);
    SizeClass &sizeClass = classes[size.unit];
    sizeClass.buffers.push_back({size.count / alignment, slot.begin, slot.end});
    sizeClass.ops.push_back(slot.op);
  }

  AffineExpr base = getAffineConstantExpr(0, &getContext());
  for (auto &[unit, sizeClass] : classes) {
    int64_t total = packBuffers(sizeClass.buffers);
    for (auto [op, buffer] : llvm::zip(sizeClass.ops, sizeClass.buffers))
      op.setOffsetAttr(
          host::getBytesAttr(base + unit * (buffer.offset * alignment)));
    base = base + unit * (total * alignment);
    if (unit == one)
      arenaBytes += total * alignment;
  }
  SmallVector<AffineExpr> bounds = getLowerBounds(slots, &getContext());
  if (auto bound = dyn_cast<AffineConstantExpr>(bounds.front()))
    lowerBoundBytes += bound.getValue();
  program->setAttr(host::arenaBytesAttr, getMapAttr(program, {base}));
  program->setAttr(host::arenaLowerBoundAttr, getMapAttr(program, bounds));
}

void PlanMemoryPass::planWeights(func::FuncOp program) {
  llvm::DenseMap<std::pair<Attribute, Attribute>, int64_t> offsets;
  int64_t total = 0;
  for (auto op : program.front().getOps<host::ConstantOp>()) {
    auto known =
        offsets.try_emplace({op.getValue(), op.getLayoutAttr()}, total);
    op.setOffset(known.first->second);
    if (!known.second) {
      ++numShared;
      continue;
    }
    total += llvm::alignTo(op.getStoredBytes(), alignment);
  }
  program->setAttr(host::weightsBytesAttr,
                   Builder(&getContext()).getI64IntegerAttr(total));
  weightsBytes += total;
}

void PlanMemoryPass::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (!function->hasAttr(host::numInputsAttr))
      continue;
    planArena(function);
    planWeights(function);
  }
}

} // namespace adze
