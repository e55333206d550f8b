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

/// Converts the kernels of one module.
class Converter {
public:
  Converter(mlir::ModuleOp module, int64_t threads, int64_t numSymbols,
            int64_t sharedLimit)
      : module(module), b(module.getContext()), table(module), threads(threads),
        sharedLimit(sharedLimit), numSymbols(numSymbols) {}

  /// Returns true if the kernel became an entry of the gpu.module.
  bool convert(tile::KernelOp kernel);
  void countSymbols();
  void finish() { table.finish(); }

private:
  bool convertScheduled(tile::KernelOp kernel);
  mlir::LLVM::LLVMFuncOp makeEntry(tile::KernelOp kernel, llvm::StringRef name,
                                   int64_t blockThreads, unsigned numMaps = 0);
  /// Creates the function that returns the number of programs, times the blocks
  /// of threads that the plan has for each.
  void makePrograms(tile::KernelOp kernel, KernelPlan &plan);
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
  int64_t threads, sharedLimit, numSymbols;
  /// The first symbol of an argument with dynamic dims without names.
  llvm::DenseMap<mlir::Value, int64_t> ownSymbols;
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_CONVERTER_H
