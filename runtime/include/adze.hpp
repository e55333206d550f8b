// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The C++17 API of the Adze run time: a header-only wrapper of adze.h with RAII
// handles, exceptions instead of statuses, and results by value.
//
//   adze::Module module = adze::Module::open("model.so");
//   adze::Context context = module.createContext();
//   std::vector<float> image(1 * 3 * 224 * 224);
//   std::vector<adze::Tensor> outputs =
//       context.run({adze::view(image.data(), {1, 3, 224, 224})});
//   adze::Span<const float> scores = outputs[0].elements<float>();
//
// Every function that can fail throws adze::Error. Any number of threads may
// use a Module concurrently, but only one at a time a Context. Moving a handle
// is cheap; copies of a Module or a Value share it. adze.h documents the checks
// of each call.
#ifndef ADZE_HPP
#define ADZE_HPP

#include "adze.h"

#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace adze {

/// An error status as an exception. what() names the input or the ONNX node.
class Error : public std::runtime_error {
public:
  Error(adze_code code, const std::string &message)
      : std::runtime_error(message), errorCode(code) {}
  adze_code code() const noexcept { return errorCode; }

private:
  adze_code errorCode;
};

/// Throws Error for a status other than success, and frees the status.
inline void check(adze_status status) {
  if (!status)
    return;
  Error error(adze_status_code(status), adze_status_message(status));
  adze_status_free(status);
  throw error;
}

