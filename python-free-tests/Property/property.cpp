// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// adze-property: random graphs, optimised and not, have the same results.
#include "../Conformance/Workers.h"
#include "Check.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Pipeline/Compile.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace property;
using conformance::forEach;
using llvm::StringRef;

namespace {
struct Arguments {
  uint64_t seed = 1;
  size_t count = 0;
  unsigned seconds = 0, jobs = 2, emptyPercent = 3;
  std::string pass;
  bool print = false, noShrink = false, help = false;
};
} // namespace

static constexpr char kHelp[] =
    R"(Generates random graphs of the graph dialect and compares -O0 with -O2, and each
pass alone with none: equal integers, bools, shapes and places of NaNs; floats
whose error against f64 is at most 4 times the reference path's own + 4 ulp.
Sizes that all ways refuse are skipped; more than 5 skipped in 100 are a failure.

  adze-property [flags]

  --seed=N      of the first graph (default 1); graph i has seed N + i
  --count=N     how many graphs       --seconds=N   for how long (default 60)
  --empty=N     so many of a hundred unknown sizes are 0 (default 3)
  --pass=NAME   this pass alone, instead of one of all in turn
  --print       print the graph of the seed and end
  --no-shrink   do not look for a smaller graph with the same fault
  -jN           graphs at once (default 2)

Example: adze-property --seed=4711 --count=1
)";

static bool parseFlag(StringRef flag, Arguments &arguments) {
  auto number = [&](StringRef name, auto &value) {
    return flag.consume_front(name) && !flag.getAsInteger(10, value);
  };
  if (flag == "--print")
    return arguments.print = true;
  if (flag == "--no-shrink")
    return arguments.noShrink = true;
  if (flag == "--help")
    return arguments.help = true;
  if (flag.consume_front("--pass=")) {
    arguments.pass = flag.str();
    return true;
  }
  return number("--seed=", arguments.seed) ||
         number("--count=", arguments.count) ||
         number("--seconds=", arguments.seconds) ||
         number("--empty=", arguments.emptyPercent) ||
         (number("-j", arguments.jobs) && arguments.jobs > 0);
}

static std::string getPass(const Arguments &arguments, uint64_t seed) {
  if (!arguments.pass.empty())
    return arguments.pass;
  return getPasses()[seed % getPasses().size()].str();
}

/// In a process of its own.
static Outcome checkApart(mlir::ModuleOp module, uint64_t seed, StringRef pass,
                          unsigned emptyPercent) {
  Outcome result;
  (void)forEach(
      1, [](size_t) { return 20; }, 1,
      [&](size_t, const std::string &folder) {
        return checkModule(module, seed, pass, folder, int(emptyPercent));
      },
      [&](size_t, const Outcome &outcome) { result = outcome; });
  return result;
}

static void report(mlir::MLIRContext &context, const Arguments &arguments,
                   uint64_t seed, const Outcome &outcome) {
  std::string pass = getPass(arguments, seed);
  llvm::outs() << "FAILED seed " << seed << " (pass " << pass
               << "): " << StringRef(outcome.message).take_front(800) << "\n";
  llvm::outs().flush();
  auto module = generateModule(context, seed);
  if (!module || arguments.noShrink)
    return;
  Outcome last = outcome;
  auto small = shrink(*module, [&](mlir::ModuleOp candidate) {
    Outcome found = checkApart(candidate, seed, pass, arguments.emptyPercent);
    // Another fault is another story.
    if (found.status != Status::Failed ||
        StringRef(found.message).split(' ').first !=
            StringRef(outcome.message).split(' ').first)
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
struct Counts {
  size_t passed = 0, failed = 0, skipped = 0;
};
} // namespace

/// Graphs until the time is over or there are enough.
static conformance::Error runAll(mlir::MLIRContext &context,
                                 const Arguments &arguments, Counts &counts) {
  unsigned seconds =
      arguments.seconds || arguments.count ? arguments.seconds : 60;
  double end = conformance::nowMs() + 1000.0 * seconds;
  std::vector<std::pair<uint64_t, Outcome>> failures;
  // In rounds: the time is looked at between them.
  size_t count = arguments.count ? arguments.count : SIZE_MAX;
  for (size_t done = 0; done < count;) {
    if (seconds && conformance::nowMs() > end)
      break;
    size_t round = std::min<size_t>(count - done, 50);
    conformance::Error error = forEach(
        round, [](size_t) { return 20; }, arguments.jobs,
        [&](size_t i, const std::string &folder) -> Outcome {
          uint64_t seed = arguments.seed + done + i;
          auto module = generateModule(context, seed);
          if (!module)
            return {Status::Skipped, "no graph", 0, 0};
          return checkModule(*module, seed, getPass(arguments, seed), folder,
                             int(arguments.emptyPercent));
        },
        [&](size_t i, const Outcome &outcome) {
          ++(outcome.status == Status::Passed    ? counts.passed
             : outcome.status == Status::Skipped ? counts.skipped
                                                 : counts.failed);
          uint64_t seed = arguments.seed + done + i;
          if (outcome.status == Status::Skipped)
            llvm::outs()
                << "skipped seed " << seed << ": "
                << StringRef(outcome.message).take_front(200).split('\n').first
                << "\n";
          if (outcome.status == Status::Failed)
            failures.push_back({seed, outcome});
        });
    if (!error.empty())
      return error;
    for (auto &[seed, outcome] : failures)
      report(context, arguments, seed, outcome);
    failures.clear();
    done += round;
    llvm::outs().flush(); // a run of hours tells as it goes
  }
  return {};
}

int main(int argc, char **argv) {
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
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  adze::prepareContext(context);
  if (arguments.print) {
    if (auto module = generateModule(context, arguments.seed))
      module->print(llvm::outs());
    llvm::outs() << "\n";
    return 0;
  }
  Counts counts;
  if (conformance::Error error = runAll(context, arguments, counts);
      !error.empty()) {
    llvm::errs() << "adze-property: " << error << "\n";
    return 2;
  }
  llvm::outs() << "seed " << arguments.seed << ", "
               << counts.passed + counts.failed + counts.skipped << " graphs\n"
               << counts.passed << " passed, " << counts.failed << " failed, "
               << counts.skipped << " skipped\n";
  // A generator whose graphs mostly fall out tests little.
  if (counts.skipped > 2 + counts.passed / 20) {
    llvm::outs() << "expected at most 5 in 100 graphs to be skipped\n";
    return 1;
  }
  return counts.failed ? 1 : 0;
}
