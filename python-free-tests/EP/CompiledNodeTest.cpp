// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs a module with a fake of ONNX Runtime: calls that fail during the run,
// both ways to query shapes, and many threads.
#include "CompiledNode.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstring>
#include <thread>

using namespace adze::ep;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Value {
  std::vector<int64_t> dims;
  std::vector<float> data;
};

/// The context of a run: y = relu(2 x + 1).
struct Kernel {
  Value x, y;
  bool failsForOutputs = false, failsForThreads = false;
};

struct Status {
  OrtErrorCode code;
  std::string text;
};

std::atomic<int> liveStatuses, liveInfos, parallelCalls;

template <typename To, typename From>
To *as(From *from) {
  return reinterpret_cast<To *>(from);
}

OrtStatus *makeStatus(OrtErrorCode code, const char *text) {
  ++liveStatuses;
  return as<OrtStatus>(new Status{code, text});
}

void setStatuses(OrtFunctions &ort) {
  ort.CreateStatus = makeStatus;
  ort.GetErrorCode = [](const OrtStatus *status) {
    return as<const Status>(status)->code;
  };
  ort.GetErrorMessage = [](const OrtStatus *status) {
    return as<const Status>(status)->text.c_str();
  };
  ort.ReleaseStatus = [](OrtStatus *status) {
    --liveStatuses;
    delete as<Status>(status);
  };
}

void setTensors(OrtFunctions &ort, bool hasReferences) {
  ort.GetTensorData = [](const OrtValue *value, const void **data) {
    *data = as<const Value>(value)->data.data();
    return static_cast<OrtStatus *>(nullptr);
  };
  ort.GetTensorMutableData = [](OrtValue *value, void **data) {
    *data = as<Value>(value)->data.data();
    return static_cast<OrtStatus *>(nullptr);
  };
  if (hasReferences) {
    ort.GetTensorElementTypeAndShapeDataReference =
        [](const OrtValue *value, ONNXTensorElementDataType *,
           const int64_t **dims, size_t *rank) {
          *dims = as<const Value>(value)->dims.data();
          *rank = as<const Value>(value)->dims.size();
          return static_cast<OrtStatus *>(nullptr);
        };
    return;
  }
  ort.GetTensorTypeAndShape = [](const OrtValue *value,
                                 OrtTensorTypeAndShapeInfo **info) {
    ++liveInfos;
    *info = as<OrtTensorTypeAndShapeInfo>(
        new Value{as<const Value>(value)->dims, {}});
    return static_cast<OrtStatus *>(nullptr);
  };
  ort.GetDimensionsCount = [](const OrtTensorTypeAndShapeInfo *info,
                              size_t *rank) {
    *rank = as<const Value>(info)->dims.size();
    return static_cast<OrtStatus *>(nullptr);
  };
  ort.GetDimensions = [](const OrtTensorTypeAndShapeInfo *info, int64_t *dims,
                         size_t rank) {
    memcpy(dims, as<const Value>(info)->dims.data(), rank * sizeof(*dims));
    return static_cast<OrtStatus *>(nullptr);
  };
  ort.ReleaseTensorTypeAndShapeInfo = [](OrtTensorTypeAndShapeInfo *info) {
    --liveInfos;
    delete as<Value>(info);
  };
}

void setKernels(OrtFunctions &ort) {
  ort.KernelContext_GetInput = [](const OrtKernelContext *kernel, size_t index,
                                  const OrtValue **value) {
    EXPECT_EQ(index, 1u);
    *value = as<const OrtValue>(&as<const Kernel>(kernel)->x);
    return static_cast<OrtStatus *>(nullptr);
  };
  ort.KernelContext_GetOutput = [](OrtKernelContext *context, size_t index,
                                   const int64_t *dims, size_t rank,
                                   OrtValue **value) -> OrtStatus * {
    EXPECT_EQ(index, 0u);
    auto *kernel = as<Kernel>(context);
    if (kernel->failsForOutputs)
      return makeStatus(ORT_INVALID_ARGUMENT, "bound to another shape");
    size_t count = 1;
    for (size_t i = 0; i < rank; ++i)
      count *= static_cast<size_t>(dims[i]);
    kernel->y = {{dims, dims + rank}, std::vector<float>(count, -1)};
    *value = as<OrtValue>(&kernel->y);
    return nullptr;
  };
  ort.KernelContext_ParallelFor = [](const OrtKernelContext *kernel,
                                     void (*step)(void *, size_t), size_t count,
                                     size_t, void *user) -> OrtStatus * {
    ++parallelCalls;
    if (as<const Kernel>(kernel)->failsForThreads)
      return makeStatus(ORT_FAIL, "no threads");
    std::vector<std::thread> threads;
    for (size_t i = 0; i < count; ++i)
      threads.emplace_back(step, user, i);
    for (std::thread &thread : threads)
      thread.join();
    return nullptr;
  };
}