/// A view of contiguous elements, like std::span of C++20.
template <typename T>
class Span {
public:
  Span(T *data, size_t size) : first(data), count(size) {}
  T *data() const { return first; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *begin() const { return first; }
  T *end() const { return first + count; }
  T &operator[](size_t index) const { return first[index]; }

private:
  T *first;
  size_t count;
};

/// Sizes of a tensor's dimensions, outermost first.
using Shape = std::vector<int64_t>;

inline size_t numElements(const Shape &shape) {
  size_t count = 1;
  for (int64_t dim : shape)
    count *= static_cast<size_t>(dim);
  return count;
}

/// Returns DLPack's element type of a C++ type. For f16 and bf16, which C++17
/// lacks, pass a DLDataType.
template <typename T>
constexpr DLDataType dtypeOf() {
  static_assert(std::is_arithmetic_v<T>, "expected a number or bool");
  return {static_cast<uint8_t>(std::is_same_v<T, bool>       ? kDLBool
                               : std::is_floating_point_v<T> ? kDLFloat
                               : std::is_signed_v<T>         ? kDLInt
                                                             : kDLUInt),
          sizeof(T) * 8, 1};
}

inline bool isSameType(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/// Returns the name of an element type: "f32", "bf16", "i64" or "bool".
inline std::string nameOf(DLDataType type) {
  switch (type.code) {
  case kDLBool:
    return "bool";
  case kDLInt:
    return "i" + std::to_string(type.bits);
  case kDLUInt:
    return "u" + std::to_string(type.bits);
  case kDLFloat:
    return "f" + std::to_string(type.bits);
  case kDLBfloat:
    return "bf" + std::to_string(type.bits);
  }
  return "DLPack type " + std::to_string(type.code) + " of " +
         std::to_string(type.bits) + " bits";
}

constexpr DLDevice cpu() { return {kDLCPU, 0}; }
constexpr DLDevice cuda(int32_t ordinal = 0) { return {kDLCUDA, ordinal}; }

/// A dense, row-major tensor in memory that the caller owns. `Data` is `void`
/// for outputs, `const void` for inputs.
template <typename Data>
class BasicView {
public:
  BasicView(Data *data, DLDataType dtype, Shape shape, DLDevice device = cpu())
      : memory(data), elementType(dtype), dims(std::move(shape)),
        place(device) {}
  template <typename Other,
            typename = std::enable_if_t<std::is_convertible_v<Other *, Data *>>>
  BasicView(const BasicView<Other> &other)
      : BasicView(other.data(), other.dtype(), other.shape(), other.device()) {}

  Data *data() const { return memory; }
  DLDataType dtype() const { return elementType; }
  const Shape &shape() const { return dims; }
  DLDevice device() const { return place; }

  /// Returns the tensor for adze.h, which refers to this view.
  DLTensor dlpack() const {
    return {const_cast<void *>(static_cast<const void *>(memory)),
            place,
            static_cast<int32_t>(dims.size()),
            elementType,
            const_cast<int64_t *>(dims.data()),
            nullptr,
            0};
  }

private:
  Data *memory;
  DLDataType elementType;
  Shape dims;
  DLDevice place;
};
using View = BasicView<void>;
using ConstView = BasicView<const void>;

/// Returns a view of elements of a C++ type.
template <typename T>
View view(T *data, Shape shape, DLDevice device = cpu()) {
  return {data, dtypeOf<T>(), std::move(shape), device};
}
template <typename T>
ConstView view(const T *data, Shape shape, DLDevice device = cpu()) {
  return {data, dtypeOf<T>(), std::move(shape), device};
}

/// A tensor that a run allocated. The object releases it, and may outlive the
/// context and the module.
class Tensor {
public:
  explicit Tensor(DLManagedTensorVersioned *tensor) : handle(tensor) {}

  const DLTensor &dlpack() const { return handle->dl_tensor; }
  DLDataType dtype() const { return dlpack().dtype; }
  DLDevice device() const { return dlpack().device; }
  Shape shape() const {
    return Shape(dlpack().shape, dlpack().shape + dlpack().ndim);
  }
  /// Returns the elements of a tensor in host memory, in row-major order.
  /// Throws if T is not its element type.
  template <typename T>
  Span<const T> elements() const {
    if (!isSameType(dtype(), dtypeOf<T>()) || device().device_type != kDLCPU)
      throw Error(ADZE_INVALID_ARGUMENT,
                  "expected a tensor of " + nameOf(dtypeOf<T>()) +
                      " in host memory, but got one of " + nameOf(dtype()) +
                      (device().device_type == kDLCPU ? "" : " on a device"));
    const char *data = static_cast<const char *>(dlpack().data);
    return {reinterpret_cast<const T *>(data + dlpack().byte_offset),
            numElements(shape())};
  }
  /// Releases ownership of the tensor; the caller must call its deleter.
  DLManagedTensorVersioned *release() { return handle.release(); }
  operator ConstView() const {
    return {static_cast<const char *>(dlpack().data) + dlpack().byte_offset,
            dtype(), shape(), device()};
  }

private:
  struct Delete {
    void operator()(DLManagedTensorVersioned *tensor) const {
      if (tensor->deleter)
        tensor->deleter(tensor);
    }
  };
  std::unique_ptr<DLManagedTensorVersioned, Delete> handle;
};

/// One input or output of a module. A dim of -1 is dynamic; `symbols` has its
/// name, or "".
struct ValueInfo {
  std::string name;
  adze_kind kind;
  DLDataType dtype;
  Shape dims;
  std::vector<std::string> symbols;
  std::vector<adze_range> ranges;
  std::string type; // in ONNX's notation; "" if dtype has the type
};

/// Options of Module::open. adze.h lists the keys.
class Options {
public:
  using Log = std::function<void(adze_log_level, const std::string &)>;

  Options() {
    adze_options *options;
    check(adze_options_create(&options));
    handle.reset(options);
  }
  Options &set(const char *key, const std::string &value) {
    check(adze_options_set(handle.get(), key, value.c_str()));
    return *this;
  }
  Options &setThreads(int threads) {
    return set("threads", std::to_string(threads));
  }
  /// `log` must not throw. It must outlive the modules and contexts that use
  /// it.
  Options &setLog(Log log) {
    logger = std::make_shared<Log>(std::move(log));
    check(adze_options_set_log(
        handle.get(),
        [](void *user, adze_log_level level, const char *message) {
          (*static_cast<Log *>(user))(level, message);
        },
        logger.get()));
    return *this;
  }
  adze_options *get() const { return handle.get(); }

private:
  friend class Module;
  struct Release {
    void operator()(adze_options *options) const {
      adze_options_release(options);
    }
  };
  std::unique_ptr<adze_options, Release> handle;
  std::shared_ptr<Log> logger;
};

/// Any value of a signature: a tensor, strings, a sequence, a map or an
/// optional. It is immutable; copies share it.
class Value {
public:
  /// Takes ownership of a reference; nullptr is the "none" of an optional.
  explicit Value(adze_value *value = nullptr) : handle(value, &release) {}

  static Value fromTensor(Tensor tensor) {
    adze_value *value;
    check(adze_value_from_dlpack(tensor.release(), &value));
    return Value(value);
  }
  /// Copies a tensor in host memory.
  static Value copyOf(const ConstView &tensor) {
    DLTensor view = tensor.dlpack();
    adze_value *value;
    check(adze_value_from_tensor(&view, &value));
    return Value(value);
  }
  static Value fromStrings(const std::vector<std::string> &strings,
                           const Shape &shape) {
    if (strings.size() != numElements(shape))
      throw Error(ADZE_INVALID_ARGUMENT, "expected as many strings as the "
                                         "shape has elements");
    std::vector<const char *> texts;
    std::vector<size_t> lengths;
    for (const std::string &string : strings) {
      texts.push_back(string.data());
      lengths.push_back(string.size());
    }
    adze_value *value;
    check(adze_value_from_strings(texts.data(), lengths.data(), shape.data(),
                                  static_cast<int32_t>(shape.size()), &value));
    return Value(value);
  }
  static Value fromSequence(const std::vector<Value> &elements) {
    std::vector<adze_value *> handles = getHandles(elements);
    adze_value *value;
    check(adze_value_from_sequence(handles.data(), handles.size(), &value));
    return Value(value);
  }
  static Value fromMap(const Value &keys, const std::vector<Value> &values) {
    std::vector<adze_value *> handles = getHandles(values);
    adze_value *value;
    check(adze_value_from_map(keys.get(), handles.data(), handles.size(),
                              &value));
    return Value(value);
  }
  static Value fromOptional(const Value &element) {
    adze_value *value;
    check(adze_value_from_optional(element.get(), &value));
    return Value(value);
  }

  adze_kind kind() const { return adze_value_kind(get()); }
  /// Returns a tensor that shares the value's memory.
  Tensor tensor() const {
    DLManagedTensorVersioned *tensor;
    check(adze_value_as_dlpack(get(), &tensor));
    return Tensor(tensor);
  }
  std::vector<std::string> strings() const {
    const char *const *texts;
    const size_t *lengths;
    size_t count;
    check(adze_value_strings(get(), &texts, &lengths, &count));
    std::vector<std::string> strings;
    for (size_t i = 0; i < count; ++i)
      strings.emplace_back(texts[i], lengths[i]);
    return strings;
  }
  /// Returns the shape of a tensor or of strings.
  Shape shape() const {
    int32_t rank;
    const int64_t *dims;
    check(adze_value_shape(get(), &rank, &dims));
    return Shape(dims, dims + rank);
  }
  std::vector<Value> sequence() const {
    size_t count;
    check(adze_value_sequence_size(get(), &count));
    std::vector<Value> elements;
    for (size_t i = 0; i < count; ++i) {
      adze_value *element;
      check(adze_value_sequence_get(get(), i, &element));
      elements.emplace_back(element);
    }
    return elements;
  }
  /// Returns the keys of a map and a sequence of its values.
  std::pair<Value, Value> map() const {
    adze_value *keys, *values;
    check(adze_value_map_get(get(), &keys, &values));
    return {Value(keys), Value(values)};
  }
  bool hasElement() const {
    int32_t has;
    check(adze_value_optional_has(get(), &has));
    return has != 0;
  }
  Value element() const {
    adze_value *element;
    check(adze_value_optional_get(get(), &element));
    return Value(element);
  }
  adze_value *get() const { return handle.get(); }

private:
  static void release(adze_value *value) {
    if (value)
      adze_value_release(value);
  }
  static std::vector<adze_value *>
  getHandles(const std::vector<Value> &values) {
    std::vector<adze_value *> handles;
    for (const Value &value : values)
      handles.push_back(value.get());
    return handles;
  }
  std::shared_ptr<adze_value> handle;
};

/// One call of an operator of the program (Module::registerOperator); valid
/// until the function returns.
class Call {
public:
  explicit Call(adze_call *call) : handle(call) {}

  /// Returns the operator, "com.example.Clip", and the name of its node.
  std::string operatorName() const { return adze_call_operator(handle); }
  std::string node() const { return adze_call_node(handle); }
  int32_t numInputs() const { return adze_call_num_inputs(handle); }
  int32_t numOutputs() const { return adze_call_num_outputs(handle); }

  /// Returns true if the node has the attribute.
  bool hasAttribute(const char *name) const {
    return adze_call_attribute(handle, name) != nullptr;
  }
  /// Returns an attribute: T is int64_t, float, std::string or a vector of
  /// these. Throws if the node has no attribute of this name and type.
  template <typename T>
  T attribute(const char *name) const {
    const adze_attribute *found = adze_call_attribute(handle, name);
    T value;
    if (!found || !read(*found, value))
      throw Error(ADZE_INVALID_ARGUMENT,
                  std::string("expected the attribute '") + name +
                      "' of another type");
    return value;
  }
  /// Does the same, with a value for nodes without the attribute.
  template <typename T>
  T attribute(const char *name, T otherwise) const {
    return hasAttribute(name) ? attribute<T>(name) : otherwise;
  }

  /// Returns false if the node omits the input.
  bool hasInput(int32_t index) const {
    return adze_call_input(handle, index) != nullptr;
  }
  /// Returns an input of the node, a tensor of numbers in host memory.
  ConstView input(int32_t index) const {
    const DLTensor *tensor = adze_call_input(handle, index);
    if (!tensor)
      throw Error(ADZE_INVALID_ARGUMENT,
                  "expected input " + std::to_string(index) +
                      " to be present, as a tensor of numbers");
    return {tensor->data, tensor->dtype,
            Shape(tensor->shape, tensor->shape + tensor->ndim)};
  }
  /// Returns its elements in row-major order. Throws if T is not its element
  /// type.
  template <typename T>
  Span<const T> elements(int32_t index) const {
    ConstView view = input(index);
    return {castElements<const T>(view.data(), view.dtype()),
            numElements(view.shape())};
  }
  /// Returns an input of any kind; a tensor is copied.
  Value inputValue(int32_t index) const {
    adze_value *value;
    check(adze_call_input_value(handle, index, &value));
    return Value(value);
  }

  /// Returns the shape of an output; -1 for a data-dependent dim.
  Shape outputShape(int32_t index) const {
    const DLTensor *type = adze_call_output_type(handle, index);
    if (!type)
      throw Error(ADZE_INVALID_ARGUMENT, "expected the index of an output");
    return Shape(type->shape, type->shape + type->ndim);
  }
  /// Allocates the elements of an output of this shape, at most once for each
  /// output. Throws if T is not its element type.
  template <typename T>
  Span<T> output(int32_t index, const Shape &shape) {
    if (size_t rank = outputShape(index).size(); rank != shape.size())
      throw Error(ADZE_INVALID_ARGUMENT,
                  "output " + std::to_string(index) + ": expected rank " +
                      std::to_string(rank) + ", but got " +
                      std::to_string(shape.size()));
    DLTensor *tensor;
    check(adze_call_output(handle, index, shape.data(), &tensor));
    return {castElements<T>(tensor->data, tensor->dtype), numElements(shape)};
  }
  /// Does the same, with the shape that the operator's declaration implies.
  template <typename T>
  Span<T> output(int32_t index) {
    return output<T>(index, outputShape(index));
  }
  /// Sets the output to this value: a tensor in host memory, or strings.
  void setOutput(int32_t index, const Value &value) {
    check(adze_call_set_output(handle, index, value.get()));
  }
  adze_call *get() const { return handle; }

private:
  template <typename T>
  static T *castElements(
      std::conditional_t<std::is_const_v<T>, const void *, void *> data,
      DLDataType dtype) {
    if (!isSameType(dtype, dtypeOf<std::remove_const_t<T>>()))
      throw Error(ADZE_INVALID_ARGUMENT,
                  "expected a tensor of " +
                      nameOf(dtypeOf<std::remove_const_t<T>>()) +
                      ", but got one of " + nameOf(dtype));
    return static_cast<T *>(data);
  }
  static bool read(const adze_attribute &attribute, int64_t &value) {
    if (attribute.kind != ADZE_ATTRIBUTE_INT)
      return false;
    value = *attribute.ints;
    return true;
  }
  static bool read(const adze_attribute &attribute, float &value) {
    if (attribute.kind != ADZE_ATTRIBUTE_FLOAT)
      return false;
    value = *attribute.floats;
    return true;
  }
  static bool read(const adze_attribute &attribute, std::string &value) {
    if (attribute.kind != ADZE_ATTRIBUTE_STRING)
      return false;
    value.assign(attribute.strings->text, attribute.strings->length);
    return true;
  }
  static bool read(const adze_attribute &attribute,
                   std::vector<int64_t> &values) {
    if (attribute.kind != ADZE_ATTRIBUTE_INTS)
      return false;
    values.assign(attribute.ints, attribute.ints + attribute.count);
    return true;
  }
  static bool read(const adze_attribute &attribute,
                   std::vector<float> &values) {
    if (attribute.kind != ADZE_ATTRIBUTE_FLOATS)
      return false;
    values.assign(attribute.floats, attribute.floats + attribute.count);
    return true;
  }
  static bool read(const adze_attribute &attribute,
                   std::vector<std::string> &values) {
    if (attribute.kind != ADZE_ATTRIBUTE_STRINGS)
      return false;
    for (size_t i = 0; i < attribute.count; ++i)
      values.emplace_back(attribute.strings[i].text,
                          attribute.strings[i].length);
    return true;
  }

  adze_call *handle;
};

/// The resources of one run at a time: working memory and, on a device, a
/// stream.
class Context {
public:
  /// Runs the module, and writes to memory of the caller. It allocates only the
  /// vectors; adze_run allocates nothing.
  void run(const std::vector<ConstView> &inputs,
           const std::vector<View> &outputs) {
    Tensors in(inputs), out(outputs);
    check(adze_run(get(), in.handles(), in.count(), out.mutableHandles(),
                   out.count()));
  }
  /// Runs the module, and returns new outputs, also of data-dependent shapes.
  std::vector<Tensor> run(const std::vector<ConstView> &inputs) {
    Tensors in(inputs);
    std::vector<DLManagedTensorVersioned *> handles(numOutputs);
    check(adze_run_alloc(get(), in.handles(), in.count(), handles.data(),
                         static_cast<int32_t>(handles.size())));
    std::vector<Tensor> outputs;
    for (DLManagedTensorVersioned *tensor : handles)
      outputs.emplace_back(tensor);
    return outputs;
  }
  /// Enqueues a run on a CUstream; the memory of the views must be valid until
  /// the run is complete.
  void runAsync(const std::vector<ConstView> &inputs,
                const std::vector<View> &outputs, void *stream) {
    Tensors in(inputs), out(outputs);
    check(adze_run_async(get(), in.handles(), in.count(), out.mutableHandles(),
                         out.count(), stream));
  }
  /// Runs a module of any signature.
  std::vector<Value> runValues(const std::vector<Value> &inputs) {
    std::vector<const adze_value *> in;
    for (const Value &value : inputs)
      in.push_back(value.get());
    std::vector<adze_value *> out(numOutputs);
    check(adze_run_values(get(), in.data(), static_cast<int32_t>(in.size()),
                          out.data(), static_cast<int32_t>(out.size())));
    std::vector<Value> outputs;
    for (adze_value *value : out)
      outputs.emplace_back(value);
    return outputs;
  }

  /// Sets the value of an overridable weight for runs of this context. Any
  /// number of contexts may share a value.
  void overrideWeight(const std::string &name, const Value &value) {
    check(adze_context_override(get(), name.c_str(), value.get()));
  }
  /// Restores the model's own value.
  void restoreWeight(const std::string &name) {
    check(adze_context_override(get(), name.c_str(), nullptr));
  }

  /// Creates a context of the same module and device, for another thread.
  Context clone() const {
    adze_context *clone;
    check(adze_context_clone(get(), &clone));
    return Context(clone, numOutputs, keep);
  }
  /// Returns the bytes for the largest shapes that the module allows; throws
  /// ADZE_UNSUPPORTED if there is no bound.
  uint64_t workspaceSize() const {
    uint64_t bytes;
    check(adze_context_workspace_size(get(), &bytes));
    return bytes;
  }
  void bindWorkspace(void *workspace, uint64_t bytes) {
    check(adze_context_bind_workspace(get(), workspace, bytes));
  }
  /// Releases memory of a context.
  class MemoryDeleter {
  public:
    MemoryDeleter(adze_context *context, uint64_t bytes)
        : context(context), bytes(bytes) {}
    void operator()(void *data) const {
      adze_memory_release(context, data, bytes);
    }

  private:
    adze_context *context;
    uint64_t bytes;
  };
  using Memory = std::unique_ptr<void, MemoryDeleter>;
  /// Allocates zeroed memory on the device; the context must outlive it.
  Memory allocateMemory(uint64_t bytes) {
    void *data = nullptr;
    check(adze_memory_allocate(get(), bytes, &data));
    return Memory(data, MemoryDeleter(get(), bytes));
  }
  void clearMemory(void *data, uint64_t bytes) {
    check(adze_memory_clear(get(), data, bytes));
  }
  /// Copies between memory of the host and of the device, in any direction.
  void copyMemory(void *to, const void *from, uint64_t bytes) {
    check(adze_memory_copy(get(), to, 0, from, 0, bytes, 1));
  }
  void beginProfile() { check(adze_profile_begin(get())); }
  /// Returns a Chrome trace of the runs since beginProfile.
  std::string endProfile() {
    const char *json;
    check(adze_profile_end(get(), &json));
    return json;
  }
  adze_memory_info memoryStats() const {
    adze_memory_info info;
    check(adze_memory_stats(get(), &info, sizeof info));
    return info;
  }
  adze_context *get() const { return handle.get(); }

private:
  friend class Module;
  /// DLTensors of views, and pointers to them in the form of adze.h.
  class Tensors {
  public:
    template <typename ViewType>
    explicit Tensors(const std::vector<ViewType> &views) {
      tensors.reserve(views.size());
      for (const ViewType &view : views)
        tensors.push_back(view.dlpack());
      for (DLTensor &tensor : tensors)
        pointers.push_back(&tensor);
    }
    DLTensor *const *mutableHandles() { return pointers.data(); }
    const DLTensor *const *handles() { return pointers.data(); }
    int32_t count() const { return static_cast<int32_t>(tensors.size()); }

  private:
    std::vector<DLTensor> tensors;
    std::vector<DLTensor *> pointers;
  };
  struct Release {
    void operator()(adze_context *context) const {
      adze_context_release(context);
    }
  };
  Context(adze_context *context, size_t outputs, std::shared_ptr<void> kept)
      : keep(std::move(kept)), numOutputs(outputs), handle(context) {}

  std::shared_ptr<void> keep; // callbacks of the module, such as a log
  size_t numOutputs;
  std::unique_ptr<adze_context, Release> handle;
};

/// A compiled model. Copies share it.
class Module {
public:
  static Module open(const std::string &path,
                     const Options &options = Options()) {
    adze_module *module;
    check(adze_module_open(path.c_str(), options.get(), &module));
    return Module(module, options.logger);
  }
  /// Opens a file in memory, which may be freed afterwards.
  static Module openMemory(const void *data, size_t size,
                           const Options &options = Options()) {
    adze_module *module;
    check(adze_module_open_memory(data, size, options.get(), &module));
    return Module(module, options.logger);
  }
  /// Opens a module linked into the program, by its adze_module_query.
  static Module link(adze_query_fn query, const Options &options = Options()) {
    adze_module *module;
    check(adze_module_link(query, options.get(), &module));
    return Module(module, options.logger);
  }

  /// Replaces the weights by those of a module of the same code
  /// (adze_swap_weights).
  void swapWeights(const std::string &path) {
    check(adze_swap_weights(handle.get(), path.c_str()));
  }

  /// Registers a function for the nodes of an operator, as in
  /// "com.example.Clip". Contexts that are created later call it; calls for
  /// several contexts may be concurrent. An exception ends the run with
  /// ADZE_RUN_ERROR and its message.
  void registerOperator(const std::string &name,
                        std::function<void(Call &)> run) {
    auto function =
        std::make_unique<std::function<void(Call &)>>(std::move(run));
    check(adze_module_register_operator(
        get(), name.c_str(), &runOperator, function.get(), [](void *user) {
          delete static_cast<std::function<void(Call &)> *>(user);
        }));
    (void)function.release(); // the module's
  }
  /// Returns the inputs that have the model's values unless a context overrides
  /// them.
  std::vector<ValueInfo> overridable() const {
    return describe(adze_module_num_overridable(get()), &adze_module_input,
                    adze_module_num_inputs(get()));
  }

  /// Returns a JSON object that describes the module.
  std::string info() const {
    const char *json;
    check(adze_module_info(get(), &json));
    return json;
  }
  std::vector<ValueInfo> inputs() const {
    return describe(adze_module_num_inputs(get()), &adze_module_input);
  }
  std::vector<ValueInfo> outputs() const {
    return describe(adze_module_num_outputs(get()), &adze_module_output);
  }
  /// Returns the outputs' shapes for these inputs' shapes; -1 for a
  /// data-dependent dim. `workspaceBytes` receives the size of the buffer that
  /// bindWorkspace needs for such a run.
  std::vector<Shape> inferShapes(std::vector<Shape> inputShapes,
                                 uint64_t *workspaceBytes = nullptr) const {
    std::vector<Shape> outputShapes;
    for (const ValueInfo &output : outputs())
      outputShapes.push_back(Shape(output.dims.size()));
    std::vector<adze_shape> in = handlesOf(inputShapes),
                            out = handlesOf(outputShapes);
    check(adze_infer_shapes(get(), in.data(), static_cast<int32_t>(in.size()),
                            out.data(), static_cast<int32_t>(out.size()),
                            workspaceBytes));
    return outputShapes;
  }
  Context createContext(DLDevice device = cpu()) const {
    adze_context *context;
    check(adze_context_create(get(), device, &context));
    return Context(context, static_cast<size_t>(adze_module_num_outputs(get())),
                   keep);
  }
  adze_module *get() const { return handle.get(); }

private:
  Module(adze_module *module, std::shared_ptr<void> kept)
      : keep(std::move(kept)), handle(module, &adze_module_release) {}

  static adze_status runOperator(void *user, adze_call *handle) {
    try {
      Call call(handle);
      (*static_cast<std::function<void(Call &)> *>(user))(call);
      return nullptr;
    } catch (const std::exception &error) {
      return adze_status_create(ADZE_RUN_ERROR, error.what());
    } catch (...) {
      return adze_status_create(ADZE_RUN_ERROR, "an unknown exception");
    }
  }
  template <typename Get>
  std::vector<ValueInfo> describe(int32_t count, Get getInfo,
                                  int32_t first = 0) const {
    std::vector<ValueInfo> all;
    for (int32_t i = 0; i < count; ++i) {
      const adze_value_info *info;
      check(getInfo(get(), first + i, &info));
      ValueInfo value{info->name,
                      info->kind,
                      info->dtype,
                      {},
                      {},
                      {},
                      info->type ? info->type : ""};
      for (int32_t d = 0; d < info->rank; ++d) {
        value.dims.push_back(info->dims[d]);
        value.symbols.push_back(info->symbols[d] ? info->symbols[d] : "");
        value.ranges.push_back(info->ranges[d]);
      }
      all.push_back(std::move(value));
    }
    return all;
  }
  static std::vector<adze_shape> handlesOf(std::vector<Shape> &shapes) {
    std::vector<adze_shape> handles;
    for (Shape &shape : shapes)
      handles.push_back({static_cast<int32_t>(shape.size()), shape.data()});
    return handles;
  }

  std::shared_ptr<void> keep;
  std::shared_ptr<adze_module> handle;
};

} // namespace adze

#endif // ADZE_HPP
