// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes protobuf's wire format.
#include "Model.h"
#include <cstring>

namespace adze::ep {

enum WireType { kVarint = 0, kLengthDelimited = 2, kFixed32 = 5 };

std::string &Message::getTail() {
  if (pieces.empty() || pieces.back().isMemory)
    pieces.emplace_back();
  return pieces.back().bytes;
}

void Message::addVarint(uint64_t value) {
  std::string &bytes = getTail();
  size_t before = bytes.size();
  for (; value > 127; value >>= 7)
    bytes.push_back(static_cast<char>(value | 128));
  bytes.push_back(static_cast<char>(value));
  size += bytes.size() - before;
}

void Message::addHeader(int field, int wireType) {
  addVarint(static_cast<uint64_t>(field) << 3 |
            static_cast<uint64_t>(wireType));
}

void Message::addInteger(int field, uint64_t value) {
  addHeader(field, kVarint);
  addVarint(value);
}

void Message::addFloat(int field, float value) {
  addHeader(field, kFixed32);
  char bytes[sizeof(value)];
  memcpy(bytes, &value, sizeof(value));
  getTail().append(bytes, sizeof(bytes));
  size += sizeof(bytes);
}

void Message::addText(int field, std::string_view value) {
  addHeader(field, kLengthDelimited);
  addVarint(value.size());
  getTail().append(value);
  size += value.size();
}

void Message::addMessage(int field, Message value) {
  addHeader(field, kLengthDelimited);
  addVarint(value.size);
  for (Piece &piece : value.pieces)
    if (piece.isMemory)
      pieces.push_back(std::move(piece));
    else
      getTail().append(piece.bytes);
  size += value.size;
}

void Message::addMemory(int field, const void *data, size_t memorySize) {
  addHeader(field, kLengthDelimited);
  addVarint(memorySize);
  pieces.push_back({"", true, data, memorySize});
  size += memorySize;
}

std::vector<adze_model_part> Message::getParts() const {
  std::vector<adze_model_part> parts;
  for (const Piece &piece : pieces)
    if (piece.isMemory)
      parts.push_back({piece.data, piece.size});
    else
      parts.push_back({piece.bytes.data(), piece.bytes.size()});
  return parts;
}

} // namespace adze::ep
