// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Findings of the ONNX checker.
#ifndef ADZE_LIB_IMPORT_ONNX_CHECK_H
#define ADZE_LIB_IMPORT_ONNX_CHECK_H

#include "Model.h"
#include "onnx/onnx_pb.h"

namespace adze::importer {

/// Adds the findings of the ONNX checker on `proto` to the problems of `model`,
/// which was created from it, and of its nodes.
void checkModel(const onnx::ModelProto &proto, Model &model);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_CHECK_H
