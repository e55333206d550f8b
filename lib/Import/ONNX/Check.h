// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What ONNX's checker has to say of a model.
#ifndef ADZE_LIB_IMPORT_ONNX_CHECK_H
#define ADZE_LIB_IMPORT_ONNX_CHECK_H

#include "Model.h"
#include "onnx/onnx_pb.h"

namespace adze::importer {

/// Adds what ONNX's checker finds in `proto` to the problems of `model`, which
/// was made of it, and of its nodes.
void checkModel(const onnx::ModelProto &proto, Model &model);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_CHECK_H
