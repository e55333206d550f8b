// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Executes modules in this process on the same inputs.
#ifndef ADZE_LIB_VERIFY_EXECUTION_H
#define ADZE_LIB_VERIFY_EXECUTION_H

#include "Pipeline/Compile.h"
#include "Tensors.h"
#include "llvm/ADT/ArrayRef.h"

namespace adze::verify {

/// Dynamic dims are set to the allowed value nearest to one of these sizes.
inline constexpr int64_t sizes[] = {5, 1, 33};

/// Returns the options of a compilation whose module is only for measurements
/// or comparisons: it has no other outputs, and is not cached.
CompileOptions makeTrialOptions(const CompileOptions &options,
                                const std::string &output);

/// A module that is loaded into this process, and the outputs of its last run.
class Execution {
public:
  Execution() = default;
  Execution(const Execution &) = delete;
  ~Execution();

  // These return an error message, or an empty string on success.
  std::string open(const std::string &path, DLDevice device = {kDLCPU, 0});
  std::string run(std::vector<HostTensor> &inputs);

  adze_module *module = nullptr;
  adze_context *context = nullptr;
  bool isQuantized = false; // CompileOptions::isQuantized
  std::vector<DLManagedTensorVersioned *> outputs;

private:
  void releaseOutputs();
};

/// A module on a device, with tensors that stay there.
class DeviceExecution {
public:
  DeviceExecution() = default;
  DeviceExecution(const DeviceExecution &) = delete;
  ~DeviceExecution();

  // These return an error message, or an empty string on success.
  /// Opens the module, copies the inputs to the device, and runs it once.
  std::string open(const std::string &path, DLDevice device,
                   llvm::ArrayRef<std::vector<int64_t>> inputDims);
  std::string run();
  /// Runs once; `trace` is the profile (adze_profile_end).
  std::string profile(std::string &trace);

private:
  std::string copyInputs(DLDevice device);

  Execution execution;
  std::vector<HostTensor> inputs;
  std::vector<DLTensor> placed;
  std::vector<const DLTensor *> ins;
  std::vector<DLTensor *> outs;
};

/// Returns random inputs of the module from a fixed seed.
std::vector<HostTensor> makeInputs(adze_module *module, int64_t size,
                                   std::mt19937_64 &random);

/// Returns random inputs of these dims.
std::vector<HostTensor> makeInputs(adze_module *module,
                                   llvm::ArrayRef<std::vector<int64_t>> dims,
                                   std::mt19937_64 &random);

/// Runs both modules on one set of inputs; returns a description of the first
/// difference, or an empty string.
std::string runBoth(Execution &reference, Execution &compiled,
                    std::vector<HostTensor> inputs);

/// Runs the second module on the inputs of the first one's last run, which
/// ended with the message `expected`; returns a description of the difference,
/// or an empty string.
std::string runLike(const Execution &reference, const std::string &expected,
                    Execution &compiled, std::vector<HostTensor> inputs);

} // namespace adze::verify

#endif // ADZE_LIB_VERIFY_EXECUTION_H
