// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of the op families of the reference path: memory of tensors,
// sizes from symbols, loops and scalar arithmetic.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOLINALG_KERNELLOWERING_H
#define ADZE_LIB_CONVERSION_GRAPHTOLINALG_KERNELLOWERING_H

#include "Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace adze::graph {

/// The state of the lowering of one kernel. Every tensor is a row-major memref
/// of signless elements: an argument, a result (a trailing argument), or a
/// temporary.
class KernelLowering {
public:
  using Indices = mlir::ValueRange;
  /// A half-open range of a loop.
  struct Range {
    mlir::Value low, high;
  };

  /// The first `numSymbols` symbols are those of the module.
  KernelLowering(mlir::func::FuncOp from, mlir::func::FuncOp to,
                 unsigned numSymbols);

  /// Assigns the result arguments to the returned values, and to the values
  /// that these are views of. Fails if a symbol is not bound.
  mlir::LogicalResult assignPlaces();
  /// Copies results that were computed elsewhere, and returns.
  void finish();

  /// Returns true if the kernel is for devices, where iterations are threads.
  bool isForDevices() const;

  mlir::OpBuilder builder;
  mlir::Location loc;

  //===--- Places ---------------------------------------------------------===//

  /// Returns the memref of an operand.
  mlir::Value get(mlir::Value tensor);
  /// Returns the memref to write a result to: a result argument, or a
  /// temporary.
  mlir::Value getOutput(mlir::Value tensor);
  /// Sets the memref of a tensor.
  void set(mlir::Value tensor, mlir::Value memref) { places[tensor] = memref; }
  /// Returns true if the tensor has a memref to write to.
  bool hasPlace(mlir::Value tensor) const { return places.contains(tensor); }
  /// Returns true if a result is in the memory of an operand (`adze.tied`).
  bool isTied(mlir::Value result);
  /// Returns true if the operand of a reshape is written in the memory of the
  /// result.
  bool isAlias(mlir::Operation *reshape) const {
    return aliases.contains(reshape);
  }
  /// Returns a view of a row-major memref with the shape of `tensor`.
  mlir::Value view(mlir::Value memref, mlir::Value tensor);
  /// Allocates a temporary with the shape of the type and another element type.
  mlir::Value allocate(mlir::Value tensor);

  //===--- Sizes ----------------------------------------------------------===//

  /// Emits an expression of the symbols. Returns null if a symbol is unknown.
  mlir::Value evaluate(mlir::AffineExpr expr);
  mlir::Value getSize(mlir::Value tensor, int64_t dim);
  llvm::SmallVector<mlir::Value> getSizes(mlir::Value tensor);
  /// Returns the product of all sizes, or 1 without sizes.
  mlir::Value multiply(mlir::ValueRange sizes);

  //===--- Index arithmetic -----------------------------------------------===//

  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value add(mlir::Value lhs, int64_t rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, int64_t rhs);
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);
  /// Emits the quotient rounded down, for any sign of the dividend.
  mlir::Value floorDiv(mlir::Value lhs, int64_t rhs);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs,
                      mlir::Value rhs);
  mlir::Value conjunction(mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value lhs, mlir::Value rhs);
  /// Converts an element of an index tensor to an index into a dim of `size`: a
  /// negative one counts from the end, and the result is clamped.
  mlir::Value toIndex(mlir::Value integer, mlir::Value size);

  //===--- Loops ----------------------------------------------------------===//

  /// Emits a loop nest over [0, size) of each size.
  void forEach(mlir::ValueRange sizes, llvm::function_ref<void(Indices)> body);
  /// Emits a loop nest around the whole kernel, whose iterations may run in any
  /// order: those of the outermost loop become programs.
  void forEachProgram(mlir::ValueRange sizes,
                      llvm::function_ref<void(Indices)> body);
  /// Emits a loop nest whose iterations differ in the elements that they write,
  /// except along the dims in `ordered`. For devices, the nest states this, and
  /// the ordered dims are the innermost ones.
  void forEachUpdate(mlir::ValueRange sizes, llvm::ArrayRef<int64_t> ordered,
                     llvm::function_ref<void(Indices)> body);
  /// Emits a loop nest with carried values; the body returns the next ones.
  llvm::SmallVector<mlir::Value>
  fold(llvm::ArrayRef<Range> ranges, mlir::ValueRange inits,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(Indices, Indices)>
           body);
  /// Emits a loop nest with one carried value.
  mlir::Value fold(llvm::ArrayRef<Range> ranges, mlir::Value init,
                   llvm::function_ref<mlir::Value(Indices, mlir::Value)> body);
  llvm::SmallVector<Range> getRanges(mlir::ValueRange sizes);
  /// Emits `condition ? body() : otherwise`, with the body under the condition.
  mlir::Value ifThenElse(mlir::Value condition,
                         llvm::function_ref<mlir::Value()> body,
                         mlir::Value otherwise);
  /// Writes body(indices) to all elements of `memref`, the memory of a tensor.
  void fill(mlir::Value tensor, llvm::function_ref<mlir::Value(Indices)> body);

  //===--- Packed elements ------------------------------------------------===//

  /// Loads an element of a packed tensor, in the signless type of its bits.
  mlir::Value loadPacked(mlir::Value tensor, Indices indices);
  /// Zeros a packed tensor, so that each element can be stored once.
  void clearPacked(mlir::Value tensor);
  void storePacked(mlir::Value value, mlir::Value tensor, Indices indices);

  //===--- Elements -------------------------------------------------------===//

  mlir::Value load(mlir::Value memref, Indices indices);
  void store(mlir::Value value, mlir::Value memref, Indices indices);
  /// Loads an element in the type that its sums are accumulated in.
  mlir::Value loadWide(mlir::Value memref, Indices indices);
  /// Rounds a wide value to the element type of the memref, and stores it.
  void storeWide(mlir::Value value, mlir::Value memref, Indices indices);
  ElementBuilder elements() { return ElementBuilder(builder, loc); }
  mlir::Value number(mlir::Type type, double value);
  /// Converts an index to a number of the type.
  mlir::Value toNumber(mlir::Value index, mlir::Type type);
  /// Emit lhs + rhs and so on for numbers of one type.
  mlir::Value addNum(mlir::Value lhs, mlir::Value rhs);
  mlir::Value subNum(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mulNum(mlir::Value lhs, mlir::Value rhs);
  mlir::Value divNum(mlir::Value lhs, mlir::Value rhs);

private:
  struct PackedElement {
    mlir::Value address, shift; // of the byte; of the element in it
  };
  /// Returns the address of byte `index` of a packed tensor.
  mlir::Value getByteAddress(mlir::Value tensor, mlir::Value index);
  PackedElement getPackedElement(mlir::Value tensor, Indices indices);
  mlir::Value viewDynamic(mlir::Value memref, mlir::Value tensor);
  mlir::LogicalResult bindSymbols();
  void bind(mlir::AffineExpr expr, mlir::Value memref, int64_t dim);

  bool isModuleSize(mlir::AffineExpr expr) const;

  mlir::func::FuncOp from, to;
  unsigned numSymbols;
  llvm::DenseMap<mlir::Value, mlir::Value> places;
  llvm::DenseSet<mlir::Operation *> aliases;
  llvm::DenseMap<unsigned, mlir::Value> symbols;
  llvm::DenseMap<int64_t, mlir::Value> constants;
  /// Sizes of arguments by their expressions, if symbols cannot be solved.
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> known;
  /// Returned values that are computed elsewhere: (value, argument).
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> copies;
};

