// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What comes before what in a block: by operands, by values that regions use,
// by symbols that the data gives their values, and by effects.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_BLOCKORDER_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_BLOCKORDER_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// The ops of a block that an op of the block needs done before itself.
class Predecessors {
public:
  /// `withChecks`: also the checks of sizes in front of it, as long as the ops
  /// stand where they were made.
  explicit Predecessors(mlir::Block &block, bool withChecks = false);

  void forEach(mlir::Operation *op,
               llvm::function_ref<void(mlir::Operation *)> visit) const;

private:
  /// `sizes`: a type or an expression.
  template <typename T>
  void addSymbols(mlir::Operation *op, T sizes,
                  llvm::function_ref<void(mlir::Operation *)> visit) const;

  void addCheck(mlir::Operation *op, unsigned symbol,
                llvm::function_ref<void(mlir::Operation *)> visit) const;

  using Ops = llvm::SmallVector<mlir::Operation *, 1>;
  mlir::Block &block;
  /// Ops of the block that bind symbols, also inside of their regions, and
  /// checks of symbols, in order.
  llvm::DenseMap<unsigned, Ops> binders, checks;
  /// The op with an effect before each one, so that effects keep their order.
  /// A check of sizes has none in this sense.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> effects;
};

/// Puts the ops in an order that respects all of that, changing as little as
/// needed. A check of sizes stays in front of what it is in front of, but for
/// what it needs itself.
void sortBlock(mlir::Block &block);

/// Moves each check of sizes in the function to the place where they are known
/// first: no other order of the ops behind it comes in front of it.
void hoistChecks(mlir::Operation *function);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_BLOCKORDER_H
