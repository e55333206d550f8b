// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The entry points of a module's device kernels.
#ifndef ADZE_CONVERSION_TILETOGPU_ENTRYTABLE_H
#define ADZE_CONVERSION_TILETOGPU_ENTRYTABLE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace adze::togpu {

/// Returns the number of symbols that the sizes of a kernel name.
int64_t countNamedSymbols(mlir::FunctionOpInterface kernel);

/// Returns true if the kernel checks positions.
bool raisesFaults(mlir::Operation *kernel);
/// Returns the pointer to the records of faults, the last argument of an entry
/// that has them and no tensor maps.
mlir::Value makeFaults(mlir::OpBuilder &at, mlir::LLVM::LLVMFuncOp entry);

/// Sets the fast-math flags of a function of floats in a device kernel. Most of
/// those for the CPU would select a less accurate function here. `isNarrow`:
/// all results are rounded to 16 bits, and exp, tanh, erf and division may be
/// approximated to that precision.
void setAccuracy(mlir::Operation *function, bool isNarrow);

/// What the interface of an entry with the host has beside the arguments of the
/// kernel.
struct EntrySignature {
  int64_t numSymbols = 0;
  int64_t blockThreads = 0;
  unsigned numMaps = 0;
};

/// Adds entries to the gpu.module @cuda_kernels, which several conversions
/// share.
class EntryTable {
public:
  explicit EntryTable(mlir::ModuleOp module);

  /// Returns a free name, which PTX accepts.
  std::string chooseName(llvm::StringRef kernel);
  /// Creates the function of the entry of a kernel, without a body. Its
  /// arguments are the pointers of the kernel's arguments, the symbols that the
  /// kernel may read, the number of programs, and, with faults or tensor maps,
  /// the records of faults and the maps.
  mlir::LLVM::LLVMFuncOp make(mlir::FunctionOpInterface kernel,
                              llvm::StringRef name, EntrySignature signature);
  /// Declares the dynamic shared memory of an entry.
  void addShared(mlir::LLVM::LLVMFuncOp entry, llvm::StringRef symbol,
                 int64_t align);
  /// Returns the name of the function that returns the programs of a kernel.
  static std::string getProgramsName(llvm::StringRef kernel) {
    return (kernel + "_cuda_programs").str();
  }
  /// Creates `i64 NAME_cuda_programs(ptr symbols)` without a body.
  mlir::LLVM::LLVMFuncOp makePrograms(mlir::Location loc,
                                      llvm::StringRef kernel);
  /// Returns the module of the entries, or null before the first one.
  mlir::gpu::GPUModuleOp getModule() { return gpuModule; }
  /// Erases the module of the entries if it is empty.
  void finish();

private:
  mlir::ModuleOp module;
  mlir::gpu::GPUModuleOp gpuModule;
  mlir::OpBuilder b;
};

} // namespace adze::togpu

#endif // ADZE_CONVERSION_TILETOGPU_ENTRYTABLE_H
