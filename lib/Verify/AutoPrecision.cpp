// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Selects the narrow type for products where it is accurate enough
// (--precision=auto).
//
// One module, the probe, measures the error of each product: it computes in
// f32, and an input selects the products that round their operands
// (graph-probe-precision). The selection is then verified with the compiled
// module, whose sums and roundings differ slightly from those of the probe.
#include "Verify/AutoPrecision.h"
#include "Execution.h"
#include "Support/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include <chrono>
#include <cmath>
#include <numeric>

namespace adze {

using namespace verify;

namespace {

/// The floats of a module's outputs, one vector per output.
using Numbers = std::vector<std::vector<double>>;

class AutoPrecision {
public:
  AutoPrecision(const CompileOptions &options, llvm::raw_ostream &diagnostics)
      : options(options), diagnostics(diagnostics) {
    this->options.precision = "bf16";
  }

  CompileStatus run();

private:
  CompileStatus compileModule(bool isLast);
  CompileStatus openProbe();
  CompileStatus measureModule(double &error);
  CompileStatus measureProducts();
  CompileStatus choose();
  CompileStatus runProbe(llvm::function_ref<bool(size_t)> isNarrow,
                         Numbers &numbers);
  CompileStatus refuse(llvm::StringRef what, const std::string &error);
  void print(double error) const;
  bool isWide(size_t i) const { return products[i].isWide; }

  CompileOptions options;
  llvm::raw_ostream &diagnostics;
  std::vector<ProbedProduct> products;
  std::vector<size_t> order; // products, those with the largest error first
  size_t numWide = 0;        // the first ones of `order` are computed in f32
  bool isExact = false;      // no bound holds but that of f32
  std::string probePath;
  Execution probe;
  // Inputs of the probe; the last ones are the flags.
  std::vector<HostTensor> inputs;
  Numbers exact;
};

} // namespace

/// Returns the floats of an execution's outputs.
static Numbers readOutputs(const Execution &execution) {
  Numbers numbers;
  for (DLManagedTensorVersioned *output : execution.outputs) {
    const DLTensor &tensor = output->dl_tensor;
    numbers.emplace_back();
    if (!isFloat(tensor.dtype))
      continue;
    int64_t count = std::accumulate(tensor.shape, tensor.shape + tensor.ndim,
                                    int64_t(1), std::multiplies<>());
    auto *bytes = static_cast<const char *>(tensor.data) + tensor.byte_offset;
    for (int64_t i = 0; i < count; ++i)
      numbers.back().push_back(getNumber(bytes, tensor.dtype, i));
  }
  return numbers;
}

/// Returns the largest difference relative to the range of the output; infinity
/// if the number of elements differs or a number is not finite.
static double getError(const Numbers &got, const Numbers &expected) {
  double worst = 0;
  for (auto [own, exact] : llvm::zip_equal(got, expected)) {
    if (own.size() != exact.size())
      return INFINITY;
    double least = INFINITY, most = -INFINITY, off = 0;
    for (auto [x, y] : llvm::zip_equal(own, exact)) {
      if (!std::isfinite(y) && (x == y || std::isnan(x) == std::isnan(y)))
        continue;
      if (!std::isfinite(x) || !std::isfinite(y))
        return INFINITY;
      least = std::min(least, y);
      most = std::max(most, y);
      off = std::max(off, std::abs(x - y));
    }
    double range = most > least ? most - least : std::abs(most);
    if (off > 0)
      worst = std::max(worst, range > 0 ? off / range : INFINITY);
  }
  return worst;
}

CompileStatus AutoPrecision::refuse(llvm::StringRef what,
                                    const std::string &error) {
  diagnostics << "error: unsupported: --precision=auto of " << what << ": "
              << error << "; name a type, such as --precision=bf16\n";
  return CompileStatus::Unsupported;
}

/// Compiles the model with the current selection. Only the last compilation
/// prints its reports.
CompileStatus AutoPrecision::compileModule(bool isLast) {
  CompileOptions own = options;
  for (auto [i, product] : llvm::enumerate(products))
    if (product.isWide)
      own.wideProducts.push_back(int64_t(i));
  own.precisionErrors = &products;
  if (isExact)
    own.precision = "f32";
  if (!isLast) {
    own.report.clear();
    own.stats = own.timing = own.verbose = false;
  }
  return compile(own, diagnostics);
}

CompileStatus AutoPrecision::openProbe() {
  if (std::error_code code = createTemporary("adze-probe", "so", probePath)) {
    diagnostics << "error: " << code.message() << "\n";
    return CompileStatus::InputAtFault;
  }
  // A cache hit would have no list of products.
  CompileOptions own = makeTrialOptions(options, probePath);
  own.probed = &products;
  own.cpus = {"native"};
  own.tune = Tune::Off;
  own.injectFault = false;
  CompileStatus status = compile(own, diagnostics);
  if (status != CompileStatus::Done)
    return status;
  if (std::string error = probe.open(probePath); !error.empty())
    return refuse("a module that does not run here", error);
  std::mt19937_64 random(1);
  inputs = makeInputs(probe.module, sizes[0], random);
  return runProbe([](size_t) { return false; }, exact);
}

CompileStatus AutoPrecision::runProbe(llvm::function_ref<bool(size_t)> isNarrow,
                                      Numbers &numbers) {
  if (!products.empty())
    for (size_t i = 0; i < products.size(); ++i)
      inputs.back().bytes[i] = isNarrow(i);
  if (std::string error = probe.run(inputs); !error.empty())
    return refuse("a model that does not run on random inputs", error);
  numbers = readOutputs(probe);
  return CompileStatus::Done;
}

/// Runs the compiled module and measures its error.
CompileStatus AutoPrecision::measureModule(double &error) {
  Execution execution;
  if (std::string message = execution.open(options.output); !message.empty())
    return refuse("a module that does not run here", message);
  std::vector<HostTensor> own = inputs;
  if (!products.empty())
    own.pop_back();
  if (std::string message = execution.run(own); !message.empty())
    return refuse("a model that does not run on random inputs", message);
  error = getError(readOutputs(execution), exact);
  return CompileStatus::Done;
}

/// Measures the error of each product alone, within the time limit of searches.
/// A product that was not measured gets the largest error.
CompileStatus AutoPrecision::measureProducts() {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::seconds(options.maxSeconds);
  Numbers numbers;
  for (size_t i = 0; i < products.size() && Clock::now() < end; ++i) {
    CompileStatus status = runProbe([&](size_t j) { return j == i; }, numbers);
    if (status != CompileStatus::Done)
      return status;
    products[i].error = getError(numbers, exact);
  }
  auto lossOf = [&](size_t i) { // squares of errors are summed
    const ProbedProduct &product = products[i];
    return product.error < 0 ? INFINITY
                             : product.error * product.error / product.work;
  };
  order.resize(products.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t i, size_t j) {
    return std::pair(-lossOf(i), i) < std::pair(-lossOf(j), j);
  });
  return CompileStatus::Done;
}

