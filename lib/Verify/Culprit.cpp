// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds the pass of a compilation that causes a wrong result.
#include "Verify/Culprit.h"

using namespace mlir;

namespace adze {

namespace {
class Search {
public:
  Search(const CompileOptions &options, Judge judge)
      : options(options), judge(judge) {}

  std::optional<Culprit> run();

private:
  Verdict judgeCut(PassCut &cut);
  bool differs(Stage stage, bool plainKernels);
  Culprit bisect(Stage stage, bool plainKernels);
  Culprit searchKernelStage();

  const CompileOptions &options;
  Judge judge;
};
} // namespace

/// Returns the verdict with the reference path after the cut. Tile kernels
/// without a plain form are lowered as the optimization level requires.
Verdict Search::judgeCut(PassCut &cut) {
  CompileOptions copy = options;
  copy.cut = &cut;
  Verdict verdict = judge(copy);
  if (verdict != Verdict::Unknown || cut.stage == Stage::Kernel ||
      !cut.plainKernels)
    return verdict;
  cut.plainKernels = false;
  return judge(copy);
}

bool Search::differs(Stage stage, bool plainKernels) {
  PassCut cut(stage);
  cut.plainKernels = plainKernels;
  return judgeCut(cut) == Verdict::Different;
}

/// Finds the pass of a stage after which results differ, while they do not
/// before it.
Culprit Search::bisect(Stage stage, bool plainKernels) {
  PassCut whole(stage);
  whole.plainKernels = plainKernels;
  (void)judgeCut(whole);
  unsigned good = 0, bad = unsigned(whole.names.size());
  while (bad - good > 1) {
    PassCut cut(stage);
    cut.plainKernels = whole.plainKernels;
    cut.numPasses = good + (bad - good) / 2;
    (judgeCut(cut) == Verdict::Different ? bad : good) = cut.numPasses;
  }
  Culprit culprit(stage);
  culprit.number = good;
  culprit.pass = whole.names[good];
  culprit.plainKernels = whole.plainKernels;
  for (auto [numPasses, module] : {std::pair(good, &culprit.before),
                                   std::pair(good + 1, &culprit.after)}) {
    PassCut cut(stage);
    cut.numPasses = numPasses;
    cut.plainKernels = whole.plainKernels;
    (void)judgeCut(cut);
    *module = std::move(cut.module);
  }
  return culprit;
}

/// All stages before this one give the right results with plain kernels.
Culprit Search::searchKernelStage() {
  // A program may be wrong with optimized kernels only, because plain kernels
  // read all of a tile before they write. Errors of the program show as soon as
  // there are kernels.
  if (!differs(Stage::Tile, /*plainKernels=*/false))
    for (Stage stage : {Stage::Linalg, Stage::Host})
      if (differs(stage, /*plainKernels=*/false))
        return bisect(stage, /*plainKernels=*/false);
  // Passes that every kernel needs can only be compared with tile-to-linalg.
  PassCut needed(Stage::Kernel);
  needed.numPasses = 0;
  if (judgeCut(needed) != Verdict::Different)
    return bisect(Stage::Kernel, /*plainKernels=*/true);
  Culprit culprit(Stage::Kernel);
  auto lowering = llvm::find(needed.names, "convert-tile-to-vector");
  culprit.number = unsigned(lowering - needed.names.begin());
  culprit.pass = "convert-tile-to-vector";
  return culprit;
}

std::optional<Culprit> Search::run() {
  for (Stage stage : {Stage::Graph, Stage::Tile, Stage::Linalg, Stage::Host})
    if (differs(stage, /*plainKernels=*/true))
      return bisect(stage, /*plainKernels=*/true);
  if (differs(Stage::Kernel, /*plainKernels=*/true))
    return searchKernelStage();
  return std::nullopt;
}

std::optional<Culprit> findCulprit(const CompileOptions &options, Judge judge) {
  return Search(options, judge).run();
}

} // namespace adze
