// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Models, options and results for tests of the compiler's C API.
#ifndef ADZE_TESTS_CAPI_COMPILERTEST_H
#define ADZE_TESTS_CAPI_COMPILERTEST_H

#include "adze.h"
#include "adze_compiler.h"
#include "gtest/gtest.h"
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace adze::test {

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string getModel(const std::string &name) {
  return ADZE_TEST_MODELS "/" + name + ".onnx";
}

/// A copy of a diagnostic.
struct Told {
  adze_compile_severity severity;
  std::string file, node, op, message, formatted;
};

/// Options that store the reported diagnostics.
struct Options {
  Options() {
    EXPECT_EQ(adze_compiler_options_create(&options), ADZE_COMPILE_OK);
    adze_compiler_options_set_diagnostics(
        options,
        [](void *user, const adze_compile_diagnostic *d) {
          ASSERT_EQ(d->size, sizeof(*d));
          static_cast<Options *>(user)->told.push_back(
              {d->severity, d->file, d->node, d->op, d->message, d->formatted});
        },
        this);
  }
  ~Options() { adze_compiler_options_release(options); }

  adze_compile_status set(const char *key, const char *value) {
    return adze_compiler_options_set(options, key, value);
  }
  std::string message() const { return adze_compiler_options_message(options); }

  adze_compiler_options *options = nullptr;
  std::vector<Told> told;
};

struct Result {
  Result() = default;
  Result(const Result &) = delete;
  ~Result() { adze_compiler_result_release(result); }

  adze_compile_status compile(const std::string &model,
                              const Options &options) {
    return adze_compile(model.c_str(), nullptr, options.options, &result);
  }
  adze_compile_status compileBytes(const std::string &model,
                                   const Options &options,
                                   const char *name = nullptr) {
    return adze_compile_memory(model.data(), model.size(), name, nullptr,
                               options.options, &result);
  }
  std::string message() const { return adze_compiler_result_message(result); }
  std::string data() const {
    size_t size = 0;
    auto *data =
        static_cast<const char *>(adze_compiler_result_data(result, &size));
    return {data, size};
  }

  adze_compiler_result *result = nullptr;
};

/// Runs a module with one f32 input and output, whose sizes are products of
/// dims.
inline std::vector<float> run(const std::string &module, std::vector<float> x,
                              std::vector<int64_t> dims,
                              std::vector<int64_t> outputDims) {
  size_t count = 1;
  for (int64_t dim : outputDims)
    count *= size_t(dim);
  std::vector<float> y(count);
  DLTensor in = {x.data(),
                 {kDLCPU, 0},
                 int32_t(dims.size()),
                 {kDLFloat, 32, 1},
                 dims.data(),
                 nullptr,
                 0};
  DLTensor out = in;
  out.data = y.data();
  out.ndim = int32_t(outputDims.size());
  out.shape = outputDims.data();
  const DLTensor *ins[] = {&in};
  DLTensor *outs[] = {&out};
  adze_module *opened = nullptr;
  adze_context *context = nullptr;
  adze_status status =
      adze_module_open_memory(module.data(), module.size(), nullptr, &opened);
  if (!status)
    status = adze_context_create(opened, {kDLCPU, 0}, &context);
  if (!status)
    status = adze_run(context, ins, 1, outs, 1);
  EXPECT_STREQ(adze_status_message(status), "");
  adze_status_free(status);
  adze_context_release(context);
  adze_module_release(opened);
  return y;
}

} // namespace adze::test

#endif // ADZE_TESTS_CAPI_COMPILERTEST_H
