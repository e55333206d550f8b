// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds the pass of a compilation that introduces a wrong result.
#ifndef ADZE_VERIFY_CULPRIT_H
#define ADZE_VERIFY_CULPRIT_H

#include "Pipeline/Compile.h"
#include "Pipeline/PassLimit.h"

namespace adze {

/// The comparison of the results of a module. Unknown: there is no module.
enum class Verdict { Same, Different, Unknown };

/// Compiles by the options, which have a limit, and compares the results.
using Judge = llvm::function_ref<Verdict(const CompileOptions &)>;

struct Culprit {
  explicit Culprit(Stage stage) : stage(stage) {}

  Stage stage;
  std::string pass;
  unsigned number = 0; // index in the stage
  bool plainKernels = true;
  /// The input and the output of the pass; null for stage kernel.
  mlir::OwningOpRef<mlir::ModuleOp> before, after;
};

/// Finds the first pass of the compilation after which the reference path has
/// different results, by stage, then by bisection. Returns nothing if all
/// stages agree.
std::optional<Culprit> findCulprit(const CompileOptions &options, Judge judge);

} // namespace adze

#endif // ADZE_VERIFY_CULPRIT_H
