// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The threads of the emulator, and the instructions that threads of a warp
// execute together.
#ifndef ADZE_TESTS_TARGET_CUDA_EMULATEDUNITS_H
#define ADZE_TESTS_TARGET_CUDA_EMULATEDUNITS_H

#include <array>
#include <cstdint>
#include <ucontext.h>
#include <vector>

namespace adze::test {

/// The block, or the cluster of blocks, that runs now.
struct Block {
  struct Thread {
    ucontext_t context;
    bool done = false;
    int64_t meetings = 0;     ///< barriers and shuffles so far
    const char *kind = "end"; ///< of the meeting that it waits at
    uint32_t slots[2] = {0, 0};
    const char *row[2] = {nullptr, nullptr};  ///< of a matrix
    std::array<uint32_t, 6> operands[2] = {}; ///< four of a, two of b
  };
  std::vector<Thread> threads;
  ucontext_t scheduler;
  int64_t number = 0; ///< of the cluster
  unsigned blockThreads = 0;
  unsigned current = 0;
};
extern Block *block;

/// Waits until all other threads have arrived at the same point.
void meet(const char *kind);

/// Element types of a product.
enum class Element : uint32_t { f16, bf16, tf32, s8, u8 };

/// Loads `count` matrices of 8 rows of 16 bytes, whose addresses the lanes
/// have: lane l gets elements 2 * (l % 4) and 2 * (l % 4) + 1 of row l / 4, or
/// of column l / 4 of the transposed matrix (PTX ISA, ldmatrix).
void loadMatrices(const char *row, uint32_t count, uint32_t transposed,
                  uint32_t *out);
/// Adds a product of 16 x 32 bytes and 32 x 8 bytes to the four sums of a lane,
/// which follow its six words of operands (PTX ISA, mma.m16n8k16 and others).
void multiplyMatrices(Element lhs, Element rhs, uint32_t *words);
/// Rounds to 10 fraction bits, ties away from zero.
uint32_t roundToTF32(float value);

} // namespace adze::test

#endif // ADZE_TESTS_TARGET_CUDA_EMULATEDUNITS_H
