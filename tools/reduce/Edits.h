// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ways to make a model smaller. Each gives a model that may be invalid: ONNX's
// checker decides.
#ifndef ADZE_TOOLS_REDUCE_EDITS_H
#define ADZE_TOOLS_REDUCE_EDITS_H

#include "onnx/onnx_pb.h"
#include <set>
#include <string>
#include <vector>

namespace adze::reduce {

/// The model of a file, with all weights in it.
onnx::ModelProto load(const std::string &path);

/// Returns true if ONNX's checker takes the model; with `infers`, also the
/// inference of all shapes.
bool isValid(const onnx::ModelProto &model, bool infers);

/// Only these nodes (by number). What they read of others becomes an input of
/// the graph, what nobody reads any more an output.
onnx::ModelProto keepNodes(const onnx::ModelProto &model,
                           const std::vector<size_t> &nodes);
/// Only these outputs, and what they are made of.
onnx::ModelProto keepOutputs(const onnx::ModelProto &model,
                             const std::vector<size_t> &outputs);
/// Only these initializers; the others become inputs of the graph.
onnx::ModelProto keepInitializers(const onnx::ModelProto &model,
                                  const std::vector<size_t> &initializers);
/// Only these attributes, counted over all nodes.
onnx::ModelProto keepAttributes(const onnx::ModelProto &model,
                                const std::vector<size_t> &attributes);
size_t countAttributes(const onnx::ModelProto &model);

/// The sizes above 1 of inputs and initializers, the greatest first.
std::vector<int64_t> getSizes(const onnx::ModelProto &model);
/// Each dim of that size is another one, and so is each such number in a small
/// constant; of initializers the first elements stay.
onnx::ModelProto resize(const onnx::ModelProto &model, int64_t from,
                        int64_t to);

/// Without documentation, shapes that can be inferred, and what nobody calls.
onnx::ModelProto strip(const onnx::ModelProto &model);

} // namespace adze::reduce

#endif // ADZE_TOOLS_REDUCE_EDITS_H
