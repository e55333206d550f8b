// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compares a compiled module with that of the reference path on random inputs.
#ifndef ADZE_VERIFY_DIFFERENTIAL_H
#define ADZE_VERIFY_DIFFERENTIAL_H

#include "Pipeline/Compile.h"

namespace adze {

/// Compiles the model of `options` again at -O0, runs it and the compiled
/// module (options.output) in this process on seeded random inputs, and
/// compares the outputs. Returns Defect, with a message, if they differ by more
/// than rounding explains; the module is then removed.
CompileStatus verifyDifferential(const CompileOptions &options,
                                 llvm::raw_ostream &diagnostics);

} // namespace adze

#endif // ADZE_VERIFY_DIFFERENTIAL_H
