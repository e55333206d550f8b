// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Bounds of the elements of integer tensors as expressions of sizes.
#include "Dialect/Graph/IR/IntegerBounds.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace adze::graph;

namespace {
/// Collects the bounds of a value through its operands.
class Collector {
public:
  /// Returns false if some elements are unknown.
  bool add(Value value, unsigned depth = 0);
  SmallVector<IntegerBounds> takeBounds() { return std::move(bounds); }

private:
  bool addConstant(DenseIntElementsAttr elements);
  bool addElements(ArrayRef<AffineExpr> elements);
  bool addRange(RangeOp range);
  bool addIndices(Value input, ArrayRef<int64_t> axes);
  bool addAll(ValueRange values, unsigned depth) {
    return llvm::all_of(values,
                        [&](Value value) { return add(value, depth + 1); });
  }
  bool add(AffineExpr least, AffineExpr greatest) {
    constexpr size_t most = 8;
    if (!least || !greatest || bounds.size() >= most)
      return false;
    bounds.push_back({least, greatest});
    return true;
  }

  SmallVector<IntegerBounds> bounds;
};
} // namespace

bool Collector::addConstant(DenseIntElementsAttr elements) {
  constexpr int64_t most = 1 << 20; // limits the time
  if (elements.getElementType().isUnsignedInteger() ||
      (!elements.isSplat() && elements.getNumElements() > most))
    return false;
  if (elements.empty())
    return true;
  int64_t least = INT64_MAX, greatest = INT64_MIN;
  for (const APInt &element : elements.getValues<APInt>()) {
    least = std::min(least, element.getSExtValue());
    greatest = std::max(greatest, element.getSExtValue());
    if (elements.isSplat())
      break;
  }
  MLIRContext *context = elements.getContext();
  return add(getAffineConstantExpr(least, context),
             getAffineConstantExpr(greatest, context));
}

bool Collector::addElements(ArrayRef<AffineExpr> elements) {
  return llvm::all_of(
      elements, [&](AffineExpr element) { return add(element, element); });
}

/// Adds start, start + delta, and so on up to the limit.
bool Collector::addRange(RangeOp range) {
  auto start = getElements(range.getStart()),
       limit = getElements(range.getLimit());
  auto delta = getConstantElements(range.getDelta());
  if (!start || !limit || !delta || delta->front() == 0)
    return false;
  AffineExpr one = getAffineConstantExpr(1, range.getContext());
  return delta->front() > 0
             ? add(start->front(), subExprs(limit->front(), one))
             : add(addExprs(limit->front(), one), start->front());
}

/// Adds the indices along some dims.
bool Collector::addIndices(Value input, ArrayRef<int64_t> axes) {
  MLIRContext *context = input.getContext();
  Dims dims = getDims(input);
  return llvm::all_of(axes, [&](int64_t axis) {
    return dims[axis] &&
           add(getAffineConstantExpr(0, context),
               subExprs(dims[axis], getAffineConstantExpr(1, context)));
  });
}

bool Collector::add(Value value, unsigned depth) {
  constexpr unsigned deepest = 16;
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || !type.getElementType().isSignlessInteger() || depth > deepest)
    return false;
  if (DenseIntElementsAttr elements; matchPattern(value, m_Constant(&elements)))
    return addConstant(elements);
  if (auto elements = getElements(value))
    return addElements(*elements);
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<BroadcastToOp, GatherElementsOp, GatherNDOp, GatherOp, ReduceMaxOp,
            ReduceMinOp, ReshapeOp, ReverseOp, SliceOp, TransposeOp>(
          [&](Operation *same) { return add(same->getOperand(0), depth + 1); })
      .Case([&](CastOp cast) {
        Type from = getElementTypeOrSelf(cast.getInput());
        return from.isSignlessInteger() && from.getIntOrFloatBitWidth() > 1 &&
               from.getIntOrFloatBitWidth() <= type.getElementTypeBitWidth() &&
               add(cast.getInput(), depth + 1);
      })
      .Case(
          [&](ConcatOp concat) { return addAll(concat->getOperands(), depth); })
      .Case([&](SelectOp select) {
        return addAll(select->getOperands().drop_front(), depth);
      })
      .Case([&](RangeOp range) { return addRange(range); })
      .Case<ArgMaxOp, ArgMinOp>([&](auto arg) {
        return addIndices(arg.getInput(), int64_t(arg.getAxis()));
      })
      .Case([&](TopKOp top) {
        return value != top->getResult(0) &&
               addIndices(top.getInput(), int64_t(top.getAxis()));
      })
      .Case([&](NonZeroOp places) {
        Value input = places.getInput();
        return addIndices(input, llvm::to_vector(llvm::seq<int64_t>(
                                     0, getDims(input).size())));
      })
      .Default(false);
}

SmallVector<IntegerBounds> adze::graph::getIntegerBounds(Value value) {
  Collector collector;
  if (!collector.add(value))
    return {};
  return collector.takeBounds();
}
