// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles a graph in several ways, runs all on the same inputs and compares.
#include "Check.h"
#include "Judge.h"
#include "Pipeline/Compile.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace adze::graph;
using conformance::take;
using conformance::Value;

namespace property {

ArrayRef<StringLiteral> getPasses() {
  static constexpr StringLiteral passes[] = {"canonicalize",
                                             "cse",
                                             "graph-fold-constants",
                                             "graph-eliminate-dead-code",
                                             "func.func(graph-fold-batch-norm)",
                                             "func.func(graph-convert-layout)"};
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
// Inputs
//===----------------------------------------------------------------------===//

static int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> symbols) {
  SmallVector<AffineExpr> values;
  for (int64_t symbol : symbols)
    values.push_back(getAffineConstantExpr(symbol, expr.getContext()));
  return getConstant(normalize(expr.replaceSymbols(values))).value_or(-1);
}

static bool makeSense(func::FuncOp function, ArrayRef<int64_t> symbols) {
  bool sane = true;
  auto check = [&](mlir::Value value) {
    int64_t count = 1;
    for (AffineExpr dim : getDims(value)) {
      int64_t size = dim ? evaluate(dim, symbols) : -1;
      sane &= size >= 0;
      count *= std::max<int64_t>(size, 1);
    }
    sane &= count <= 400000;
  };
  for (BlockArgument argument : function.getArguments())
    check(argument);
  function.walk([&](Operation *op) {
    for (mlir::Value result : op->getResults())
      check(result);
  });
  return sane;
}

/// Sizes for the symbols that make sense; none if there seem to be none.
static std::optional<std::vector<int64_t>>
findSymbols(func::FuncOp function, uint64_t seed, int emptyPercent) {
  for (uint64_t attempt = 0; attempt < 30; ++attempt) {
    std::vector<int64_t> symbols =
        generateSymbols(function, seed + attempt * 1000003, emptyPercent);
    if (makeSense(function, symbols))
      return symbols;
  }
  return std::nullopt;
}

template <typename T>
static void store(Tensor &tensor, int64_t i, T value) {
  std::memcpy(tensor.bytes.data() + static_cast<size_t>(i) * sizeof(T), &value,
              sizeof(T));
}

static void storeFloat(Tensor &tensor, int64_t i, double value) {
  if (tensor.dtype.code == kDLBfloat)
    store(tensor, i, adze::run::toBfloat(value));
  else if (tensor.dtype.bits == 16)
    store(tensor, i, adze::run::toHalf(value));
  else if (tensor.dtype.bits == 32)
    store(tensor, i, static_cast<float>(value));
  else
    store(tensor, i, value);
}

static double randomNumber(Random &random, bool tame) {
  static constexpr double specials[] = {NAN,   INFINITY, -INFINITY, 0.0, -0.0,
                                        1e-42, -1e-42,   1e-6,      300, -300};
  if (!tame && random.chance(15))
    return random.pick<double>(specials);
  return random.uniform(-2, 2) * (random.chance(10) ? 3 : 1);
}

static Tensor makeInput(Type type, StringRef kind, ArrayRef<int64_t> symbols,
                        Random &random) {
  Type element = cast<RankedTensorType>(type).getElementType();
  Tensor tensor;
  uint8_t bits =
      static_cast<uint8_t>(std::max(8u, element.getIntOrFloatBitWidth()));
  if (element.isInteger(1))
    tensor.dtype = {kDLBool, 8, 1};
  else if (isa<FloatType>(element))
    tensor.dtype = {
        static_cast<uint8_t>(element.isBF16() ? kDLBfloat : kDLFloat), bits, 1};
  else
    tensor.dtype = {
        static_cast<uint8_t>(element.isUnsignedInteger() ? kDLUInt : kDLInt),
        bits, 1};
  for (AffineExpr dim : getDims(type))
    tensor.dims.push_back(evaluate(dim, symbols));
  tensor.resize();
  int64_t bound = 8;
  if (kind.consume_front("index"))
    kind.getAsInteger(10, bound);
  for (int64_t i = 0, end = tensor.elements(); i < end; ++i) {
    if (isa<FloatType>(element)) {
      storeFloat(tensor, i, randomNumber(random, kind != "any"));
      continue;
    }
    int64_t number = element.isInteger(1) ? random.below(2)
                     : element.isUnsignedInteger()
                         ? random.below(bound)
                         : random.between(-bound, bound - 1);
    std::memcpy(tensor.bytes.data() + i * (bits / 8), &number, bits / 8);
  }
  return tensor;
}

static Tensor toF64(const Tensor &tensor) {
  if (!tensor.isFloat())
    return tensor;
  Tensor wide;
  wide.dtype = {kDLFloat, 64, 1};
  wide.dims = tensor.dims;
  wide.resize();
  for (int64_t i = 0, end = tensor.elements(); i < end; ++i)
    storeFloat(wide, i, *tensor.number(i));
  return wide;
}

//===----------------------------------------------------------------------===//
// Ways to run
//===----------------------------------------------------------------------===//

namespace {
/// One way to compile and run a module.
class Way {
public:
  Way(std::string name, unsigned optLevel)
      : name(std::move(name)), optLevel(optLevel) {}
  ~Way() {
    adze_context_release(context);
    adze_module_release(module);
  }
  Way(const Way &) = delete;

  /// What went wrong; `unsupported` if it is that.
  Error compile(ModuleOp source, const std::string &folder, bool &unsupported);
  Error run(std::vector<Tensor> inputs, std::vector<Tensor> &outputs);