/// The result of lowering an op of the family, or nullopt for other ops.
using FamilyResult = std::optional<mlir::LogicalResult>;
FamilyResult lowerElementwise(mlir::Operation *op, KernelLowering &k);
FamilyResult lowerContraction(mlir::Operation *op, KernelLowering &k);
FamilyResult lowerPooling(mlir::Operation *op, KernelLowering &k);
FamilyResult lowerReduction(mlir::Operation *op, KernelLowering &k);
FamilyResult lowerNormalization(mlir::Operation *op, KernelLowering &k);
FamilyResult lowerAttention(mlir::Operation *op, KernelLowering &k);
FamilyResult lowerDataMovement(mlir::Operation *op, KernelLowering &k);
FamilyResult lowerLookup(mlir::Operation *op, KernelLowering &k);
FamilyResult lowerResize(mlir::Operation *op, KernelLowering &k);
FamilyResult lowerRecurrent(mlir::Operation *op, KernelLowering &k);
FamilyResult lowerRegion(mlir::Operation *op, KernelLowering &k);
FamilyResult lowerMatrix(mlir::Operation *op, KernelLowering &k);
FamilyResult lowerWinograd(mlir::Operation *op, KernelLowering &k);

mlir::LogicalResult lowerTopK(TopKOp op, KernelLowering &k);

/// Returns the memref type that stores a tensor type: no encoding, signless
/// elements.
mlir::MemRefType getMemrefType(mlir::Type tensor);

/// The positions of the dims of an image.
struct ImageDims {
  ImageDims(mlir::Value image, Layout layout)
      : spatialRank(
            llvm::cast<mlir::RankedTensorType>(image.getType()).getRank() - 2),
        channelsLast(layout == Layout::NHWC) {}
  int64_t spatialRank;
  bool channelsLast;
  int64_t channel() const { return channelsLast ? spatialRank + 1 : 1; }
  int64_t spatial(int64_t i) const { return channelsLast ? i + 1 : i + 2; }
  /// Orders batch, channel and spatial indices by the layout.
  llvm::SmallVector<mlir::Value> order(mlir::Value batch, mlir::Value channel,
                                       mlir::ValueRange spatial) const;
};

/// One dim of a sliding window.
struct WindowDim {
  int64_t stride, low, high, dilation;
};
/// Returns the taps of a window that are in bounds of the input: k with 0 <=
/// out * stride - low + k * dilation < size. With `padded`, the padding counts
/// as in bounds.
KernelLowering::Range getTaps(KernelLowering &k, WindowDim window,
                              mlir::Value out, mlir::Value taps,
                              mlir::Value size, bool padded = false);
/// Returns the outputs for which a tap is in bounds of the input.
KernelLowering::Range getOutputs(KernelLowering &k, WindowDim window,
                                 mlir::Value tap, mlir::Value size,
                                 mlir::Value outputs);
/// Returns the input position of a tap.
mlir::Value getPosition(KernelLowering &k, WindowDim window, mlir::Value out,
                        mlir::Value tap);

} // namespace adze::graph

#endif // ADZE_LIB_CONVERSION_GRAPHTOLINALG_KERNELLOWERING_H
