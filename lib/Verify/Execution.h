// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Modules in this process, run on the same inputs.
#ifndef ADZE_LIB_VERIFY_EXECUTION_H
#define ADZE_LIB_VERIFY_EXECUTION_H

#include "Tensors.h"
#include "llvm/ADT/ArrayRef.h"

namespace adze::verify {

/// Sizes near which dynamic dims are.
inline constexpr int64_t sizes[] = {5, 1, 33};

/// A module in this process, and the outputs of its last run.
class Execution {
public:
  Execution() = default;
  Execution(const Execution &) = delete;
  ~Execution();

  /// Returns the message of what went wrong; empty if nothing did.
  std::string open(const std::string &path);
  std::string run(std::vector<HostTensor> &inputs);

  adze_module *module = nullptr;
  adze_context *context = nullptr;
  bool isQuantized = false; // CompileOptions::isQuantized
  std::vector<DLManagedTensorVersioned *> outputs;

private:
  void releaseOutputs();
};

/// Seeded random inputs of the module.
std::vector<HostTensor> makeInputs(adze_module *module, int64_t size,
                                   std::mt19937_64 &random);

/// Runs both on one set of inputs; returns how they differ, or nothing.
std::string runBoth(Execution &reference, Execution &compiled,
                    std::vector<HostTensor> inputs);

/// Runs the second module on the inputs of the first one's last run, which
/// ended with the message `expected`; returns how they differ, or nothing.
std::string runLike(const Execution &reference, const std::string &expected,
                    Execution &compiled, std::vector<HostTensor> inputs);

} // namespace adze::verify

#endif // ADZE_LIB_VERIFY_EXECUTION_H
