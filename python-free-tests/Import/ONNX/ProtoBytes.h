// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// ONNX messages as bytes written by hand, which tests damage, or make larger
// than protobuf supports.
#ifndef ADZE_PYTHON_FREE_TESTS_IMPORT_ONNX_PROTOBYTES_H
#define ADZE_PYTHON_FREE_TESTS_IMPORT_ONNX_PROTOBYTES_H

#include <cstdint>
#include <string>
#include <vector>

namespace protobytes {

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7)
    out.push_back(char(value | 0x80));
  out.push_back(char(value));
  return out;
}

/// Fields of a ModelProto by hand; their numbers are below 16.
inline std::string field(unsigned number, const std::string &content) {
  return std::string(1, char(number << 3 | 2)) + varint(content.size()) +
         content;
}
inline std::string number(unsigned field, uint64_t value) {
  return std::string(1, char(field << 3)) + varint(value);
}

/// A tensor of floats; 'N' is a symbolic dim.
inline std::string value(const std::string &name, const std::string &dims) {
  std::string shape;
  for (char dim : dims)
    shape += field(1, dim == 'N' ? field(2, "N") : number(1, dim));
  return field(1, name) + field(2, field(1, number(1, 1) + field(2, shape)));
}

/// A vector of small i64.
inline std::string ints(const std::string &name, const std::string &values) {
  std::string data;
  for (char element : values)
    data += std::string(1, element) + std::string(7, '\0');
  return number(1, values.size()) + number(2, 7) + field(8, name) +
         field(9, data);
}

/// An attribute with AttributeProto.type (20), which takes a tag of two bytes.
inline std::string attribute(const std::string &name,
                             const std::string &content, char type) {
  return field(5, field(1, name) + content + "\xa0\x01" + type);
}

inline std::string node(const std::string &op,
                        const std::vector<std::string> &inputs,
                        const std::string &output,
                        const std::string &attrs = "") {
  std::string out;
  for (const std::string &input : inputs)
    out += field(1, input);
  return field(1, out + field(2, output) + field(3, op + "1") + field(4, op) +
                      attrs);
}

} // namespace protobytes

#endif // ADZE_PYTHON_FREE_TESTS_IMPORT_ONNX_PROTOBYTES_H
