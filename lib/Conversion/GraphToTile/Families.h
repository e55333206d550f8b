// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiling of the kernels of each family into programs and blocks. Every function
// emits the whole kernel, or fails with a reason in the emitter.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_FAMILIES_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_FAMILIES_H

#include "KernelEmitter.h"
#include "Support/LargestDivisor.h"

namespace adze {

/// The tilings of a result, in the order of the attempts.
enum class Tiling {
  Flat,   // adjacent dims are merged if all operands allow it
  Dims,   // tiles along the last two dims
  Row,    // tiles along the last dim
  Points, // one element at a time (gathers)
};

/// Returns true if this output may exceed the caches.
bool mayStream(KernelEmitter &e, unsigned output);

mlir::LogicalResult emitPointwise(KernelEmitter &e, Tiling);
/// Returns true if rows of dynamic size gather elements by functions of their
/// positions, equally in several rows (CPUs).
bool picksAlikeInRows(KernelEmitter &e);
mlir::LogicalResult emitPickedRows(KernelEmitter &e);
mlir::LogicalResult emitConcat(KernelEmitter &e, graph::ConcatOp op, Tiling);
/// Emits several operands that are copied into the result.
mlir::LogicalResult emitInsertions(KernelEmitter &e, graph::InsertSliceOp op);
mlir::LogicalResult emitScatter(KernelEmitter &e, mlir::Operation *op);
mlir::LogicalResult emitMatmul(KernelEmitter &e, graph::MatmulOp op, Tiling tiling);
mlir::LogicalResult emitWordMatmul(KernelEmitter &e, graph::WordMatmulOp op,
                                   Tiling);
mlir::LogicalResult emitConv(KernelEmitter &e, graph::ConvOp op, Tiling);
mlir::LogicalResult emitConvChain(KernelEmitter &e,
                                  llvm::ArrayRef<graph::ConvOp> chain, Tiling);
mlir::LogicalResult emitConvTranspose(KernelEmitter &e,
                                      graph::ConvTransposeOp op, Tiling);
mlir::LogicalResult emitAttention(KernelEmitter &e, graph::AttentionOp op,
                                  Tiling);
/// Returns the steps of the grid of a recurrent layer: as many as it has, or
/// more if a step is split in two.
mlir::AffineExpr getTurns(graph::RecurrentOp op);
/// Returns the number of blocks of rows that threads keep for all steps, or
/// null if threads share all steps.
mlir::AffineExpr getGroups(const KernelEmitter &e, graph::RecurrentOp op);
mlir::LogicalResult emitRecurrent(KernelEmitter &e, graph::RecurrentOp op,
                                  Tiling);
mlir::LogicalResult emitPool(KernelEmitter &e, mlir::Operation *op, Tiling);
/// Emits cumulative sums and products.
mlir::LogicalResult emitScan(KernelEmitter &e, mlir::Operation *op, Tiling);
mlir::LogicalResult emitTreeLeaves(KernelEmitter &e, graph::TreeLeavesOp op,
                                   Tiling);
mlir::LogicalResult emitTopK(KernelEmitter &e, graph::TopKOp op, Tiling);
mlir::LogicalResult emitNonZero(KernelEmitter &e, graph::NonZeroOp op, Tiling);
mlir::LogicalResult emitLRN(KernelEmitter &e, graph::LRNOp op, Tiling);
mlir::LogicalResult emitWinogradConv(KernelEmitter &e, graph::WinogradConvOp op,
                                     Tiling);
mlir::LogicalResult emitRows(KernelEmitter &e, mlir::Operation *op, Tiling);
/// Emits all reductions of the kernel, which have one shape and reduced dims.
mlir::LogicalResult emitReductions(KernelEmitter &e, Tiling);
/// Emits reductions of the same rows, and outputs computed from their elements
/// and results; `op` is one of them.
mlir::LogicalResult emitReducedRows(KernelEmitter &e,
                                    graph::ReduceOpInterface op, Tiling);
/// Emits the reduction of a tile with whole rows along one axis; `count` is the
/// number of elements of a row.
mlir::Value reduceRows(KernelEmitter &e, graph::ReduceOpInterface op,
                       mlir::Value tile, llvm::ArrayRef<int> axes, int along,
                       mlir::Value count);

//===--- contractions -----------------------------------------------------===//

/// Emits `acc + lhs * rhs` of tiles. `product` are element types other than
/// theirs.
mlir::Value createDot(KernelEmitter &e, mlir::Value lhs, mlir::Value rhs,
                      mlir::Value acc, tile::ProductAttr product = {});
/// Returns the product of unsigned and signed bytes, summed in 32 bits.
tile::ProductAttr getByteProduct(mlir::Builder &b);
/// The layout of a constant right operand along the contracted dim: groups of
/// `size` elements are adjacent, and the dim is padded with zeros to a multiple
/// of `depth`.
struct PackedGroup {
  int64_t size = 1, depth = 1;
  bool hasMatrixUnit() const { return depth > size; }
};
/// Returns the group size of the CPU unit for a column of this many elements
/// (negative: dynamic), and the contracted size of the matrix unit if the
/// column fills at least half of it. Bytes are in groups on all CPUs.
PackedGroup getPackedGroup(KernelEmitter &e, mlir::Value rhs, int64_t depth);
/// Returns the packing of a constant [.., k, n] (or [.., n, k]) into panels of
/// columns, with groups of elements along k.
mlir::AffineMap getPanelMap(mlir::MLIRContext *context, unsigned rank,
                            bool transposed, int64_t panel,
                            PackedGroup group = {});

/// Rows of unsigned bytes, with f32 scales and i32 zero points of the rows.
struct QuantizedRows {
  Emitted bytes, scales, zeros;
};
/// Quantizes the rows of a tile of f32 on axes M and K separately, as ONNX
/// DynamicQuantizeLinear: the range of a row, including 0, is divided into 255
/// steps.
QuantizedRows quantizeRows(KernelEmitter &e, const Emitted &rows);

//===--- windows ----------------------------------------------------------===//

/// One dim of a sliding window: the position of its tap 0, and the size that it
/// slides over.
struct WindowDim {
  mlir::Value start, extent;
  int64_t taps, dilation;
  bool inside; // all taps are in bounds
  /// For a block of windows, the distance of the starts of the first and the
  /// last one.
  mlir::Value reach = {};
};

/// Emits `body(tap, position, carried)` for the taps that are in bounds, in
/// order. For a block of windows, these are the taps that are in bounds for any
/// window.
mlir::FailureOr<KernelEmitter::Carried>
loopTaps(KernelEmitter &e, const WindowDim &dim, mlir::ValueRange carried,
         llvm::function_ref<mlir::FailureOr<KernelEmitter::Carried>(
             mlir::Value tap, mlir::Value position, mlir::ValueRange carried)>
             body);
/// Emits the body for all taps, each separately if `unrolled`. Along the axis
/// of a tile, elements may be out of bounds for some taps.
mlir::FailureOr<KernelEmitter::Carried> loopAllTaps(
    KernelEmitter &e, const WindowDim &dim, bool unrolled,
    mlir::ValueRange carried,
    llvm::function_ref<mlir::FailureOr<KernelEmitter::Carried>(
        mlir::Value tap, mlir::Value position, mlir::ValueRange carried)>
        body);
/// Returns true if all windows along a dim are inside of [low padding, size).
bool areWindowsInside(mlir::AffineExpr size, mlir::AffineExpr windows,
                      int64_t taps, int64_t stride, int64_t low,
                      int64_t dilation);

/// Selects one of a few values by its position, or returns the only one.
MaybeTile emitOneOf(KernelEmitter &e, llvm::ArrayRef<mlir::AffineExpr> numbers,
                    RangesRef ranges);

/// The pixels of a row in a program, and whether they are the whole row: the
/// positions of its border are then constants.
struct RowBlock {
  int64_t size;
  bool whole;
  bool unrolls = true; // the taps along a whole row are unrolled
  bool finds = false;  // the border is found at run time
};
/// The pixels of a program of a row of dynamic width whose border is found at
/// run time.
constexpr int64_t unknownRun = 128;
/// Rows of at most `longest` pixels are whole.
RowBlock chooseRowBlock(mlir::AffineExpr width, int64_t target,
                        int64_t longest = 256);
/// Returns the size: a constant for a whole row, else a parameter.
mlir::Value getSize(KernelEmitter &e, const RowBlock &row);
/// Returns true if the taps of a window along the row are unrolled.
bool unrollsTaps(const RowBlock &row, int64_t taps);

//===--- default bindings (the cost model) --------------------------------===//

/// Chooses a block size for n elements: n if it is small, else a divisor near
/// the target, else the target. n < 0 is unknown.
int64_t chooseBlock(int64_t n, int64_t target);

/// Chooses a block size for the dim of the lanes: whole vectors.
int64_t chooseLanes(int64_t n, int64_t target);

/// Chooses how many of `rows` rows of `length` (< 0: unknown) a program
/// processes at once; with `whole`, each is one tile.
int64_t chooseRowsAtOnce(int64_t rows, int64_t length, bool whole);
/// The rows and elements of a step, and of a step of the remainder, for rows
/// that are only reduced, with an accumulator for each lane.
struct WalkedRows {
  int64_t rows, chunk, remainder;
};
WalkedRows chooseWalkedRows(const KernelEmitter &e, int64_t rows,
                            int64_t length);
/// The elements of a step of the threads of a GPU along a long row.
constexpr int64_t deviceChunk = 4096;

/// The rows and units of a program of a recurrent layer, the units of a panel
/// of its weights, and whether threads keep blocks of rows for all steps.
struct RecurrentBlocks {
  int64_t rows, units, panel;
  bool keepsRows;
};
/// Chooses the blocks. `rows` < 0 is unknown; the weights are [gates, units,
/// units] of `bytes` bytes each.
RecurrentBlocks chooseRecurrentBlocks(tile::CpuTargetAttr target, int64_t rows,
                                      int64_t units, int64_t gates,
                                      int64_t bytes);

/// Returns the channels of a panel of filters of a group with this many
/// outputs; panels do not cross groups. A panel is two vectors if these divide
/// the group, else the size with the fewest vectors.
int64_t chooseGroupPanel(int64_t outputs);

/// Returns the keys of a step of attention. Positions of a block beyond the
/// last key are wasted, so blocks are nearly equal. A matrix unit multiplies
/// whole registers.
int64_t chooseKeys(int64_t keys, bool hasUnit);

/// Blocks of rows are whole register blocks of 8.
constexpr int64_t rowGranule = 8;

struct ContractionBlocks {
  int64_t m, n, k, panel;
};
/// Returns the distance of consecutive blocks of rows: the block size or, if
/// the number of rows is dynamic, that of equal parts of at most a block.
mlir::Value chooseRowStep(KernelEmitter &e, mlir::Value rows,
                          mlir::Value block);
/// Returns the first row of program `id`.
mlir::Value startRows(KernelEmitter &e, mlir::Value id, mlir::Value rows,
                      mlir::Value block, mlir::Value step);
/// The layout of the right operand: packed in panels of columns, row-major, or
/// column-major.
enum class RightOperand { Panels, Rows, Columns };
/// Chooses the blocks of `batch` products [m, k] x [k, n]; sizes < 0 are
/// unknown. `hasMatrixUnit`: a unit multiplies several rows at once.
ContractionBlocks
chooseContractionBlocks(tile::CpuTargetAttr target, int64_t m, int64_t n,
                        int64_t k, bool tilesEvenly,
                        RightOperand right = RightOperand::Panels,
                        int64_t batch = 1, bool hasMatrixUnit = false);

/// Returns true if consecutive programs have the same rows. A thread starts
/// with a contiguous part of the programs, so it then keeps to a part of the
/// rows, whose results of the previous kernel are in its caches. But each
/// thread reads the whole right operand. The product is [m, k] x [k, n], for
/// windows with k for each tap; sizes < 0 are unknown.
bool keepsRowsTogether(const KernelEmitter &e, int64_t m, int64_t n, int64_t k,
                       int64_t taps = 1);

/// Returns the bytes above which results are written by non-temporal stores;
/// with `scattered`, the cache lines are not adjacent.
int64_t chooseStreamBytes(tile::CpuTargetAttr target, bool scattered = false);

/// Returns the value of a size, or -1 if it is unknown.
int64_t getKnown(mlir::AffineExpr size);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_FAMILIES_H
