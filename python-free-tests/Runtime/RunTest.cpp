// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Valid calls: results, threads, the caller's pool and allocator, the
// floating-point environment, dynamic shapes, workspaces.

#include "RuntimeTest.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace adze::test;

TEST(Run, GivesTheRightResult) {
  ModulePtr module = openFake();
  ContextPtr context = makeContext(module.get());
  FakeCall call(3, 8);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
}

TEST(Run, ShapesMayChangeBetweenRuns) {
  ModulePtr module = openFake();
  ContextPtr context = makeContext(module.get());
  for (int64_t len : {4, 400, 8, 4000}) {
    FakeCall call(len % 7 + 1, len);
    ASSERT_ADZE_OK(call.run(context.get()));
    call.expectRight();
  }
}

TEST(Run, ReadsFromTheByteOffset) {
  ModulePtr module = openFake();
  ContextPtr context = makeContext(module.get());
  FakeCall call(2, 4);
  std::vector<float> moved(3 + call.x.data.size());
  std::memcpy(moved.data() + 3, call.x.data.data(),
              call.x.data.size() * sizeof(float));
  call.x.dl.data = moved.data();
  call.x.dl.byte_offset = 3 * sizeof(float);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
}

TEST(Run, FaultsOfKernelsEndTheRunAndOnlyIt) {
  ModulePtr module = openFake();
  ContextPtr context = makeContext(module.get());
  FakeCall call(3, 8), bad(3, 8);
  bad.x.data[2 * 8 + 5] = 2e30f;
  for (int i = 0; i < 2; ++i) {
    EXPECT_ADZE_ERROR(bad.run(context.get()), ADZE_RUN_ERROR,
                      "node 'ReduceSum_2': the total of row 2 of 3 {is} large "
                      "{3}");
    ASSERT_ADZE_OK(call.run(context.get()));
    call.expectRight();
  }
}

TEST(Run, ValuesOutOfRangeEndTheRunAndOnlyIt) {
  ModulePtr module = openFake();
  ContextPtr context = makeContext(module.get());
  FakeCall call(3, 8), above(3, 8), below(3, 8);
  above.x.data[0] = floatOfBits(0x7f000000);
  below.x.data[0] = floatOfBits(-0x70000001);
  for (int i = 0; i < 2; ++i) {
    EXPECT_ADZE_ERROR(above.run(context.get()), ADZE_RUN_ERROR,
                      "node 'Check_4': expected bits in [-1879048192, "
                      "2130706432), but got 2130706432");
    EXPECT_ADZE_ERROR(below.run(context.get()), ADZE_RUN_ERROR,
                      "node 'Check_4': expected bits in [-1879048192, "
                      "2130706432), but got -1879048193");
    ASSERT_ADZE_OK(call.run(context.get()));
    call.expectRight();
  }
}

TEST(Run, BitsDoNotDependOnTheNumberOfThreads) {
  FakeCall one(64, 1024);
  {
    OptionsPtr options = makeOptions("threads", "1");
    ModulePtr module = openFake(options.get());
    ContextPtr context = makeContext(module.get());
    ASSERT_ADZE_OK(one.run(context.get()));
    one.expectRight();
  }
  for (const char *threads : {"2", "3", "8"}) {
    OptionsPtr options = makeOptions("threads", threads);
    ModulePtr module = openFake(options.get());
    ContextPtr context = makeContext(module.get());
    for (int i = 0; i < 50; ++i) {
      FakeCall many(64, 1024);
      ASSERT_ADZE_OK(many.run(context.get()));
      ASSERT_EQ(many.sum.data, one.sum.data);
      ASSERT_EQ(many.total.data, one.total.data);
    }
  }
}

