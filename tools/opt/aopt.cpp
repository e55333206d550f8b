// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// aopt: mlir-opt with Adze's dialects, passes and pipelines.
#include "InitAll.h"
#include "Main.h"
#include "Support/OutputFile.h"
#include "Support/Version.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

static llvm::cl::list<std::string>
    blobDirs("blob-dir",
             llvm::cl::desc("Where files of #graph.blob are looked for"));

/// Does the work of mlir::MlirOptMain, but writes the output completely or not
/// at all.
static mlir::LogicalResult run(int argc, char **argv,
                               mlir::DialectRegistry &registry) {
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Adze's optimiser driver\n", registry);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::MlirOptMain(argc, argv, input, output, registry);
  std::string message;
  auto file = mlir::openInputFile(input, &message);
  if (!file) {
    llvm::errs() << message << "\n";
    return mlir::failure();
  }
  bool isOk = true;
  llvm::Error error =
      adze::writeOutput(output, [&](llvm::raw_ostream &os) -> llvm::Error {
        isOk =
            succeeded(mlir::MlirOptMain(os, std::move(file), registry, config));
        return isOk ? llvm::Error::success()
                    : llvm::createStringError("nothing was written");
      });
  if (!error)
    return mlir::success();
  if (isOk)
    llvm::errs() << "error: " << error << "\n";
  llvm::consumeError(std::move(error));
  return mlir::failure();
}

int adze_opt_main(int argc, char **argv) {
  llvm::InitLLVM stackTraces(argc, argv);
  adze::prepareOutputs();
  llvm::cl::SetVersionPrinter(adze::printVersion);
  mlir::DialectRegistry registry;
  adze::registerAllDialects(registry);
  adze::registerAllPasses();
  registry.addExtension(
      +[](mlir::MLIRContext *, adze::graph::GraphDialect *dialect) {
        dialect->getBlobs().searchDirs.assign(blobDirs.begin(), blobDirs.end());
      });
  return mlir::asMainReturnCode(run(argc, argv, registry));
}
