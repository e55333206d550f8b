// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks that indices are in range, and that divisors of integers are not 0.
#ifndef ADZE_LIB_IMPORT_ONNX_INDEXRANGE_H
#define ADZE_LIB_IMPORT_ONNX_INDEXRANGE_H

#include "Binder.h"

namespace adze::importer {

/// The meaning of a negative index.
enum class NegativeIndex { FromEnd, OutOfRange };

/// Checks that `indices` are in range of dims of `sizes`: all indices of the
/// only one, or element i of each tuple (the last dim) of size i. Constant
/// indices and those that are expressions of sizes are checked before the run
/// (failure if they are out of range), others by graph.check_range.
mlir::LogicalResult
checkIndices(Binder &b, mlir::Value indices,
             llvm::ArrayRef<mlir::AffineExpr> sizes,
             NegativeIndex negative = NegativeIndex::FromEnd);

/// Checks in the same way that `lengths` of sequences are at least 0 and at
/// most `size`.
mlir::LogicalResult checkLengths(Binder &b, mlir::Value lengths,
                                 mlir::AffineExpr size);

/// Checks in the same way that axes of a tensor of rank `rank` are in range.
mlir::LogicalResult checkAxes(Binder &b, mlir::Value axes, int64_t rank);

/// Checks that no element of the integers is 0: before the run if they are
/// constant (failure if one is 0), by graph.check_range otherwise. Sizes are
/// not checked.
mlir::LogicalResult checkDivisors(Binder &b, mlir::Value divisors);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_INDEXRANGE_H
