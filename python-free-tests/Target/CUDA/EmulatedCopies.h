// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Barriers in shared memory and asynchronous copies (PTX ISA, mbarrier,
// cp.async.bulk.tensor and cp.async).
#ifndef ADZE_TESTS_TARGET_CUDA_EMULATEDCOPIES_H
#define ADZE_TESTS_TARGET_CUDA_EMULATEDCOPIES_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>

namespace adze::test {

/// A tensor in global memory and the box that a copy has, innermost dim first.
struct TensorMap {
  /// Makes the map of a row of `adze.tensor_maps`, from the sizes and the
  /// strides that `NAME_cuda_maps` computes.
  TensorMap(char *data, llvm::ArrayRef<int64_t> row, const int64_t *values);

  static constexpr unsigned kMostDims = 5;
  char *data;
  unsigned rank, elementBytes;
  int64_t rowBytes; ///< of a row of the box, which is swizzled
  bool roundsToTF32;
  int64_t sizes[kMostDims], strides[kMostDims]; ///< strides in bytes
  int64_t box[kMostDims], steps[kMostDims];

  int64_t getBoxBytes() const;
  /// Returns what the driver does not accept, or an empty string.
  std::string findProblem() const;
};

/// Moves bits 7 to 9 of an address to bits 4 to 6 by exclusive or, as far as
/// the size of a row demands.
inline uint64_t swizzle(uint64_t address, int64_t rowBytes) {
  uint64_t moved = rowBytes == 128 ? 7 : rowBytes == 64 ? 3 : 1;
  return address ^ ((address >> 7 & moved) << 4);
}

void initBarrier(char *barrier, uint32_t count);
/// Makes barriers and writes of the thread visible to copies.
void fenceBarriers();
void fenceProxy();
void arrive(char *barrier);
void arriveExpecting(char *barrier, uint32_t bytes);
/// Waits until the phase of this parity is complete.
void waitForPhase(char *barrier, uint32_t parity);

/// Copies the box at `coordinates` to shared memory, and adds its bytes to
/// those that have arrived at the barrier.
void copyToShared(char *to, const TensorMap *map, const int32_t *coordinates,
                  char *barrier);
void copyFromShared(const TensorMap *map, const char *from,
                    const int32_t *coordinates);
void commitCopies();
/// Waits until at most `groups` committed groups have not read their sources.
void waitForCopies(uint32_t groups);

/// Copies `read` bytes to shared memory, and zeros up to `bytes` (cp.async).
void copyAsync(char *to, const char *from, uint32_t bytes, uint32_t read);
void commitAsync();
/// Waits until at most `groups` committed groups of such copies are in flight.
void waitForAsync(uint32_t groups);
/// Records a write of the running thread to shared memory.
void noteWrite(const char *to, uint32_t bytes);

/// Fails if bytes that the asynchronous proxy reads or writes are not visible
/// to it.
void checkVisible(const char *begin, const char *end);

} // namespace adze::test

#endif // ADZE_TESTS_TARGET_CUDA_EMULATEDCOPIES_H
