// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Pass statistics that work whatever LLVM was built with.
#ifndef ADZE_SUPPORT_STATISTICS_H
#define ADZE_SUPPORT_STATISTICS_H

#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <mutex>
#include <string>

namespace adze {

/// Sums up the statistics of all passes of the pass managers that it is added
/// to. MLIR's own report is empty where LLVM was built without statistics.
class StatisticsCollector {
public:
  /// An instrumentation that reports here; the collector must outlive it.
  std::unique_ptr<mlir::PassInstrumentation> createInstrumentation();

  /// Notes where the statistics of `pass` stand before it runs on an op.
  void begin(mlir::Pass *pass);

  /// Adds what `pass` counted since `begin`.
  void collect(mlir::Pass *pass);

  /// One line a statistic: "pass-argument: name = value (description)".
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
