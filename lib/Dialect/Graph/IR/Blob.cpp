// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Contents of constants and the table of the files that hold them.
#include "Dialect/Graph/IR/Blob.h"
#include "Support/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <sys/mman.h>

using namespace mlir;
using namespace adze::graph;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The alignment of blobs in the side file.
static constexpr uint64_t kSideAlignment = 64;

BlobKey BlobKey::get(ArrayRef<char> bytes) {
  auto hash = llvm::xxh3_128bits(
      {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
  return {hash.high64, hash.low64, bytes.size()};
}

std::string BlobKey::toString() const {
  return llvm::utohexstr(high, /*LowerCase=*/true, /*Width=*/16) +
         llvm::utohexstr(low, /*LowerCase=*/true, /*Width=*/16);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

BlobTable::~BlobTable() { removeTemporaries(); }

void BlobTable::removeTemporaries() {
  for (const std::string &temporary : temporaries)
    adze::removeTemporary(temporary);
  temporaries.clear();
}

std::string BlobTable::resolve(StringRef spelled, StringRef sourceDir) const {
  if (path::is_absolute(spelled))
    return spelled.str();
  SmallString<128> found;
  auto isIn = [&](StringRef dir) {
    found = dir;
    path::append(found, spelled);
    return fs::exists(found);
  };
  bool exists = !sourceDir.empty() && isIn(sourceDir);
  for (size_t i = 0; !exists && i < searchDirs.size(); ++i)
    exists = isIn(searchDirs[i]);
  // If the file is not found, the message names the source that was tried
  // first.
  if (!exists && !isIn(".") && !sourceDir.empty())
    isIn(sourceDir);
  return getAbsolutePath(found);
}

/// Maps a file from `offset` (rounded down to a page) to its end.
static std::unique_ptr<fs::mapped_file_region>
mapTail(StringRef path, uint64_t start, uint64_t end, std::string &error) {
  auto fd = fs::openNativeFileForRead(path);
  if (!fd) {
    error =
        "cannot open '" + path.str() + "': " + llvm::toString(fd.takeError());
    return nullptr;
  }
  fs::file_status status;
  std::error_code code = fs::status(*fd, status);
  std::unique_ptr<fs::mapped_file_region> mapping;
  uint64_t size = code ? 0 : status.getSize();
  if (!code && end > size)
    error = "expected " + std::to_string(end) + " bytes in '" + path.str() +
            "', but got " + std::to_string(size);
  else if (!code)
    mapping = std::make_unique<fs::mapped_file_region>(
        *fd, fs::mapped_file_region::readonly, size - start, start, code);
  fs::closeFile(*fd);
  if (code) {
    error = "cannot map '" + path.str() + "': " + code.message();
    return nullptr;
  }
  return mapping;
}

FailureOr<const char *> BlobTable::map(StringRef path, uint64_t offset,
                                       uint64_t bytes, std::string &error) {
  static const char empty = 0;
  if (offset + bytes < offset) {
    error = "expected an offset and size below 2^64";
    return failure();
  }
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Region> &regions = files[path];
  for (const Region &region : regions)
    if (offset >= region.offset &&
        offset + bytes <= region.offset + region.mapping->size())
      return region.mapping->const_data() + (offset - region.offset);
  if (bytes == 0)
    return &empty;
  // A file that has grown: existing mappings stay, and the rest is mapped, too.
  uint64_t start =
      offset - offset % uint64_t(fs::mapped_file_region::alignment());
  if (regions.empty())
    start = 0;
  auto mapping = mapTail(path, start, offset + bytes, error);
  if (!mapping)
    return failure();
  ++numMappings;
  regions.push_back({start, std::move(mapping)});
  return regions.back().mapping->const_data() + (offset - start);
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

void Blob::addSource(Source source) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Source &known : sources)
    if (known.path == source.path && known.offset == source.offset)
      return;
  sources.push_back(std::move(source));
  error.clear();
}

Blob *BlobTable::getUnique(BlobKey key, Blob::Source source) {
  Blob *blob;
  {
    std::lock_guard<std::mutex> lock(mutex);
    Blob *&slot = byContent[key];
    if (!slot)
      slot = &blobs.emplace_back(*this, key);
    blob = slot;
  }
  blob->addSource(std::move(source));
  return blob;
}

FailureOr<Blob *> BlobTable::get(BlobKey key, StringRef spelled,
                                 StringRef sourceDir, uint64_t offset,
                                 EmitError emitError) {
  std::string path = resolve(spelled, sourceDir), error;
  if (failed(map(path, offset, key.bytes, error)))
    return emitError() << "blob: " << error;
  return getUnique(key, {spelled.str(), path, offset});
}

FailureOr<Blob *> BlobTable::import(StringRef file, uint64_t offset,
                                    uint64_t bytes, EmitError emitError) {
  std::string path = resolve(file, ""), error;
  auto data = map(path, offset, bytes, error);
  if (failed(data))
    return emitError() << "blob: " << error;
  hashedBytes += bytes;
  Blob *blob = getUnique(BlobKey::get({*data, size_t(bytes)}),
                         {file.str(), path, offset});
  const char *none = nullptr;
  blob->data.compare_exchange_strong(none, *data, std::memory_order_release);
  return blob;
}

void BlobTable::retire(StringRef path) {
  auto it = files.find(path);
  if (it == files.end())
    return;
  std::string name = (path + " (replaced)").str();
  std::vector<Region> regions = std::move(it->second);
  files.erase(it);
  for (Region &region : regions)
    files[name].push_back(std::move(region));
  for (Blob &blob : blobs) {
    std::lock_guard<std::mutex> blobLock(blob.mutex);
    for (Blob::Source &source : blob.sources)
      if (source.path == path)
        source.path = name;
  }
}

std::error_code BlobTable::startSideFile() {
  sideIsNamed = !sideFile.empty();
  std::error_code code;
  int fd;
  if (sideIsNamed) {
    // It is relative to the working directory, unlike inputs.
    code = adze::createTemporaryBeside(getAbsolutePath(sideFile), fd, sidePath);
    if (!code)
      fs::closeFile(fd);
  } else {
    code = adze::createTemporary("adze", "weights", sidePath);
    sideFile = sidePath;
  }
  if (code)
    return code;
  temporaries.push_back(sidePath);
  sideName = sideFile;
  sideSize = 0;
  return {};
}

std::error_code BlobTable::append(ArrayRef<char> bytes) {
  if (sideFile.empty() || sideFile != sideName)
    if (std::error_code code = startSideFile())
      return code;
  std::error_code code;
  llvm::raw_fd_ostream os(sidePath, code, fs::CD_OpenExisting, fs::FA_Write,
                          fs::OF_Append);
  if (code)
    return code;
  uint64_t start = llvm::alignTo(sideSize, kSideAlignment);
  os.write_zeros(start - sideSize);
  os.write(bytes.data(), bytes.size());
  os.close();
  code = os.error();
  os.clear_error();
  if (!code)
    sideSize = start + bytes.size();
  return code;
}

Blob::Source BlobTable::getSideSource(uint64_t offset) const {
  return {sideFile, sidePath, offset};
}

FailureOr<Blob *> BlobTable::create(ArrayRef<char> bytes, EmitError emitError) {
  BlobKey key = BlobKey::get(bytes);
  hashedBytes += bytes.size();
  std::error_code code;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (Blob *known = byContent.lookup(key))
      return known;
    code = append(bytes);
    if (!code) {
      Blob *blob = byContent[key] = &blobs.emplace_back(*this, key);
      blob->sources.push_back(getSideSource(sideSize - bytes.size()));
      return blob;
    }
    writeError = code;
  }
  return emitError() << "blob: cannot write '" << sideFile
                     << "': " << code.message();
}

std::error_code BlobTable::keepSideFile() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!sideIsNamed || sideName.empty())
    return {};
  std::string from = sidePath, to = getAbsolutePath(sideName);
  if (std::error_code code = fs::rename(from, to))
    return code;
  llvm::sys::DontRemoveFileOnSignal(from);
  llvm::erase(temporaries, from);
  retire(to);
  for (Blob &blob : blobs) {
    std::lock_guard<std::mutex> blobLock(blob.mutex);
    for (Blob::Source &source : blob.sources)
      if (source.path == from)
        source.path = to;
  }
  // Mappings outlive the names of files.
  if (auto it = files.find(from); it != files.end()) {
    std::vector<Region> regions = std::move(it->second);
    files.erase(it);
    files[to] = std::move(regions);
  }
  sideName.clear();
  return {};
}

