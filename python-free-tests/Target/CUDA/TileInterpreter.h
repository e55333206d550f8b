// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Interprets a specialised tile kernel directly: slow and simple, with floats
// in f64. The reference for compiled kernels in tests.
#ifndef ADZE_TESTS_TARGET_CUDA_TILEINTERPRETER_H
#define ADZE_TESTS_TARGET_CUDA_TILEINTERPRETER_H

#include "Dialect/Tile/IR/Faults.h"
#include "Dialect/Tile/IR/Tile.h"
#include <set>

namespace adze::test {

/// A memory argument: its elements as numbers, in physical order.
struct Memory {
  llvm::SmallVector<int64_t> shape;    ///< logical
  llvm::SmallVector<int64_t> physical; ///< under the layout map
  mlir::AffineMap map;                 ///< null: row-major
  mlir::Type elementType;
  std::vector<double> floats;
  std::vector<int64_t> ints;

  int64_t size() const;
  /// Returns the number of the physical element; -1 outside of the memory.
  int64_t locate(llvm::ArrayRef<int64_t> logical) const;
};

/// Runs all programs of the kernel with the values of the module's symbols, and
/// adds the faults that these raise. Returns false, with a message on stderr,
/// for an unknown operation.
bool interpret(tile::KernelOp kernel, llvm::MutableArrayRef<Memory> arguments,
               llvm::ArrayRef<int64_t> symbols, std::set<uint64_t> &faults);

/// Returns the low `bits` bits of an integer, as an unsigned number.
inline uint64_t unsignedOf(int64_t v, unsigned bits) {
  return bits >= 64 ? uint64_t(v) : uint64_t(v) & ((uint64_t(1) << bits) - 1);
}

/// Computes one element of an arith or math operation on floats `f` or integers
/// `i`: the result is `rf` or `ri`. Returns false for an unknown operation.
bool compute(mlir::Operation &op, llvm::ArrayRef<double> f,
             llvm::ArrayRef<int64_t> i, double &rf, int64_t &ri);

/// The programs of a kernel; `steps` is 0 unless it is ordered.
struct ProgramCounts {
  int64_t programs = 1, steps = 0;
};

/// Returns the number of programs, after the same scalars.
ProgramCounts countPrograms(tile::KernelOp kernel,
                            llvm::MutableArrayRef<Memory> arguments,
                            llvm::ArrayRef<int64_t> symbols);

} // namespace adze::test

#endif // ADZE_TESTS_TARGET_CUDA_TILEINTERPRETER_H
