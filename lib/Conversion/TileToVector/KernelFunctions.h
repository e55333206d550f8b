// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Creates the functions of a kernel: the number of its programs, and the loop
// over programs around the kernel or its phases, one after the other.
#ifndef ADZE_CONVERSION_TILETOVECTOR_KERNELFUNCTIONS_H
#define ADZE_CONVERSION_TILETOVECTOR_KERNELFUNCTIONS_H

#include "Dialect/Tile/IR/Tile.h"
#include "DimClasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace adze::tile {

/// Returns the kernel argument at the root of a chain of views.
mlir::Value argumentOf(mlir::Value memref);

/// Returns true if memory of dynamic size has more bytes than this.
mlir::Value isLarger(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memory,
                     int64_t bytes);

/// The context of the code of a kernel or phase.
struct KernelFrame {
  mlir::Block *entry = nullptr; // of the function
  mlir::IRMapping map;          // scalars and memory that exist already
  llvm::DenseSet<mlir::Operation *> hoisted; // their original ops
  /// True if results of dynamic size exceed the caches.
  bool largeResults = false;
};

class KernelFunctions {
public:
  KernelFunctions(KernelOp kernel, CpuTargetAttr target);
  /// Creates the functions next to the kernel. On failure nothing is created,
  /// and `getFailure` returns the reason.
  mlir::LogicalResult run();
  std::pair<mlir::Operation *, std::string> getFailure() const {
    return failure;
  }

private:
  mlir::LogicalResult checkOps();
  mlir::LogicalResult makePrograms();
  mlir::LogicalResult makeBody();
  mlir::Value haveLargeResults();
  mlir::LogicalResult lowerTwice(mlir::Value large);
  mlir::func::FuncOp makeFunction(llvm::StringRef name, bool isBody);
  void cloneHoisted(mlir::Block &block, mlir::Operation *upTo);
  void programLoop();
  mlir::LogicalResult phases(mlir::Block &block);
  mlir::LogicalResult phaseLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult phaseChoice(mlir::scf::IfOp choice);
  mlir::LogicalResult lower(mlir::Operation *root);
  mlir::LogicalResult fail(mlir::Operation *op, llvm::StringRef why);

  KernelOp kernel;
  CpuTargetAttr target;
  KernelFrame frame;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::func::FuncOp function, programs;
  std::pair<mlir::Operation *, std::string> failure;
};

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_KERNELFUNCTIONS_H
