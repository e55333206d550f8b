// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The supported element types of operators, which nodes are checked against and
// docs/OpSupport.md lists.
#ifndef ADZE_LIB_IMPORT_ONNX_TYPES_H
#define ADZE_LIB_IMPORT_ONNX_TYPES_H

#include "Binder.h"
#include "OpTable.h"
#include "Reader.h"

namespace adze::importer {

/// Fails unless the operand types of the node are allowed by the definition and
/// not excluded by the row (null: it is expanded).
mlir::LogicalResult checkOperands(Binder &binder, const Definition &definition,
                                  const OpRow *row);
/// Checks the results of the node in the same way.
mlir::LogicalResult checkResults(Binder &binder, const Definition &definition,
                                 mlir::ValueRange results);

/// Returns the types of the type variables: "T: double float; T1: int64".
std::string printTypes(const Definition &definition, const OpRow *row);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_TYPES_H
