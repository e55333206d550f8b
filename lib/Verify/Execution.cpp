// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Executes modules in this process on the same inputs.
#include "Execution.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;

namespace adze::verify {

CompileOptions makeTrialOptions(const CompileOptions &options,
                                const std::string &output) {
  CompileOptions own = options;
  own.output = output;
  own.quiet = true;
  own.stats = own.timing = own.verbose = false;
  own.cache.clear();
  own.dumpPhases.clear();
  own.report.clear();
  own.externalWeights.clear();
  return own;
}

static std::string take(adze_status status) {
  std::string message = adze_status_message(status);
  adze_status_free(status);
  return message;
}

Execution::~Execution() {
  releaseOutputs();
  adze_context_release(context);
  adze_module_release(module);
}

std::string Execution::open(const std::string &path, DLDevice device) {
  std::string error = take(adze_module_open(path.c_str(), nullptr, &module));
  return error.empty() ? take(adze_context_create(module, device, &context))
                       : error;
}

std::string Execution::run(std::vector<HostTensor> &inputs) {
  std::vector<DLTensor> views;
  for (HostTensor &input : inputs)
    views.push_back(input.view());
  std::vector<const DLTensor *> pointers;
  for (DLTensor &view : views)
    pointers.push_back(&view);
  releaseOutputs();
  outputs.resize(adze_module_num_outputs(module));
  std::string error =
      take(adze_run_alloc(context, pointers.data(), int32_t(pointers.size()),
                          outputs.data(), int32_t(outputs.size())));
  if (!error.empty())
    outputs.clear();
  return error;
}

void Execution::releaseOutputs() {
  for (DLManagedTensorVersioned *output : outputs)
    output->deleter(output);
  outputs.clear();
}

DeviceExecution::~DeviceExecution() {
  for (size_t i = 0; i < placed.size(); ++i)
    adze_memory_release(execution.context, placed[i].data,
                        inputs[i].bytes.size());
}

/// Copies the inputs to memory of the device.
std::string DeviceExecution::copyInputs(DLDevice device) {
  for (HostTensor &input : inputs) {
    uint64_t bytes = input.bytes.size();
    void *data = nullptr;
    std::string error =
        take(adze_memory_allocate(execution.context, bytes, &data));
    if (!error.empty())
      return error;
    DLTensor tensor = input.view();
    error = take(adze_memory_copy(execution.context, data, bytes, tensor.data,
                                  bytes, bytes, /*count=*/1));
    tensor.data = data;
    tensor.device = device;
    placed.push_back(tensor);
    if (!error.empty())
      return error;
  }
  return "";
}

std::string DeviceExecution::open(const std::string &path, DLDevice device,
                                  ArrayRef<std::vector<int64_t>> inputDims) {
  if (std::string error = execution.open(path, device); !error.empty())
    return error;
  std::mt19937_64 random(1);
  inputs = makeInputs(execution.module, inputDims, random);
  if (std::string error = copyInputs(device); !error.empty())
    return error;
  for (DLTensor &tensor : placed)
    ins.push_back(&tensor);
  execution.outputs.resize(adze_module_num_outputs(execution.module));
  std::string error = take(adze_run_alloc(
      execution.context, ins.data(), int32_t(ins.size()),
      execution.outputs.data(), int32_t(execution.outputs.size())));
  if (!error.empty()) {
    execution.outputs.clear();
    return error;
  }
  for (DLManagedTensorVersioned *output : execution.outputs)
    outs.push_back(&output->dl_tensor);
  return run();
}

std::string DeviceExecution::run() {
  return take(adze_run(execution.context, ins.data(), int32_t(ins.size()),
                       outs.data(), int32_t(outs.size())));
}

std::string DeviceExecution::profile(std::string &trace) {
  std::string error = take(adze_profile_begin(execution.context));
  if (error.empty())
    error = run();
  const char *json = nullptr;
  std::string ended = take(adze_profile_end(execution.context, &json));
  if (json)
    trace = json;
  return error.empty() ? ended : error;
}

std::vector<HostTensor> makeInputs(adze_module *module, int64_t size,
                                   std::mt19937_64 &random) {
  std::vector<HostTensor> inputs;
  for (int32_t i = 0; i < adze_module_num_inputs(module); ++i) {
    const adze_value_info *info;
    adze_status_free(adze_module_input(module, i, &info));
    inputs.push_back(makeRandom(*info, size, random));
  }
  return inputs;
}

std::vector<HostTensor> makeInputs(adze_module *module,
                                   ArrayRef<std::vector<int64_t>> dims,
                                   std::mt19937_64 &random) {
  std::vector<HostTensor> inputs;
  for (auto [i, sizes] : llvm::enumerate(dims)) {
    const adze_value_info *info;
    adze_status_free(adze_module_input(module, int32_t(i), &info));
    inputs.push_back(makeRandom(info->dtype, sizes, random));
  }
  return inputs;
}

std::string runBoth(Execution &reference, Execution &compiled,
                    std::vector<HostTensor> inputs) {
  std::string expected = reference.run(inputs);
  return runLike(reference, expected, compiled, std::move(inputs));
}

std::string runLike(const Execution &reference, const std::string &expected,
                    Execution &compiled, std::vector<HostTensor> inputs) {
  std::string got = compiled.run(inputs);
  if (expected.empty() != got.empty())
    return "the run at -O0 " +
           (expected.empty() ? "succeeds" : "fails (" + expected + ")") +
           ", but the other one " +
           (got.empty() ? "succeeds" : "fails (" + got + ")");
  for (size_t i = 0; i < reference.outputs.size(); ++i) {
    std::string difference =
        compare(compiled.outputs[i]->dl_tensor, reference.outputs[i]->dl_tensor,
                reference.isQuantized);
    if (difference.empty())
      continue;
    const adze_value_info *info;
    adze_status_free(adze_module_output(reference.module, int32_t(i), &info));
    return "output '" + std::string(info->name) + "': " + difference;
  }
  return "";
}

} // namespace adze::verify
