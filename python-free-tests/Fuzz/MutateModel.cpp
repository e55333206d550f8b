// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// libFuzzer's mutator for models. Random bytes are seldom a model, as most fail
// in the parser. This mutator changes the contents of a model (dims, types,
// attributes, operators, operands, versions), and bytes in a quarter of the
// cases. Idea: structure-aware fuzzing, as in libprotobuf-mutator.
#include "onnx/defs/schema.h"
#include "onnx/onnx_pb.h"
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::TensorProto;
using onnx::TensorShapeProto;
using onnx::ValueInfoProto;

class Mutator {
public:
  Mutator(ModelProto &model, unsigned seed) : model(model), random(seed) {
    collect(*model.mutable_graph());
    for (auto &function : *model.mutable_functions())
      collect(*function.mutable_node());
  }

  /// One change, or none if there is nothing to change.
  void run() {
    switch (random() % 10) {
    case 0:
    case 1:
    case 2:
      return changeShape();
    case 3:
      return changeType();
    case 4:
    case 5:
      return changeAttribute();
    case 6:
    case 7:
      return changeOperands();
    case 8:
      return changeTensor();
    default:
      return random() % 3 ? changeOperator() : changeVersion();
    }
  }

private:
  /// Collects everything that can be changed, including nested graphs.
  void collect(GraphProto &graph) {
    for (auto *list : {graph.mutable_input(), graph.mutable_output(),
                       graph.mutable_value_info()})
      for (ValueInfoProto &value : *list) {
        values.push_back(&value);
        names.push_back(value.name());
      }
    for (TensorProto &tensor : *graph.mutable_initializer()) {
      tensors.push_back(&tensor);
      names.push_back(tensor.name());
    }
    collect(*graph.mutable_node());
  }

  template <typename NodesT>
  void collect(NodesT &list) {
    for (NodeProto &node : list) {
      nodes.push_back(&node);
      names.insert(names.end(), node.output().begin(), node.output().end());
      for (AttributeProto &attribute : *node.mutable_attribute()) {
        if (attribute.has_g())
          collect(*attribute.mutable_g());
        if (attribute.has_t())
          tensors.push_back(attribute.mutable_t());
      }
    }
  }

  template <typename T>
  T *choose(std::vector<T *> &list) {
    return list.empty() ? nullptr : list[random() % list.size()];
  }

  int64_t getNumber() {
    constexpr int64_t numbers[] = {0,
                                   1,
                                   2,
                                   3,
                                   -1,
                                   -2,
                                   7,
                                   64,
                                   1000,
                                   INT32_MAX,
                                   int64_t(1) << 32,
                                   int64_t(1) << 62,
                                   INT64_MAX,
                                   INT64_MIN};
    return numbers[random() % std::size(numbers)];
  }

  float getFloat() {
    const float numbers[] = {0,
                             1,
                             -1,
                             0.5f,
                             1e30f,
                             -std::numeric_limits<float>::infinity(),
                             std::nanf("")};
    return numbers[random() % std::size(numbers)];
  }

  std::string getName() {
    return names.empty() || random() % 8 == 0 ? ""
                                              : names[random() % names.size()];
  }

  onnx::TypeProto_Tensor *chooseTensorType() {
    ValueInfoProto *value = choose(values);
    if (!value || !value->has_type())
      return nullptr;
    auto *type = value->mutable_type();
    if (type->has_optional_type())
      type = type->mutable_optional_type()->mutable_elem_type();
    if (type->has_sequence_type())
      type = type->mutable_sequence_type()->mutable_elem_type();
    return type->has_tensor_type() ? type->mutable_tensor_type() : nullptr;
  }

  void changeShape() {
    auto *type = chooseTensorType();
    if (!type)
      return;
    TensorShapeProto &shape = *type->mutable_shape();
    int count = shape.dim_size();
    unsigned kind = random() % 5;
    if (kind == 0) {
      auto *dim = shape.add_dim();
      dim->set_dim_value(1 + random() % 3);
      if (count > 0)
        shape.mutable_dim()->SwapElements(count, random() % count);
    } else if (kind == 1 && count > 0) {
      shape.mutable_dim()->DeleteSubrange(random() % count, 1);
    } else if (kind == 2 && random() % 4 == 0) {
      type->clear_shape();
    } else if (count > 0) {
      auto *dim = shape.mutable_dim(random() % count);
      if (kind == 3)
        dim->set_dim_param(random() % 2 ? "n" : "m");
      else
        dim->set_dim_value(getNumber());
    }
  }

