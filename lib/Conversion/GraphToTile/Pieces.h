// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands that are stored to parts of one output, one after the other.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_PIECES_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_PIECES_H

#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/SmallVector.h"

namespace adze {

class KernelEmitter;

/// The numbers of columns of pieces: the elements along a dim and those after
/// it.
struct PieceLengths {
  llvm::SmallVector<mlir::Value> values; // of each piece
  mlir::Value longest;
  int64_t known =
      0; // the greatest of static sizes; INT64_MAX if any is dynamic
};
mlir::FailureOr<PieceLengths>
emitLengths(KernelEmitter &e, mlir::ValueRange pieces, unsigned axis);

/// Creates the view of the columns [begin, begin + length) of the last dim.
mlir::Value viewColumns(KernelEmitter &e, mlir::Value memory, mlir::Value begin,
                        mlir::Value length);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_PIECES_H
