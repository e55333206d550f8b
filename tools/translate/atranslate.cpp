// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// atranslate: ONNX models to loadable modules.
#include "CommandLine.h"
#include "CrashHandling.h"
#include "Main.h"
#include "Support/OutputFile.h"
#include "Verify/CompileVerified.h"
#include "llvm/Support/raw_ostream.h"

int adze_translate_main(int argc, char **argv) {
  adze::installCrashHandling(argc, argv);
  adze::prepareOutputs();
  adze::CompileOptions options;
  if (auto status = adze::parseCommandLine(argc, argv, options))
    return static_cast<int>(*status);
  bool isOfCompilation = false;
  adze::CompileStatus status =
      adze::compileVerified(options, llvm::errs(), &isOfCompilation);
  if (status == adze::CompileStatus::Defect)
    adze::reportDefect(/*isOfPass=*/isOfCompilation);
  return static_cast<int>(status);
}
