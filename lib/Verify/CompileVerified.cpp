// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles a model and verifies the result as CompileOptions::verify requests.
#include "Verify/CompileVerified.h"
#include "Verify/AutoPrecision.h"
#include "Verify/Differential.h"
#include "Verify/Passes.h"
#include "Verify/ScheduleSearch.h"

namespace adze {

CompileStatus compileVerified(const CompileOptions &options,
                              llvm::raw_ostream &diagnostics,
                              bool *isOfCompilation) {
  bool isSearched = options.tune == Tune::Measure &&
                    !options.cudaTargets.empty() && !options.check;
  CompileStatus status = options.precision == "auto"
                             ? compileAutoPrecision(options, diagnostics)
                         : isSearched ? compileSearched(options, diagnostics)
                                      : compile(options, diagnostics);
  if (isOfCompilation)
    *isOfCompilation = status != CompileStatus::Done;
  if (status != CompileStatus::Done)
    return status;
  switch (options.verify) {
  case Verify::None:
    return status;
  case Verify::Differential:
    return verifyDifferential(options, diagnostics);
  case Verify::Passes:
    return verifyPasses(options, diagnostics);
  }
  llvm_unreachable("a kind of verification");
}

} // namespace adze
