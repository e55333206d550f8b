// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles a graph in several ways, runs all of them on the same inputs and
// compares.
#include "Check.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Faults.h"
#include "Inputs.h"
#include "Judge.h"
#include "Pipeline/Compile.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using conformance::take;

namespace property {

/// Graphs have channels first, and Winograd's algorithm needs them last.
static constexpr StringLiteral winogradPass =
    "func.func(graph-convert-layout,graph-winograd{tile=2})";

ArrayRef<StringLiteral> getPasses() {
  static constexpr StringLiteral passes[] = {
      "canonicalize",
      "cse",
      "func.func(graph-simplify-control-flow)",
      "func.func(graph-sink-dequantization)",
      "func.func(graph-form-integer-products)",
      "func.func(graph-fold-requantization)",
      "func.func(graph-recognize-normalization)",
      "func.func(graph-recognize-activations)",
      "func.func(graph-recognize-attention)",
      "func.func(graph-simplify-algebra)",
      "func.func(graph-order-views)",
      "func.func(graph-simplify-movement)",
      "func.func(graph-fold-batch-norm)",
      "graph-fold-constants",
      "func.func(graph-merge-horizontal)",
      "func.func(graph-conv-transpose-to-conv)",
      "func.func(graph-split-pools)",
      "func.func(graph-convert-layout)",
      winogradPass,
      "func.func(graph-split-reductions)",
      "graph-eliminate-dead-code",
      "func.func(graph-place-concat{min-placed=1})",
      "func.func(graph-form-clusters)",
      "func.func(graph-form-clusters,graph-share-kernels{least-kernels=2})"};
  return passes;
}

OwningOpRef<ModuleOp> widen(ModuleOp module) {
  OwningOpRef<ModuleOp> wide = module.clone();
  auto f64 = Float64Type::get(module.getContext());
  AttrTypeReplacer replacer;
  replacer.addReplacement([=](FloatType) -> Type { return f64; });
  replacer.addReplacement(
      [=](DenseFPElementsAttr attr) -> std::pair<Attribute, WalkResult> {
        SmallVector<APFloat> numbers;
        for (APFloat number : attr) {
          bool lost;
          number.convert(f64.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                         &lost);
          numbers.push_back(number);
        }
        return {DenseElementsAttr::get(attr.getType().clone(f64), numbers),
                WalkResult::skip()};
      });
  replacer.recursivelyReplaceElementsIn(*wide, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return wide;
}

//===----------------------------------------------------------------------===//
// Ways to compile
//===----------------------------------------------------------------------===//

namespace {
/// One way to compile and run a module.
class Way {
public:
  /// `options`: the level and special settings.
  Way(std::string name, adze::CompileOptions options)
      : name(std::move(name)), options(std::move(options)) {}
  ~Way() {
    adze_context_release(context);
    adze_module_release(module);
  }
  Way(const Way &) = delete;

  /// The error; `unsupported` if it is unsupported.
  Error compile(ModuleOp source, const std::string &folder, bool &unsupported);
  Error run(std::vector<Tensor> inputs, std::vector<Tensor> &outputs);
  bool isCompiled() const { return context; }

  const std::string name;

private:
  adze::CompileOptions options;
  adze_module *module = nullptr;
  adze_context *context = nullptr;
};
} // namespace

Error Way::compile(ModuleOp source, const std::string &folder,
                   bool &unsupported) {
  // The loader would reuse a module with the same path.
  static unsigned number = 0;
  std::string stem = folder + "/" + std::to_string(number++) + "-" + name;
  options.input = stem + ".mlir";
  options.output = stem + ".so";
  options.jobs = 1;
  options.quiet = true;
  std::error_code code;
  {
    llvm::raw_fd_ostream os(options.input, code);
    source.print(os);
  }
  std::string text;
  llvm::raw_string_ostream diagnostics(text);
  auto status = adze::compile(options, diagnostics, *source.getContext());
  llvm::sys::fs::remove(options.input);
  unsupported = status == adze::CompileStatus::Unsupported;
  if (status != adze::CompileStatus::Done)
    return name + ": compilation ended with " +
           std::to_string(static_cast<int>(status)) + ": " + text;
  Error error =
      take(adze_module_open(options.output.c_str(), nullptr, &module));
  llvm::sys::fs::remove(options.output);
  if (!error.empty())
    return name + ": " + error;
  return take(adze_context_create(module, {kDLCPU, 0}, &context));
}

Error Way::run(std::vector<Tensor> inputs, std::vector<Tensor> &outputs) {
  std::vector<DLTensor> views;
  for (Tensor &input : inputs)
    views.push_back(input.view());
  std::vector<const DLTensor *> pointers;
  for (const DLTensor &view : views)
    pointers.push_back(&view);
  std::vector<DLManagedTensorVersioned *> results(
      static_cast<size_t>(adze_module_num_outputs(module)));
  if (Error error = take(adze_run_alloc(
          context, pointers.data(), static_cast<int32_t>(pointers.size()),
          results.data(), static_cast<int32_t>(results.size())));
      !error.empty())
    return name + ": " + error;
  for (DLManagedTensorVersioned *result : results) {
    adze::run::copyTensor(result->dl_tensor, outputs.emplace_back());
    result->deleter(result);
  }
  return {};
}

static std::string describe(double number) {
  char text[32];
  snprintf(text, sizeof(text), "%.3g", number);
  return text;
}

namespace {
/// The comparison of one way with the reference path.
struct Comparison {
  std::vector<Distance> distances; // one per output, over all runs
  Error wrong;
  bool isUsed = false;

  void add(ArrayRef<Tensor> reference, ArrayRef<Tensor> other,
           ArrayRef<Tensor> exact) {
    distances.resize(reference.size());
    for (size_t i = 0; i < reference.size() && wrong.empty(); ++i) {
      wrong = compareResults(reference[i], other[i], exact[i], distances[i]);
      if (!wrong.empty())
        wrong = "output " + std::to_string(i) + ": " + wrong;
    }
  }
  Error judge() const {
    if (!wrong.empty())
      return wrong;
    for (auto [i, distance] : llvm::enumerate(distances))
      if (!distance.isWithin())
        return "output " + std::to_string(i) + ": error " +
               describe(distance.other) + " where the reference path's is " +
               describe(distance.reference) + ", a ulp of the range " +
               describe(distance.ulp) + " and a rounding after each op " +
               describe(distance.noise);
    return {};
  }
  void addNoise(ArrayRef<double> noise) {
    for (auto [distance, more] : llvm::zip(distances, noise))
      distance.noise += more;
  }
};

static bool areFinite(ArrayRef<Tensor> tensors) {
  return llvm::all_of(tensors, [](const Tensor &tensor) {
    for (int64_t i = 0, end = tensor.elements(); i < end; ++i)
      if (tensor.isFloat() && !std::isfinite(*tensor.number(i)))
        return false;
    return true;
  });
}

/// Returns true if all elements other than finite floats are as expected.
static bool areAlikeBesideNumbers(ArrayRef<Tensor> reference,
                                  ArrayRef<Tensor> other,
                                  ArrayRef<Tensor> exact) {
  Comparison comparison;
  comparison.add(reference, other, exact);
  return comparison.wrong.empty();
}

static func::FuncOp getFunction(ModuleOp module) {
  return *module.getOps<func::FuncOp>().begin();
}

adze::CompileOptions getLiteral(const Question &question) {
  adze::CompileOptions options;
  options.quickCode = question.quickCode;
  options.optLevel = 0;
  options.literal = true;
  return options;
}

/// The ways that neither a fault nor a limit of passes changes. Each is compiled when it is
/// first required, once for all checks of a module.
struct Baseline {
  explicit Baseline(const Question &question)
      : reference("reference", getLiteral(question)),
        wide("f64", getLiteral(question)) {}

  Way reference, wide;
  /// Roundings as drawn once, and a 16th of them. They may cancel by chance,
  /// and inputs may be the same in all runs: the runs take several in turn.
  struct Drawing {
    Way whole, sixteenth;
  };
  static constexpr size_t mostDrawings = 4;
  std::vector<std::unique_ptr<Drawing>> drawings;
};

/// All ways of one module.
class Check {
public:
  /// `everywhere`: of a module that states the assumptions of all ops.
  Check(ModuleOp module, func::FuncOp everywhere, const Question &question,
        const std::string &folder, Baseline &baseline, adze::PassLimit *limit)
      : module(module), function(getFunction(module)), everywhere(everywhere),
        question(question), folder(folder), limit(limit), baseline(baseline),
        optimized("O2", best()), direct("O2-direct", best(/*winograd=*/false)),
        passed("pass", getLiteral(question)) {}

  Finding run();

private:
  adze::CompileOptions best(bool winograd = true) const;
  Error compileOptimized();
  Error compileAll();
  Error compilePassed();
  Error runOnce(ArrayRef<int64_t> symbols, uint64_t dataSeed);
  Error runLike(Way &way, const std::vector<Tensor> &inputs,
                std::vector<Tensor> &outputs);
  Error runDirect(const std::vector<Tensor> &inputs,
                  std::vector<Tensor> &outputs);
  Error runExact(const std::vector<Tensor> &inputs,
                 std::vector<Tensor> &outputs);
  Error runNoisy(const std::vector<Tensor> &inputs, ArrayRef<Tensor> exact);
  Error checkNumbers(ArrayRef<int64_t> symbols);
  Error judge();
  std::optional<std::vector<int64_t>> chooseSymbols();

  ModuleOp module;
  func::FuncOp function, everywhere;
  const Question &question;
  const std::string &folder;
  adze::PassLimit *const limit;
  Baseline &baseline;
  Way optimized, direct, passed;
  size_t noisyRuns = 0;
  Comparison byLevel, byPass;
  bool isUnsupported = false, measuresNoise = false;
  bool hasFault = false;
  Error refusal; // that of the reference path for the sizes of these runs
  bool doSizesFit = true, mayRefuse = false;
  std::string pass;
};
} // namespace

adze::CompileOptions Check::best(bool winograd) const {
  adze::CompileOptions options;
  options.winograd = winograd;
  options.quickCode = question.quickCode;
  options.optLevel = 2;
  // Small images do not fit all caches.
  if (question.seed % 2)
    options.caches = "64K,256K";
  if (question.fault)
    options.stagePasses.emplace_back(question.fault->stage,
                                     getFaultPass(*question.fault));
  options.limit = limit;
  return options;
}

static std::string getText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

/// Finds the first pass that changes the module; otherwise it would be compared
/// with itself.
Error Check::compilePassed() {
  std::string before = getText(module);
  for (const std::string &candidate : question.passes) {
    OwningOpRef<ModuleOp> changed = module.clone();
    PassManager manager(module.getContext());
    if (failed(parsePassPipeline(candidate, manager)) ||
        failed(manager.run(*changed)))
      return "pass '" + candidate + "' failed";
    if (getText(*changed) == before)
      continue;
    pass = candidate;
    bool falls = false;
    Error error = passed.compile(*changed, folder, falls);
    return error.empty() ? error : "pass '" + pass + "': " + error;
  }
  return {};
}

Error Check::compileOptimized() {
  bool falls = false; // what the reference path can do, the others can
  Error error = optimized.compile(module, folder, falls);
  hasFault = wasFaultMade();
  return error;
}

Error Check::compileAll() {
  if (!baseline.reference.isCompiled())
    if (Error error = baseline.reference.compile(module, folder, isUnsupported);
        !error.empty())
      return error;
  if (!optimized.isCompiled())
    if (Error error = compileOptimized(); !error.empty())
      return error;
  return compilePassed();
}

/// Compiled on first use, as most results are equal in all bits, or nearly so.
Error Check::runExact(const std::vector<Tensor> &inputs,
                      std::vector<Tensor> &outputs) {
  bool falls = false;
  Way &wide = baseline.wide;
  if (!wide.isCompiled())
    if (Error error = wide.compile(*widen(module), folder, falls);
        !error.empty())
      return error;
  std::vector<Tensor> wideInputs;
  for (const Tensor &input : inputs)
    wideInputs.push_back(toF64(input));
  return runLike(wide, wideInputs, outputs);
}

/// The effect of a rounding after each op, for all comparisons.
Error Check::runNoisy(const std::vector<Tensor> &inputs,
                      ArrayRef<Tensor> exact) {
  std::vector<Tensor> wideInputs, more, less;
  for (const Tensor &input : inputs)
    wideInputs.push_back(toF64(input));
  bool falls = false;
  size_t number = noisyRuns++ % Baseline::mostDrawings;
  if (number == baseline.drawings.size())
    baseline.drawings.emplace_back(new Baseline::Drawing{
        {"noise", getLiteral(question)}, {"less-noise", getLiteral(question)}});
  Baseline::Drawing &drawing = *baseline.drawings[number];
  for (auto [way, part, outputs] :
       {std::tuple(&drawing.whole, 1.0, &more),
        std::tuple(&drawing.sixteenth, 1.0 / 16, &less)}) {
    if (!way->isCompiled())
      if (Error error = way->compile(
              *perturb(module, part, question.seed + number, number % 2),
              folder, falls);
          !error.empty())
        return error;
    // Sizes may be computed from numbers with noise.
    if (!way->run(wideInputs, *outputs).empty())
      return {};
  }
  SmallVector<double> noise;
  for (auto [truth, a, b] : llvm::zip(exact, more, less))
    noise.push_back(getNoise(getDifference(truth, a), getDifference(truth, b)));
  byLevel.addNoise(noise);
  byPass.addNoise(noise);
  return {};
}

Error Check::runOnce(ArrayRef<int64_t> symbols, uint64_t dataSeed) {
  std::vector<Tensor> inputs = makeInputs(function, symbols, dataSeed);
  std::vector<Tensor> expected, exact, got, gotPassed;
  refusal = baseline.reference.run(inputs, expected);
  if (!doSizesFit && refusal.empty())
    return "reference: expected a refusal of sizes that do not fit, but got "
           "results";
  if (Error error = runLike(optimized, inputs, got); !error.empty())
    return error;
  if (!pass.empty())
    if (Error error = runLike(passed, inputs, gotPassed); !error.empty())
      return error;
  if (!refusal.empty())
    return {};
  byLevel.isUsed |= !areNear(expected, got);
  byPass.isUsed |= !pass.empty() && !areNear(expected, gotPassed);
  if (!byLevel.isUsed && !byPass.isUsed)
    return {};
  if (Error error = runExact(inputs, exact); !error.empty())
    return error;
  // Winograd convolutions propagate values that are not finite, as documented.
  bool isFinite = areFinite(inputs) && areFinite(expected);
  if (byLevel.isUsed && !isFinite &&
      !areAlikeBesideNumbers(expected, got, exact))
    if (Error error = runDirect(inputs, got); !error.empty())
      return error;
  if (byLevel.isUsed)
    byLevel.add(expected, got, exact);
  if (byPass.isUsed && (isFinite || pass != winogradPass ||
                        areAlikeBesideNumbers(expected, gotPassed, exact)))
    byPass.add(expected, gotPassed, exact);
  return measuresNoise ? runNoisy(inputs, exact) : Error();
}

/// -O2 with direct convolutions only.
Error Check::runDirect(const std::vector<Tensor> &inputs,
                       std::vector<Tensor> &outputs) {
  bool falls = false;
  if (!direct.isCompiled())
    if (Error error = direct.compile(module, folder, falls); !error.empty())
      return error;
  outputs.clear();
  return runLike(direct, inputs, outputs);
}

/// All ways must reject the same inputs.
Error Check::runLike(Way &way, const std::vector<Tensor> &inputs,
                     std::vector<Tensor> &outputs) {
  Error error = way.run(inputs, outputs);
  if (error.empty() == refusal.empty())
    return {};
  return error.empty() ? way.name + ": expected a refusal as " + refusal +
                             ", but got results"
                       : error;
}

Error Check::judge() {
  if (Error error = byLevel.judge(); !error.empty())
    return "-O2: " + error;
  if (Error error = byPass.judge(); !error.empty())
    return "pass '" + pass + "': " + error;
  return {};
}

/// Numbers may be near or far from each other by chance, so the sum over more
/// runs counts.
Error Check::checkNumbers(ArrayRef<int64_t> symbols) {
  if (Error error = runOnce(symbols, question.seed); !error.empty())
    return error;
  Error error = judge();
  if (error.empty() || !byLevel.wrong.empty() || !byPass.wrong.empty())
    return error;
  // The first inputs again: their differences are compared with their noise.
  measuresNoise = true;
  byLevel.distances.clear();
  byPass.distances.clear();
  for (uint64_t i = 0; i < 12 && !error.empty(); ++i) {
    if (!byLevel.wrong.empty() || !byPass.wrong.empty())
      return error;
    if (Error other = runOnce(symbols, question.seed + i * 7919);
        !other.empty())
      return other;
    error = judge();
  }
  return error;
}

/// Inputs that mostly fit; for some graphs with assumptions about sizes,
/// others, or sizes that do not fit in a branch only: a run that takes it must
/// be rejected.
std::optional<std::vector<int64_t>> Check::chooseSymbols() {
  constexpr uint64_t period = 4;
  auto find = [&](func::FuncOp fit, func::FuncOp misfit) {
    return findSymbols(fit, misfit, question.seed, question.emptyPercent);
  };
  std::optional<std::vector<int64_t>> symbols;
  if (question.seed % period == 1)
    symbols = find({}, function);
  doSizesFit = !symbols;
  if (question.seed % period == 3)
    symbols = find(function, everywhere);
  mayRefuse = bool(symbols);
  module.walk([&](adze::graph::BindOp) { mayRefuse = true; });
  return symbols ? symbols : find(everywhere, {});
}

Finding Check::run() {
  Finding finding;
  std::optional<std::vector<int64_t>> symbols = chooseSymbols();
  if (!symbols) {
    finding.status = Status::Skipped;
    finding.message = "no sizes make sense";
    return finding;
  }
  // Without a place for the fault, there is nothing to compare.
  if (question.fault && !limit && compileOptimized().empty() && !hasFault) {
    finding.status = Status::Passed;
    return finding;
  }
  finding.message = compileAll();
  if (finding.message.empty())
    finding.message = checkNumbers(*symbols);
  finding.pass = pass;
  finding.hasFault = hasFault;
  bool isRefused = finding.message.empty() && !refusal.empty();
  if (isRefused)
    finding.message = refusal;
  // Inputs that all ways reject are a success if they were generated for that.
  bool isAgreed = finding.message.empty() || (isRefused && mayRefuse);
  finding.status = isAgreed                     ? Status::Passed
                   : isUnsupported || isRefused ? Status::Skipped
                                                : Status::Failed;
  return finding;
}

static OwningOpRef<ModuleOp> collectAssumptions(ModuleOp module,
                                                bool branches) {
  OwningOpRef<ModuleOp> complete = module.clone();
  PassManager manager(module.getContext());
  adze::graph::CollectAssumptionsPassOptions options;
  options.branches = branches;
  manager.addNestedPass<func::FuncOp>(
      adze::graph::createCollectAssumptionsPass(options));
  return succeeded(manager.run(*complete)) ? std::move(complete)
                                           : OwningOpRef<ModuleOp>();
}

struct Checker::State {
  State(ModuleOp module, const Question &question, StringRef folder)
      : question(question), folder(folder), baseline(question),
        complete(collectAssumptions(module, false)),
        everywhere(collectAssumptions(module, true)) {}

  Question question;
  std::string folder;
  Baseline baseline;
  // Of the graph as it is: a pass may drop what does not fit.
  OwningOpRef<ModuleOp> complete, everywhere;
};

Checker::Checker(ModuleOp module, const Question &question, StringRef folder)
    : state(std::make_unique<State>(module, question, folder)) {}

Checker::~Checker() = default;

Finding Checker::check(adze::PassLimit *limit) {
  if (state->complete && state->everywhere)
    return Check(*state->complete, getFunction(*state->everywhere),
                 state->question, state->folder, state->baseline, limit)
        .run();
  Finding finding;
  finding.message = "graph-collect-assumptions failed";
  return finding;
}

} // namespace property
