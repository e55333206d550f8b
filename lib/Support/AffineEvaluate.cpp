// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#include "Support/AffineEvaluate.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace adze {

static int64_t floorDiv(int64_t lhs, int64_t rhs) {
  return rhs ? llvm::divideFloorSigned(lhs, rhs) : 0;
}

int64_t evaluateAffine(AffineExpr expr,
                       llvm::function_ref<int64_t(AffineExpr)> leaf) {
  if (auto literal = dyn_cast<AffineConstantExpr>(expr))
    return literal.getValue();
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return leaf(expr);
  int64_t lhs = evaluateAffine(binary.getLHS(), leaf);
  int64_t rhs = evaluateAffine(binary.getRHS(), leaf);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return floorDiv(lhs, rhs);
  case AffineExprKind::CeilDiv:
    return -floorDiv(-lhs, rhs);
  default: // Mod
    return lhs - floorDiv(lhs, rhs) * rhs;
  }
}

} // namespace adze
