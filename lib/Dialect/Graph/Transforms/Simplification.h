// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of the simplifying passes: patterns that count their
// applications.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SIMPLIFICATION_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SIMPLIFICATION_H

#include "Matching.h"
#include "mlir/Pass/Pass.h"
#include <functional>

namespace adze::graph {

/// A rewrite that counts its applications.
template <typename OpT>
class Simplification final : public mlir::OpRewritePattern<OpT> {
public:
  using Rewrite =
      std::function<mlir::LogicalResult(OpT, mlir::PatternRewriter &)>;

  Simplification(mlir::MLIRContext *context, mlir::Pass::Statistic &count,
                 Rewrite rewrite)
      : mlir::OpRewritePattern<OpT>(context), count(count),
        rewrite(std::move(rewrite)) {}

  mlir::LogicalResult
  matchAndRewrite(OpT op, mlir::PatternRewriter &rewriter) const override {
    mlir::LogicalResult result = rewrite(op, rewriter);
    if (succeeded(result))
      ++count;
    return result;
  }

private:
  mlir::Pass::Statistic &count;
  Rewrite rewrite;
};

/// Adds one rewrite for each of these ops.
template <typename... OpTs, typename RewriteT>
void addSimplifications(mlir::RewritePatternSet &patterns,
                        mlir::Pass::Statistic &count, RewriteT rewrite) {
  (patterns.add<Simplification<OpTs>>(patterns.getContext(), count, rewrite),
   ...);
}

/// Add patterns for ops that return an operand, a part of it or a constant:
/// those of data movement and windows, and those of arithmetic.
void addMovementIdentities(mlir::RewritePatternSet &patterns,
                           mlir::Pass::Statistic &count);
void addAlgebraIdentities(mlir::RewritePatternSet &patterns,
                          mlir::Pass::Statistic &count);

/// Adds patterns for windows over dims of size 1.
void addWindowSimplifications(mlir::RewritePatternSet &patterns,
                              mlir::Pass::Statistic &count);

/// Rewrites a gather at constant, evenly spaced indices to a slice, which users
/// fuse as an offset.
mlir::LogicalResult sliceByGather(GatherOp op, mlir::PatternRewriter &rewriter);

/// Returns true if all dims are constants or expressions of symbols.
inline bool areKnown(mlir::Value value) {
  return llvm::all_of(getDims(value),
                      [](mlir::AffineExpr dim) { return bool(dim); });
}

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SIMPLIFICATION_H
