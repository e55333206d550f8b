// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of convolutions and transposed convolutions of channels-last
// images.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_CONVOLUTION_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_CONVOLUTION_H

#include "Families.h"

namespace adze {

/// The axes of the tiles of a contraction: rows or pixels, the contracted dim,
/// columns or channels, and lines of an image.
enum ContractionAxis { M = 0, K = 1, N = 2, Line = 3 };

/// Emits `acc + lhs * rhs` over all of k, in blocks. `precision` is the type
/// that the product may round its operands to.
mlir::FailureOr<mlir::Value>
accumulate(KernelEmitter &e, mlir::Value depth, mlir::Value block,
           mlir::Value init, mlir::Value lhs, mlir::Value rhs,
           llvm::function_ref<DimRanges(mlir::Value)> lhsRanges,
           llvm::function_ref<DimRanges(mlir::Value)> rhsRanges,
           std::optional<mlir::Type> precision = std::nullopt);

/// Returns the element types of a product of these tensors with an accumulator
/// of type `sum`.
tile::ProductAttr getProduct(mlir::Value lhs, mlir::Value rhs, mlir::Type sum,
                             std::optional<mlir::Type> precision);
/// Returns getProduct(), or null if the types of the tiles imply it.
tile::ProductAttr getCompute(mlir::Value lhs, mlir::Value rhs, mlir::Type sum,
                             std::optional<mlir::Type> precision);

/// Emits `acc + lhs * rhs` elementwise, on `axes`.
mlir::Value multiplyAdd(KernelEmitter &e, const Emitted &lhs,
                        const Emitted &rhs, mlir::Value acc,
                        llvm::ArrayRef<int> axes);

/// Returns the packing of a filter [o, i, window..] (with `inputsFirst`: [i, o,
/// window..]): panels of outputs, which contain window and inputs, or with a
/// panel of 0, dim 0 last. Inputs of a panel are in groups.
mlir::AffineMap getFilterMap(mlir::MLIRContext *context, unsigned rank,
                             int64_t panel, bool inputsFirst = false,
                             PackedGroup group = {});

/// A program of a convolution: a run of pixels of one row, or of several
/// adjacent rows along axis Line, and some channels.
struct ConvProgram {
  llvm::SmallVector<mlir::Value> point; // batch, spatial dims except the last
  mlir::Value pixel, channel;           // offsets of the blocks
  mlir::Value group;                    // of the channels
  RowBlock row;                         // the pixels
  bool hasLines = false;                // rows are along axis Line
  DimRanges ranges;                     // of the result
};

/// Emits program ids for a result with rows of `width` pixels: blocks of pixels
/// are innermost, then rows, then channels, so that consecutive programs use
/// one panel of the filter. `lines` is the number of rows of a program along
/// axis Line; null is one row, without an axis. With `channelsInside`, rows are
/// outermost, so that threads with adjacent programs seldom store to the same
/// cache lines.
mlir::FailureOr<ConvProgram>
makeProgram(KernelEmitter &e, llvm::ArrayRef<mlir::AffineExpr> result,
            mlir::AffineExpr width, RowBlock row, mlir::Value blockC,
            mlir::Value channelBlocks, mlir::Value lines = {},
            bool channelsInside = false);

/// The sizes and attributes of a convolution. Dims of input and result are in
/// the order batch, spatial, channels, even if the channels are first in
/// memory.
struct ConvShape {
  mutable graph::ConvOp op;
  graph::Dims input, filter, result;
  unsigned spatial;
  int64_t groups, groupInputs, groupOutputs;

  explicit ConvShape(graph::ConvOp op);

  /// Filters are [outputs, inputs of a group or band, window..].
  mlir::AffineExpr kernel(unsigned d) const { return filter[d + 2]; }
  bool isStatic() const;
  bool isPointwise() const;
  bool isDepthwise() const {
    return groups > 1 && groupInputs == 1 && groupOutputs == 1;
  }
  /// Returns true for one input and one output channel.
  bool isPlane() const {
    return groups == 1 && groupInputs == 1 && groupOutputs == 1;
  }
  /// Returns true if the pixels of a channel are contiguous in memory.
  bool hasPlanes() const;
};

/// One tap of a window: its position in the filter, and its input.
struct Taps {
  llvm::SmallVector<mlir::Value> filter;
  DimRanges input; // batch and spatial dims of the pixels of a program
};

/// Emits loops over the taps of the window around `body`: rows out of bounds
/// are skipped, and pixels out of bounds are padding.
mlir::FailureOr<KernelEmitter::Carried>
loopWindow(KernelEmitter &e, const ConvShape &conv, const ConvProgram &program,
           Taps &taps, mlir::ValueRange carried,
           llvm::function_ref<
               mlir::FailureOr<KernelEmitter::Carried>(mlir::ValueRange)>
               body);

/// Returns the packing of the filter of a convolution: the layout of the matrix
/// unit if the module is for GPUs and a unit multiplies the elements, else
/// panels of `panel` outputs.
mlir::AffineMap packFilter(graph::ConvOp op, int64_t panel, PackedGroup group);
/// Returns the packing of the right operand of a matrix product in the same
/// way.
mlir::AffineMap packMatrix(graph::MatmulOp op, int64_t panel,
                           PackedGroup group);

/// Returns true if the convolution is for a GPU only, and a matrix unit
/// multiplies its elements.
bool takesImageBlocks(const ConvShape &conv);
/// Emits such a convolution in blocks of pixels of several rows.
mlir::LogicalResult emitImageBlocks(KernelEmitter &e, const ConvShape &conv);

/// Returns true if a matrix unit computes the convolution from patches of the
/// input.
bool takesPatches(KernelEmitter &e, const ConvShape &conv);
/// Emits such a convolution: a program copies a patch, and multiplies it.
mlir::LogicalResult emitPatchConv(KernelEmitter &e, const ConvShape &conv);

/// Returns true if groups have so few channels that a vector holds several
/// groups.
bool runsInLanes(const KernelEmitter &e, const ConvShape &conv);
/// Emits a convolution whose channels are the lanes: with one channel for each
/// group, or a few.
mlir::LogicalResult emitDepthwise(KernelEmitter &e, const ConvShape &conv);

/// Defines `result` at these ranges as the sum with bias and conversion. The
/// last range (with planes, the second one) is the channel.
mlir::LogicalResult defineConv(KernelEmitter &e, mlir::Value result,
                               mlir::Value bias, mlir::Value acc,
                               llvm::ArrayRef<int> axes,
                               llvm::ArrayRef<DimRange> ranges);
/// Defines `result` in the same way, and emits the epilogue.
mlir::LogicalResult finishConv(KernelEmitter &e, mlir::Value result,
                               mlir::Value bias, mlir::Value acc,
                               llvm::ArrayRef<int> axes,
                               llvm::ArrayRef<DimRange> ranges);

/// A program of a convolution of few pixels: `pixels` pixels from `pixel` on, a
/// block of channels, and memory [tap, pixel, channel] for the inputs of their
/// windows.
struct FewPixels {
  mlir::Value pixels, pixel, block;
  mlir::Value channel, channels; // of the result
  mlir::Value depth, blockK;     // of the input
  mlir::Value memory;
};
/// Emits a Winograd convolution by its untransformed taps, which follow the
/// transformed filter.
mlir::LogicalResult emitFewPixels(KernelEmitter &e, graph::WinogradConvOp op,
                                  const FewPixels &program);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_CONVOLUTION_H
