// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that are one product, and the boxes of memory that it reads.
#ifndef ADZE_DIALECT_TILE_ANALYSIS_PRODUCTS_H
#define ADZE_DIALECT_TILE_ANALYSIS_PRODUCTS_H

#include "Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace adze::tile {

/// A kernel that is one product in a nest of loops that carry its sums, and
/// elementwise operations on the sums. Tiles may have dynamic sizes.
struct Product {
  DotOp dot;
  llvm::SmallVector<mlir::scf::ForOp> loops; ///< outermost first
  LoadOp lhs, rhs;
  ProgramIdOp ids;
  llvm::SmallVector<StoreOp> stores;

  mlir::Value getSums() { return loops.front().getResult(0); }
};

/// Finds the product that the kernel is. On failure `why` says what else it is.
mlir::FailureOr<Product> findProduct(KernelOp kernel, std::string &why);

/// How a window of memory is copied by boxes of a tensor map. Sizes and boxes
/// are those of the physical dims, outermost first, in elements.
struct TensorBox {
  unsigned argument; ///< whose memory it is
  mlir::Value memref;
  mlir::MemRefType physical;
  llvm::SmallVector<int64_t> box;
  bool alongSum;     ///< neighbours in memory are neighbours along k
  int64_t rowBytes;  ///< of a box in shared memory: 32, 64 or 128
  int64_t numCopies; ///< boxes that cover the window, along the last dim
};

/// The role of the dims of a tile of a product.
enum class TileRole { Lhs, Rhs, Result };

/// Describes the copy of a window of `memref` whose tile dims run along `dims`
/// of it, with these sizes. On failure `why` says what stands against it.
mlir::FailureOr<TensorBox> getTensorBox(mlir::Value memref,
                                        llvm::ArrayRef<int64_t> dims,
                                        llvm::ArrayRef<int64_t> sizes,
                                        TileRole role, std::string &why);

/// Returns the argument of the kernel whose elements `memref` has in the same
/// order, seen through collapsed and expanded shapes; null if there is none.
mlir::BlockArgument getWholeArgument(mlir::Value memref);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_ANALYSIS_PRODUCTS_H
