// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Locates the part of a model that a pass compiled wrongly.
#ifndef ADZE_LIB_VERIFY_LOCATION_H
#define ADZE_LIB_VERIFY_LOCATION_H

#include "Verify/Culprit.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace adze::verify {

/// A kernel with its ONNX nodes; before kernels exist, an op of the graph.
struct Suspect {
  std::string what;
  std::vector<std::string> nodes;
};

/// The tests that the search runs on modules.
struct Questions {
  /// Returns true if the module, completed by the reference path, gives other
  /// results than the model.
  llvm::function_ref<bool(mlir::ModuleOp)> differs;
  /// Returns true if two modules of one signature give different results.
  llvm::function_ref<bool(mlir::ModuleOp, mlir::ModuleOp)> differ;
};

/// Returns the first op that the pass of stage graph changed and whose value
/// differs.
Suspect locateOp(const Culprit &culprit, const Questions &questions);

/// Returns the kernel that the pass of a stage from tile to host changed and
/// that causes the difference; if there is none, the launch that it changed.
Suspect locateKernel(const Culprit &culprit, const Questions &questions);

/// Returns the kernel whose code by the pass of stage kernel causes the
/// difference.
Suspect locateCode(const Culprit &culprit, const CompileOptions &options,
                   Judge judge, mlir::ModuleOp program);

} // namespace adze::verify

#endif // ADZE_LIB_VERIFY_LOCATION_H
