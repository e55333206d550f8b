// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs of the run time on devices. Registered twice: with the fake driver, and,
// if there is a GPU, with the real one.

#include "FakeCuda.h"
#include "RuntimeTest.h"
#include "Stamp.h"

#include <atomic>
#include <cstdio>
#include <thread>
#include <unistd.h>

using namespace adze::test;

namespace {
struct Cuda : testing::Test {
  ModulePtr module = openFake();
  ContextPtr context;

  void SetUp() override { context = create(); }

  ContextPtr create() { return makeContext(module.get(), kCuda); }
};

struct DeviceTensors {
  DLManagedTensorVersioned *made[3] = {};

  ~DeviceTensors() {
    for (DLManagedTensorVersioned *tensor : made)
      if (tensor)
        tensor->deleter(tensor);
  }
};
} // namespace

TEST_F(Cuda, GivesTheRightResultFromCpuTensors) {
  for (int64_t len : {4, 4000, 8}) {
    FakeCall call(3, len);
    ASSERT_ADZE_OK(call.run(context.get()));
    call.expectRight();
  }
}

TEST_F(Cuda, TensorsOfTheDeviceAreUsedInPlace) {
  FakeCall call(3, 8), next(3, 8);
  DeviceTensors first;
  ASSERT_ADZE_OK(
      adze_run_alloc(context.get(), call.inputs.data(), 2, first.made, 3));
  EXPECT_EQ(first.made[0]->dl_tensor.device.device_type, kDLCUDA);
  // x of the next run is sum of this one, which stays on the device.
  next.inputs[0] = &first.made[0]->dl_tensor;
  ASSERT_ADZE_OK(next.run(context.get()));
  for (size_t i = 0; i < next.sum.data.size(); ++i)
    EXPECT_EQ(next.sum.data[i],
              call.x.data[i] + call.y.data[i] * 2 + next.y.data[i] * 2);
}

namespace {
/// Another module, with factor 3 instead of that of the fake module.
struct CudaSwap : Cuda {
  std::string path =
      testing::TempDir() + "adze-cuda-swap-" + std::to_string(getpid()) + ".so";

  CudaSwap() {
    Bytes file = readFile(ADZE_FAKE_MODULE);
    EXPECT_TRUE(setFactorThree(file));
    writeFile(path, file);
  }
  ~CudaSwap() override { std::remove(path.c_str()); }

  static void expectFactor(FakeCall &call, adze_context *context,
                           float factor) {
    ASSERT_ADZE_OK(call.run(context));
    for (size_t i = 0; i < call.sum.data.size(); ++i)
      ASSERT_EQ(call.sum.data[i], call.x.data[i] + call.y.data[i] * factor);
  }
};
} // namespace

// Also contexts whose runs replay a graph, and contexts created afterwards.
TEST_F(CudaSwap, ContextsTakeNewWeights) {
  FakeCall call(3, 8);
  for (int i = 0; i < 4; ++i)
    expectFactor(call, context.get(), 2.0f);
  ContextPtr idle = create();
  int64_t before = fakeCount("fake_cuda_held_bytes");
  ASSERT_ADZE_OK(adze_swap_weights(module.get(), path.c_str()));
  for (int i = 0; i < 4; ++i)
    expectFactor(call, context.get(), 3.0f);
  ContextPtr made = create();
  FakeCall other(2, 8);
  expectFactor(other, made.get(), 3.0f);
  made.reset();
  // The idle context holds the old copy until its next run.
  if (before >= 0)
    EXPECT_GT(fakeCount("fake_cuda_held_bytes"), before);
  expectFactor(call, idle.get(), 3.0f);
  ASSERT_ADZE_OK(adze_swap_weights(module.get(), ADZE_FAKE_MODULE));
  expectFactor(call, idle.get(), 2.0f);
  expectFactor(call, context.get(), 2.0f);
}

TEST_F(CudaSwap, ModulesThatHadNoDeviceYet) {
  ModulePtr other = openFake();
  ASSERT_ADZE_OK(adze_swap_weights(other.get(), path.c_str()));
  adze_context *made = nullptr;
  ASSERT_ADZE_OK(adze_context_create(other.get(), {kDLCUDA, 0}, &made));
  ContextPtr context(made);
  FakeCall call(3, 8);
  expectFactor(call, made, 3.0f);
}

