// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compilation with the verification of CompileOptions::verify.
#ifndef ADZE_VERIFY_COMPILEVERIFIED_H
#define ADZE_VERIFY_COMPILEVERIFIED_H

#include "Pipeline/Compile.h"

namespace adze {

/// Compiles, and compares the module with the reference path as the options
/// require. `isOfCompilation`, if given, is set to true if the status is that
/// of the compilation itself.
CompileStatus compileVerified(const CompileOptions &options,
                              llvm::raw_ostream &diagnostics,
                              bool *isOfCompilation = nullptr);

} // namespace adze

#endif // ADZE_VERIFY_COMPILEVERIFIED_H
