// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants that stay in the files they came from: contents (Blob), the table
// of mapped files, and helpers that treat small and large constants alike.
#ifndef ADZE_DIALECT_GRAPH_IR_BLOB_H
#define ADZE_DIALECT_GRAPH_IR_BLOB_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace adze::graph {
class BlobTable;

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// What identifies a content: its xxh3-128 and its size.
struct BlobKey {
  uint64_t high = 0, low = 0, bytes = 0;
  bool operator==(const BlobKey &other) const {
    return high == other.high && low == other.low && bytes == other.bytes;
  }
  /// The key of the bytes.
  static BlobKey get(llvm::ArrayRef<char> bytes);
  /// The hash as 32 hexadecimal digits.
  std::string toString() const;
};

/// One content, and where its bytes can be read. Owned by the table.
class Blob {
public:
  struct Place {
    std::string spelled; ///< as it was written
    std::string path;    ///< absolute
    uint64_t offset;
  };

  const BlobKey key;

  Blob(BlobTable &table, BlobKey key) : key(key), table(table) {}

  /// The bytes, checked against the hash on the first call. Thread-safe.
  /// `emitError` may be null.
  mlir::FailureOr<llvm::ArrayRef<char>> getBytes(EmitError emitError);
  /// Where the bytes are (the first place, or the one that was read).
  Place getPlace() const;
  BlobTable &getTable() const { return table; }

private:
  friend class BlobTable;
  void addPlace(Place place);
  void moveToFront(const Place &place);
  /// The bytes at the first place that has them, or why there is none.
  const char *findBytes(std::string &message);

  BlobTable &table;
  std::atomic<const char *> data{nullptr};
  // Held while hashing, so that a content is hashed once; never while a
  // diagnostic is emitted, which prints and so asks getPlace(). Taken before
  // the table's.
  std::mutex hashMutex;
  // Guards the rest. Nothing else is locked while it is held.
  mutable std::mutex mutex;
  std::vector<Place> places;
  std::string error;
};

/// The contents that a context knows and the files they are in. Thread-safe but
/// for the public fields, which are set before first use.
class BlobTable {
public:
  BlobTable() = default;
  ~BlobTable();

  /// The blob of a key, readable at `offset` of the file `spelled`. Checks that
  /// the file is there and long enough.
  mlir::FailureOr<Blob *> get(BlobKey key, llvm::StringRef spelled,
                              llvm::StringRef sourceDir, uint64_t offset,
                              EmitError emitError);
  /// The blob of bytes of a file; hashes them.
  mlir::FailureOr<Blob *> import(llvm::StringRef file, uint64_t offset,
                                 uint64_t bytes, EmitError emitError);
  /// The blob of new bytes: found again if known, else appended to the side
  /// file. The offset follows the order of calls: for output that does not
  /// depend on the schedule, call it in module order on one thread.
  mlir::FailureOr<Blob *> create(llvm::ArrayRef<char> bytes,
                                 EmitError emitError);
  /// Gives the side file its name, for good; until then it is a temporary file
  /// beside it. No effect if nothing was created, or without a name.
  std::error_code keepSideFile();

  /// Where relative paths are looked for, after the directory of the text.
  std::vector<std::string> searchDirs;
  /// If set, paths are printed relative to this directory.
  std::string printBase;
  /// Where `create` writes; if empty, a temporary file that goes with the
  /// table.
  std::string sideFile;
  /// Why `create` could not write, if it could not.
  std::error_code writeError;

  /// Bytes hashed and mappings made so far.
  std::atomic<uint64_t> hashedBytes{0}, numMappings{0};

private:
  friend class Blob;
  /// A part of a file in memory.
  struct Region {
    uint64_t offset;
    std::unique_ptr<llvm::sys::fs::mapped_file_region> mapping;
  };
  struct KeyInfo {
    static BlobKey getEmptyKey() { return {~0ull, ~0ull, ~0ull}; }
    static BlobKey getTombstoneKey() { return {~0ull, ~0ull, ~0ull - 1}; }
    static unsigned getHashValue(const BlobKey &key) { return key.low; }
    static bool isEqual(const BlobKey &lhs, const BlobKey &rhs) {
      return lhs == rhs;
    }
  };

  /// The address of the bytes, or the reason why not in `error`.
  mlir::FailureOr<const char *> map(llvm::StringRef path, uint64_t offset,
                                    uint64_t bytes, std::string &error);
  Blob *getUnique(BlobKey key, Blob::Place place);
  std::string resolve(llvm::StringRef spelled, llvm::StringRef sourceDir) const;
  std::error_code append(llvm::ArrayRef<char> bytes);
  std::error_code startSideFile();
  Blob::Place getSidePlace(uint64_t offset) const;
  /// Keeps what is mapped of a file that is about to be replaced.
  void retire(llvm::StringRef path);

  std::mutex mutex;
  llvm::StringMap<std::vector<Region>> files;
  llvm::DenseMap<BlobKey, Blob *, KeyInfo> byContent;
  std::deque<Blob> blobs;
  uint64_t sideSize = 0;
  std::string sideName;     // `sideFile` when `sidePath` was made
  std::string sidePath;     // the file that is written
  bool sideIsNamed = false; // and that is renamed to `sideName`
  std::vector<std::string> temporaries;
};

//===----------------------------------------------------------------------===//
// Constants of any size
//===----------------------------------------------------------------------===//

/// Up to this many bytes a constant is DenseElements.
constexpr uint64_t kMaxDenseBytes = 1024;

/// How many bytes constants of this type take: row-major, a bool a byte, types
/// below 8 bits packed low bits first.
uint64_t getNumBytes(mlir::ShapedType type);

/// The constant with these bytes: DenseElements if it is small or all elements
/// are equal, else a blob (in the side file, unless the content is known).
mlir::FailureOr<mlir::ElementsAttr> makeElements(mlir::ShapedType type,
                                                 llvm::ArrayRef<char> bytes,
                                                 EmitError emitError);

/// The constant whose bytes are at `offset` of a file: as above, but a blob
/// stays where it is.
mlir::FailureOr<mlir::ElementsAttr> importElements(mlir::ShapedType type,
                                                   llvm::StringRef file,
                                                   uint64_t offset,
                                                   EmitError emitError);

/// The bytes of any constant. They are in `storage` if they had to be made.
mlir::FailureOr<llvm::ArrayRef<char>> readElements(mlir::ElementsAttr elements,
                                                   std::vector<char> &storage,
                                                   EmitError emitError);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_BLOB_H
