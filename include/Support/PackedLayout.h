// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Packs constants by layout maps.
#ifndef ADZE_SUPPORT_PACKEDLAYOUT_H
#define ADZE_SUPPORT_PACKEDLAYOUT_H

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace adze {

/// Returns the dims of the memory of an array of `shape` under `layout`: panels
/// are whole, so `d mod c` has c positions for any extent of d.
llvm::SmallVector<int64_t> getPackedShape(llvm::ArrayRef<int64_t> shape,
                                          mlir::AffineMap layout);

/// Writes `from` (row-major, elements of `elementBytes`) to `to` in the order
/// of `layout`; elements of `to` that no element maps to are zero.
void packElements(llvm::ArrayRef<char> from, llvm::ArrayRef<int64_t> shape,
                  mlir::AffineMap layout, unsigned elementBytes,
                  llvm::MutableArrayRef<char> to);

/// Passes the same bytes to `write` in order, in pieces of at most `pieceBytes`
/// (more, if one position of the outermost dim of the memory takes more), so
/// that an array larger than the available memory can be packed.
void packInPieces(llvm::ArrayRef<char> from, llvm::ArrayRef<int64_t> shape,
                  mlir::AffineMap layout, unsigned elementBytes,
                  uint64_t pieceBytes,
                  llvm::function_ref<void(llvm::ArrayRef<char>)> write);

} // namespace adze

#endif // ADZE_SUPPORT_PACKEDLAYOUT_H
