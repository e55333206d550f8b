// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// How kernels of each family are cut into programs and blocks. Every function
// emits the whole kernel or fails with a reason in the emitter.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_FAMILIES_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_FAMILIES_H

#include "KernelEmitter.h"
#include "Support/LargestDivisor.h"

namespace adze {

/// What runs along the axes of a tile; tried in this order.
enum class Cut {
  Flat,   // neighbouring dims are taken as one where all operands allow it
  Dims,   // the last two dims as they are
  Row,    // the last dim only
  Points, // nothing: one element at a time (what is picked by index)
};

/// May this output be more than the caches hold?
bool mayStream(KernelEmitter &e, unsigned output);

mlir::LogicalResult emitPointwise(KernelEmitter &e, Cut cut);
/// Rows of unknown width that pick elements by their positions, several of them
/// alike (CPUs).
bool picksAlikeInRows(KernelEmitter &e);
mlir::LogicalResult emitPickedRows(KernelEmitter &e);
mlir::LogicalResult emitConcat(KernelEmitter &e, graph::ConcatOp op, Cut cut);
/// Several pieces that are copied to their places.
mlir::LogicalResult emitInsertions(KernelEmitter &e, graph::InsertSliceOp op);
mlir::LogicalResult emitMatmul(KernelEmitter &e, graph::MatmulOp op, Cut cut);
mlir::LogicalResult emitWordMatmul(KernelEmitter &e, graph::WordMatmulOp op,
                                   Cut cut);
mlir::LogicalResult emitConv(KernelEmitter &e, graph::ConvOp op, Cut cut);
/// Convolutions one after the other.
mlir::LogicalResult emitConvChain(KernelEmitter &e,
                                  llvm::ArrayRef<graph::ConvOp> chain, Cut cut);
mlir::LogicalResult emitConvTranspose(KernelEmitter &e,
                                      graph::ConvTransposeOp op, Cut cut);
mlir::LogicalResult emitAttention(KernelEmitter &e, graph::AttentionOp op,
                                  Cut cut);
/// Steps of the grid of a recurrent layer: as many as it has, or more where a
/// step is cut in two.
mlir::AffineExpr getTurns(graph::RecurrentOp op);
/// Blocks of rows of a step that threads take for all steps; null: they share
/// all steps.
mlir::AffineExpr getGroups(const KernelEmitter &e, graph::RecurrentOp op);
mlir::LogicalResult emitRecurrent(KernelEmitter &e, graph::RecurrentOp op,
                                  Cut cut);
mlir::LogicalResult emitPool(KernelEmitter &e, mlir::Operation *op, Cut cut);
/// Running sums and products, but of neighbours.
mlir::LogicalResult emitScan(KernelEmitter &e, mlir::Operation *op, Cut cut);
mlir::LogicalResult emitTreeLeaves(KernelEmitter &e, graph::TreeLeavesOp op,
                                   Cut cut);
mlir::LogicalResult emitLRN(KernelEmitter &e, graph::LRNOp op, Cut cut);
mlir::LogicalResult emitWinogradConv(KernelEmitter &e, graph::WinogradConvOp op,
                                     Cut cut);
mlir::LogicalResult emitRows(KernelEmitter &e, mlir::Operation *op, Cut cut);
/// All reductions of the kernel: of one shape, over the same dims.
mlir::LogicalResult emitReductions(KernelEmitter &e, Cut cut);
/// Reductions of the same rows with what is computed from their elements and
/// results; `op` is one of them.
mlir::LogicalResult emitReducedRows(KernelEmitter &e,
                                    graph::ReduceOpInterface op, Cut cut);
/// What the reduction makes of a tile whose rows, along one axis, are whole;
/// `count`: how many elements a row has.
mlir::Value reduceRows(KernelEmitter &e, graph::ReduceOpInterface op,
                       mlir::Value tile, llvm::ArrayRef<int> axes, int along,
                       mlir::Value count);

//===--- contractions -----------------------------------------------------===//

/// `acc + lhs * rhs`, of tiles; `product`: of other element types than theirs.
mlir::Value createDot(KernelEmitter &e, mlir::Value lhs, mlir::Value rhs,
                      mlir::Value acc, tile::ProductAttr product = {});
/// Unsigned bytes times signed ones, summed in 32 bits.
tile::ProductAttr getByteProduct(mlir::Builder &b);
/// How a constant right operand lies along the depth: `size` neighbours are
/// adjacent, and the depth is padded with zeros to a multiple of `depth`.
struct PackedGroup {
  int64_t size = 1, depth = 1;
};
/// Returns the group that a unit of the CPU takes of a column of so many
/// elements (negative: dynamic), and the depth of the unit's operands where it
/// multiplies matrices of which the column fills half at least. Bytes lie in
/// groups on all CPUs.
PackedGroup getPackedGroup(KernelEmitter &e, mlir::Value rhs, int64_t depth);
/// The packing of a constant [.., k, n] (or [.., n, k]) in panels of columns,
/// with groups of neighbours along k.
mlir::AffineMap getPanelMap(mlir::MLIRContext *context, unsigned rank,
                            bool transposed, int64_t panel,
                            PackedGroup group = {});

/// Rows as unsigned bytes, with f32 scales and i32 zero points of the rows.
struct QuantizedRows {
  Emitted bytes, scales, zeros;
};
/// Quantizes the rows of a tile of f32 on axes M and K by ONNX's
/// DynamicQuantizeLinear, each by itself: the range of a row, with 0 in it, is
/// 255 steps.
QuantizedRows quantizeRows(KernelEmitter &e, const Emitted &rows);

//===--- windows ----------------------------------------------------------===//

/// One dim of a sliding window: where its tap 0 is, and what it slides over.
struct WindowDim {
  mlir::Value start, extent;
  int64_t taps, dilation;
  bool inside; // no tap is ever outside of the extent
  /// Of a block of windows: from the first one's start to the last one's.
  mlir::Value reach = {};
};

/// `body(tap, position, carried)` for the taps inside of the extent, in order;
/// of a block: for those that are inside for any window of it.
mlir::FailureOr<KernelEmitter::Carried>
loopTaps(KernelEmitter &e, const WindowDim &dim, mlir::ValueRange carried,
         llvm::function_ref<mlir::FailureOr<KernelEmitter::Carried>(
             mlir::Value tap, mlir::Value position, mlir::ValueRange carried)>
             body);
/// The same for all taps, each with code of its own if `unrolled`: along the
/// axis of a tile elements are outside for some taps.
mlir::FailureOr<KernelEmitter::Carried> loopAllTaps(
    KernelEmitter &e, const WindowDim &dim, bool unrolled,
    mlir::ValueRange carried,
    llvm::function_ref<mlir::FailureOr<KernelEmitter::Carried>(
        mlir::Value tap, mlir::Value position, mlir::ValueRange carried)>
        body);
/// Whether all windows along a dim lie inside [low padding, size).
bool areWindowsInside(mlir::AffineExpr size, mlir::AffineExpr windows,
                      int64_t taps, int64_t stride, int64_t low,
                      int64_t dilation);

/// Elements of an argument, as many further along dim `along` than its place as
/// `positions` says.
MaybeTile emitGathered(KernelEmitter &e, mlir::Value input, PlacesRef places,
                       unsigned along, const Emitted &positions,
                       llvm::ArrayRef<int> axes);

/// One of a few numbers, by its position, or the only one.
MaybeTile emitOneOf(KernelEmitter &e, llvm::ArrayRef<mlir::AffineExpr> numbers,
                    PlacesRef places);

/// Pixels of a row for one program, and whether that is the whole row: then
/// the places of its border are constants.
struct RowBlock {
  int64_t size;
  bool whole;
  bool unrolls = true; // taps of the window along it, if it is whole
  bool finds = false;  // or if the run finds its border
};
/// Pixels of a program of a row of unknown width, whose border it finds.
constexpr int64_t unknownRun = 128;
/// `longest`: rows up to there are taken whole.
RowBlock chooseRowBlock(mlir::AffineExpr width, int64_t target,
                        int64_t longest = 256);
/// Its size: a fact where it is the whole row, else a parameter.
mlir::Value getSize(KernelEmitter &e, const RowBlock &row);
/// Whether the taps of a window along the row get code of their own.
bool unrollsTaps(const RowBlock &row, int64_t taps);

//===--- default bindings (the cost model) --------------------------------===//

/// A block for n elements: all of them if they are few, else a divisor near
/// the target, else the target. n < 0: not known.
int64_t chooseBlock(int64_t n, int64_t target);

/// The same for the dim along the lanes: whole vectors.
int64_t chooseLanes(int64_t n, int64_t target);

/// Rows of `length` (below 0: not known) that a program takes at once, of
/// `rows`; `whole`: each as one tile.
int64_t chooseRowsAtOnce(int64_t rows, int64_t length, bool whole);
/// For rows that are only reduced, by sums of each lane: rows and elements of a
/// step.
struct WalkedRows {
  int64_t rows, chunk;
};
WalkedRows chooseWalkedRows(int64_t rows, int64_t length);

/// Rows and units of a program of a recurrent layer, the units of a panel of
/// its weights, and whether threads take blocks of rows for all steps.
struct RecurrentBlocks {
  int64_t rows, units, panel;
  bool keepsRows;
};
/// `rows` below 0: not known; weights [gates, units, units] of so many bytes
/// each.
RecurrentBlocks chooseRecurrentBlocks(tile::CpuTargetAttr target, int64_t rows,
                                      int64_t units, int64_t gates,
                                      int64_t bytes);

/// Channels of a panel of filters of a group of so many outputs, which no panel
/// leaves: two vectors where these divide it, else what makes the fewest
/// vectors of the group.
int64_t chooseGroupPanel(int64_t outputs);

/// Keys of a step of attention: all that a block has beyond the last key is
/// computed for nothing, so these blocks are even.
int64_t chooseKeys(int64_t keys);

/// Blocks of rows are whole register blocks of 8.
constexpr int64_t rowGranule = 8;

struct ContractionBlocks {
  int64_t m, n, k, panel;
};
/// From one block of rows to the next: the block, or where the number of rows
/// is not known, equal parts of them, which are at most a block each.
mlir::Value chooseRowStep(KernelEmitter &e, mlir::Value rows,
                          mlir::Value block);
/// The first of the rows that program `id` takes in such steps.
mlir::Value startRows(KernelEmitter &e, mlir::Value id, mlir::Value rows,
                      mlir::Value block, mlir::Value step);
/// How the right operand lies in memory: packed in panels of columns, row after
/// row, or column after column.
enum class RightOperand { Panels, Rows, Columns };
/// For [m, k] x [k, n], `batch` times; a size below 0 is not known.
ContractionBlocks
chooseContractionBlocks(tile::CpuTargetAttr target, int64_t m, int64_t n,
                        int64_t k, bool cutsEvenly,
                        RightOperand right = RightOperand::Panels,
                        int64_t batch = 1);

/// Whether programs that follow each other have the same rows, and threads,
/// which begin with a part of the programs each, keep to a part of the rows:
/// they find in their caches what they stored of them in the kernel before.
/// Each reads all of the right operand then. For [m, k] x [k, n], of windows k
/// for each of the taps; a size below 0 is not known.
bool keepsRowsTogether(const KernelEmitter &e, int64_t m, int64_t n, int64_t k,
                       int64_t taps = 1);

/// Results of more bytes are written by non-temporal stores. `scattered`: to
/// cache lines that are not adjacent.
int64_t chooseStreamBytes(tile::CpuTargetAttr target, bool scattered = false);

/// The value of a size if it is known, else -1.
int64_t getKnown(mlir::AffineExpr size);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_FAMILIES_H
