// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A cache of facts about expressions that are quotients or remainders, as each
// type that has them requests these facts again.
#ifndef ADZE_LIB_DIALECT_GRAPH_IR_EXPRFACTS_H
#define ADZE_LIB_DIALECT_GRAPH_IR_EXPRFACTS_H

#include "Dialect/Graph/IR/Graph.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/Support/ThreadLocalCache.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace adze::graph {

/// Facts that depend on the expressions only.
struct ExprFacts {
  /// Atoms in normal form.
  llvm::DenseSet<mlir::AffineExpr> atoms;
  /// The results of getClamped by remainder.
  llvm::DenseMap<mlir::AffineExpr, mlir::AffineExpr> clamped;
  /// The results by expression in normal form.
  llvm::DenseMap<mlir::AffineExpr, bool> nonNegative;
};

/// Each thread has its own facts.
class ExprFactsInterface
    : public mlir::DialectInterface::Base<ExprFactsInterface> {
public:
  explicit ExprFactsInterface(mlir::Dialect *dialect) : Base(dialect) {}
  ExprFacts &get() const { return facts.get(); }

private:
  mutable mlir::ThreadLocalCache<ExprFacts> facts;
};

/// Returns null if the dialect is not loaded.
inline ExprFacts *getFacts(mlir::AffineExpr expr) {
  auto *dialect = expr.getContext()->getLoadedDialect<GraphDialect>();
  auto *known =
      dialect ? dialect->getRegisteredInterface<ExprFactsInterface>() : nullptr;
  return known ? &known->get() : nullptr;
}

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_IR_EXPRFACTS_H
