// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Evaluates constants at compile time, by the reference path.
#ifndef ADZE_PIPELINE_JITEVALUATOR_H
#define ADZE_PIPELINE_JITEVALUATOR_H

#include "mlir/IR/DialectRegistry.h"

namespace adze {

/// Registers a ConstantEvaluator of the graph dialect that compiles functions
/// by the reference path and runs them in this process.
void registerConstantEvaluator(mlir::DialectRegistry &registry);

} // namespace adze

#endif // ADZE_PIPELINE_JITEVALUATOR_H
