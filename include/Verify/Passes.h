// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A compilation held to the reference path stage by stage.
#ifndef ADZE_VERIFY_PASSES_H
#define ADZE_VERIFY_PASSES_H

#include "Pipeline/Compile.h"

namespace adze {

/// Runs the reference path on what each stage makes of the model of `options`,
/// and the module that was compiled, on seeded random inputs. Defect, where one
/// differs, with a message that names the pass, the kernel, its ONNX nodes and
/// the files with the inputs; the module is then removed.
CompileStatus verifyPasses(const CompileOptions &options,
                           llvm::raw_ostream &diagnostics);

} // namespace adze

#endif // ADZE_VERIFY_PASSES_H
