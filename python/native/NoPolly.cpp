// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Debian's LLVM asks for Polly when it optimises bitcode at link time, which we
// never do: without this definition its library would have to be linked.
#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder &) {}};
}
