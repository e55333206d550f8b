// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Device kernels with symbols of their own: the fake module with its symbols in
// the other order, which only the kernels do not know.
#include "FakeCuda.h"
#include "RuntimeTest.h"
#include "adze_module.h"
#include <vector>

using namespace adze::test;

extern "C" const adze_module_desc *adze_module_query(uint32_t abi);

namespace {

adze_run_fn runInOrder;
void (*inferInOrder)(const int64_t *syms, int64_t *dims);

void swapSymbols(const int64_t *syms, int64_t *values) {
  values[0] = syms[1];
  values[1] = syms[0];
}

int32_t run(const adze_host_table *host, adze_exec *exec, void *const *inputs,
            void *const *outputs, void *arena, const void *weights,
            const int64_t *syms) {
  int64_t values[2];
  swapSymbols(syms, values);
  return runInOrder(host, exec, inputs, outputs, arena, weights, values);
}

void infer(const int64_t *syms, int64_t *dims) {
  int64_t values[2];
  swapSymbols(syms, values);
  inferInOrder(values, dims);
}

const adze_module_dim kMatrix[] = {{-1, 1, 0}, {-1, 0, 0}};

/// The fake module.
const adze_module_desc *query(uint32_t abi) {
  static adze_module_desc desc = *adze_module_query(abi);
  runInOrder = desc.run;
  inferInOrder = desc.infer;
  static const std::vector<adze_module_symbol> symbols = {desc.symbols[1],
                                                          desc.symbols[0]};
  static std::vector<adze_module_value> inputs(desc.inputs,
                                               desc.inputs + desc.num_inputs);
  for (adze_module_value &input : inputs)
    input.dims = kMatrix;
  static std::vector<adze_device_image> images(desc.images,
                                               desc.images + desc.num_images);
  static std::vector<adze_device_kernel> kernels(
      images.back().kernels, images.back().kernels + desc.num_kernels);
  for (adze_device_kernel &kernel : kernels) {
    kernel.num_symbols = 2;
    kernel.bind_symbols = swapSymbols;
  }
  images.back().kernels = kernels.data();
  desc.images = images.data();
  desc.symbols = symbols.data();
  desc.inputs = inputs.data();
  desc.run = run;
  desc.infer = infer;
  return &desc;
}

} // namespace

// Runs of the launches one by one, of a captured graph, and of an updated one.
TEST(CudaSymbols, KernelsGetTheirOwn) {
  adze_module *opened = nullptr;
  Outcome open(adze_module_link(reinterpret_cast<adze_query_fn>(query), nullptr,
                                &opened));
  ASSERT_TRUE(open.ok()) << open.message;
  ModulePtr module(opened);
  ContextPtr context = makeContext(opened, kCuda);
  ASSERT_TRUE(context);
  for (int64_t length : {8, 8, 8, 8, 12, 64, 4}) {
    FakeCall call(3, length);
    ASSERT_ADZE_OK(call.run(context.get()));
    call.expectRight();
  }
}
