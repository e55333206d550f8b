// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#include "Support/NodeName.h"

using namespace mlir;

StringRef adze::getNodeName(Location loc) {
  StringRef name;
  loc->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    name = named.getName();
    return WalkResult::interrupt();
  });
  return name;
}
