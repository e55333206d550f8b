// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// arun's command line.

#ifndef ADZE_TOOLS_RUN_ARGUMENTS_H
#define ADZE_TOOLS_RUN_ARGUMENTS_H

#include "Tensor.h"

#include <utility>

namespace adze::run {

using NamedText = std::pair<std::string, std::string>;

/// The values of --generate and its flags.
struct Generation {
  std::vector<std::vector<int64_t>> prompts, stops;
  std::vector<std::string> promptFiles; // further prompts, one per row
  int64_t maxTokens = 0, topK = 0;
  double temperature = 0, topP = 0, minP = 0, repetitionPenalty = 0;
};

struct Arguments {
  std::string module;
  bool help = false, version = false, info = false, json = false;

  std::vector<NamedText> inputs;
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes;
  bool random = false;
  int64_t seed = 0;
  int64_t ids = 2;

  std::string outputDir;
  std::string format = "npy";
  std::vector<NamedText> expected;
  std::string testDir;
  Tolerance tolerance;

  std::string deviceText = "cpu";
  DLDevice device = {kDLCPU, 0};
  std::string threads, variant;

  bool bench = false;
  // Whether tensors of runs are on a device.
  bool resident = false, withCopies = false;
  int64_t warmup = 3;
  /// By default, at least 10 runs and one second.
  std::optional<int64_t> iterations;
  std::optional<double> duration;
  std::vector<double> percentiles = {50, 90, 99};

  bool generate = false;
  Generation generation;

  std::vector<std::string> profiles; // FILE.html: a page; otherwise a trace
  std::string report;                // report of the compiler, for pages
};

/// Returns an error message for the command line, or an empty string.
Error parseArguments(int argc, char **argv, Arguments &arguments);

/// Returns the text of --help.
const char *helpText();

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_ARGUMENTS_H
