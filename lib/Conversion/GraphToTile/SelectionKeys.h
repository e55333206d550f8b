// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Keys by which selections compare elements.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_SELECTIONKEYS_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_SELECTIONKEYS_H

#include "KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace adze {

/// The keys of elements: integers in the order of the result of a selection.
class SelectionKeys {
public:
  /// Keys of elements of the type. The greatest is that of the greatest
  /// element, or with `reverses` of the least one.
  SelectionKeys(KernelEmitter &e, mlir::Type element, bool reverses = false);
  SelectionKeys(KernelEmitter &e, graph::TopKOp op)
      : SelectionKeys(e, mlir::getElementTypeOrSelf(op.getInput()),
                      !op.getLargest()) {}

  /// Returns true if there are keys of elements of the type.
  static bool exist(mlir::Type element);
  /// Returns the type of keys.
  mlir::IntegerType getType() const { return type; }
  /// Returns the keys of a tile of elements.
  mlir::Value make(const Emitted &elements);
  /// Returns the elements of a tile of keys, in the type of the comparisons.
  mlir::Value getElements(mlir::Value keys, llvm::ArrayRef<int> axes);

  mlir::Value number(int64_t value, llvm::ArrayRef<int> axes) {
    return e.constant(b.getIntegerAttr(type, value), axes);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  int64_t getLeast() const {
    return llvm::minIntN(type.getIntOrFloatBitWidth());
  }
  int64_t getMost() const {
    return llvm::maxIntN(type.getIntOrFloatBitWidth());
  }

private:
  /// Negative numbers have the reverse order of their bits. Its own inverse.
  mlir::Value flip(mlir::Value bits, llvm::ArrayRef<int> axes);

  KernelEmitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  bool reverses;
  mlir::Type wide; // that of the elements, or f32 for narrower ones
  mlir::IntegerType type;
};

/// Stores the elements of the input at the ranges `from`, which have a tile
/// along the axis of the selection, and their indices: to these places in the
/// results, at the ranges `to`.
mlir::LogicalResult storeAt(KernelEmitter &e, graph::TopKOp op, RangesRef from,
                            RangesRef to, mlir::Value places);

/// Emits a selection whose results are in the order of their indices.
mlir::LogicalResult emitUnsortedTopK(KernelEmitter &e, graph::TopKOp op);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_SELECTIONKEYS_H
