// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// ONNX's SequenceProto, OptionalProto and MapProto in wire format.

#include "Value.h"
#include "Wire.h"

namespace adze::run {

namespace {
/// Fields of SequenceProto and OptionalProto, which have the same numbers.
enum ListField { kListName = 1, kElementKind = 2, kFirstElement = 3 };
enum MapField {
  kMapName = 1,
  kKeyType = 2,
  kKeys = 3,
  kStringKeys = 4,
  kValues = 5
};
/// SequenceProto.DataType; the number of the field of such an element is larger
/// by 2.
enum ElementKind {
  kTensor = 1,
  kSparse = 2,
  kSequence = 3,
  kMap = 4,
  kOptional = 5
};
/// TensorProto.DataType.
enum KeyType { kInt64 = 7, kString = 8 };

/// The greatest nesting depth of values in a file.
constexpr unsigned kMaxDepth = 32;
} // namespace

static Error read(const Bytes &file, adze_kind kind, Value &value,
                  std::string &name, unsigned depth);

static bool getKind(uint64_t element, adze_kind &kind) {
  switch (element) {
  case kTensor:
    kind = ADZE_TENSOR;
    return true;
  case kSequence:
    kind = ADZE_SEQUENCE;
    return true;
  case kMap:
    kind = ADZE_MAP;
    return true;
  case kOptional:
    kind = ADZE_OPTIONAL;
    return true;
  default:
    return false;
  }
}

/// Reads a sequence or an optional: elements of any kind, in order.
static Error readList(Reader &reader, Value &value, std::string &name,
                      unsigned depth) {
  uint64_t says = 0;
  std::string ignored;
  while (reader.more()) {
    uint64_t key = reader.varint(), field = key >> 3;
    adze_kind kind;
    if (field == kListName && (key & 7) == kBytes) {
      name = reader.bytes(reader.varint()).text();
    } else if (field == kElementKind && (key & 7) == kVarint) {
      says = reader.varint();
    } else if (getKind(field - 2, kind) && (key & 7) == kBytes) {
      Bytes bytes = reader.bytes(reader.varint()).rest();
      if (Error error = read(bytes, kind, value.elements.emplace_back(),
                             ignored, depth + 1);
          !error.empty())
        return error;
    } else {
      return "not a " + std::string(value.kind == ADZE_SEQUENCE
                                        ? "SequenceProto"
                                        : "OptionalProto");
    }
  }
  if (value.kind != ADZE_OPTIONAL)
    return {};
  if (value.elements.size() > 1)
    return "an OptionalProto of several values";
  // An empty sequence may be omitted as a value.
  adze_kind kind;
  if (value.elements.empty() && getKind(says, kind) && kind != ADZE_TENSOR)
    value.elements.emplace_back().kind = kind;
  return {};
}

static Error readMap(Reader &reader, Value &value, std::string &name,
                     unsigned depth) {
  std::vector<uint64_t> numbers;
  Value keys, values;
  std::string ignored;
  uint64_t type = 0;
  while (reader.more()) {
    uint64_t key = reader.varint();
    unsigned wire = key & 7;
    if (key >> 3 == kMapName && wire == kBytes) {
      name = reader.bytes(reader.varint()).text();
    } else if (key >> 3 == kKeyType && wire == kVarint) {
      type = reader.varint();
    } else if (key >> 3 == kKeys && (wire == kBytes || wire == kVarint)) {
      readScalars(reader, wire, kVarint, numbers);
    } else if (key >> 3 == kStringKeys && wire == kBytes) {
      keys.strings.push_back(reader.bytes(reader.varint()).text());
    } else if (key >> 3 == kValues && wire == kBytes) {
      Bytes bytes = reader.bytes(reader.varint()).rest();
      if (Error error = read(bytes, ADZE_SEQUENCE, values, ignored, depth + 1);
          !error.empty())
        return error;
    } else {
      return "not a MapProto";
    }
  }
  bool byText = type == kString;
  keys.kind = byText ? ADZE_STRINGS : ADZE_TENSOR;
  size_t count = byText ? keys.strings.size() : numbers.size();
  if (count != values.elements.size())
    return "a MapProto of " + std::to_string(count) + " keys and " +
           std::to_string(values.elements.size()) + " values";
  keys.tensor.dims = {static_cast<int64_t>(count)};
  if (!byText) {
    keys.tensor.dtype = {kDLInt, 64, 1};
    keys.tensor.resize();
    if (count)
      std::memcpy(keys.tensor.bytes.data(), numbers.data(), count * 8);
  }
  value.keys.push_back(std::move(keys));
  value.elements = std::move(values.elements);
  return {};
}

static Error read(const Bytes &file, adze_kind kind, Value &value,
                  std::string &name, unsigned depth) {
  if (depth > kMaxDepth)
    return "values in values, more than " + std::to_string(kMaxDepth) + " deep";
  if (kind == ADZE_TENSOR || kind == ADZE_STRINGS)
    return readTensorProto(file, value, name);
  value.kind = kind;
  Reader reader(file.data(), file.data() + file.size());
  Error error = kind == ADZE_MAP ? readMap(reader, value, name, depth)
                                 : readList(reader, value, name, depth);
  return error.empty() && !reader.ok() ? "truncated" : error;
}

Error readValueProto(const Bytes &file, adze_kind kind, Value &value,
                     std::string &name) {
  return read(file, kind, value, name, 0);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void addNumber(Bytes &file, unsigned field, uint64_t number) {
  addKey(file, field, kVarint);
  addVarint(file, number);
}

static unsigned getElementKind(const Value &value) {
  switch (value.kind) {
  case ADZE_SEQUENCE:
    return kSequence;
  case ADZE_MAP:
    return kMap;
  case ADZE_OPTIONAL:
    return kOptional;
  default:
    return kTensor;
  }
}

static Error writeList(const std::vector<Value> &elements, Bytes &file) {
  if (!elements.empty())
    addNumber(file, kElementKind, getElementKind(elements[0]));
  for (const Value &element : elements) {
    Bytes bytes;
    if (Error error = writeValueProto(element, "", bytes); !error.empty())
      return error;
    addBytes(file, getElementKind(element) + 2, bytes);
  }
  return {};
}

static Error writeMap(const Value &value, Bytes &file) {
  const Value &keys = value.keys.front();
  bool byText = keys.kind == ADZE_STRINGS;
  addNumber(file, kKeyType, byText ? kString : kInt64);
  for (const std::string &text : keys.strings)
    addBytes(file, kStringKeys, text);
  for (int64_t i = 0; i < keys.tensor.elements() && !byText; ++i) {
    size_t size = keys.tensor.dtype.bits / 8;
    if (size != 8)
      return "keys of " + typeName(keys.tensor.dtype) + " are not written";
    uint64_t number;
    std::memcpy(&number, &keys.tensor.bytes[static_cast<size_t>(i) * 8], 8);
    addNumber(file, kKeys, number);
  }
  Bytes values;
  if (Error error = writeList(value.elements, values); !error.empty())
    return error;
  addBytes(file, kValues, values);
  return {};
}

Error writeValueProto(const Value &value, const std::string &name,
                      Bytes &file) {
  if (value.kind == ADZE_TENSOR || value.kind == ADZE_STRINGS)
    return writeTensorProto(value, name, file);
  file.clear();
  addBytes(file, kListName, name); // the same number in all three messages
  return value.kind == ADZE_MAP ? writeMap(value, file)
                                : writeList(value.elements, file);
}

Error readValue(const std::string &path, adze_kind kind,
                const std::vector<int64_t> &dims, Value &value,
                std::string &name) {
  size_t dot = path.rfind('.');
  if (dot == std::string::npos || path.substr(dot) != ".pb") {
    if (kind == ADZE_TENSOR)
      return readTensor(path, dims, value.tensor, name);
    return path + ": expected a file named .pb for what is no tensor of "
                  "numbers";
  }
  Bytes file;
  if (Error error = readBytes(path, file); !error.empty())
    return error;
  Error error = readValueProto(file, kind, value, name);
  return error.empty() ? error : path + ": " + error;
}

} // namespace adze::run
