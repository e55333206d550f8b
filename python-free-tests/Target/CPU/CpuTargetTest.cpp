// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What is known of CPUs.
#include "Target/CPU/CpuTarget.h"
#include "adze_module.h"
#include "gmock/gmock.h"

using adze::cpu::CpuTarget;

namespace {

TEST(CpuTargetTest, LevelsHaveTheirFeatures) {
  auto v3 = llvm::cantFail(CpuTarget::resolve("x86_64-linux-gnu", "x86-64-v3"));
  EXPECT_TRUE(v3.moduleFeatures & ADZE_X86_AVX2);
  EXPECT_TRUE(v3.moduleFeatures & ADZE_X86_FMA);
  EXPECT_FALSE(v3.moduleFeatures & ADZE_X86_AVX512F);
  EXPECT_EQ(v3.vectorBits(), 256u);
  auto v4 = llvm::cantFail(CpuTarget::resolve("x86_64-linux-gnu", "x86-64-v4"));
  EXPECT_TRUE(v4.moduleFeatures & ADZE_X86_AVX512VL);
  EXPECT_EQ(v4.vectorBits(), 512u);
}

// A module for Zen 4 had an instruction that only AMD's CPUs have, and that no
// run time was told of: it ended with a signal on others.
TEST(CpuTargetTest, FeaturesThatNoNoteTellsOfAreOff) {
  auto zen = llvm::cantFail(CpuTarget::resolve("x86_64-linux-gnu", "znver4"));
  EXPECT_EQ(zen.features, "-sse4a");
  EXPECT_TRUE(zen.moduleFeatures & ADZE_X86_AVX512VBMI);
  EXPECT_TRUE(zen.moduleFeatures & ADZE_X86_GFNI);
  auto old = llvm::cantFail(CpuTarget::resolve("x86_64-linux-gnu", "bdver2"));
  EXPECT_EQ(old.features, "-sse4a,-xop,-fma4,-tbm");
  auto v3 = llvm::cantFail(CpuTarget::resolve("x86_64-linux-gnu", "x86-64-v3"));
  EXPECT_EQ(v3.features, "");
  EXPECT_TRUE(v3.moduleFeatures & ADZE_X86_LZCNT);
}

TEST(CpuTargetTest, NativeIsResolved) {
  auto native = llvm::cantFail(CpuTarget::resolve("", "native"));
  EXPECT_NE(native.cpu, "native");
}

TEST(CpuTargetTest, CachesAreKnown) {
  auto of = [](const char *cpu) {
    return llvm::cantFail(CpuTarget::resolve("x86_64-linux-gnu", cpu)).caches;
  };
  adze::CacheSizes zen5{1 << 20, 32 << 20};
  zen5.flopsAByte = 2;
  EXPECT_EQ(of("znver5"), zen5);
  EXPECT_EQ(of("sapphirerapids"), (adze::CacheSizes{2 << 20, 64 << 20}));
  EXPECT_EQ(of("haswell").l2, 256 << 10);
  EXPECT_EQ(of("x86-64-v4"), adze::CacheSizes());
  auto native = of("native");
  EXPECT_GE(native.l2, 64 << 10);
  EXPECT_GE(native.l3, native.l2);
}

TEST(CpuTargetTest, CachesAreParsed) {
  EXPECT_EQ(llvm::cantFail(adze::cpu::parseCaches("512K,4096K")),
            (adze::CacheSizes{512 << 10, 4 << 20}));
  EXPECT_EQ(llvm::cantFail(adze::cpu::parseCaches("1M,4M,apart")),
            (adze::CacheSizes{1 << 20, 4 << 20, /*storesApart=*/true}));
  for (const char *wrong : {"", "1M", "1M,", "x,1M", "2M,1M", "1,2", "-1M,1M",
                            "apart", "99999999999M,99999999999M"}) {
    auto caches = adze::cpu::parseCaches(wrong);
    EXPECT_THAT(llvm::toString(caches.takeError()),
                testing::HasSubstr("expected the sizes of the second and third"
                                   " level as in 1M,32M"));
  }
}

TEST(CpuTargetTest, UnknownOnesAreErrors) {
  auto cpu = CpuTarget::resolve("x86_64-linux-gnu", "z80");
  EXPECT_THAT(llvm::toString(cpu.takeError()),
              testing::HasSubstr("unknown CPU 'z80'"));
  auto triple = CpuTarget::resolve("riscv64-linux-gnu", "generic");
  EXPECT_THAT(llvm::toString(triple.takeError()),
              testing::HasSubstr("expected an x86_64 or aarch64 triple"));
}

} // namespace
