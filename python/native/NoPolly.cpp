// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Debian's LLVM refers to Polly for link-time optimization of bitcode, which
// Adze does not use. This definition avoids linking its library.
#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder &) {}};
}
