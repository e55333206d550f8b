// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What sizes are likely to be, for choices that need numbers; new symbols.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SYMBOLS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SYMBOLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace adze::graph {

/// Adds a symbol without a name to the function, and returns its number.
unsigned addSymbol(mlir::func::FuncOp function);

/// The symbols that have values before the program begins, and typical ones.
class TypicalSizes {
public:
  explicit TypicalSizes(mlir::func::FuncOp function);
  /// Whether the sizes of a tensor are known before the program begins.
  bool areKnown(mlir::Type type) const;
  int64_t get(mlir::AffineExpr size) const;
  /// The symbol that has the value of a sum from before `user` on, if it is a
  /// sum: one symbol for one value of early sizes.
  mlir::AffineExpr getName(mlir::AffineExpr sum, mlir::Operation *user);

private:
  bool areKnown(mlir::AffineExpr size) const;

  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::AffineExpr, mlir::AffineExpr> names;
  mlir::Operation *lastName = nullptr; // of those at the function's beginning
  llvm::DenseSet<unsigned> known;
  llvm::SmallVector<int64_t> common;
};

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SYMBOLS_H
