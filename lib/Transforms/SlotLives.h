// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// When the slots of a program hold something.
#ifndef ADZE_LIB_TRANSFORMS_SLOTLIVES_H
#define ADZE_LIB_TRANSFORMS_SLOTLIVES_H

#include "Dialect/Host/IR/Host.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze {

struct Slot {
  host::SlotOp op;
  mlir::AffineExpr bytes;
  unsigned begin, end; // steps of the program
};

/// The slots with the steps between which they hold something.
llvm::SmallVector<Slot> collectSlots(mlir::func::FuncOp program);

/// Takes slots of dynamic size out of the list and numbers
/// their boxes: one whose slot is dead serves the next.
void numberBoxes(mlir::func::FuncOp program,
                 llvm::SmallVectorImpl<Slot> &slots);

} // namespace adze

#endif // ADZE_LIB_TRANSFORMS_SLOTLIVES_H
