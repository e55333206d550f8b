// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// adze-conformance: runs ONNX's backend test cases through the compiler and the
// C run time.
#include "Report.h"
#include "Support/OutputFile.h"
#include "Workers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace conformance;
using llvm::StringRef;

namespace {
struct Arguments {
  std::string folder, json, coverage;
  Selection selection;
  Column column;
  unsigned jobs = 2;
  bool list = false, quiet = false, help = false;
};
} // namespace

static constexpr char kHelp[] =
    R"(Runs ONNX's backend test cases: compiles each model in a forked process,
runs it through the C run time and compares with ONNX's tolerances.

  adze-conformance FOLDER [flags]       FOLDER/SET/CASE/model.onnx and test_data_set_K/

  -O0 .. -O3        optimisation level (default -O2)
  --dyn             every dim of every input unknown
  --target=cuda:sm_NN   run on the GPU too
  --compile-only        compile only; with --target for the GPU alone, which needs none
  --filter=TEXT     cases whose SET/CASE contains TEXT ('*' matches anything)
  --part=K/N        every N-th case or so, chosen by its name: part K of N
  --list            print the names of the cases and end
  -jN               cases at once (default 2)     --threads=N  threads of a run (default 2)
  --json=FILE       write all results             -q           failed cases and the closing line only
  --coverage=FILE   check that each operator version claimed in OpSupport.md was executed

Example: adze-conformance build/conformance -O0 --filter='node/test_softmax*'
)";

static bool parseNumber(StringRef text, unsigned &number) {
  return !text.getAsInteger(10, number) && number > 0;
}

static bool parsePart(StringRef text, Selection &selection) {
  auto [part, parts] = text.split('/');
  return !part.getAsInteger(10, selection.part) &&
         parseNumber(parts, selection.parts) &&
         selection.part < selection.parts;
}

/// Parses one flag; returns false if it is unknown or malformed.
static bool parseFlag(StringRef flag, Arguments &arguments) {
  Column &column = arguments.column;
  if (flag == "--compile-only")
    return column.compileOnly = true;
  if (flag == "--dyn")
    return column.dynamic = true;
  if (flag == "--list")
    return arguments.list = true;
  if (flag == "-q")
    return arguments.quiet = true;
  if (flag == "--help" || flag == "-h")
    return arguments.help = true;
  if (flag.consume_front("-O"))
    return !flag.getAsInteger(10, column.optLevel) && column.optLevel <= 3;
  if (flag.consume_front("-j"))
    return parseNumber(flag, arguments.jobs);
  if (flag.consume_front("--threads="))
    return parseNumber(flag, column.threads);
  if (flag.consume_front("--part="))
    return parsePart(flag, arguments.selection);
  auto take = [&](StringRef name, std::string &text) {
    if (!flag.consume_front(name))
      return false;
    text = flag.str();
    return true;
  };
  if (take("--filter=", arguments.selection.filter) ||
      take("--json=", arguments.json) ||
      take("--coverage=", arguments.coverage) ||
      take("--target=", column.cudaTarget))
    return true;
  if (flag.starts_with("-") || !arguments.folder.empty())
    return false;
  arguments.folder = flag.str();
  return true;
}

static bool parseArguments(int argc, char **argv, Arguments &arguments) {
  for (int i = 1; i < argc; ++i)
    if (!parseFlag(argv[i], arguments)) {
      llvm::errs() << "adze-conformance: unexpected '" << argv[i]
                   << "'; see --help\n";
      return false;
    }
  if (arguments.folder.empty() && !arguments.help) {
    llvm::errs() << "adze-conformance: expected a folder; see --help\n";
    return false;
  }
  Column &column = arguments.column;
  column.name = "O" + std::to_string(column.optLevel);
  if (column.dynamic)
    column.name = column.optLevel == 2 ? "dyn" : column.name + "-dyn";
  if (!column.cudaTarget.empty())
    column.name += "-cuda";
  return true;
}

/// Large networks take long on the reference path.
static unsigned getSeconds(const Case &test) {
  return test.set == "light" ? 120 : 10;
}

static Error runCases(const Arguments &arguments, Results &results) {
  double begin = nowMs();
  Executor executor(arguments.column);
  std::string folder;
  if (Error error = makeFolder(folder); !error.empty())
    return error;
  Error error = executor.warmUp(folder);
  llvm::sys::fs::remove_directories(folder);
  if (!error.empty())
    return error;
  const std::vector<Case> &cases = results.cases;
  results.outcomes.resize(cases.size());
  // Long cases start first, so that the end of the run does not wait for them.
  std::vector<size_t> order;
  for (size_t i = 0; i < cases.size(); ++i)
    order.push_back(i);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::tuple(getSeconds(cases[b]), a) <
           std::tuple(getSeconds(cases[a]), b);
  });
  error = forEach(
      order.size(), [&](size_t i) { return getSeconds(cases[order[i]]); },
      arguments.jobs,
      [&](size_t i, const std::string &folder) {
        return executor.run(cases[order[i]], folder);
      },
      [&](size_t i, const Outcome &outcome) {
        results.outcomes[order[i]] = outcome;
      });
  results.wallMs = nowMs() - begin;
  return error;
}

static int complain(const Error &error) {
  llvm::errs() << "adze-conformance: " << error << "\n";
  return 2;
}

int main(int argc, char **argv) {
  adze::ownSignals();
  Arguments arguments;
  if (!parseArguments(argc, argv, arguments))
    return 2;
  if (arguments.help) {
    llvm::outs() << kHelp;
    return 0;
  }
  std::vector<Case> cases;
  if (Error error = findCases(arguments.folder, arguments.selection, cases);
      !error.empty())
    return complain(error);
  if (arguments.list) {
    for (const Case &test : cases)
      llvm::outs() << test.fullName() << " " << test.row << "\n";
    return 0;
  }
  Results results{arguments.column, cases, {}, 0};
  if (Error error = runCases(arguments, results); !error.empty())
    return complain(error);
  Error error;
  size_t gaps = 0;
  if (!arguments.coverage.empty())
    gaps = printGaps(results, arguments.coverage, llvm::outs(), error);
  printReport(results, arguments.quiet, llvm::outs());
  if (error.empty() && !arguments.json.empty())
    error = writeJson(results, arguments.json);
  if (!error.empty())
    return complain(error);
  return results.count(Status::Failed) || gaps ? 1 : 0;
}
