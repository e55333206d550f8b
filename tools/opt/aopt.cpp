// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// aopt: mlir-opt with Adze's dialects, passes and pipelines.
#include "InitAll.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

static llvm::cl::list<std::string>
    blobDirs("blob-dir",
             llvm::cl::desc("Where files of #graph.blob are looked for"));

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  adze::registerAllDialects(registry);
  adze::registerAllPasses();
  registry.addExtension(
      +[](mlir::MLIRContext *, adze::graph::GraphDialect *dialect) {
        dialect->getBlobs().searchDirs.assign(blobDirs.begin(),
                                              blobDirs.end());
      });
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Adze's optimiser driver\n", registry));
}
