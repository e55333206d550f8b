// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels with tensor maps, on the fake driver: a linked module with one
// kernel, whose map the driver checks at each launch.

#include "FakeCuda.h"
#include "RuntimeTest.h"

#include "adze_module.h"

using namespace adze::test;

namespace {

//===----------------------------------------------------------------------===//
// The module: y[i] = x[i] + 1, rows of 8 numbers of 16 bits
//===----------------------------------------------------------------------===//

constexpr int64_t kColumns = 8;

int64_t countRows(const int64_t *syms) { return syms[0]; }
int64_t noBytes(const int64_t *) { return 0; }
void writeMapValues(const int64_t *syms, int64_t *values) {
  values[0] = kColumns;
  values[1] = syms[0];
  values[ADZE_TENSOR_MAP_RANK] = kColumns * 2;
}

int32_t run(const adze_host_table *host, adze_exec *exec, void *const *inputs,
            void *const *outputs, void *, const void *, const int64_t *) {
  void *ptrs[] = {inputs[0], outputs[0]};
  return host->launch(exec, 0, ptrs);
}

void infer(const int64_t *syms, int64_t *dims) {
  dims[0] = syms[0];
  dims[1] = kColumns;
}

const adze_module_symbol kSymbols[] = {{"rows", 0, -1, 1}};
const adze_module_dim kIn[] = {{-1, 0, 0}, {kColumns, 0, 0}};
const adze_module_dim kOut[] = {{-1, -1, 0}, {kColumns, 0, 0}};
const adze_module_value kInputs[] = {{"x", kDLFloat, 16, 0, 2, kIn}};
const adze_module_value kOutputs[] = {{"y", kDLFloat, 16, 0, 2, kOut}};
const adze_module_kernel kKernels[] = {
    {"mapped", "Add_0", 2, 1, nullptr, nullptr, nullptr, nullptr, 0, 0}};
const adze_tensor_map kMaps[] = {
    {0, ADZE_TENSOR_MAP_F16, 2, 128, {8, 4, 0, 0, 0}, {1, 2, 1, 1, 1}}};
const adze_device_kernel kDeviceKernels[] = {
    {"mapped", countRows, 64, 0, 1, 1, sizeof(adze_tensor_map),
     ADZE_KERNEL_WAITS, kMaps, writeMapValues, /*most_shared=*/4, 0, 0,
     nullptr}};
const char kPtx[] = ".entry mapped";
const adze_device_image kImages[] = {
    {"cuda:sm_90", 90, ADZE_IMAGE_PTX, kPtx, sizeof(kPtx), kDeviceKernels}};

const adze_module_desc *query(uint32_t) {
  static const adze_module_desc desc = [] {
    adze_module_desc made = {};
    made.size = sizeof(made);
    made.abi = ADZE_MODULE_ABI;
    static const adze_module_row_sizes rows = ADZE_MODULE_ROW_SIZES;
    made.row_sizes = &rows;
    made.producer = "by hand";
    made.build_id = "0";
    made.model_name = "maps";
    made.num_inputs = made.num_outputs = made.num_symbols = 1;
    made.num_kernels = made.num_images = 1;
    made.inputs = kInputs;
    made.outputs = kOutputs;
    made.symbols = kSymbols;
    made.kernels = kKernels;
    made.images = kImages;
    made.run = run;
    made.infer = infer;
    made.arena_bytes = made.arena_lower_bound = noBytes;
    return made;
  }();
  return &desc;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

struct Call {
  std::vector<uint16_t> x, y;
  int64_t shape[2];
  DLTensor in, out;
  const DLTensor *ins[1] = {&in};
  DLTensor *outs[1] = {&out};

  explicit Call(int64_t rows)
      : x(static_cast<size_t>(rows * kColumns)), y(x.size()),
        shape{rows, kColumns},
        in{x.data(), kCpu, 2, {kDLFloat, 16, 1}, shape, nullptr, 0},
        out{y.data(), kCpu, 2, {kDLFloat, 16, 1}, shape, nullptr, 0} {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<uint16_t>(i * 3);
  }
  Call(const Call &) = delete;

  adze_status run(adze_context *context) {
    return adze_run(context, ins, 1, outs, 1);
  }
  void expectRight() const {
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], static_cast<uint16_t>(x[i] + 1)) << i;
  }
};

struct CudaMaps : testing::Test {
  ModulePtr module;
  ContextPtr context;

  void SetUp() override {
    OptionsPtr options = makeOptions("threads", "2");
    adze_module *made = nullptr;
    ASSERT_ADZE_OK(adze_module_link(reinterpret_cast<adze_query_fn>(query),
                                    options.get(), &made));
    module.reset(made);
    adze_context *on = nullptr;
    Outcome outcome(adze_context_create(made, {kDLCUDA, 0}, &on));
    context.reset(on);
    if (fakeCount("fake_cuda_launches") < 0)
      GTEST_SKIP() << "not the fake driver";
    ASSERT_TRUE(outcome.ok()) << outcome.message;
  }
};

} // namespace

// A map is encoded once per address and sizes; replayed runs need none.
TEST_F(CudaMaps, AreEncodedOnceAPlace) {
  Call one(1), many(100);
  int64_t before = fakeCount("fake_cuda_maps");
  for (int i = 0; i < 4; ++i) {
    ASSERT_ADZE_OK(many.run(context.get()));
    many.expectRight();
  }
  EXPECT_EQ(fakeCount("fake_cuda_maps") - before, 1);
  ASSERT_ADZE_OK(one.run(context.get()));
  one.expectRight();
  EXPECT_EQ(fakeCount("fake_cuda_maps") - before, 2);
}

// A kernel that waits by itself is launched while the previous one may still
// run.
TEST_F(CudaMaps, KernelsThatWaitOverlap) {
  Call call(3);
  int64_t launches = fakeCount("fake_cuda_launches"),
          overlaps = fakeCount("fake_cuda_overlaps");
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
  EXPECT_EQ(fakeCount("fake_cuda_launches") - launches, 1);
  EXPECT_EQ(fakeCount("fake_cuda_overlaps") - overlaps, 1);
}

// Blocks share programs if there are more multiprocessors (two) than programs.
TEST_F(CudaMaps, BlocksShareFewPrograms) {
  Call one(1), two(2);
  int64_t clusters = fakeCount("fake_cuda_clusters");
  ASSERT_ADZE_OK(two.run(context.get()));
  two.expectRight();
  EXPECT_EQ(fakeCount("fake_cuda_clusters") - clusters, 0);
  ASSERT_ADZE_OK(one.run(context.get()));
  one.expectRight();
  EXPECT_EQ(fakeCount("fake_cuda_clusters") - clusters, 1);
}

// Maps require addresses at multiples of 16 bytes: other tensors of the device
// are copied.
TEST_F(CudaMaps, TensorsAtOtherPlacesAreCopied) {
  Call first(6), next(5);
  DLManagedTensorVersioned *made = nullptr;
  ASSERT_ADZE_OK(adze_run_alloc(context.get(), first.ins, 1, &made, 1));
  next.in = made->dl_tensor;
  next.in.shape = next.shape;
  for (size_t offset : {0, 8, 4}) {
    next.in.byte_offset = offset * 2;
    ASSERT_ADZE_OK(next.run(context.get()));
    for (size_t i = 0; i < next.y.size(); ++i)
      ASSERT_EQ(next.y[i], first.x[i + offset] + 2) << i << " " << offset;
  }
  made->deleter(made);
}
