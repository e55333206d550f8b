// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// atranslate: compiles ONNX models to loadable modules.
#include "CommandLine.h"
#include "CrashHandling.h"
#include "Main.h"
#include "Support/OutputFile.h"
#include "Support/Terminal.h"
#include "Verify/CompileVerified.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/raw_ostream.h"

namespace {
/// Shows a compilation's progress on the terminal.
class TerminalObserver final : public adze::CompileObserver {
public:
  explicit TerminalObserver(adze::ProgressStream &stream) : stream(stream) {}

  void report(const adze::CompileMessage &message) override {
    message.print(stream);
  }
  void progress(llvm::StringRef stage, size_t done, size_t all) override {
    stream.show(stage, done, all);
  }

private:
  adze::ProgressStream &stream;
};
} // namespace

/// Shows progress on a terminal, unless the user disabled it or this is a
/// reproducer run.
static adze::CompileStatus compileOnTerminal(adze::CompileOptions &options,
                                             bool *isOfCompilation) {
  if (!adze::isTerminal() || options.quiet || !options.reproducer.empty())
    return adze::compileVerified(options, llvm::errs(), isOfCompilation);
  adze::ProgressStream stream;
  TerminalObserver observer(stream);
  options.observer = &observer;
  return adze::compileVerified(options, stream, isOfCompilation);
}

int adze_translate_main(int argc, char **argv) {
  adze::installCrashHandling(argc, argv);
  adze::prepareOutputs();
  adze::CompileOptions options;
  if (auto status = adze::parseCommandLine(argc, argv, options))
    return static_cast<int>(*status);
  // Verification compiles several times. Sanitizers find memory that is lost.
  options.disableFree = options.verify == adze::Verify::None &&
                        options.precision != "auto" &&
                        !LLVM_ADDRESS_SANITIZER_BUILD;
  bool isOfCompilation = false;
  adze::CompileStatus status = compileOnTerminal(options, &isOfCompilation);
  if (status == adze::CompileStatus::Defect)
    adze::reportDefect(/*isOfPass=*/isOfCompilation);
  return static_cast<int>(status);
}
