// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs a module from the command line.

#include "AdzeCommit.h"
#include "Bench.h"
#include "Generate.h"
#include "Output.h"
#include "Profile.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace adze::run;

static const char kVersion[] =
    "Adze " ADZE_VERSION " (commit " ADZE_COMMIT "), run time without LLVM\n"
#ifdef __aarch64__
    "targets: cpu (aarch64), cuda\n";
#else
    "targets: cpu (x86-64), cuda\n";
#endif

static Error printInfo(const Session &session, bool json) {
  const char *text;
  if (Error error = take(adze_module_info(session.getModule(), &text));
      !error.empty())
    return error;
  std::printf("%s%s", json ? "" : session.describe().c_str(), text);
  return {};
}

static Error printTokens(const Session &session, const Arguments &arguments) {
  std::string text;
  Error error = generate(session, arguments, text);
  std::printf("%s", text.c_str());
  return error;
}

static Error run(Session &session, const Arguments &arguments) {
  if (Error error = session.open(arguments); !error.empty())
    return error;
  if (arguments.info)
    return printInfo(session, arguments.json);
  if (arguments.generate)
    return printTokens(session, arguments);
  std::vector<double> latencies;
  std::string report, figures;
  Error error = session.createContext(arguments);
  if (error.empty())
    error = session.gatherInputs(arguments);
  if (error.empty())
    error = session.allocateOutputs();
  if (error.empty())
    error = measure(session, arguments, latencies);
  if (error.empty())
    error = formatFigures(session, arguments, latencies, figures);
  if (error.empty())
    error = writeProfiles(session, arguments);
  if (error.empty() && !arguments.outputDir.empty())
    error = session.writeOutputs(arguments);
  if (error.empty()) {
    error = session.check(arguments, report);
    std::printf("%s%s", arguments.json ? "" : report.c_str(), figures.c_str());
  }
  return error;
}

/// Prints an error; "error:" is red on a terminal, as in atranslate.
static void printError(const Error &error) {
  const char *none = std::getenv("NO_COLOR"), *kind = std::getenv("TERM");
  bool isColored = isatty(STDERR_FILENO) && kind && std::strcmp(kind, "dumb") &&
                   !(none && *none);
  std::fprintf(stderr, "%serror:%s %s\n", isColored ? "\033[0;1;31m" : "",
               isColored ? "\033[0m" : "", error.c_str());
}

/// Ends the process; a failed write to standard output is an error, too.
static int finish(Error error) {
  Error lost = finishStandardOutput();
  for (const Error &each : {error, lost})
    if (!each.empty())
      printError(each);
  return error.empty() && lost.empty() ? 0 : 1;
}

int main(int argc, char **argv) {
  prepareOutputs();
  Arguments arguments;
  if (Error error = parseArguments(argc, argv, arguments); !error.empty()) {
    std::fprintf(stderr, "arun: %s\nTry 'arun --help'.\n", error.c_str());
    return 2;
  }
  if (arguments.help || arguments.version) {
    std::fputs(arguments.help ? helpText() : kVersion, stdout);
    return finish({});
  }
  Session session;
  return finish(run(session, arguments));
}
