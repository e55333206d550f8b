// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Narrow types for products within an error bound (--precision=auto).
#ifndef ADZE_VERIFY_AUTOPRECISION_H
#define ADZE_VERIFY_AUTOPRECISION_H

#include "Pipeline/Compile.h"

namespace adze {

/// Compiles the model of `options` with products in bf16, and compares the
/// module with f32 in this process on seeded random inputs. If the error of an
/// output exceeds options.maxError of its range, the products with the greatest
/// error for their work stay in f32, as few as the bound allows.
CompileStatus compileAutoPrecision(const CompileOptions &options,
                                   llvm::raw_ostream &diagnostics);

} // namespace adze

#endif // ADZE_VERIFY_AUTOPRECISION_H
