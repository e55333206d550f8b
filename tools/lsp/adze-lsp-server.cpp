// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// adze-lsp-server: MLIR's language server with Adze's dialects.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Tile.h"
#include "Support/OutputFile.h"
#include "Support/Version.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  llvm::cl::SetVersionPrinter(adze::printVersion);
  adze::prepareOutputs();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<adze::graph::GraphDialect, adze::tile::TileDialect,
                  adze::host::HostDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
