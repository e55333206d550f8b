// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A compilation, and what CompileOptions::verify asks for.
#ifndef ADZE_VERIFY_COMPILEVERIFIED_H
#define ADZE_VERIFY_COMPILEVERIFIED_H

#include "Pipeline/Compile.h"

namespace adze {

/// Compiles, and holds the module to the reference path as the options say.
/// `isOfCompilation`, if given, is set to whether the status is the
/// compilation's own.
CompileStatus compileVerified(const CompileOptions &options,
                              llvm::raw_ostream &diagnostics,
                              bool *isOfCompilation = nullptr);

} // namespace adze

#endif // ADZE_VERIFY_COMPILEVERIFIED_H
