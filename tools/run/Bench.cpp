// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Measures runs, and formats the results.

#include "Bench.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <sched.h>

namespace adze::run {

/// Returns true if the measured runs have their tensors on the device.
static bool isResident(const Session &session, const Arguments &arguments) {
  return arguments.bench && arguments.device.device_type != kDLCPU &&
         !arguments.withCopies && session.canStay();
}

Error measure(Session &session, const Arguments &arguments,
              std::vector<double> &latencies) {
  bool open = !arguments.iterations && !arguments.duration;
  auto least =
      static_cast<size_t>(arguments.iterations.value_or(open ? 10 : 1));
  double duration = arguments.duration.value_or(open ? 1 : 0) * 1e3;
  int64_t warmup = arguments.warmup;
  if (!arguments.bench) {
    least = 1;
    duration = 0;
    warmup = 0;
  }
  bool resident = isResident(session, arguments);
  if (resident) // copies for comparison and output
    if (Error error = session.runOnce(); !error.empty())
      return error;
  double ms = 0;
  auto runOnce = [&] {
    if (resident)
      return session.runResident(arguments, ms);
    double begin = nowMs();
    Error error = session.runOnce();
    ms = nowMs() - begin;
    return error;
  };
  for (int64_t i = 0; i < warmup; ++i)
    if (Error error = runOnce(); !error.empty())
      return error;
  double start = nowMs();
  do {
    if (Error error = runOnce(); !error.empty())
      return error;
    latencies.push_back(ms);
  } while (latencies.size() < least ||
           (nowMs() - start < duration &&
            (!arguments.iterations || latencies.size() < least)));
  return {};
}

/// Interpolates linearly between the two nearest ranks, as numpy does.
static double percentile(const std::vector<double> &sorted, double percent) {
  double at = percent / 100 * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<size_t>(at);
  size_t above = std::min(below + 1, sorted.size() - 1);
  double part = at - static_cast<double>(below);
  return sorted[below] + (sorted[above] - sorted[below]) * part;
}

static void add(std::string &text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(std::string &text, const char *format, ...) {
  char buffer[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof(buffer), format, arguments);
  va_end(arguments);
  text += buffer;
}

int threadsOf(const Arguments &arguments) {
  if (arguments.device.device_type != kDLCPU)
    return 1;
  if (!arguments.threads.empty())
    return std::atoi(arguments.threads.c_str());
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

static std::string formatJson(const Session &session,
                              const Arguments &arguments,
                              const std::vector<double> &sorted, double mean,
                              const adze_memory_info &memory) {
  std::string text = "{\"latency_ms\": {";
  for (double percent : arguments.percentiles)
    add(text, "\"p%g\": %.6g, ", percent, percentile(sorted, percent));
  add(text, "\"min\": %.6g, \"mean\": %.6g}, ", sorted.front(), mean);
  add(text, "\"iterations\": %zu, \"load_ms\": %.6g, ", sorted.size(),
      session.getLoadMs());
  add(text, "\"peak_bytes\": %llu, \"weights_bytes\": %llu, ",
      static_cast<unsigned long long>(memory.peak_bytes),
      static_cast<unsigned long long>(memory.weights_bytes));
  add(text, "\"arena_bytes\": %llu, \"arena_lower_bound_bytes\": %llu, ",
      static_cast<unsigned long long>(memory.arena_bytes),
      static_cast<unsigned long long>(memory.arena_lower_bound_bytes));
  add(text, "\"device\": \"%s\", ", arguments.deviceText.c_str());
  if (arguments.device.device_type != kDLCPU)
    add(text, "\"resident\": %s, ",
        isResident(session, arguments) ? "true" : "false");
  add(text, "\"threads\": %d}\n", threadsOf(arguments));
  return text;
}

static std::string formatText(const Session &session,
                              const Arguments &arguments,
                              const std::vector<double> &sorted, double mean,
                              const adze_memory_info &memory) {
  std::string text;
  if (arguments.bench) {
    add(text, "latency of %zu runs, ms: ", sorted.size());
    for (double percent : arguments.percentiles)
      add(text, "p%g %.4g, ", percent, percentile(sorted, percent));
    add(text, "min %.4g, mean %.4g", sorted.front(), mean);
    if (arguments.device.device_type != kDLCPU)
      text += isResident(session, arguments) ? ", tensors on the device"
                                             : ", with copies";
    text += "\n";
  } else {
    add(text, "latency of the first run: %.4g ms\n", sorted.front());
  }
  add(text,
      "load %.3g ms, arena %llu bytes (lower bound %llu), peak %llu "
      "bytes, weights %llu bytes\n",
      session.getLoadMs(), static_cast<unsigned long long>(memory.arena_bytes),
      static_cast<unsigned long long>(memory.arena_lower_bound_bytes),
      static_cast<unsigned long long>(memory.peak_bytes),
      static_cast<unsigned long long>(memory.weights_bytes));
  add(text, "device %s, %d threads\n", arguments.deviceText.c_str(),
      threadsOf(arguments));
  return text;
}

Error formatFigures(const Session &session, const Arguments &arguments,
                    std::vector<double> latencies, std::string &text) {
  adze_memory_info memory;
  if (Error error = take(
          adze_memory_stats(session.getContext(), &memory, sizeof(memory)));
      !error.empty())
    return error;
  double mean = std::accumulate(latencies.begin(), latencies.end(), 0.0) /
                static_cast<double>(latencies.size());
  std::sort(latencies.begin(), latencies.end());
  text = arguments.json
             ? formatJson(session, arguments, latencies, mean, memory)
             : formatText(session, arguments, latencies, mean, memory);
  return {};
}

} // namespace adze::run
