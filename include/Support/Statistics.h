// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Pass statistics that do not depend on the configuration of LLVM.
#ifndef ADZE_SUPPORT_STATISTICS_H
#define ADZE_SUPPORT_STATISTICS_H

#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <mutex>
#include <string>

namespace adze {

/// Sums the statistics of all passes of the pass managers that it is added to.
/// The report of MLIR is empty if LLVM was built without statistics.
class StatisticsCollector {
public:
  /// Returns an instrumentation that reports here; the collector must outlive
  /// it.
  std::unique_ptr<mlir::PassInstrumentation> createInstrumentation();

  /// Saves the statistics of `pass` before it runs on an op.
  void begin(mlir::Pass *pass);

  /// Adds the counts of `pass` since `begin`.
  void collect(mlir::Pass *pass);

  /// Prints one line for each statistic: "pass-argument: name = value
  /// (description)".
  void print(llvm::raw_ostream &os) const;

private:
  struct Entry {
    std::string description;
    uint64_t value = 0;
  };

  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Entry> entries;
  std::map<const void *, uint64_t> before; // by statistic
};

} // namespace adze

#endif // ADZE_SUPPORT_STATISTICS_H
