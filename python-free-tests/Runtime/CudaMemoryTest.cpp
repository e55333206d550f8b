// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Memory that callers allocate on the device of a context: on the CPU, and with
// the fake driver, whose memory the host cannot access.

#include "FakeCuda.h"
#include "RuntimeTest.h"
#include "adze.hpp"
#include "adze_module.h"
#include <numeric>

using namespace adze::test;

extern "C" const adze_module_desc *adze_module_query(uint32_t abi);

namespace {

using Numbers = std::vector<int32_t>;

class DeviceMemory : public testing::TestWithParam<DLDeviceType> {
protected:
  DeviceMemory()
      : module(adze::Module::link(
            reinterpret_cast<adze_query_fn>(adze_module_query))),
        context(module.createContext({GetParam(), 0})) {}

  Numbers read(const adze::Context::Memory &memory, size_t count) {
    Numbers numbers(count);
    context.copyMemory(numbers.data(), memory.get(), count * sizeof(int32_t));
    return numbers;
  }

  adze::Module module;
  adze::Context context;
};

} // namespace

TEST_P(DeviceMemory, IsZeroedAndCounted) {
  uint64_t before = context.memoryStats().current_bytes;
  int64_t held = fakeCount("fake_cuda_held_bytes"); // -1 with a real driver
  {
    auto memory = context.allocateMemory(5000);
    EXPECT_EQ(read(memory, 1250), Numbers(1250));
    EXPECT_EQ(context.memoryStats().current_bytes, before + 5000);
    bool isFake = GetParam() == kDLCUDA && held >= 0;
    EXPECT_EQ(fakeCount("fake_cuda_held_bytes"), held + (isFake ? 5000 : 0));
    EXPECT_EQ(fakeStorage(memory.get()) != memory.get(), isFake);
  }
  EXPECT_EQ(context.memoryStats().current_bytes, before);
  EXPECT_EQ(fakeCount("fake_cuda_held_bytes"), held);
}

TEST_P(DeviceMemory, IsCleared) {
  auto memory = context.allocateMemory(20000);
  Numbers ones(5000, 1);
  context.copyMemory(memory.get(), ones.data(), 20000);
  context.clearMemory(static_cast<char *>(memory.get()) + 40, 16000);
  std::fill_n(ones.begin() + 10, 4000, 0);
  EXPECT_EQ(read(memory, 5000), ones);
}

// Two rows of three numbers, which are moved by one number to both sides.
TEST_P(DeviceMemory, PiecesOverlapTheirCopies) {
  Numbers numbers(10);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto memory = context.allocateMemory(40);
  auto *data = static_cast<char *>(memory.get());
  context.copyMemory(data, numbers.data(), 40);
  adze::check(adze_memory_copy(context.get(), data + 4, 20, data, 20, 12, 2));
  EXPECT_EQ(read(memory, 10), Numbers({0, 0, 1, 2, 4, 5, 5, 6, 7, 9}));
  adze::check(adze_memory_copy(context.get(), data, 20, data + 4, 20, 12, 2));
  EXPECT_EQ(read(memory, 10), Numbers({0, 1, 2, 2, 4, 5, 6, 7, 7, 9}));
}

TEST_P(DeviceMemory, BadArguments) {
  void *data = nullptr;
  EXPECT_ADZE_ERROR(adze_memory_allocate(nullptr, 8, &data),
                    ADZE_INVALID_ARGUMENT, "expected a context, but got NULL");
  EXPECT_ADZE_ERROR(adze_memory_allocate(context.get(), 8, nullptr),
                    ADZE_INVALID_ARGUMENT,
                    "expected a pointer to the memory, but got NULL");
  EXPECT_ADZE_ERROR(adze_memory_allocate(context.get(), UINT64_MAX / 2, &data),
                    ADZE_OUT_OF_MEMORY, "");
  EXPECT_EQ(data, nullptr);
  adze_memory_release(context.get(), nullptr, 8);
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceMemory,
                         testing::Values(kDLCPU, kDLCUDA));
