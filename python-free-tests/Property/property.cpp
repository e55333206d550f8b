// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// adze-property: random graphs must have the same results with and without
// optimization.
#include "../Conformance/Workers.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Faults.h"
#include "Pipeline/Compile.h"
#include "Support/OutputFile.h"
#include "Sweep.h"
#include "Verify/Culprit.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace property;
using conformance::forEach;
using llvm::StringRef;

namespace {
struct Arguments {
  uint64_t seed = 1;
  size_t count = 0;
  unsigned seconds = 0, jobs = 2, emptyPercent = 3;
  std::string pass, fault;
  bool print = false, noShrink = false, help = false;
};
} // namespace

static constexpr char kHelp[] =
    R"(Generates random graphs of the graph dialect and compares the reference path
(-O0 without even canonicalisation) with -O2, and with itself after one pass:
equal integers, bools, shapes and places of NaNs; floats whose error against f64
is at most 4 times the reference path's own + 4 ulp of the range (more of it in
docs/accuracy.md). Each graph tries one pass: they take turns, and the turn goes on to the next that changes the graph.
LLVM optimises the code of each 16th graph only: it takes longer than all else.
Each fourth graph that takes dynamic sizes for granted gets others: all ways have to refuse them.
Other sizes that all ways refuse are skipped; more than 5 skipped in 100 are a failure.

  adze-property [flags]

  --seed=N      of the first graph (default 1); graph i has seed N + i
  --count=N     how many graphs       --seconds=N   for how long (default 60)
  --empty=N     so many of a hundred dynamic sizes are 0 (default 3)
  --pass=NAME   this pass (or pipeline of the module) alone, instead of one of all in turn
  --inject=NAME makes this fault (or each, with `all`) while compiling at -O2 and
                expects that one of the first graphs with a place for it (default
                80) shows it, and that the search behind --verify=passes
                names its pass; `list` names them
  --print       print the graph of the seed and end
  --no-shrink   do not look for a smaller graph with the same fault
  -jN           processes at once (default 2)

Example: adze-property --seed=4711 --count=1
)";

static bool parseFlag(StringRef flag, Arguments &arguments) {
  auto number = [&](StringRef name, auto &value) {
    return flag.consume_front(name) && !flag.getAsInteger(10, value);
  };
  auto text = [&](StringRef name, std::string &value) {
    bool found = flag.consume_front(name);
    if (found)
      value = flag.str();
    return found;
  };
  if (flag == "--print")
    return arguments.print = true;
  if (flag == "--no-shrink")
    return arguments.noShrink = true;
  if (flag == "--help")
    return arguments.help = true;
  return text("--pass=", arguments.pass) ||
         text("--inject=", arguments.fault) ||
         number("--seed=", arguments.seed) ||
         number("--count=", arguments.count) ||
         number("--seconds=", arguments.seconds) ||
         number("--empty=", arguments.emptyPercent) ||
         (number("-j", arguments.jobs) && arguments.jobs > 0);
}

/// Returns all passes, beginning with the one whose turn it is.
static std::vector<std::string> takeTurn(uint64_t seed) {
  std::vector<std::string> passes;
  for (StringRef pass : getPasses())
    passes.push_back(pass.str());
  std::rotate(passes.begin(), passes.begin() + seed % passes.size(),
              passes.end());
  return passes;
}

/// Replaces the name of a pass by its pipeline in the list of passes. Other
/// pipelines stay; fails, after an error, for what is none.
static mlir::LogicalResult resolvePass(mlir::MLIRContext &context,
                                       std::string &pass) {
  for (StringRef pipeline : getPasses())
    if (pipeline.contains(pass)) {
      pass = pipeline.str();
      return mlir::success();
    }
  mlir::PassManager manager(&context);
  return mlir::parsePassPipeline(pass, manager);
}

static Question ask(const Arguments &arguments, uint64_t seed) {
  Question question;
  question.seed = seed;
  question.quickCode = seed % 16 != 0;
  question.emptyPercent = static_cast<int>(arguments.emptyPercent);
  if (arguments.pass.empty())
    question.passes = takeTurn(seed);
  else
    question.passes = {arguments.pass};
  return question;
}

static Finding makeAndCheck(mlir::MLIRContext &context,
                            const Question &question,
                            const std::string &folder) {
  auto module = generateModule(context, question.seed);
  if (module)
    return Checker(*module, question, folder).check();
  Finding finding;
  finding.status = Status::Skipped;
  finding.message = "no graph";
  return finding;
}

