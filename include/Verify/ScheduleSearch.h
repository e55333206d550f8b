// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Schedules of kernels for a GPU by measurement (--tune=measure).
#ifndef ADZE_VERIFY_SCHEDULESEARCH_H
#define ADZE_VERIFY_SCHEDULESEARCH_H

#include "Pipeline/Compile.h"

namespace adze {

/// Compiles the model of `options` for one GPU with the schedules that are the
/// fastest ones on the first device of this machine, which the database keeps.
/// A schedule other than that of the cost model is chosen if its kernel takes
/// less time, and the whole model at least half a percent less. No device is
/// needed if the database has all kernels.
CompileStatus compileSearched(const CompileOptions &options,
                              llvm::raw_ostream &diagnostics);

} // namespace adze

#endif // ADZE_VERIFY_SCHEDULESEARCH_H
