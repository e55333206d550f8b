// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The compiled form of a partition, which ONNX Runtime runs.
#ifndef ADZE_EP_COMPILEDNODE_H
#define ADZE_EP_COMPILEDNODE_H

#include "Compiler.h"
#include "adze.h"
#include <memory>
#include <mutex>

namespace adze::ep {

/// The traces of one run of a session, collected on the thread that runs it.
struct RunProfile {
  const void *owner; ///< the provider of the session
  std::string file;
  std::vector<std::string> traces;   ///< JSON of adze_profile_end
  std::unique_ptr<RunProfile> outer; ///< of a run around this one
};

/// Begins a profile of the run that this thread does for a provider.
void beginProfile(const void *owner, std::string file);
/// Returns the profile that this thread collects for a provider; null if none
/// was begun.
RunProfile *findProfile(const void *owner);
/// Ends the profile, and writes its traces as one Chrome trace.
void finishProfile(const void *owner);

/// A module that implements a partition. Runs may come from several threads.
class CompiledNode : public OrtNodeComputeInfo {
public:
  /// `inputs` and `outputs` name the values of the fused node. A module has the
  /// same names, possibly in another order.
  CompiledNode(const Api &api, const Options &options, const void *owner,
               const ModuleSource &source,
               const std::vector<std::string> &inputs,
               const std::vector<std::string> &outputs);
  ~CompiledNode();
  CompiledNode(const CompiledNode &) = delete;

private:
  /// A context with the arrays of a call: one run at a time.
  struct Slot;

  void open(const Options &options, const ModuleSource &source);
  std::unique_ptr<Slot> makeSlot();
  std::unique_ptr<Slot> takeSlot();
  void compute(OrtKernelContext *kernel);
  void run(Slot &slot, OrtKernelContext *kernel);
  void runDataDependent(Slot &slot, OrtKernelContext *kernel);
  bool bindInput(Slot &slot, OrtKernelContext *kernel, size_t index);
  void bindOutputs(Slot &slot, OrtKernelContext *kernel);
  void inferShapes(Slot &slot);

  const Api &api;
  const void *owner;
  adze_module *module = nullptr;
  /// The index of each value of the module among those of the fused node.
  std::vector<size_t> inputPlaces, outputPlaces;
  std::mutex mutex; ///< of `idle`
  std::vector<std::unique_ptr<Slot>> idle;
};

} // namespace adze::ep

#endif // ADZE_EP_COMPILEDNODE_H
