// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs a module for the command line: prepares its inputs, runs it, and
// compares and writes its outputs.

#ifndef ADZE_TOOLS_RUN_RUN_H
#define ADZE_TOOLS_RUN_RUN_H

#include "Arguments.h"
#include "Resident.h"
#include "Value.h"

#include <memory>

namespace adze::run {

/// Returns the milliseconds of a monotonic clock.
double nowMs();

class Session {
public:
  Error open(const Arguments &arguments);
  Error createContext(const Arguments &arguments);
  Error gatherInputs(const Arguments &arguments);
  Error allocateOutputs();
  Error runOnce();
  /// Runs once with tensors on the device, which the first call creates; `ms`
  /// is the time by the device's events.
  Error runResident(const Arguments &arguments, double &ms);
  /// Returns true if tensors can be kept on a device: all values are tensors of
  /// known sizes.
  bool canStay() const { return onlyTensors && !runAllocates; }
  /// Compares the outputs with expected ones; adds one line per output to
  /// `report`.
  Error check(const Arguments &arguments, std::string &report) const;
  Error writeOutputs(const Arguments &arguments) const;
  /// Records further runs; sets `trace` to one Chrome trace of all of them.
  Error profile(int64_t runs, std::string &trace);

  adze_module *getModule() const { return module.get(); }
  adze_context *getContext() const { return context.get(); }
  double getLoadMs() const { return loadMs; }
  std::string describe() const;

private:
  struct Release {
    void operator()(adze_module *module) const { adze_module_release(module); }
    void operator()(adze_context *context) const {
      adze_context_release(context);
    }
  };
  struct Expected {
    size_t output;
    Value value;
  };

  Error readInputs(const Arguments &arguments);
  Error readTestDir(const std::string &dir);
  Error setInput(const std::string &path, size_t index, Value value);
  Error fillInputs(const Arguments &arguments);
  void bindSymbols(const Arguments &arguments);
  std::vector<int64_t> shapeOf(size_t input, const Arguments &arguments) const;
  Error findInput(const std::string &name, size_t &index) const;
  Error findOutput(const std::string &name, size_t &index) const;
  Error inferOutputs();
  Error prepareValues();
  Error runValues();
  Error runAllocating(const std::vector<const DLTensor *> &in);

  std::unique_ptr<adze_module, Release> module;
  std::unique_ptr<adze_context, Release> context;
  double loadMs = 0;
  std::vector<const adze_value_info *> inputInfos, outputInfos;
  std::vector<std::optional<Value>> inputs;
  std::vector<Value> outputs;
  std::vector<Expected> expected;
  /// Values of named dims, from --shape and the inputs' files.
  std::vector<std::pair<std::string, int64_t>> symbols;
  std::vector<DLTensor> inputViews, outputViews;
  /// Used if the signature has types other than tensors.
  std::vector<ValueHandle> inputHandles;
  std::unique_ptr<Resident> resident;
  bool onlyTensors = true;
  /// The size of an output is only known after the run.
  bool runAllocates = false;
};

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_RUN_H
