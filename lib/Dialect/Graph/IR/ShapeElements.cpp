// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The elements of small integer tensors as expressions of the symbols: shape
// arithmetic of models, including that on known floats.
#include "Dialect/Graph/IR/Clamp.h"
#include "Dialect/Graph/IR/Elements.h"
#include "Dialect/Graph/IR/Graph.h"
#include "FloatElements.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// Larger tensors are not analysed, as shapes are short.
constexpr int64_t kMaxElements = 256;
constexpr int kMaxDepth = 256;

/// A null element is not an expression.
using Elements = SmallVector<AffineExpr>;
using Result = std::optional<Elements>;

/// The results of one query: a value that is used twice is analysed once.
struct Walk {
  llvm::DenseMap<Value, Result> known;
  int depth = 0;
  /// True if minima and maxima of dynamic sizes are expressions.
  bool cuts = false;
};

Result get(Value value, Walk &walk);

AffineExpr constant(Operation *op, int64_t value) {
  return getAffineConstantExpr(value, op->getContext());
}

std::optional<int64_t> getSize(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() > kMaxElements)
    return std::nullopt;
  return type.getNumElements();
}

Result getConstant(ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return std::nullopt;
  Elements result;
  if (isKnownByBits(dense.getElementType())) {
    for (const APFloat &value : dense.getValues<APFloat>())
      result.push_back(getBits(value, op.getContext()));
    return result;
  }
  if (!isa<IntegerType>(dense.getElementType()))
    return std::nullopt;
  bool isUnsigned = dense.getElementType().isUnsignedInteger() ||
                    dense.getElementType().isInteger(1);
  for (const APInt &value : dense.getValues<APInt>())
    result.push_back(constant(op, isUnsigned ? int64_t(value.getZExtValue())
                                             : value.getSExtValue()));
  return result;
}

Result getGather(GatherOp op, Walk &walk) {
  Result data = get(op.getData(), walk), indices = get(op.getIndices(), walk);
  auto type = cast<RankedTensorType>(op.getData().getType());
  if (!data || !indices || type.getRank() != 1)
    return std::nullopt;
  Elements result;
  for (AffineExpr index : *indices) {
    std::optional<int64_t> at = adze::graph::getConstant(index);
    if (!at) {
      result.push_back(AffineExpr());
      continue;
    }
    int64_t i = *at < 0 ? *at + int64_t(data->size()) : *at;
    if (i < 0 || i >= int64_t(data->size()))
      return std::nullopt;
    result.push_back((*data)[i]);
  }
  return result;
}

Result getConcat(ConcatOp op, Walk &walk) {
  if (cast<RankedTensorType>(op.getResult().getType()).getRank() != 1)
    return std::nullopt;
  Elements result;
  for (Value input : op.getInputs()) {
    Result elements = get(input, walk);
    if (!elements)
      return std::nullopt;
    result.append(*elements);
  }
  return result;
}

/// Returns permuted elements: `source` maps the position of an element in the
/// result to that in the input.
Result
move(Value input, Value output, Walk &walk,
     llvm::function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> source) {
  Result elements = get(input, walk);
  std::optional<int64_t> size = getSize(output);
  if (!elements || !size)
    return std::nullopt;
  ArrayRef<int64_t> from = cast<RankedTensorType>(input.getType()).getShape(),
                    to = cast<RankedTensorType>(output.getType()).getShape();
  Elements result;
  SmallVector<int64_t> strides = mlir::computeStrides(to);
  for (int64_t i = 0; i < *size; ++i) {
    int64_t linear = 0;
    for (auto [at, extent] :
         llvm::zip_equal(source(mlir::delinearize(i, strides)), from)) {
      if (at < 0 || at >= extent)
        return std::nullopt;
      linear = linear * extent + at;
    }
    result.push_back((*elements)[linear]);
  }
  return result;
}

Result getSlice(SliceOp op, Walk &walk) {
  auto starts = op.getConstantStarts();
  if (!starts)
    return std::nullopt;
  return move(op.getInput(), op.getResult(), walk, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> from(at);
    for (auto [dim, start, step] :
         llvm::zip_equal(from, *starts, op.getSteps()))
      dim = start + dim * step;
    return from;
  });
}

