// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads libraries with passes and dialects, as mlir-opt does.
#include "Conversion/Passes.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "Pipeline/Compile.h"
#include "Target/Passes.h"
#include "Transforms/Passes.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/DynamicLibrary.h"
#include <mutex>

namespace adze {

using mlir::DialectPlugin, mlir::DialectRegistry, mlir::PassPlugin;

static llvm::Error loadPlugin(const std::string &path,
                              DialectRegistry &registry) {
  std::string message;
  auto library =
      llvm::sys::DynamicLibrary::getPermanentLibrary(path.c_str(), &message);
  if (!library.isValid())
    return llvm::createStringError(message);
  bool hasPasses = library.getAddressOfSymbol("mlirGetPassPluginInfo");
  bool hasDialects = library.getAddressOfSymbol("mlirGetDialectPluginInfo");
  if (!hasPasses && !hasDialects)
    return llvm::createStringError(path +
                                   ": expected mlirGetPassPluginInfo or "
                                   "mlirGetDialectPluginInfo, but got neither");
  if (hasPasses) {
    auto plugin = PassPlugin::load(path);
    if (!plugin)
      return plugin.takeError();
    plugin->registerPassRegistryCallbacks();
  }
  if (hasDialects) {
    auto plugin = DialectPlugin::load(path);
    if (!plugin)
      return plugin.takeError();
    plugin->registerDialectRegistryCallbacks(registry);
  }
  return llvm::Error::success();
}

void registerStagePasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerTransformsPasses();
    graph::registerGraphTransformsPasses();
    tile::registerTileTransformsPasses();
    registerConversionPasses();
    registerTargetPasses();
    adze::registerTransformsPasses();
  });
}

llvm::Error loadPlugins(const std::vector<std::string> &paths,
                        DialectRegistry &registry) {
  for (const std::string &path : paths)
    if (llvm::Error error = loadPlugin(path, registry))
      return error;
  return llvm::Error::success();
}

} // namespace adze
