// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Where in a model a pass went wrong.
#ifndef ADZE_LIB_VERIFY_LOCATION_H
#define ADZE_LIB_VERIFY_LOCATION_H

#include "Verify/Culprit.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace adze::verify {

/// A kernel, or an op of the graph where there are none yet, and its ONNX
/// nodes.
struct Place {
  std::string what;
  std::vector<std::string> nodes;
};

/// What the search asks of modules.
struct Questions {
  /// Whether the reference path gives other results for the module than for the
  /// model.
  llvm::function_ref<bool(mlir::ModuleOp)> differs;
  /// Whether it gives different results for two modules of one signature.
  llvm::function_ref<bool(mlir::ModuleOp, mlir::ModuleOp)> differ;
};

/// The first op that the pass of stage graph changed and whose value differs.
Place locateOp(const Culprit &culprit, const Questions &questions);

/// The kernel that the pass of a stage from tile to host changed and that makes
/// the difference, else the launch that it changed.
Place locateKernel(const Culprit &culprit, const Questions &questions);

/// The kernel for which the pass of stage kernel makes the difference.
Place locateCode(const Culprit &culprit, const CompileOptions &options,
                 Judge judge, mlir::ModuleOp program);

} // namespace adze::verify

#endif // ADZE_LIB_VERIFY_LOCATION_H
