// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Invalid calls: each returns its status, and none a result.

#include "RuntimeTest.h"

using namespace adze::test;

namespace {
struct WrongCall : testing::Test {
  ModulePtr module = openFake();
  ContextPtr context = makeContext(module.get());
  FakeCall call{3, 8};

  void expectError(const char *text, adze_code code = ADZE_INVALID_ARGUMENT) {
    EXPECT_ADZE_ERROR(call.run(context.get()), code, text);
    for (float value : call.sum.data)
      ASSERT_EQ(value, 0.0f);
  }
};
} // namespace

TEST_F(WrongCall, Count) {
  call.inputs.pop_back();
  expectError("expected 2 inputs, but got 1");
  call.inputs.push_back(&call.y.dl);
  call.outputs.pop_back();
  expectError("expected 3 outputs, but got 2");
}

TEST_F(WrongCall, NullTensor) {
  call.inputs[1] = nullptr;
  expectError("input 'y': expected a tensor, but got NULL");
}

TEST_F(WrongCall, NullData) {
  call.y.dl.data = nullptr;
  expectError("input 'y': expected data, but got NULL");
}

TEST_F(WrongCall, NullContext) {
  EXPECT_ADZE_ERROR(call.run(nullptr), ADZE_INVALID_ARGUMENT,
                    "expected a context");
}

TEST_F(WrongCall, Dtype) {
  call.x.dl.dtype.bits = 64;
  expectError("input 'x': expected f32, but got f64");
  call.x.dl.dtype = {kDLInt, 32, 1};
  expectError("input 'x': expected f32, but got i32");
  call.x.dl.dtype = {kDLFloat, 32, 2};
  expectError("input 'x': expected f32, but got f32x2");
}

TEST_F(WrongCall, Rank) {
  call.x.dl.ndim = 1;
  expectError("input 'x': expected rank 2, but got 1");
}

TEST_F(WrongCall, SymbolGivenTwice) {
  call.y.shape[0] = 2;
  expectError("input 'y': expected dim 0 = 3 ('batch', given by input 'x'), "
              "but got 2");
}

TEST_F(WrongCall, Range) {
  call.x.shape[0] = call.y.shape[0] = 65;
  expectError("input 'x': expected dim 0 ('batch') in [1, 64], but got 65");
  call.x.shape[0] = 0;
  expectError("in [1, 64], but got 0");
  call.x.shape[0] = -1;
  expectError("expected dim 0 >= 0, but got -1");
}

TEST_F(WrongCall, Multiple) {
  call.x.shape[1] = 6;
  expectError("input 'x': expected dim 1 ('len') to be a multiple of 4, but "
              "got 6");
}

TEST_F(WrongCall, TooBig) {
  call.x.shape[1] = call.y.shape[1] = INT64_MAX - 3;
  expectError("input 'x': the shape is too big");
}

TEST_F(WrongCall, OutputShape) {
  call.total.shape[0] = 4;
  expectError("output 'total': expected dim 0 = 3, but got 4");
}

TEST_F(WrongCall, Strides) {
  int64_t transposed[] = {1, 3};
  call.x.dl.strides = transposed;
  expectError("input 'x': expected dense row-major strides: 1 at dim 1, but "
              "got 3");
}

TEST_F(WrongCall, DenseStridesAreFine) {
  int64_t dense[] = {8, 1};
  call.x.dl.strides = dense;
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
}

TEST_F(WrongCall, Device) {
  call.x.dl.device = {kDLCUDA, 1};
  expectError("input 'x': expected a tensor on cpu, but got one on cuda:1");
}

TEST_F(WrongCall, Alignment) {
  call.x.dl.byte_offset = 2;
  expectError("input 'x': expected data aligned to 4 bytes");
}

TEST_F(WrongCall, OutputOverInput) {
  call.sum.dl.data = call.x.data.data();
  EXPECT_ADZE_ERROR(call.run(context.get()), ADZE_INVALID_ARGUMENT,
                    "output 'sum': overlaps input 'x' in memory");
}

TEST_F(WrongCall, OutputOverOutput) {
  call.total.dl.data = call.sum.data.data() + 4;
  expectError("output 'total': overlaps output 'sum' in memory");
}

TEST_F(WrongCall, ContextInUse) {
  // The allocator is called during a run, so the call is made there.
  static adze_context *inner;
  static adze_code seen;
  OptionsPtr options = makeOptions();
  ASSERT_ADZE_OK(adze_options_set_allocator(
      options.get(),
      [](void *, size_t bytes, size_t alignment) -> void * {
        if (inner)
          seen = Outcome(FakeCall(1, 4).run(inner)).code;
        void *data = nullptr;
        return posix_memalign(&data, alignment, bytes) ? nullptr : data;
      },
      [](void *, void *data, size_t) { free(data); }, nullptr));
  ModulePtr other = openFake(options.get());
  ContextPtr busy = makeContext(other.get());
  inner = busy.get();
  ASSERT_ADZE_OK(call.run(busy.get()));
  inner = nullptr;
  EXPECT_EQ(seen, ADZE_INVALID_ARGUMENT);
}

TEST(WrongOption, IsRefused) {
  OptionsPtr options = makeOptions();
  EXPECT_ADZE_ERROR(adze_options_set(options.get(), "threads", "many"),
                    ADZE_INVALID_ARGUMENT, "option 'threads'");
  EXPECT_ADZE_ERROR(adze_options_set(options.get(), "threads", "-1"),
                    ADZE_INVALID_ARGUMENT, "in [0, 1024]");
  EXPECT_ADZE_ERROR(adze_options_set(options.get(), "verify", "yes"),
                    ADZE_INVALID_ARGUMENT, "'all', 'code' or 'off'");
  EXPECT_ADZE_ERROR(adze_options_set(options.get(), "colour", "red"),
                    ADZE_INVALID_ARGUMENT, "unknown option 'colour'");
}

TEST(WrongDevice, IsRefused) {
  ModulePtr module = openFake();
  adze_context *context = nullptr;
  EXPECT_ADZE_ERROR(adze_context_create(module.get(), {kDLVulkan, 0}, &context),
                    ADZE_UNSUPPORTED, "cpu or cuda");
}

TEST(WrongDevice, CudaSaysWhatIsMissing) {
  ModulePtr module = openFake();
  adze_context *context = nullptr;
  Outcome outcome(adze_context_create(module.get(), {kDLCUDA, 0}, &context));
  if (outcome.ok()) {
    adze_context_release(context);
    GTEST_SKIP() << "there is a device";
  }
  EXPECT_EQ(outcome.code, ADZE_UNSUPPORTED);
  EXPECT_NE(outcome.message.find(
                "module has device code for cuda:sm_30a, "
                "cuda:sm_72, cuda:sm_70, but no CUDA driver was found"),
            std::string::npos)
      << outcome.message;
  ContextPtr cpu = makeContext(module.get());
  FakeCall call(3, 8);
  ASSERT_ADZE_OK(call.run(cpu.get()));
  call.expectRight();
}
