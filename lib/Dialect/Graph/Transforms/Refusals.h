// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Remarks on ops that were almost recognised or merged, by MLIR's remark
// engine, which --report collects. Without an engine nothing is collected.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_REFUSALS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_REFUSALS_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"

namespace adze::graph {

/// Emits a remark that `op` was not made part of `what`.
void refuse(mlir::Operation *op, llvm::StringRef what,
            const llvm::Twine &reason);

/// Emits a remark that `reader` is not in the kernel that computes its operand.
void refuseFusion(mlir::Operation *producer, mlir::Operation *reader,
                  llvm::StringRef reason);

/// Reports a match failure after the pattern matched its characteristic op: a
/// near miss.
mlir::LogicalResult nearMiss(mlir::RewriterBase &rewriter, mlir::Operation *op,
                             const llvm::Twine &reason);

/// The reason of that attempt, of several, that got furthest.
class FirstFailure {
public:
  /// `depth` is the progress of the attempt.
  void set(unsigned depth, llvm::StringRef reason) {
    if (why.empty() || depth > reached) {
      why = reason;
      reached = depth;
    }
  }
  /// Reports the match failure; a near miss from depth `near` on, or for
  /// `reason`.
  mlir::LogicalResult report(mlir::RewriterBase &rewriter, mlir::Operation *op,
                             unsigned near, llvm::StringRef reason) const {
    if (!why.empty() && reached >= near)
      return nearMiss(rewriter, op, why);
    return rewriter.notifyMatchFailure(op, reason);
  }

private:
  unsigned reached = 0;
  llvm::StringRef why;
};

/// Collects the near misses of a greedy rewriting: for each remaining op, the
/// first one of each pattern.
class NearMisses final : public mlir::RewriterBase::Listener {
public:
  /// Returns the configuration of a greedy rewriting with this listener.
  mlir::GreedyRewriteConfig getConfig() {
    mlir::GreedyRewriteConfig config;
    config.setListener(this);
    return config;
  }
  /// Emits the remarks, in the order of the ops in `root`.
  void report(mlir::Operation *root);

  void notifyPatternBegin(const mlir::Pattern &pattern,
                          mlir::Operation *op) override;
  void notifyMatchFailure(
      mlir::Location loc,
      llvm::function_ref<void(mlir::Diagnostic &)> reasonCallback) override;
  void notifyOperationErased(mlir::Operation *op) override { found.erase(op); }

private:
  mlir::Operation *current = nullptr;
  llvm::StringRef pattern;
  llvm::DenseMap<mlir::Operation *,
                 llvm::MapVector<llvm::StringRef, std::string>>
      found;
};

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_REFUSALS_H
