// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Selection between branches whose results differ in rank, which tensors cannot
// represent.
#ifndef ADZE_LIB_IMPORT_ONNX_BRANCHCHOICES_H
#define ADZE_LIB_IMPORT_ONNX_BRANCHCHOICES_H

#include "llvm/ADT/SmallVector.h"

namespace adze::importer {

/// The branches that an attempt to import a model takes, in order. If an
/// attempt fails, combinations of choices after the failure are not tried.
class BranchChoices {
public:
  /// Returns true if this attempt takes the first branch of the next op.
  bool next() {
    if (count == taken.size())
      taken.push_back(true);
    return taken[count++];
  }
  /// Advances to the next attempt. Returns false after the last one.
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
