// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels from outside for operators of a model.
#ifndef ADZE_IMPORT_ONNX_CUSTOMKERNELS_H
#define ADZE_IMPORT_ONNX_CUSTOMKERNELS_H

#include "mlir/IR/Builders.h"
#include <string>
#include <utility>
#include <vector>

namespace adze {

/// What the importer asks before it looks into its own table.
class CustomKernels {
public:
  virtual ~CustomKernels() = default;

  /// Whether there is a kernel for the operator; ONNX's own domain is "".
  virtual bool has(llvm::StringRef domain, llvm::StringRef op) const = 0;

  /// A node with an operator that `has` is true of.
  struct Call {
    llvm::StringRef domain, op;
    mlir::ValueRange operands;
    unsigned numOutputs;
    std::vector<std::pair<std::string, int64_t>> integers; // attributes
  };
  /// Emits what the node becomes, and gives its results; a failure's reason is
  /// left in `error`.
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  create(mlir::OpBuilder &builder, mlir::Location loc, const Call &call,
         std::string &error) = 0;
};

} // namespace adze

#endif // ADZE_IMPORT_ONNX_CUSTOMKERNELS_H
