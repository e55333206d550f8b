// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// atranslate: ONNX models to loadable modules.
#include "CommandLine.h"
#include "CrashHandling.h"
#include "Support/OutputFile.h"
#include "Verify/Differential.h"
#include "Verify/Passes.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  adze::installCrashHandling(argc, argv);
  adze::prepareOutputs();
  adze::CompileOptions options;
  if (auto status = adze::parseCommandLine(argc, argv, options))
    return static_cast<int>(*status);
  adze::CompileStatus status = adze::compile(options, llvm::errs());
  bool isOfPass = status == adze::CompileStatus::Defect;
  if (status == adze::CompileStatus::Done &&
      options.verify == adze::Verify::Differential)
    status = adze::verifyDifferential(options, llvm::errs());
  if (status == adze::CompileStatus::Done &&
      options.verify == adze::Verify::Passes)
    status = adze::verifyPasses(options, llvm::errs());
  if (status == adze::CompileStatus::Defect)
    adze::reportDefect(isOfPass);
  return static_cast<int>(status);
}
