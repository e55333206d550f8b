// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compilations that switch to the reference path after a given pass.
#ifndef ADZE_PIPELINE_PASSLIMIT_H
#define ADZE_PIPELINE_PASSLIMIT_H

#include "Pipeline/Stages.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <set>
#include <vector>

namespace adze {

/// The first `numPasses` passes of `stage` run; afterwards, the reference path
/// compiles the result. Stage kernel has no other path: optional passes after
/// the limit are skipped there.
struct PassLimit {
  explicit PassLimit(Stage stage) : stage(stage) {}

  Stage stage;              // Import: the reference path only
  unsigned numPasses = ~0u; // all of the stage
  bool plainKernels = true; // tile kernels are lowered through linalg
  /// In stage kernel: kernels other than these run one pass less. In other
  /// stages: kernels that are not plain.
  std::set<std::string> kernels;
  bool hasKernels = false;

  // Set by the compilation:
  /// All passes of the stage, in order.
  std::vector<std::string> names;
  /// The input of the reference path; not set in stage kernel.
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace adze

#endif // ADZE_PIPELINE_PASSLIMIT_H