TEST_F(CudaSwap, CopiesAreFreed) {
  FakeCall call(3, 8);
  expectFactor(call, context.get(), 2.0f);
  int64_t before = fakeCount("fake_cuda_held_bytes");
  for (int i = 0; i < 6; ++i) {
    ASSERT_ADZE_OK(adze_swap_weights(module.get(),
                                     i % 2 ? ADZE_FAKE_MODULE : path.c_str()));
    expectFactor(call, context.get(), i % 2 ? 2.0f : 3.0f);
  }
  EXPECT_EQ(fakeCount("fake_cuda_held_bytes"), before);
}

TEST_F(CudaSwap, WhileOthersRun) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      ContextPtr own = create();
      FakeCall call(3, 8);
      while (!ends) {
        ASSERT_ADZE_OK(call.run(own.get()));
        bool isNew = call.sum.data[0] == call.x.data[0] + call.y.data[0] * 3.0f;
        for (size_t e = 0; e < call.sum.data.size(); ++e)
          ASSERT_EQ(call.sum.data[e],
                    call.x.data[e] + call.y.data[e] * (isNew ? 3.0f : 2.0f));
      }
    });
  for (int i = 0; i < 50; ++i) {
    const char *from = i % 2 ? ADZE_FAKE_MODULE : path.c_str();
    ASSERT_ADZE_OK(adze_swap_weights(module.get(), from));
  }
  ends = true;
  for (std::thread &thread : threads)
    thread.join();
}

// By launches, by capture and by replay; without a wait, in the next run of the
// context.
TEST_F(Cuda, FaultsOfKernelsEndTheRunAndOnlyIt) {
  FakeCall call(3, 8), bad(3, 8);
  bad.x.data[2 * 8 + 5] = 2e30f;
  const char *message = "node 'ReduceSum_2': the total of row 2 of 3";
  for (int i = 0; i < 4; ++i)
    EXPECT_ADZE_ERROR(bad.run(context.get()), ADZE_RUN_ERROR, message);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
  ASSERT_ADZE_OK(adze_run_async(context.get(), bad.inputs.data(), 2,
                                bad.outputs.data(), 3, nullptr));
  EXPECT_ADZE_ERROR(call.run(context.get()), ADZE_RUN_ERROR, message);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
}

// Directly, when captured, and when replayed; the device has the values.
TEST_F(Cuda, ValuesOutOfRangeEndTheRunAndOnlyIt) {
  FakeCall call(3, 8);
  const float right = call.x.data[0];
  const char *message = "node 'Check_4': expected bits in [-1879048192, "
                        "2130706432), but got -1879048193";
  for (int i = 0; i < 4; ++i) {
    call.x.data[0] = floatOfBits(-0x70000001);
    EXPECT_ADZE_ERROR(call.run(context.get()), ADZE_RUN_ERROR, message);
    call.x.data[0] = right;
    ASSERT_ADZE_OK(call.run(context.get()));
    call.expectRight();
  }
}

TEST_F(Cuda, RepeatedRunsAreReplayedFromAGraph) {
  int64_t before = fakeCount("fake_cuda_graph_launches");
  FakeCall call(3, 8);
  for (int i = 0; i < 6; ++i) {
    call.x.data[0] = static_cast<float>(i);
    ASSERT_ADZE_OK(call.run(context.get()));
    call.expectRight();
  }
  if (before >= 0) {
    EXPECT_EQ(fakeCount("fake_cuda_graph_launches"), before + 5);
  }
}

// Memory that a run allocates cannot be part of a graph.
TEST_F(Cuda, RunsThatAskForMemoryAreNotReplayed) {
  int64_t before = fakeCount("fake_cuda_graph_launches");
  FakeCall call(5, 8);
  for (int i = 0; i < 4; ++i) {
    ASSERT_ADZE_OK(call.run(context.get()));
    call.expectRight();
  }
  EXPECT_EQ(fakeCount("fake_cuda_graph_launches"), before);
}

TEST_F(Cuda, ErrorsNameTheNode) {
  FakeCall call(13, 8);
  EXPECT_ADZE_ERROR(call.run(context.get()), ADZE_RUN_ERROR,
                    "node 'Reshape_7'");
}

TEST_F(Cuda, WrongDeviceIsRefused) {
  FakeCall call(3, 8);
  call.x.dl.device = {kDLCUDA, 1};
  EXPECT_ADZE_ERROR(call.run(context.get()), ADZE_INVALID_ARGUMENT,
                    "expected a tensor on cuda:0, but got one on cuda:1");
}

TEST_F(Cuda, ProfileTellsTheDevice) {
  FakeCall call(3, 8);
  const char *json;
  ASSERT_ADZE_OK(adze_profile_begin(context.get()));
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
  ASSERT_ADZE_OK(adze_profile_end(context.get(), &json));
  EXPECT_NE(
      std::string(json).find("\"device\": \"cuda:0\", \"kernel\": \"add\""),
      std::string::npos)
      << json;
}

