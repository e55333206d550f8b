// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compares a compilation with the reference path stage by stage.
#ifndef ADZE_VERIFY_PASSES_H
#define ADZE_VERIFY_PASSES_H

#include "Pipeline/Compile.h"

namespace adze {

/// Runs the reference path on the output of each stage for the model of
/// `options`, and the compiled module, on seeded random inputs. Returns Defect
/// if a result differs, with a message that names the pass, the kernel, its
/// ONNX nodes and the files with the inputs; the module is then removed.
CompileStatus verifyPasses(const CompileOptions &options,
                           llvm::raw_ostream &diagnostics);

} // namespace adze

#endif // ADZE_VERIFY_PASSES_H
