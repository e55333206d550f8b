// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The report of a run.
#ifndef ADZE_TESTS_CONFORMANCE_REPORT_H
#define ADZE_TESTS_CONFORMANCE_REPORT_H

#include "Execute.h"

namespace conformance {

struct Results {
  const Column &column;
  const std::vector<Case> &cases;
  std::vector<Outcome> outcomes;
  double wallMs = 0;

  size_t count(Status status) const;
};

/// Prints the cases that did not pass with the reasons, a table by operator, a
/// table by set, the reasons by frequency, and the closing line. With `quiet`,
/// prints the failed cases and the closing line only.
void printReport(const Results &results, bool quiet, llvm::raw_ostream &os);

Error writeJson(const Results &results, const std::string &path);

/// Compares with docs/OpSupport.md: prints each operator version, and each type
/// of an operator, that the page claims and no case executed. Returns their
/// number.
size_t printGaps(const Results &results, const std::string &opSupport,
                 llvm::raw_ostream &os, Error &error);

} // namespace conformance

#endif // ADZE_TESTS_CONFORMANCE_REPORT_H
