// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A scheduled product as a pipeline: the boxes copied to shared memory, and the
// layout of shared memory.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEPLAN_H
#define ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEPLAN_H

#include "Dialect/Tile/Analysis/Products.h"
#include "Dialect/Tile/IR/Units.h"

namespace adze::togpu {

/// The threads of a warpgroup, which issue a matrix instruction together.
constexpr int64_t kWarpgroupThreads = 128;
/// The rows of one matrix instruction, and of a segment of a result.
constexpr int64_t kInstructionRows = 64;
/// The columns of a block of a result are a multiple of this.
constexpr int64_t kColumnGranule = 64;
/// The bytes along k of one matrix instruction.
constexpr int64_t kInstructionDepthBytes = 32;

/// A result, and the tensor map that stores it; without a map it is stored from
/// registers.
struct PipelineResult {
  tile::StoreOp store;
  int64_t columns; ///< of a segment, which is staged in shared memory
  std::optional<unsigned> map;
};

/// The parameters of a pipeline, for its lowering and its launch.
struct PipelinePlan {
  tile::Product product;
  int64_t m, n, k; ///< blocks
  int64_t columns; ///< of the block of an image that the rows are, or m
  int64_t stages, inflight, tilesTogether;
  int64_t split;      ///< blocks of threads that share k of a tile
  int64_t producers;  ///< warpgroups that copy or compute operands
  int64_t warpgroups; ///< that multiply
  /// tiles that the warpgroups compute in turn, each by its own ones
  int64_t tiles;
  /// segments of results that a warpgroup stages at a time
  int64_t stagingParts;
  /// The boxes of the left operand, the right operands if they are loaded, and
  /// the results that are copied.
  llvm::SmallVector<tile::TensorBox> maps;
  tile::TensorBox rhs; ///< the form of right operands in shared memory
  llvm::SmallVector<PipelineResult> results;

  /// Set for attention, whose maps begin with those of keys, values and query:
  /// keys and values are the operands of a stage, and the query stays for a
  /// tile.
  std::optional<tile::Attention> attention;
  int64_t lhsBytes, rhsBytes; ///< of a stage, of all products
  int64_t residentBytes = 0;  ///< of the operand that stays for a tile

  /// The element types of the product.
  tile::ProductAttr types;
  int64_t getElementBytes() const {
    return tile::getStorageBits(types.getLhs()) / 8;
  }
  /// Returns the elements along k of one matrix instruction.
  int64_t getInstructionDepth() const {
    return kInstructionDepthBytes / getElementBytes();
  }
  /// Returns the element type of the accumulators in registers.
  mlir::Type getSumElement() const {
    mlir::Type sum = types.getAcc();
    return sum.isInteger() ? mlir::IntegerType::get(sum.getContext(),
                                                    sum.getIntOrFloatBitWidth())
                           : sum;
  }
  /// Returns the number of products that have the left operand in common.
  int64_t countProducts() const {
    return attention ? 1 : int64_t(product.dots.size());
  }
  /// Returns true if a warpgroup computes the right operands.
  bool computesOperands() const { return !attention && product.isComputed(); }
  /// Returns the number of tensor maps of operands.
  int64_t countOperandMaps() const { return 1 + int64_t(product.rhs.size()); }
  /// Returns the columns of a tile of the result.
  int64_t getResultColumns() const {
    return attention ? attention->getColumns() : n;
  }
  /// Returns the number of warpgroups that multiply for one tile.
  int64_t getTileWarpgroups() const { return warpgroups / tiles; }
  /// Returns the instructions of 64 rows that a warpgroup issues for its rows.
  int64_t getRowBlocks() const {
    return m / (getTileWarpgroups() * kInstructionRows);
  }
  /// Returns how many segments of results a warpgroup stages for these columns
  /// of 64 rows.
  int64_t countSegments(int64_t columns) const;
  /// Returns how many of the last groups of copies may be in flight when
  /// segment `number` of `count` is staged: those after the group that reads
  /// its part of the staging memory. The sequence is repeated, and begins with
  /// the first part.
  int64_t getCopiesInFlight(int64_t number, int64_t count) const;
  /// Returns the columns of a tile that a block of a cluster stores at a time:
  /// whole segments of all results.
  int64_t getSharedColumns() const;
  int64_t getThreads() const {
    return (producers + warpgroups) * kWarpgroupThreads;
  }

  /// Returns the bytes of the accumulators of a tile, which reuse the memory of
  /// the ring when several blocks share k of the tile (split-K).
  int64_t getSumsBytes() const { return m * n * countProducts() * 4; }
  /// Returns the tensor map of the right operand of a product.
  static unsigned getRhsMap(int64_t product) { return 1 + product; }

  // Return offsets in shared memory, in bytes.
  int64_t getPieceBytes() const {
    constexpr int64_t mostRowBytes = 128;
    return kInstructionRows * mostRowBytes;
  }
  int64_t getRhsOffset() const { return stages * lhsBytes; }
  int64_t getResidentOffset() const {
    return getRhsOffset() + stages * rhsBytes;
  }
  int64_t getStagingOffset() const {
    return getResidentOffset() + residentBytes;
  }
  int64_t getFullOffset() const {
    return getStagingOffset() + warpgroups * stagingParts * getPieceBytes();
  }
  /// Barriers of the ring: one for each stage. Keys and values of attention
  /// have one each, since a stage's values are read after the next stage's
  /// keys.
  int64_t getRingBarriers() const { return attention ? 2 * stages : stages; }
  /// The barriers of the ring, that of the operand that stays for a tile, if
  /// there is one, and those of the turns of several tiles.
  int64_t getBarriers() const {
    return getRingBarriers() + (attention ? 1 : 0) + (tiles > 1 ? tiles : 0);
  }
  int64_t getBarriersBytes() const { return getBarriers() * 8; }
  int64_t getEmptyOffset() const {
    return getFullOffset() + getBarriersBytes();
  }
  int64_t getSharedBytes() const {
    return getEmptyOffset() + getBarriersBytes();
  }
};

/// Plans the scheduled, specialised kernel. On failure, `why` states which
/// requirement of the schedule it violates.
mlir::FailureOr<PipelinePlan> planPipeline(tile::KernelOp kernel,
                                           std::string &why);

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEPLAN_H
