// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// aopt: mlir-opt with Adze's dialects, passes and pipelines.
#include "InitAll.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  adze::registerAllDialects(registry);
  adze::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Adze's optimiser driver\n", registry));
}
