// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Evaluates graph ops when the model is compiled.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_CONSTANTFUNCTION_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_CONSTANTFUNCTION_H

#include "Support/ConstantEvaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace adze::graph {

/// Returns the evaluator of the context, or null.
const ConstantEvaluator *findEvaluator(mlir::MLIRContext *context);

/// A function of graph ops without arguments, in a module of its own.
class ConstantFunction {
public:
  explicit ConstantFunction(mlir::Location loc);

  /// Returns a builder at the end of the body.
  mlir::OpBuilder &getBuilder() { return builder; }
  /// Appends the bytes of each result (ConstantEvaluator::evaluate). Nothing is
  /// built afterwards.
  mlir::LogicalResult evaluate(const ConstantEvaluator &evaluator,
                               mlir::ValueRange results,
                               llvm::SmallVectorImpl<std::vector<char>> &bytes);

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  mlir::OpBuilder builder;
};

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_CONSTANTFUNCTION_H