/// Moves products to f32 until the error of the probe is within the bound.
CompileStatus AutoPrecision::choose() {
  auto isNarrow = [&](size_t i) { return !isWide(i); };
  while (numWide < order.size()) {
    double rest = 0; // the expected error of the narrow products
    for (size_t i : llvm::drop_begin(order, numWide))
      rest += products[i].error < 0 ? INFINITY
                                    : products[i].error * products[i].error;
    if (std::sqrt(rest) <= options.maxError) {
      Numbers numbers;
      CompileStatus status = runProbe(isNarrow, numbers);
      if (status != CompileStatus::Done)
        return status;
      if (getError(numbers, exact) <= options.maxError)
        break;
    }
    products[order[numWide++]].isWide = true;
  }
  return CompileStatus::Done;
}

void AutoPrecision::print(double error) const {
  if (!options.verbose && !options.stats)
    return;
  diagnostics << options.input
              << ": --precision=auto: " << products.size() - numWide << " of "
              << products.size() << " products in bf16, error "
              << llvm::format("%.2g", error) << " of the range (bound "
              << llvm::format("%.2g", options.maxError) << ")\n";
  for (const ProbedProduct &product : products)
    if (product.isWide)
      diagnostics << "  in f32: '" << product.name << "', which alone loses "
                  << llvm::format("%.2g", product.error) << "\n";
}

CompileStatus AutoPrecision::run() {
  llvm::scope_exit remover([&] {
    if (!probePath.empty())
      removeTemporary(probePath);
  });
  bool reports = !options.report.empty();
  CompileStatus status = compileModule(/*isLast=*/false);
  if (status != CompileStatus::Done)
    return status;
  double error = 0;
  status = openProbe();
  if (status == CompileStatus::Done)
    status = measureModule(error);
  if (status == CompileStatus::Done && (reports || error > options.maxError))
    status = measureProducts();
  while (status == CompileStatus::Done && error > options.maxError &&
         numWide < products.size()) {
    size_t before = numWide;
    status = choose();
    // The module's error exceeds that of the probe: widen one more step.
    if (numWide == before)
      products[order[numWide++]].isWide = true;
    if (status == CompileStatus::Done)
      status = compileModule(/*isLast=*/false);
    if (status == CompileStatus::Done)
      status = measureModule(error);
  }
  // Only attention of activations is left to exceed the bound.
  if (status == CompileStatus::Done && error > options.maxError) {
    isExact = true;
    status = compileModule(/*isLast=*/false);
    if (status == CompileStatus::Done)
      status = measureModule(error);
  }
  bool tells = reports || options.stats || options.timing || options.verbose;
  if (status == CompileStatus::Done && tells)
    status = compileModule(/*isLast=*/true);
  if (status == CompileStatus::Done) {
    print(error);
    return status;
  }
  llvm::sys::fs::remove(options.output);
  if (!options.externalWeights.empty())
    llvm::sys::fs::remove(options.externalWeights);
  return status;
}

CompileStatus compileAutoPrecision(const CompileOptions &options,
                                   llvm::raw_ostream &diagnostics) {
  return AutoPrecision(options, diagnostics).run();
}

} // namespace adze
