// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// EPContext nodes: compiled partitions in a model.
#ifndef ADZE_EP_CONTEXT_H
#define ADZE_EP_CONTEXT_H

#include "Compiler.h"
#include "Graph.h"

namespace adze::ep {

/// Returns true if the node holds a module of this provider.
bool isContext(const GraphReader &reader, const OrtNode *node);

/// Returns the module of an EPContext node. The file of a module must be in the
/// folder of the model or below.
ModuleSource readContext(const GraphReader &reader, const OrtGraph *graph,
                         const OrtNode *node, const Options &options);

/// Creates the EPContext node for a fused node; ONNX Runtime owns it. The
/// module is in the node, or in a file in the folder of the model.
OrtNode *makeContext(const GraphReader &reader, const OrtGraph *graph,
                     const OrtNode *fused, const ModuleSource &module,
                     const Options &options);

/// Returns the compatibility string for a model's metadata, and whether this
/// provider can run a model with it.
std::string getCompatibility();
OrtCompiledModelCompatibility checkCompatibility(const char *info);

} // namespace adze::ep

#endif // ADZE_EP_CONTEXT_H
