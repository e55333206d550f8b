// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Converts protobuf messages to plain data. Invalid messages throw.
#include "Protobuf.h"
#include "Sparse.h"
#include "Wire.h"
#include "onnx/defs/schema.h"

using namespace adze::importer;
using onnx::AttributeProto;
using onnx::TensorProto;

namespace {

template <typename Stored, typename Field>
std::string packElements(const Field &field) {
  std::string bytes;
  bytes.reserve(size_t(field.size()) * sizeof(Stored));
  for (auto element : field) {
    Stored stored = static_cast<Stored>(element);
    bytes.append(reinterpret_cast<const char *>(&stored), sizeof(stored));
  }
  return bytes;
}

/// Returns the elements of typed data fields in the format of raw_data.
std::string packTyped(const TensorProto &tensor) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
  case TensorProto::COMPLEX64:
    return packElements<float>(tensor.float_data());
  case TensorProto::DOUBLE:
  case TensorProto::COMPLEX128:
    return packElements<double>(tensor.double_data());
  case TensorProto::INT64:
    return packElements<int64_t>(tensor.int64_data());
  case TensorProto::UINT64:
    return packElements<uint64_t>(tensor.uint64_data());
  case TensorProto::UINT32:
    return packElements<uint32_t>(tensor.uint64_data());
  case TensorProto::INT32:
    return packElements<int32_t>(tensor.int32_data());
  case TensorProto::UINT16:
  case TensorProto::INT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return packElements<uint16_t>(tensor.int32_data());
  default:
    return packElements<uint8_t>(tensor.int32_data());
  }
}

void readExternal(const TensorProto &tensor, TensorData &data) {
  data.storage = TensorData::Storage::External;
  for (const auto &entry : tensor.external_data()) {
    if (entry.key() == "location")
      data.location = entry.value();
    uint64_t number = 0;
    if (entry.key() != "offset" && entry.key() != "length")
      continue;
    if (llvm::StringRef(entry.value()).getAsInteger(10, number))
      data.problem = "expected the " + entry.key() +
                     " of external data to be a number, but got '" +
                     entry.value() + "'";
    else if (entry.key() == "offset")
      data.offset = number;
    else
      data.size = number;
  }
  if (data.location.empty())
    data.problem = "expected the location of external data, but got none";
}

/// Converts a tensor. With `marked`, raw_data is that of a skeleton, and is
/// converted for the checker: small data is restored, other data and external
/// files are hidden (as a tensor without elements).
void readTensor(TensorProto &tensor, bool marked, TensorData &data) {
  data.name = tensor.name();
  data.dataType = tensor.data_type();
  data.dims.assign(tensor.dims().begin(), tensor.dims().end());
  bool hide = false;
  if (tensor.has_data_location() &&
      tensor.data_location() == TensorProto::EXTERNAL) {
    readExternal(tensor, data);
    hide = true;
  } else if (tensor.has_raw_data()) {
    std::optional<RawData> raw;
    if (marked)
      raw = RawData::decode(tensor.raw_data());
    else
      raw = RawData{false, tensor.raw_data(), 0, tensor.raw_data().size()};
    if (!raw)
      throw std::runtime_error("expected raw_data as the wire pass leaves it");
    if (raw->inFile) {
      data.storage = TensorData::Storage::InModel;
      data.offset = raw->offset;
      hide = true;
    } else {
      data.bytes = raw->bytes.str();
      if (marked)
        tensor.set_raw_data(data.bytes);
    }
    data.size = raw->size;
  } else if (tensor.data_type() == TensorProto::STRING) {
    data.strings.assign(tensor.string_data().begin(),
                        tensor.string_data().end());
  } else {
    data.bytes = packTyped(tensor);
    data.size = data.bytes.size();
  }
  if (!hide || !marked)
    return;
  tensor.clear_raw_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.clear_dims();
  tensor.add_dims(0);
}

