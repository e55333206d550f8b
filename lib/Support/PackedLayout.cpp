// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Layout maps as packings: where each element of a constant goes in memory.
#include "Support/PackedLayout.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace adze {

/// The greatest value of `expr` over the array.
static int64_t getMaximum(AffineExpr expr, ArrayRef<int64_t> shape) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return shape[dim.getPosition()] - 1;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = getMaximum(binary.getLHS(), shape);
  int64_t rhs = getMaximum(binary.getRHS(), shape);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return lhs / rhs;
  case AffineExprKind::CeilDiv:
    return llvm::divideCeil(lhs, rhs);
  default: // Mod
    return rhs - 1;
  }
}

SmallVector<int64_t> getPackedShape(ArrayRef<int64_t> shape, AffineMap layout) {
  SmallVector<int64_t> result;
  for (AffineExpr expr : layout.getResults())
    result.push_back(getMaximum(expr, shape) + 1);
  return result;
}

/// The value of `expr` at `point`.
static int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> point) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return point[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = evaluate(binary.getLHS(), point);
  int64_t rhs = evaluate(binary.getRHS(), point);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return lhs / rhs; // indices are not negative
  case AffineExprKind::CeilDiv:
    return llvm::divideCeil(lhs, rhs);
  default: // Mod
    return lhs % rhs;
  }
}

namespace {
/// The linear position in the packed array, split into parts that depend on
/// one dim each; layouts made of floordiv and mod of single dims all split so.
class Positions {
public:
  Positions(ArrayRef<int64_t> shape, AffineMap layout)
      : shape(shape), layout(layout) {
    SmallVector<int64_t> packed = getPackedShape(shape, layout);
    strides.assign(packed.size(), 1);
    for (int64_t i = int64_t(packed.size()) - 2; i >= 0; --i)
      strides[i] = strides[i + 1] * packed[i + 1];
    separable = llvm::all_of(layout.getResults(), [&](AffineExpr expr) {
      unsigned used = 0;
      for (unsigned dim = 0; dim < shape.size(); ++dim)
        used += expr.isFunctionOfDim(dim);
      return used <= 1;
    });
    if (!separable)
      return;
    SmallVector<int64_t> point(shape.size(), 0);
    origin = linear(point);
    for (unsigned dim = 0; dim < shape.size(); ++dim) {
      parts.emplace_back();
      for (int64_t i = 0; i < shape[dim]; ++i) {
        point[dim] = i;
        parts.back().push_back(linear(point) - origin);
      }
      point[dim] = 0;
    }
  }

  int64_t at(ArrayRef<int64_t> point) const {
    if (!separable)
      return linear(point);
    int64_t result = origin;
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      result += parts[dim][point[dim]];
    return result;
  }

private:
  int64_t linear(ArrayRef<int64_t> point) const {
    int64_t result = 0;
    for (auto [expr, stride] : llvm::zip(layout.getResults(), strides))
      result += evaluate(expr, point) * stride;
    return result;
  }

  ArrayRef<int64_t> shape;
  AffineMap layout;
  SmallVector<int64_t> strides;
  bool separable = false;
  int64_t origin = 0;
  SmallVector<std::vector<int64_t>> parts;
};
} // namespace

void packElements(ArrayRef<char> from, ArrayRef<int64_t> shape,
                  AffineMap layout, unsigned elementBytes,
                  MutableArrayRef<char> to) {
  std::fill(to.begin(), to.end(), 0);
  Positions positions(shape, layout);
  SmallVector<int64_t> point(shape.size(), 0);
  for (const char *element = from.begin(); element != from.end();
       element += elementBytes) {
    memcpy(to.data() + positions.at(point) * elementBytes, element,
           elementBytes);
    for (int64_t dim = int64_t(shape.size()) - 1; dim >= 0; --dim) {
      if (++point[dim] < shape[dim])
        break;
      point[dim] = 0;
    }
  }
}

} // namespace adze