/// Runs in a separate process.
static Outcome checkApart(mlir::ModuleOp module, const Question &question) {
  Outcome result;
  (void)forEach(
      1, [](size_t) { return 20; }, 1,
      [&](size_t, const std::string &folder) {
        return Checker(module, question, folder).check();
      },
      [&](size_t, const Outcome &outcome) { result = outcome; });
  return result;
}

static void report(mlir::MLIRContext &context, const Arguments &arguments,
                   uint64_t seed, const Finding &finding) {
  llvm::outs() << "FAILED seed " << seed << ": "
               << StringRef(finding.message).take_front(800) << "\n";
  llvm::outs().flush();
  auto module = generateModule(context, seed);
  if (!module || arguments.noShrink)
    return;
  Question question = ask(arguments, seed);
  if (!finding.pass.empty())
    question.passes = {finding.pass};
  Outcome last = finding;
  auto small = shrink(*module, [&](mlir::ModuleOp candidate) {
    Outcome found = checkApart(candidate, question);
    // A different fault is not reduced further.
    if (found.status != Status::Failed ||
        StringRef(found.message).split(' ').first !=
            StringRef(finding.message).split(' ').first)
      return false;
    last = found;
    return true;
  });
  llvm::outs() << "shrunk: " << StringRef(last.message).take_front(400) << "\n";
  small->print(llvm::outs());
  llvm::outs() << "\n";
  llvm::outs().flush();
}

namespace {
struct PassCounts {
  size_t changed = 0, differences = 0; // graphs
};

struct Counts {
  size_t passed = 0, failed = 0, skipped = 0;
  size_t refused = 0; // of those that passed
  llvm::MapVector<StringRef, PassCounts> passes;
};
} // namespace

static void count(const Arguments &arguments, uint64_t seed,
                  const Finding &finding, Counts &counts) {
  ++(finding.status == Status::Passed    ? counts.passed
     : finding.status == Status::Skipped ? counts.skipped
                                         : counts.failed);
  counts.refused +=
      finding.status == Status::Passed && !finding.message.empty();
  if (finding.status == Status::Skipped)
    llvm::outs() << "skipped seed " << seed << ": "
                 << StringRef(finding.message).take_front(200).split('\n').first
                 << "\n";
  else if (auto it = counts.passes.find(finding.pass);
           it != counts.passes.end()) {
    ++it->second.changed;
    it->second.differences +=
        StringRef(finding.message).starts_with("pass '" + finding.pass);
  }
}

/// Checks graphs until the time is over or there are enough.
static conformance::Error runAll(mlir::MLIRContext &context,
                                 const Arguments &arguments, Counts &counts) {
  unsigned seconds =
      arguments.seconds || arguments.count ? arguments.seconds : 60;
  double end = conformance::nowMs() + 1000.0 * seconds;
  std::vector<std::pair<uint64_t, Finding>> failures;
  size_t total = arguments.count ? arguments.count : SIZE_MAX;
  // In rounds, between which the time is checked.
  size_t perRound = 32 * arguments.jobs;
  for (size_t done = 0; done < total; done += perRound) {
    if (seconds && conformance::nowMs() > end)
      break;
    conformance::Error error = sweep(
        arguments.seed + done, std::min(total - done, perRound), arguments.jobs,
        [&](uint64_t seed, const std::string &folder) {
          return makeAndCheck(context, ask(arguments, seed), folder);
        },
        [&](uint64_t seed, const Finding &finding) {
          count(arguments, seed, finding, counts);
          if (finding.status == Status::Failed)
            failures.push_back({seed, finding});
        });
    if (!error.empty())
      return error;
    for (auto &[seed, finding] : failures)
      report(context, arguments, seed, finding);
    failures.clear();
    if (done % 1024 < perRound) // a long run reports its progress
      llvm::outs() << "at seed " << arguments.seed + done << ": "
                   << counts.passed << " passed, " << counts.failed
                   << " failed, " << counts.skipped << " skipped\n";
    llvm::outs().flush();
  }
  return {};
}

static int checkGraphs(mlir::MLIRContext &context, const Arguments &arguments) {
  Counts counts;
  for (StringRef pass : getPasses())
    if (arguments.pass.empty())
      counts.passes[pass];
  if (!arguments.pass.empty())
    counts.passes[arguments.pass];
  if (conformance::Error error = runAll(context, arguments, counts);
      !error.empty()) {
    llvm::errs() << "adze-property: " << error << "\n";
    return 2;
  }
  for (const auto &[pass, number] : counts.passes)
    llvm::outs() << pass << ": changed " << number.changed << " graphs, "
                 << number.differences << " differences\n";
  llvm::outs() << "seed " << arguments.seed << ", "
               << counts.passed + counts.failed + counts.skipped << " graphs\n"
               << counts.refused
               << " with sizes that do not fit, refused by all\n"
               << counts.passed << " passed, " << counts.failed << " failed, "
               << counts.skipped << " skipped\n";
  // A generator most of whose graphs are unsupported tests little.
  if (counts.skipped > 2 + counts.passed / 20) {
    llvm::outs() << "expected at most 5 in 100 graphs to be skipped\n";
    return 1;
  }
  return counts.failed ? 1 : 0;
}

