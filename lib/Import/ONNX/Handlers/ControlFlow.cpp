// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Control flow that is decided when the model is imported.
#include "../OpTable.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;

/// The branch that a constant condition takes, in place.
static LogicalResult importIf(Binder &b) {
  auto condition = b.getConstantInt(0);
  if (!condition)
    return mlir::failure();
  const Graph *branch =
      b.getGraph(*condition != 0 ? "then_branch" : "else_branch");
  if (!branch)
    return b.fail("expected both branches, but got one");
  llvm::SmallVector<mlir::Value> results;
  if (mlir::failed(b.inlineGraph(*branch, results)))
    return mlir::failure();
  return b.done(results);
}

void adze::importer::addControlFlowOps(std::vector<OpRow> &rows) {
  rows.push_back({"If", 1, 1, importIf, "conditions that are not constant"});
}
