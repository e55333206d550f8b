// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The host program in the text of a module in the LLVM dialect.
#ifndef ADZE_LIB_PIPELINE_HOSTTEXT_H
#define ADZE_LIB_PIPELINE_HOSTTEXT_H

#include "mlir/IR/BuiltinOps.h"

namespace adze {

/// Keeps the text of the host program in an attribute of the module. The stage
/// "llvm" replaces the program by functions, from which the tables of a
/// compiled module cannot be made. Tools that know only the LLVM dialect can
/// read the attribute.
void keepHostProgram(mlir::ModuleOp module);

/// Adds the host program of such an attribute to the module, marked as lowered.
/// Emits an error if the text is invalid, or if the target is not a CPU, for
/// which its kernels are. Has no effect without the attribute.
mlir::LogicalResult restoreHostProgram(mlir::ModuleOp module,
                                       mlir::Attribute target);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_HOSTTEXT_H
