// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Decision trees as operators define them, and their evaluation on rows.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_FOREST_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_FOREST_H

#include "../Binder.h"
#include <string>
#include <vector>

namespace adze::importer {

/// A branch, or a leaf with weights.
struct TreeNode {
  /// The comparison of a feature with the value of a branch.
  enum Mode { Leq, Lt, Gte, Gt, Eq, Neq, Member, Leaf };

  int mode = Leaf;
  int64_t feature = 0;
  double value = 0;
  int64_t next[2] = {0, 0}; // for false, for true
  bool missingIsTrue = false;
  std::vector<std::pair<int64_t, double>> weights; // (target, weight)
};

/// Trees, given by their roots. `aggregate` is SUM, AVERAGE, MIN or MAX.
struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  int64_t targets = 1;
  std::string aggregate = "SUM";
};

/// Combines the weights of the leaves that rows x [N, F] reach: [N, targets] of
/// the type of x. Changes the forest. Emits an error and returns null if a tree
/// has a cycle or a feature is not one of x.
mlir::Value evaluateForest(Binder &b, Forest &forest, mlir::Value x);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_FOREST_H