  const std::string name;

private:
  unsigned optLevel;
  adze_module *module = nullptr;
  adze_context *context = nullptr;
};
} // namespace

Error Way::compile(ModuleOp source, const std::string &folder,
                   bool &unsupported) {
  adze::CompileOptions options;
  options.input = folder + "/" + name + ".mlir";
  options.output = folder + "/" + name + ".so";
  options.optLevel = optLevel;
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
  unsupported = status == adze::CompileStatus::Unsupported;
  if (status != adze::CompileStatus::Done)
    return name + ": compilation ended with " +
           std::to_string(static_cast<int>(status)) + ": " + text;
  if (Error error =
          take(adze_module_open(options.output.c_str(), nullptr, &module));
      !error.empty())
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
/// The comparison of one way with the reference.
struct Comparison {
  std::vector<Distance> distances; // an output each, over all runs
  Error wrong;

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
               describe(distance.reference) + " and a ulp of the range " +
               describe(distance.ulp);
    return {};
  }
};

class Check {
public:
  Check(ModuleOp module, uint64_t seed, StringRef pass)
      : module(module), seed(seed), pass(pass) {}

  Outcome run(const std::string &folder, int emptyPercent);

private:
  Error compileAll(const std::string &folder, bool &unsupported);
  Error runOnce(ArrayRef<int64_t> symbols, uint64_t dataSeed);
  Error runLike(Way &way, const std::vector<Tensor> &inputs,
                std::vector<Tensor> &outputs);
  Error judge();

  ModuleOp module;
  uint64_t seed;
  StringRef pass;
  Way reference{"O0", 0}, wide{"f64", 0}, optimized{"O2", 2}, passed{"pass", 0};
  Comparison byLevel, byPass;
  Error refusal; // that of the reference path for the sizes of these runs
};
} // namespace

Error Check::compileAll(const std::string &folder, bool &unsupported) {
  if (Error error = reference.compile(module, folder, unsupported);
      !error.empty())
    return error;
  OwningOpRef<ModuleOp> wideModule = widen(module);
  if (Error error = wide.compile(*wideModule, folder, unsupported);
      !error.empty())
    return error;
  bool falls = false; // what -O0 can do, the others can
  if (Error error = optimized.compile(module, folder, falls); !error.empty())
    return error;
  if (pass.empty())
    return {};
  OwningOpRef<ModuleOp> changed = module.clone();
  PassManager manager(module.getContext());
  if (failed(parsePassPipeline(pass, manager)) || failed(manager.run(*changed)))
    return ("pass '" + pass + "' failed").str();
  return passed.compile(*changed, folder, falls);
}

Error Check::runOnce(ArrayRef<int64_t> symbols, uint64_t dataSeed) {
  auto function = *module.getOps<func::FuncOp>().begin();
  Random random(dataSeed);
  std::vector<Tensor> inputs, wideInputs;
  for (BlockArgument argument : function.getArguments()) {
    auto kind = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      "graph.test_data");
    inputs.push_back(makeInput(
        argument.getType(), kind ? kind.getValue() : "tame", symbols, random));
    wideInputs.push_back(toF64(inputs.back()));
  }
  std::vector<Tensor> expected, exact, got, gotPassed;
  refusal = reference.run(inputs, expected);
  if (Error error = runLike(wide, wideInputs, exact); !error.empty())
    return error;
  if (Error error = runLike(optimized, inputs, got); !error.empty())
    return error;
  if (!pass.empty())
    if (Error error = runLike(passed, inputs, gotPassed); !error.empty())
      return error;
  if (!refusal.empty())
    return {};
  byLevel.add(expected, got, exact);
  if (!pass.empty())
    byPass.add(expected, gotPassed, exact);
  return {};
}

/// What one way refuses, all have to.
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
    return ("pass '" + pass + "': ").str() + error;
  return {};
}

Outcome Check::run(const std::string &folder, int emptyPercent) {
  Outcome outcome;
  auto function = *module.getOps<func::FuncOp>().begin();
  std::optional<std::vector<int64_t>> symbols =
      findSymbols(function, seed, emptyPercent);
  bool unsupported = false;
  if (!symbols) {
    outcome.status = Status::Skipped;
    outcome.message = "no sizes make sense";
    return outcome;
  }
  outcome.message = compileAll(folder, unsupported);
  if (outcome.message.empty())
    outcome.message = runOnce(*symbols, seed);
  if (outcome.message.empty() && !refusal.empty()) {
    outcome.status = Status::Skipped;
    outcome.message = refusal;
    return outcome;
  }
  if (outcome.message.empty())
    outcome.message = judge();
  // Numbers may be near one another by luck: the sum over more runs counts.
  bool isDistance = byLevel.wrong.empty() && byPass.wrong.empty() &&
                    !byLevel.distances.empty();
  for (uint64_t i = 1; i < 12 && isDistance && !outcome.message.empty(); ++i) {
    Error error = runOnce(*symbols, seed + i * 7919);
    outcome.message = error.empty() ? judge() : error;
    isDistance = error.empty();
  }
  outcome.status = unsupported               ? Status::Skipped
                   : outcome.message.empty() ? Status::Passed
                                             : Status::Failed;
  return outcome;
}

Outcome checkModule(ModuleOp module, uint64_t seed, StringRef pass,
                    const std::string &folder, int emptyPercent) {
  return Check(module, seed, pass).run(folder, emptyPercent);
}

} // namespace property
