// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Analysis of kernels that consist of one product, and of the boxes of memory
// that it reads.
#ifndef ADZE_DIALECT_TILE_ANALYSIS_PRODUCTS_H
#define ADZE_DIALECT_TILE_ANALYSIS_PRODUCTS_H

#include "Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace adze::tile {

/// A kernel that consists of one product, or of several that have the left
/// operand in common, in a nest of loops that carry the accumulators, and of
/// elementwise operations on these. Tiles may have dynamic sizes. The rows may
/// be those of a block of an image: the left operand is then loaded as [rows,
/// columns, k] and reshaped, and results are [rows, columns, n]. The right
/// operands are loaded, or computed from what the loop loads: dequantized.
struct Product {
  llvm::SmallVector<DotOp> dots; ///< in the order of the accumulators
  llvm::SmallVector<mlir::scf::ForOp> loops; ///< outermost first
  LoadOp lhs;
  /// Of each dot, with the same sizes; none if right operands are computed.
  llvm::SmallVector<LoadOp> rhs;
  ProgramIdOp ids;
  llvm::SmallVector<StoreOp> stores;

  /// Returns true if the right operands are computed.
  bool isComputed() const { return rhs.empty(); }
  /// Returns the number of dims that are the rows of the product: 1 or 2.
  unsigned getNumRowDims() { return lhs.getResult().getType().getRank() - 1; }
  /// Returns the accumulators of a dot after the loops.
  mlir::Value getSums(unsigned dot) { return loops.front().getResult(dot); }
  /// Returns true if the bounds of the loops are the same for all programs, and
  /// known before the outermost loop.
  bool hasUniformDepth();
};

/// Finds the product of a kernel. On failure, `why` is the reason.
mlir::FailureOr<Product> findProduct(KernelOp kernel, std::string &why);

/// The elements of a key, which are those of a query, and of a value. In shared
/// memory they have rows of a multiple of 128 bytes, which copies fill with the
/// elements that follow in the same row of memory, and then with zeros.
struct HeadSizes {
  int64_t key, value;
  int64_t stagedKey, stagedValue;
};

/// A kernel of two products in one loop, in which the second one uses a
/// function of the first: attention. Tiles are transposed: scores are [keys,
/// rows], the accumulators [depth, rows], and all other carried values [rows].
struct Attention {
  mlir::scf::ForOp loop;
  DotOp scores, output;
  LoadOp query, keys, values;
  ProgramIdOp ids;
  llvm::SmallVector<StoreOp> stores;

  /// Returns the index of the accumulators among the carried values of the
  /// loop.
  unsigned getSumsNumber() {
    return output.getResult().getUses().begin()->getOperandNumber();
  }
  /// Returns true if programs of later rows have more keys, as under the
  /// diagonal.
  bool isTriangular();
  /// Returns the elements of a value.
  int64_t getColumns() const {
    return LoadOp(values).getStaticSizes().front();
  }
  /// Returns the sizes of keys and values for matrix instructions. Fails with
  /// the reason if an instruction has no such size, or would multiply elements
  /// beyond a key that are not zero.
  llvm::FailureOr<HeadSizes> getHeadSizes(std::string &why);
};

/// Finds the attention of a kernel. On failure, `why` is the reason.
mlir::FailureOr<Attention> findAttention(KernelOp kernel, std::string &why);

/// The copy of a window of memory by boxes of a tensor map. Sizes and boxes are
/// those of the physical dims, outermost first, in elements; consecutive
/// elements of a box are `steps` apart.
struct TensorBox {
  unsigned argument; ///< the kernel argument that is copied
  mlir::Value memref;
  mlir::MemRefType physical;
  llvm::SmallVector<int64_t> box, steps;
  bool alongSum; ///< elements adjacent in memory are adjacent along k
  /// bytes of a row of a box in shared memory: 32, 64 or 128
  int64_t rowBytes;
  int64_t numCopies; ///< boxes that cover the window, along the last dim

  /// Returns true if windows of both have the same layout in shared memory.
  bool hasSameForm(const TensorBox &other) const {
    return box == other.box && alongSum == other.alongSum &&
           rowBytes == other.rowBytes;
  }
};

/// The role of the dims of a tile of a product.
enum class TileRole { Lhs, Rhs, Result };

/// The tile dims of a window: the memory dims that they run along, their sizes
/// and steps.
struct TileWindow {
  llvm::SmallVector<int64_t> dims, sizes, steps;
};

/// Describes the copy of a window of `memref`. On failure, `why` is the reason.
mlir::FailureOr<TensorBox> getTensorBox(mlir::Value memref,
                                        const TileWindow &window, TileRole role,
                                        std::string &why);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_ANALYSIS_PRODUCTS_H
