// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Progress and cancellation of compilations, and concurrent compilations.
#include "CompilerTest.h"
#include "gmock/gmock.h"
#include <atomic>
#include <filesystem>
#include <future>
#include <thread>
#include <utility>

using namespace adze::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
struct Step {
  std::string stage;
  uint64_t done, all;
};

/// Options that store the steps of a compilation and cancel it at one of them.
struct Followed : Options {
  Followed() {
    adze_compiler_options_set_progress(
        options,
        [](void *user, const char *stage, uint64_t done, uint64_t all) {
          auto *self = static_cast<Followed *>(user);
          self->steps.push_back({stage, done, all});
          if (stage == self->stopAt && done >= self->stopAfter)
            self->isCancelled = true;
        },
        this);
    adze_compiler_options_set_cancel(
        options,
        [](void *user) {
          return int(static_cast<Followed *>(user)->isCancelled.load());
        },
        this);
  }

  std::vector<Step> steps;
  std::string stopAt;
  uint64_t stopAfter = 0;
  std::atomic<bool> isCancelled = false;
};
} // namespace

static const std::string kDigits = ADZE_DIGITS "/digits.onnx";

TEST(Follow, Progress) {
  Followed options;
  Result result;
  ASSERT_EQ(result.compile(kDigits, options), ADZE_COMPILE_OK);
  std::vector<std::string> stages;
  uint64_t last = 0, all = 0;
  for (const Step &step : options.steps) {
    if (stages.empty() || stages.back() != step.stage)
      stages.push_back(step.stage);
    if (step.stage != "kernel")
      continue;
    EXPECT_GE(step.done, last);
    EXPECT_LE(step.done, step.all);
    last = step.done;
    all = step.all;
  }
  EXPECT_THAT(stages, ElementsAre("import", "graph", "tile", "linalg", "host",
                                  "kernel", "llvm", "link"));
  EXPECT_GT(all, 1u);
  EXPECT_EQ(last, all);
}

TEST(Follow, HeaderNamesAllStages) {
  std::string header = readFile(ADZE_COMPILER_HEADER);
  for (const char *tune : {"off", "model", "measure"}) {
    Followed options;
    Result result;
    options.set("tune", tune);
    ASSERT_EQ(result.compile(getModel("affine"), options), ADZE_COMPILE_OK);
    for (const Step &step : options.steps)
      EXPECT_NE(header.find('"' + step.stage + '"'), std::string::npos)
          << step.stage;
  }
}

TEST(Follow, StatisticsAreNotes) {
  Options options;
  options.set("stats", "true");
  Result result;
  ASSERT_EQ(result.compile(kDigits, options), ADZE_COMPILE_OK);
  bool found = false;
  for (const Told &told : options.told) {
    EXPECT_EQ(told.severity, ADZE_COMPILE_NOTE) << told.formatted;
    found |= told.message.rfind("arena_bytes: ", 0) == 0;
  }
  EXPECT_TRUE(found);
}

TEST(Follow, Cancel) {
  std::string path = testing::TempDir() + "cancelled.so";
  for (const char *stage : {"import", "graph", "host", "kernel", "llvm"}) {
    Followed options;
    options.stopAt = stage;
    Result result;
    EXPECT_EQ(adze_compile(kDigits.c_str(), path.c_str(), options.options,
                           &result.result),
              ADZE_COMPILE_CANCELLED)
        << stage;
    EXPECT_EQ(options.steps.back().stage, stage);
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_TRUE(options.told.empty());
  }
}

// With one thread, no kernel is started after the cancellation.
TEST(Follow, CancelBetweenKernels) {
  Followed options;
  options.set("j", "1");
  options.stopAt = "kernel";
  options.stopAfter = 1;
  Result result;
  EXPECT_EQ(result.compile(kDigits, options), ADZE_COMPILE_CANCELLED);
  EXPECT_EQ(options.steps.back().stage, "kernel");
  EXPECT_LT(options.steps.back().done, options.steps.back().all);
}

