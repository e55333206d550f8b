// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What the op families of the reference path write a kernel with: the places of
// tensors, sizes from symbols, loops and scalar arithmetic.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOLINALG_KERNELLOWERING_H
#define ADZE_LIB_CONVERSION_GRAPHTOLINALG_KERNELLOWERING_H

#include "Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace adze::graph {

/// The body of one kernel while it is lowered. Every tensor is a row-major
/// memref of signless elements: an argument, a result (a trailing argument), or
/// a temporary.
class KernelLowering {
public:
  using Indices = mlir::ValueRange;
  /// A half-open range of a loop.
  struct Range {
    mlir::Value low, high;
  };

  /// The first `numSymbols` symbols are the module's.
  KernelLowering(mlir::func::FuncOp from, mlir::func::FuncOp to,
                 unsigned numSymbols);

  /// Gives the returned values, and what they are views of, their places.
  /// Fails where nothing tells a symbol.
  mlir::LogicalResult assignPlaces();
  /// Copies what had no place of its own and returns.
  void finish();

  mlir::OpBuilder builder;
  mlir::Location loc;

  //===--- Places ---------------------------------------------------------===//

  /// The memref of an operand.
  mlir::Value get(mlir::Value tensor);
  /// The memref to write a result to: where it is returned, else a temporary.
  mlir::Value getOutput(mlir::Value tensor);
  /// Makes `memref` the place of a tensor.
  void set(mlir::Value tensor, mlir::Value memref) { places[tensor] = memref; }
  /// Whether the tensor has a place to be written to.
  bool hasPlace(mlir::Value tensor) const { return places.contains(tensor); }
  /// Whether a result lies in the memory of an operand (`adze.tied`).
  bool isTied(mlir::Value result);
  /// Whether a reshape's operand is written in the place of its result.
  bool isAlias(mlir::Operation *reshape) const {
    return aliases.contains(reshape);
  }
  /// A row-major memref seen with the shape of `tensor`.
  mlir::Value view(mlir::Value memref, mlir::Value tensor);
  /// A temporary of the shape of the type with another element type.
  mlir::Value allocate(mlir::Value tensor);

  //===--- Sizes ----------------------------------------------------------===//

