// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over whole dims, arg_max and arg_min, and cumulative sums.
#include "KernelLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze::graph;

static Type getElementType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

namespace {

/// The indices of an element of the reduced tensor: kept dims come from the
/// indices of the result, reduced ones from the loops.
struct ReducedDims {
  ReducedDims(Value input, ArrayRef<int64_t> axes, bool keepdims)
      : rank(cast<RankedTensorType>(input.getType()).getRank()), axes(axes),
        keepdims(keepdims) {}

  SmallVector<Value> getIndices(ValueRange kept, ValueRange reduced) const {
    SmallVector<Value> indices;
    size_t nextKept = 0, nextReduced = 0;
    for (int64_t i = 0; i < rank; ++i) {
      if (!llvm::is_contained(axes, i)) {
        indices.push_back(kept[nextKept++]);
        continue;
      }
      indices.push_back(reduced[nextReduced++]);
      nextKept += keepdims;
    }
    return indices;
  }

  int64_t rank;
  ArrayRef<int64_t> axes;
  bool keepdims;
};

/// Returns the type of the accumulator with the signedness of integers.
Type getDeclaredAccumulator(Type element) {
  return isa<FloatType>(element) ? getAccumulatorType(element) : element;
}

LogicalResult lowerReduce(ReduceOpInterface op, KernelLowering &k) {
  Value tensor = op.getInput(), result = op->getResult(0);
  Value input = k.get(tensor), output = k.getOutput(result);
  Type type = getDeclaredAccumulator(getElementType(tensor));
  Type stored = getSignlessType(type);
  ReducedDims dims(tensor, op.getAxes(), op.getKeepdims());
  SmallVector<Value> sizes;
  for (int64_t axis : op.getAxes())
    sizes.push_back(k.getSize(tensor, axis));
  Value count = k.toNumber(k.multiply(sizes), stored);
  ElementBuilder b = k.elements();

  k.forEach(k.getSizes(result), [&](ValueRange out) {
    auto foldElements = [&](Combiner combiner,
                            llvm::function_ref<Value(Value)> prepare) {
      Value init = b.constant(getNeutral(combiner, type));
      return k.fold(
          k.getRanges(sizes), init, [&](ValueRange at, Value carried) {
            Value x = k.loadWide(input, dims.getIndices(out, at));
            return buildCombine(b, combiner, type, carried, prepare(x));
          });
    };
    Value shift;
    if (op.subtractsMax() && isa<FloatType>(stored)) {
      Value max = foldElements(Combiner::Max, [](Value x) { return x; });
      // An infinite maximum would make every difference NaN, so 0 replaces it.
      Value magnitude = math::AbsFOp::create(k.builder, k.loc, max);
      Value infinity = b.constant(getNeutral(Combiner::Min, stored));
      Value isFinite = arith::CmpFOp::create(
          k.builder, k.loc, arith::CmpFPredicate::OLT, magnitude, infinity);
      shift = k.select(isFinite, max, k.number(stored, 0));
    }
    Value combined = foldElements(op.getCombiner(), [&](Value x) {
      return op.buildPrepare(b, shift ? k.subNum(x, shift) : x);
    });
    Value value =
        op.buildFinish(b, combined, op.needsCount() ? count : Value());
    k.storeWide(shift ? k.addNum(value, shift) : value, output, out);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// arg_max, arg_min
//===----------------------------------------------------------------------===//

/// Returns true if x is better than the best element so far. NaN is the best of
/// all.
Value isBetter(KernelLowering &k, Type declared, Value x, Value best,
               bool largest, bool orEqual) {
  OpBuilder &b = k.builder;
  if (isa<FloatType>(declared)) {
    auto predicate =
        largest
            ? (orEqual ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OGT)
            : (orEqual ? arith::CmpFPredicate::OLE : arith::CmpFPredicate::OLT);
    Value better = arith::CmpFOp::create(b, k.loc, predicate, x, best);
    Value xIsNan =
        arith::CmpFOp::create(b, k.loc, arith::CmpFPredicate::UNO, x, x);
    if (orEqual)
      return arith::OrIOp::create(b, k.loc, better, xIsNan);
    Value bestIsNumber =
        arith::CmpFOp::create(b, k.loc, arith::CmpFPredicate::ORD, best, best);
    Value nan = arith::AndIOp::create(b, k.loc, xIsNan, bestIsNumber);
    return arith::OrIOp::create(b, k.loc, better, nan);
  }
  bool isUnsigned = declared.isUnsignedInteger();
  using P = arith::CmpIPredicate;
  P predicate = largest ? (isUnsigned ? (orEqual ? P::uge : P::ugt)
                                      : (orEqual ? P::sge : P::sgt))
                        : (isUnsigned ? (orEqual ? P::ule : P::ult)
                                      : (orEqual ? P::sle : P::slt));
  return arith::CmpIOp::create(b, k.loc, predicate, x, best);
}

template <typename OpT>
LogicalResult lowerArg(OpT op, KernelLowering &k, bool largest) {
  Value tensor = op.getInput(), input = k.get(tensor);
  Value output = k.getOutput(op.getResult());
  int64_t axis = op.getAxis();
  ReducedDims dims(tensor, ArrayRef(axis), op.getKeepdims());
  Value size = k.getSize(tensor, axis);
  Type declared = getElementType(tensor);
  k.forEach(k.getSizes(op.getResult()), [&](ValueRange out) {
    Value zero = k.index(0);
    Value first = k.load(input, dims.getIndices(out, zero));
    SmallVector<Value> best =
        k.fold({{k.index(1), size}}, ValueRange{first, zero},
               [&](ValueRange at, ValueRange carried) {
                 Value x = k.load(input, dims.getIndices(out, at));
                 Value better = isBetter(k, declared, x, carried[0], largest,
                                         op.getSelectLast());
                 return SmallVector<Value>{k.select(better, x, carried[0]),
                                           k.select(better, at[0], carried[1])};
               });
    k.store(k.toNumber(best[1], k.builder.getI64Type()), output, out);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// cumsum
//===----------------------------------------------------------------------===//

/// Lowers cumsum and cumprod, with one carried value for each line.
template <typename OpT>
LogicalResult lowerScan(OpT op, KernelLowering &k, Combiner combiner) {
  Value input = k.get(op.getInput()), output = k.getOutput(op.getResult());
  Type declared = getElementType(op.getInput());
  Type type = getAccumulatorType(declared);
  int64_t axis = op.getAxis();
  SmallVector<Value> sizes = k.getSizes(op.getInput());
  Value size = sizes[axis];
  sizes.erase(sizes.begin() + axis);
  Value init = k.elements().constant(getNeutral(combiner, type));
  k.forEach(sizes, [&](ValueRange outer) {
    k.fold({{k.index(0), size}}, init, [&](ValueRange i, Value carried) {
      SmallVector<Value> at(outer);
      Value place = op.getReverse() ? k.sub(k.add(size, -1), i[0]) : i[0];
      at.insert(at.begin() + axis, place);
      ElementBuilder b = k.elements();
      Value next =
          buildCombine(b, combiner, declared, carried, k.loadWide(input, at));
      k.storeWide(op.getExclusive() ? carried : next, output, at);
      return next;
    });
  });
  return success();
}

} // namespace

FamilyResult adze::graph::lowerReduction(Operation *op, KernelLowering &k) {
  if (auto reduce = dyn_cast<ReduceOpInterface>(op))
    return lowerReduce(reduce, k);
  if (auto arg = dyn_cast<ArgMaxOp>(op))
    return lowerArg(arg, k, /*largest=*/true);
  if (auto arg = dyn_cast<ArgMinOp>(op))
    return lowerArg(arg, k, /*largest=*/false);
  if (auto cumsum = dyn_cast<CumsumOp>(op))
    return lowerScan(cumsum, k, Combiner::Add);
  if (auto cumprod = dyn_cast<CumprodOp>(op))
    return lowerScan(cumprod, k, Combiner::Mul);
  return std::nullopt;
}
