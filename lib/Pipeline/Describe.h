// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What a planned host program says of the module that it becomes.
#ifndef ADZE_LIB_PIPELINE_DESCRIBE_H
#define ADZE_LIB_PIPELINE_DESCRIBE_H

#include "Dialect/Host/IR/Host.h"
#include "Package/Package.h"
#include "Support/NodeName.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze {

/// The module's host program after plan-memory; emits an error if there is none
/// or more than one.
mlir::FailureOr<mlir::func::FuncOp> findHostProgram(mlir::ModuleOp module);

/// The launches in their order: entry i of the kernel table is launch i.
llvm::SmallVector<host::LaunchOp> getLaunches(mlir::func::FuncOp program);

/// Signature, symbols and kernel table.
mlir::LogicalResult describe(mlir::func::FuncOp program,
                             package::ModuleDescription &description);

/// Gives the constants of two programs places in one section: those of the
/// first alone, those of both, those of the second alone. Offsets of the second
/// program are from where its part begins, which is returned.
mlir::FailureOr<uint64_t> joinWeights(mlir::func::FuncOp first,
                                      mlir::func::FuncOp second);

/// The constants of the programs with their places in the weights section, and
/// a digest of their content. `offset`: where the last program's part of the
/// section begins. Reads from mappings when written.
mlir::LogicalResult collectWeights(llvm::ArrayRef<mlir::func::FuncOp> programs,
                                   uint64_t offset,
                                   std::vector<package::Weight> &weights,
                                   std::string &digest);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_DESCRIBE_H
