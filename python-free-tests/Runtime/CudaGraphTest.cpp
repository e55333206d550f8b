// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Graphs that replay runs whose shapes and addresses change.
#include "FakeCuda.h"
#include "RuntimeTest.h"
#include "adze_module.h"
#include <algorithm>

using namespace adze::test;

extern "C" const adze_module_desc *adze_module_query(uint32_t abi);

namespace {

/// The program of the fake module without its copies, whose sizes no update can
/// change. Batches of more than 7 have more launches each.
int32_t runLaunches(const adze_host_table *host, adze_exec *exec,
                    void *const *inputs, void *const *outputs, void *,
                    const void *weights, const int64_t *syms) {
  void *scale = const_cast<void *>(weights);
  void *add[] = {inputs[0], inputs[1], scale, outputs[0]};
  if (int32_t code = host->launch(exec, 0, add))
    return code;
  if (syms[0] == 5 && !host->alloc(exec, 64))
    return host->fail(exec, "ReduceSum_2", "out of memory");
  void *rows[] = {outputs[0], outputs[1]}, *tiny[] = {outputs[2]};
  int32_t code = host->launch(exec, 1, rows);
  for (int64_t i = 0, e = std::max<int64_t>(1, syms[0] - 6); !code && i < e;
       ++i)
    code = host->launch(exec, 2, tiny);
  return code;
}

/// The last kernel reads no symbol.
const adze_module_desc *queryLaunches(uint32_t abi) {
  static adze_module_desc desc = *adze_module_query(abi);
  static std::vector<adze_device_image> images(desc.images,
                                               desc.images + desc.num_images);
  static std::vector<adze_device_kernel> kernels;
  kernels.assign(images.back().kernels,
                 images.back().kernels + desc.num_kernels);
  kernels[2].symbols_read = uint64_t(1) << 63;
  images.back().kernels = kernels.data();
  desc.images = images.data();
  desc.run = runLaunches;
  return &desc;
}

struct CudaGraphs : testing::Test {
  ModulePtr module;
  ContextPtr context;

  void SetUp() override {
    adze_module *opened = nullptr;
    Outcome open(adze_module_link(
        reinterpret_cast<adze_query_fn>(queryLaunches), nullptr, &opened));
    ASSERT_TRUE(open.ok()) << open.message;
    module = ModulePtr(opened);
    context = makeContext(opened, kCuda);
    ASSERT_TRUE(context);
  }

  void run(int64_t batch, int64_t length) {
    FakeCall call(batch, length);
    ASSERT_ADZE_OK(call.run(context.get()));
    call.expectRight();
  }

  /// Returns the graphs that were launched since the last call, or -1 with a
  /// real driver.
  int64_t countLaunches() {
    int64_t now = fakeCount("fake_cuda_graph_launches"), before = launches;
    launches = now;
    return now < 0 ? -1 : now - before;
  }
  int64_t launches = 0;
};

} // namespace

// The first two runs are launched; the third one is captured.
TEST_F(CudaGraphs, OtherShapesUpdateTheGraph) {
  countLaunches();
  int64_t updates = fakeCount("fake_cuda_updates");
  for (int64_t length = 64; length > 0; length -= 4)
    run(3, length);
  int64_t launched = countLaunches();
  if (launched < 0)
    return;
  EXPECT_EQ(launched, 14);
  EXPECT_GE(fakeCount("fake_cuda_updates"), updates + 13);
  // Equal runs have nothing to update.
  updates = fakeCount("fake_cuda_updates");
  for (int i = 0; i < 3; ++i)
    run(3, 4);
  EXPECT_EQ(fakeCount("fake_cuda_updates"), updates);
  EXPECT_EQ(countLaunches(), 3);
}

// Tensors of up to 256 bytes have the same addresses on the device, so only the
// length changes, which two of the kernels read.
TEST_F(CudaGraphs, KernelsThatDoNotReadASymbolStay) {
  for (int64_t length : {20, 16, 12})
    run(3, length);
  int64_t updates = fakeCount("fake_cuda_updates");
  run(3, 8);
  run(3, 4);
  if (updates >= 0)
    EXPECT_EQ(fakeCount("fake_cuda_updates"), updates + 4);
}

// Runs of five rows allocate memory, so no graph has their form. They do not
// affect the graphs of other runs.
TEST_F(CudaGraphs, RunsOfAnotherFormAreLaunched) {
  for (int64_t length = 64; length > 32; length -= 4)
    run(3, length);
  countLaunches();
  for (int i = 0; i < 4; ++i) {
    run(5, 8);
    run(3, 12 + 4 * i);
  }
  int64_t launched = countLaunches();
  if (launched >= 0)
    EXPECT_EQ(launched, 4);
}

TEST_F(CudaGraphs, SeveralFormsHaveGraphs) {
  for (int64_t batch : {3, 9})
    for (int64_t length = 64; length > 32; length -= 4)
      run(batch, length);
  countLaunches();
  for (int i = 0; i < 4; ++i) {
    run(9, 12 + 4 * i);
    run(3, 12 + 4 * i);
  }
  int64_t launched = countLaunches();
  if (launched >= 0)
    EXPECT_EQ(launched, 8);
}

// The graph that was not used for the longest time makes room for another one.
TEST_F(CudaGraphs, FormsThatAreNotUsedAreDropped) {
  for (int64_t batch : {3, 8, 9, 10, 3, 11}) {
    countLaunches();
    for (int64_t length = 160; length > 0; length -= 4)
      run(batch, length);
    int64_t launched = countLaunches();
    if (launched >= 0)
      EXPECT_GT(launched, 0) << batch;
  }
  int64_t updates = fakeCount("fake_cuda_updates");
  run(3, 8);
  if (updates >= 0)
    EXPECT_GT(fakeCount("fake_cuda_updates"), updates);
  updates = fakeCount("fake_cuda_updates");
  run(8, 8);
  EXPECT_EQ(fakeCount("fake_cuda_updates"), updates);
}

// Runs with two sets of equal shapes alternate: each has a graph.
TEST_F(CudaGraphs, EqualRunsAreReplayed) {
  // The first run of nine rows moves the buffer of copied tensors.
  for (int64_t batch : {3, 3, 9, 9, 3, 9})
    run(batch, 16);
  countLaunches();
  int64_t updates = fakeCount("fake_cuda_updates");
  for (int i = 0; i < 3; ++i)
    for (int64_t batch : {3, 9})
      run(batch, 16);
  int64_t launched = countLaunches();
  if (launched >= 0)
    EXPECT_EQ(launched, 6);
  EXPECT_EQ(fakeCount("fake_cuda_updates"), updates);
}
