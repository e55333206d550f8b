// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A cache of outputs in a folder, by a digest of their inputs.
#ifndef ADZE_LIB_PIPELINE_CACHE_H
#define ADZE_LIB_PIPELINE_CACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <system_error>

namespace adze {

/// The files of one key. Each has a note with its digest, and both are renamed
/// when they are complete; files that do not match their note are ignored.
class CacheEntry {
public:
  CacheEntry(llvm::StringRef folder, std::string key)
      : folder(folder), key(std::move(key)) {}

  /// Restores the files to `outputs`: all of them, or none, and returns false.
  /// An output is a hard link if the file system supports it.
  bool restore(llvm::ArrayRef<std::string> outputs) const;
  /// Stores the files at `outputs`.
  std::error_code store(llvm::ArrayRef<std::string> outputs) const;

private:
  std::string getPath(size_t index, llvm::StringRef extension) const;
  bool isWhole(size_t index) const;

  std::string folder, key;
};

} // namespace adze

#endif // ADZE_LIB_PIPELINE_CACHE_H
