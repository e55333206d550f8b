// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A defect on demand.
#include "Transforms/Passes.h"
#include "llvm/Support/ErrorHandling.h"

namespace adze {
#define GEN_PASS_DEF_INJECTCRASH
#include "Transforms/Passes.h.inc"

namespace {
class InjectCrashPass final : public impl::InjectCrashBase<InjectCrashPass> {
public:
  void runOnOperation() override {
    llvm::report_fatal_error("a crash was asked for");
  }
};
} // namespace

} // namespace adze
