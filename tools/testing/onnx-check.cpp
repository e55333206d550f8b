// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// onnx-check: verifies models by ONNX's checker (with shape inference), and the
// uniqueness of node names, which ONNX Runtime requires.
#include "onnx/checker.h"
#include "onnx/common/file_utils.h"
#include "onnx/onnx_pb.h"
#include <iostream>
#include <set>

static void check(const std::string &path) {
  onnx::checker::check_model(path, /*full_check=*/true);
  onnx::ModelProto model;
  onnx::LoadProtoFromPath(path, model);
  std::set<std::string> names;
  for (const onnx::NodeProto &node : model.graph().node())
    if (!node.name().empty() && !names.insert(node.name()).second)
      throw std::runtime_error("two nodes have the name '" + node.name() + "'");
  std::cout << path << ": " << model.graph().node_size() << " nodes, "
            << model.graph().initializer_size() << " initializers\n";
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: onnx-check MODEL.onnx...\n"
                 "example: onnx-check exported.onnx\n";
    return 2;
  }
  int status = 0;
  for (int i = 1; i < argc; ++i) {
    try {
      check(argv[i]);
    } catch (const std::exception &e) {
      std::cerr << "error: " << argv[i] << ": " << e.what() << "\n";
      status = 1;
    }
  }
  return status;
}
