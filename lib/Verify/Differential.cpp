// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compares a compiled module with that of the reference path on random inputs.
#include "Verify/Differential.h"
#include "Execution.h"
#include "Support/OutputFile.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

namespace adze {

using namespace verify;

/// Compiles the model of `options` by the reference path, for this machine.
static CompileStatus compileReference(const CompileOptions &options,
                                      const std::string &output,
                                      bool &isQuantized,
                                      llvm::raw_ostream &diagnostics) {
  CompileOptions reference = options;
  reference.isQuantized = &isQuantized;
  reference.output = output;
  reference.optLevel = 0;
  reference.tune = Tune::Off;
  reference.cpu = true;
  reference.cpus = {"native"};
  reference.triple.clear();
  reference.cudaTargets.clear();
  reference.stats = reference.timing = reference.injectFault = false;
  reference.dumpPhases.clear();
  reference.report.clear();
  reference.externalWeights.clear();
  return compile(reference, diagnostics);
}

CompileStatus verifyDifferential(const CompileOptions &options,
                                 llvm::raw_ostream &diagnostics) {
  std::string path;
  if (std::error_code code = createTemporary("adze-reference", "so", path)) {
    diagnostics << "error: " << code.message() << "\n";
    return CompileStatus::InputAtFault;
  }
  llvm::scope_exit remover([&] { removeTemporary(path); });
  Execution reference, compiled;
  CompileStatus status =
      compileReference(options, path, reference.isQuantized, diagnostics);
  if (status != CompileStatus::Done)
    return status;
  for (auto [execution, file] :
       {std::pair(&reference, path), std::pair(&compiled, options.output)})
    if (std::string error = execution->open(file); !error.empty()) {
      diagnostics << "error: unsupported: --verify=differential of a module "
                     "that does not run here: "
                  << error << "\n";
      return CompileStatus::Unsupported;
    }
  std::mt19937_64 random(1);
  for (int64_t size : sizes) {
    std::string difference = runBoth(
        reference, compiled, makeInputs(reference.module, size, random));
    if (difference.empty())
      continue;
    diagnostics << "error: " << options.input
                << ": the module differs from the reference path (seed 1, "
                   "dynamic dims near "
                << size << "): " << difference << "\n";
    llvm::sys::fs::remove(options.output);
    if (!options.externalWeights.empty())
      llvm::sys::fs::remove(options.externalWeights);
    return CompileStatus::Defect;
  }
  return CompileStatus::Done;
}

} // namespace adze
