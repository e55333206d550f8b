// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// onnx-as: writes a model in ONNX's text format as an .onnx file. Flags add
// what the text format cannot express.
#include "onnx/defs/parser.h"
#include "onnx/onnx_pb.h"
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

static const char kHelp[] =
    "usage: onnx-as IN.onnxtxt -o OUT.onnx [flags]\n"
    "  --raw             initialisers as raw_data\n"
    "  --iota NAME       fill an initialiser with 0, 1, 2, ... (f32, i64)\n"
    "  --fill NAME       the same with 2, 2, 2, ...\n"
    "  --dims NAME=1x-2  replace the dims of an initialiser\n"
    "  --shape NAME=-1x? replace the dims of an input; words are names\n"
    "  --type NAME=7     replace its data_type\n"
    "  --unname          take the names off all nodes\n"
    "  --rename NAME=NEW rename an initializer\n"
    "  --untype NAME     take the type off an output\n"
    "  --sparse NAME=1,4:2x3  make an initializer, or the value of the\n"
    "                    Constant of that name, a sparse tensor of these\n"
    "                    indices (coordinates: 0.1,1.1) and dims\n"
    "example: onnx-as model.onnxtxt -o model.onnx --iota w\n";

namespace {

using onnx::TensorProto;

int64_t count(const TensorProto &tensor) {
  int64_t n = 1;
  for (int64_t dim : tensor.dims())
    n *= dim;
  return n;
}

template <typename T>
void append(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

/// Fills a tensor with an arithmetic sequence from `first` in steps of `step`.
void fill(TensorProto &tensor, int64_t first, int64_t step) {
  std::string bytes;
  for (int64_t i = 0, n = count(tensor); i < n; ++i)
    if (tensor.data_type() == TensorProto::FLOAT)
      append(bytes, float(first + i * step));
    else
      append(bytes, int64_t(first + i * step));
  tensor.clear_float_data();
  tensor.clear_int64_data();
  tensor.set_raw_data(bytes);
}

void makeRaw(TensorProto &tensor) {
  std::string bytes;
  for (float value : tensor.float_data())
    append(bytes, value);
  for (int64_t value : tensor.int64_data())
    append(bytes, value);
  if (bytes.empty())
    return;
  tensor.clear_float_data();
  tensor.clear_int64_data();
  tensor.set_raw_data(bytes);
}

TensorProto *find(onnx::ModelProto &model, const std::string &name) {
  for (TensorProto &tensor : *model.mutable_graph()->mutable_initializer())
    if (tensor.name() == name)
      return &tensor;
  throw std::runtime_error("expected an initialiser, but got '" + name + "'");
}

/// Makes a sparse tensor with the elements of a vector as values.
onnx::SparseTensorProto makeSparse(const TensorProto &values,
                                   const std::string &text) {
  onnx::SparseTensorProto sparse;
  *sparse.mutable_values() = values;
  size_t colon = text.find(':');
  if (colon == std::string::npos)
    throw std::runtime_error("expected INDICES:DIMS, but got '" + text + "'");
  TensorProto &indices = *sparse.mutable_indices();
  indices.set_data_type(TensorProto::INT64);
  std::istringstream list(text.substr(0, colon)), dims(text.substr(colon + 1));
  int64_t count = 0, width = 0;
  for (std::string index; std::getline(list, index, ','); ++count) {
    std::istringstream parts(index);
    width = 0;
    for (std::string part; std::getline(parts, part, '.'); ++width)
      indices.add_int64_data(std::stoll(part));
  }
  indices.add_dims(count);
  if (width > 1)
    indices.add_dims(width);
  for (std::string dim; std::getline(dims, dim, 'x');)
    sparse.add_dims(std::stoll(dim));
  return sparse;
}

void makeSparse(onnx::ModelProto &model, const std::string &name,
                const std::string &text) {
  auto &initializers = *model.mutable_graph()->mutable_initializer();
  for (int i = 0; i < initializers.size(); ++i)
    if (initializers[i].name() == name) {
      *model.mutable_graph()->add_sparse_initializer() =
          makeSparse(initializers[i], text);
      initializers.DeleteSubrange(i, 1);
      return;
    }
  for (onnx::NodeProto &node : *model.mutable_graph()->mutable_node())
    if (node.op_type() == "Constant" && node.output(0) == name) {
      onnx::AttributeProto &value = *node.mutable_attribute(0);
      auto sparse = makeSparse(value.t(), text);
      value.clear_t();
      value.set_name("sparse_value");
      value.set_type(onnx::AttributeProto::SPARSE_TENSOR);
      *value.mutable_sparse_tensor() = sparse;
      return;
    }
  throw std::runtime_error("expected an initializer or a Constant, but got '" +
                           name + "'");
}

void untype(onnx::ModelProto &model, const std::string &name) {
  for (auto &output : *model.mutable_graph()->mutable_output())
    if (output.name() == name)
      output.clear_type();
}

void setDims(TensorProto &tensor, const std::string &text) {
  tensor.clear_dims();
  std::istringstream dims(text);
  for (std::string dim; std::getline(dims, dim, 'x');)
    tensor.add_dims(std::stoll(dim));
}

void setShape(onnx::ModelProto &model, const std::string &name,
              const std::string &text) {
  for (onnx::ValueInfoProto &input : *model.mutable_graph()->mutable_input()) {
    if (input.name() != name)
      continue;
    auto *shape = input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->clear_dim();
    std::istringstream dims(text);
    for (std::string dim; std::getline(dims, dim, 'x');) {
      bool isSize = dim.find_first_not_of("-0123456789") == std::string::npos;
      if (isSize)
        shape->add_dim()->set_dim_value(std::stoll(dim));
      else
        shape->add_dim()->set_dim_param(dim);
    }
    return;
  }
  throw std::runtime_error("expected an input, but got '" + name + "'");
}

/// Splits NAME=VALUE.
std::pair<std::string, std::string> split(const std::string &text) {
  size_t at = text.rfind('=');
  if (at == std::string::npos)
    throw std::runtime_error("expected NAME=VALUE, but got '" + text + "'");
  return {text.substr(0, at), text.substr(at + 1)};
}

struct Flag {
  std::string name, value;
};

/// Parses flags in their order; a file name is a flag without a name.
std::vector<Flag> parseFlags(int argc, char **argv) {
  std::vector<Flag> flags;
  for (int i = 1; i < argc; ++i) {
    Flag flag{argv[i], ""};
    if (flag.name[0] != '-')
      flag = {"", argv[i]};
    else if (flag.name != "--raw" && flag.name != "--unname" && i + 1 < argc)
      flag.value = argv[++i];
    flags.push_back(flag);
  }
  return flags;
}

void apply(onnx::ModelProto &model, const Flag &flag) {
  if (flag.name == "--raw") {
    for (TensorProto &tensor : *model.mutable_graph()->mutable_initializer())
      makeRaw(tensor);
  } else if (flag.name == "--unname") {
    for (onnx::NodeProto &node : *model.mutable_graph()->mutable_node())
      node.clear_name();
  } else if (flag.name == "--iota") {
    fill(*find(model, flag.value), 0, 1);
  } else if (flag.name == "--fill") {
    fill(*find(model, flag.value), 2, 0);
  } else if (flag.name == "--dims") {
    auto [name, dims] = split(flag.value);
    setDims(*find(model, name), dims);
  } else if (flag.name == "--shape") {
    auto [name, dims] = split(flag.value);
    setShape(model, name, dims);
  } else if (flag.name == "--untype") {
    untype(model, flag.value);
  } else if (flag.name == "--rename") {
    auto [name, other] = split(flag.value);
    find(model, name)->set_name(other);
  } else if (flag.name == "--sparse") {
    auto [name, text] = split(flag.value);
    makeSparse(model, name, text);
  } else if (flag.name == "--type") {
    auto [name, type] = split(flag.value);
    find(model, name)->set_data_type(std::stoi(type));
  } else if (!flag.name.empty() && flag.name != "-o") {
    throw std::runtime_error("unknown flag " + flag.name);
  }
}

int run(int argc, char **argv) {
  std::string in, out;
  std::vector<Flag> flags = parseFlags(argc, argv);
  for (const Flag &flag : flags)
    if (flag.name.empty())
      in = flag.value;
    else if (flag.name == "-o")
      out = flag.value;
  if (in.empty() || out.empty()) {
    std::cerr << kHelp;
    return 2;
  }
  std::ifstream file(in);
  std::stringstream text;
  text << file.rdbuf();
  onnx::ModelProto model;
  auto status = onnx::OnnxParser::Parse(model, text.str());
  if (!file || !status.IsOK())
    throw std::runtime_error(in + ": " + status.ErrorMessage());
  for (const Flag &flag : flags)
    apply(model, flag);
  std::ofstream os(out, std::ios::binary);
  if (!model.SerializeToOstream(&os) || !os.flush())
    throw std::runtime_error("cannot write " + out);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &e) {
    std::cerr << "error: " << e.what() << "\n";
    return 1;
  }
}
