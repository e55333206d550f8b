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
  Verdict judgeLimit(PassLimit &limit);
  bool differs(PassLimit &whole);
  Culprit bisect(PassLimit bad);
  Culprit searchKernelStage(PassLimit kernels);

  const CompileOptions &options;
  Judge judge;
};
} // namespace

/// Returns the verdict with the reference path after the limit. Tile kernels
/// without a plain form are lowered as the optimization level requires.
Verdict Search::judgeLimit(PassLimit &limit) {
  CompileOptions copy = options;
  copy.limit = &limit;
  Verdict verdict = judge(copy);
  if (verdict != Verdict::Unknown || limit.stage == Stage::Kernel ||
      !limit.plainKernels)
    return verdict;
  limit.plainKernels = false;
  return judge(copy);
}

bool Search::differs(PassLimit &whole) {
  return judgeLimit(whole) == Verdict::Different;
}

/// Finds the pass of a stage after which results differ, while they do not
/// before it. `bad` is the limit after all passes, which was judged.
Culprit Search::bisect(PassLimit bad) {
  auto makeLimit = [&](unsigned numPasses) {
    PassLimit limit(bad.stage);
    limit.numPasses = numPasses;
    limit.plainKernels = bad.plainKernels;
    return limit;
  };
  bad.numPasses = unsigned(bad.names.size());
  PassLimit good = makeLimit(0);
  while (bad.numPasses - good.numPasses > 1) {
    PassLimit limit =
        makeLimit(good.numPasses + (bad.numPasses - good.numPasses) / 2);
    bool differs = judgeLimit(limit) == Verdict::Different;
    (differs ? bad : good) = std::move(limit);
  }
  if (good.numPasses == 0) // for its module
    (void)judgeLimit(good);
  Culprit culprit(bad.stage);
  culprit.number = good.numPasses;
  culprit.pass = bad.names[good.numPasses];
  culprit.plainKernels = bad.plainKernels;
  culprit.before = std::move(good.module);
  culprit.after = std::move(bad.module);
  return culprit;
}

/// All stages before this one give the right results with plain kernels.
Culprit Search::searchKernelStage(PassLimit kernels) {
  // A program may be wrong with optimized kernels only, because plain kernels
  // read all of a tile before they write. Errors of the program show as soon as
  // there are kernels.
  PassLimit tile(Stage::Tile);
  tile.plainKernels = false;
  if (!differs(tile))
    for (Stage stage : {Stage::Linalg, Stage::Host}) {
      PassLimit whole(stage);
      whole.plainKernels = false;
      if (differs(whole))
        return bisect(std::move(whole));
    }
  // Passes that every kernel needs can only be compared with tile-to-linalg.
  PassLimit needed(Stage::Kernel);
  needed.numPasses = 0;
  if (!differs(needed))
    return bisect(std::move(kernels));
  Culprit culprit(Stage::Kernel);
  auto lowering = llvm::find(needed.names, "convert-tile-to-vector");
  culprit.number = unsigned(lowering - needed.names.begin());
  culprit.pass = "convert-tile-to-vector";
  return culprit;
}

std::optional<Culprit> Search::run() {
  for (Stage stage :
       {Stage::Graph, Stage::Tile, Stage::Linalg, Stage::Host, Stage::Kernel}) {
    PassLimit whole(stage);
    if (!differs(whole))
      continue;
    return stage == Stage::Kernel ? searchKernelStage(std::move(whole))
                                  : bisect(std::move(whole));
  }
  return std::nullopt;
}

std::optional<Culprit> findCulprit(const CompileOptions &options, Judge judge) {
  return Search(options, judge).run();
}

} // namespace adze
