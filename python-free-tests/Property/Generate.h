// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Random graphs that are well typed and well conditioned.
#ifndef ADZE_TESTS_PROPERTY_GENERATE_H
#define ADZE_TESTS_PROPERTY_GENERATE_H

#include "Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <random>

namespace property {

/// Returns the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// Returns a number in [0, count).
  int64_t below(int64_t count) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(count));
  }
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }
  bool chance(int percent) { return below(100) < percent; }
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine() >> 11) * 0x1p-53);
  }
  template <typename T>
  const T &pick(llvm::ArrayRef<T> list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }

private:
  std::mt19937_64 engine;
};

/// Returns a module with a function @main of graph ops. The attribute
/// `graph.test_data` of its inputs is the kind of their data: "any" (also NaN,
/// infinities, subnormal numbers), "tame" (finite, of moderate size),
/// "index<N>" (integers in [-N, N)), or "size<N>" (mostly N).
mlir::OwningOpRef<mlir::ModuleOp> generateModule(mlir::MLIRContext &context,
                                                 uint64_t seed);

/// Returns random values of the function's symbols, of which this percentage is
/// 0; prefers values in the assumptions of the ops.
std::vector<int64_t> generateSymbols(mlir::func::FuncOp function, uint64_t seed,
                                     int emptyPercent);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_GENERATE_H
