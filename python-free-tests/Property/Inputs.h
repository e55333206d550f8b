// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes and numbers for random graphs.
#ifndef ADZE_TESTS_PROPERTY_INPUTS_H
#define ADZE_TESTS_PROPERTY_INPUTS_H

#include "Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <vector>

namespace property {

using adze::run::Tensor;

/// Sizes for the symbols that are what `fit` says that its ops take for granted
/// and make sense, and that are not what `misfit` says; either may be missing.
/// None if there seem to be none.
std::optional<std::vector<int64_t>> findSymbols(mlir::func::FuncOp fit,
                                                mlir::func::FuncOp misfit,
                                                uint64_t seed,
                                                int emptyPercent);

/// What the arguments' `graph.test_data` says, from a seed.
std::vector<Tensor> makeInputs(mlir::func::FuncOp function,
                               llvm::ArrayRef<int64_t> symbols, uint64_t seed);

/// Floats in f64; all else as it is.
Tensor toF64(const Tensor &tensor);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_INPUTS_H
