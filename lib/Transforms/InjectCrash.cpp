// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// test-inject-crash: ends the process by a failed assertion.
#include "Transforms/Passes.h"
#include "llvm/Support/ErrorHandling.h"
#include <atomic>
#include <thread>
#include <vector>

namespace adze {
#define GEN_PASS_DEF_INJECTCRASH
#include "Transforms/Passes.h.inc"

namespace {
class InjectCrashPass final : public impl::InjectCrashBase<InjectCrashPass> {
public:
  using InjectCrashBase::InjectCrashBase;

  void runOnOperation() override {
    std::atomic<unsigned> waiting(threads);
    auto crash = [&] {
      --waiting;
      while (waiting) // for the other threads
        std::this_thread::yield();
      llvm::report_fatal_error("a crash was asked for");
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i)
      others.emplace_back(crash);
    crash();
  }
};
} // namespace

} // namespace adze
