// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of the kernels of recurrent layers for CPUs and GPUs: the cells,
// and the memory of a step.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_RECURRENTMATH_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_RECURRENTMATH_H

#include "Convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace adze {

/// Computes a step of a layer for the rows (axis M) and units (axis N) of a
/// program.
class RecurrentMath {
public:
  RecurrentMath(KernelEmitter &e, graph::RecurrentOp op);
  virtual ~RecurrentMath() = default;

protected:
  /// The states after a step; the cell is null for other layers than lstm.
  struct Next {
    mlir::Value state, cell;
  };

  /// Return the sum of the input of a gate and its product by the states, which
  /// is the product only for the candidate of a gru, and the previous states.
  virtual mlir::Value sum(int64_t gate) = 0;
  virtual mlir::Value ownState() = 0;
  virtual mlir::Value ownCell() = 0;
  /// Returns the result for the last state, as the previous steps left it.
  virtual mlir::Value ownLast() = 0;

  Next computeCell();
  mlir::Value mixed(mlir::Value update, mlir::Value candidate);
  mlir::Value activate(unsigned i, mlir::Value x);
  /// Finds the memory of the results. Fails for layers that kernels of tiles do
  /// not compute.
  mlir::LogicalResult check();
  /// Sets the step of the layer that step `number` of the grid belongs to, and
  /// its position.
  void setTurn(mlir::Value number);
  /// Stores the states of a step, and what it shows at its position. The cell
  /// is stored last, as other values are computed from it.
  mlir::LogicalResult storeStep(const Next &next, mlir::Value shown);
  /// Stores the states of a step, if it is valid for the row.
  mlir::LogicalResult finish(const Next &next);
  /// Returns true if a step has two dependent products, which two steps of the
  /// grid compute. One more copies the last state.
  bool isTwofold() const;
  /// Returns true after both products of all steps.
  mlir::Value isOver();
  /// Returns 0 in the first product of a step, and 1 in the second one.
  mlir::Value getHalf() { return e.rem(turn, e.index(2)); }
  mlir::LogicalResult
  when(mlir::Value condition, llvm::function_ref<mlir::LogicalResult()> body,
       llvm::function_ref<mlir::LogicalResult()> otherwise = {});

  /// Return, for the rows and units of the program, the input of a gate, and a
  /// part of a vector of all gates.
  virtual mlir::Value input(int64_t gate);
  mlir::Value parameter(mlir::Value vector, int64_t gate);
  mlir::Value own(MaybeTile tile);
  mlir::Value number(double value) {
    return e.constant(b.getFloatAttr(type, value), {M, N});
  }
  mlir::Value zeros() { return number(0.0); }
  template <typename OpT>
  mlir::Value make(mlir::Value x, mlir::Value y) {
    return isRefused ? mlir::Value() : OpT::create(b, loc, x, y).getResult();
  }
  mlir::Value plus(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::AddFOp>(x, y);
  }
  mlir::Value times(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::MulFOp>(x, y);
  }
  mlir::Value minus(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::SubFOp>(x, y);
  }
  DimRange rows() { return {row, M, 1, 1}; }
  DimRange units(int64_t gate = 0) {
    return {e.add(unit, e.index(gate * hidden)), N, 1, 1};
  }
  DimRange all() { return {e.index(0), K, 1, 1}; }
  DimRange at(mlir::Value offset) { return {offset, -1, 1, 1}; }
  mlir::Value is(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                 mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }

  KernelEmitter &e;
  graph::RecurrentOp op;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
  int64_t hidden;
  mlir::Value output, lastState, lastMemory; // memory
  mlir::Value row, unit;                     // offsets
  mlir::Value turn;                          // step of the grid
  mlir::Value now;                           // step of the layer
  mlir::Value position, before; // position of the step and of the previous one
  mlir::Value lastPosition;     // of the last step
  mlir::Value steps;            // their number
  bool isRefused = false;

private:
  Next lstm();
  mlir::Value gru();
};

/// Emits a recurrent layer for a GPU.
mlir::LogicalResult emitDeviceRecurrent(KernelEmitter &e,
                                        graph::RecurrentOp op);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_RECURRENTMATH_H
