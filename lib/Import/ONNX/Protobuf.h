// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Converts protobuf messages to plain data, for the reader. Invalid messages
// throw.
#ifndef ADZE_LIB_IMPORT_ONNX_PROTOBUF_H
#define ADZE_LIB_IMPORT_ONNX_PROTOBUF_H

#include "Model.h"
#include "onnx/onnx_pb.h"

namespace adze::importer {

/// Versions by domain.
using Opsets = llvm::StringMap<int>;

/// Reads the versions. Of two versions of a domain the first one is used, and a
/// message is added to `problems`.
Opsets readOpsets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &list,
    std::vector<std::string> &problems);

/// Converts messages. With `marked`, raw_data is that of a skeleton, and is
/// converted for the checker: small data is restored, other data and external
/// files are hidden (as a tensor without elements).
class Converter {
public:
  /// `denseBytes` counts the bytes of sparse tensors that are made dense.
  Converter(const Opsets &opsets, bool marked, uint64_t &denseBytes)
      : opsets(opsets), marked(marked), denseBytes(denseBytes) {}

  void graph(onnx::GraphProto &proto, Graph &graph) const;
  void node(onnx::NodeProto &proto, Node &node) const;
  void attribute(onnx::AttributeProto &proto, Attribute &attribute) const;

private:
  const Opsets &opsets;
  bool marked;
  uint64_t &denseBytes;
};

void readValueInfo(const onnx::ValueInfoProto &proto, ValueInfo &info);

void readFunction(onnx::FunctionProto &proto, const Converter &convert,
                  Function &function);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_PROTOBUF_H
