// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Repairs of invalid models that tools write and ONNX Runtime accepts.
#ifndef ADZE_LIB_IMPORT_ONNX_REPAIR_H
#define ADZE_LIB_IMPORT_ONNX_REPAIR_H

#include "Model.h"
#include "Protobuf.h"

namespace adze::importer {

/// Rewrites constructs that ONNX does not allow but that are unambiguous: the
/// order of nodes, the spelling of the domain ai.onnx, operator sets of ONNX
/// that are used without an import, unused initializers without a name or of
/// complex numbers, and outputs that are declared twice. Each kind adds one
/// warning, which names the first occurrence.
void repairModel(onnx::ModelProto &proto, Opsets &opsets,
                 std::vector<ModelWarning> &warnings);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_REPAIR_H
