// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Perfect nests of independent loops.
#ifndef ADZE_LIB_CONVERSION_LINALGTOGPU_LOOPNEST_H
#define ADZE_LIB_CONVERSION_LINALGTOGPU_LOOPNEST_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace adze::togpu {

/// Returns true for a loop without results whose iterations may run in any
/// order.
bool isIndependentLoop(mlir::Operation *op);

/// Returns true if the op, or an op in it, may write to memory.
bool writesMemory(mlir::Operation *op);

/// Returns true if the block has an independent loop that writes to memory.
bool hasIndependentLoop(mlir::Block &block);

/// Returns the ops of the block that write to memory, without its terminator.
llvm::SmallVector<mlir::Operation *> getWriters(mlir::Block &block);

/// Independent loops, each of which is the only op with effects in the body of
/// the previous one. Their bounds are defined outside of the nest.
class LoopNest {
public:
  struct Dim {
    mlir::Value low, high, step, index;
  };

  /// Returns the largest nest that begins with `op`.
  static std::optional<LoopNest> find(mlir::Operation *op);

  mlir::Operation *getOuter() const { return loops.front(); }
  /// Returns the body of the innermost loop.
  mlir::Block &getBody() const;
  llvm::ArrayRef<Dim> getDims() const { return dims; }
  /// Returns the number of iterations if it is static.
  std::optional<int64_t> getStaticCount() const;
  /// Emits the number of iterations of each dim. `get` returns the bounds at
  /// the builder's position, or null if that is impossible; then the result is
  /// empty.
  llvm::SmallVector<mlir::Value>
  emitCounts(mlir::OpBuilder &b,
             llvm::function_ref<mlir::Value(mlir::Value)> get) const;
  /// Moves the body of iteration `linear` to the position of the builder, and
  /// erases the loops. The innermost dim is the fastest.
  void inlineIteration(mlir::OpBuilder &b, mlir::Value linear,
                       mlir::ValueRange counts);

private:
  bool add(mlir::Operation *loop);

  llvm::SmallVector<mlir::Operation *> loops;
  llvm::SmallVector<Dim> dims;
};

/// Returns the product of the values (of index type), or 1.
mlir::Value multiply(mlir::OpBuilder &b, mlir::Location loc,
                     mlir::ValueRange factors);

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_LINALGTOGPU_LOOPNEST_H
