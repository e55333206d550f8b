// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that read or write some channels of a tensor that has more: where a
// network concatenates and splits channels, these kernels differ in how many
// there are, and in which they take.
#ifndef ADZE_LIB_PIPELINE_KERNELSLICES_H
#define ADZE_LIB_PIPELINE_KERNELSLICES_H

#include "Dialect/Tile/IR/Tile.h"
#include "mlir/IR/AffineExpr.h"

namespace adze {

/// The elements [begin, begin + width) of the last dimension of an argument,
/// which are all that a kernel accesses.
struct KernelSlice {
  unsigned argument;
  int64_t size; // of the dimension
  int64_t begin, width;
};

/// The slices of the arguments of which they are known.
llvm::SmallVector<KernelSlice> getSlices(tile::KernelOp kernel);

/// Gives an argument of a kernel another shape.
void setArgumentShape(tile::KernelOp kernel, unsigned index,
                      llvm::ArrayRef<int64_t> shape);

/// Makes the kernel access the slice by a view of the argument, whose last
/// dimension has the size `size` (null: any) from here on, and where the slice
/// begins at `begin`.
void takeSlice(tile::KernelOp kernel, const KernelSlice &slice,
               mlir::AffineExpr size, mlir::OpFoldResult begin);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_KERNELSLICES_H
