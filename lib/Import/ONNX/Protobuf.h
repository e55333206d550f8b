// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Protobuf messages to plain data, for the reader: what is wrong throws.
#ifndef ADZE_LIB_IMPORT_ONNX_PROTOBUF_H
#define ADZE_LIB_IMPORT_ONNX_PROTOBUF_H

#include "Model.h"
#include "onnx/onnx_pb.h"

namespace adze::importer {

/// Version by domain.
using Opsets = llvm::StringMap<int>;

/// Of two versions of a domain the first one counts, and `problems` gets a
/// message.
Opsets readOpsets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &list,
    std::vector<std::string> &problems);

/// Converts messages. With `marked`, raw_data is as a skeleton holds it, and is
/// put in order for the checker: small data as it was, other data and external
/// files out of its sight (as a tensor without elements).
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
