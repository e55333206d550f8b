// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What convolutions and transposed convolutions of channels-last images share.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_CONVOLUTION_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_CONVOLUTION_H

#include "Families.h"

namespace adze {

/// The axes of a contraction's tiles: rows or pixels, what is summed over,
/// columns or channels; lines of an image.
enum ContractionAxis { M = 0, K = 1, N = 2, Line = 3 };

/// `acc + lhs * rhs` over all of k, in blocks; `precision`: what the product
/// may round its operands to.
mlir::FailureOr<mlir::Value>
accumulate(KernelEmitter &e, mlir::Value depth, mlir::Value block,
           mlir::Value init, mlir::Value lhs, mlir::Value rhs,
           llvm::function_ref<Places(mlir::Value)> lhsPlaces,
           llvm::function_ref<Places(mlir::Value)> rhsPlaces,
           std::optional<mlir::Type> precision = std::nullopt);

/// Returns the element types of a product of such tensors that is summed in
/// `sum`.
tile::ProductAttr getProduct(mlir::Value lhs, mlir::Value rhs, mlir::Type sum,
                             std::optional<mlir::Type> precision);
/// Returns the same; null where the types of the tiles imply it.
tile::ProductAttr getCompute(mlir::Value lhs, mlir::Value rhs, mlir::Type sum,
                             std::optional<mlir::Type> precision);

/// `acc + lhs * rhs`, element by element, on `axes`.
mlir::Value multiplyAdd(KernelEmitter &e, const Emitted &lhs,
                        const Emitted &rhs, mlir::Value acc,
                        llvm::ArrayRef<int> axes);

/// The packing of a filter [o, i, window..] (`inputsFirst`: [i, o, window..]):
/// panels of outputs, window and inputs inside; with a panel of 0, dim 0 last.
/// Inputs of a panel lie in groups.
mlir::AffineMap getFilterMap(mlir::MLIRContext *context, unsigned rank,
                             int64_t panel, bool inputsFirst = false,
                             PackedGroup group = {});

/// A program of a convolution: a run of pixels of one row (or of some rows, one
/// below the other: along axis Line), some channels.
struct ConvProgram {
  llvm::SmallVector<mlir::Value> point; // batch, spatial dims but the last
  mlir::Value pixel, channel;           // offsets of the blocks
  mlir::Value group;                    // of the channels
  RowBlock row;                         // the pixels
  bool hasLines = false;                // rows are along axis Line
  Places places;                        // of the result
};

/// Program ids for a result whose rows are `width` pixels: blocks of pixels
/// innermost, then rows, then channels, so that one panel of the filter serves
/// many programs in turn. `lines`: how many rows a program takes at once, along
/// axis Line; null: one, without an axis. `channelsInside`: rows last, so that
/// threads which take neighbouring programs seldom store to the same lines.
mlir::FailureOr<ConvProgram>
makeProgram(KernelEmitter &e, llvm::ArrayRef<mlir::AffineExpr> result,
            mlir::AffineExpr width, RowBlock row, mlir::Value blockC,
            mlir::Value channelBlocks, mlir::Value lines = {},
            bool channelsInside = false);

/// The numbers of a convolution. Dims of input and result are in the order
/// batch, spatial, channels, also where memory has the channels first.
struct ConvShape {
  mutable graph::ConvOp op;
  graph::Dims input, filter, result;
  unsigned spatial;
  int64_t groups, groupInputs, groupOutputs;

  explicit ConvShape(graph::ConvOp op);

  /// Filters are [outputs, inputs of a group, window..].
  mlir::AffineExpr kernel(unsigned d) const { return filter[d + 2]; }
  bool isStatic() const;
  bool isPointwise() const;
  bool isDepthwise() const {
    return groups > 1 && groupInputs == 1 && groupOutputs == 1;
  }
  /// One input and one output: a plane.
  bool isPlane() const {
    return groups == 1 && groupInputs == 1 && groupOutputs == 1;
  }
  /// Whether pixels are adjacent in memory, a plane a channel.
  bool hasPlanes() const;
};

/// One tap of a window: its place in the filter, and what it reads.
struct Taps {
  llvm::SmallVector<mlir::Value> filter;
  Places input; // batch and spatial dims, for the pixels of a program
};

/// Loops over the taps of the window around `body`: rows that are outside are
/// left out, pixels that are outside are padding.
mlir::FailureOr<KernelEmitter::Carried>
loopWindow(KernelEmitter &e, const ConvShape &conv, const ConvProgram &program,
           Taps &taps, mlir::ValueRange carried,
           llvm::function_ref<
               mlir::FailureOr<KernelEmitter::Carried>(mlir::ValueRange)>
               body);

/// Returns the packing of a convolution's filter: as a matrix unit of a GPU
/// reads it if the module is for GPUs and one multiplies its elements; else in
/// panels of so many outputs.
mlir::AffineMap packFilter(graph::ConvOp op, int64_t panel, PackedGroup group);
/// The same of the right operand of a matrix product.
mlir::AffineMap packMatrix(graph::MatmulOp op, int64_t panel,
                           PackedGroup group);

/// Returns true if the convolution is for a GPU alone, one of whose matrix
/// units multiplies its elements.
bool takesImageBlocks(const ConvShape &conv);
/// Emits such a convolution by blocks of pixels of several rows.
mlir::LogicalResult emitImageBlocks(KernelEmitter &e, const ConvShape &conv);

/// Returns true if a unit that multiplies matrices computes the convolution from
/// patches of the input.
bool takesPatches(KernelEmitter &e, const ConvShape &conv);
/// Emits such a convolution: a program copies a patch, and multiplies it.
mlir::LogicalResult emitPatchConv(KernelEmitter &e, const ConvShape &conv);

/// Groups of so few channels that a vector holds several of them.
bool runsInLanes(const KernelEmitter &e, const ConvShape &conv);
/// Convolutions whose channels are the lanes: of one channel a group, or of a
/// few.
mlir::LogicalResult emitDepthwise(KernelEmitter &e, const ConvShape &conv);

/// Bias and conversion after the sum: what `result` is at these places, the
/// last of which (or the second, of planes) is the channel.
mlir::LogicalResult defineConv(KernelEmitter &e, mlir::Value result,
                               mlir::Value bias, mlir::Value acc,
                               llvm::ArrayRef<int> axes,
                               llvm::ArrayRef<Place> places);
/// The same, then the epilogue.
mlir::LogicalResult finishConv(KernelEmitter &e, mlir::Value result,
                               mlir::Value bias, mlir::Value acc,
                               llvm::ArrayRef<int> axes,
                               llvm::ArrayRef<Place> places);

/// A program of a convolution of few pixels: of all `pixels` a block, those
/// from `pixel` on, and a block of channels; memory [tap, pixel, channel] of
/// the input for what their windows see.
struct FewPixels {
  mlir::Value pixels, pixel, block;
  mlir::Value channel, channels; // of the result
  mlir::Value depth, blockK;     // of the input
  mlir::Value memory;
};
/// By the taps that its filter has behind the products.
mlir::LogicalResult emitFewPixels(KernelEmitter &e, graph::WinogradConvOp op,
                                  const FewPixels &program);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_CONVOLUTION_H
