// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Parses the wire format. It interprets the messages that contain a
// TensorProto, and copies all others unchanged.
#include "Wire.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"

using namespace adze::importer;

namespace {

/// The messages that can hold tensors.
enum class Message { Model, Graph, Node, Attribute, Function, Tensor };

enum WireType : unsigned { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// The limit of nesting: graphs are nested in attributes of nodes, four
/// messages for each level. Protobuf itself stops at 100.
constexpr unsigned kMaxDepth = 90;
/// Protobuf cannot read more than 2 GiB; larger models without their tensors
/// are rejected.
constexpr uint64_t kMaxSkeleton = uint64_t(1) << 30;

// The first byte of raw_data in a skeleton.
constexpr char kInline = 0, kInFile = 1;

// Field numbers of TensorProto.
constexpr unsigned kDataType = 2, kFloatData = 4, kRawData = 9,
                   kDoubleData = 10;
// Values of TensorProto.data_type.
constexpr uint64_t kFloat = 1, kDouble = 11;

struct Field {
  unsigned number = 0, type = 0;
  uint64_t start = 0;           // of the tag
  uint64_t value = 0;           // of a varint
  uint64_t begin = 0, size = 0; // of the content
  uint64_t end = 0;
};

class Walk {
public:
  Walk(llvm::ArrayRef<uint8_t> file, WireError &error)
      : file(file), error(error) {}

  bool message(Message kind, uint64_t begin, uint64_t end, unsigned depth,
               std::string &out);

private:
  bool fail(uint64_t offset, const llvm::Twine &message) {
    error.offset = offset;
    error.message = message.str();
    return false;
  }
  bool varint(uint64_t &position, uint64_t end, uint64_t &value);
  bool field(uint64_t &position, uint64_t end, Field &field);
  bool tensor(uint64_t begin, uint64_t end, std::string &out);
  bool packedData(uint64_t begin, uint64_t end, uint64_t &start);
  void copy(const Field &field, std::string &out) {
    out.append(reinterpret_cast<const char *>(file.data()) + field.start,
               field.end - field.start);
  }

  llvm::ArrayRef<uint8_t> file;
  WireError &error;
};

/// Returns the message type of a field that can contain tensors.
std::optional<Message> getChild(Message kind, unsigned number) {
  switch (kind) {
  case Message::Model:
    if (number == 7)
      return Message::Graph;
    if (number == 25)
      return Message::Function;
    break;
  case Message::Graph:
    if (number == 1)
      return Message::Node;
    if (number == 5)
      return Message::Tensor;
    break;
  case Message::Node:
    if (number == 5)
      return Message::Attribute;
    break;
  case Message::Attribute:
    if (number == 5 || number == 10)
      return Message::Tensor;
    if (number == 6 || number == 11)
      return Message::Graph;
    break;
  case Message::Function:
    if (number == 7)
      return Message::Node;
    if (number == 11)
      return Message::Attribute;
    break;
  case Message::Tensor:
    break;
  }
  return std::nullopt;
}

/// Returns true for documentation, metadata and training graphs, which the
/// importer does not read, and which may contain stack traces of exporters.
bool isDropped(Message kind, unsigned number) {
  switch (kind) {
  case Message::Model:
    return number == 6 || number == 20;
  case Message::Graph:
    return number == 10 || number == 16;
  case Message::Node:
    return number == 6 || number == 9;
  case Message::Attribute:
    return number == 13;
  case Message::Function:
    return number == 8 || number == 14;
  case Message::Tensor:
    return number == 12 || number == 16;
  }
  return false;
}

void putVarint(uint64_t value, std::string &out) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(char(value | 0x80));
  out.push_back(char(value));
}

void putBytes(unsigned number, llvm::StringRef bytes, std::string &out) {
  putVarint(uint64_t(number) << 3 | WireType::Bytes, out);
  putVarint(bytes.size(), out);
  out.append(bytes.data(), bytes.size());
}

} // namespace

bool Walk::varint(uint64_t &position, uint64_t end, uint64_t &value) {
  uint64_t start = position;
  value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (position == end)
      return fail(start, "expected a whole number, but the message ends");
    uint8_t byte = file[position++];
    if (shift == 63 && byte > 1)
      break;
    value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80)
      return true;
  }
  return fail(start, "expected a number of at most 64 bits");
}

