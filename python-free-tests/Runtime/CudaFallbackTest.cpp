// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that an image lacks, on the fake driver: a linked module whose device
// image is empty. The host cannot access device memory there, so a kernel that
// gets no copies crashes.

#include "FakeCuda.h"
#include "RuntimeTest.h"

#include "adze_module.h"

using namespace adze::test;

namespace {

//===----------------------------------------------------------------------===//
// The module: y[i] = x[i] + weights[1], and y[0] = y[len - 1]
//===----------------------------------------------------------------------===//

constexpr int64_t kForeign = 13; // a length with which a pointer is wrong
constexpr int64_t kRest = 640;   // bytes of the arena after the tensor
alignas(64) constexpr int64_t kWeights[8] = {5, 100};

/// The last arguments of the kernels.
struct Seen {
  const void *weights, *absent;
  int64_t distance;
} seen;

/// Uses scratch memory.
void add(void *const *ptrs, const int64_t *syms, int64_t, int64_t,
         void *scratch, adze_fault *) {
  const auto *x = static_cast<const int64_t *>(ptrs[0]);
  const auto *weight = static_cast<const int64_t *>(ptrs[1]);
  auto *aside = static_cast<int64_t *>(scratch);
  for (int64_t i = 0; i < syms[0]; ++i)
    aside[i] = x[i] + weight[0];
  for (int64_t i = 0; i < syms[0]; ++i)
    static_cast<int64_t *>(ptrs[3])[i] = aside[i];
  seen.weights = ptrs[1];
  seen.absent = ptrs[2];
}

/// Replaces one element of a tensor of which its operand is a part.
void replace(void *const *ptrs, const int64_t *syms, int64_t, int64_t, void *,
             adze_fault *) {
  const auto *rest = static_cast<const int64_t *>(ptrs[0]);
  auto *y = static_cast<int64_t *>(ptrs[1]);
  seen.distance = rest - y;
  if (syms[0] > 1)
    y[0] = rest[syms[0] - 2];
}

int64_t one(const int64_t *) { return 1; }
int64_t tensorBytes(const int64_t *syms) { return syms[0] * 8; }
int64_t arenaBytes(const int64_t *syms) { return syms[0] * 8 + kRest; }
void addPlaces(const int64_t *syms, int64_t *bytes) {
  bytes[0] = bytes[3] = tensorBytes(syms);
  bytes[1] = 8;
  bytes[2] = 0;
}
void replacePlaces(const int64_t *syms, int64_t *bytes) {
  bytes[0] = tensorBytes(syms) - 8;
  bytes[1] = tensorBytes(syms);
}

int32_t run(const adze_host_table *host, adze_exec *exec, void *const *inputs,
            void *const *outputs, void *arena, const void *weights,
            const int64_t *syms) {
  static int64_t foreign[kForeign];
  void *x = syms[0] == kForeign ? foreign : inputs[0];
  void *weight =
      const_cast<int64_t *>(static_cast<const int64_t *>(weights)) + 1;
  void *addPtrs[] = {x, weight, nullptr, arena};
  if (int32_t code = host->launch(exec, 0, addPtrs))
    return code;
  void *replacePtrs[] = {static_cast<int64_t *>(arena) + 1, arena};
  if (int32_t code = host->launch(exec, 1, replacePtrs))
    return code;
  return host->copy(exec, outputs[0], arena,
                    static_cast<uint64_t>(tensorBytes(syms)));
}

void infer(const int64_t *syms, int64_t *dims) { dims[0] = syms[0]; }

const adze_module_symbol kSymbols[] = {{"len", 0, -1, 1}};
const adze_module_dim kIn[] = {{-1, 0, 0}};
const adze_module_dim kOut[] = {{-1, -1, 0}};
const adze_module_value kInputs[] = {{"x", kDLInt, 64, 0, 1, kIn}};
const adze_module_value kOutputs[] = {{"y", kDLInt, 64, 0, 1, kOut}};
const adze_cpu_kernel kCpuKernels[] = {{add, one, tensorBytes},
                                       {replace, one, nullptr}};
const adze_module_kernel kKernels[] = {
    {"add", "Add_0", 4, 1, nullptr, nullptr, nullptr, addPlaces, 0, 0},
    {"replace", "Scatter_1", 2, 1, nullptr, nullptr, nullptr, replacePlaces, 0,
     0}};
const adze_module_kernel kOldKernels[] = {
    {"add", "Add_0", 4, 1, nullptr, nullptr, nullptr, nullptr, 0, 0},
    {"replace", "Scatter_1", 2, 1, nullptr, nullptr, nullptr, nullptr, 0, 0}};
const adze_cpu_variant kVariants[] = {{0, "baseline", kCpuKernels}};
const adze_device_kernel kNoKernels[] = {
    {nullptr, one, 1, 0, 0, 0, 0, 0, nullptr, nullptr, 0, 0, 0, nullptr},
    {nullptr, one, 1, 0, 0, 0, 0, 0, nullptr, nullptr, 0, 0, 0, nullptr}};
const adze_device_image kImages[] = {
    {"cuda:sm_90", 90, 0, nullptr, 0, kNoKernels}};

adze_module_desc makeDesc(const adze_module_kernel *kernels) {
  adze_module_desc desc = {};
  desc.size = sizeof(desc);
  desc.abi = ADZE_MODULE_ABI;
  static const adze_module_row_sizes rows = ADZE_MODULE_ROW_SIZES;
  desc.row_sizes = &rows;
  desc.producer = "by hand";
  desc.build_id = "0";
  desc.model_name = "fallback";
  desc.num_inputs = desc.num_outputs = desc.num_symbols = 1;
  desc.num_kernels = 2;
  desc.inputs = kInputs;
  desc.outputs = kOutputs;
  desc.symbols = kSymbols;
  desc.kernels = kernels;
  desc.num_variants = desc.num_images = 1;
  desc.variants = kVariants;
  desc.images = kImages;
  desc.weights = kWeights;
  desc.weights_size = sizeof(kWeights);
  desc.run = run;
  desc.infer = infer;
  desc.arena_bytes = desc.arena_lower_bound = arenaBytes;
  return desc;
}

const adze_module_desc *query(uint32_t) {
  static const adze_module_desc desc = makeDesc(kKernels);
  return &desc;
}

/// From a compiler that does not write the bytes of pointers.
const adze_module_desc *queryOld(uint32_t) {
  static const adze_module_desc desc = makeDesc(kOldKernels);
  return &desc;
}

/// A module whose output has numbers of strings.
const adze_module_desc *queryStrings(uint32_t) {
  static const adze_module_value outputs[] = {
      {"y", kDLInt, 64, ADZE_STRINGS, 1, kOut}};
  static const adze_module_string strings[] = {{"", 0}, {"one", 3}, {"two", 3}};
  static const adze_module_desc desc = [] {
    adze_module_desc made = makeDesc(kKernels);
    made.outputs = outputs;
    made.strings = strings;
    made.num_strings = 3;
    return made;
  }();
  return &desc;
}

/// A separate program for CPUs: y = x.
int32_t runOnCpu(const adze_host_table *host, adze_exec *exec,
                 void *const *inputs, void *const *outputs, void *,
                 const void *, const int64_t *syms) {
  return host->copy(exec, outputs[0], inputs[0],
                    static_cast<uint64_t>(tensorBytes(syms)));
}

/// Weights of the program for CPUs, then those of the one for devices.
alignas(64) constexpr int64_t kAllWeights[16] = {1, 2, 3, 4, 5,
                                                 6, 7, 8, 5, 100};

struct TwoPrograms {
  adze_module_desc devices = makeDesc(kKernels), cpus = makeDesc(nullptr);

