// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Measures runs, and formats the results.

#ifndef ADZE_TOOLS_RUN_BENCH_H
#define ADZE_TOOLS_RUN_BENCH_H

#include "Run.h"

namespace adze::run {

/// Runs as often as the arguments specify (once without --bench), and returns
/// the time of each run in milliseconds.
Error measure(Session &session, const Arguments &arguments,
              std::vector<double> &latencies);

/// Returns the number of threads of a run.
int threadsOf(const Arguments &arguments);

/// Formats the results as one JSON object or as lines of text.
Error formatFigures(const Session &session, const Arguments &arguments,
                    std::vector<double> latencies, std::string &text);

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_BENCH_H
