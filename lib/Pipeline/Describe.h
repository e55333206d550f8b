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

/// The constants of the program with their places in the weights section, and
/// a digest of their content. Reads from mappings when written.
mlir::LogicalResult collectWeights(mlir::func::FuncOp program,
                                   std::vector<package::Weight> &weights,
                                   std::string &digest);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_DESCRIBE_H
