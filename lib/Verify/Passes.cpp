// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compares a compilation with the reference path after each stage.
#include "Verify/Passes.h"
#include "Execution.h"
#include "Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlir;

namespace adze {

using namespace verify;

namespace {
/// The results of the model by the reference path, and the comparison of
/// modules with them.
class Verification {
public:
  Verification(const CompileOptions &options, llvm::raw_ostream &diagnostics)
      : options(options), diagnostics(diagnostics),
        context(MLIRContext::Threading::DISABLED) {}
  ~Verification();

  CompileStatus run();

private:
  CompileStatus prepare();
  CompileOptions makeOptions(PassLimit &limit);
  Verdict judge(const CompileOptions &candidate);
  std::string runReference(const std::string &path);
  std::string compare(Execution &execution);
  CompileOptions writeText(ModuleOp module, PassLimit &limit);
  bool differs(ModuleOp module);
  bool differ(ModuleOp left, ModuleOp right);
  Suspect locate(const Culprit &culprit);
  void report(const std::optional<Culprit> &culprit,
              const std::string &difference);
  void writeInputs();
  std::string makePath(StringRef extension);

  const CompileOptions &options;
  llvm::raw_ostream &diagnostics;
  MLIRContext context;
  llvm::SmallString<128> folder;
  unsigned numFiles = 0;
  bool plainKernels = true, keepsInputs = false, isQuantized = false;
  /// An execution of the reference path on one set of inputs.
  struct Run {
    int64_t size; // dynamic dims get the allowed value nearest to it
    Execution execution;
    std::vector<HostTensor> inputs;
    std::string error;
  };
  std::vector<std::unique_ptr<Run>> runs;
  Run *shownBy = nullptr; // the run in which the last difference was found
};
} // namespace

Verification::~Verification() {
  if (!keepsInputs && !folder.empty())
    llvm::sys::fs::remove_directories(folder);
}

std::string Verification::makePath(StringRef extension) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, std::to_string(numFiles++) + extension);
  return path.str().str();
}

CompileOptions Verification::makeOptions(PassLimit &limit) {
  CompileOptions result = makeTrialOptions(options, options.output);
  result.limit = &limit;
  // Modules are run on the CPU.
  if (options.cpu)
    result.cudaTargets.clear();
  result.observer = nullptr;
  result.jobs = 1;
  return result;
}

/// Returns a description of the difference from the reference path, or an empty
/// string.
std::string Verification::compare(Execution &execution) {
  for (std::unique_ptr<Run> &run : runs) {
    std::string difference =
        runLike(run->execution, run->error, execution, run->inputs);
    if (!difference.empty()) {
      shownBy = run.get();
      return difference;
    }
  }
  return "";
}

Verdict Verification::judge(const CompileOptions &candidate) {
  CompileOptions copy = candidate;
  copy.output = makePath(".so");
  // Diagnostics of the reference path after a limit are not shown to users.
  std::string text;
  llvm::raw_string_ostream ignored(text);
  Execution execution;
  bool isMade = compile(copy, ignored, context) == CompileStatus::Done &&
                execution.open(copy.output).empty();
  llvm::sys::fs::remove(copy.output);
  if (!isMade)
    return Verdict::Unknown;
  return compare(execution).empty() ? Verdict::Same : Verdict::Different;
}

CompileOptions Verification::writeText(ModuleOp module, PassLimit &limit) {
  CompileOptions result = makeOptions(limit);
  result.input = makePath(".mlir");
  result.contents.clear();
  result.dims.clear();
  result.shapes.clear();
  std::error_code ec;
  llvm::raw_fd_ostream os(result.input, ec);
  module.print(os);
  return result;
}

bool Verification::differs(ModuleOp module) {
  PassLimit limit(Stage::Import);
  limit.plainKernels = plainKernels;
  CompileOptions candidate = writeText(module, limit);
  llvm::FileRemover remover(candidate.input);
  return judge(candidate) == Verdict::Different;
}

bool Verification::differ(ModuleOp left, ModuleOp right) {
  Execution executions[2];
  for (auto [module, execution] :
       {std::pair(left, &executions[0]), std::pair(right, &executions[1])}) {
    PassLimit limit(Stage::Import);
    CompileOptions copy = writeText(module, limit);
    llvm::FileRemover remover(copy.input);
    copy.output = makePath(".so");
    std::string text;
    llvm::raw_string_ostream ignored(text);
    if (compile(copy, ignored, context) != CompileStatus::Done ||
        !execution->open(copy.output).empty())
      return false;
    llvm::sys::fs::remove(copy.output);
  }
  return llvm::any_of(runs, [&](std::unique_ptr<Run> &run) {
    return !runBoth(executions[0], executions[1], run->inputs).empty();
  });
}

/// Makes one run of a static model, and omits larger sizes for a large one,
/// since each run is repeated for each stage. Returns why the module cannot be
/// loaded, or an empty string.
std::string Verification::runReference(const std::string &path) {
  constexpr double mostSeconds = 0.25;
  std::mt19937_64 random(1);
  double seconds = 0;
  for (int64_t size : sizes) {
    auto run = std::make_unique<Run>();
    run->size = size;
    if (std::string error = run->execution.open(path); !error.empty())
      return error;
    run->execution.isQuantized = isQuantized;
    run->inputs = makeInputs(run->execution.module, size, random);
    bool isSame = !runs.empty() &&
                  llvm::equal(runs.front()->inputs, run->inputs,
                              [](const HostTensor &a, const HostTensor &b) {
                                return a.dims == b.dims;
                              });
    if (isSame || (seconds > mostSeconds && size > runs.front()->size))
      continue;
    auto begin = std::chrono::steady_clock::now();
    run->error = run->execution.run(run->inputs);
    seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    runs.push_back(std::move(run));
  }
  return "";
}

