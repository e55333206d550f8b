// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Finished outputs kept in a folder, by a digest of all that made them.
#ifndef ADZE_LIB_PIPELINE_CACHE_H
#define ADZE_LIB_PIPELINE_CACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <system_error>

namespace adze {

/// The files of one key. Each is kept beside a note of its digest, both under
/// names that they get when they are whole; what does not fit its note is as if
/// it were not there.
class CacheEntry {
public:
  CacheEntry(llvm::StringRef folder, std::string key)
      : folder(folder), key(std::move(key)) {}

  /// Puts the kept files at `outputs`: all of them, or false and none. An
  /// output is a link of the kept file where the file system can do that.
  bool restore(llvm::ArrayRef<std::string> outputs) const;
  /// Keeps the files at `outputs`.
  std::error_code store(llvm::ArrayRef<std::string> outputs) const;

private:
  std::string getPath(size_t index, llvm::StringRef extension) const;
  bool isWhole(size_t index) const;

  std::string folder, key;
};

} // namespace adze

#endif // ADZE_LIB_PIPELINE_CACHE_H
