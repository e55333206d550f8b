// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What the simplifying passes share: patterns that count.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SIMPLIFICATION_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SIMPLIFICATION_H

#include "Matching.h"
#include "mlir/Pass/Pass.h"
#include <functional>

namespace adze::graph {

/// A rewrite that counts how often it applied.
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

/// One rewrite of each of these ops.
template <typename... OpTs, typename RewriteT>
void addSimplifications(mlir::RewritePatternSet &patterns,
                        mlir::Pass::Statistic &count, RewriteT rewrite) {
  (patterns.add<Simplification<OpTs>>(patterns.getContext(), count, rewrite),
   ...);
}

/// Ops that give what they take, a part of it or one known number: those of
/// movement and windows, and those of arithmetic.
void addMovementIdentities(mlir::RewritePatternSet &patterns,
                           mlir::Pass::Statistic &count);
void addAlgebraIdentities(mlir::RewritePatternSet &patterns,
                          mlir::Pass::Statistic &count);

/// Windows over dims of which only one element is there.
void addWindowSimplifications(mlir::RewritePatternSet &patterns,
                              mlir::Pass::Statistic &count);

/// Elements picked at constant, evenly spaced places are a slice, which a
/// reader takes in as an offset.
mlir::LogicalResult sliceByGather(GatherOp op, mlir::PatternRewriter &rewriter);

/// Are all dims constants or expressions of symbols?
inline bool areKnown(mlir::Value value) {
  return llvm::all_of(getDims(value),
                      [](mlir::AffineExpr dim) { return bool(dim); });
}

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SIMPLIFICATION_H
