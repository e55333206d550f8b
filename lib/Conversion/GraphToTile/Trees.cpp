// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Decision trees. Lanes hold trees, which are descended together from their
// roots, one node in each iteration. A lane that has reached a leaf keeps it.
#include "Families.h"
#include "Lookups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {
enum Axis { Lane = 0 };

class TreeWalk {
public:
  TreeWalk(KernelEmitter &e, TreeLeavesOp op, Value row)
      : e(e), b(e.builder()), op(op), row(row) {}

  /// Returns the positions of the trees after one more node.
  FailureOr<Value> descend(Value ranges);
  /// Returns the greatest number of nodes on a path through `count` trees from
  /// number `first` on.
  FailureOr<Value> getSteps(Value first, int64_t count);
  Value splat(int64_t value, Type type);

private:
  /// Loads a word of each node, given the positions of their first words.
  FailureOr<Value> look(Value nodes, int64_t word);
  /// Extracts the half of each word that begins at bit `bits`.
  Value half(Value words, Value bits);
  Value toIndex(Value numbers) {
    return arith::IndexCastOp::create(
        b, e.loc(), e.tileType(axes, b.getIndexType()), numbers);
  }
  Value isNegative(Value numbers) {
    return arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::slt, numbers,
                                 splat(0, b.getI32Type()));
  }

  KernelEmitter &e;
  OpBuilder &b;
  TreeLeavesOp op;
  Value row;
  Axes axes{Lane};
};
} // namespace

Value TreeWalk::splat(int64_t value, Type type) {
  return e.constant(b.getIntegerAttr(type, value), axes);
}

FailureOr<Value> TreeWalk::look(Value nodes, int64_t word) {
  auto element = emitGathered(e, e.getMemory(op.getNodes()),
                              DimRange{e.index(word), -1, 1, 1},
                              /*along=*/0, {nodes, axes}, axes);
  if (failed(element))
    return failure();
  return element->value;
}

Value TreeWalk::half(Value words, Value bits) {
  Value moved =
      bits ? arith::ShRUIOp::create(b, e.loc(), words, bits).getResult()
           : words;
  return arith::TruncIOp::create(b, e.loc(), e.tileType(axes, b.getI32Type()),
                                 moved);
}

FailureOr<Value> TreeWalk::descend(Value ranges) {
  Location loc = e.loc();
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Type type = getElementTypeOrSelf(op.getInput());
  constexpr int64_t halfBits = 32;
  // A lane at a leaf reads node 0, and keeps its leaf.
  Value isLeaf = isNegative(ranges);
  Value nodes = arith::MulIOp::create(
      b, loc, toIndex(arith::MaxSIOp::create(b, loc, ranges, splat(0, i32))),
      splat(op.getNumWords(), b.getIndexType()));
  auto bits = look(nodes, 0), children = look(nodes, op.getChildrenWord());
  auto features =
      op.getFeatureWord() == 0 ? bits : look(nodes, op.getFeatureWord());
  if (failed(bits) || failed(features) || failed(children))
    return failure();
  Value threshold = arith::BitcastOp::create(
      b, loc, e.tileType(axes, type), type.isF64() ? *bits : half(*bits, {}));
  Value feature = half(*features, splat(halfBits, i64));
  Value isMarked = isNegative(feature);
  Value flipped = arith::XOrIOp::create(b, loc, feature, splat(-1, i32));
  Value column =
      toIndex(arith::SelectOp::create(b, loc, isMarked, flipped, feature));
  auto x =
      emitGathered(e, e.getMemory(op.getInput()),
                   {DimRange{row, -1, 1, 1}, DimRange{e.index(0), -1, 1, 1}},
                   /*along=*/1, {column, axes}, axes);
  if (failed(x))
    return failure();
  Value holds = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE,
                                      x->value, threshold);
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO,
                                      x->value, x->value);
  Value goesAnyway = arith::AndIOp::create(b, loc, isMarked, isNan);
  holds = arith::OrIOp::create(b, loc, holds, goesAnyway);
  Value side = arith::SelectOp::create(b, loc, holds, splat(halfBits, i64),
                                       splat(0, i64));
  return Value(
      arith::SelectOp::create(b, loc, isLeaf, ranges, half(*children, side)));
}

FailureOr<Value> TreeWalk::getSteps(Value first, int64_t count) {
  constexpr int64_t group = TreeLeavesOp::treesAStep;
  Value at = e.div(first, e.index(group)), steps;
  Value last = e.sub(e.size(op.getSteps(), 0), e.index(1));
  for (int64_t i = 0; i < count; i += group) {
    Value entry = i == 0 ? at : e.min(e.add(at, e.index(i / group)), last);
    auto bound = e.emit(op.getSteps(), DimRange{entry, -1, 1, 1});
    if (failed(bound))
      return failure();
    Value number =
        arith::IndexCastOp::create(b, e.loc(), b.getIndexType(), bound->value);
    steps = steps ? e.max(steps, number) : number;
  }
  return steps;
}

LogicalResult adze::emitTreeLeaves(KernelEmitter &e, TreeLeavesOp op,
                                   Tiling tiling) {
  if (tiling != Tiling::Flat)
    return e.fail("trees have a flat tiling only");
  if (!e.getMemory(op.getInput()) || !e.getMemory(op.getNodes()))
    return e.fail("features or nodes are not in a plain buffer");
  Dims dims = getDims(op.getResult());
  Value rows = e.size(dims[0]), trees = e.size(dims[1]);
  if (!rows || !trees)
    return failure();
  // There are two vectors of 16 trees, so that their dependent loads overlap.
  constexpr int64_t lanes = 2 * TreeLeavesOp::treesAStep;
  int64_t count = chooseLanes(getKnown(dims[1]), lanes);
  Value block = e.param("BLOCK_N", count);
  e.setAxis(Lane, block);
  // All rows pass through the trees of a block while these are in cache.
  SmallVector<Value> ids = e.programIds({rows, e.ceilDiv(trees, block)});
  Value first = e.mul(ids[1], block);
  DimRange tree{first, Lane, 1, 1};
  auto roots = e.emitOn(op.getRoots(), tree, Axes{Lane});
  if (failed(roots))
    return failure();
  TreeWalk walk(e, op, ids[0]);
  auto steps = walk.getSteps(first, count);
  if (failed(steps))
    return failure();
  auto leaves = e.loop(
      *steps, e.index(1), *roots,
      [&](Value, ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
        auto next = walk.descend(carried[0]);
        if (failed(next))
          return failure();
        return KernelEmitter::Carried{*next};
      });
  if (failed(leaves))
    return failure();
  OpBuilder &b = e.builder();
  Value numbers = arith::XOrIOp::create(b, e.loc(), (*leaves)[0],
                                        walk.splat(-1, b.getI32Type()));
  DimRanges ranges{DimRange{ids[0], -1, 1, 1}, tree};
  e.define(op.getResult(), ranges, {numbers, Axes{Lane}});
  return e.storeOutputs(op.getResult(), ranges);
}