/// Converts a sparse tensor to a dense one. The ONNX checker uses unchecked
/// values as indices, so it receives one without values.
TensorData readSparse(onnx::SparseTensorProto &proto, uint64_t &used) {
  SparseData sparse;
  readTensor(*proto.mutable_values(), /*marked=*/false, sparse.values);
  readTensor(*proto.mutable_indices(), /*marked=*/false, sparse.indices);
  sparse.dims.assign(proto.dims().begin(), proto.dims().end());
  TensorData dense = makeDense(sparse, used);
  TensorProto values;
  values.set_name(proto.values().name());
  values.set_data_type(TensorProto::FLOAT);
  values.add_dims(0);
  *proto.mutable_values() = values;
  proto.clear_indices();
  proto.clear_dims();
  proto.add_dims(1);
  return dense;
}

int getOpsetVersion(const Opsets &opsets, llvm::StringRef domain) {
  auto found = opsets.find(domain);
  if (found == opsets.end() && (domain.empty() || domain == "ai.onnx"))
    found = opsets.find(domain.empty() ? "ai.onnx" : "");
  return found == opsets.end() ? 0 : found->second;
}

std::shared_ptr<TypeInfo> readType(const onnx::TypeProto &proto) {
  auto type = std::make_shared<TypeInfo>();
  if (proto.has_tensor_type()) {
    const auto &tensor = proto.tensor_type();
    type->kind = TypeInfo::Kind::Tensor;
    type->elementType = tensor.elem_type();
    if (tensor.has_shape())
      type->rank = tensor.shape().dim_size();
  } else if (proto.has_sequence_type()) {
    type->kind = TypeInfo::Kind::Sequence;
    type->element = readType(proto.sequence_type().elem_type());
  } else if (proto.has_optional_type()) {
    type->kind = TypeInfo::Kind::Optional;
    type->element = readType(proto.optional_type().elem_type());
  } else if (proto.has_map_type()) {
    type->kind = TypeInfo::Kind::Map;
    type->elementType = proto.map_type().key_type();
    type->element = readType(proto.map_type().value_type());
  }
  return type;
}

} // namespace

void Converter::attribute(AttributeProto &proto, Attribute &attribute) const {
  using Kind = Attribute::Kind;
  attribute.name = proto.name();
  attribute.reference = proto.ref_attr_name();
  auto addTensor = [&](TensorProto &tensor) {
    readTensor(tensor, marked, attribute.tensors.emplace_back());
  };
  auto addGraph = [&](onnx::GraphProto &nested) {
    attribute.graphs.push_back(std::make_shared<Graph>());
    graph(nested, *attribute.graphs.back());
  };
  switch (proto.type()) {
  case AttributeProto::FLOAT:
    attribute.kind = Kind::Float;
    attribute.f = proto.f();
    break;
  case AttributeProto::INT:
    attribute.kind = Kind::Int;
    attribute.i = proto.i();
    break;
  case AttributeProto::STRING:
    attribute.kind = Kind::String;
    attribute.s = proto.s();
    break;
  case AttributeProto::TENSOR:
    attribute.kind = Kind::Tensor;
    addTensor(*proto.mutable_t());
    break;
  case AttributeProto::SPARSE_TENSOR:
    attribute.kind = Kind::Tensor;
    attribute.tensors.push_back(
        readSparse(*proto.mutable_sparse_tensor(), denseBytes));
    break;
  case AttributeProto::GRAPH:
    attribute.kind = Kind::Graph;
    addGraph(*proto.mutable_g());
    break;
  case AttributeProto::FLOATS:
    attribute.kind = Kind::Floats;
    attribute.floats.assign(proto.floats().begin(), proto.floats().end());
    break;
  case AttributeProto::INTS:
    attribute.kind = Kind::Ints;
    attribute.ints.assign(proto.ints().begin(), proto.ints().end());
    break;
  case AttributeProto::STRINGS:
    attribute.kind = Kind::Strings;
    attribute.strings.assign(proto.strings().begin(), proto.strings().end());
    break;
  case AttributeProto::TENSORS:
    attribute.kind = Kind::Tensors;
    llvm::for_each(*proto.mutable_tensors(), addTensor);
    break;
  case AttributeProto::GRAPHS:
    attribute.kind = Kind::Graphs;
    llvm::for_each(*proto.mutable_graphs(), addGraph);
    break;
  case AttributeProto::TYPE_PROTO:
    attribute.kind = Kind::Type;
    attribute.type = readType(proto.tp());
    break;
  default:
    break;
  }
}

