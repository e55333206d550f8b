// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Pass statistics that do not depend on the configuration of LLVM.
#include "Support/Statistics.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

// The constructor in the MLIR library may be compiled without statistics, and
// then leaves the fields uninitialized. This definition is linked into our
// tools only (the linker keeps it out of their dynamic symbols).
Pass::Statistic::Statistic(Pass *owner, const char *name,
                           const char *description)
    : llvm::Statistic{/*DebugType=*/"adze", name, description} {
  owner->statistics.push_back(this);
}

Pass::Statistic &Pass::Statistic::operator=(unsigned value) {
  llvm::Statistic::operator=(value);
  return *this;
}

namespace adze {

namespace {
class Instrumentation final : public PassInstrumentation {
public:
  explicit Instrumentation(StatisticsCollector &collector)
      : collector(collector) {}
  void runBeforePass(Pass *pass, Operation *) override {
    collector.begin(pass);
  }
  void runAfterPass(Pass *pass, Operation *) override {
    collector.collect(pass);
  }

private:
  StatisticsCollector &collector;
};
} // namespace

std::unique_ptr<PassInstrumentation>
StatisticsCollector::createInstrumentation() {
  return std::make_unique<Instrumentation>(*this);
}

/// Returns true if the pass is ours, so that its statistics have the fields of
/// this definition.
static bool isOurs(StringRef argument) {
  for (StringRef prefix :
       {"graph-", "tile-", "convert-graph-", "convert-tile-", "convert-host-",
        "convert-kernel-", "assign-", "plan-", "pipeline-", "expand-copies",
        "math-approximate"})
    if (argument.starts_with(prefix))
      return true;
  return false;
}

void StatisticsCollector::begin(Pass *pass) {
  if (!isOurs(pass->getArgument()))
    return;
  std::lock_guard<std::mutex> guard(mutex);
  for (Pass::Statistic *statistic : pass->getStatistics())
    before[statistic] = statistic->getValue();
}

void StatisticsCollector::collect(Pass *pass) {
  if (!isOurs(pass->getArgument()))
    return;
  std::lock_guard<std::mutex> guard(mutex);
  for (Pass::Statistic *statistic : pass->getStatistics()) {
    Entry &entry = entries[{pass->getArgument().str(), statistic->getName()}];
    entry.description = statistic->getDesc();
    entry.value += statistic->getValue() - before[statistic];
  }
}

void StatisticsCollector::print(llvm::raw_ostream &os) const {
  for (const auto &[key, entry] : entries)
    os << key.first << ": " << key.second << " = " << entry.value << " ("
       << entry.description << ")\n";
}

} // namespace adze
