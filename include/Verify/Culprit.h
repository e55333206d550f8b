// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Which pass of a compilation makes a wrong result.
#ifndef ADZE_VERIFY_CULPRIT_H
#define ADZE_VERIFY_CULPRIT_H

#include "Pipeline/Compile.h"
#include "Pipeline/PassCut.h"

namespace adze {

/// What the module of a compilation does. Unknown: there is none.
enum class Verdict { Same, Different, Unknown };

/// Compiles by the options, which have a cut, and compares the results.
using Judge = llvm::function_ref<Verdict(const CompileOptions &)>;

struct Culprit {
  explicit Culprit(Stage stage) : stage(stage) {}

  Stage stage;
  std::string pass;
  unsigned number = 0; // in the stage
  bool plainKernels = true;
  /// What the pass was given, and what it made; null for stage kernel.
  mlir::OwningOpRef<mlir::ModuleOp> before, after;
};

/// The first pass of the compilation after which the reference path gives other
/// results: found by stage, then by bisection. None where all stages agree.
std::optional<Culprit> findCulprit(const CompileOptions &options, Judge judge);

} // namespace adze

#endif // ADZE_VERIFY_CULPRIT_H
