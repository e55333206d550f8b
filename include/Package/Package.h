// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes one shared object of object code, weights and a description, without
// tools of the user's machine: our own ELF objects and lld as a library.
#ifndef ADZE_PACKAGE_PACKAGE_H
#define ADZE_PACKAGE_PACKAGE_H

#include "Package/ModuleDescription.h"
#include "Target/CPU/CpuTarget.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class raw_fd_ostream;
class raw_ostream;
} // namespace llvm

namespace adze::package {

/// The name of the hidden symbol at the first byte of the weights, and the
/// sections that hold the weights on x86-64 (out of the range of the small code
/// model) and on other architectures.
inline constexpr llvm::StringLiteral weightsSymbol = "adze.weights";
/// The name of the hidden symbol at the checksums of the blocks of weights.
inline constexpr llvm::StringLiteral checksumsSymbol = "adze.weights.checksums";
inline constexpr llvm::StringLiteral largeWeightsSection = ".lrodata.adze";
inline constexpr llvm::StringLiteral weightsSection = ".rodata.adze";
inline constexpr llvm::StringLiteral noteSection = ".note.adze";

/// One constant in the weights section. `write` emits exactly `size` bytes;
/// it is called once, in order of the offsets.
struct Weight {
  uint64_t offset = 0, size = 0; // offset: a multiple of 64
  llvm::unique_function<llvm::Error(llvm::raw_ostream &)> write;
};

/// The parts of one module.
struct ModuleParts {
  ModuleDescription description;
  std::vector<llvm::SmallVector<char, 0>> objects; // code, in a fixed order
  std::vector<Weight> weights;
  /// Path of the file for the weights, in the folder of the module; empty:
  /// weights are in the module.
  std::string weightsFile;
};

/// Emits the object code of the descriptor tables, the note and
/// adze_module_query.
llvm::Error emitDescriptor(const ModuleDescription &description,
                           const cpu::CpuTarget &target,
                           llvm::SmallVectorImpl<char> &object);

/// The size of a huge page. Weights of at least this size are written and
/// mapped in such pages, which reduces TLB misses: a product by a vector reads
/// them 1.4 times as fast as from small pages.
inline constexpr uint64_t hugePage = uint64_t(2) << 20;

/// A range of bytes in a file.
struct FileRange {
  uint64_t offset = 0, size = 0;
};

/// Writes the beginning of a relocatable ELF object with the symbol of `size`
/// bytes of weights, in a section of `sectionSize` bytes, which follow.
void startWeightsObject(llvm::raw_ostream &os, uint32_t elfMachine,
                        uint64_t size, uint64_t sectionSize);

/// Writes the weights at their offsets, and appends the checksum of each
/// ADZE_WEIGHTS_BLOCK bytes to `checksums`.
llvm::Error writeWeights(llvm::raw_ostream &os, ModuleParts &parts,
                         std::vector<uint64_t> &checksums);

/// Writes the weights to an empty file (adze_weights_header); the description
/// receives the digest of its content.
llvm::Error writeWeightsFile(llvm::StringRef path, ModuleParts &parts,
                             std::vector<uint64_t> &checksums);

/// Returns the support functions of generated code for `elfMachine`: a
/// relocatable object, embedded in the compiler.
llvm::StringRef supportObject(uint32_t elfMachine);

/// Links `inputs` to a shared object at `output` that only exports
/// adze_module_query, with `weightsSize` bytes of weights among its sections.
/// The inputs are paths of objects, linker scripts, and archives, of which all
/// members are linked. If the weights take a huge page, the file is mapped at a
/// multiple of one. An undefined symbol is an error that names it. lld is not
/// reentrant, so calls are serialised.
llvm::Error linkShared(llvm::ArrayRef<std::string> inputs,
                       llvm::StringRef versionScript, uint64_t weightsSize,
                       llvm::StringRef output);

/// Links `inputs` to one relocatable object at `output`.
llvm::Error linkRelocatable(llvm::ArrayRef<std::string> inputs,
                            llvm::StringRef output);

/// Returns the range in a linked file of the object of a symbol, or an empty
/// range if there is no such symbol.
llvm::Expected<FileRange> findSymbol(llvm::StringRef path,
                                     llvm::StringRef symbol);

/// Writes over bytes of a file, from `offset` on.
llvm::Error
patchFile(llvm::StringRef path, uint64_t offset,
          llvm::function_ref<llvm::Error(llvm::raw_fd_ostream &)> write);
llvm::Error patchFile(llvm::StringRef path, uint64_t offset,
                      llvm::StringRef bytes);

/// Fills in the note of an otherwise finished file: its size, the position of
/// its weights, and the checksum of everything but the weights.
llvm::Error finishNote(llvm::StringRef path);

/// Writes a module by the steps above. `path` appears whole or not at all.
llvm::Error writeModule(ModuleParts &parts, const cpu::CpuTarget &target,
                        llvm::StringRef path);

/// Writes the parts as one relocatable object, for static linking.
llvm::Error writeObject(ModuleParts &parts, const cpu::CpuTarget &target,
                        llvm::StringRef path);

} // namespace adze::package

#endif // ADZE_PACKAGE_PACKAGE_H
