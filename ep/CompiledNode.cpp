// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs a module on the tensors of a kernel's context, in place.
#include "CompiledNode.h"
#include <algorithm>
#include <cstring>

namespace fs = std::filesystem;

namespace adze::ep {

static void check(adze_status status) {
  if (!status)
    return;
  OrtErrorCode code = ORT_FAIL;
  switch (adze_status_code(status)) {
  case ADZE_INVALID_ARGUMENT:
    code = ORT_INVALID_ARGUMENT;
    break;
  case ADZE_UNSUPPORTED:
    code = ORT_NOT_IMPLEMENTED;
    break;
  case ADZE_RUN_ERROR:
    code = ORT_RUNTIME_EXCEPTION;
    break;
  default:
    break;
  }
  std::string message = adze_status_message(status);
  adze_status_free(status);
  throw Error(code, std::move(message));
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

struct CompiledNode::Slot {
  Slot() = default;
  Slot(const Slot &) = delete;
  ~Slot() { adze_context_release(context); }

  adze_context *context = nullptr;
  std::vector<DLTensor> inputs, outputs;
  std::vector<const DLTensor *> inputPointers;
  std::vector<DLTensor *> outputPointers;
  std::vector<std::vector<int64_t>> inputDims, outputDims;
  bool isInferred = false, isDataDependent = false;
};

using GetInfo = adze_status (*)(const adze_module *, int32_t,
                                const adze_value_info **);

static std::vector<const adze_value_info *>
getInfos(const adze_module *module, int32_t count, GetInfo get) {
  std::vector<const adze_value_info *> infos(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i)
    check(get(module, i, &infos[static_cast<size_t>(i)]));
  return infos;
}

std::unique_ptr<CompiledNode::Slot> CompiledNode::makeSlot() {
  auto slot = std::make_unique<Slot>();
  check(adze_context_create(module, {kDLCPU, 0}, &slot->context));
  auto fill = [](const std::vector<const adze_value_info *> &infos,
                 std::vector<DLTensor> &tensors, auto &pointers,
                 std::vector<std::vector<int64_t>> &dims) {
    tensors.reserve(infos.size()); // pointers to its elements remain valid
    for (const adze_value_info *info : infos) {
      tensors.push_back(
          {nullptr, {kDLCPU, 0}, info->rank, info->dtype, nullptr, nullptr, 0});
      pointers.push_back(&tensors.back());
      dims.emplace_back(static_cast<size_t>(info->rank));
    }
  };
  fill(getInfos(module, adze_module_num_inputs(module), adze_module_input),
       slot->inputs, slot->inputPointers, slot->inputDims);
  fill(getInfos(module, adze_module_num_outputs(module), adze_module_output),
       slot->outputs, slot->outputPointers, slot->outputDims);
  return slot;
}

std::unique_ptr<CompiledNode::Slot> CompiledNode::takeSlot() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!idle.empty()) {
      std::unique_ptr<Slot> slot = std::move(idle.back());
      idle.pop_back();
      return slot;
    }
  }
  return makeSlot();
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// The kernel context of the current run on this thread. The run time calls its
/// parallel_for on the thread that called the run time.
static thread_local const OrtKernelContext *currentKernel;

