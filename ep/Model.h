// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Protobuf messages in wire format, which refer to the memory of large fields.
#ifndef ADZE_EP_MODEL_H
#define ADZE_EP_MODEL_H

#include "adze_compiler.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace adze::ep {

/// A message, as a sequence of its own bytes and of external memory.
class Message {
public:
  void addInteger(int field, uint64_t value);
  void addFloat(int field, float value);
  void addText(int field, std::string_view value);
  void addMessage(int field, Message value);
  /// Adds `size` bytes that must outlive the message; NULL: zeros without
  /// memory.
  void addMemory(int field, const void *data, size_t size);

  size_t getSize() const { return size; }
  /// Returns the parts of the message, which owns them.
  std::vector<adze_model_part> getParts() const;

private:
  struct Piece {
    std::string bytes; // its own; else `data`
    bool isMemory = false;
    const void *data = nullptr;
    size_t size = 0;
  };

  void addHeader(int field, int wireType);
  void addVarint(uint64_t value);
  std::string &getTail();

  std::vector<Piece> pieces;
  size_t size = 0;
};

} // namespace adze::ep

#endif // ADZE_EP_MODEL_H
