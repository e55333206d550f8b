// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Units of work that use the threads that they run on.
#include "Support/ParallelUnits.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Threading.h"
#include "llvm/Support/ThreadPool.h"
#include "gmock/gmock.h"
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

using namespace mlir;

namespace {

class ParallelUnitsTest : public ::testing::TestWithParam<unsigned> {
protected:
  ParallelUnitsTest() : pool(llvm::hardware_concurrency(GetParam())) {
    context.setThreadPool(pool);
  }

  llvm::DefaultThreadPool pool;
  MLIRContext context{MLIRContext::Threading::DISABLED};
};

TEST_P(ParallelUnitsTest, EachUnitRunsOnce) {
  std::vector<std::atomic<int>> runs(100);
  EXPECT_TRUE(
      succeeded(adze::parallelForUnits(&context, runs.size(), [&](size_t i) {
        ++runs[i];
        return success();
      })));
  for (const std::atomic<int> &count : runs)
    EXPECT_EQ(count, 1);
}

/// No thread starts a unit while it waits for the parts of another one.
TEST_P(ParallelUnitsTest, AUnitThatWaitsTakesNoOther) {
  std::atomic<bool> isNested(false);
  for (int round = 0; round < 50; ++round)
    EXPECT_TRUE(succeeded(adze::parallelForUnits(&context, 8, [&](size_t unit) {
      static thread_local int depth = 0;
      isNested = isNested || depth;
      ++depth;
      LogicalResult parts =
          failableParallelForEachN(&context, 0, 4, [&](size_t) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            return success();
          });
      --depth;
      return parts;
    })));
  EXPECT_FALSE(isNested);
}

TEST_P(ParallelUnitsTest, DiagnosticsComeInOrder) {
  std::vector<std::string> texts;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    texts.push_back(diagnostic.str());
  });
  Location loc = UnknownLoc::get(&context);
  EXPECT_TRUE(succeeded(adze::parallelForUnits(&context, 4, [&](size_t unit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(4 - unit));
    emitRemark(loc) << unit;
    return success();
  })));
  EXPECT_THAT(texts, ::testing::ElementsAre("0", "1", "2", "3"));
}

TEST_P(ParallelUnitsTest, AFailureEndsTheLoop) {
  std::atomic<size_t> runs(0);
  EXPECT_TRUE(failed(adze::parallelForUnits(&context, 1000, [&](size_t) {
    ++runs;
    return failure();
  })));
  EXPECT_LE(runs, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelUnitsTest,
                         ::testing::Values(1u, 2u, 4u));

TEST(ParallelUnits, AContextWithoutThreadsRunsThemHere) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::set<std::thread::id> threads;
  EXPECT_TRUE(succeeded(adze::parallelForUnits(&context, 3, [&](size_t) {
    threads.insert(std::this_thread::get_id());
    return success();
  })));
  EXPECT_THAT(threads, ::testing::ElementsAre(std::this_thread::get_id()));
}

} // namespace
