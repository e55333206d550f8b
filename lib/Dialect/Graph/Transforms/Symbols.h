// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What sizes are likely to be, for choices that need numbers.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SYMBOLS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SYMBOLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace adze::graph {

/// The symbols that have values before the program begins, and typical ones.
class TypicalSizes {
public:
  explicit TypicalSizes(mlir::func::FuncOp function);
  /// Whether the sizes of a tensor are known before the program begins.
  bool areKnown(mlir::Type type) const;
  int64_t get(mlir::AffineExpr size) const;

private:
  llvm::DenseSet<unsigned> known;
  llvm::SmallVector<int64_t> common;
};

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SYMBOLS_H
