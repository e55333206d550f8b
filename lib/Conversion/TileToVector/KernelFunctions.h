// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The functions that a kernel becomes: its programs, and the loop over them
// around the kernel or, one after the other, its phases.
#ifndef ADZE_CONVERSION_TILETOVECTOR_KERNELFUNCTIONS_H
#define ADZE_CONVERSION_TILETOVECTOR_KERNELFUNCTIONS_H

#include "Dialect/Tile/IR/Tile.h"
#include "DimClasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace adze::tile {

/// The kernel argument behind a chain of views.
mlir::Value argumentOf(mlir::Value memref);

/// Returns true if memory of dynamic size has more bytes than this.
mlir::Value isLarger(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memory,
                     int64_t bytes);

/// What stands around the code of a kernel or phase.
struct KernelFrame {
  mlir::Block *entry = nullptr; // of the function
  mlir::IRMapping map;          // scalars and memory that are there already
  llvm::DenseSet<mlir::Operation *> hoisted; // ops that they came from
  /// Whether results of dynamic size are more than the caches hold.
  bool largeResults = false;
};

class KernelFunctions {
public:
  KernelFunctions(KernelOp kernel, CpuTargetAttr target);
  /// Makes the functions beside the kernel; on failure nothing is left behind
  /// and `getFailure` has the reason.
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
