// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Dependences between the ops of a block: by operands, by values that regions
// use, by data-dependent symbols, and by effects.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_BLOCKORDER_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_BLOCKORDER_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// The ops of a block that an op of the block depends on.
class Predecessors {
public:
  /// With `withChecks`, an op also depends on the checks of sizes before it, as
  /// long as ops are in their original order.
  explicit Predecessors(mlir::Block &block, bool withChecks = false);

  void forEach(mlir::Operation *op,
               llvm::function_ref<void(mlir::Operation *)> visit) const;

private:
  /// `sizes` is a type or an expression.
  template <typename T>
  void addSymbols(mlir::Operation *op, T sizes,
                  llvm::function_ref<void(mlir::Operation *)> visit) const;

  void addCheck(mlir::Operation *op, unsigned symbol,
                llvm::function_ref<void(mlir::Operation *)> visit) const;

  using Ops = llvm::SmallVector<mlir::Operation *, 1>;
  mlir::Block &block;
  /// The ops of the block that bind symbols, including those in their regions,
  /// and checks of symbols, in order.
  llvm::DenseMap<unsigned, Ops> binders, checks;
  /// The previous op with an effect for each one, so that effects keep their
  /// order. Checks of sizes do not count.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> effects;
};

/// Sorts the ops by all dependences with as few changes as necessary. A check
/// of sizes stays before the ops after it, except for its own dependences.
void sortBlock(mlir::Block &block);

/// Reads sizes that do not depend on each other (graph.bind) at once, so that
/// the host waits for a device once. Sorts the block, and returns the number of
/// these reads.
unsigned mergeReads(mlir::Block &block);

/// Moves each check of sizes in the function to the first position where the
/// sizes are known, so that no reordering moves dependent ops before it.
void hoistChecks(mlir::Operation *function);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_BLOCKORDER_H
