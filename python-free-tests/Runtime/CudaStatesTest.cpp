// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// States on devices: a cache in device memory stays in place, one in host
// memory is copied.
#include "FakeCuda.h"
#include "RuntimeTest.h"

#include <numeric>

using namespace adze::test;

namespace {
constexpr int64_t heads = 2, size = 4;

struct CudaStates : testing::Test {
  ModulePtr module;
  ContextPtr context;
  Tensor x{{heads, 1, size}, 0.5f};

  void SetUp() override { open(ADZE_FAKE_STATE_MODULE); }

  void open(const char *path) {
    context = nullptr;
    adze_module *opened = nullptr;
    Outcome open(adze_module_open(path, nullptr, &opened));
    ASSERT_TRUE(open.ok()) << open.message;
    module = ModulePtr(opened);
    context = makeContext(opened, kCuda);
    ASSERT_TRUE(context);
  }

  adze_status run(const DLTensor &past, DLTensor &present) {
    const DLTensor *inputs[] = {&past, &x.dl};
    DLTensor *outputs[] = {&present};
    return adze_run(context.get(), inputs, 2, outputs, 1);
  }

  /// Returns a cache of `rows` rows whose elements are 0, 1, ...
  static std::unique_ptr<Tensor> makeCache(int64_t rows) {
    auto cache =
        std::make_unique<Tensor>(std::vector<int64_t>{heads, rows, size});
    std::iota(cache->data.begin(), cache->data.end(), 0.0f);
    return cache;
  }
};

/// The first rows of a buffer with a capacity of more.
struct View {
  int64_t shape[3], strides[3];
  DLTensor dl;

  View(const DLTensor &buffer, int64_t rows)
      : shape{heads, rows, size}, strides{buffer.shape[1] * size, size, 1},
        dl(buffer) {
    dl.shape = shape;
    dl.strides = strides;
  }
};
} // namespace

TEST_F(CudaStates, TensorsOfTheHostAreCopied) {
  auto past = makeCache(3);
  Tensor present({heads, 4, size});
  for (int repeat = 0; repeat < 3; ++repeat) { // launched, captured, replayed
    std::fill(present.data.begin(), present.data.end(), -1.0f);
    ASSERT_ADZE_OK(run(past->dl, present.dl));
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < 4 * size; ++i)
        EXPECT_EQ(present.data[head * 4 * size + i],
                  i < 3 * size ? past->data[head * 3 * size + i] : 0.5f);
  }
}

TEST_F(CudaStates, RowsAreStoredInBuffersOfTheDevice) {
  // A buffer of eight rows on the device, with known contents.
  auto seven = makeCache(7);
  const DLTensor *inputs[] = {&seven->dl, &x.dl};
  DLManagedTensorVersioned *buffer = nullptr;
  ASSERT_ADZE_OK(adze_run_alloc(context.get(), inputs, 2, &buffer, 1));
  ASSERT_EQ(buffer->dl_tensor.device.device_type, kDLCUDA);
  std::fill(x.data.begin(), x.data.end(), 2.5f);
  View past(buffer->dl_tensor, 2), present(buffer->dl_tensor, 3);
  ASSERT_ADZE_OK(run(past.dl, present.dl));
  auto *stored =
      static_cast<const float *>(fakeStorage(buffer->dl_tensor.data));
  if (stored != buffer->dl_tensor.data) // the fake driver
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < 8 * size; ++i)
        EXPECT_EQ(stored[head * 8 * size + i],
                  i / size == 2   ? 2.5f
                  : i / size == 7 ? 0.5f
                                  : seven->data[head * 7 * size + i])
            << head << " " << i;
  // The buffer has no ninth row.
  View full(buffer->dl_tensor, 8), beyond(buffer->dl_tensor, 9);
  Outcome tooSmall(run(full.dl, beyond.dl));
  EXPECT_EQ(tooSmall.message,
            "output 'present': expected dense row-major strides: 36 at dim 0, "
            "but got 32");
  buffer->deleter(buffer);
}

TEST_F(CudaStates, NewRowsAreClearedByOneLaunch) {
  open(ADZE_FAKE_ZEROED_MODULE);
  auto five = makeCache(5);
  const DLTensor *inputs[] = {&five->dl, &x.dl};
  DLManagedTensorVersioned *buffer = nullptr;
  ASSERT_ADZE_OK(adze_run_alloc(context.get(), inputs, 2, &buffer, 1));
  auto *stored =
      static_cast<const float *>(fakeStorage(buffer->dl_tensor.data));
  bool isFake = stored != buffer->dl_tensor.data;
  // The old rows and those beyond the result stay.
  View past(buffer->dl_tensor, 2), present(buffer->dl_tensor, 5);
  for (int repeat = 0; repeat < 3; ++repeat) { // launched, captured, replayed
    int64_t before = fakeCount("fake_cuda_clears");
    ASSERT_ADZE_OK(run(past.dl, present.dl));
    if (isFake)
      EXPECT_EQ(fakeCount("fake_cuda_clears"), before + (repeat < 2));
    for (int64_t head = 0; isFake && head < heads; ++head)
      for (int64_t i = 0; i < 8 * size; ++i)
        EXPECT_EQ(stored[head * 8 * size + i],
                  i < 2 * size   ? five->data[head * 5 * size + i]
                  : i < 3 * size ? 0.5f
                  : i < 5 * size ? 0.0f
                  : i < 6 * size ? 0.5f
                                 : 0.0f)
            << head << " " << i;
  }
  buffer->deleter(buffer);
}

TEST_F(CudaStates, ReplaysHaveTheStridesOfTheirRun) {
  auto fifteen = makeCache(15);
  const DLTensor *inputs[] = {&fifteen->dl, &x.dl};
  DLManagedTensorVersioned *buffer = nullptr;
  ASSERT_ADZE_OK(adze_run_alloc(context.get(), inputs, 2, &buffer, 1));
  const DLTensor &whole = buffer->dl_tensor;
  auto *stored = static_cast<const float *>(fakeStorage(whole.data));
  // The same addresses and shapes, with a capacity of 16, and then of 8 rows.
  for (int64_t capacity : {16, 8}) {
    DLTensor part = whole;
    int64_t dims[] = {heads, capacity, size};
    part.shape = dims;
    View past(part, 2), present(part, 3);
    int64_t before = fakeCount("fake_cuda_graph_launches");
    for (int repeat = 0; repeat < 3; ++repeat) {
      std::fill(x.data.begin(), x.data.end(), float(100 * capacity + repeat));
      ASSERT_ADZE_OK(run(past.dl, present.dl));
      if (stored != whole.data) // the fake driver
        EXPECT_EQ(stored[(capacity + 2) * size], 100 * capacity + repeat);
    }
    if (before >= 0)
      EXPECT_EQ(fakeCount("fake_cuda_graph_launches"), before + 2);
  }
  buffer->deleter(buffer);
}

TEST_F(CudaStates, BuffersOfTheHostAreRefused) {
  auto buffer = makeCache(8);
  View past(buffer->dl, 2), present(buffer->dl, 3);
  Outcome outcome(run(past.dl, present.dl));
  EXPECT_EQ(outcome.message,
            "input 'past': expected dense strides of a tensor in host memory, "
            "or one in device memory");
}
