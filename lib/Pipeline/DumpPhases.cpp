// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the IR after each stage (--dump-phases).
#include "Compilation.h"
#include "Pipeline/Stages.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace adze {

void printModule(ModuleOp module, llvm::raw_ostream &os) {
  module.print(os, OpPrintingFlags().enableDebugInfo(true));
  os << "\n";
}

LogicalResult Compilation::dumpPhase(Stage stage, ModuleOp module,
                                     StringRef prefix) {
  if (options.dumpPhases.empty())
    return success();
  llvm::SmallString<128> path(options.dumpPhases);
  llvm::sys::path::append(path, std::to_string(static_cast<unsigned>(stage)) +
                                    "-" + prefix + getStageName(stage) +
                                    ".mlir");
  // Files of the folder are named relative to the text.
  llvm::SaveAndRestore base(getBlobs().printBase,
                            getAbsolutePath(options.dumpPhases));
  llvm::Error error = ::adze::writeOutput(path, [&](llvm::raw_ostream &os) {
    printModule(module, os);
    return llvm::Error::success();
  });
  if (!error)
    return success();
  reportFileError(std::move(error));
  return failure();
}

CompileStatus Compilation::createDumpFolder() {
  if (options.dumpPhases.empty())
    return CompileStatus::Done;
  if (std::error_code code =
          llvm::sys::fs::create_directories(options.dumpPhases))
    return reportFileError(llvm::createFileError(options.dumpPhases, code));
  if (std::string &side = getBlobs().sideFile; side.empty()) {
    llvm::SmallString<128> path(options.dumpPhases);
    llvm::sys::path::append(path, "constants.weights");
    side = path.str().str();
  }
  return CompileStatus::Done;
}

CompileStatus Compilation::keepDumpedConstants() {
  if (options.dumpPhases.empty())
    return CompileStatus::Done;
  graph::BlobTable &blobs = getBlobs();
  if (std::error_code code = blobs.keepSideFile())
    return reportFileError(llvm::createFileError(blobs.sideFile, code));
  return CompileStatus::Done;
}

} // namespace adze