// The first kernel waits for the cancellation; later ones are not compiled.
TEST(Follow, CancelFromAnotherThread) {
  struct Meeting {
    std::promise<void> begun;
    std::shared_future<void> cancelled;
    std::atomic<bool> isCancelled = false;
    bool isMet = false;
    unsigned kernels = 0;
  } meeting;
  Options options;
  options.set("j", "1");
  adze_compiler_options_set_progress(
      options.options,
      [](void *user, const char *stage, uint64_t done, uint64_t) {
        auto &meeting = *static_cast<Meeting *>(user);
        bool isKernel = std::string(stage) == "kernel" && done;
        meeting.kernels += isKernel;
        if (!isKernel || std::exchange(meeting.isMet, true))
          return;
        meeting.begun.set_value();
        meeting.cancelled.wait();
      },
      &meeting);
  adze_compiler_options_set_cancel(
      options.options,
      [](void *user) {
        return int(static_cast<Meeting *>(user)->isCancelled.load());
      },
      &meeting);
  std::promise<void> done;
  meeting.cancelled = done.get_future().share();
  std::thread canceller([&] {
    meeting.begun.get_future().wait();
    meeting.isCancelled = true;
    done.set_value();
  });
  Result result;
  EXPECT_EQ(result.compile(kDigits, options), ADZE_COMPILE_CANCELLED);
  canceller.join();
  EXPECT_EQ(meeting.kernels, 1u);
  // Options can be used again afterwards.
  meeting.isCancelled = false;
  Result again;
  EXPECT_EQ(again.compile(kDigits, options), ADZE_COMPILE_OK);
  EXPECT_GT(meeting.kernels, 2u);
}

// Concurrent compilations of different models and options do not affect each
// other.
TEST(Follow, Concurrent) {
  Options plain, quick;
  quick.set("O", "1");
  quick.set("j", "2");
  auto compileAll = [&](std::vector<std::string> &modules, bool isParallel) {
    modules.assign(8, "");
    std::vector<std::thread> threads;
    for (size_t i = 0; i < modules.size(); ++i) {
      auto work = [&, i] {
        const adze_compiler_options *options =
            i % 2 ? quick.options : plain.options;
        std::string model = i % 4 < 2 ? kDigits : getModel("affine");
        adze_compiler_result *result = nullptr;
        EXPECT_EQ(adze_compile(model.c_str(), nullptr, options, &result),
                  ADZE_COMPILE_OK)
            << adze_compiler_result_message(result);
        size_t size = 0;
        auto *data =
            static_cast<const char *>(adze_compiler_result_data(result, &size));
        modules[i].assign(data, size);
        adze_compiler_result_release(result);
      };
      threads.emplace_back(work);
      if (!isParallel || threads.size() == 4) {
        for (std::thread &thread : threads)
          thread.join();
        threads.clear();
      }
    }
  };
  std::vector<std::string> alone, together;
  compileAll(alone, false);
  compileAll(together, true);
  ASSERT_EQ(alone.size(), together.size());
  for (size_t i = 0; i < alone.size(); ++i)
    EXPECT_TRUE(alone[i] == together[i]) << i;
  EXPECT_THAT(run(together[2], {1, -1}, {1, 2}, {1, 2}), ElementsAre(3, 0));
}

// Failures and successes are concurrent: each call has its own messages.
TEST(Follow, ConcurrentFailures) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      Options options;
      Result result;
      bool isBad = i % 2;
      EXPECT_EQ(result.compile(getModel(isBad ? "refused" : "affine"), options),
                isBad ? ADZE_COMPILE_UNSUPPORTED : ADZE_COMPILE_OK);
      EXPECT_EQ(options.told.size(), isBad ? 2u : 0u);
    });
  for (std::thread &thread : threads)
    thread.join();
}
