// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Protocol buffers in wire format, for the messages of ONNX that contain data.

#ifndef ADZE_TOOLS_RUN_WIRE_H
#define ADZE_TOOLS_RUN_WIRE_H

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace adze::run {

/// The wire types.
enum Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Reads one message; `failed` is set permanently on an error.
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
  /// Returns the next `size` bytes; empty after a failure.
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
  Bytes rest() const { return Bytes(at, end); }
  std::string text() const { return std::string(at, end); }
  bool ok() const { return !failed; }

private:
  const char *at, *end;
  bool failed = false;
};

/// Reads one element, or packed elements.
inline void readScalars(Reader &reader, unsigned wire, unsigned elementWire,
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

inline bool skip(Reader &reader, unsigned wire) {
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

inline void addVarint(Bytes &file, uint64_t value) {
  for (; value > 127; value >>= 7)
    file.push_back(static_cast<char>((value & 127) | 128));
  file.push_back(static_cast<char>(value));
}

inline void addKey(Bytes &file, unsigned field, Wire wire) {
  addVarint(file, uint64_t(field) << 3 | wire);
}

template <typename Text>
void addBytes(Bytes &file, unsigned field, const Text &bytes) {
  addKey(file, field, kBytes);
  addVarint(file, bytes.size());
  file.insert(file.end(), bytes.begin(), bytes.end());
}

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_WIRE_H
