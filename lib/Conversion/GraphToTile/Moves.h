// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Data movement behind what a kernel computes.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_MOVES_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_MOVES_H

#include "Dialect/Graph/IR/Move.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze {

/// Elementwise ops behind reshapes that take dims apart and transposes come
/// before these, so that they end the kernel.
void sinkMoves(mlir::func::FuncOp function);

/// Loads or stores an element at an index of memory, which may be a view.
mlir::Value loadElement(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value memory, mlir::ValueRange at);
void storeElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value element,
                  mlir::Value memory, mlir::ValueRange at);

/// Memory that is indexed as `value` is, from which `move` goes.
struct MovedMemory {
  mlir::Value memory, value;
  graph::Move move;
};

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_MOVES_H
