// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Executes a case: compiled in this process, loaded and run by the C run time.
#include "Execute.h"
#include "Pipeline/Compile.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>

namespace conformance {

#define TRY(expression)                                                        \
  if (Error tryError = (expression); !tryError.empty())                        \
  return tryError

double nowMs() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

Executor::Executor(Column column)
    : column(std::move(column)),
      context(mlir::MLIRContext::Threading::DISABLED) {
  adze::prepareContext(context);
}

static adze::CompileOptions getOptions(const Column &column) {
  adze::CompileOptions options;
  options.optLevel = column.optLevel;
  options.jobs = 1;
  options.quiet = true;
  if (!column.cudaTarget.empty()) {
    options.cudaTargets = {column.cudaTarget};
    options.cpu = !column.compileOnly;
    options.allowHostFallback = !column.compileOnly;
  }
  return options;
}

Error Executor::warmUp(const std::string &folder) {
  adze::CompileOptions options = getOptions(column);
  options.input = folder + "/warm-up.onnx";
  options.output = folder + "/warm-up.so";
  TRY(writeWarmUpModel(options.input));
  std::string text;
  llvm::raw_string_ostream diagnostics(text);
  auto status = adze::compile(options, diagnostics, context);
  llvm::sys::fs::remove(options.input);
  llvm::sys::fs::remove(options.output);
  if (status != adze::CompileStatus::Done)
    return "the warm-up model cannot be compiled: " + text;
  return {};
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
struct Release {
  void operator()(adze_module *module) const { adze_module_release(module); }
  void operator()(adze_context *context) const {
    adze_context_release(context);
  }
  void operator()(adze_options *options) const {
    adze_options_release(options);
  }
};
using ModuleHandle = std::unique_ptr<adze_module, Release>;
using ContextHandle = std::unique_ptr<adze_context, Release>;

struct Signature {
  std::vector<const adze_value_info *> inputs, outputs;
  bool onlyTensors = true;
};
} // namespace

static Error getSignature(adze_module *module, Signature &signature) {
  auto get = [&](int32_t count, auto function, auto &infos) -> Error {
    for (int32_t i = 0; i < count; ++i) {
      TRY(take(function(module, i, &infos.emplace_back())));
      signature.onlyTensors &= infos.back()->kind == ADZE_TENSOR;
    }
    return {};
  };
  TRY(get(adze_module_num_inputs(module), adze_module_input, signature.inputs));
  return get(adze_module_num_outputs(module), adze_module_output,
             signature.outputs);
}

/// Returns the index of a name in a signature, or -1.
static int find(const std::vector<const adze_value_info *> &infos,
                const std::string &name) {
  for (auto [index, info] : llvm::enumerate(infos))
    if (name == info->name)
      return static_cast<int>(index);
  return -1;
}

/// Reads SIDE_0.pb, SIDE_1.pb, ... of a data set in the order of the module's
/// signature.
static Error readValues(const Case &test, const std::string &data, bool isInput,
                        const std::vector<const adze_value_info *> &infos,
                        std::vector<std::optional<Value>> &values) {
  const auto &names = isInput ? test.model.inputs : test.model.outputs;
  values.resize(infos.size());
  for (size_t k = 0;; ++k) {
    std::string path =
        data + (isInput ? "/input_" : "/output_") + std::to_string(k) + ".pb";
    if (!llvm::sys::fs::exists(path))
      return {};
    if (k >= names.size())
      return path + ": the model has only " + std::to_string(k) + " of these";
    int place = find(infos, names[k]);
    if (place < 0)
      return "the module has no " +
             std::string(isInput ? "input '" : "output '") + names[k] + "'";
    std::string ignored;
    Value &value = values[static_cast<size_t>(place)].emplace();
    TRY(adze::run::readValue(path, infos[static_cast<size_t>(place)]->kind, {},
                             value, ignored));
  }
}

static Error runTensors(adze_context *context, std::vector<Value> &inputs,
                        std::vector<Value> &outputs) {
  std::vector<DLTensor> views;
  for (Value &input : inputs)
    views.push_back(input.tensor.view());
  std::vector<const DLTensor *> pointers;
  for (const DLTensor &view : views)
    pointers.push_back(&view);
  std::vector<DLManagedTensorVersioned *> results(outputs.size());
  TRY(take(adze_run_alloc(context, pointers.data(),
                          static_cast<int32_t>(pointers.size()), results.data(),
                          static_cast<int32_t>(results.size()))));
  for (auto [result, output] : llvm::zip(results, outputs)) {
    adze::run::copyTensor(result->dl_tensor, output.tensor);
    result->deleter(result);
  }
  return {};
}

/// Runs once to compute data-dependent shapes of the outputs.
static Error learnShapes(adze_context *context,
                         const std::vector<const DLTensor *> &inputs,
                         std::vector<Value> &outputs) {
  std::vector<DLManagedTensorVersioned *> results(outputs.size());
  TRY(take(adze_run_alloc(context, inputs.data(),
                          static_cast<int32_t>(inputs.size()), results.data(),
                          static_cast<int32_t>(results.size()))));
  for (auto [result, output] : llvm::zip(results, outputs)) {
    const DLTensor &tensor = result->dl_tensor;
    output.tensor.dims.assign(tensor.shape, tensor.shape + tensor.ndim);
    result->deleter(result);
  }
  return {};
}

/// On a device, allocates the outputs here, as only the run time can copy.
static Error runOnDevice(adze_module *module, adze_context *context,
                         const Signature &signature, std::vector<Value> &inputs,
                         std::vector<Value> &outputs) {
  std::vector<DLTensor> in, out;
  std::vector<adze_shape> inShapes, outShapes;
  for (Value &input : inputs) {
    in.push_back(input.tensor.view());
    inShapes.push_back({in.back().ndim, in.back().shape});
  }
  for (auto [output, info] : llvm::zip(outputs, signature.outputs)) {
    output.tensor.dtype = info->dtype;
    output.tensor.dims.resize(static_cast<size_t>(info->rank));
    outShapes.push_back({info->rank, output.tensor.dims.data()});
  }
  TRY(take(adze_infer_shapes(
      module, inShapes.data(), static_cast<int32_t>(inShapes.size()),
      outShapes.data(), static_cast<int32_t>(outShapes.size()), nullptr)));
  std::vector<const DLTensor *> inPointers;
  std::vector<DLTensor *> outPointers;
  for (DLTensor &view : in)
    inPointers.push_back(&view);
  if (llvm::any_of(outputs, [](const Value &output) {
        return llvm::any_of(output.tensor.dims,
                            [](int64_t dim) { return dim < 0; });
      }))
    TRY(learnShapes(context, inPointers, outputs));
  for (Value &output : outputs) {
    output.tensor.resize();
    out.push_back(output.tensor.view());
  }
  for (DLTensor &view : out)
    outPointers.push_back(&view);
  return take(adze_run(
      context, inPointers.data(), static_cast<int32_t>(inPointers.size()),
      outPointers.data(), static_cast<int32_t>(outPointers.size())));
}

static Error runValues(adze_context *context, std::vector<Value> &inputs,
                       std::vector<Value> &outputs) {
  std::vector<adze::run::ValueHandle> handles;
  std::vector<const adze_value *> pointers;
  for (Value &input : inputs) {
    TRY(toRuntime(input, handles.emplace_back()));
    pointers.push_back(handles.back().get());
  }
  std::vector<adze_value *> results(outputs.size());
  TRY(take(adze_run_values(
      context, pointers.data(), static_cast<int32_t>(pointers.size()),
      results.data(), static_cast<int32_t>(results.size()))));
  std::vector<adze::run::ValueHandle> owned;
  for (adze_value *result : results)
    owned.emplace_back(result);
  for (auto [result, output] : llvm::zip(results, outputs))
    TRY(fromRuntime(result, output));
  return {};
}

Error Executor::runDataSet(const Case &test, const std::string &data,
                           adze_module *module, adze_context *context) {
  Signature signature;
  TRY(getSignature(module, signature));
  std::vector<std::optional<Value>> given, expected;
  TRY(readValues(test, data, /*isInput=*/true, signature.inputs, given));
  TRY(readValues(test, data, /*isInput=*/false, signature.outputs, expected));
  std::vector<Value> inputs, outputs(signature.outputs.size());
  for (auto [value, info] : llvm::zip(given, signature.inputs)) {
    if (!value)
      return "input '" + std::string(info->name) + "' has no data";
    inputs.push_back(std::move(*value));
  }
  TRY(!signature.onlyTensors ? runValues(context, inputs, outputs)
      : !column.cudaTarget.empty()
          ? runOnDevice(module, context, signature, inputs, outputs)
          : runTensors(context, inputs, outputs));
  for (auto [k, value] : llvm::enumerate(expected)) {
    std::string name = signature.outputs[k]->name;
    if (!value)
      return "output '" + name + "' has no expected data";
    if (Error error = compare(outputs[k], *value); !error.empty())
      return "output '" + name + "': " + error;
  }
  return {};
}

Error Executor::runModule(const Case &test, const std::string &path) {
  adze_options *madeOptions = nullptr;
  TRY(take(adze_options_create(&madeOptions)));
  std::unique_ptr<adze_options, Release> options(madeOptions);
  TRY(take(adze_options_set(madeOptions, "threads",
                            std::to_string(column.threads).c_str())));
  adze_module *opened = nullptr;
  TRY(take(adze_module_open(path.c_str(), madeOptions, &opened)));
  ModuleHandle module(opened);
  adze_context *created = nullptr;
  DLDevice device = {column.cudaTarget.empty() ? kDLCPU : kDLCUDA, 0};
  TRY(take(adze_context_create(opened, device, &created)));
  ContextHandle context(created);
  if (test.dataSets.empty())
    return "no test_data_set_0";
  for (const std::string &data : test.dataSets)
    TRY(runDataSet(test, data, opened, created));
  return {};
}

Outcome Executor::run(const Case &test, const std::string &folder) {
  Outcome outcome;
  adze::CompileOptions options = getOptions(column);
  options.input = test.folder + "/model.onnx";
  options.output = folder + "/module.so";
  if (column.dynamic) {
    std::string changed = folder + "/model.onnx";
    outcome.message = writeDynamicModel(options.input, changed);
    if (!outcome.message.empty())
      return outcome;
    options.input = changed;
  }
  double begin = nowMs();
  llvm::raw_string_ostream diagnostics(outcome.message);
  adze::CompileStatus status = adze::compile(options, diagnostics, context);
  outcome.compileMs = nowMs() - begin;
  if (status == adze::CompileStatus::Unsupported) {
    outcome.status = Status::Skipped;
    return outcome;
  }
  if (status != adze::CompileStatus::Done) {
    outcome.message = "compilation ended with " +
                      std::to_string(static_cast<int>(status)) + ": " +
                      outcome.message;
    return outcome;
  }
  if (column.compileOnly) {
    outcome.status = Status::Passed;
    return outcome;
  }
  begin = nowMs();
  outcome.message = runModule(test, options.output);
  outcome.runMs = nowMs() - begin;
  outcome.status = outcome.message.empty() ? Status::Passed : Status::Failed;
  return outcome;
}

} // namespace conformance
