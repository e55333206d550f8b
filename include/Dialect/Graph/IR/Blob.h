// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants that are stored in files: contents (Blob), the table of mapped
// files, and helpers for constants of any size.
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

/// The identity of a content: its xxh3-128 hash and its size.
struct BlobKey {
  uint64_t high = 0, low = 0, bytes = 0;
  bool operator==(const BlobKey &other) const {
    return high == other.high && low == other.low && bytes == other.bytes;
  }
  /// Returns the key of the bytes.
  static BlobKey get(llvm::ArrayRef<char> bytes);
  /// Returns the hash as 32 hexadecimal digits.
  std::string toString() const;
};

/// A content, and the sources where its bytes can be read. Owned by the table.
class Blob {
public:
  struct Source {
    std::string spelled; ///< as in the text
    std::string path;    ///< absolute
    uint64_t offset;
  };

  const BlobKey key;

  Blob(BlobTable &table, BlobKey key) : key(key), table(table) {}

  /// Returns the bytes, after a check against the hash on the first call.
  /// Thread-safe. `emitError` may be null.
  mlir::FailureOr<llvm::ArrayRef<char>> getBytes(EmitError emitError);
  /// Returns the source of the bytes: the first one, or the one that was read.
  Source getSource() const;
  BlobTable &getTable() const { return table; }

private:
  friend class BlobTable;
  void addSource(Source source);
  void moveToFront(const Source &source);
  /// Returns the bytes at the first source that has them, or null and a
  /// message.
  const char *findBytes(std::string &message);

  BlobTable &table;
  std::atomic<const char *> data{nullptr};
  // Held while hashing, so that a content is hashed once. Never held while a
  // diagnostic is emitted, as printing calls getSource(). Locked before the
  // mutex of the table.
  std::mutex hashMutex;
  // Guards all other members. No other mutex is locked while it is held.
  mutable std::mutex mutex;
  std::vector<Source> sources;
  std::string error;
};

/// The contents that a context knows, and the files that hold them. Thread-safe
/// except for the public fields, which are set before first use.
class BlobTable {
public:
  BlobTable() = default;
  ~BlobTable();

  /// Returns the blob of a key, readable at `offset` of the file `spelled`.
  /// Fails if the file does not exist or is too short.
  mlir::FailureOr<Blob *> get(BlobKey key, llvm::StringRef spelled,
                              llvm::StringRef sourceDir, uint64_t offset,
                              EmitError emitError);
  /// Returns the blob of bytes of a file, after hashing them.
  mlir::FailureOr<Blob *> import(llvm::StringRef file, uint64_t offset,
                                 uint64_t bytes, EmitError emitError);
  /// Returns the blob of new bytes: a known one, or one appended to the side
  /// file. Offsets are in the order of calls: for deterministic output, call
  /// this in module order from one thread.
  mlir::FailureOr<Blob *> create(llvm::ArrayRef<char> bytes,
                                 EmitError emitError);
  /// Renames the side file to its final name; until then it is a temporary file
  /// in the same directory. Has no effect if nothing was created, or without a
  /// name.
  std::error_code keepSideFile();
  /// Removes the temporary files, as the destructor does.
  void removeTemporaries();

  /// The directories to search for relative paths, after that of the text.
  std::vector<std::string> searchDirs;
  /// If set, paths are printed relative to this directory.
  std::string printBase;
  /// The file that `create` writes; if empty, a temporary file that is deleted
  /// with the table.
  std::string sideFile;
  /// The reason why `create` failed to write.
  std::error_code writeError;

  /// The bytes hashed and the mappings made so far.
  std::atomic<uint64_t> hashedBytes{0}, numMappings{0};

private:
  friend class Blob;
  /// A mapped part of a file.
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

  /// Returns the address of the bytes, or fails with the reason in `error`.
  mlir::FailureOr<const char *> map(llvm::StringRef path, uint64_t offset,
                                    uint64_t bytes, std::string &error);
  Blob *getUnique(BlobKey key, Blob::Source source);
  std::string resolve(llvm::StringRef spelled, llvm::StringRef sourceDir) const;
  std::error_code append(llvm::ArrayRef<char> bytes);
  std::error_code startSideFile();
  Blob::Source getSideSource(uint64_t offset) const;
  /// Keeps the mappings of a file that is about to be replaced.
  void retire(llvm::StringRef path);

  std::mutex mutex;
  llvm::StringMap<std::vector<Region>> files;
  llvm::DenseMap<BlobKey, Blob *, KeyInfo> byContent;
  std::deque<Blob> blobs;
  uint64_t sideSize = 0;
  std::string sideName;     // `sideFile` when `sidePath` was made
  std::string sidePath;     // the file that is written
  bool sideIsNamed = false; // which is renamed to `sideName`
  std::vector<std::string> temporaries;
};

//===----------------------------------------------------------------------===//
// Constants of any size
//===----------------------------------------------------------------------===//

/// Constants of at most this many bytes are DenseElements.
constexpr uint64_t kMaxDenseBytes = 1024;

/// Returns the bytes of constants of this type: row-major, a bool in a byte,
/// types of less than 8 bits packed with low bits first.
uint64_t getNumBytes(mlir::ShapedType type);

/// Returns the constant with these bytes: DenseElements if it is small or a
/// splat, else a blob (in the side file, unless the content is known).
mlir::FailureOr<mlir::ElementsAttr> makeElements(mlir::ShapedType type,
                                                 llvm::ArrayRef<char> bytes,
                                                 EmitError emitError);

/// Returns the constant whose bytes are at `offset` of a file, likewise; a blob
/// refers to that file.
mlir::FailureOr<mlir::ElementsAttr> importElements(mlir::ShapedType type,
                                                   llvm::StringRef file,
                                                   uint64_t offset,
                                                   EmitError emitError);

/// Returns the bytes of any constant. They are in `storage` if they had to be
/// created.
mlir::FailureOr<llvm::ArrayRef<char>> readElements(mlir::ElementsAttr elements,
                                                   std::vector<char> &storage,
                                                   EmitError emitError);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_BLOB_H
