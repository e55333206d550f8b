// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What comes before what in a block: by operands, by values that regions use,
// and by symbols that the data gives their values.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_BLOCKORDER_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_BLOCKORDER_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// The ops of a block that an op of the block needs done before itself.
class Predecessors {
public:
  explicit Predecessors(mlir::Block &block);

  void forEach(mlir::Operation *op,
               llvm::function_ref<void(mlir::Operation *)> visit) const;

private:
  /// `sizes`: a type or an expression.
  template <typename T>
  void addSymbols(mlir::Operation *op, T sizes,
                  llvm::function_ref<void(mlir::Operation *)> visit) const;

  mlir::Block &block;
  /// Ops of the block that bind symbols, also inside of their regions.
  llvm::DenseMap<unsigned, llvm::SmallVector<mlir::Operation *, 1>> binders;
};

/// Puts the ops in an order that respects all of that, changing as little as
/// needed.
void sortBlock(mlir::Block &block);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_BLOCKORDER_H
