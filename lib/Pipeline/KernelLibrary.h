// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tile kernels and host functions of a file, for operators of a model
// (--kernels).
#ifndef ADZE_LIB_PIPELINE_KERNELLIBRARY_H
#define ADZE_LIB_PIPELINE_KERNELLIBRARY_H

#include "Dialect/Tile/IR/Tile.h"
#include "Import/ONNX/CustomKernels.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace adze {

/// A node whose (domain, operator) names a kernel becomes a launch of a copy of
/// it with the sizes of the operands of the node. A node that names a
/// declaration becomes a call of an operator that the program registers with
/// the run time.
class KernelLibrary final : public CustomKernels {
public:
  /// Parses the file; emits errors.
  mlir::LogicalResult load(llvm::StringRef path, mlir::MLIRContext &context);

  bool has(llvm::StringRef domain, llvm::StringRef op) const override;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  create(mlir::OpBuilder &builder, mlir::Location loc, const Call &call,
         std::string &error) override;

private:
  /// Returns a tile.kernel, a declaration of a host function, or null.
  mlir::FunctionOpInterface find(llvm::StringRef domain,
                                 llvm::StringRef op) const;

  mutable mlir::OwningOpRef<mlir::ModuleOp> module; // its access is not const
};

} // namespace adze

#endif // ADZE_LIB_PIPELINE_KERNELLIBRARY_H