  TwoPrograms() {
    devices.weights = nullptr;
    devices.weights_offset = 64;
    cpus.devices = &devices;
    cpus.num_kernels = cpus.num_images = 0;
    cpus.weights = kAllWeights;
    cpus.weights_size = sizeof(kAllWeights);
    cpus.run = runOnCpu;
    cpus.arena_bytes = cpus.arena_lower_bound = one;
  }
} twoPrograms;

const adze_module_desc *queryTwo(uint32_t) { return &twoPrograms.cpus; }

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

struct Call {
  std::vector<int64_t> x, y;
  int64_t shape[1];
  DLTensor in, out;
  const DLTensor *ins[1] = {&in};
  DLTensor *outs[1] = {&out};

  explicit Call(int64_t len)
      : x(static_cast<size_t>(len)), y(x.size(), -1), shape{len},
        in{x.data(), kCpu, 1, {kDLInt, 64, 1}, shape, nullptr, 0},
        out{y.data(), kCpu, 1, {kDLInt, 64, 1}, shape, nullptr, 0} {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<int64_t>(i) * 3;
  }
  Call(const Call &) = delete;

  adze_status run(adze_context *context) {
    return adze_run(context, ins, 1, outs, 1);
  }
  void expectRight() const {
    std::vector<int64_t> expected;
    for (int64_t value : x)
      expected.push_back(value + 100);
    if (expected.size() > 1)
      expected.front() = expected.back();
    EXPECT_EQ(y, expected);
  }
};

struct CudaFallback : testing::Test {
  ModulePtr module;
  ContextPtr context;

