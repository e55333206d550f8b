// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Typical values of sizes, for heuristics, and new symbols.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SYMBOLS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SYMBOLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace adze::graph {

/// Adds a symbol without a name to the function, and returns its number.
unsigned addSymbol(mlir::func::FuncOp function);

/// The symbols that are bound before the program begins, and typical values.
class TypicalSizes {
public:
  explicit TypicalSizes(mlir::func::FuncOp function);
  /// Returns true if the sizes of a tensor are known before the program begins.
  bool areKnown(mlir::Type type) const;
  int64_t get(mlir::AffineExpr size) const;
  /// Returns the symbol that is bound to a sum before `user`, if it is a sum:
  /// one symbol for each value of sizes that are known early.
  mlir::AffineExpr getName(mlir::AffineExpr sum, mlir::Operation *user);

private:
  bool areKnown(mlir::AffineExpr size) const;

  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::AffineExpr, mlir::AffineExpr> names;
  // The last of the ops that name sizes at the beginning of the function.
  mlir::Operation *lastName = nullptr;
  llvm::DenseSet<unsigned> known;
  llvm::SmallVector<int64_t> common;
};

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SYMBOLS_H