TEST(Run, FourContextsOnFourThreads) {
  OptionsPtr options = makeOptions("threads", "4");
  ModulePtr module = openFake(options.get());
  ContextPtr first = makeContext(module.get());
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t) {
    adze_context *clone = nullptr;
    ASSERT_ADZE_OK(adze_context_clone(first.get(), &clone));
    threads.emplace_back([clone, t, &failures] {
      ContextPtr context(clone);
      for (int i = 0; i < 100; ++i) {
        FakeCall call(1 + (t * 7 + i) % 12, 256 + 4 * t);
        if (!Outcome(call.run(context.get())).ok())
          ++failures;
        call.expectRight();
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
}

TEST(Run, ModuleMayBeReleasedBeforeItsContext) {
  ModulePtr module = openFake();
  ContextPtr context = makeContext(module.get());
  module.reset();
  FakeCall call(2, 8);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
}

namespace {
struct CallersPool {
  std::atomic<int> calls{0};
  std::atomic<int64_t> most{0};

  static void run(void *user, int64_t count, adze_task_fn task, void *data) {
    auto *pool = static_cast<CallersPool *>(user);
    ++pool->calls;
    pool->most = std::max<int64_t>(pool->most, count);
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < count; ++i)
      threads.emplace_back([=] { task(data, i, i + 1); });
    for (std::thread &thread : threads)
      thread.join();
  }
};
} // namespace

TEST(Run, UsesTheCallersPool) {
  CallersPool pool;
  OptionsPtr options = makeOptions("threads", "3");
  ASSERT_ADZE_OK(
      adze_options_set_parallel_for(options.get(), CallersPool::run, &pool));
  ModulePtr module = openFake(options.get());
  ContextPtr context = makeContext(module.get());
  FakeCall call(64, 1024);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
  EXPECT_GT(pool.calls, 0);
  EXPECT_EQ(pool.most, 3);
}

TEST(Run, CallersPoolMayRunAllTasksInOneThread) {
  OptionsPtr options = makeOptions("threads", "5");
  ASSERT_ADZE_OK(adze_options_set_parallel_for(
      options.get(),
      [](void *, int64_t count, adze_task_fn task, void *data) {
        task(data, 0, count);
      },
      nullptr));
  ModulePtr module = openFake(options.get());
  ContextPtr context = makeContext(module.get());
  FakeCall call(64, 1024);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
}

#if defined(__x86_64__)
// expectRight checks that subnormal results are not flushed, in the caller's
// thread and in those of the pool.
TEST(Run, CallersFloatStateIsSetAsideAndPutBack) {
  constexpr unsigned ftz = 0x8000, daz = 0x0040, towardsZero = 0x6000;
  FakeCall plain(64, 1024);
  FakeCall odd(64, 1024);
  OptionsPtr options = makeOptions("threads", "2");
  ModulePtr module = openFake(options.get());
  ContextPtr context = makeContext(module.get());
  plain.x.data[5] = odd.x.data[5] = 0.1f;
  plain.y.data[5] = odd.y.data[5] = 1e-9f;
  ASSERT_ADZE_OK(plain.run(context.get()));
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | ftz | daz | towardsZero);
  adze_status status = odd.run(context.get());
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  ASSERT_ADZE_OK(status);
  EXPECT_EQ(after, before | ftz | daz | towardsZero);
  EXPECT_EQ(plain.sum.data, odd.sum.data);
  EXPECT_EQ(plain.total.data, odd.total.data);
  EXPECT_EQ(plain.tiny.data, odd.tiny.data);
  EXPECT_GT(odd.tiny.data[0], 0.0f);
  EXPECT_GT(odd.tiny.data[1], 0.0f);
}
#endif

namespace {
struct CountingAllocator {
  std::atomic<int64_t> held{0}, calls{0};

  static void *allocate(void *user, size_t bytes, size_t alignment) {
    auto *self = static_cast<CountingAllocator *>(user);
    self->held += static_cast<int64_t>(bytes);
    ++self->calls;
    void *data = nullptr;
    return posix_memalign(&data, alignment, bytes) ? nullptr : data;
  }
  static void deallocate(void *user, void *data, size_t bytes) {
    static_cast<CountingAllocator *>(user)->held -= static_cast<int64_t>(bytes);
    std::free(data);
  }
};
} // namespace

TEST(Run, UsesTheCallersAllocatorAndGivesAllBack) {
  CountingAllocator allocator;
  OptionsPtr options = makeOptions();
  ASSERT_ADZE_OK(
      adze_options_set_allocator(options.get(), CountingAllocator::allocate,
                                 CountingAllocator::deallocate, &allocator));
  {
    ModulePtr module = openFake(options.get());
    ContextPtr context = makeContext(module.get());
    FakeCall call(3, 8);
    ASSERT_ADZE_OK(call.run(context.get()));
    call.expectRight();
    EXPECT_GT(allocator.held, 0);
    adze_memory_info info;
    ASSERT_ADZE_OK(adze_memory_stats(context.get(), &info, sizeof(info)));
    EXPECT_EQ(static_cast<int64_t>(info.current_bytes), allocator.held);
    EXPECT_EQ(static_cast<int64_t>(info.allocations), allocator.calls);
    EXPECT_EQ(info.arena_bytes, 3u * 8 * 4);
    EXPECT_EQ(info.arena_lower_bound_bytes, 3u * 8 * 4);
    EXPECT_EQ(info.weights_bytes, 4096u);
  }
  EXPECT_EQ(allocator.held, 0);
}

TEST(Run, AllocReturnsTensorsThatOutliveTheModule) {
  DLManagedTensorVersioned *made[3] = {};
  FakeCall call(3, 8);
  {
    ModulePtr module = openFake();
    ContextPtr context = makeContext(module.get());
    ASSERT_ADZE_OK(
        adze_run_alloc(context.get(), call.inputs.data(), 2, made, 3));
  }
  const DLTensor &sum = made[0]->dl_tensor;
  ASSERT_EQ(sum.ndim, 2);
  EXPECT_EQ(sum.shape[0], 3);
  EXPECT_EQ(sum.shape[1], 8);
  EXPECT_EQ(sum.strides[0], 8);
  EXPECT_EQ(sum.strides[1], 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(sum.data) % 64, 0u);
  for (size_t i = 0; i < call.x.data.size(); ++i)
    EXPECT_EQ(static_cast<float *>(sum.data)[i],
              call.x.data[i] + call.y.data[i] * 2.0f);
  for (DLManagedTensorVersioned *tensor : made)
    tensor->deleter(tensor);
}

TEST(Run, AsyncOnTheCpuIsDoneAtOnce) {
  ModulePtr module = openFake();
  ContextPtr context = makeContext(module.get());
  FakeCall call(3, 8);
  ASSERT_ADZE_OK(adze_run_async(context.get(), call.inputs.data(), 2,
                                call.outputs.data(), 3, nullptr));
  call.expectRight();
}

TEST(Run, HostProgramsFailureNamesTheNode) {
  ModulePtr module = openFake();
  ContextPtr context = makeContext(module.get());
  FakeCall call(13, 8);
  EXPECT_ADZE_ERROR(call.run(context.get()), ADZE_RUN_ERROR,
                    "node 'Reshape_7': unlucky batch");
}

TEST(Shapes, AreInferred) {
  ModulePtr module = openFake();
  int64_t in[2] = {3, 8}, sum[2], total[1], tiny[1];
  adze_shape inputs[] = {{2, in}, {2, in}};
  adze_shape outputs[] = {{2, sum}, {1, total}, {1, tiny}};
  uint64_t workspace = 0;
  ASSERT_ADZE_OK(
      adze_infer_shapes(module.get(), inputs, 2, outputs, 3, &workspace));
  EXPECT_EQ(sum[0], 3);
  EXPECT_EQ(sum[1], 8);
  EXPECT_EQ(total[0], 3);
  EXPECT_EQ(tiny[0], 2);
  EXPECT_GE(workspace, 3u * 8 * 4);
  outputs[0].rank = 1;
  EXPECT_ADZE_ERROR(
      adze_infer_shapes(module.get(), inputs, 2, outputs, 3, nullptr),
      ADZE_INVALID_ARGUMENT, "output 'sum': expected an array of 2 dims");
}

TEST(Workspace, BoundMemoryIsUsedAndItsSizeKept) {
  OptionsPtr options = makeOptions("threads", "1");
  ModulePtr module = openFake(options.get());
  ContextPtr context = makeContext(module.get());
  alignas(64) static char memory[4096];
  ASSERT_ADZE_OK(
      adze_context_bind_workspace(context.get(), memory, sizeof(memory)));
  FakeCall small(3, 8), big(3, 4000);
  ASSERT_ADZE_OK(small.run(context.get()));
  small.expectRight();
  EXPECT_EQ(std::memcmp(memory, small.sum.data.data(),
                        small.sum.data.size() * sizeof(float)),
            0);
  EXPECT_ADZE_ERROR(big.run(context.get()), ADZE_OUT_OF_MEMORY,
                    "expected a workspace of");
  ASSERT_ADZE_OK(adze_context_bind_workspace(context.get(), nullptr, 0));
  ASSERT_ADZE_OK(big.run(context.get()));
  big.expectRight();
  uint64_t bytes;
  EXPECT_ADZE_ERROR(adze_context_workspace_size(context.get(), &bytes),
                    ADZE_UNSUPPORTED, "'len'");
}
