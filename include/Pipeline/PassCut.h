// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compilations that leave their level for the reference path on the way.
#ifndef ADZE_PIPELINE_PASSCUT_H
#define ADZE_PIPELINE_PASSCUT_H

#include "Pipeline/Stages.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <set>
#include <vector>

namespace adze {

/// Up to `numPasses` passes of `stage` the level's passes run; from there on
/// the reference path compiles what they made. After stage kernel there is no
/// other path: passes that code can do without are left out there.
struct PassCut {
  explicit PassCut(Stage stage) : stage(stage) {}

  Stage stage;              // Import: all is the reference path's
  unsigned numPasses = ~0u; // all of the stage
  bool plainKernels = true; // tile kernels by way of linalg
  /// Of stage kernel: other kernels than these get one pass less. Of others:
  /// these are not plain.
  std::set<std::string> kernels;
  bool hasKernels = false;

  // Set by the compilation:
  /// All passes of the stage, in order.
  std::vector<std::string> names;
  /// What the reference path was given; not of stage kernel.
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace adze

#endif // ADZE_PIPELINE_PASSCUT_H
