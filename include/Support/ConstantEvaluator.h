// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// An interface of the graph dialect by which passes evaluate constants. A
// library with a JIT registers it.
#ifndef ADZE_SUPPORT_CONSTANTEVALUATOR_H
#define ADZE_SUPPORT_CONSTANTEVALUATOR_H

#include "Dialect/Graph/IR/Graph.h"
#include "mlir/IR/DialectInterface.h"

namespace adze {

/// Runs functions of graph ops when the model is compiled. Register an
/// implementation with
/// `registry.addExtension(+[](MLIRContext *, graph::GraphDialect *dialect) {
///    dialect->addInterfaces<MyEvaluator>(); })`.
class ConstantEvaluator
    : public mlir::DialectInterface::Base<ConstantEvaluator> {
public:
  explicit ConstantEvaluator(mlir::Dialect *dialect) : Base(dialect) {}

  /// Runs `@main` of the module, a function without arguments whose body is
  /// graph ops and whose results are static tensors. Appends the bytes of each
  /// result (row-major, little-endian, a bool in a byte). The evaluator may
  /// change the module. Emits a diagnostic on failure.
  virtual mlir::LogicalResult
  evaluate(mlir::ModuleOp module,
           llvm::SmallVectorImpl<std::vector<char>> &results) const = 0;
};

} // namespace adze

#endif // ADZE_SUPPORT_CONSTANTEVALUATOR_H
