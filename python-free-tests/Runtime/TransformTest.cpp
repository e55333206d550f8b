// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Computed weights: a linked module whose output is the transform of a filter
// of 3 outputs, 5 inputs and a window of 2, by a matrix of 3 rows.

#include "LinkedModule.h"
#include "RuntimeTest.h"
#include "adze.hpp"
#include "adze_module.h"

#include <cstring>
#include <functional>

using namespace adze::test;

namespace {

constexpr int64_t kNumOutputs = 3, kNumInputs = 5, kWindow = 2, kRows = 3;
constexpr int64_t kMatrixOffset = 128, kResultOffset = 64, kMost = 64;
const float kMatrix[kRows][kWindow] = {{1, 0}, {0.5f, -2}, {0, 0}};

alignas(64) char gWeights[192];
adze_module_transform gTransform;
uint64_t gComputedSize;
size_t gElementBytes;
const void *gComputed; // that of the last run

const adze_module_dim kDims[] = {{kMost, 0, 0}};
const adze_module_value kResults[] = {
    {"y", kDLFloat, 32, ADZE_TENSOR, 1, kDims}};
const adze_cpu_variant kVariants[] = {{0, "baseline", nullptr}};

int32_t copyComputed(const adze_host_table *table, adze_exec *exec,
                     void *const *, void *const *outputs, void *, const void *,
                     const int64_t *) {
  gComputed = table->computed(exec);
  std::memcpy(outputs[0], static_cast<const char *>(gComputed) + kResultOffset,
              gComputedSize - kResultOffset);
  return 0;
}
void infer(const int64_t *, int64_t *dims) { dims[0] = kMost; }
int64_t noBytes(const int64_t *) { return 0; }

adze_module_desc gDesc;

const adze_module_desc *query(uint32_t) {
  gDesc = makeDescriptor();
  gDesc.num_outputs = 1;
  gDesc.outputs = kResults;
  gDesc.num_variants = 1;
  gDesc.variants = kVariants;
  gDesc.weights = gWeights;
  gDesc.weights_size = sizeof(gWeights);
  gDesc.run = copyComputed;
  gDesc.infer = infer;
  gDesc.arena_bytes = noBytes;
  gDesc.transforms = &gTransform;
  gDesc.num_transforms = 1;
  gDesc.computed_size = gComputedSize;
  return &gDesc;
}

float getWeight(int64_t output, int64_t input, int64_t k) {
  return float(output * 16 + input * 2 + k + 1);
}

/// Sets the filter of f32, or of the upper halves of it (bf16).
void setModule(uint64_t panel, uint64_t group, bool isNarrow) {
  gElementBytes = isNarrow ? 2 : 4;
  for (int64_t i = 0; i < kNumOutputs * kNumInputs * kWindow; ++i) {
    float value = getWeight(i / kWindow / kNumInputs, i / kWindow % kNumInputs,
                            i % kWindow);
    const char *bytes = reinterpret_cast<const char *>(&value);
    std::memcpy(gWeights + static_cast<size_t>(i) * gElementBytes,
                bytes + (4 - gElementBytes), gElementBytes);
  }
  std::memcpy(gWeights + kMatrixOffset, kMatrix, sizeof(kMatrix));
  gTransform = {
      0,     kMatrixOffset, kResultOffset, kNumOutputs, kNumInputs, kWindow,
      kRows, panel,         group,         0,           0,          0,
      0};
  gTransform.dtype_code = isNarrow ? kDLBfloat : kDLFloat;
  gTransform.dtype_bits = uint8_t(8 * gElementBytes);
  uint64_t panels = (kNumOutputs + panel - 1) / panel,
           groups = (kNumInputs + group - 1) / group;
  gComputedSize =
      kResultOffset + panels * kRows * groups * panel * group * gElementBytes;
}

float readElement(const std::vector<float> &result, uint64_t index) {
  float value = 0;
  std::memcpy(reinterpret_cast<char *>(&value) + (4 - gElementBytes),
              reinterpret_cast<const char *>(result.data()) +
                  index * gElementBytes,
              gElementBytes);
  return value;
}

void expectTransformed(uint64_t panel, uint64_t group, bool isNarrow) {
  setModule(panel, group, isNarrow);
  adze::Module module =
      adze::Module::link(reinterpret_cast<adze_query_fn>(query));
  adze::Context context = module.createContext();
  std::vector<float> y(kMost);
  context.run({}, {adze::view(y.data(), {kMost})});
  uint64_t groups = (kNumInputs + group - 1) / group;
  for (uint64_t row = 0; row < kRows; ++row)
    for (uint64_t c = 0; c < kNumInputs; ++c)
      for (uint64_t o = 0; o < kNumOutputs; ++o) {
        uint64_t index =
            (((o / panel * kRows + row) * groups + c / group) * panel +
             o % panel) *
                group +
            c % group;
        float expected =
            kMatrix[row][0] * getWeight(int64_t(o), int64_t(c), 0) +
            kMatrix[row][1] * getWeight(int64_t(o), int64_t(c), 1);
        EXPECT_EQ(readElement(y, index), expected)
            << "row " << row << ", input " << c << ", output " << o;
      }
  // Inputs that do not exist.
  for (uint64_t at = kNumInputs % group; at && at < group; ++at)
    EXPECT_EQ(readElement(y, ((groups - 1) * panel) * group + at), 0);
  // A second context has the same weights.
  const void *first = gComputed;
  module.createContext().run({}, {adze::view(y.data(), {kMost})});
  EXPECT_EQ(gComputed, first);
}

void expectDamaged(const std::function<void()> &damage) {
  setModule(kNumOutputs, 1, false);
  damage();
  adze_module *module = nullptr;
  EXPECT_ADZE_ERROR(adze_module_link(reinterpret_cast<adze_query_fn>(query),
                                     nullptr, &module),
                    ADZE_INVALID_MODULE, "damaged descriptor");
}

} // namespace

TEST(Transforms, WithoutALayout) { expectTransformed(kNumOutputs, 1, false); }

TEST(Transforms, InPanels) {
  expectTransformed(2, 1, false);
  expectTransformed(4, 1, false);
}

TEST(Transforms, InGroups) { expectTransformed(2, 2, true); }

TEST(Transforms, CountAsMemory) {
  setModule(kNumOutputs, 1, false);
  adze::Module module =
      adze::Module::link(reinterpret_cast<adze_query_fn>(query));
  adze::Context context = module.createContext();
  EXPECT_GE(context.memoryStats().current_bytes, gComputedSize);
}

TEST(Transforms, OutOfBoundsAreRefused) {
  expectDamaged([] { gTransform.filter = 96; });
  expectDamaged([] { gTransform.filter = 128; });
  expectDamaged([] { gTransform.matrix = uint64_t(1) << 40; });
  expectDamaged([] { gTransform.result = 128; });
  expectDamaged([] { gTransform.outputs = uint64_t(1) << 62; });
  expectDamaged([] { gTransform.inputs = 0; });
  expectDamaged([] { gTransform.rows = 100; });
  expectDamaged([] { gTransform.window = 65; });
  expectDamaged([] { gTransform.panel = 0; });
  expectDamaged([] { gTransform.panel = uint64_t(1) << 40; });
  expectDamaged([] { gTransform.group = 6; });
  expectDamaged([] { gTransform.dtype_bits = 64; });
  expectDamaged([] { gTransform.dtype_code = kDLInt; });
}