  /// The value of an expression of the symbols; null if one is unknown.
  mlir::Value evaluate(mlir::AffineExpr expr);
  mlir::Value getSize(mlir::Value tensor, int64_t dim);
  llvm::SmallVector<mlir::Value> getSizes(mlir::Value tensor);
  /// The product of all sizes, 1 for none.
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
  /// Rounded down, for any sign of the dividend.
  mlir::Value floorDiv(mlir::Value lhs, int64_t rhs);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs,
                      mlir::Value rhs);
  mlir::Value conjunction(mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value lhs, mlir::Value rhs);
  /// An element of an index tensor as an index into a dim of `size`: counted
  /// from the end if negative, then clamped.
  mlir::Value toIndex(mlir::Value integer, mlir::Value size);

  //===--- Loops ----------------------------------------------------------===//

  /// A nest over [0, size) of each size.
  void forEach(mlir::ValueRange sizes, llvm::function_ref<void(Indices)> body);
  /// The same around all that the kernel does, in any order: the outermost loop
  /// is one of programs.
  void forEachProgram(mlir::ValueRange sizes,
                      llvm::function_ref<void(Indices)> body);
  /// A nest that carries values; the body returns the next ones.
  llvm::SmallVector<mlir::Value>
  fold(llvm::ArrayRef<Range> ranges, mlir::ValueRange inits,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(Indices, Indices)>
           body);
  /// As above with one value.
  mlir::Value fold(llvm::ArrayRef<Range> ranges, mlir::Value init,
                   llvm::function_ref<mlir::Value(Indices, mlir::Value)> body);
  llvm::SmallVector<Range> getRanges(mlir::ValueRange sizes);
  /// `condition ? body() : otherwise`, the body emitted under the condition.
  mlir::Value ifThenElse(mlir::Value condition,
                         llvm::function_ref<mlir::Value()> body,
                         mlir::Value otherwise);
  /// Writes body(indices) to every element of `memref`, a tensor's place.
  void fill(mlir::Value tensor, llvm::function_ref<mlir::Value(Indices)> body);

  //===--- Packed elements ------------------------------------------------===//

  /// Element `indices` of a packed tensor, in the signless type of its bits.
  mlir::Value loadPacked(mlir::Value tensor, Indices indices);
  /// Clears a packed tensor, which then takes each element once.
  void clearPacked(mlir::Value tensor);
  void storePacked(mlir::Value value, mlir::Value tensor, Indices indices);

  //===--- Elements -------------------------------------------------------===//

  mlir::Value load(mlir::Value memref, Indices indices);
  void store(mlir::Value value, mlir::Value memref, Indices indices);
  /// Loads in the type that sums of it are accumulated in.
  mlir::Value loadWide(mlir::Value memref, Indices indices);
  /// Rounds a wide value to the memref's elements and stores it.
  void storeWide(mlir::Value value, mlir::Value memref, Indices indices);
  ElementBuilder elements() { return ElementBuilder(builder, loc); }
  mlir::Value number(mlir::Type type, double value);
  /// An index as a number of the type.
  mlir::Value toNumber(mlir::Value index, mlir::Type type);
  /// lhs + rhs etc. of numbers of one type.
  mlir::Value addNum(mlir::Value lhs, mlir::Value rhs);
  mlir::Value subNum(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mulNum(mlir::Value lhs, mlir::Value rhs);
  mlir::Value divNum(mlir::Value lhs, mlir::Value rhs);

private:
  struct Place {
    mlir::Value address, shift; // of the byte; of the element in it
  };
  /// The address of byte `index` of a packed tensor.
  mlir::Value getByteAddress(mlir::Value tensor, mlir::Value index);
  Place getPackedPlace(mlir::Value tensor, Indices indices);
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
  /// Sizes of arguments by their expressions, where symbols cannot be solved.
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> known;
  /// Returned values that are written elsewhere first: (value, argument).
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> copies;
};

/// Lowers an op of the family; nullopt: not of the family.
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

/// The memref type that stores a tensor type: no encoding, signless elements.
mlir::MemRefType getMemrefType(mlir::Type tensor);

/// Where the dims of an image are.
struct ImageDims {
  ImageDims(mlir::Value image, Layout layout)
      : spatialRank(
            llvm::cast<mlir::RankedTensorType>(image.getType()).getRank() - 2),
        channelsLast(layout == Layout::NHWC) {}
  int64_t spatialRank;
  bool channelsLast;
  int64_t channel() const { return channelsLast ? spatialRank + 1 : 1; }
  int64_t spatial(int64_t i) const { return channelsLast ? i + 1 : i + 2; }
  /// Puts batch, channel and spatial indices in the layout's order.
  llvm::SmallVector<mlir::Value> order(mlir::Value batch, mlir::Value channel,
                                       mlir::ValueRange spatial) const;
};

/// One dim of a sliding window.
struct WindowDim {
  int64_t stride, low, high, dilation;
};
/// The taps of a window whose input elements exist: k with
/// 0 <= out * stride - low + k * dilation < size. `padded` counts the padding
/// as existing.
KernelLowering::Range getTaps(KernelLowering &k, WindowDim window,
                              mlir::Value out, mlir::Value taps,
                              mlir::Value size, bool padded = false);
/// The outputs that a tap reaches the input from.
KernelLowering::Range getOutputs(KernelLowering &k, WindowDim window,
                                 mlir::Value tap, mlir::Value size,
                                 mlir::Value outputs);
/// The input position of a tap.
mlir::Value getPosition(KernelLowering &k, WindowDim window, mlir::Value out,
                        mlir::Value tap);

} // namespace adze::graph

#endif // ADZE_LIB_CONVERSION_GRAPHTOLINALG_KERNELLOWERING_H