TEST_F(Cuda, FourContextsOnFourThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      ContextPtr mine = create();
      for (int i = 0; i < 20; ++i) {
        FakeCall call(1 + i % 5, 8 * (t + 1));
        Outcome outcome(call.run(mine.get()));
        ASSERT_TRUE(outcome.ok()) << outcome.message;
        call.expectRight();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(Cuda, CpuAndDeviceContextsOfOneModuleAgree) {
  ContextPtr cpu = makeContext(module.get());
  FakeCall call(3, 8), other(3, 8);
  ASSERT_ADZE_OK(call.run(context.get()));
  ASSERT_ADZE_OK(other.run(cpu.get()));
  EXPECT_EQ(call.sum.data, other.sum.data);
  EXPECT_EQ(call.total.data, other.total.data);
}

TEST_F(Cuda, AllMemoryIsGivenBack) {
  int64_t held = fakeCount("fake_cuda_held_bytes");
  {
    DeviceTensors outputs;
    {
      FakeCall call(3, 4000);
      ContextPtr other = create();
      ASSERT_ADZE_OK(call.run(other.get()));
      ASSERT_ADZE_OK(
          adze_run_alloc(other.get(), call.inputs.data(), 2, outputs.made, 3));
    }
    if (held >= 0) {
      EXPECT_GE(fakeCount("fake_cuda_held_bytes"), held + 3 * 4000 * 4);
    }
  }
  EXPECT_EQ(fakeCount("fake_cuda_held_bytes"), held);
  context.reset();
  module.reset();
  if (held >= 0) {
    EXPECT_EQ(fakeCount("fake_cuda_held_bytes"), 0);
  }
}

namespace {
/// Devices that only the fake driver has.
struct FakeDevices : testing::Test {
  OptionsPtr options = makeOptions("threads", "2");
  std::string log;
  ModulePtr module;
  adze_context *context = nullptr;

  void SetUp() override {
    ASSERT_ADZE_OK(adze_options_set_log(
        options.get(),
        [](void *user, adze_log_level, const char *message) {
          *static_cast<std::string *>(user) += message;
        },
        &log));
    module = openFake(options.get());
    Outcome(adze_context_create(module.get(), {kDLCUDA, 0}, &context));
    adze_context_release(context);
    if (fakeCount("fake_cuda_launches") < 0)
      GTEST_SKIP() << "a real driver";
  }
};
} // namespace

TEST_F(FakeDevices, OldOneIsRefused) {
  EXPECT_ADZE_ERROR(
      adze_context_create(module.get(), {kDLCUDA, 1}, &context),
      ADZE_UNSUPPORTED,
      "module has device code for cuda:sm_30a, cuda:sm_72, cuda:sm_70, but "
      "device cuda:1 is sm_35");
  EXPECT_ADZE_ERROR(adze_context_create(module.get(), {kDLCUDA, 7}, &context),
                    ADZE_INVALID_ARGUMENT, "below 4, but got 7");
}

// The image for this device lacks 'rows'.
TEST_F(FakeDevices, KernelThatIsNotInTheImageRunsOnTheCpu) {
  ASSERT_ADZE_OK(adze_context_create(module.get(), {kDLCUDA, 2}, &context));
  ContextPtr owner(context);
  EXPECT_NE(log.find("kernel 'rows' is not in the image for cuda:sm_72"),
            std::string::npos)
      << log;
  for (int64_t len : {8, 4000, 8, 8}) {
    FakeCall call(5, len), next(5, len);
    ASSERT_ADZE_OK(call.run(context));
    call.expectRight();
    DeviceTensors first;
    ASSERT_ADZE_OK(
        adze_run_alloc(context, call.inputs.data(), 2, first.made, 3));
    next.inputs[0] = &first.made[0]->dl_tensor;
    ASSERT_ADZE_OK(next.run(context));
    EXPECT_EQ(next.sum.data[1],
              call.x.data[1] + call.y.data[1] * 2 + next.y.data[1] * 2);
  }
}

// No kernel of the model runs on a device: its image is empty.
TEST_F(FakeDevices, KernelsOfAnEmptyImageRunOnTheCpu) {
  ASSERT_ADZE_OK(adze_context_create(module.get(), {kDLCUDA, 3}, &context));
  ContextPtr owner(context);
  FakeCall call(5, 8);
  ASSERT_ADZE_OK(call.run(context));
  call.expectRight();
}
