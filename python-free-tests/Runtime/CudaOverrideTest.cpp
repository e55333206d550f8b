// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Overridable weights on a device: the linked fake module, whose second input
// defaults to zeros of the weights.

#include "FakeCuda.h"
#include "RuntimeTest.h"
#include "adze.hpp"
#include "adze_module.h"

using namespace adze::test;

extern "C" const adze_module_desc *adze_module_query(uint32_t abi);

namespace {

const int64_t kDims[] = {2, 4};
const adze_module_default kDefaults[] = {{64, kDims}};

const adze_module_desc *queryOverridable(uint32_t abi) {
  static adze_module_desc desc;
  const adze_module_desc *fake = adze_module_query(abi);
  if (!fake)
    return nullptr;
  desc = *fake;
  desc.defaults = kDefaults;
  desc.num_defaults = 1;
  return &desc;
}

using Floats = std::vector<float>;
const Floats kX = {1, 2, 3, 4, 5, 6, 7, 8};

Floats run(adze::Context &context) {
  Floats sum(8), total(2), tiny(2);
  context.run({adze::view(kX.data(), {2, 4})},
              {adze::view(sum.data(), {2, 4}), adze::view(total.data(), {2}),
               adze::view(tiny.data(), {2})});
  return sum;
}

Floats plus(float added) {
  Floats sum = kX;
  for (float &element : sum)
    element += added;
  return sum;
}

adze::Value makeWeight(float element) {
  Floats elements(8, element);
  return adze::Value::copyOf(adze::view(elements.data(), {2, 4}));
}

} // namespace

// By launches, by capture and by replay.
TEST(CudaOverrides, BelongToAContext) {
  adze::Module module =
      adze::Module::link(reinterpret_cast<adze_query_fn>(queryOverridable));
  adze::Context first = module.createContext(adze::cuda()),
                second = module.createContext(adze::cuda());
  first.overrideWeight("y", makeWeight(1));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(run(first), plus(2)); // the factor of y is 2
    EXPECT_EQ(run(second), kX);
  }
  second.overrideWeight("y", makeWeight(3));
  first.restoreWeight("y");
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(run(first), kX);
    EXPECT_EQ(run(second), plus(6));
  }
}

TEST(CudaOverrides, AreSentOnce) {
  adze::Module module =
      adze::Module::link(reinterpret_cast<adze_query_fn>(queryOverridable));
  adze::Context context = module.createContext(adze::cuda());
  context.overrideWeight("y", makeWeight(1));
  run(context);
  int64_t sent = fakeCount("fake_cuda_bytes_in");
  run(context);
  if (sent >= 0)
    EXPECT_EQ(fakeCount("fake_cuda_bytes_in") - sent, 32); // x
  int64_t held = fakeCount("fake_cuda_held_bytes");
  for (int i = 0; i < 5; ++i)
    context.overrideWeight("y", makeWeight(2));
  EXPECT_EQ(fakeCount("fake_cuda_held_bytes"), held);
  EXPECT_EQ(run(context), plus(4));
}

// A result of a run on the device may be the weight.
TEST(CudaOverrides, TakeTensorsOfTheDevice) {
  adze::Module module =
      adze::Module::link(reinterpret_cast<adze_query_fn>(queryOverridable));
  adze::Context context = module.createContext(adze::cuda());
  std::vector<adze::Tensor> outputs =
      context.run({adze::view(kX.data(), {2, 4})});
  context.overrideWeight("y", adze::Value::fromTensor(std::move(outputs[0])));
  Floats expected = kX;
  for (float &element : expected)
    element *= 3;
  EXPECT_EQ(run(context), expected);
}
