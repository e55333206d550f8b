// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What a context needs to compile.
#ifndef ADZE_PIPELINE_DIALECTS_H
#define ADZE_PIPELINE_DIALECTS_H

#include "mlir/IR/DialectRegistry.h"

namespace adze {

/// Our dialects and those of MLIR that pipelines go through, with the
/// interfaces of other libraries that passes rely on.
void registerPipelineDialects(mlir::DialectRegistry &registry);

} // namespace adze

#endif // ADZE_PIPELINE_DIALECTS_H