Blob::Source Blob::getSource() const {
  std::lock_guard<std::mutex> lock(mutex);
  return sources.front();
}

const char *Blob::findBytes(std::string &message) {
  std::vector<Source> candidates;
  {
    std::lock_guard<std::mutex> lock(mutex);
    message = error;
    if (error.empty())
      candidates = sources;
  }
  for (const Source &source : candidates) {
    std::string reason;
    auto found = table.map(source.path, source.offset, key.bytes, reason);
    if (succeeded(found)) {
      BlobKey actual = BlobKey::get({*found, size_t(key.bytes)});
      table.hashedBytes += key.bytes;
      if (actual == key) {
        moveToFront(source); // print the source that was read
        return *found;
      }
      reason = "expected hash " + key.toString() + " of '" + source.path +
               "' at " + std::to_string(source.offset) + ", but got " +
               actual.toString();
    }
    message += (message.empty() ? "" : "; ") + reason;
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (sources.size() == candidates.size())
    error = message;
  return nullptr;
}

void Blob::moveToFront(const Source &source) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Source &known : sources)
    if (known.path == source.path && known.offset == source.offset)
      std::swap(known, sources.front());
}

FailureOr<ArrayRef<char>> Blob::getBytes(EmitError emitError) {
  if (const char *known = data.load(std::memory_order_acquire))
    return ArrayRef<char>(known, key.bytes);
  std::string message;
  {
    std::lock_guard<std::mutex> lock(hashMutex);
    const char *found = data.load(std::memory_order_acquire);
    if (!found)
      found = findBytes(message);
    if (found) {
      data.store(found, std::memory_order_release);
      return ArrayRef<char>(found, key.bytes);
    }
  }
  if (emitError)
    emitError() << "blob: " << message;
  return failure();
}
