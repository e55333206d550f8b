// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The transforms of Winograd's algorithm.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_WINOGRADTRANSFORMS_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_WINOGRADTRANSFORMS_H

#include "Dialect/Graph/IR/Winograd.h"
#include "Families.h"

namespace adze {

/// Computes `matrix * x * transposed matrix` of tiles of type `element`; x is
/// square and row-major.
llvm::SmallVector<mlir::Value>
multiplyBoth(KernelEmitter &e, mlir::Type element, llvm::ArrayRef<int> axes,
             const graph::Winograd::Matrix &matrix,
             llvm::ArrayRef<mlir::Value> x);

/// Emits a transform of patches, of a filter or of products as a kernel of its
/// own.
mlir::LogicalResult emitWinogradTransform(KernelEmitter &e, mlir::Operation *op,
                                          Tiling tiling);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_WINOGRADTRANSFORMS_H
