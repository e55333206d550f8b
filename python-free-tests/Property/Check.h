// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A graph compiled and run in several ways whose results have to be the same.
#ifndef ADZE_TESTS_PROPERTY_CHECK_H
#define ADZE_TESTS_PROPERTY_CHECK_H

#include "../Conformance/Execute.h"
#include "Generate.h"

namespace property {

using conformance::Outcome;
using conformance::Status;

/// Passes that run alone before the reference path.
llvm::ArrayRef<llvm::StringLiteral> getPasses();

/// Compares -O0 with -O2, and -O0 with -O0 after `pass` (unless empty), on
/// inputs that follow from the seed; so many of a hundred sizes are 0. Files go
/// to `folder`. Skipped: what is not supported, and sizes that make no sense.
Outcome checkModule(mlir::ModuleOp module, uint64_t seed, llvm::StringRef pass,
                    const std::string &folder, int emptyPercent);

/// The module with all floats in f64.
mlir::OwningOpRef<mlir::ModuleOp> widen(mlir::ModuleOp module);

/// A smaller module for which `fails` still holds.
mlir::OwningOpRef<mlir::ModuleOp>
shrink(mlir::ModuleOp module, llvm::function_ref<bool(mlir::ModuleOp)> fails);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_CHECK_H
