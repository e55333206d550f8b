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

TEST(CpuTargetTest, NativeIsResolved) {
  auto native = llvm::cantFail(CpuTarget::resolve("", "native"));
  EXPECT_NE(native.cpu, "native");
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
