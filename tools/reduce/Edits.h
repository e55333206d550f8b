// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Transformations that make a model smaller. The result may be invalid, which
// ONNX's checker detects.
#ifndef ADZE_TOOLS_REDUCE_EDITS_H
#define ADZE_TOOLS_REDUCE_EDITS_H

#include "onnx/onnx_pb.h"
#include <set>
#include <string>
#include <vector>

namespace adze::reduce {

/// Loads a model from a file, with all weights in it.
onnx::ModelProto load(const std::string &path);

/// Returns true if ONNX's checker accepts the model; with `infers`, also if
/// shape inference succeeds.
bool isValid(const onnx::ModelProto &model, bool infers);

/// Keeps only these nodes (by index). Values that they read of other nodes
/// become inputs of the graph, and unused results become outputs.
onnx::ModelProto keepNodes(const onnx::ModelProto &model,
                           const std::vector<size_t> &nodes);
/// Keeps only these outputs, and the values that they are computed from.
onnx::ModelProto keepOutputs(const onnx::ModelProto &model,
                             const std::vector<size_t> &outputs);
/// Keeps only these initializers; the others become inputs of the graph.
onnx::ModelProto keepInitializers(const onnx::ModelProto &model,
                                  const std::vector<size_t> &initializers);
/// Keeps only these attributes, counted over all nodes.
onnx::ModelProto keepAttributes(const onnx::ModelProto &model,
                                const std::vector<size_t> &attributes);
size_t countAttributes(const onnx::ModelProto &model);

/// Returns the sizes above 1 of inputs and initializers, in descending order.
std::vector<int64_t> getSizes(const onnx::ModelProto &model);
/// Replaces each dim of size `from`, and each such number in a small constant,
/// by `to`; initializers keep their first elements.
onnx::ModelProto resize(const onnx::ModelProto &model, int64_t from,
                        int64_t to);

/// Removes documentation, shapes that can be inferred, and unused functions.
onnx::ModelProto strip(const onnx::ModelProto &model);

} // namespace adze::reduce

#endif // ADZE_TOOLS_REDUCE_EDITS_H
