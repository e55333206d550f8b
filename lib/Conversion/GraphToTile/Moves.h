// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Data movement after the computation of a kernel.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_MOVES_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_MOVES_H

#include "Dialect/Graph/IR/Move.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze {

/// Moves elementwise ops after transposes and reshapes that split dims before
/// these, so that the movements are at the end of the kernel.
void sinkMoves(mlir::func::FuncOp function);

/// Emits the load or store of an element at an index of memory, which may be a
/// view.
mlir::Value loadElement(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value memory, mlir::ValueRange at);
void storeElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value element,
                  mlir::Value memory, mlir::ValueRange at);

/// Memory with the indices of `value`, which `move` starts from.
struct MovedMemory {
  mlir::Value memory, value;
  graph::Move move;
};

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_MOVES_H