CompileStatus Verification::prepare() {
  if (!options.stagePasses.empty())
    registerStagePasses();
  DialectRegistry plugged;
  if (llvm::Error error = loadPlugins(options.plugins, plugged)) {
    diagnostics << "error: " << llvm::toString(std::move(error)) << "\n";
    return CompileStatus::Usage;
  }
  context.appendDialectRegistry(plugged);
  prepareContext(context);
  if (std::error_code code =
          llvm::sys::fs::createUniqueDirectory("adze-verify", folder)) {
    diagnostics << "error: " << code.message() << "\n";
    return CompileStatus::InputAtFault;
  }
  PassLimit limit(Stage::Import);
  CompileOptions copy = makeOptions(limit);
  copy.output = makePath(".so");
  copy.isQuantized = &isQuantized;
  CompileStatus status = compile(copy, diagnostics, context);
  if (status != CompileStatus::Done)
    return status;
  std::string error = runReference(copy.output);
  llvm::sys::fs::remove(copy.output);
  if (error.empty())
    return CompileStatus::Done;
  diagnostics
      << "error: unsupported: --verify=passes of a module that does not "
         "run here: "
      << error << "\n";
  return CompileStatus::Unsupported;
}

Suspect Verification::locate(const Culprit &culprit) {
  auto judgeIt = [&](const CompileOptions &candidate) {
    return judge(candidate);
  };
  if (culprit.stage == Stage::Kernel) {
    PassLimit limit(Stage::Host);
    (void)judge(makeOptions(limit));
    return limit.module
               ? locateCode(culprit, makeOptions(limit), judgeIt, *limit.module)
               : Suspect();
  }
  if (!culprit.before || !culprit.after)
    return {};
  plainKernels = culprit.plainKernels;
  auto ask = [&](ModuleOp module) { return differs(module); };
  auto askTwo = [&](ModuleOp left, ModuleOp right) {
    return differ(left, right);
  };
  Questions questions{ask, askTwo};
  return culprit.stage == Stage::Graph ? locateOp(culprit, questions)
                                       : locateKernel(culprit, questions);
}

/// Writes the inputs that show the difference to the folder, which is kept.
void Verification::writeInputs() {
  if (!shownBy)
    return;
  keepsInputs = true;
  for (auto [i, tensor] : llvm::enumerate(shownBy->inputs)) {
    const adze_value_info *info;
    adze_status_free(
        adze_module_input(shownBy->execution.module, int32_t(i), &info));
    std::string path = writeTensor(tensor, folder.str().str(), info->name);
    diagnostics << "note: input " << info->name << "=" << path << "\n";
  }
}

void Verification::report(const std::optional<Culprit> &culprit,
                          const std::string &difference) {
  Run *run = shownBy;
  std::optional<Suspect> suspect;
  if (culprit)
    suspect = locate(*culprit);
  shownBy = run;
  diagnostics << "error: " << options.input << ": ";
  if (!culprit)
    diagnostics << "the module differs from the reference path, but what each "
                   "stage made does not";
  else
    diagnostics << "the results differ from the reference path's since pass '"
                << culprit->pass << "' of stage '"
                << getStageName(culprit->stage) << "'";
  diagnostics << " (seed 1, dynamic dims near " << (run ? run->size : 0)
              << "): " << difference << "\n";
  if (suspect && !suspect->what.empty()) {
    diagnostics << "note: in '" << suspect->what << "'";
    if (!suspect->nodes.empty())
      diagnostics << ", of the nodes '" << llvm::join(suspect->nodes, "', '")
                  << "'";
    diagnostics << "\n";
  }
  writeInputs();
}

CompileStatus Verification::run() {
  if (CompileStatus status = prepare(); status != CompileStatus::Done)
    return status;
  std::string difference;
  PassLimit limit(Stage::Import);
  std::optional<Culprit> culprit =
      findCulprit(makeOptions(limit), [&](const CompileOptions &candidate) {
        return judge(candidate);
      });
  Execution compiled;
  if (std::string error = compiled.open(options.output); !error.empty()) {
    diagnostics << "error: " << options.output << ": " << error << "\n";
    return CompileStatus::Unsupported;
  }
  // If the module differs, too, its difference is the one in the message.
  difference = compare(compiled);
  if (!culprit && difference.empty())
    return CompileStatus::Done;
  if (difference.empty()) {
    PassLimit whole(culprit->stage);
    whole.numPasses = culprit->number + 1;
    (void)judge(makeOptions(whole));
    difference = "not in the module that was compiled";
  }
  report(culprit, difference);
  llvm::sys::fs::remove(options.output);
  if (!options.externalWeights.empty())
    llvm::sys::fs::remove(options.externalWeights);
  return CompileStatus::Defect;
}

CompileStatus verifyPasses(const CompileOptions &options,
                           llvm::raw_ostream &diagnostics) {
  return Verification(options, diagnostics).run();
}

} // namespace adze
