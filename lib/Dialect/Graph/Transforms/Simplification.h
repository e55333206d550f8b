// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What the simplifying passes share: patterns that count.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SIMPLIFICATION_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SIMPLIFICATION_H

#include "Matching.h"
#include "mlir/Pass/Pass.h"

namespace adze::graph {

/// A pattern that counts how often it applied.
template <typename OpT>
class Simplification : public mlir::OpRewritePattern<OpT> {
public:
  Simplification(mlir::MLIRContext *context, mlir::Pass::Statistic &count)
      : mlir::OpRewritePattern<OpT>(context), count(count) {}

  mlir::LogicalResult
  matchAndRewrite(OpT op, mlir::PatternRewriter &rewriter) const override {
    if (failed(simplify(op, rewriter)))
      return mlir::failure();
    ++count;
    return mlir::success();
  }

protected:
  virtual mlir::LogicalResult
  simplify(OpT op, mlir::PatternRewriter &rewriter) const = 0;

private:
  mlir::Pass::Statistic &count;
};

/// Are all dims constants or expressions of symbols?
inline bool areKnown(mlir::Value value) {
  return llvm::all_of(getDims(value),
                      [](mlir::AffineExpr dim) { return bool(dim); });
}

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SIMPLIFICATION_H
