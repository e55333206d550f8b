// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Branches that differ in rank, of which a graph tensor can be one only.
#ifndef ADZE_LIB_IMPORT_ONNX_BRANCHCHOICES_H
#define ADZE_LIB_IMPORT_ONNX_BRANCHCHOICES_H

#include "llvm/ADT/SmallVector.h"

namespace adze::importer {

/// The branches that an attempt at a model takes, in the order in which it
/// comes to them. What an attempt that fails has not come to is not tried
/// with each of them.
class BranchChoices {
public:
  /// Whether this attempt takes the first branch of the next one.
  bool next() {
    if (count == taken.size())
      taken.push_back(true);
    return taken[count++];
  }
  /// Goes on to the next attempt; false behind the last one.
  bool advance() {
    taken.truncate(count);
    count = 0;
    while (!taken.empty() && !taken.back())
      taken.pop_back();
    if (taken.empty())
      return false;
    taken.back() = false;
    return true;
  }

private:
  llvm::SmallVector<bool> taken;
  size_t count = 0;
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_BRANCHCHOICES_H