Result getTranspose(TransposeOp op, Walk &walk) {
  return move(op.getInput(), op.getResult(), walk, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> from(at);
    for (auto [dim, source] : llvm::enumerate(op.getPerm()))
      from[source] = at[dim];
    return from;
  });
}

Result getReverse(ReverseOp op, Walk &walk) {
  auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
  return move(op.getInput(), op.getResult(), walk, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> from(at);
    for (int64_t axis : op.getAxes())
      from[axis] = shape[axis] - 1 - from[axis];
    return from;
  });
}

/// Returns a splat of one element, or the same elements.
Result getBroadcast(BroadcastToOp op, Walk &walk) {
  Result elements = get(op.getInput(), walk);
  std::optional<int64_t> size = getSize(op.getResult());
  if (!elements || !size)
    return std::nullopt;
  if (elements->size() == 1)
    return Elements(*size, elements->front());
  return int64_t(elements->size()) == *size ? elements : std::nullopt;
}

/// Truncating division equals that of expressions if nothing is negative.
AffineExpr divide(AffineExpr lhs, AffineExpr rhs, Walk &walk) {
  auto l = adze::graph::getConstant(lhs), r = adze::graph::getConstant(rhs);
  if (r == 0)
    return {};
  if (l && r)
    return getAffineConstantExpr(*l / *r, lhs.getContext());
  if (AffineExpr exact = divideExactly(lhs, rhs))
    return exact;
  if (!isNonNegative(rhs))
    return {};
  if (isNonNegative(lhs))
    return floorDivExprs(lhs, rhs);
  if (!walk.cuts)
    return {};
  AffineExpr positive = clampExpr(lhs), negative = subExprs(positive, lhs);
  return subExprs(floorDivExprs(positive, rhs), floorDivExprs(negative, rhs));
}

/// Returns the maximum or minimum, if it is an expression.
AffineExpr extremum(AffineExpr lhs, AffineExpr rhs, bool greater, Walk &walk) {
  if (isNonNegative(subExprs(lhs, rhs)))
    return greater ? lhs : rhs;
  if (isNonNegative(subExprs(rhs, lhs)))
    return greater ? rhs : lhs;
  if (!walk.cuts)
    return {};
  return greater ? maxExprs(lhs, rhs) : minExprs(lhs, rhs);
}

/// Returns the reduction of all elements; `ofNone` is that of no elements, if
/// it exists.
Result
getReduction(Value input, std::optional<int64_t> ofNone, ArrayRef<int64_t> axes,
             llvm::function_ref<AffineExpr(AffineExpr, AffineExpr)> combine,
             Walk &walk) {
  Result elements = get(input, walk);
  auto type = cast<RankedTensorType>(input.getType());
  if (!elements || int64_t(axes.size()) != type.getRank() ||
      !isa<IntegerType>(type.getElementType()) ||
      (elements->empty() && !ofNone))
    return std::nullopt;
  if (elements->empty())
    return Elements{getAffineConstantExpr(*ofNone, input.getContext())};
  AffineExpr result = elements->front();
  for (AffineExpr element : llvm::drop_begin(*elements))
    result = result && element ? combine(result, element) : AffineExpr();
  return Elements{result};
}

AffineExpr truth(AffineExpr like, bool isTrue, bool known) {
  return known ? getAffineConstantExpr(isTrue, like.getContext())
               : AffineExpr();
}

/// Returns lhs < rhs or, with `orEqual`, lhs <= rhs.
AffineExpr less(AffineExpr lhs, AffineExpr rhs, bool orEqual) {
  AffineExpr one = getAffineConstantExpr(1, lhs.getContext());
  AffineExpr gap = subExprs(rhs, lhs);
  bool isTrue = isNonNegative(orEqual ? gap : subExprs(gap, one));
  AffineExpr back = subExprs(lhs, rhs);
  bool isFalse = isNonNegative(orEqual ? subExprs(back, one) : back);
  return truth(lhs, isTrue, isTrue || isFalse);
}

