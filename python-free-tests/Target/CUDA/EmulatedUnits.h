// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Instructions that the threads of a warp or of a warpgroup execute together.
#ifndef ADZE_TESTS_TARGET_CUDA_EMULATEDUNITS_H
#define ADZE_TESTS_TARGET_CUDA_EMULATEDUNITS_H

#include <cstdint>

namespace adze::test {

/// Element types of a product.
enum class Element : uint32_t { f16, bf16, tf32, s8, u8 };

/// Returns the value of lane `lane ^ mask`.
uint32_t shuffle(uint32_t value, uint32_t mask);
/// Returns the value of lane `lane`.
uint32_t broadcast(uint32_t value, uint32_t lane);
/// Returns 1 if `value` is not 0 in any lane.
uint32_t voteAll(uint32_t value);

/// Loads `count` matrices of 8 rows of 16 bytes, whose addresses the lanes
/// have: lane l gets elements 2 * (l % 4) and 2 * (l % 4) + 1 of row l / 4, or
/// of column l / 4 of the transposed matrix (PTX ISA, ldmatrix).
void loadMatrices(const char *row, uint32_t count, uint32_t transposed,
                  uint32_t *out);
/// Stores four matrices in the form of loadMatrices (PTX ISA, stmatrix).
void storeMatrices(char *row, const uint32_t *words);
/// Adds a product to the four sums of a lane. For each part of 16 bytes along
/// the depth, 16 rows and 8 columns, a lane has two words of the left operand
/// and one of the right one, which are before the sums (PTX ISA,
/// mma.m16n8k16 and others).
void multiplyMatrices(Element lhs, Element rhs, uint32_t parts,
                      uint32_t *words);
/// Rounds to 10 fraction bits, ties away from zero.
uint32_t roundToTF32(float value);

/// The form of a product of a warpgroup: 64 rows, `columns` columns, and 32
/// bytes along k (PTX ISA, wgmma.mma_async).
struct WarpgroupForm {
  uint32_t columns;
  Element lhs, rhs;
  /// whether elements along k are adjacent
  uint32_t lhsAlongDepth, rhsAlongDepth;
};
/// Adds the product of two matrices in shared memory, given by their
/// descriptors, to the accumulators of the warpgroup. The left matrix is in
/// `registers` unless these are null.
void multiplyWarpgroup(const WarpgroupForm *form, uint64_t lhs, uint64_t rhs,
                       const uint32_t *registers, uint32_t *sums);
/// Returns accumulator `number`, for which `word` may stand.
uint32_t readAccumulator(uint32_t word, uint32_t number);
void fenceProducts();
void commitProducts();
/// Waits until at most `groups` committed groups are in flight.
void waitForProducts(uint32_t groups);

} // namespace adze::test

#endif // ADZE_TESTS_TARGET_CUDA_EMULATEDUNITS_H
