// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The cases that lie in a folder: SET/CASE/model.onnx.
#ifndef ADZE_TESTS_CONFORMANCE_CASES_H
#define ADZE_TESTS_CONFORMANCE_CASES_H

#include "Model.h"

namespace conformance {

struct Case {
  std::string set, name; // "node", "test_abs"
  std::string folder;
  ModelSummary model;
  /// What the table counts it under: the operator of a node case (an expanded
  /// one is its operator's), else the set.
  std::string row;
  std::vector<std::string> dataSets; // folders

  std::string fullName() const { return set + "/" + name; }
};

struct Selection {
  std::string filter; // part of the full name; '*' matches anything
  /// Part `part` of `parts`, by the name alone: the same in every run.
  unsigned part = 0, parts = 1;
};

/// In the order of their names.
Error findCases(const std::string &root, const Selection &selection,
                std::vector<Case> &cases);

} // namespace conformance

#endif // ADZE_TESTS_CONFORMANCE_CASES_H
