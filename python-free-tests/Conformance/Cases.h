// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The cases in a folder: SET/CASE/model.onnx.
#ifndef ADZE_TESTS_CONFORMANCE_CASES_H
#define ADZE_TESTS_CONFORMANCE_CASES_H

#include "Model.h"

namespace conformance {

struct Case {
  std::string set, name; // "node", "test_abs"
  std::string folder;
  ModelSummary model;
  /// The group in the table: the operator of a node case (also of an expanded
  /// one), else the set.
  std::string row;
  std::vector<std::string> dataSets; // folders

  std::string fullName() const { return set + "/" + name; }
};

struct Selection {
  std::string filter; // part of the full name; '*' matches anything
  /// Part `part` of `parts`, which depends on the name alone.
  unsigned part = 0, parts = 1;
};

/// Returns the cases, sorted by name.
Error findCases(const std::string &root, const Selection &selection,
                std::vector<Case> &cases);

} // namespace conformance

#endif // ADZE_TESTS_CONFORMANCE_CASES_H
