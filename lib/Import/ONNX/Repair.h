// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Models as tools write them and ONNX Runtime takes them, put in order.
#ifndef ADZE_LIB_IMPORT_ONNX_REPAIR_H
#define ADZE_LIB_IMPORT_ONNX_REPAIR_H

#include "Model.h"
#include "Protobuf.h"

namespace adze::importer {

/// Rewrites what ONNX does not allow and what has one meaning only: the order
/// of nodes, the spelling of the domain ai.onnx, operator sets of ONNX that are
/// used without an import, initializers without a name or of complex numbers
/// that nothing uses, and outputs that are declared twice. Each kind adds one
/// warning, which names the first place.
void repairModel(onnx::ModelProto &proto, Opsets &opsets,
                 std::vector<ModelWarning> &warnings);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_REPAIR_H
