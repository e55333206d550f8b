// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What a model takes for granted of sizes that only a run can tell.
#ifndef ADZE_LIB_IMPORT_ONNX_ASSUMPTIONS_H
#define ADZE_LIB_IMPORT_ONNX_ASSUMPTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze::importer {

/// Writes the function attributes graph.broadcasts and graph.equalities: sizes
/// that a run has to find equal or 1, and equal, for the ops to make sense, and
/// `equalities` too.
void addAssumptions(
    mlir::func::FuncOp function, unsigned numSymbols,
    llvm::ArrayRef<std::pair<mlir::AffineExpr, mlir::AffineExpr>> equalities);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_ASSUMPTIONS_H
