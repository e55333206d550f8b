// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes and data for random graphs.
#ifndef ADZE_TESTS_PROPERTY_INPUTS_H
#define ADZE_TESTS_PROPERTY_INPUTS_H

#include "Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <vector>

namespace property {

using adze::run::Tensor;

/// Returns meaningful sizes for the symbols that satisfy the assumptions of
/// `fit` and violate those of `misfit`; either may be null. Returns none if
/// none are found.
std::optional<std::vector<int64_t>> findSymbols(mlir::func::FuncOp fit,
                                                mlir::func::FuncOp misfit,
                                                uint64_t seed,
                                                int emptyPercent);

/// Returns data of the kind in the arguments' `graph.test_data`, from a seed.
std::vector<Tensor> makeInputs(mlir::func::FuncOp function,
                               llvm::ArrayRef<int64_t> symbols, uint64_t seed);

/// Returns floats in f64; does not change other types.
Tensor toF64(const Tensor &tensor);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_INPUTS_H
