// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A CPU as target: its facts, and object code for it from LLVM IR.
#ifndef ADZE_TARGET_CPU_CPUTARGET_H
#define ADZE_TARGET_CPU_CPUTARGET_H

#include "Dialect/Tile/IR/Targets.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace adze::cpu {

/// A CPU level that code is made for: one variant of a module.
struct CpuTarget {
  /// Resolves `cpu` ("native", or one of LLVM's names) for `triple` (empty:
  /// the host's). Fails on an unknown triple or CPU.
  static llvm::Expected<CpuTarget> resolve(llvm::StringRef triple,
                                           llvm::StringRef cpu);

  /// A machine of its own for each thread; owned by the caller.
  std::unique_ptr<llvm::TargetMachine> createMachine(unsigned optLevel) const;

  /// Asks the system for the tile registers of AMX if the target has them. Code
  /// that this process runs itself needs that; modules are loaded with it.
  llvm::Error requestRegisters() const;

  /// Width of the widest vector register, in bits.
  unsigned vectorBits() const;
  /// Fails if `caches` is no value of getAttr.
  static llvm::Error checkCaches(llvm::StringRef caches);
  /// Returns the target as passes read it. `caches`, as in "1M,32M", replaces
  /// the sizes of the second and third level; "": those of the CPU.
  llvm::Expected<tile::CpuTargetAttr>
  getAttr(mlir::MLIRContext &context, llvm::StringRef caches = "") const;

  std::string triple;
  std::string cpu;         // never "native"
  std::string features;    // LLVM's "+a,-b" list on top of `cpu`
  uint64_t moduleFeatures; // ADZE_X86_* of adze_module.h; 0 elsewhere
  uint32_t elfMachine;     // EM_*
  bool isHost = false;     // whether it was given as "native"
};

/// Optimises `module` at O<optLevel> and appends its object code to `object`.
/// At O0 that is quick and the code is slow; O1 takes some two thirds of the
/// time of O2. Code that accesses memory by vectors is only simplified, and
/// unrolled at O2: it has its form from convert-tile-to-vector. Functions and
/// data get sections of their own; all code is position independent.
llvm::Error emitObject(llvm::Module &module, const CpuTarget &target,
                       unsigned optLevel, llvm::SmallVectorImpl<char> &object);

} // namespace adze::cpu

#endif // ADZE_TARGET_CPU_CPUTARGET_H
