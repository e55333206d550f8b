// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#include "Support/ParallelUnits.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/ThreadPool.h"
#include <atomic>
#include <condition_variable>
#include <mutex>

using namespace mlir;

namespace {
/// A barrier at which tasks wait until each has a thread.
class StartingLine {
public:
  explicit StartingLine(size_t count) : missing(count) {}

  void arriveAndWait() {
    std::unique_lock<std::mutex> lock(mutex);
    if (!--missing)
      complete.notify_all();
    complete.wait(lock, [&] { return !missing; });
  }

private:
  std::mutex mutex;
  std::condition_variable complete;
  size_t missing;
};
} // namespace

LogicalResult
adze::parallelForUnits(MLIRContext *context, size_t count,
                       function_ref<LogicalResult(size_t)> compile) {
  ParallelDiagnosticHandler handler(context);
  std::atomic<size_t> next(0);
  std::atomic<bool> hasFailed(false);
  auto takeUnits = [&] {
    for (size_t unit; !hasFailed && (unit = next++) < count;) {
      handler.setOrderIDForThread(unit);
      if (failed(compile(unit)))
        hasFailed = true;
      handler.eraseOrderIDForThread();
    }
  };
  if (!context->isMultithreadingEnabled() || count < 2) {
    takeUnits();
    return failure(hasFailed);
  }
  llvm::ThreadPoolInterface &pool = context->getThreadPool();
  size_t threads = std::min<size_t>(count, pool.getMaxConcurrency());
  StartingLine line(threads);
  llvm::ThreadPoolTaskGroup group(pool);
  for (size_t i = 0; i < threads; ++i)
    group.async([&] {
      line.arriveAndWait();
      takeUnits();
    });
  group.wait();
  return failure(hasFailed);
}
