// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Creates the description of a module from a planned host program.
#ifndef ADZE_LIB_PIPELINE_DESCRIBE_H
#define ADZE_LIB_PIPELINE_DESCRIBE_H

#include "Dialect/Host/IR/Host.h"
#include "Package/Package.h"
#include "Support/NodeName.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze {

/// Returns the host program of the module after plan-memory; emits an error if
/// there is not exactly one.
mlir::FailureOr<mlir::func::FuncOp> findHostProgram(mlir::ModuleOp module);

/// Returns the launches in order: entry i of the kernel table is launch i.
llvm::SmallVector<host::LaunchOp> getLaunches(mlir::func::FuncOp program);

/// Describes signature, symbols and kernel table.
mlir::LogicalResult describe(mlir::func::FuncOp program,
                             package::ModuleDescription &description);

/// Assigns the constants of two programs to one section: those of the first
/// only, those of both, those of the second only. Offsets of the second program
/// are relative to the beginning of its part, which is returned.
mlir::FailureOr<uint64_t> joinWeights(mlir::func::FuncOp first,
                                      mlir::func::FuncOp second);

/// Collects the constants of the programs with their offsets in the weights
/// section, and a digest of their content. `offset` is the beginning of the
/// part of the last program. The bytes are read from mappings when they are
/// written.
mlir::LogicalResult collectWeights(llvm::ArrayRef<mlir::func::FuncOp> programs,
                                   uint64_t offset,
                                   std::vector<package::Weight> &weights,
                                   std::string &digest);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_DESCRIBE_H
