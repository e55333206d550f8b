// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The narrow type where it is accurate enough (--precision=auto).
#ifndef ADZE_VERIFY_AUTOPRECISION_H
#define ADZE_VERIFY_AUTOPRECISION_H

#include "Pipeline/Compile.h"

namespace adze {

/// Compiles the model of `options` with products in bf16, and holds the module
/// to f32 in this process on seeded random inputs. Where an output is off by
/// more than options.maxError of its range, the products that lose most for
/// their work stay in f32, as few as the bound allows.
CompileStatus compileAutoPrecision(const CompileOptions &options,
                                   llvm::raw_ostream &diagnostics);

} // namespace adze

#endif // ADZE_VERIFY_AUTOPRECISION_H
