// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A CPU as target: its facts, and object code for it from LLVM IR.
#ifndef ADZE_TARGET_CPU_CPUTARGET_H
#define ADZE_TARGET_CPU_CPUTARGET_H

#include "Support/CacheSizes.h"
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

  /// Width of the widest vector register, in bits.
  unsigned vectorBits() const;
  /// Whether an instruction sums products of four bytes each.
  bool hasByteDots() const;
  /// Whether one picks lanes of a register by numbers of another.
  bool hasPermutes() const;

  std::string triple;
  std::string cpu;         // never "native"
  std::string features;    // LLVM's "+a,-b" list on top of `cpu`
  uint64_t moduleFeatures; // ADZE_X86_* of adze_module.h; 0 elsewhere
  uint32_t elfMachine;     // EM_*
  CacheSizes caches;       // this machine's for "native", else as `cpu` says
};

/// What is known of the caches of a CPU by its name.
CacheSizes getCaches(llvm::StringRef cpu);
/// Those of this machine; what it does not say is as for its name.
CacheSizes getHostCaches(llvm::StringRef cpu);
/// From "1M,32M": the second level of a core, the third of all.
llvm::Expected<CacheSizes> parseCaches(llvm::StringRef text);

/// Optimises `module` at O<optLevel> and appends its object code to `object`.
/// At O0 that is quick and the code is slow. Functions and data get sections of
/// their own; all code is position independent.
llvm::Error emitObject(llvm::Module &module, const CpuTarget &target,
                       unsigned optLevel, llvm::SmallVectorImpl<char> &object);

} // namespace adze::cpu

#endif // ADZE_TARGET_CPU_CPUTARGET_H