  void changeType() {
    if (random() % 2) {
      if (auto *type = chooseTensorType())
        type->set_elem_type(random() % 27);
      return;
    }
    if (TensorProto *tensor = choose(tensors))
      tensor->set_data_type(random() % 27);
  }

  void changeAttribute() {
    NodeProto *node = choose(nodes);
    if (!node)
      return;
    if (node->attribute_size() == 0 || random() % 8 == 0)
      return addAttribute(*node);
    AttributeProto &attribute =
        *node->mutable_attribute(random() % node->attribute_size());
    if (attribute.ints_size() > 0) {
      unsigned kind = random() % 3;
      if (kind == 0)
        attribute.add_ints(getNumber());
      else if (kind == 1)
        attribute.mutable_ints()->RemoveLast();
      else
        attribute.set_ints(random() % attribute.ints_size(), getNumber());
    } else if (attribute.floats_size() > 0) {
      attribute.set_floats(random() % attribute.floats_size(), getFloat());
    } else if (attribute.has_i()) {
      attribute.set_i(getNumber());
    } else if (attribute.has_f()) {
      attribute.set_f(getFloat());
    } else if (random() % 4 == 0) {
      node->mutable_attribute()->RemoveLast();
    }
  }

  /// An attribute of the operator's definition.
  void addAttribute(NodeProto &node) {
    const onnx::OpSchema *schema =
        onnx::OpSchemaRegistry::Schema(node.op_type(), node.domain());
    if (!schema || schema->attributes().empty())
      return;
    auto it = schema->attributes().begin();
    std::advance(it, random() % schema->attributes().size());
    AttributeProto *attribute = node.add_attribute();
    attribute->set_name(it->first);
    attribute->set_type(it->second.type);
    if (it->second.type == AttributeProto::INTS)
      attribute->add_ints(getNumber());
    else if (it->second.type == AttributeProto::FLOAT)
      attribute->set_f(getFloat());
    else
      attribute->set_i(getNumber());
  }

  void changeOperands() {
    NodeProto *node = choose(nodes);
    if (!node)
      return;
    int count = node->input_size();
    switch (random() % 6) {
    case 0:
      node->add_input(getName());
      return;
    case 1:
      if (count > 0)
        node->mutable_input()->RemoveLast();
      return;
    case 2:
      if (count > 1)
        node->mutable_input()->SwapElements(random() % count, random() % count);
      return;
    case 3:
      if (node->output_size() > 0)
        node->set_output(random() % node->output_size(), getName());
      return;
    default:
      if (count > 0)
        node->set_input(random() % count, getName());
    }
  }

  void changeTensor() {
    TensorProto *tensor = choose(tensors);
    if (!tensor)
      return;
    int count = tensor->dims_size();
    if (count == 0 || random() % 3 == 0)
      tensor->add_dims(random() % 2 ? 1 : getNumber());
    else if (random() % 2)
      tensor->set_dims(random() % count, getNumber());
    else
      tensor->mutable_dims()->RemoveLast();
    for (int64_t &value : *tensor->mutable_int64_data())
      if (random() % 4 == 0)
        value = getNumber();
    if (tensor->raw_data().size() == 8 && random() % 2) {
      int64_t value = getNumber();
      tensor->set_raw_data(&value, sizeof(value));
    }
  }

  void changeOperator() {
    static const std::vector<onnx::OpSchema> schemas =
        onnx::OpSchemaRegistry::get_all_schemas();
    NodeProto *node = choose(nodes);
    if (!node || schemas.empty())
      return;
    const onnx::OpSchema &schema = schemas[random() % schemas.size()];
    node->set_op_type(schema.Name());
    node->set_domain(schema.domain());
  }

  void changeVersion() {
    if (model.opset_import_size() > 0)
      model.mutable_opset_import(random() % model.opset_import_size())
          ->set_version(random() % 30);
  }

  ModelProto &model;
  std::minstd_rand random;
  std::vector<ValueInfoProto *> values;
  std::vector<TensorProto *> tensors;
  std::vector<NodeProto *> nodes;
  std::vector<std::string> names;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  ModelProto model;
  if (seed % 4 == 0 || !model.ParseFromArray(data, static_cast<int>(size)) ||
      !model.has_graph())
    return LLVMFuzzerMutate(data, size, maxSize);
  Mutator(model, seed).run();
  size_t length = model.ByteSizeLong();
  if (length > maxSize ||
      !model.SerializeToArray(data, static_cast<int>(length)))
    return LLVMFuzzerMutate(data, size, maxSize);
  return length;
}
