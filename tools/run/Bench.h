// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Measuring, and the figures of a run.

#ifndef ADZE_TOOLS_RUN_BENCH_H
#define ADZE_TOOLS_RUN_BENCH_H

#include "Run.h"

namespace adze::run {

/// Runs as often as the arguments say (once without --bench); the time of
/// each run in milliseconds.
Error measure(Session &session, const Arguments &arguments,
              std::vector<double> &latencies);

/// Returns the threads of a run.
int threadsOf(const Arguments &arguments);

/// The figures as one JSON object or as lines of text.
Error formatFigures(const Session &session, const Arguments &arguments,
                    std::vector<double> latencies, std::string &text);

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_BENCH_H
