// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The dialects of a compilation.
#ifndef ADZE_PIPELINE_DIALECTS_H
#define ADZE_PIPELINE_DIALECTS_H

#include "mlir/IR/DialectRegistry.h"

namespace adze {

/// Registers our dialects and those of MLIR in the pipelines, with the
/// interfaces of other libraries that passes use.
void registerPipelineDialects(mlir::DialectRegistry &registry);

} // namespace adze

#endif // ADZE_PIPELINE_DIALECTS_H
