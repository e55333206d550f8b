// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A graph compiled and run in several ways whose results have to be the same.
#ifndef ADZE_TESTS_PROPERTY_CHECK_H
#define ADZE_TESTS_PROPERTY_CHECK_H

#include "../Conformance/Execute.h"
#include "Generate.h"
#include "Pipeline/PassCut.h"

namespace property {

using conformance::Outcome;
using conformance::Status;

struct Fault;

/// Passes that run alone before the reference path.
llvm::ArrayRef<llvm::StringLiteral> getPasses();

/// What is asked of a graph.
struct Question {
  uint64_t seed = 1; // inputs follow from it
  int emptyPercent = 3;
  bool quickCode = true; // LLVM leaves the code as it is
  /// Of these the first that changes the graph runs alone.
  std::vector<std::string> passes;
  /// Made while compiling at -O2.
  const Fault *fault = nullptr;
};

/// Skipped: what is not supported, and sizes that make no sense. Passed with a
/// message: sizes that do not fit, which all ways refuse.
struct Finding : Outcome {
  std::string pass;      // that changed the graph; empty: none did
  bool hasFault = false; // there was a place for the fault
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
  Finding check(adze::PassCut *cut = nullptr);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The module with all floats in f64.
mlir::OwningOpRef<mlir::ModuleOp> widen(mlir::ModuleOp module);

/// The same, and each result of arithmetic is off by a factor of its own within
/// 1 +- `part` of a rounding to the type that it had. Equal elements are off in
/// one way; with `byPlace` in different ones where they come of many.
mlir::OwningOpRef<mlir::ModuleOp> perturb(mlir::ModuleOp module, double part,
                                          uint64_t seed, bool byPlace);

/// A smaller module for which `fails` still holds.
mlir::OwningOpRef<mlir::ModuleOp>
shrink(mlir::ModuleOp module, llvm::function_ref<bool(mlir::ModuleOp)> fails);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_CHECK_H
