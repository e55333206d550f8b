// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Registration of all dialects and passes, for tools. Only tools include this.
#ifndef ADZE_INITALL_H
#define ADZE_INITALL_H

#include "Conversion/Passes.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Tile.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "Pipeline/JITEvaluator.h"
#include "Pipeline/Stages.h"
#include "Target/Passes.h"
#include "Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

namespace adze {

inline void registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<graph::GraphDialect, tile::TileDialect, host::HostDialect>();
  registerConstantEvaluator(registry);
}

inline void registerAllPasses() {
  mlir::registerAllPasses();
  graph::registerGraphTransformsPasses();
  tile::registerTileTransformsPasses();
  registerConversionPasses();
  registerTargetPasses();
  registerTransformsPasses();
  registerPipelines();
}

} // namespace adze

#endif // ADZE_INITALL_H