/// Reads the field at `position`, and advances past it.
bool Walk::field(uint64_t &position, uint64_t end, Field &field) {
  field.start = position;
  uint64_t tag = 0;
  if (!varint(position, end, tag))
    return false;
  if (tag > UINT32_MAX || tag >> 3 == 0)
    return fail(field.start, "expected a field number from 1 to 2^29-1");
  field.number = tag >> 3;
  field.type = tag & 7;
  switch (field.type) {
  case WireType::Varint:
    field.begin = position;
    if (!varint(position, end, field.value))
      return false;
    field.size = position - field.begin;
    break;
  case WireType::Fixed64:
  case WireType::Fixed32:
    field.begin = position;
    field.size = field.type == WireType::Fixed64 ? 8 : 4;
    break;
  case WireType::Bytes:
    if (!varint(position, end, field.size))
      return false;
    field.begin = position;
    break;
  default:
    return fail(field.start, "expected wire type 0, 1, 2 or 5, but got " +
                                 llvm::Twine(field.type));
  }
  if (field.size > end - field.begin)
    return fail(field.start, "expected a field of " + llvm::Twine(field.size) +
                                 " bytes, but only " +
                                 llvm::Twine(end - field.begin) + " are left");
  position = field.end = field.begin + field.size;
  return true;
}

/// Appends the body of the message in [begin, end) to `out`.
bool Walk::message(Message kind, uint64_t begin, uint64_t end, unsigned depth,
                   std::string &out) {
  if (kind == Message::Tensor)
    return tensor(begin, end, out);
  if (depth > kMaxDepth)
    return fail(begin, "expected messages nested at most " +
                           llvm::Twine(kMaxDepth) + " deep");
  Field f;
  for (uint64_t position = begin; position != end;) {
    if (!field(position, end, f))
      return false;
    if (isDropped(kind, f.number))
      continue;
    auto child = getChild(kind, f.number);
    if (!child || f.type != WireType::Bytes) {
      if (out.size() + (f.end - f.start) > kMaxSkeleton)
        return fail(f.start, "expected less than 1 GiB besides raw_data");
      copy(f, out);
      continue;
    }
    std::string body;
    if (!message(*child, f.begin, f.end, depth + 1, body))
      return false;
    putBytes(f.number, body, out);
    if (out.size() > kMaxSkeleton)
      return fail(f.start, "expected less than 1 GiB besides raw_data");
  }
  return true;
}

/// Finds the only packed float_data or double_data that holds all elements of a
/// tensor and is large enough to be left in the file. `start` is set to the
/// start of that field, or to the end of the tensor.
bool Walk::packedData(uint64_t begin, uint64_t end, uint64_t &start) {
  start = end;
  unsigned dataFields = 0, number = 0;
  uint64_t dataType = 0;
  Field f;
  for (uint64_t position = begin; position != end;) {
    if (!field(position, end, f))
      return false;
    if (f.number == kDataType && f.type == WireType::Varint)
      dataType = f.value;
    if (f.number == kRawData)
      dataFields += 2;
    if (f.number != kFloatData && f.number != kDoubleData)
      continue;
    ++dataFields;
    if (f.type == WireType::Bytes && f.size > kInlineBytes) {
      start = f.start;
      number = f.number;
    }
  }
  bool matches =
      number == kFloatData ? dataType == kFloat : dataType == kDouble;
  if (dataFields != 1 || !matches)
    start = end;
  return true;
}

bool Walk::tensor(uint64_t begin, uint64_t end, std::string &out) {
  uint64_t packed = end;
  if (!packedData(begin, end, packed))
    return false;
  Field f;
  for (uint64_t position = begin; position != end;) {
    if (!field(position, end, f))
      return false;
    if (isDropped(Message::Tensor, f.number))
      continue;
    bool isRaw = f.number == kRawData && f.type == WireType::Bytes;
    if (!isRaw && f.start != packed) {
      copy(f, out);
      continue;
    }
    std::string raw(1, kInline);
    if (f.size > kInlineBytes) {
      char place[16];
      llvm::support::endian::write64le(place, f.begin);
      llvm::support::endian::write64le(place + 8, f.size);
      raw.assign(1, kInFile).append(place, sizeof(place));
    } else {
      raw.append(reinterpret_cast<const char *>(file.data()) + f.begin, f.size);
    }
    putBytes(kRawData, raw, out);
  }
  return true;
}

std::optional<std::string>
adze::importer::makeSkeleton(llvm::ArrayRef<uint8_t> file, WireError &error) {
  std::string out;
  Walk walk(file, error);
  if (!walk.message(Message::Model, 0, file.size(), 0, out))
    return std::nullopt;
  return out;
}

std::optional<RawData> RawData::decode(llvm::StringRef rawData) {
  RawData result;
  if (rawData.empty())
    return std::nullopt;
  if (rawData[0] == kInline) {
    result.bytes = rawData.drop_front();
    result.size = result.bytes.size();
    return result;
  }
  if (rawData[0] != kInFile || rawData.size() != 17)
    return std::nullopt;
  result.inFile = true;
  result.offset = llvm::support::endian::read64le(rawData.data() + 1);
  result.size = llvm::support::endian::read64le(rawData.data() + 9);
  return result;
}
