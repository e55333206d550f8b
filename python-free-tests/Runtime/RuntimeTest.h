// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of the run time's tests: handles that release themselves, and
// tensors over vectors.

#ifndef ADZE_TEST_RUNTIME_TEST_H
#define ADZE_TEST_RUNTIME_TEST_H

#include "adze.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace adze::test {

/// Code and message of a status, which is freed.
struct Outcome {
  adze_code code;
  std::string message;

  Outcome(adze_status status)
      : code(adze_status_code(status)), message(adze_status_message(status)) {
    adze_status_free(status);
  }
  bool ok() const { return code == ADZE_OK; }
};

#define ASSERT_ADZE_OK(call)                                                   \
  do {                                                                         \
    ::adze::test::Outcome outcome(call);                                       \
    ASSERT_TRUE(outcome.ok()) << outcome.message;                              \
  } while (0)

/// The call fails with this code, and its message contains this text.
#define EXPECT_ADZE_ERROR(call, expectedCode, text)                            \
  do {                                                                         \
    ::adze::test::Outcome outcome(call);                                       \
    EXPECT_EQ(outcome.code, expectedCode) << outcome.message;                  \
    EXPECT_NE(outcome.message.find(text), std::string::npos)                   \
        << outcome.message;                                                    \
  } while (0)

struct ModuleRelease {
  void operator()(adze_module *module) const { adze_module_release(module); }
};
struct ContextRelease {
  void operator()(adze_context *context) const {
    adze_context_release(context);
  }
};
struct OptionsRelease {
  void operator()(adze_options *options) const {
    adze_options_release(options);
  }
};
using ModulePtr = std::unique_ptr<adze_module, ModuleRelease>;
using ContextPtr = std::unique_ptr<adze_context, ContextRelease>;
using OptionsPtr = std::unique_ptr<adze_options, OptionsRelease>;

inline constexpr DLDevice kCpu = {kDLCPU, 0}, kCuda = {kDLCUDA, 0};

inline OptionsPtr makeOptions(const char *key = nullptr,
                              const char *value = nullptr) {
  adze_options *options = nullptr;
  EXPECT_TRUE(Outcome(adze_options_create(&options)).ok());
  if (key) {
    EXPECT_TRUE(Outcome(adze_options_set(options, key, value)).ok());
  }
  return OptionsPtr(options);
}

inline ModulePtr openFake(const adze_options *options = nullptr) {
  adze_module *module = nullptr;
  Outcome outcome(adze_module_open(ADZE_FAKE_MODULE, options, &module));
  EXPECT_TRUE(outcome.ok()) << outcome.message;
  return ModulePtr(module);
}

inline ContextPtr makeContext(adze_module *module, DLDevice device = kCpu) {
  adze_context *context = nullptr;
  Outcome outcome(adze_context_create(module, device, &context));
  EXPECT_TRUE(outcome.ok()) << outcome.message;
  return ContextPtr(context);
}

/// A dense f32 tensor on the CPU that owns its data.
struct Tensor {
  std::vector<float> data;
  std::vector<int64_t> shape;
  DLTensor dl;

  explicit Tensor(std::vector<int64_t> dims, float value = 0)
      : shape(std::move(dims)) {
    int64_t count = 1;
    for (int64_t dim : shape)
      count *= dim;
    data.assign(static_cast<size_t>(count), value);
    dl = DLTensor{data.data(),
                  kCpu,
                  static_cast<int32_t>(shape.size()),
                  {kDLFloat, 32, 1},
                  shape.data(),
                  nullptr,
                  0};
  }
  Tensor(const Tensor &) = delete;
};

inline float floatOfBits(int32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/// One call of the fake module with its tensors.
struct FakeCall {
  Tensor x, y, sum, total, tiny;
  std::vector<const DLTensor *> inputs;
  std::vector<DLTensor *> outputs;

  FakeCall(int64_t batch, int64_t len)
      : x({batch, len}), y({batch, len}), sum({batch, len}), total({batch}),
        tiny({2}), inputs{&x.dl, &y.dl}, outputs{&sum.dl, &total.dl, &tiny.dl} {
    for (size_t i = 0; i < x.data.size(); ++i) {
      x.data[i] = static_cast<float>(i % 17) * 0.25f;
      y.data[i] = static_cast<float>(i % 5) - 1.5f;
    }
  }

  adze_status run(adze_context *context) {
    return adze_run(context, inputs.data(), static_cast<int32_t>(inputs.size()),
                    outputs.data(), static_cast<int32_t>(outputs.size()));
  }

  void expectRight() const {
    size_t len = static_cast<size_t>(x.shape[1]);
    for (size_t b = 0; b < total.data.size(); ++b) {
      float expected = 0;
      for (size_t l = 0; l < len; ++l) {
        size_t i = b * len + l;
        ASSERT_EQ(sum.data[i], x.data[i] + y.data[i] * 2.0f);
        expected += sum.data[i];
      }
      ASSERT_EQ(total.data[b], expected);
    }
    EXPECT_GT(tiny.data[0], 0.0f);
    EXPECT_GT(tiny.data[1], 0.0f);
  }
};

} // namespace adze::test

#endif // ADZE_TEST_RUNTIME_TEST_H
