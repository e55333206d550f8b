// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Messages of the protobuf schema of ONNX, written field by field, without a
// second copy of the weights.
#ifndef ADZE_LIB_EXPORT_ONNX_PROTO_H
#define ADZE_LIB_EXPORT_ONNX_PROTO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LEB128.h"
#include <cstring>
#include <string>

namespace adze::exporter {

/// The encoding of one message.
class Proto {
public:
  void integer(unsigned field, uint64_t value) {
    varint(field << 3);
    varint(value);
  }
  void string(unsigned field, llvm::StringRef value) {
    length(field, value.size());
    bytes += value;
  }
  void message(unsigned field, const Proto &value) {
    string(field, value.bytes);
  }
  void real(unsigned field, float value) {
    varint(field << 3 | 5);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  /// Writes the header of a field whose `size` bytes follow elsewhere.
  void length(unsigned field, uint64_t size) {
    varint(field << 3 | 2);
    varint(size);
  }

  std::string bytes;

private:
  void varint(uint64_t value) {
    uint8_t buffer[10];
    unsigned size = llvm::encodeULEB128(value, buffer);
    bytes.append(reinterpret_cast<const char *>(buffer), size);
  }
};

/// Field numbers of onnx.proto.
namespace field {
enum Model { IrVersion = 1, ProducerName = 2, ModelGraph = 7, OpsetImport = 8 };
enum Opset { OpsetDomain = 1, OpsetVersion = 2 };
enum Graph {
  GraphNode = 1,
  GraphName = 2,
  GraphInitializer = 5,
  GraphInput = 11,
  GraphOutput = 12
};
enum Node {
  NodeInput = 1,
  NodeOutput = 2,
  NodeName = 3,
  NodeOp = 4,
  NodeAttribute = 5
};
enum Attribute {
  AttributeName = 1,
  AttributeFloat = 2,
  AttributeInt = 3,
  AttributeString = 4,
  AttributeInts = 8,
  AttributeType = 20
};
enum AttributeKind { Float = 1, Int = 2, String = 3, Ints = 7 };
enum Tensor { TensorDims = 1, TensorType = 2, TensorName = 8, TensorRaw = 9 };
enum Value { ValueName = 1, ValueType = 2 };
enum Type { TypeTensor = 1, TypeElement = 1, TypeShape = 2, ShapeDim = 1 };
enum Dim { DimValue = 1, DimParam = 2 };
} // namespace field

/// A NodeProto under construction.
class Node {
public:
  explicit Node(llvm::StringRef op) { proto.string(field::NodeOp, op); }

  void input(llvm::StringRef name) { proto.string(field::NodeInput, name); }
  void output(llvm::StringRef name) { proto.string(field::NodeOutput, name); }
  void name(llvm::StringRef name) { proto.string(field::NodeName, name); }
  void attribute(llvm::StringRef name, int64_t value) {
    Proto a = begin(name, field::Int);
    a.integer(field::AttributeInt, uint64_t(value));
    proto.message(field::NodeAttribute, a);
  }
  void attribute(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    Proto a = begin(name, field::Ints);
    for (int64_t value : values)
      a.integer(field::AttributeInts, uint64_t(value));
    proto.message(field::NodeAttribute, a);
  }
  void attribute(llvm::StringRef name, float value) {
    Proto a = begin(name, field::Float);
    a.real(field::AttributeFloat, value);
    proto.message(field::NodeAttribute, a);
  }
  void attribute(llvm::StringRef name, llvm::StringRef value) {
    Proto a = begin(name, field::String);
    a.string(field::AttributeString, value);
    proto.message(field::NodeAttribute, a);
  }

  Proto proto;

private:
  static Proto begin(llvm::StringRef name, field::AttributeKind kind) {
    Proto a;
    a.string(field::AttributeName, name);
    a.integer(field::AttributeType, kind);
    return a;
  }
};

} // namespace adze::exporter

#endif // ADZE_LIB_EXPORT_ONNX_PROTO_H
