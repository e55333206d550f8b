// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// CPU targets: their properties, and object code from LLVM IR.
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

/// A CPU that code is generated for: one variant of a module.
struct CpuTarget {
  /// Resolves `cpu` ("native", or an LLVM name) for `triple` (empty: that of
  /// the host). Fails for an unknown triple or CPU.
  static llvm::Expected<CpuTarget> resolve(llvm::StringRef triple,
                                           llvm::StringRef cpu);

  /// Creates a target machine, one for each thread; owned by the caller.
  std::unique_ptr<llvm::TargetMachine> createMachine(unsigned optLevel) const;

  /// Requests the tile registers of AMX from the system if the target has them.
  /// Required for code that this process runs itself; the run time does so for
  /// modules.
  llvm::Error requestRegisters() const;

  /// Returns the width of the widest vector register, in bits.
  unsigned vectorBits() const;
  /// Fails if `caches` is not a valid argument of getAttr.
  static llvm::Error checkCaches(llvm::StringRef caches);
  /// Returns the target attribute. `caches`, as in "1M,32M", overrides the
  /// sizes of the second and third level; "" keeps those of the CPU.
  llvm::Expected<tile::CpuTargetAttr>
  getAttr(mlir::MLIRContext &context, llvm::StringRef caches = "") const;

  std::string triple;
  std::string cpu;         // never "native"
  std::string features;    // LLVM's "+a,-b" list on top of `cpu`
  uint64_t moduleFeatures; // ADZE_X86_* of adze_module.h; 0 elsewhere
  uint32_t elfMachine;     // EM_*
  bool isHost = false;     // given as "native"
};

/// Optimises `module` at O<optLevel> and appends its object code to `object`.
/// O0 compiles fast, and its code is slow; O1 takes about two thirds of the
/// time of O2. Code that accesses memory by vectors is only simplified, and
/// unrolled at O2, as convert-tile-to-vector has optimised it. Scalar code
/// without loops is compiled as at O0. Functions and data have separate
/// sections; all code is position independent.
llvm::Error emitObject(llvm::Module &module, const CpuTarget &target,
                       unsigned optLevel, llvm::SmallVectorImpl<char> &object);

} // namespace adze::cpu

#endif // ADZE_TARGET_CPU_CPUTARGET_H
