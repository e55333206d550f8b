// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels and host functions from outside for operators of a model.
#ifndef ADZE_IMPORT_ONNX_CUSTOMKERNELS_H
#define ADZE_IMPORT_ONNX_CUSTOMKERNELS_H

#include "mlir/IR/Builders.h"
#include <string>

namespace adze {

/// What the importer asks before it looks into its own table.
class CustomKernels {
public:
  virtual ~CustomKernels() = default;

  /// Whether there is a kernel or a host function for the operator; ONNX's own
  /// domain is "".
  virtual bool has(llvm::StringRef domain, llvm::StringRef op) const = 0;

  /// A node with an operator that `has` is true of.
  struct Call {
    llvm::StringRef domain, op;
    mlir::ValueRange operands; // null where the node leaves an input out
    unsigned numOutputs;
    /// Of i64, f32, strings, array<i64>, array<f32> and arrays of strings.
    mlir::NamedAttrList attributes;
    /// A symbol for a data-dependent size.
    llvm::function_ref<mlir::AffineExpr()> makeSymbol;
  };
  /// Emits what the node becomes, and gives its results; a failure's reason is
  /// left in `error`.
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  create(mlir::OpBuilder &builder, mlir::Location loc, const Call &call,
         std::string &error) = 0;
};

} // namespace adze

#endif // ADZE_IMPORT_ONNX_CUSTOMKERNELS_H
