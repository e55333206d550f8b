// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Versions of kernels for GPUs by their number of rows.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_FEWROWS_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_FEWROWS_H

#include "Families.h"

namespace adze {

/// The longest row of dynamic length that the threads of a warp process, and
/// the elements of its steps.
constexpr int64_t kShortRow = 1024, kShortChunk = 256;

/// Returns the versions of a kernel on a GPU by its number of rows: one for
/// all, or those for most rows first. `isConstant` returns true for an operand
/// that can be packed.
llvm::SmallVector<RowVersion>
chooseRowVersions(mlir::Operation *anchor,
                  llvm::function_ref<bool(mlir::Value)> isConstant);
/// Returns the number of rows of a product by blockwise quantized weights.
mlir::AffineExpr getRows(graph::BlockMatmulOp op);
/// Returns the number of rows of a product of all batches by one matrix, or
/// null if batches have matrices of their own.
mlir::AffineExpr getFlatRows(graph::MatmulOp op);
/// The rows that the matrix instruction of a warp multiplies at once, and the
/// columns of the right operand.
constexpr int64_t kUnitRows = 8, kUnitColumns = 16;
/// Returns true if numbers in place of the quantized weights are exact in the
/// element type of the rows, which a matrix instruction multiplies.
bool mayUseUnit(graph::BlockMatmulOp op);
/// Emits the version of a product for few rows.
mlir::LogicalResult emitFewRows(KernelEmitter &e, graph::MatmulOp op);
/// Emits a product by blockwise quantized weights (GPUs).
mlir::LogicalResult emitBlockMatmul(KernelEmitter &e, graph::BlockMatmulOp op,
                                    Tiling tiling);

/// Returns the packing of the right operand of versions: contiguous along the
/// depth.
mlir::AffineMap packAlongDepth(graph::MatmulOp op);
/// Reshapes the tile to these axes.
Emitted reshapeOn(KernelEmitter &e, mlir::Value tile, llvm::ArrayRef<int> axes);
/// Splits `axis` of the tile, if it has it, into two.
Emitted splitAxis(KernelEmitter &e, const Emitted &tile, int axis, int outer,
                  int inner);
/// Returns the name of a version's kernel, whose first version has this name.
std::string getVersionName(llvm::StringRef name, const RowVersion &version);
/// Returns `programs` if the number of rows is one of this version, else 0.
/// Returns null if it is no size that the kernel can compute.
mlir::Value countForVersion(KernelEmitter &e, mlir::Value programs);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_FEWROWS_H
