// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Layout maps as packings: where each element of a constant goes in memory.
#ifndef ADZE_SUPPORT_PACKEDLAYOUT_H
#define ADZE_SUPPORT_PACKEDLAYOUT_H

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace adze {

/// The dims of the memory that `layout` maps an array of `shape` into: panels
/// are whole, so `d mod c` has c positions whatever d's extent is.
llvm::SmallVector<int64_t> getPackedShape(llvm::ArrayRef<int64_t> shape,
                                          mlir::AffineMap layout);

/// Writes `from` (row-major, elements of `elementBytes`) to where `layout` puts
/// each element of `to`; elements of `to` that nothing maps to become zero.
void packElements(llvm::ArrayRef<char> from, llvm::ArrayRef<int64_t> shape,
                  mlir::AffineMap layout, unsigned elementBytes,
                  llvm::MutableArrayRef<char> to);

/// The same bytes given to `write` in order, in pieces of at most `pieceBytes`
/// (more, if one position of the outermost dim of the memory takes more), so
/// that an array larger than the memory at hand can be packed.
void packInPieces(llvm::ArrayRef<char> from, llvm::ArrayRef<int64_t> shape,
                  mlir::AffineMap layout, unsigned elementBytes,
                  uint64_t pieceBytes,
                  llvm::function_ref<void(llvm::ArrayRef<char>)> write);

} // namespace adze

#endif // ADZE_SUPPORT_PACKEDLAYOUT_H
