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

/// Emit a transform as a kernel of its own.
mlir::LogicalResult emitWinogradInput(KernelEmitter &e,
                                      graph::WinogradInputOp op, Tiling tiling);
mlir::LogicalResult
emitWinogradFilter(KernelEmitter &e, graph::WinogradFilterOp op, Tiling tiling);
mlir::LogicalResult
emitWinogradOutput(KernelEmitter &e, graph::WinogradOutputOp op, Tiling tiling);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_WINOGRADTRANSFORMS_H
