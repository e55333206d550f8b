// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Converts values of any kind to and from the run time, and compares them.

#include "Value.h"

#include <cstring>

namespace adze::run {

#define TRY(expression)                                                        \
  if (Error tryError = (expression); !tryError.empty())                        \
  return tryError

//===----------------------------------------------------------------------===//
// To the run time
//===----------------------------------------------------------------------===//

static void deleteTensor(DLManagedTensorVersioned *managed) {
  delete static_cast<Tensor *>(managed->manager_ctx);
  delete managed;
}

static Error tensorToRuntime(const Tensor &tensor, ValueHandle &result) {
  auto *copy = new Tensor(tensor);
  auto *managed = new DLManagedTensorVersioned{};
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->manager_ctx = copy;
  managed->deleter = deleteTensor;
  managed->dl_tensor = copy->view();
  adze_value *value = nullptr;
  TRY(take(adze_value_from_dlpack(managed, &value)));
  result.reset(value);
  return {};
}

static Error stringsToRuntime(const Value &value, adze_value *&result) {
  std::vector<const char *> texts;
  std::vector<size_t> lengths;
  for (const std::string &text : value.strings) {
    texts.push_back(text.data());
    lengths.push_back(text.size());
  }
  return take(adze_value_from_strings(
      texts.data(), lengths.data(), value.tensor.dims.data(),
      static_cast<int32_t>(value.tensor.dims.size()), &result));
}

static Error listToRuntime(const std::vector<Value> &values,
                           std::vector<ValueHandle> &handles,
                           std::vector<adze_value *> &pointers) {
  for (const Value &value : values) {
    TRY(toRuntime(value, handles.emplace_back()));
    pointers.push_back(handles.back().get());
  }
  return {};
}

Error toRuntime(const Value &value, ValueHandle &result) {
  if (value.kind == ADZE_TENSOR)
    return tensorToRuntime(value.tensor, result);
  std::vector<ValueHandle> handles;
  std::vector<adze_value *> parts;
  TRY(listToRuntime(value.elements, handles, parts));
  adze_value *made = nullptr;
  switch (value.kind) {
  case ADZE_STRINGS:
    TRY(stringsToRuntime(value, made));
    break;
  case ADZE_SEQUENCE:
    TRY(take(adze_value_from_sequence(parts.data(), parts.size(), &made)));
    break;
  case ADZE_OPTIONAL:
    TRY(take(adze_value_from_optional(parts.empty() ? nullptr : parts.front(),
                                      &made)));
    break;
  default: {
    ValueHandle keys;
    if (value.keys.size() != 1)
      return "a map without keys";
    TRY(toRuntime(value.keys.front(), keys));
    TRY(take(
        adze_value_from_map(keys.get(), parts.data(), parts.size(), &made)));
  }
  }
  result.reset(made);
  return {};
}

//===----------------------------------------------------------------------===//
// From the run time
//===----------------------------------------------------------------------===//

void takeShape(const DLTensor &from, Tensor &to) {
  to.dtype = from.dtype;
  to.dims.assign(from.shape, from.shape + from.ndim);
  to.resize();
}

void copyTensor(const DLTensor &from, Tensor &to) {
  takeShape(from, to);
  if (!to.bytes.empty())
    std::memcpy(to.bytes.data(),
                static_cast<const char *>(from.data) + from.byte_offset,
                to.bytes.size());
}

static Error stringsFromRuntime(const adze_value *value, Value &result) {
  const char *const *strings;
  const size_t *lengths;
  size_t count;
  TRY(take(adze_value_strings(value, &strings, &lengths, &count)));
  for (size_t i = 0; i < count; ++i)
    result.strings.emplace_back(strings[i], lengths[i]);
  int32_t rank;
  const int64_t *dims;
  TRY(take(adze_value_shape(value, &rank, &dims)));
  result.tensor.dims.assign(dims, dims + rank);
  return {};
}

static Error elementFromRuntime(adze_value *element, Value &result) {
  ValueHandle handle(element);
  return fromRuntime(element, result);
}

static Error sequenceFromRuntime(const adze_value *value, Value &result) {
  size_t count;
  TRY(take(adze_value_sequence_size(value, &count)));
  for (size_t i = 0; i < count; ++i) {
    adze_value *element;
    TRY(take(adze_value_sequence_get(value, i, &element)));
    TRY(elementFromRuntime(element, result.elements.emplace_back()));
  }
  return {};
}

static Error optionalFromRuntime(const adze_value *value, Value &result) {
  int32_t has;
  TRY(take(adze_value_optional_has(value, &has)));
  if (!has)
    return {};
  adze_value *element;
  TRY(take(adze_value_optional_get(value, &element)));
  return elementFromRuntime(element, result.elements.emplace_back());
}

Error fromRuntime(adze_value *value, Value &result) {
  result.kind = adze_value_kind(value);
  switch (result.kind) {
  case ADZE_TENSOR: {
    DLManagedTensorVersioned *managed;
    TRY(take(adze_value_as_dlpack(value, &managed)));
    bool isOnCPU = managed->dl_tensor.device.device_type == kDLCPU;
    if (isOnCPU)
      copyTensor(managed->dl_tensor, result.tensor);
    managed->deleter(managed);
    return isOnCPU ? Error()
                   : "tensors of a run with strings or containers are read on "
                     "the CPU only";
  }
  case ADZE_STRINGS:
    return stringsFromRuntime(value, result);
  case ADZE_SEQUENCE:
    return sequenceFromRuntime(value, result);
  case ADZE_OPTIONAL:
    return optionalFromRuntime(value, result);
  default: {
    adze_value *keys, *values;
    TRY(take(adze_value_map_get(value, &keys, &values)));
    ValueHandle keyHandle(keys), valueHandle(values);
    TRY(fromRuntime(keys, result.keys.emplace_back()));
    return sequenceFromRuntime(values, result);
  }
  }
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static const char *kindName(adze_kind kind) {
  static const char *const names[] = {"tensor", "string tensor", "sequence",
                                      "map", "optional"};
  return names[kind];
}

std::string describe(const Value &value) {
  switch (value.kind) {
  case ADZE_TENSOR:
    return typeName(value.tensor.dtype) + " " + shapeText(value.tensor.dims);
  case ADZE_STRINGS:
    return "string " + shapeText(value.tensor.dims);
  case ADZE_OPTIONAL:
    return value.elements.empty() ? "optional without a value"
                                  : "optional " + describe(value.elements[0]);
  default:
    return std::string(kindName(value.kind)) + " of " +
           std::to_string(value.elements.size());
  }
}

static Error compareStrings(const Value &got, const Value &expected) {
  if (got.tensor.dims != expected.tensor.dims)
    return "expected strings of shape " + shapeText(expected.tensor.dims) +
           ", but got " + shapeText(got.tensor.dims);
  for (size_t i = 0; i < got.strings.size(); ++i)
    if (got.strings[i] != expected.strings[i])
      return "string " + std::to_string(i) + ": expected '" +
             expected.strings[i] + "', but got '" + got.strings[i] + "'";
  return {};
}

static Error compareLists(const char *what, const std::vector<Value> &got,
                          const std::vector<Value> &expected,
                          const CompareTensors &compareTensors) {
  if (got.size() != expected.size())
    return "expected " + std::to_string(expected.size()) + " " + what +
           "s, but got " + std::to_string(got.size());
  for (size_t i = 0; i < got.size(); ++i)
    if (Error error = compare(got[i], expected[i], compareTensors);
        !error.empty())
      return std::string(what) + " " + std::to_string(i) + ": " + error;
  return {};
}

Error compare(const Value &got, const Value &expected,
              const CompareTensors &compareTensors) {
  if (got.kind != expected.kind)
    return std::string("expected a ") + kindName(expected.kind) +
           ", but got a " + kindName(got.kind);
  if (got.kind == ADZE_TENSOR)
    return compareTensors(got.tensor, expected.tensor);
  if (got.kind == ADZE_STRINGS)
    return compareStrings(got, expected);
  TRY(compareLists("key", got.keys, expected.keys, compareTensors));
  return compareLists("element", got.elements, expected.elements,
                      compareTensors);
}

} // namespace adze::run
