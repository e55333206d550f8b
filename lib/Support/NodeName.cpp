// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#include "Support/NodeName.h"
#include "llvm/ADT/SetVector.h"

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

static void collectNames(Location loc, llvm::SetVector<StringRef> &names) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collectNames(part, names);
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    // Names without a location in the model are those of initialisers.
    if (isa<FileLineColLoc>(name.getChildLoc()))
      names.insert(name.getName().getValue());
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectNames(call.getCallee(), names);
  }
}

SmallVector<StringRef> adze::getNodeNames(Location loc) {
  llvm::SetVector<StringRef> names;
  collectNames(loc, names);
  return names.takeVector();
}