/// Returns true if the difference that the graph shows is the injected fault.
static bool showsFault(const Finding &finding) {
  StringRef message = finding.message;
  return message.starts_with("-O2: ") ||
         message.starts_with("O2: expected a refusal");
}

/// The pass that the search behind --verify=passes names for the graph.
static std::string nameCulprit(Checker &checker) {
  std::optional<adze::Culprit> culprit = adze::findCulprit(
      adze::CompileOptions(), [&](const adze::CompileOptions &options) {
        Finding finding = checker.check(options.limit);
        return showsFault(finding)                ? adze::Verdict::Different
               : finding.status == Status::Failed ? adze::Verdict::Unknown
                                                  : adze::Verdict::Same;
      });
  return culprit ? culprit->pass : "none";
}

/// Checks graphs that are suitable for the fault until one detects it.
static bool finds(mlir::MLIRContext &context, const Arguments &arguments,
                  const Fault &fault) {
  // Some faults need rare data, for example a NaN that a relu reads.
  size_t most = arguments.count ? arguments.count : 80, tried = 0;
  bool found = false;
  std::string pass;
  uint64_t seed = arguments.seed;
  for (uint64_t end = seed + 100 * most; seed < end && tried < most && !found;
       ++seed) {
    auto module = generateModule(context, seed);
    if (!module || !mayHaveFault(*module, fault))
      continue;
    Question question = ask(arguments, seed);
    question.passes.clear();
    question.fault = &fault;
    (void)sweep(
        seed, 1, 1,
        [&](uint64_t, const std::string &folder) {
          Checker checker(*module, question, folder);
          Finding finding = checker.check();
          if (showsFault(finding))
            finding.pass = nameCulprit(checker);
          return finding;
        },
        [&](uint64_t, const Finding &finding) {
          tried += finding.hasFault;
          found = showsFault(finding);
          pass = finding.pass;
          // A fault that is not a difference is not located.
          if (finding.status == Status::Failed && !found)
            llvm::outs() << "seed " << seed << ": "
                         << StringRef(finding.message).take_front(300) << "\n";
        });
  }
  llvm::outs() << fault.name << ": "
               << (found ? "found by seed " + std::to_string(seed - 1)
                         : "NOT FOUND")
               << ", " << tried << " graphs with a place for it";
  bool isNamed = StringRef(getFaultPass(fault)).starts_with(pass + "{");
  if (found)
    llvm::outs() << ", named: " << pass << (isNamed ? "" : ", WRONGLY");
  llvm::outs() << "\n";
  llvm::outs().flush();
  return found && isNamed;
}

static int checkFaults(mlir::MLIRContext &context, const Arguments &arguments) {
  size_t total = 0, found = 0;
  for (const Fault &fault : getFaults()) {
    if (arguments.fault == "list")
      llvm::outs() << fault.name << ": " << fault.what << "\n";
    else if (arguments.fault == "all" || arguments.fault == fault.name) {
      ++total;
      found += finds(context, arguments, fault);
    }
  }
  if (arguments.fault == "list")
    return 0;
  llvm::outs() << found << " of " << total
               << " faults found and named by their pass\n";
  return total && found == total ? 0 : 1;
}

int main(int argc, char **argv) {
  adze::ownSignals();
  Arguments arguments;
  for (int i = 1; i < argc; ++i)
    if (!parseFlag(argv[i], arguments)) {
      llvm::errs() << "adze-property: unexpected '" << argv[i]
                   << "'; see --help\n";
      return 2;
    }
  if (arguments.help) {
    llvm::outs() << kHelp;
    return 0;
  }
  adze::graph::registerGraphTransformsPasses();
  mlir::registerTransformsPasses();
  registerFaultPass();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  adze::prepareContext(context);
  if (arguments.print) {
    if (auto module = generateModule(context, arguments.seed))
      module->print(llvm::outs());
    llvm::outs() << "\n";
    return 0;
  }
  if (!arguments.pass.empty() && failed(resolvePass(context, arguments.pass)))
    return 2;
  return arguments.fault.empty() ? checkGraphs(context, arguments)
                                 : checkFaults(context, arguments);
}