/// Implements the run time's parallel_for on the session's threads.
static void runParallel(void *user, int64_t count, adze_task_fn task,
                        void *data) {
  struct Call {
    adze_task_fn task;
    void *data;
  } call = {task, data};
  auto step = [](void *user, size_t index) {
    auto *call = static_cast<Call *>(user);
    auto begin = static_cast<int64_t>(index);
    call->task(call->data, begin, begin + 1);
  };
  auto *api = static_cast<const Api *>(user);
  OrtStatus *status = api->ort.KernelContext_ParallelFor(
      currentKernel, step, static_cast<size_t>(count), 0, &call);
  if (!status)
    return;
  api->ort.ReleaseStatus(status); // none of the steps ran
  task(data, 0, count);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Returns the index in `names` of each value of the module.
static std::vector<size_t>
findPlaces(const std::vector<const adze_value_info *> &infos,
           const std::vector<std::string> &names) {
  std::vector<size_t> places;
  for (const adze_value_info *info : infos) {
    auto found = std::find(names.begin(), names.end(), info->name);
    if (found == names.end())
      throw Error(ORT_INVALID_GRAPH,
                  std::string("expected the node that a module is for to have "
                              "a value '") +
                      info->name + "', but it has none");
    places.push_back(static_cast<size_t>(found - names.begin()));
  }
  return places;
}

void CompiledNode::open(const Options &options, const ModuleSource &source) {
  adze_options *settings = nullptr;
  check(adze_options_create(&settings));
  std::unique_ptr<adze_options, void (*)(adze_options *)> owned(
      settings, adze_options_release);
  for (const auto &[key, value] : options.runtime)
    check(adze_options_set(settings, key.c_str(), value.c_str()));
  if (options.usesSessionThreads)
    check(adze_options_set_parallel_for(settings, runParallel,
                                        const_cast<Api *>(&api)));
  if (auto *path = std::get_if<fs::path>(&source)) {
    check(adze_module_open(path->c_str(), settings, &module));
    return;
  }
  std::string_view bytes = std::get<Bytes>(source).view;
  check(adze_module_open_memory(bytes.data(), bytes.size(), settings, &module));
}

CompiledNode::CompiledNode(const Api &api, const Options &options,
                           const void *owner, const ModuleSource &source,
                           const std::vector<std::string> &inputs,
                           const std::vector<std::string> &outputs)
    : OrtNodeComputeInfo{}, api(api), owner(owner) {
  open(options, source);
  try {
    inputPlaces = findPlaces(
        getInfos(module, adze_module_num_inputs(module), adze_module_input),
        inputs);
    outputPlaces = findPlaces(
        getInfos(module, adze_module_num_outputs(module), adze_module_output),
        outputs);
    idle.push_back(makeSlot());
  } catch (...) {
    adze_module_release(module);
    throw;
  }
  ort_version_supported = kStructVersion;
  // ONNX Runtime shares one state among concurrent runs, which is this object.
  CreateState = [](OrtNodeComputeInfo *self, OrtNodeComputeContext *,
                   void **state) -> OrtStatus * {
    *state = self;
    return nullptr;
  };
  ReleaseState = [](OrtNodeComputeInfo *, void *) {};
  Compute = [](OrtNodeComputeInfo *self, void *,
               OrtKernelContext *kernel) -> OrtStatus * {
    auto *node = static_cast<CompiledNode *>(self);
    return guarded(node->api, [&] { node->compute(kernel); });
  };
}

CompiledNode::~CompiledNode() {
  idle.clear();
  adze_module_release(module);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

void CompiledNode::compute(OrtKernelContext *kernel) {
  // A slot is not reused after a failed run.
  std::unique_ptr<Slot> slot = takeSlot();
  RunProfile *profile = findProfile(owner);
  if (profile)
    check(adze_profile_begin(slot->context));
  const OrtKernelContext *outer = currentKernel;
  currentKernel = kernel;
  try {
    run(*slot, kernel);
  } catch (...) {
    currentKernel = outer;
    throw;
  }
  currentKernel = outer;
  if (profile) {
    const char *json = nullptr;
    check(adze_profile_end(slot->context, &json));
    profile->traces.push_back(json);
  }
  std::lock_guard<std::mutex> lock(mutex);
  idle.push_back(std::move(slot));
}

/// Returns true if the input has the dims of this slot's last run.
bool CompiledNode::bindInput(Slot &slot, OrtKernelContext *kernel,
                             size_t index) {
  const OrtValue *value = nullptr;
  const void *data = nullptr;
  check(api,
        api.ort.KernelContext_GetInput(kernel, inputPlaces[index], &value));
  check(api, api.ort.GetTensorData(value, &data));
  slot.inputs[index].data = const_cast<void *>(data);
  std::vector<int64_t> &dims = slot.inputDims[index], copy;
  const int64_t *shape = nullptr;
  size_t rank = 0;
  if (api.ort.GetTensorElementTypeAndShapeDataReference) { // no allocation
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    check(api, api.ort.GetTensorElementTypeAndShapeDataReference(
                   value, &type, &shape, &rank));
  } else {
    OrtTensorTypeAndShapeInfo *info = nullptr;
    check(api, api.ort.GetTensorTypeAndShape(value, &info));
    check(api, api.ort.GetDimensionsCount(info, &rank));
    copy.resize(rank);
    check(api, api.ort.GetDimensions(info, copy.data(), rank));
    api.ort.ReleaseTensorTypeAndShapeInfo(info);
    shape = copy.data();
  }
  if (dims.size() == rank && std::equal(dims.begin(), dims.end(), shape))
    return true;
  dims.assign(shape, shape + rank);
  return false;
}

void CompiledNode::inferShapes(Slot &slot) {
  slot.isInferred = slot.isDataDependent = false;
  std::vector<adze_shape> inputs, outputs;
  for (size_t i = 0; i < slot.inputs.size(); ++i) {
    std::vector<int64_t> &dims = slot.inputDims[i];
    inputs.push_back({static_cast<int32_t>(dims.size()), dims.data()});
    slot.inputs[i].ndim = inputs[i].rank;
    slot.inputs[i].shape = inputs[i].dims;
  }
  for (std::vector<int64_t> &dims : slot.outputDims)
    outputs.push_back({static_cast<int32_t>(dims.size()), dims.data()});
  check(adze_infer_shapes(module, inputs.data(),
                          static_cast<int32_t>(inputs.size()), outputs.data(),
                          static_cast<int32_t>(outputs.size()), nullptr));
  for (const std::vector<int64_t> &dims : slot.outputDims)
    for (int64_t dim : dims)
      slot.isDataDependent |= dim < 0;
  slot.isInferred = true;
}

/// Requests the outputs from ONNX Runtime, which allocates them or returns the
/// caller's bound memory.
void CompiledNode::bindOutputs(Slot &slot, OrtKernelContext *kernel) {
  for (size_t i = 0; i < slot.outputs.size(); ++i) {
    OrtValue *value = nullptr;
    std::vector<int64_t> &dims = slot.outputDims[i];
    check(api, api.ort.KernelContext_GetOutput(
                   kernel, outputPlaces[i], dims.data(), dims.size(), &value));
    check(api, api.ort.GetTensorMutableData(value, &slot.outputs[i].data));
    slot.outputs[i].shape = dims.data();
  }
}

void CompiledNode::run(Slot &slot, OrtKernelContext *kernel) {
  bool isSame = slot.isInferred;
  for (size_t i = 0; i < slot.inputs.size(); ++i)
    isSame &= bindInput(slot, kernel, i);
  if (!isSame)
    inferShapes(slot);
  if (slot.isDataDependent)
    return runDataDependent(slot, kernel);
  bindOutputs(slot, kernel);
  check(adze_run(slot.context, slot.inputPointers.data(),
                 static_cast<int32_t>(slot.inputs.size()),
                 slot.outputPointers.data(),
                 static_cast<int32_t>(slot.outputs.size())));
}

static size_t getBytes(const DLTensor &tensor) {
  size_t bits = tensor.dtype.bits;
  for (int32_t i = 0; i < tensor.ndim; ++i)
    bits *= static_cast<size_t>(tensor.shape[i]);
  return (bits + 7) / 8;
}

/// Copies outputs in the module's memory: ONNX Runtime accepts no foreign
/// memory as an output.
void CompiledNode::runDataDependent(Slot &slot, OrtKernelContext *kernel) {
  std::vector<DLManagedTensorVersioned *> results(slot.outputs.size());
  check(adze_run_alloc(slot.context, slot.inputPointers.data(),
                       static_cast<int32_t>(slot.inputs.size()), results.data(),
                       static_cast<int32_t>(results.size())));
  OrtStatus *failure = nullptr;
  for (size_t i = 0; i < results.size(); ++i) {
    const DLTensor &result = results[i]->dl_tensor;
    OrtValue *value = nullptr;
    void *data = nullptr;
    if (!failure)
      failure = api.ort.KernelContext_GetOutput(
          kernel, outputPlaces[i], result.shape,
          static_cast<size_t>(result.ndim), &value);
    if (!failure)
      failure = api.ort.GetTensorMutableData(value, &data);
    if (size_t bytes = getBytes(result); !failure && bytes)
      memcpy(data, static_cast<char *>(result.data) + result.byte_offset,
             bytes);
    results[i]->deleter(results[i]);
  }
  check(api, failure);
}

} // namespace adze::ep