/// A module of the model, compiled once.
ModuleSource getModule() {
  static const std::shared_ptr<adze_compiler_result> result = [] {
    adze_compiler_result *made = nullptr;
    EXPECT_EQ(adze_compile(ADZE_TEST_MODEL, nullptr, nullptr, &made),
              ADZE_COMPILE_OK)
        << adze_compiler_result_message(made);
    return std::shared_ptr<adze_compiler_result>(made,
                                                 adze_compiler_result_release);
  }();
  size_t size = 0;
  auto *data =
      static_cast<const char *>(adze_compiler_result_data(result.get(), &size));
  return Bytes{result, {data, size}};
}

class CompiledNodeTest : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    liveStatuses = liveInfos = parallelCalls = 0;
    setStatuses(api.ort);
    setTensors(api.ort, GetParam());
    setKernels(api.ort);
    options.runtime = {{"threads", "3"}};
  }
  void TearDown() override {
    EXPECT_EQ(liveStatuses, 0);
    EXPECT_EQ(liveInfos, 0);
  }

  std::unique_ptr<CompiledNode> open() {
    return std::make_unique<CompiledNode>(
        api, options, this, getModule(), std::vector<std::string>{"other", "x"},
        std::vector<std::string>{"y"});
  }

  /// Returns the error, or "".
  std::string run(CompiledNode &node, Kernel &kernel) {
    void *state = nullptr;
    EXPECT_EQ(node.CreateState(&node, nullptr, &state), nullptr);
    OrtStatus *status =
        node.Compute(&node, state, as<OrtKernelContext>(&kernel));
    node.ReleaseState(&node, state);
    if (!status)
      return "";
    std::string text = api.ort.GetErrorMessage(status);
    api.ort.ReleaseStatus(status);
    return text;
  }

  Api api;
  Options options;
};

TEST_P(CompiledNodeTest, RunsOnValuesByName) {
  auto node = open();
  Kernel kernel;
  for (int64_t rows : {2, 2, 1, 3}) {
    kernel.x = {{rows, 2}, std::vector<float>(size_t(rows) * 2, 1.5f)};
    EXPECT_EQ(run(*node, kernel), "");
    EXPECT_THAT(kernel.y.dims, ElementsAre(rows, 2));
    EXPECT_EQ(kernel.y.data, std::vector<float>(size_t(rows) * 2, 4));
  }
}

TEST_P(CompiledNodeTest, GoesOnAfterFailures) {
  auto node = open();
  Kernel kernel;
  kernel.x = {{1, 2}, {1, -1}};
  kernel.failsForOutputs = true;
  EXPECT_EQ(run(*node, kernel),
            "AdzeExecutionProvider: bound to another shape");
  kernel.failsForOutputs = false;
  kernel.x.dims = {1, 2, 1};
  EXPECT_THAT(run(*node, kernel), HasSubstr("input 'x'"));
  kernel.x.dims = {1, 2};
  EXPECT_EQ(run(*node, kernel), "");
  EXPECT_THAT(kernel.y.data, ElementsAre(3, 0));
}

TEST_P(CompiledNodeTest, RunsWithoutThreadsOfTheSession) {
  auto node = open();
  Kernel kernel;
  const int64_t rows = 1 << 20;
  for (bool fails : {false, true}) {
    kernel.failsForThreads = fails;
    kernel.x = {{rows, 2}, std::vector<float>(rows * 2, 2)};
    parallelCalls = 0;
    EXPECT_EQ(run(*node, kernel), "");
    EXPECT_GT(parallelCalls, 0);
    EXPECT_EQ(kernel.y.data, std::vector<float>(rows * 2, 5));
  }
}

TEST_P(CompiledNodeTest, ManyThreads) {
  auto node = open();
  std::vector<std::thread> threads;
  for (int64_t thread = 1; thread <= 8; ++thread)
    threads.emplace_back([&, thread] {
      Kernel kernel;
      for (int64_t i = 0; i < 50; ++i) {
        int64_t rows = 1 + (thread * i) % 7;
        kernel.x = {{rows, 2}, std::vector<float>(size_t(rows) * 2, float(i))};
        EXPECT_EQ(run(*node, kernel), "");
        EXPECT_EQ(kernel.y.data,
                  std::vector<float>(size_t(rows) * 2, float(2 * i + 1)));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_P(CompiledNodeTest, RefusesWhatIsNotItsModule) {
  auto make = [&](const ModuleSource &source, const char *input) {
    return std::make_unique<CompiledNode>(api, options, this, source,
                                          std::vector<std::string>{input},
                                          std::vector<std::string>{"y"});
  };
  EXPECT_THROW(make(getModule(), "z"), Error);
  EXPECT_THROW(make(Bytes{nullptr, "no module"}, "x"), Error);
  EXPECT_THROW(make(std::filesystem::path("/nowhere.so"), "x"), Error);
  options.runtime = {{"variant", "none"}};
  EXPECT_THROW(make(getModule(), "x"), Error);
}

// Before API version 24, and from version 24 on.
INSTANTIATE_TEST_SUITE_P(Versions, CompiledNodeTest, testing::Bool(),
                         [](const auto &info) {
                           return info.param ? "References" : "Copies";
                         });

} // namespace
