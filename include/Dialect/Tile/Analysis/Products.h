// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that are one product, and the boxes of memory that it reads.
#ifndef ADZE_DIALECT_TILE_ANALYSIS_PRODUCTS_H
#define ADZE_DIALECT_TILE_ANALYSIS_PRODUCTS_H

#include "Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace adze::tile {

/// A kernel that is one product in a nest of loops that carry its sums, and
/// elementwise operations on the sums. Tiles may have dynamic sizes. The rows
/// may be those of a block of an image: the left operand is then loaded as
/// [rows, columns, k] and reshaped, and results are [rows, columns, n].
struct Product {
  DotOp dot;
  llvm::SmallVector<mlir::scf::ForOp> loops; ///< outermost first
  LoadOp lhs, rhs;
  ProgramIdOp ids;
  llvm::SmallVector<StoreOp> stores;

  /// Returns the number of dims that are the rows of the product: 1 or 2.
  unsigned getNumRowDims() { return lhs.getResult().getType().getRank() - 1; }
  mlir::Value getSums() { return loops.front().getResult(0); }
};

/// Finds the product that the kernel is. On failure `why` says what else it is.
mlir::FailureOr<Product> findProduct(KernelOp kernel, std::string &why);

/// A kernel of two products in one loop, the second of which takes what is
/// computed of the first: attention. Tiles are transposed: scores are [keys,
/// rows], the sums [depth, rows]; what else the loop carries is [rows].
struct Attention {
  mlir::scf::ForOp loop;
  DotOp scores, output;
  LoadOp query, keys, values;
  ProgramIdOp ids;
  llvm::SmallVector<StoreOp> stores;

  /// Returns which of the loop's values are the sums.
  unsigned getSumsNumber() {
    return output.getResult().getUses().begin()->getOperandNumber();
  }
  /// Returns true if programs of later rows have more keys, as under the
  /// diagonal.
  bool isTriangular();
};

/// Finds the attention that the kernel is. On failure `why` says what else it
/// is.
mlir::FailureOr<Attention> findAttention(KernelOp kernel, std::string &why);

/// How a window of memory is copied by boxes of a tensor map. Sizes and boxes
/// are those of the physical dims, outermost first, in elements; an element of
/// a box is `steps` further than the one before.
struct TensorBox {
  unsigned argument; ///< whose memory it is
  mlir::Value memref;
  mlir::MemRefType physical;
  llvm::SmallVector<int64_t> box, steps;
  bool alongSum;     ///< neighbours in memory are neighbours along k
  int64_t rowBytes;  ///< of a box in shared memory: 32, 64 or 128
  int64_t numCopies; ///< boxes that cover the window, along the last dim
};

/// The role of the dims of a tile of a product.
enum class TileRole { Lhs, Rhs, Result };

/// A window's tile dims: along which dims of the memory they run, their sizes
/// and steps.
struct TileWindow {
  llvm::SmallVector<int64_t> dims, sizes, steps;
};

/// Describes the copy of a window of `memref`. On failure `why` says what
/// stands against it.
mlir::FailureOr<TensorBox> getTensorBox(mlir::Value memref,
                                        const TileWindow &window, TileRole role,
                                        std::string &why);

/// Returns the argument of the kernel whose elements `memref` has in the same
/// order, seen through collapsed and expanded shapes; null if there is none.
mlir::BlockArgument getWholeArgument(mlir::Value memref);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_ANALYSIS_PRODUCTS_H
