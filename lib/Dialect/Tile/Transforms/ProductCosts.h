// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The cost models of products for tile-choose-schedule.
#ifndef ADZE_LIB_DIALECT_TILE_TRANSFORMS_PRODUCTCOSTS_H
#define ADZE_LIB_DIALECT_TILE_TRANSFORMS_PRODUCTCOSTS_H

#include "Dialect/Tile/Analysis/Products.h"
#include "Dialect/Tile/IR/Targets.h"

namespace adze::tile {

constexpr int64_t kWarpgroupThreads = 128;
/// The bytes along k of a row of an operand in shared memory, at most.
constexpr int64_t kStageRowBytes = 128;

/// The sizes of a product; dynamic sizes are assumed to be large. The rows are
/// one dim, or the rows and columns of images. `depth` is the contracted size
/// of a stage, of which `k` is a multiple. `n` are the columns of all products.
struct ProductSizes {
  llvm::SmallVector<int64_t, 2> rows;
  int64_t n, k, batch, depth;
  int64_t products = 1; ///< that have the left operand in common
  int64_t parts;        ///< of k, which blocks of threads may share
  /// cycles for an element of right operands that warpgroups compute, which do
  /// not overlap with the products; 0 if these are copied
  double computed = 0;
  /// cycles of a thread for an accumulator, in the epilogue
  double epilogue = 0;
  double copyFactor = 1;    ///< of the time of copies from the cache
  bool isKnown = true;      ///< true if all sizes are static
  bool isDepthKnown = true; ///< true if the contracted size is static
};

/// A tile of the result, and the warpgroups of a block of threads. They all
/// compute one tile, or `tiles` of them in turn. A warpgroup has multiples of
/// 64 rows, and at most 192 x 128 or 64 x 256 accumulators in its registers.
struct ResultBlock {
  int64_t m, n, warpgroups;
  int64_t tiles = 1;

  int64_t getTileWarpgroups() const { return warpgroups / tiles; }
};

/// Returns a size of a memref, or `otherwise` if it is dynamic; then `isKnown`
/// becomes false.
int64_t getSizeOr(mlir::Value memref, int64_t dim, int64_t otherwise,
                  bool &isKnown);

/// Returns the contracted size of the operands of a product in the same way.
int64_t getDepthOr(Product &product, int64_t otherwise, bool &isKnown);

/// Returns the sizes of a product; `unit`, which computes it, may be null.
ProductSizes getSizes(Product &product, TargetUnitAttr unit);

/// Returns the number of blocks of these rows and columns that cover the
/// result.
double countTiles(const ProductSizes &sizes, llvm::ArrayRef<int64_t> rows,
                  int64_t columns);

/// Returns the shapes of a block of this many rows: one dim, or rows and
/// columns of an image.
llvm::SmallVector<llvm::SmallVector<int64_t, 2>> getRowBlocks(int64_t rows,
                                                              bool isImage);

/// The sizes of the dims of a block of the result, the threads that compute it
/// (0: as many as suit the block), and the blocks of threads that share its
/// depth.
struct BlockChoice {
  llvm::SmallVector<int64_t> block;
  int64_t threads = 0, split = 1;
};

/// Returns blocks for products that threads compute element by element, in the
/// order of the estimated time of all tiles; at most `mostSplit` blocks of
/// threads share a tile.
llvm::SmallVector<BlockChoice> listThreadBlocks(const ProductSizes &sizes,
                                                int64_t mostSplit,
                                                int64_t multiprocessors);
/// Returns them for products whose operands are computed as they are copied,
/// which is done for each block.
llvm::SmallVector<BlockChoice> listLargeBlocks(const ProductSizes &sizes,
                                               int64_t multiprocessors);
/// Returns the bytes of shared memory of a block by warps or threads: of two
/// chunks of both operands.
int64_t getSharedBytes(const BlockChoice &choice);
/// Returns blocks for the matrix instructions of warps.
llvm::SmallVector<BlockChoice> listWarpBlocks(const ProductSizes &sizes,
                                              int64_t multiprocessors);

/// Returns the cycles of all tiles by the matrix unit of warpgroups. The rates
/// are those of one multiprocessor of sm_90, fitted to 298 measured products
/// (benchmarks/results/gpu-products-2026-11-29.md): an instruction of 64 rows
/// by 256 columns takes 128 cycles for all types, and 90 bytes per cycle arrive
/// from the second-level cache. The two overlap, except for a seventh of the
/// shorter one. For equal numbers of waves, fewer tiles cost less. Blocks that
/// share k of a tile read other parts of the operands, so that adjacent
/// multiprocessors have no reads in common, and 70 bytes arrive. They are
/// launched as a cluster and synchronize twice, and each reads the accumulators
/// of the others for its share of the result, in spans of 64 x 64: 16 bytes per
/// cycle. Copies of rows that do not start at multiples of 128 bytes take a
/// quarter longer. The epilogue of a tile overlaps with the products of the
/// next one if warpgroups compute tiles in turn; then a stage takes 60 cycles
/// longer, and at least 450, since only one warpgroup waits. Computing
/// right operands takes a cycle for 32 elements in addition.
double getCycles(const ProductSizes &sizes, const ResultBlock &block,
                 llvm::ArrayRef<int64_t> rows, int64_t split,
                 TargetUnitAttr unit, int64_t multiprocessors);
/// Returns the mean of the cycles for the rows and half of those for twice as
/// many, which a version of a kernel has at most.
double getVersionCycles(const ProductSizes &sizes, const ResultBlock &block,
                        llvm::ArrayRef<int64_t> rows, int64_t split,
                        TargetUnitAttr unit, int64_t multiprocessors);

/// Returns true if this many blocks of threads may share k of a tile: each has
/// a part, and their accumulators fit into the memory of the ring.
bool maySplit(const ProductSizes &sizes, const ResultBlock &block,
              int64_t split, int64_t stages, int64_t elementBytes);

} // namespace adze::tile

#endif // ADZE_LIB_DIALECT_TILE_TRANSFORMS_PRODUCTCOSTS_H