void Converter::node(onnx::NodeProto &proto, Node &node) const {
  node.name = proto.name();
  node.opType = proto.op_type();
  node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
  node.overload = proto.overload();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  for (AttributeProto &attr : *proto.mutable_attribute())
    attribute(attr, node.attributes.emplace_back());
  node.proto = &proto;
  node.opsetVersion = getOpsetVersion(opsets, node.domain);
  const auto *schema = onnx::OpSchemaRegistry::Schema(
      proto.op_type(), node.opsetVersion, node.domain);
  node.sinceVersion = schema ? schema->since_version() : 0;
}

void adze::importer::readValueInfo(const onnx::ValueInfoProto &proto,
                                   ValueInfo &info) {
  info.name = proto.name();
  info.isTensor = proto.type().has_tensor_type();
  if (!info.isTensor)
    info.type = readType(proto.type());
  const auto &type = proto.type().tensor_type();
  info.elementType = type.elem_type();
  if (!type.has_shape())
    return;
  info.dims.emplace();
  for (const auto &dim : type.shape().dim()) {
    Dim &out = info.dims->emplace_back();
    // Exporters write -1 and "?" for unknown sizes.
    if (dim.has_dim_value() && dim.dim_value() != -1)
      out.size = dim.dim_value();
    else if (dim.dim_param() != "?")
      out.name = dim.dim_param();
  }
}

void Converter::graph(onnx::GraphProto &proto, Graph &graph) const {
  graph.name = proto.name();
  for (const auto &info : proto.input())
    readValueInfo(info, graph.inputs.emplace_back());
  for (const auto &info : proto.output())
    readValueInfo(info, graph.outputs.emplace_back());
  for (const auto &info : proto.value_info()) {
    readValueInfo(info, graph.values.emplace_back());
    if (info.type().tensor_type().has_shape())
      graph.ranks[info.name()] = info.type().tensor_type().shape().dim_size();
  }
  for (TensorProto &tensor : *proto.mutable_initializer())
    readTensor(tensor, marked, graph.initializers.emplace_back());
  for (onnx::SparseTensorProto &tensor : *proto.mutable_sparse_initializer())
    graph.initializers.push_back(readSparse(tensor, denseBytes));
  for (onnx::NodeProto &n : *proto.mutable_node())
    node(n, graph.nodes.emplace_back());
}

Opsets adze::importer::readOpsets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &list,
    std::vector<std::string> &problems) {
  Opsets opsets;
  for (const auto &opset : list) {
    if (opset.version() < 1 || opset.version() > INT32_MAX)
      throw std::runtime_error("expected an opset version from 1 on, but got " +
                               std::to_string(opset.version()));
    std::string domain = opset.domain() == "ai.onnx" ? "" : opset.domain();
    int version = static_cast<int>(opset.version());
    auto [known, isNew] = opsets.try_emplace(domain, version);
    if (!isNew && known->second != version)
      problems.push_back("expected one opset_import for domain '" + domain +
                         "', but got versions " +
                         std::to_string(known->second) + " and " +
                         std::to_string(version));
  }
  return opsets;
}

void adze::importer::readFunction(onnx::FunctionProto &proto,
                                  const Converter &convert,
                                  Function &function) {
  function.name = proto.name();
  function.inputs.assign(proto.input().begin(), proto.input().end());
  function.outputs.assign(proto.output().begin(), proto.output().end());
  for (AttributeProto &attr : *proto.mutable_attribute_proto())
    convert.attribute(attr, function.defaults.emplace_back());
  for (onnx::NodeProto &node : *proto.mutable_node())
    convert.node(node, function.nodes.emplace_back());
  for (const auto &info : proto.value_info()) {
    ValueInfo &value = function.values.emplace_back();
    readValueInfo(info, value);
    // A name refers to a different size in each call.
    if (value.dims)
      for (Dim &dim : *value.dims)
        dim.name.clear();
  }
}
