// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Why what was nearly recognised or merged was not: remarks of MLIR's engine,
// which --report collects. Without an engine nothing is gathered.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_REFUSALS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_REFUSALS_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"

namespace adze::graph {

/// The remark that `op` was not made part of `what`.
void refuse(mlir::Operation *op, llvm::StringRef what,
            const llvm::Twine &reason);

/// The remark that `reader` is not in the kernel which computes what it reads.
void refuseFusion(mlir::Operation *producer, mlir::Operation *reader,
                  llvm::StringRef reason);

/// A match failure after the pattern saw what it is known by: a near miss.
mlir::LogicalResult nearMiss(mlir::RewriterBase &rewriter, mlir::Operation *op,
                             const llvm::Twine &reason);

/// Of several attempts, why the one failed that came furthest.
class FirstFailure {
public:
  /// `depth`: how far it came.
  void set(unsigned depth, llvm::StringRef reason) {
    if (why.empty() || depth > reached) {
      why = reason;
      reached = depth;
    }
  }
  /// The match failure; a near miss from depth `near` on, else for `reason`.
  mlir::LogicalResult tell(mlir::RewriterBase &rewriter, mlir::Operation *op,
                           unsigned near, llvm::StringRef reason) const {
    if (!why.empty() && reached >= near)
      return nearMiss(rewriter, op, why);
    return rewriter.notifyMatchFailure(op, reason);
  }

private:
  unsigned reached = 0;
  llvm::StringRef why;
};

/// Gathers the near misses of a greedy rewriting: of each op that stays, the
/// first one by each pattern.
class NearMisses final : public mlir::RewriterBase::Listener {
public:
  /// For a greedy rewriting that this is to see.
  mlir::GreedyRewriteConfig getConfig() {
    mlir::GreedyRewriteConfig config;
    config.setListener(this);
    return config;
  }
  /// The remarks, in the order of the ops in `root`.
  void tell(mlir::Operation *root);

  void notifyPatternBegin(const mlir::Pattern &pattern,
                          mlir::Operation *op) override;
  void notifyMatchFailure(
      mlir::Location loc,
      llvm::function_ref<void(mlir::Diagnostic &)> reasonCallback) override;
  void notifyOperationErased(mlir::Operation *op) override { found.erase(op); }

private:
  mlir::Operation *current = nullptr;
  llvm::StringRef pattern;
  llvm::DenseMap<mlir::Operation *, llvm::MapVector<llvm::StringRef, std::string>>
      found;
};

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_REFUSALS_H
