// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// share-loads: replaces loads of vectors that overlap in memory by shuffles.
#include "Dialect/Tile/IR/Targets.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <numeric>

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_SHARELOADS
#include "Transforms/Passes.h.inc"

namespace {
/// An index as a sum of values and a constant.
struct Sum {
  SmallVector<Value, 2> terms; // sorted
  int64_t constant = 0;
};

/// Loads of one type whose last indices differ by constants, by these
/// constants.
using Group = std::map<int64_t, SmallVector<vector::LoadOp, 1>>;
/// The memory, type and indices, without the last constant, of a group.
using Key = SmallVector<const void *, 8>;

struct ShareLoadsPass final : impl::ShareLoadsBase<ShareLoadsPass> {
  void runOnOperation() override;
  void share(Block &block);
  void share(Group &group);
};
} // namespace

static void addTo(Sum &sum, Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    sum.constant += *constant;
    return;
  }
  if (auto add = value.getDefiningOp<arith::AddIOp>()) {
    addTo(sum, add.getLhs());
    addTo(sum, add.getRhs());
    return;
  }
  auto sub = value.getDefiningOp<arith::SubIOp>();
  std::optional<int64_t> taken =
      sub ? getConstantIntValue(sub.getRhs()) : std::nullopt;
  if (taken) {
    sum.constant -= *taken;
    addTo(sum, sub.getLhs());
    return;
  }
  sum.terms.push_back(value);
}

static Sum getSum(Value index) {
  Sum sum;
  addTo(sum, index);
  llvm::sort(sum.terms, [](Value x, Value y) {
    return x.getAsOpaquePointer() < y.getAsOpaquePointer();
  });
  return sum;
}

/// Returns true if the value is known to be a multiple of `n`.
static bool isMultiple(Value value, int64_t n) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % n == 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() &&
           isMultiple(loop.getLowerBound(), n) && isMultiple(loop.getStep(), n);
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return isMultiple(op->getOperand(0), n) && isMultiple(op->getOperand(1), n);
  return isa<arith::MulIOp>(op) &&
         (isMultiple(op->getOperand(0), n) || isMultiple(op->getOperand(1), n));
}

static Key makeKey(vector::LoadOp load, int64_t &last) {
  Key key{load.getBase().getAsOpaquePointer(),
          load.getVectorType().getAsOpaquePointer()};
  for (Value index : load.getIndices()) {
    Sum sum = getSum(index);
    for (Value term : sum.terms)
      key.push_back(term.getAsOpaquePointer());
    last = sum.constant;
    key.push_back(nullptr);
    key.push_back(reinterpret_cast<const void *>(sum.constant));
  }
  key.back() = nullptr;
  return key;
}

/// Chooses the position, modulo the lanes, of the loads that stay: that with
/// the fewest loads, preferably aligned to vectors.
static std::optional<int64_t> chooseAnchor(Group &group, int64_t lanes) {
  int64_t best = 0;
  std::optional<int64_t> anchor;
  for (auto &[candidate, loads] : group) {
    int64_t place = candidate & (lanes - 1), shared = 0;
    for (auto &[offset, other] : group) {
      int64_t below = offset - ((offset - place) & (lanes - 1));
      shared +=
          below != offset && group.count(below) && group.count(below + lanes);
    }
    bool isAligned = isMultiple(loads.front().getIndices().back(), lanes);
    if (shared > 0 && 2 * shared + isAligned > best) {
      best = 2 * shared + isAligned;
      anchor = place;
    }
  }
  return anchor;
}

void ShareLoadsPass::share(Group &group) {
  vector::LoadOp first = group.begin()->second.front();
  for (auto &[offset, loads] : group)
    for (vector::LoadOp load : loads)
      if (load->isBeforeInBlock(first))
        first = load;
  VectorType type = first.getVectorType();
  int64_t lanes = type.getNumElements(), own = 0;
  (void)makeKey(first, own);
  std::optional<int64_t> anchor =
      llvm::isPowerOf2_64(lanes) ? chooseAnchor(group, lanes) : std::nullopt;
  if (!anchor)
    return;
  OpBuilder b(first);
  std::map<int64_t, Value> kept;
  auto keep = [&](int64_t offset) {
    Value &value = kept[offset];
    if (value)
      return value;
    Location loc = group.at(offset).front().getLoc();
    SmallVector<Value> indices(first.getIndices());
    Value step = arith::ConstantIndexOp::create(b, loc, offset - own);
    indices.back() = b.createOrFold<arith::AddIOp>(loc, indices.back(), step);
    return value =
               vector::LoadOp::create(b, loc, type, first.getBase(), indices);
  };
  for (auto &[offset, loads] : group) {
    int64_t below = offset - ((offset - *anchor) & (lanes - 1));
    bool isShared =
        below != offset && group.count(below) && group.count(below + lanes);
    Value value;
    if (isShared) {
      Value low = keep(below), high = keep(below + lanes);
      SmallVector<int64_t> mask(lanes);
      std::iota(mask.begin(), mask.end(), offset - below);
      value =
          vector::ShuffleOp::create(b, loads.front().getLoc(), low, high, mask);
      numShared += loads.size();
    } else {
      value = keep(offset);
    }
    for (vector::LoadOp load : loads)
      load.replaceAllUsesWith(value);
  }
  for (auto &[offset, loads] : group)
    for (vector::LoadOp load : loads)
      load.erase();
}

/// Handles loads without a store between them.
void ShareLoadsPass::share(Block &block) {
  llvm::MapVector<Key, Group, std::map<Key, unsigned>> groups;
  auto finish = [&] {
    for (auto &[key, group] : groups)
      share(group);
    groups.clear();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto load = dyn_cast<vector::LoadOp>(op)) {
      int64_t offset = 0;
      Key key = makeKey(load, offset);
      groups[key][offset].push_back(load);
    } else if (!isMemoryEffectFree(&op) &&
               !isa<vector::MaskedLoadOp, memref::LoadOp, memref::PrefetchOp>(
                   op)) {
      finish();
    }
  }
  finish();
}

void ShareLoadsPass::runOnOperation() {
  tile::CpuTargetAttr target = tile::findCpuTarget(getOperation());
  if (target && !target.has(tile::CpuTrait::split_vector_loads))
    return;
  SmallVector<Block *> blocks;
  getOperation()->walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    share(*block);
}

} // namespace adze
