// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Expansion of math functions: of adjacent ops together, or by calls of the C
// library.
#ifndef ADZE_LIB_TRANSFORMS_MATHEXPANSION_H
#define ADZE_LIB_TRANSFORMS_MATHEXPANSION_H

#include "MathArithmetic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze {

inline Arithmetic arithmeticOf(mlir::OpBuilder &b, mlir::Operation *op,
                               int64_t vectorBytes = 0) {
  return {b, op->getLoc(), op->getResult(0).getType(), vectorBytes};
}

inline bool isF32(mlir::Type type) {
  return mlir::getElementTypeOrSelf(type).isF32() &&
         !llvm::isa<mlir::TensorType>(type);
}

/// Passes groups of adjacent ops of one type to `expand`, which replaces all or
/// none of them. Groups are small, as registers are limited.
template <typename OpT>
void forNeighbours(mlir::Operation *root, size_t together,
                   llvm::function_ref<void(llvm::ArrayRef<OpT>)> expand) {
  root->walk([&](mlir::Block *block) {
    llvm::SmallVector<OpT> ops;
    auto flush = [&] {
      if (!ops.empty())
        expand(ops);
      ops.clear();
    };
    for (mlir::Operation &op : llvm::make_early_inc_range(*block)) {
      auto self = llvm::dyn_cast<OpT>(op);
      bool joins = self && isF32(self.getType());
      if (!joins || ops.size() == together ||
          (!ops.empty() &&
           (ops.front().getType() != self.getType() ||
            ops.front().getFastmath() != self.getFastmath() ||
            llvm::is_contained(ops, self.getOperand().getDefiningOp()))))
        flush();
      if (joins)
        ops.push_back(self);
    }
    flush();
  });
}

/// Emits the same expansion for each of several adjacent ops, after the last
/// one, and interleaved step by step. Each is one long dependency chain, and
/// the scheduler of a core holds no more than two or three of them, so that a
/// core would be idle most of the time.
template <typename OpT, typename EmitT>
auto emitTogether(llvm::ArrayRef<OpT> ops, EmitT emit) {
  OpT last = ops.back();
  mlir::Operation *end = last->getNextNode();
  mlir::OpBuilder b(end);
  llvm::SmallVector<decltype(emit(b, last))> results;
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> chains;
  for (OpT op : ops) {
    mlir::Block::iterator before = end->getPrevNode()->getIterator();
    results.push_back(emit(b, op));
    auto &chain = chains.emplace_back();
    for (mlir::Operation &step : llvm::make_range(++before, end->getIterator()))
      chain.push_back(&step);
  }
  for (size_t step = 0, steps = chains.front().size(); step < steps; ++step)
    for (llvm::ArrayRef<mlir::Operation *> chain : chains)
      chain[step]->moveBefore(end);
  return results;
}

inline void replace(mlir::Operation *op, mlir::Value result) {
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

/// Declares a function of the C library with one argument.
mlir::func::FuncOp declareFunction(mlir::ModuleOp module, llvm::StringRef name,
                                   mlir::Type type);

/// Calls the scalar function of the C library for each lane.
mlir::Value callPerLane(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::func::FuncOp callee, mlir::Value x);

/// Expands quotients and remainders of vectors by floats (VectorDivisions.cpp).
void expandDivisions(mlir::ModuleOp module, int64_t vectorBytes);

} // namespace adze

#endif // ADZE_LIB_TRANSFORMS_MATHEXPANSION_H
