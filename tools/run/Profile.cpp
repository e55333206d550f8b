// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Profiles of runs, as Chrome traces and as pages.

#include "Profile.h"

#include "Bench.h"
#include "MachineLimits.h"
#include "Output.h"
#include "Report/Page.h"

namespace adze::run {

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         !text.compare(text.size() - end.size(), end.size(), end);
}

/// Returns the name of a file without folders and extension.
static std::string stem(const std::string &path) {
  std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

/// Writes a page with the times of several runs, and the peak rates of the
/// machine measured right after them.
static Error writePage(Session &session, const Arguments &arguments,
                       const std::string &path) {
  Bytes report;
  if (!arguments.report.empty())
    if (Error error = readBytes(arguments.report, report); !error.empty())
      return error;
  constexpr int64_t usualRuns = 10;
  std::string trace;
  if (Error error =
          session.profile(arguments.iterations.value_or(usualRuns), trace);
      !error.empty())
    return error;
  int threads = threadsOf(arguments);
  std::string limits = "null";
  constexpr int burstMs = 50, copyMs = 100;
  if (arguments.device.device_type == kDLCPU)
    if (auto measured = measureMachine(threads, burstMs, copyMs, Rate::Slices))
      limits = measured->toJson();
  std::string profile = "{\"device\": \"" + arguments.deviceText +
                        "\", \"threads\": " + std::to_string(threads) +
                        ", \"limits\": " + limits + ", \"trace\": " + trace +
                        "}";
  std::string page =
      makeReportPage(stem(arguments.module),
                     std::string_view(report.data(), report.size()), profile);
  return writeBytes(path, Bytes(page.begin(), page.end()));
}

Error writeProfiles(Session &session, const Arguments &arguments) {
  for (const std::string &path : arguments.profiles) {
    if (endsWith(path, ".html")) {
      if (Error error = writePage(session, arguments, path); !error.empty())
        return error;
      continue;
    }
    std::string trace;
    if (Error error = session.profile(/*runs=*/1, trace); !error.empty())
      return error;
    if (Error error = writeBytes(path, Bytes(trace.begin(), trace.end()));
        !error.empty())
      return error;
  }
  return {};
}

} // namespace adze::run
