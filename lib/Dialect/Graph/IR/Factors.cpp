// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Factors of a reshape: both shapes are processed in parallel, and the rest of
// a dim on one side is matched with the next dims on the other.
#include "Dialect/Graph/IR/Factors.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// A shape without the factors that were removed from it.
struct Rest {
  ArrayRef<AffineExpr> dims;
  size_t dim = 0;
  AffineExpr size; // rest of the current dim

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
                        ArrayRef<AffineExpr> after) {
  if (llvm::is_contained(before, AffineExpr()) ||
      llvm::is_contained(after, AffineExpr()))
    return std::nullopt;
  SmallVector<Factor> factors;
  Rest from(before), to(after);
  while (!from.isEmpty() || !to.isEmpty()) {
    if (from.isOne() != to.isOne()) { // an added or removed dim of 1
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
