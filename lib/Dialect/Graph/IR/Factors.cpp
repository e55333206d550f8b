// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Factors of a reshape: both shapes are walked at once, and what is left of a
// dim on one side goes with what follows on the other.
#include "Dialect/Graph/IR/Factors.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// A shape of which a part is taken.
struct Rest {
  ArrayRef<AffineExpr> dims;
  size_t dim = 0;
  AffineExpr size; // what is left of the dim

  explicit Rest(ArrayRef<AffineExpr> dims)
      : dims(dims), size(dims.empty() ? AffineExpr() : dims[0]) {}
  bool isEmpty() const { return dim == dims.size(); }
  bool isOne() const { return !isEmpty() && getConstant(size) == 1; }
  void next() { size = ++dim < dims.size() ? dims[dim] : AffineExpr(); }
  void take(AffineExpr factor) {
    if (areEqual(size, factor))
      next();
    else
      size = divideExactly(size, factor);
  }
};

} // namespace

std::optional<SmallVector<Factor>>
adze::graph::getFactors(ArrayRef<AffineExpr> before,
                        ArrayRef<AffineExpr> behind) {
  if (llvm::is_contained(before, AffineExpr()) ||
      llvm::is_contained(behind, AffineExpr()))
    return std::nullopt;
  SmallVector<Factor> factors;
  Rest from(before), to(behind);
  while (!from.isEmpty() || !to.isEmpty()) {
    if (from.isOne() != to.isOne()) { // a dim of 1 that comes or goes
      (from.isOne() ? from : to).next();
      continue;
    }
    if (from.isEmpty() || to.isEmpty())
      return std::nullopt;
    bool isPart =
        areEqual(from.size, to.size) || divideExactly(to.size, from.size);
    if (!isPart && !divideExactly(from.size, to.size))
      return std::nullopt;
    Factor factor{from.dim, to.dim, isPart ? from.size : to.size};
    from.take(factor.size);
    to.take(factor.size);
    factors.push_back(factor);
  }
  return factors;
}
