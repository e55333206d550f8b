// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A compiled module against the reference path's, on random inputs.
#include "Verify/Differential.h"
#include "Support/OutputFile.h"
#include "Tensors.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

namespace adze {

using verify::HostTensor;

namespace {
/// A module in this process, and the outputs of its last run.
class Execution {
public:
  ~Execution() {
    releaseOutputs();
    adze_context_release(context);
    adze_module_release(module);
  }

  /// The message of what went wrong; empty if nothing did.
  std::string open(const std::string &path) {
    std::string error = take(adze_module_open(path.c_str(), nullptr, &module));
    return error.empty()
               ? take(adze_context_create(module, {kDLCPU, 0}, &context))
               : error;
  }

  std::string run(std::vector<HostTensor> &inputs) {
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

  static std::string take(adze_status status) {
    std::string message = adze_status_message(status);
    adze_status_free(status);
    return message;
  }

  adze_module *module = nullptr;
  adze_context *context = nullptr;
  std::vector<DLManagedTensorVersioned *> outputs;

private:
  void releaseOutputs() {
    for (DLManagedTensorVersioned *output : outputs)
      output->deleter(output);
    outputs.clear();
  }
};
} // namespace

/// The model of `options` by the reference path, for this machine.
static CompileStatus compileReference(const CompileOptions &options,
                                      const std::string &output,
                                      llvm::raw_ostream &diagnostics) {
  CompileOptions reference = options;
  reference.output = output;
  reference.optLevel = 0;
  reference.tune = Tune::Off;
  reference.cpu = true;
  reference.cpus = {"native"};
  reference.triple.clear();
  reference.cudaTargets.clear();
  reference.stats = reference.timing = reference.injectFault = false;
  reference.dumpPhases.clear();
  reference.report.clear();
  reference.externalWeights.clear();
  return compile(reference, diagnostics);
}

static std::vector<HostTensor> makeInputs(adze_module *module, int64_t size,
                                          std::mt19937_64 &random) {
  std::vector<HostTensor> inputs;
  for (int32_t i = 0; i < adze_module_num_inputs(module); ++i) {
    const adze_value_info *info;
    adze_status_free(adze_module_input(module, i, &info));
    inputs.push_back(verify::makeRandom(*info, size, random));
  }
  return inputs;
}

/// Both runs of one set of inputs; the message of how they differ.
static std::string runBoth(Execution &reference, Execution &compiled,
                           std::vector<HostTensor> inputs) {
  std::string expected = reference.run(inputs), got = compiled.run(inputs);
  if (expected.empty() != got.empty())
    return "the run at -O0 " +
           (expected.empty() ? "succeeds" : "fails (" + expected + ")") +
           ", but the other one " +
           (got.empty() ? "succeeds" : "fails (" + got + ")");
  for (size_t i = 0; i < reference.outputs.size(); ++i) {
    std::string difference = verify::compare(compiled.outputs[i]->dl_tensor,
                                             reference.outputs[i]->dl_tensor);
    if (difference.empty())
      continue;
    const adze_value_info *info;
    adze_status_free(adze_module_output(reference.module, int32_t(i), &info));
    return "output '" + std::string(info->name) + "': " + difference;
  }
  return "";
}

CompileStatus verifyDifferential(const CompileOptions &options,
                                 llvm::raw_ostream &diagnostics) {
  std::string path;
  if (std::error_code code = createTemporary("adze-reference", "so", path)) {
    diagnostics << "error: " << code.message() << "\n";
    return CompileStatus::InputAtFault;
  }
  llvm::scope_exit remover([&] { removeTemporary(path); });
  CompileStatus status = compileReference(options, path, diagnostics);
  if (status != CompileStatus::Done)
    return status;
  Execution reference, compiled;
  for (auto [execution, file] :
       {std::pair(&reference, path), std::pair(&compiled, options.output)})
    if (std::string error = execution->open(file); !error.empty()) {
      diagnostics << "error: unsupported: --verify=differential of a module "
                     "that does not run here: "
                  << error << "\n";
      return CompileStatus::Unsupported;
    }
  std::mt19937_64 random(1);
  for (int64_t size : {5, 1, 33}) {
    std::string difference = runBoth(
        reference, compiled, makeInputs(reference.module, size, random));
    if (difference.empty())
      continue;
    diagnostics << "error: " << options.input
                << ": the module differs from the reference path (seed 1, "
                   "dynamic dims near "
                << size << "): " << difference << "\n";
    llvm::sys::fs::remove(options.output);
    if (!options.externalWeights.empty())
      llvm::sys::fs::remove(options.externalWeights);
    return CompileStatus::Defect;
  }
  return CompileStatus::Done;
}

} // namespace adze