  void SetUp() override { open(query); }

  void open(const adze_module_desc *(*function)(uint32_t)) {
    context.reset();
    OptionsPtr options = makeOptions("threads", "2");
    adze_module *made = nullptr;
    ASSERT_ADZE_OK(adze_module_link(reinterpret_cast<adze_query_fn>(function),
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

struct Copied {
  int64_t in = fakeCount("fake_cuda_bytes_in");
  int64_t out = fakeCount("fake_cuda_bytes_out");
};

} // namespace

// The operand and both results are copied to the host, and the results back;
// the other copies are the call's own input and output. Weights are on the host
// already.
TEST_F(CudaFallback, CopiesWhatKernelsUse) {
  for (int64_t len : {2, 5, 4000, 5}) {
    Call call(len);
    Copied before;
    ASSERT_ADZE_OK(call.run(context.get()));
    call.expectRight();
    Copied after;
    EXPECT_EQ(after.in - before.in, (1 + 1 + 1) * len * 8) << len;
    EXPECT_EQ(after.out - before.out, (2 + 1 + 1) * len * 8) << len;
    EXPECT_EQ(seen.weights, &kWeights[1]);
    EXPECT_NE(seen.absent, nullptr);
    EXPECT_EQ(seen.distance, 1);
  }
}

TEST_F(CudaFallback, WithoutTheirBytesPlacesReachToTheEndOfTheirMemory) {
  open(queryOld);
  Call call(5);
  Copied before;
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
  Copied after;
  EXPECT_EQ(after.in - before.in, 3 * 5 * 8 + 2 * kRest);
  EXPECT_EQ(after.out - before.out, 4 * 5 * 8 + 2 * kRest);
  EXPECT_EQ(seen.weights, &kWeights[1]);
}

TEST_F(CudaFallback, TensorsWithoutElements) {
  Call call(0);
  Copied before;
  ASSERT_ADZE_OK(call.run(context.get()));
  Copied after;
  EXPECT_EQ(after.in, before.in);
  EXPECT_EQ(after.out, before.out);
}

TEST_F(CudaFallback, TensorsOfTheDeviceAreUsedInPlace) {
  Call call(5), next(5);
  DLManagedTensorVersioned *made = nullptr;
  ASSERT_ADZE_OK(adze_run_alloc(context.get(), call.ins, 1, &made, 1));
  next.ins[0] = &made->dl_tensor;
  Copied before;
  ASSERT_ADZE_OK(next.run(context.get()));
  Copied after;
  EXPECT_EQ(after.in - before.in, 2 * 5 * 8);
  EXPECT_EQ(next.y, (std::vector<int64_t>{212, 203, 206, 209, 212}));
  made->deleter(made);
}

TEST_F(CudaFallback, RunsAreNotReplayed) {
  int64_t before = fakeCount("fake_cuda_graph_launches");
  Call call(5);
  for (int i = 0; i < 4; ++i) {
    call.x[4] = 1000 * i;
    ASSERT_ADZE_OK(call.run(context.get()));
    call.expectRight();
  }
  EXPECT_EQ(fakeCount("fake_cuda_graph_launches"), before);
}

TEST_F(CudaFallback, PlaceThatIsNoMemoryOfTheRunIsRefused) {
  Call call(kForeign), right(5);
  EXPECT_ADZE_ERROR(call.run(context.get()), ADZE_INVALID_MODULE,
                    "kernel 'add': expected operand 0 to be memory of the run");
  ASSERT_ADZE_OK(right.run(context.get()));
  right.expectRight();
}

TEST_F(CudaFallback, ProgramForDevicesIsAnother) {
  open(queryTwo);
  const char *info = nullptr;
  ASSERT_ADZE_OK(adze_module_info(module.get(), &info));
  EXPECT_NE(std::string(info).find("cuda:sm_90"), std::string::npos) << info;
  adze_context *made = nullptr;
  ASSERT_ADZE_OK(adze_context_create(module.get(), {kDLCPU, 0}, &made));
  ContextPtr onCpu(made);
  ASSERT_ADZE_OK(adze_context_clone(context.get(), &made));
  ContextPtr clone(made);
  // Contexts keep both programs.
  module.reset();
  for (adze_context *on : {context.get(), clone.get()}) {
    Call call(5);
    ASSERT_ADZE_OK(call.run(on));
    call.expectRight();
    EXPECT_EQ(seen.weights, &kAllWeights[9]);
    adze_memory_info memory = {};
    ASSERT_ADZE_OK(adze_memory_stats(on, &memory, sizeof(memory)));
    EXPECT_EQ(memory.weights_bytes, 64u);
  }
  Call call(5);
  ASSERT_ADZE_OK(call.run(onCpu.get()));
  EXPECT_EQ(call.y, call.x);
}

TEST_F(CudaFallback, ProgramForDevicesThatIsDamagedIsRefused) {
  auto expectRefused = [] {
    OptionsPtr options = makeOptions("threads", "2");
    adze_module *made = nullptr;
    EXPECT_ADZE_ERROR(
        adze_module_link(reinterpret_cast<adze_query_fn>(queryTwo),
                         options.get(), &made),
        ADZE_INVALID_MODULE, "damaged descriptor: program for devices");
  };
  TwoPrograms right = twoPrograms;
  twoPrograms.devices.weights_offset = 128;
  expectRefused();
  twoPrograms.devices = right.devices;
  twoPrograms.devices.weights_offset = 8;
  expectRefused();
  twoPrograms.devices = right.devices;
  twoPrograms.devices.num_symbols = 0;
  expectRefused();
  twoPrograms.devices = right.devices;
  adze_module_value narrow = kOutputs[0];
  narrow.dtype_bits = 32;
  twoPrograms.devices.outputs = &narrow;
  expectRefused();
  twoPrograms.devices = right.devices;
  twoPrograms.cpus.num_images = 1;
  expectRefused();
  twoPrograms.cpus.num_images = 0;
}

TEST_F(CudaFallback, AllMemoryIsGivenBack) {
  Call call(4000);
  ASSERT_ADZE_OK(call.run(context.get()));
  adze_memory_info info = {};
  ASSERT_ADZE_OK(adze_memory_stats(context.get(), &info, sizeof(info)));
  // Scratch memory of two lanes, and copies of two tensors.
  EXPECT_GE(info.peak_bytes, 4u * 4000 * 8);
  context.reset();
  module.reset();
  EXPECT_EQ(fakeCount("fake_cuda_held_bytes"), 0);
}

TEST_F(CudaFallback, StringsAreReadFromTheDevice) {
  open(queryStrings);
  Call call(3);
  call.x = {-99, -100, -98};
  DLManagedTensorVersioned borrowed = {};
  borrowed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  borrowed.deleter = [](DLManagedTensorVersioned *) {};
  borrowed.dl_tensor = call.in;
  borrowed.dl_tensor.data = call.x.data();
  adze_value *x = nullptr, *y = nullptr;
  ASSERT_ADZE_OK(adze_value_from_dlpack(&borrowed, &x));
  const adze_value *inputs[] = {x};
  Outcome outcome(adze_run_values(context.get(), inputs, 1, &y, 1));
  adze_value_release(x);
  ASSERT_TRUE(outcome.ok()) << outcome.message;
  const char *const *texts = nullptr;
  size_t count = 0;
  ASSERT_ADZE_OK(adze_value_strings(y, &texts, nullptr, &count));
  ASSERT_EQ(count, 3u);
  EXPECT_STREQ(texts[0], "two");
  EXPECT_STREQ(texts[1], "");
  EXPECT_STREQ(texts[2], "two");
  adze_value_release(y);
}
