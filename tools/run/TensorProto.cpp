// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// ONNX's TensorProto in wire format: dims, type, name, raw and typed data.

#include "Value.h"
#include "Wire.h"

namespace adze::run {

namespace {
/// TensorProto.DataType.
enum OnnxType { kString = 8, kLastType = 26 };

struct TypeRow {
  DLDataTypeCode code;
  uint8_t bits;
};

/// Indexed by OnnxType; 0 bits: an invalid type, or strings.
constexpr TypeRow kTypes[kLastType + 1] = {
    {kDLInt, 0},
    {kDLFloat, 32},
    {kDLUInt, 8},
    {kDLInt, 8},
    {kDLUInt, 16},
    {kDLInt, 16},
    {kDLInt, 32},
    {kDLInt, 64},
    {kDLInt, 0},
    {kDLBool, 8},
    {kDLFloat, 16},
    {kDLFloat, 64},
    {kDLUInt, 32},
    {kDLUInt, 64},
    {kDLComplex, 64},
    {kDLComplex, 128},
    {kDLBfloat, 16},
    {kDLFloat8_e4m3fn, 8},
    {kDLFloat8_e4m3fnuz, 8},
    {kDLFloat8_e5m2, 8},
    {kDLFloat8_e5m2fnuz, 8},
    {kDLUInt, 4},
    {kDLInt, 4},
    {kDLFloat4_e2m1fn, 4},
    {kDLFloat8_e8m0fnu, 8},
    {kDLUInt, 2},
    {kDLInt, 2},
};

enum Field {
  kDims = 1,
  kDataType = 2,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternalData = 13
};
struct Message {
  std::vector<int64_t> dims;
  uint64_t type = 0;
  std::string name;
  Bytes raw;
  bool hasRaw = false, isExternal = false;
  /// The bits of each element of typed data.
  std::vector<uint64_t> values;
  std::vector<std::string> strings;
};
} // namespace

static bool readField(Reader &reader, unsigned field, unsigned wire,
                      Message &message) {
  switch (field) {
  case kDims: {
    std::vector<uint64_t> dims;
    readScalars(reader, wire, kVarint, dims);
    message.dims.insert(message.dims.end(), dims.begin(), dims.end());
    return true;
  }
  case kDataType:
    message.type = reader.varint();
    return true;
  case kFloatData:
    readScalars(reader, wire, kFixed32, message.values);
    return true;
  case kDoubleData:
    readScalars(reader, wire, kFixed64, message.values);
    return true;
  case kInt32Data:
  case kInt64Data:
  case kUint64Data:
    readScalars(reader, wire, kVarint, message.values);
    return true;
  case kName:
    message.name = reader.bytes(reader.varint()).text();
    return true;
  case kStringData:
    message.strings.push_back(reader.bytes(reader.varint()).text());
    return true;
  case kRawData:
    message.raw = reader.bytes(reader.varint()).rest();
    message.hasRaw = true;
    return true;
  default:
    message.isExternal |= field == kExternalData;
    return skip(reader, wire);
  }
}

/// Converts typed data to bytes: the low bytes of each value or, for types of
/// less than a byte, one byte of packed elements per value.
static void packValues(const Message &message, Tensor &tensor) {
  size_t size = tensor.dtype.bits <= 8 ? 1 : tensor.dtype.bits / 8;
  if (tensor.dtype.code == kDLComplex)
    size /= 2; // real and imaginary parts are separate values
  tensor.bytes.resize(message.values.size() * size);
  for (size_t i = 0; i < message.values.size(); ++i)
    std::memcpy(&tensor.bytes[i * size], &message.values[i], size);
}

static Error parse(const Bytes &file, Message &message) {
  Reader reader(file.data(), file.data() + file.size());
  while (reader.more()) {
    uint64_t key = reader.varint();
    if (!reader.ok() ||
        !readField(reader, static_cast<unsigned>(key >> 3), key & 7, message))
      return "not a TensorProto";
  }
  if (!reader.ok())
    return "truncated TensorProto";
  if (message.isExternal)
    return "its data lies in another file, which is not supported";
  if (!areSaneDims(message.dims))
    return "damaged dims";
  return {};
}

static Error takeNumbers(Message &message, Tensor &tensor) {
  if (message.type == kString)
    return "expected a tensor of numbers, but got strings";
  if (message.type > kLastType || !kTypes[message.type].bits)
    return "not a tensor (data type " + std::to_string(message.type) + ")";
  const TypeRow &row = kTypes[message.type];
  tensor.dtype = {static_cast<uint8_t>(row.code), row.bits, 1};
  tensor.dims = message.dims;
  if (message.hasRaw)
    tensor.bytes = std::move(message.raw);
  else
    packValues(message, tensor);
  size_t expected =
      (static_cast<size_t>(tensor.elements()) * tensor.dtype.bits + 7) / 8;
  if (tensor.bytes.size() != expected)
    return "expected " + std::to_string(expected) + " bytes of data, but got " +
           std::to_string(tensor.bytes.size());
  return {};
}

Error readTensorProto(const Bytes &file, Tensor &tensor, std::string &name) {
  Message message;
  if (Error error = parse(file, message); !error.empty())
    return error;
  name = message.name;
  return takeNumbers(message, tensor);
}

Error readTensorProto(const Bytes &file, Value &value, std::string &name) {
  Message message;
  if (Error error = parse(file, message); !error.empty())
    return error;
  name = message.name;
  if (message.type != kString)
    return takeNumbers(message, value.tensor);
  value.kind = ADZE_STRINGS;
  value.tensor.dims = message.dims;
  value.strings = std::move(message.strings);
  if (value.strings.size() != static_cast<size_t>(value.tensor.elements()))
    return "expected " + std::to_string(value.tensor.elements()) +
           " strings, but got " + std::to_string(value.strings.size());
  return {};
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Writes dims, type and name.
static void addHead(Bytes &file, const Tensor &tensor, uint64_t type,
                    const std::string &name) {
  file.clear();
  for (int64_t dim : tensor.dims) {
    addKey(file, kDims, kVarint);
    addVarint(file, static_cast<uint64_t>(dim));
  }
  addKey(file, kDataType, kVarint);
  addVarint(file, type);
  addBytes(file, kName, name);
}

Error writeTensorProto(const Tensor &tensor, const std::string &name,
                       Bytes &file) {
  uint64_t type = 0;
  for (uint64_t i = 1; i <= kLastType; ++i)
    if (kTypes[i].bits == tensor.dtype.bits &&
        kTypes[i].code == static_cast<DLDataTypeCode>(tensor.dtype.code))
      type = i;
  if (!type)
    return "ONNX has no type for " + typeName(tensor.dtype);
  addHead(file, tensor, type, name);
  addBytes(file, kRawData, tensor.bytes);
  return {};
}

Error writeTensorProto(const Value &value, const std::string &name,
                       Bytes &file) {
  if (value.kind != ADZE_STRINGS)
    return writeTensorProto(value.tensor, name, file);
  addHead(file, value.tensor, kString, name);
  for (const std::string &text : value.strings)
    addBytes(file, kStringData, text);
  return {};
}

} // namespace adze::run
