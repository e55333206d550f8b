// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// atranslate: ONNX models to loadable modules.
#include "CommandLine.h"
#include "CrashHandling.h"
#include "Pipeline/Compile.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  adze::installCrashHandling(argc, argv);
  adze::CompileOptions options;
  if (auto status = adze::parseCommandLine(argc, argv, options))
    return static_cast<int>(*status);
  return static_cast<int>(adze::compile(options, llvm::errs()));
}
