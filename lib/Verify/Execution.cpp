// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Executes modules in this process on the same inputs.
#include "Execution.h"

namespace adze::verify {

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

std::string Execution::open(const std::string &path) {
  std::string error = take(adze_module_open(path.c_str(), nullptr, &module));
  return error.empty()
             ? take(adze_context_create(module, {kDLCPU, 0}, &context))
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