/// Computes one element of the result of an arithmetic op, or returns null.
AffineExpr compute(Operation *op, ArrayRef<AffineExpr> x, Walk &walk) {
  if (isOfFloats(op) && !isa<SelectOp>(op))
    return computeFloats(op, x);
  return llvm::TypeSwitch<Operation *, AffineExpr>(op)
      .Case([&](AddOp) { return addExprs(x[0], x[1]); })
      .Case([&](SubOp) { return subExprs(x[0], x[1]); })
      .Case([&](MulOp) { return mulExprs(x[0], x[1]); })
      .Case([&](NegOp) { return subExprs(constant(op, 0), x[0]); })
      .Case([&](DivOp) { return divide(x[0], x[1], walk); })
      .Case([&](ModOp) {
        auto divisor = adze::graph::getConstant(x[1]);
        return divisor.value_or(0) > 0 ? modExprs(x[0], x[1]) : AffineExpr();
      })
      .Case([&](MaximumOp) { return extremum(x[0], x[1], true, walk); })
      .Case([&](MinimumOp) { return extremum(x[0], x[1], false, walk); })
      .Case([&](EqualOp) {
        bool equal = areEqual(x[0], x[1]);
        return truth(x[0], equal, equal || areDifferent(x[0], x[1]));
      })
      .Case([&](LessOp) { return less(x[0], x[1], false); })
      .Case([&](LessEqualOp) { return less(x[0], x[1], true); })
      .Case([&](GreaterOp) { return less(x[1], x[0], false); })
      .Case([&](GreaterEqualOp) { return less(x[1], x[0], true); })
      .Case([&](NotOp) { return subExprs(constant(op, 1), x[0]); })
      .Case([&](AndOp) { return mulExprs(x[0], x[1]); })
      .Case([&](CastOp) {
        // A cast to bool is a test; in casts between integers, sizes are
        // assumed to be in range.
        auto type = cast<RankedTensorType>(op->getResult(0).getType());
        if (!type.getElementType().isInteger(1))
          return x[0];
        AffineExpr zero = constant(op, 0);
        bool isZero = areEqual(x[0], zero);
        return truth(x[0], !isZero, isZero || areDifferent(x[0], zero));
      })
      .Case([&](SelectOp) {
        auto condition = adze::graph::getConstant(x[0]);
        return condition ? x[*condition ? 1 : 2] : AffineExpr();
      })
      .Default(AffineExpr());
}

/// Returns true if the operands that determine the element are known.
bool isComputable(Operation *op, ArrayRef<AffineExpr> x) {
  if (!isa<SelectOp>(op))
    return !llvm::is_contained(x, AffineExpr());
  return adze::graph::getConstant(x[0]).has_value();
}

Result getArithmetic(Operation *op, Walk &walk) {
  std::optional<int64_t> size = getSize(op->getResult(0));
  if (!size)
    return std::nullopt;
  SmallVector<Elements> operands;
  for (Value operand : op->getOperands()) {
    Result elements = get(operand, walk);
    // Only scalars are broadcast here.
    if (!elements ||
        (int64_t(elements->size()) != *size && elements->size() != 1))
      return std::nullopt;
    operands.push_back(std::move(*elements));
  }
  Elements result;
  for (int64_t i = 0; i < *size; ++i) {
    SmallVector<AffineExpr> x;
    for (const Elements &operand : operands)
      x.push_back(operand[operand.size() == 1 ? 0 : i]);
    result.push_back(isComputable(op, x) ? compute(op, x, walk) : AffineExpr());
  }
  return result;
}

Result getRange(RangeOp op, Walk &walk) {
  auto size = getSize(op.getResult());
  if (!isa<IntegerType>(getElementTypeOrSelf(op.getResult().getType())))
    return std::nullopt;
  Result start = get(op.getStart(), walk), delta = get(op.getDelta(), walk);
  if (!size || !start || !delta)
    return std::nullopt;
  Elements result;
  for (int64_t i = 0; i < *size; ++i)
    result.push_back(
        addExprs(start->front(), mulExprs(delta->front(), constant(op, i))));
  return result;
}

