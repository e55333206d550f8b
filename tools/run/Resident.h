// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs whose tensors stay on a CUDA device.

#ifndef ADZE_TOOLS_RUN_RESIDENT_H
#define ADZE_TOOLS_RUN_RESIDENT_H

#include "Tensor.h"

#include <memory>

namespace adze::run {

/// Copies of a run's tensors on a device, and run times measured by events of
/// the driver.
class Resident {
public:
  Resident();
  ~Resident();
  Resident(const Resident &) = delete;

  /// Allocates the tensors on the device and copies the inputs from the CPU.
  Error create(int32_t ordinal, const std::vector<DLTensor> &inputs,
               const std::vector<DLTensor> &outputs);
  /// Runs once; sets `ms` to the time on the device.
  Error run(adze_context *context, double &ms);

private:
  struct Driver;

  Error place(const std::vector<DLTensor> &tensors, bool copies,
              std::vector<DLTensor> &placed);

  std::unique_ptr<Driver> driver;
  int32_t ordinal = 0;
  std::vector<DLTensor> inputs, outputs;
};

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_RESIDENT_H
