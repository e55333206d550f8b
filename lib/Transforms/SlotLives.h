// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Live ranges of the slots of a program.
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

/// Returns the slots with their live ranges.
llvm::SmallVector<Slot> collectSlots(mlir::func::FuncOp program);

/// Removes slots of data-dependent size from the list, and assigns boxes to
/// them. Slots with disjoint live ranges share a box.
void numberBoxes(mlir::func::FuncOp program,
                 llvm::SmallVectorImpl<Slot> &slots);

} // namespace adze

#endif // ADZE_LIB_TRANSFORMS_SLOTLIVES_H