Result look(Operation *op, Walk &walk) {
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](ConstantOp op) { return getConstant(op); })
      .Case([&](ShapeOp op) -> Result {
        Dims dims = getDims(op.getInput());
        if (!llvm::all_of(dims, [](AffineExpr dim) { return bool(dim); }))
          return std::nullopt;
        return Elements(dims.begin(), dims.end());
      })
      .Case([&](GatherOp op) { return getGather(op, walk); })
      .Case([&](ConcatOp op) { return getConcat(op, walk); })
      .Case([&](SliceOp op) { return getSlice(op, walk); })
      .Case([&](TransposeOp op) { return getTranspose(op, walk); })
      .Case([&](ReverseOp op) { return getReverse(op, walk); })
      .Case([&](ReshapeOp op) { return get(op.getInput(), walk); })
      .Case([&](BroadcastToOp op) { return getBroadcast(op, walk); })
      .Case([&](RangeOp op) { return getRange(op, walk); })
      .Case([&](ReduceProdOp op) {
        return getReduction(op.getInput(), 1, op.getAxes(), mulExprs, walk);
      })
      .Case([&](ReduceSumOp op) {
        return getReduction(op.getInput(), 0, op.getAxes(), addExprs, walk);
      })
      .Case<ReduceMaxOp, ReduceMinOp>([&](auto op) {
        constexpr bool greater = std::is_same_v<decltype(op), ReduceMaxOp>;
        auto combine = [&](AffineExpr x, AffineExpr y) {
          return extremum(x, y, greater, walk);
        };
        return getReduction(op.getInput(), std::nullopt, op.getAxes(), combine,
                            walk);
      })
      .Case([&](ElementwiseOpInterface op) { return getArithmetic(op, walk); })
      .Default(std::nullopt);
}

Result get(Value value, Walk &walk) {
  Operation *op = value.getDefiningOp();
  std::optional<int64_t> size = getSize(value);
  if (!size)
    return std::nullopt;
  auto type = cast<RankedTensorType>(value.getType());
  Elements unknown(*size);
  if (!op || walk.depth >= kMaxDepth ||
      !(isa<IntegerType>(type.getElementType()) ||
        isKnownByBits(type.getElementType())))
    return unknown;
  auto found = walk.known.find(value);
  if (found != walk.known.end())
    return found->second;
  ++walk.depth;
  Result result = look(op, walk);
  if (!result || int64_t(result->size()) != *size)
    result = unknown;
  --walk.depth;
  walk.known[value] = result;
  return result;
}

/// Queries are about integers: bits of floats are only intermediate results.
Result ask(Value value, Walk &walk) {
  if (!value)
    return std::nullopt;
  std::optional<int64_t> size = getSize(value);
  if (size && !isa<IntegerType>(getElementTypeOrSelf(value.getType())))
    return Elements(*size);
  return get(value, walk);
}

} // namespace

std::optional<SmallVector<AffineExpr>>
adze::graph::getPartialElements(Value value) {
  Walk walk;
  return ask(value, walk);
}

static Result getAll(Value value, Walk &walk) {
  Result elements = ask(value, walk);
  if (elements && llvm::is_contained(*elements, AffineExpr()))
    return std::nullopt;
  return elements;
}

std::optional<SmallVector<AffineExpr>> adze::graph::getElements(Value value) {
  Walk walk;
  return getAll(value, walk);
}

std::optional<SmallVector<AffineExpr>>
adze::graph::getCutElements(Value value) {
  Walk walk;
  walk.cuts = true;
  return getAll(value, walk);
}

std::optional<SmallVector<int64_t>>
adze::graph::getConstantElements(Value value) {
  Result elements = getPartialElements(value);
  if (!elements)
    return std::nullopt;
  SmallVector<int64_t> result;
  for (AffineExpr element : *elements) {
    std::optional<int64_t> number = adze::graph::getConstant(element);
    if (!number)
      return std::nullopt;
    result.push_back(*number);
  }
  return result;
}
