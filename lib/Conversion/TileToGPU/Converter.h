// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Builds the GPU entry points and host functions around the bodies of kernels.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_CONVERTER_H
#define ADZE_LIB_CONVERSION_TILETOGPU_CONVERTER_H

#include "Conversion/TileToGPU/EntryTable.h"
#include "Dialect/Host/IR/Host.h"
#include "KernelLowering.h"
#include "PipelinePlan.h"
#include "mlir/IR/BuiltinOps.h"

namespace adze::togpu {

/// The values from which a kernel's sizes are computed.
struct Inputs {
  /// !llvm.ptr<1>, one for each argument
  llvm::SmallVector<mlir::Value> pointers;
  llvm::SmallVector<mlir::Value> symbols; ///< index
};

/// Erases dead operations.
void eraseUnused(mlir::LLVM::LLVMFuncOp function);

/// Returns how many programs the threads of a block compute, each by warps of
/// its own: more than one if a program has few threads, and blocks of several
/// still occupy all multiprocessors.
int64_t countPacked(tile::KernelOp kernel, KernelPlan &plan);
/// Divides the threads of a block among `packed` programs.
void packPrograms(mlir::OpBuilder &at, mlir::Location loc,
                  const KernelPlan &plan, int64_t packed, KernelFrame &frame);
/// Makes the operations after `last` depend on the number of the program being
/// one of the grid, unless blocks have no others.
void guardPrograms(tile::KernelOp kernel, const KernelFrame &frame,
                   int64_t packed, mlir::Operation *last);
/// Returns true if threads of a block wait for each other.
bool synchronizes(mlir::LLVM::LLVMFuncOp function);
/// Returns the number of programs, computed from the scalars of the frame.
mlir::Value countPrograms(mlir::OpBuilder &at, tile::KernelOp kernel,
                          const KernelFrame &frame);

/// Converts the kernels of one module.
class Converter {
public:
  Converter(mlir::ModuleOp module, int64_t threads, int64_t sharedLimit)
      : module(module), b(module.getContext()), table(module), threads(threads),
        sharedLimit(sharedLimit) {}

  /// Returns true if the kernel became an entry of the gpu.module.
  bool convert(tile::KernelOp kernel);
  void finish() { table.finish(); }

private:
  void countSymbols(tile::KernelOp kernel);
  bool convertScheduled(tile::KernelOp kernel);
  void beginStep(mlir::OpBuilder &at, tile::KernelOp kernel, KernelFrame &frame,
                 mlir::LLVM::LLVMFuncOp function);
  bool convertToThreads(tile::KernelOp kernel, KernelPlan &plan,
                        int64_t packed);
  mlir::LLVM::LLVMFuncOp makeEntry(tile::KernelOp kernel, llvm::StringRef name,
                                   int64_t blockThreads, unsigned numMaps = 0);
  /// Creates the function that returns the number of blocks of threads: those
  /// that the plan has for each program, or one for `packed` programs.
  void makePrograms(tile::KernelOp kernel, KernelPlan &plan,
                    int64_t packed = 1);
  void makeMapSizes(tile::KernelOp kernel, KernelPlan &spreads,
                    PipelinePlan &plan);
  /// Begins the host function `void or i64 NAME(ptr symbols, ..)`. The frame
  /// has the scalars of the kernel, computed at `at`.
  KernelFrame beginHostFunction(mlir::OpBuilder &at, tile::KernelOp kernel,
                                KernelPlan &plan, mlir::Value symbols);
  /// Returns the values of the arguments of the entry.
  Inputs getInputs(mlir::OpBuilder &at, tile::KernelOp kernel,
                   mlir::Block *entry);
  KernelFrame makeFrame(mlir::OpBuilder &at, tile::KernelOp kernel,
                        const Inputs &inputs);
  MemView makeView(mlir::OpBuilder &at, tile::KernelOp kernel, unsigned arg,
                   const Inputs &inputs);
  bool lowerVersions(const KernelFrame &frame, tile::KernelOp kernel,
                     KernelPlan &plan, mlir::Block *block,
                     int64_t &sharedBytes);
  void addGlobals(mlir::LLVM::LLVMFuncOp function, const KernelFrame &frame,
                  int64_t sharedAlign);
  bool refuse(tile::KernelOp kernel, llvm::StringRef why) {
    kernel.emitRemark("kernel has no GPU form as tiles: ") << why;
    kernel->setAttr(host::refusalAttr, b.getStringAttr(why));
    return false;
  }

  mlir::ModuleOp module;
  mlir::OpBuilder b;
  EntryTable table;
  int64_t threads, sharedLimit;
  int64_t numSymbols = 0; ///< of the kernel
  /// The first symbol of an argument with dynamic dims without names.
  llvm::DenseMap<mlir::Value, int64_t> ownSymbols;
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_CONVERTER_H
