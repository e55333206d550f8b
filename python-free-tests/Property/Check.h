// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles and runs a graph in several ways, whose results must be the same.
#ifndef ADZE_TESTS_PROPERTY_CHECK_H
#define ADZE_TESTS_PROPERTY_CHECK_H

#include "../Conformance/Execute.h"
#include "Generate.h"
#include "Pipeline/PassLimit.h"

namespace property {

using conformance::Outcome;
using conformance::Status;

struct Fault;

/// Passes that run alone before the reference path.
llvm::ArrayRef<llvm::StringLiteral> getPasses();

/// The settings of a check.
struct Question {
  uint64_t seed = 1; // determines the inputs
  int emptyPercent = 3;
  bool quickCode = true; // LLVM does not optimise the code
  /// The first of these passes that changes the graph runs alone.
  std::vector<std::string> passes;
  /// Injected while compiling at -O2.
  const Fault *fault = nullptr;
};

/// Skipped: unsupported graphs, and meaningless sizes. Passed with a message:
/// sizes that do not fit, which all ways reject.
struct Finding : Outcome {
  std::string pass;      // the pass that changed the graph; empty: none did
  bool hasFault = false; // the fault was injected
};

/// Compares the reference path (-O0 without even canonicalisation) with -O2,
/// and with itself after one pass. Files go to `folder`.
class Checker {
public:
  Checker(mlir::ModuleOp module, const Question &question,
          llvm::StringRef folder);
  ~Checker();

  /// With a cut, the reference path takes over from -O2 there. All checks share
  /// the compiled reference path.
  Finding check(adze::PassLimit *limit = nullptr);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Returns the module with all floats in f64.
mlir::OwningOpRef<mlir::ModuleOp> widen(mlir::ModuleOp module);

/// Does the same with noise: each result of arithmetic has a relative error of
/// up to `part` of a rounding of its original type. Equal elements have equal
/// errors; with `byPlace`, errors depend on the index if an element is computed
/// from many.
mlir::OwningOpRef<mlir::ModuleOp> perturb(mlir::ModuleOp module, double part,
                                          uint64_t seed, bool byPlace);

/// Returns a smaller module for which `fails` still holds.
mlir::OwningOpRef<mlir::ModuleOp>
shrink(mlir::ModuleOp module, llvm::function_ref<bool(mlir::ModuleOp)> fails);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_CHECK_H
