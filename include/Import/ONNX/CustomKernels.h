// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Interface of user-defined kernels and host functions for operators of a
// model.
#ifndef ADZE_IMPORT_ONNX_CUSTOMKERNELS_H
#define ADZE_IMPORT_ONNX_CUSTOMKERNELS_H

#include "mlir/IR/Builders.h"
#include <string>

namespace adze {

/// The interface that the importer queries before its own table.
class CustomKernels {
public:
  virtual ~CustomKernels() = default;

  /// Returns true if there is a kernel or a host function for the operator. The
  /// domain of ONNX itself is "".
  virtual bool has(llvm::StringRef domain, llvm::StringRef op) const = 0;

  /// A node whose operator `has` returns true for.
  struct Call {
    llvm::StringRef domain, op;
    mlir::ValueRange operands; // null if the node omits an input
    unsigned numOutputs;
    /// The values are i64, f32, strings, array<i64>, array<f32> and arrays of
    /// strings.
    mlir::NamedAttrList attributes;
    /// Creates a symbol for a data-dependent size.
    llvm::function_ref<mlir::AffineExpr()> makeSymbol;
  };
  /// Emits the ops of the node and returns its results. On failure, `error` is
  /// the reason.
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  create(mlir::OpBuilder &builder, mlir::Location loc, const Call &call,
         std::string &error) = 0;
};

} // namespace adze

#endif // ADZE_IMPORT_ONNX_CUSTOMKERNELS_H
