// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The measurements of autotuning.
#ifndef ADZE_PIPELINE_TUNEDATABASE_H
#define ADZE_PIPELINE_TUNEDATABASE_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <string>

namespace adze {

/// Values of parameters by name.
using TuneBindings = std::map<std::string, int64_t>;

/// What was measured as the best for a kernel.
struct TuneEntry {
  std::string kernel;      ///< its name, for readers
  TuneBindings parameters; ///< on a GPU `tile.params.cuda`
  std::string schedule;    ///< the text of the attribute on a GPU, or empty
  double nanoseconds = 0;  ///< 0 if no run launches the kernel
};

/// A JSON file of entries by a digest of kernel, target and sizes.
class TuneDatabase {
public:
  /// An empty path or a file that does not exist has no entries.
  llvm::Error read(llvm::StringRef path);
  /// Writes the file if entries were added; an empty path is none.
  llvm::Error write(llvm::StringRef path) const;

  const TuneEntry *find(const std::string &key) const {
    auto it = entries.find(key);
    return it == entries.end() ? nullptr : &it->second;
  }
  void add(const std::string &key, TuneEntry entry) {
    entries[key] = std::move(entry);
    isChanged = true;
  }

private:
  std::map<std::string, TuneEntry> entries;
  bool isChanged = false;
};

} // namespace adze

#endif // ADZE_PIPELINE_TUNEDATABASE_H
