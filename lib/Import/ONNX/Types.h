// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The element types that an operator is claimed for: what nodes are held to,
// and what docs/OpSupport.md says.
#ifndef ADZE_LIB_IMPORT_ONNX_TYPES_H
#define ADZE_LIB_IMPORT_ONNX_TYPES_H

#include "Binder.h"
#include "OpTable.h"
#include "Reader.h"

namespace adze::importer {

/// Fails unless the node's operands are of types that the definition allows and
/// that the row (null: it is expanded) does not refuse.
mlir::LogicalResult checkOperands(Binder &binder, const Definition &definition,
                                  const OpRow *row);
/// The same of what was made of the node.
mlir::LogicalResult checkResults(Binder &binder, const Definition &definition,
                                 mlir::ValueRange results);

/// "T: double float; T1: int64": what the type variables stand for.
std::string printTypes(const Definition &definition, const OpRow *row);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_TYPES_H
