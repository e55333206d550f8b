// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// ONNX's TensorProto on the wire: dims, type, name, raw and typed data.

#include "Tensor.h"

#include <cstring>

namespace adze::run {

namespace {
/// TensorProto.DataType.
enum OnnxType { kString = 8, kLastType = 26 };

struct TypeRow {
  DLDataTypeCode code;
  uint8_t bits;
};

/// Indexed by OnnxType; bits 0: no such type, or strings.
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
enum Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Reads one message; `failed` sticks.
class Reader {
public:
  Reader(const char *begin, const char *end) : at(begin), end(end) {}

  bool more() const { return !failed && at < end; }

  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
      auto byte = static_cast<unsigned char>(*at++);
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if (!(byte & 128))
        return value;
    }
    failed = true;
    return 0;
  }
  /// The next `size` bytes; empty after a failure.
  Reader bytes(uint64_t size) {
    if (size > static_cast<uint64_t>(end - at)) {
      failed = true;
      return Reader(end, end);
    }
    Reader inner(at, at + size);
    at += size;
    return inner;
  }
  uint64_t fixed(size_t size) {
    Reader inner = bytes(size);
    uint64_t value = 0;
    std::memcpy(&value, inner.at, static_cast<size_t>(inner.end - inner.at));
    return value;
  }
  std::vector<char> rest() const { return std::vector<char>(at, end); }
  bool ok() const { return !failed; }

private:
  const char *at, *end;
  bool failed = false;
};

struct Message {
  std::vector<int64_t> dims;
  uint64_t type = 0;
  std::string name;
  std::vector<char> raw;
  bool hasRaw = false, isExternal = false;
  /// Typed data, each element's bits.
  std::vector<uint64_t> values;
};
} // namespace

/// One element, or a packed run of them.
static void readScalars(Reader &reader, unsigned wire, unsigned elementWire,
                        std::vector<uint64_t> &values) {
  auto one = [&](Reader &from) {
    if (elementWire == kVarint)
      values.push_back(from.varint());
    else
      values.push_back(from.fixed(elementWire == kFixed32 ? 4 : 8));
  };
  if (wire != kBytes)
    return one(reader);
  Reader packed = reader.bytes(reader.varint());
  while (packed.more())
    one(packed);
}

static bool skip(Reader &reader, unsigned wire) {
  switch (wire) {
  case kVarint:
    reader.varint();
    return true;
  case kFixed64:
    reader.fixed(8);
    return true;
  case kBytes:
    reader.bytes(reader.varint());
    return true;
  case kFixed32:
    reader.fixed(4);
    return true;
  default:
    return false;
  }
}

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
  case kName: {
    std::vector<char> name = reader.bytes(reader.varint()).rest();
    message.name.assign(name.begin(), name.end());
    return true;
  }
  case kRawData:
    message.raw = reader.bytes(reader.varint()).rest();
    message.hasRaw = true;
    return true;
  default:
    message.isExternal |= field == kExternalData;
    return skip(reader, wire);
  }
}

/// Typed data to bytes: the low bytes of each value, or, for types of less
/// than a byte, a byte of packed elements a value.
static void packValues(const Message &message, Tensor &tensor) {
  size_t size = tensor.dtype.bits <= 8 ? 1 : tensor.dtype.bits / 8;
  if (tensor.dtype.code == kDLComplex)
    size /= 2; // real and imaginary parts are values of their own
  tensor.bytes.resize(message.values.size() * size);
  for (size_t i = 0; i < message.values.size(); ++i)
    std::memcpy(&tensor.bytes[i * size], &message.values[i], size);
}

Error readTensorProto(const std::vector<char> &file, Tensor &tensor,
                      std::string &name) {
  Message message;
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
  if (message.type == kString)
    return "string tensors are not supported";
  if (message.type > kLastType || !kTypes[message.type].bits)
    return "not a tensor (data type " + std::to_string(message.type) + ")";
  const TypeRow &row = kTypes[message.type];
  tensor.dtype = {static_cast<uint8_t>(row.code), row.bits, 1};
  tensor.dims = message.dims;
  if (!areSaneDims(tensor.dims))
    return "damaged dims";
  name = message.name;
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

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void addVarint(std::vector<char> &file, uint64_t value) {
  for (; value > 127; value >>= 7)
    file.push_back(static_cast<char>((value & 127) | 128));
  file.push_back(static_cast<char>(value));
}

static void addKey(std::vector<char> &file, Field field, Wire wire) {
  addVarint(file, static_cast<uint64_t>(field) << 3 | wire);
}

template <typename Bytes>
static void addBytes(std::vector<char> &file, Field field, const Bytes &bytes) {
  addKey(file, field, kBytes);
  addVarint(file, bytes.size());
  file.insert(file.end(), bytes.begin(), bytes.end());
}

Error writeTensorProto(const Tensor &tensor, const std::string &name,
                       std::vector<char> &file) {
  uint64_t type = 0;
  for (uint64_t i = 1; i <= kLastType; ++i)
    if (kTypes[i].bits == tensor.dtype.bits &&
        kTypes[i].code == static_cast<DLDataTypeCode>(tensor.dtype.code))
      type = i;
  if (!type)
    return "ONNX has no type for " + typeName(tensor.dtype);
  file.clear();
  for (int64_t dim : tensor.dims) {
    addKey(file, kDims, kVarint);
    addVarint(file, static_cast<uint64_t>(dim));
  }
  addKey(file, kDataType, kVarint);
  addVarint(file, type);
  addBytes(file, kName, name);
  addBytes(file, kRawData, tensor.bytes);
  return {};
}

} // namespace adze::run
