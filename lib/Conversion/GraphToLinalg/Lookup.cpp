// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Gather and scatter, decision trees, non_zero and select_boxes.
#include "Dialect/Graph/IR/Checks.h"
#include "Dialect/Graph/IR/Insertions.h"
#include "Dialect/Graph/IR/RegionMath.h"
#include "Dialect/Tile/IR/Faults.h"
#include "KernelLowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace adze::graph;

namespace {

Type getElementType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}
int64_t getRank(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank();
}

/// Converts an element of the index tensor of a gather or scatter to an index
/// into a dim of `size`. If the op checks its indices, an index out of range
/// raises its fault.
Value toIndex(KernelLowering &k, Operation *lookup, Value integer, Value size,
              int64_t column = 0) {
  std::optional<int64_t> fault = getFault(lookup, column);
  if (!fault)
    return k.toIndex(integer, size);
  Value i = k.builder.createOrFold<arith::IndexCastOp>(
      k.loc, k.builder.getIndexType(), integer);
  Value isNegative = k.compare(arith::CmpIPredicate::slt, i, k.index(0));
  Value position = k.select(isNegative, k.add(i, size), i);
  adze::tile::CheckOp::create(k.builder, k.loc, position, size, *fault);
  // The index is 0 for an empty dim, from which nothing is read.
  Value last = k.sub(k.max(size, k.index(1)), k.index(1));
  return arith::MinUIOp::create(k.builder, k.loc, position, last);
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

LogicalResult lowerGather(GatherOp op, KernelLowering &k) {
  Value data = k.get(op.getData()), indices = k.get(op.getIndices());
  int64_t axis = op.getAxis(), count = getRank(op.getIndices());
  Value size = k.getSize(op.getData(), axis);
  k.fill(op.getResult(), [&](ValueRange out) {
    Value index = k.load(indices, out.slice(axis, count));
    SmallVector<Value> at(out.take_front(axis));
    at.push_back(toIndex(k, op, index, size));
    llvm::append_range(at, out.drop_front(axis + count));
    return k.load(data, at);
  });
  return success();
}

LogicalResult lowerGatherElements(GatherElementsOp op, KernelLowering &k) {
  Value data = k.get(op.getData()), indices = k.get(op.getIndices());
  int64_t axis = op.getAxis();
  Value size = k.getSize(op.getData(), axis);
  k.fill(op.getResult(), [&](ValueRange out) {
    SmallVector<Value> at(out);
    at[axis] = toIndex(k, op, k.load(indices, out), size);
    return k.load(data, at);
  });
  return success();
}

/// Loads the index tuple `tuple` and appends it to `at`.
template <typename OpT>
void appendTuple(KernelLowering &k, OpT op, Value indices, ValueRange tuple,
                 int64_t firstDim, SmallVector<Value> &at) {
  int64_t length = *getConstant(getDims(op.getIndices()).back());
  for (int64_t i = 0; i < length; ++i) {
    SmallVector<Value> place(tuple);
    place.push_back(k.index(i));
    at.push_back(toIndex(k, op, k.load(indices, place),
                         k.getSize(op.getData(), firstDim + i), i));
  }
}

LogicalResult lowerGatherND(GatherNDOp op, KernelLowering &k) {
  Value data = k.get(op.getData()), indices = k.get(op.getIndices());
  int64_t batch = op.getBatchDims(), tuples = getRank(op.getIndices()) - 1;
  k.fill(op.getResult(), [&](ValueRange out) {
    SmallVector<Value> at(out.take_front(batch));
    appendTuple(k, op, indices, out.take_front(tuples), batch, at);
    llvm::append_range(at, out.drop_front(tuples));
    return k.load(data, at);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

// ONNX allows duplicate indices only with a reduction: without one, all updates
// are independent. Otherwise updates of one element keep their order.

/// Copies the tensor to the result, unless they share their memory.
void copyAll(Value tensor, Value result, KernelLowering &k) {
  if (k.isTied(result))
    return;
  memref::CopyOp::create(k.builder, k.loc, k.get(tensor), k.getOutput(result));
}

/// Returns an i1 that is true if the dims of the tensor are not empty, or null
/// if this is known.
Value haveElements(KernelLowering &k, Value tensor, ArrayRef<int64_t> dims) {
  SmallVector<Value> conditions;
  for (int64_t dim : dims)
    if (getConstant(getDims(tensor)[dim]).value_or(0) == 0)
      conditions.push_back(k.compare(arith::CmpIPredicate::ne,
                                     k.getSize(tensor, dim), k.index(0)));
  Value all;
  for (Value condition : conditions)
    all = all ? k.conjunction(all, condition) : condition;
  return all;
}

/// Stores an update at the indices `at`. If an indexed dim is empty, no index
/// is valid and nothing is stored.
void update(KernelLowering &k, Value data, ArrayRef<int64_t> dims,
            std::optional<Combiner> combiner, Value value, Value memref,
            ValueRange at) {
  OpBuilder::InsertionGuard guard(k.builder);
  if (Value condition = haveElements(k, data, dims)) {
    auto ifOp = scf::IfOp::create(k.builder, k.loc, condition,
                                  /*withElseRegion=*/false);
    k.builder.setInsertionPointToStart(ifOp.thenBlock());
  }
  if (combiner) {
    ElementBuilder b = k.elements();
    value = buildCombine(b, *combiner, getElementType(data), k.load(memref, at),
                         value);
  }
  k.store(value, memref, at);
}

LogicalResult lowerScatterElements(ScatterElementsOp op, KernelLowering &k) {
  copyAll(op.getData(), op.getResult(), k);
  Value output = k.getOutput(op.getResult());
  Value indices = k.get(op.getIndices()), updates = k.get(op.getUpdates());
  int64_t axis = op.getAxis();
  Value size = k.getSize(op.getData(), axis);
  SmallVector<int64_t> ordered;
  std::optional<Combiner> combiner = getCombiner(op);
  if (combiner)
    ordered.push_back(axis);
  Dims selected = getDims(op.getIndices());
  k.forEachUpdate(k.getSizes(op.getUpdates()), ordered, [&](ValueRange from) {
    SmallVector<Value> at(from), place(from);
    for (auto [i, dim] : llvm::enumerate(selected))
      if (getConstant(dim) == 1)
        place[i] = k.index(0);
    at[axis] = toIndex(k, op, k.load(indices, place), size);
    update(k, op.getData(), axis, combiner, k.load(updates, from), output, at);
  });
  return success();
}

LogicalResult lowerScatterND(ScatterNDOp op, KernelLowering &k) {
  copyAll(op.getData(), op.getResult(), k);
  Value output = k.getOutput(op.getResult());
  Value indices = k.get(op.getIndices()), updates = k.get(op.getUpdates());
  int64_t tuples = getRank(op.getIndices()) - 1;
  auto indexed = llvm::to_vector(
      llvm::seq<int64_t>(0, *getConstant(getDims(op.getIndices()).back())));
  SmallVector<int64_t> ordered;
  std::optional<Combiner> combiner = getCombiner(op);
  if (combiner)
    llvm::append_range(ordered, llvm::seq<int64_t>(0, tuples));
  k.forEachUpdate(k.getSizes(op.getUpdates()), ordered, [&](ValueRange from) {
    SmallVector<Value> at;
    appendTuple(k, op, indices, from.take_front(tuples), 0, at);
    llvm::append_range(at, from.drop_front(tuples));
    update(k, op.getData(), indexed, combiner, k.load(updates, from), output,
           at);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// tree_leaves
//===----------------------------------------------------------------------===//

/// Returns the child of a node that a row continues with.
Value takeChild(TreeLeavesOp op, KernelLowering &k, Value row, Value node) {
  OpBuilder &b = k.builder;
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Type type = getElementType(op.getInput());
  auto word = [&](int64_t i) {
    return k.load(k.get(op.getNodes()),
                  k.add(k.mul(node, op.getNumWords()), i));
  };
  auto toIndex = [&](Value number) -> Value {
    return arith::IndexCastOp::create(b, k.loc, b.getIndexType(), number);
  };
  // Extracts the upper or lower half of a word.
  auto half = [&](Value word, Value isUpper) -> Value {
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, k.loc, b.getI64IntegerAttr(value));
    };
    Value bits = k.select(isUpper, number(32), number(0));
    Value moved = arith::ShRUIOp::create(b, k.loc, word, bits);
    return arith::TruncIOp::create(b, k.loc, i32, moved);
  };
  Value yes = arith::ConstantOp::create(b, k.loc, b.getBoolAttr(true)),
        no = arith::ConstantOp::create(b, k.loc, b.getBoolAttr(false));
  Value bits = word(0), feature = toIndex(half(word(op.getFeatureWord()), yes));
  if (type.getIntOrFloatBitWidth() < i64.getIntOrFloatBitWidth())
    bits = half(bits, no);
  Value threshold = arith::BitcastOp::create(b, k.loc, type, bits);
  Value isMarked = k.compare(arith::CmpIPredicate::slt, feature, k.index(0));
  feature = k.select(isMarked, k.sub(k.index(-1), feature), feature);
  Value x = k.load(k.get(op.getInput()), {row, feature});
  Value holds =
      arith::CmpFOp::create(b, k.loc, arith::CmpFPredicate::OLE, x, threshold);
  Value isNan =
      arith::CmpFOp::create(b, k.loc, arith::CmpFPredicate::UNO, x, x);
  holds = arith::OrIOp::create(b, k.loc, holds, k.conjunction(isMarked, isNan));
  return toIndex(half(word(op.getChildrenWord()), holds));
}

/// Descends from each root to a leaf.
LogicalResult lowerTreeLeaves(TreeLeavesOp op, KernelLowering &k) {
  Type indexType = k.builder.getIndexType();
  k.fill(op.getResult(), [&](ValueRange out) -> Value {
    Value root = arith::IndexCastOp::create(
        k.builder, k.loc, indexType, k.load(k.get(op.getRoots()), out[1]));
    auto loop = scf::WhileOp::create(
        k.builder, k.loc, TypeRange(indexType), ValueRange(root),
        [&](OpBuilder &b, Location loc, ValueRange node) {
          Value isNode =
              k.compare(arith::CmpIPredicate::sge, node[0], k.index(0));
          scf::ConditionOp::create(b, loc, isNode, node);
        },
        [&](OpBuilder &b, Location loc, ValueRange node) {
          scf::YieldOp::create(b, loc, takeChild(op, k, out[0], node[0]));
        });
    return k.toNumber(k.sub(k.index(-1), loop.getResult(0)),
                      getElementType(op.getResult()));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// select_boxes
//===----------------------------------------------------------------------===//

Box loadBox(SelectBoxesOp op, KernelLowering &k, Value batch, Value number) {
  Box box;
  for (auto [i, value] : llvm::enumerate(box))
    value = k.load(k.get(op.getBoxes()), {batch, k.index(i), number});
  return box;
}

/// Returns the candidate with the greatest score that none of the boxes
/// selected before `end` overlaps, or -1.
Value findNextBox(SelectBoxesOp op, KernelLowering &k, Value batch, Value kind,
                  Value end) {
  Type f32 = k.builder.getF32Type();
  ElementBuilder b = k.elements();
  auto isMore = [&](Value x, Value y) -> Value {
    return arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OGT, x,
                                 y);
  };
  Value selected = k.getOutput(op.getResult()),
        no = b.integer(k.builder.getI1Type(), 0);
  auto isFree = [&](Value number) {
    Box box = loadBox(op, k, batch, number);
    Value isDropped =
        k.fold(k.getRanges(end), no, [&](ValueRange at, Value last) {
          Value other = arith::IndexCastOp::create(
              k.builder, k.loc, k.builder.getIndexType(),
              k.load(selected, {batch, kind, at[0]}));
          Value isSame = k.compare(arith::CmpIPredicate::eq, other, number);
          Box before = loadBox(op, k, batch, k.max(other, k.index(0)));
          Value overlaps =
              buildOverlap(b, box, before, op.getOverlap().convertToDouble());
          Value either =
              arith::OrIOp::create(k.builder, k.loc, isSame, overlaps);
          return arith::OrIOp::create(k.builder, k.loc, last, either)
              .getResult();
        });
    return k.compare(arith::CmpIPredicate::eq, isDropped, no);
  };
  Value lowest = b.number(f32, -INFINITY),
        bound = b.number(f32, op.getScore().convertToDouble());
  SmallVector<Value> found =
      k.fold(k.getRanges(k.getSize(op.getScores(), 2)), {k.index(-1), lowest},
             [&](ValueRange at, ValueRange best) -> SmallVector<Value> {
               Value score =
                   k.load(k.get(op.getScores()), {batch, kind, at[0]});
               Value isBest = k.ifThenElse(
                   k.conjunction(isMore(score, bound), isMore(score, best[1])),
                   [&] { return isFree(at[0]); }, no);
               return {k.select(isBest, at[0], best[0]),
                       k.select(isBest, score, best[1])};
             });
  return found[0];
}

LogicalResult lowerSelectBoxes(SelectBoxesOp op, KernelLowering &k) {
  SmallVector<Value> sizes = k.getSizes(op.getResult());
  k.forEachProgram({sizes[0], sizes[1]}, [&](ValueRange at) {
    // The carried value orders the iterations.
    k.fold(k.getRanges(sizes[2]), k.index(0), [&](ValueRange step, Value) {
      Value next = findNextBox(op, k, at[0], at[1], step[0]);
      k.store(k.toNumber(next, k.builder.getI64Type()),
              k.getOutput(op.getResult()), {at[0], at[1], step[0]});
      return next;
    });
  });
  return success();
}

//===----------------------------------------------------------------------===//
// non_zero
//===----------------------------------------------------------------------===//

LogicalResult lowerNonZero(NonZeroOp op, KernelLowering &k) {
  Value input = k.get(op.getInput()), output = k.getOutput(op.getResult());
  Value capacity = k.getSize(op.getResult(), 1);
  Type declared = getElementType(op.getInput());
  SmallVector<Value> sizes = k.getSizes(op.getInput());
  k.fold(k.getRanges(sizes), k.index(0), [&](ValueRange at, Value next) {
    ElementBuilder b = k.elements();
    Value isSet =
        buildCast(b, k.load(input, at), declared, k.builder.getI1Type());
    Value fits = k.compare(arith::CmpIPredicate::slt, next, capacity);
    auto ifOp = scf::IfOp::create(k.builder, k.loc, k.conjunction(isSet, fits),
                                  /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(k.builder);
      k.builder.setInsertionPointToStart(ifOp.thenBlock());
      for (auto [i, index] : llvm::enumerate(at))
        k.store(k.toNumber(index, k.builder.getI64Type()), output,
                {k.index(i), next});
    }
    return k.select(isSet, k.add(next, 1), next);
  });
  return success();
}

} // namespace

FamilyResult adze::graph::lowerLookup(Operation *op, KernelLowering &k) {
#define ADZE_LOWER(OP, FUNCTION)                                               \
  if (auto concrete = dyn_cast<OP>(op))                                        \
    return FUNCTION(concrete, k);
  ADZE_LOWER(GatherOp, lowerGather)
  ADZE_LOWER(GatherElementsOp, lowerGatherElements)
  ADZE_LOWER(GatherNDOp, lowerGatherND)
  ADZE_LOWER(ScatterElementsOp, lowerScatterElements)
  ADZE_LOWER(ScatterNDOp, lowerScatterND)
  ADZE_LOWER(TopKOp, lowerTopK)
  ADZE_LOWER(TreeLeavesOp, lowerTreeLeaves)
  ADZE_LOWER(NonZeroOp, lowerNonZero)
  ADZE_LOWER(SelectBoxesOp, lowerSelectBoxes)
#undef ADZE_LOWER
  return std::nullopt;
}
