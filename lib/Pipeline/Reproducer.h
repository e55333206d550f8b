// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The IR before a pass that fails, as a file that aopt replays.
#ifndef ADZE_LIB_PIPELINE_REPRODUCER_H
#define ADZE_LIB_PIPELINE_REPRODUCER_H

#include "mlir/Pass/PassManager.h"
#include <string>

namespace adze {

/// Makes a pass manager write `path` when one of its passes fails or crashes:
/// the IR before that pass, and the pass and its options, for `aopt
/// --run-reproducer`. Large constants become splats of their first element. The
/// IR is copied before each pass. Requires a context without threads.
void captureReproducer(mlir::PassManager &manager, std::string path,
                       std::string command);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_REPRODUCER_H
