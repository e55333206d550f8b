// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What has been found out of expressions that are quotients or remainders by
// others: they are asked for again with each type that mentions them.
#ifndef ADZE_LIB_DIALECT_GRAPH_IR_EXPRFACTS_H
#define ADZE_LIB_DIALECT_GRAPH_IR_EXPRFACTS_H

#include "Dialect/Graph/IR/Graph.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/Support/ThreadLocalCache.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace adze::graph {

/// All of it follows of the expressions alone.
struct ExprFacts {
  /// Atoms in normal form.
  llvm::DenseSet<mlir::AffineExpr> atoms;
  /// By remainder: what getClamped says.
  llvm::DenseMap<mlir::AffineExpr, mlir::AffineExpr> clamped;
  /// By expression in normal form.
  llvm::DenseMap<mlir::AffineExpr, bool> nonNegative;
};

/// Each thread's own.
class ExprFactsInterface
    : public mlir::DialectInterface::Base<ExprFactsInterface> {
public:
  explicit ExprFactsInterface(mlir::Dialect *dialect) : Base(dialect) {}
  ExprFacts &get() const { return facts.get(); }

private:
  mutable mlir::ThreadLocalCache<ExprFacts> facts;
};

/// Null where the dialect is not loaded.
inline ExprFacts *getFacts(mlir::AffineExpr expr) {
  auto *dialect = expr.getContext()->getLoadedDialect<GraphDialect>();
  auto *known =
      dialect ? dialect->getRegisteredInterface<ExprFactsInterface>() : nullptr;
  return known ? &known->get() : nullptr;
}

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_IR_EXPRFACTS_H
