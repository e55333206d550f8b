// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Properties of CPUs.
#include "Target/CPU/CpuTarget.h"
#include "adze_module.h"
#include "mlir/IR/Builders.h"
#include "gmock/gmock.h"

using adze::cpu::CpuTarget;
using adze::tile::CpuFeature;
using adze::tile::CpuTrait;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

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

// Regression: a module for Zen 4 had an instruction that only AMD's CPUs have
// and the run time did not check, so it ended with a signal on others.
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

class CpuAttrTest : public testing::Test {
protected:
  CpuAttrTest() { context.loadDialect<adze::tile::TileDialect>(); }
  llvm::Expected<adze::tile::CpuTargetAttr>
  getAttr(const char *triple, const char *cpu, const char *caches = "") {
    return llvm::cantFail(CpuTarget::resolve(triple, cpu))
        .getAttr(context, caches);
  }
  mlir::MLIRContext context;
};

TEST_F(CpuAttrTest, CachesAreKnown) {
  auto of = [&](const char *cpu) {
    return llvm::cantFail(getAttr("x86_64-linux-gnu", cpu));
  };
  EXPECT_THAT(of("znver5").getCaches(), ElementsAre(1 << 20, 32 << 20));
  EXPECT_EQ(of("znver5").getFlopsPerByte(), 2);
  EXPECT_THAT(of("sapphirerapids").getCaches(), ElementsAre(2 << 20, 64 << 20));
  EXPECT_EQ(of("haswell").getL2Bytes(), 256 << 10);
  EXPECT_THAT(of("x86-64-v4").getCaches(), ElementsAre(1 << 20, 32 << 20));
  auto native = of("native");
  EXPECT_GE(native.getL2Bytes(), 64 << 10);
  EXPECT_GE(native.getL3Bytes(), native.getL2Bytes());
}

TEST_F(CpuAttrTest, InstructionsAreUnitsAndFeatures) {
  auto v3 = llvm::cantFail(getAttr("x86_64-linux-gnu", "x86-64-v3"));
  EXPECT_EQ(v3.getVectorBytes(), 32);
  EXPECT_TRUE(v3.has(CpuFeature::lane_permute));
  EXPECT_THAT(v3.findPairUnit().getShape(), ElementsAre(1, 8, 2));
  EXPECT_TRUE(v3.multipliesBytes());
  auto avx = llvm::cantFail(getAttr("x86_64-linux-gnu", "sandybridge"));
  EXPECT_THAT(avx.getUnits(), IsEmpty());
  EXPECT_FALSE(avx.multipliesBytes());
  auto zen4 = llvm::cantFail(getAttr("x86_64-linux-gnu", "znver4"));
  EXPECT_EQ(zen4.getVectorBytes(), 64);
  EXPECT_TRUE(zen4.has(CpuTrait::split_vector_loads));
  mlir::Builder builder(&context);
  EXPECT_TRUE(zen4.findUnit(builder.getIntegerType(8, false),
                            builder.getIntegerType(8, true),
                            builder.getIntegerType(32, true)));
  mlir::Type bf16 = builder.getBF16Type(), f32 = builder.getF32Type();
  EXPECT_FALSE(zen4.findMatrixUnit(bf16, bf16, f32));
  auto rapids = llvm::cantFail(getAttr("x86_64-linux-gnu", "sapphirerapids"));
  EXPECT_THAT(rapids.findUnit(bf16, bf16, f32).getShape(),
              ElementsAre(1, 16, 2));
  EXPECT_THAT(rapids.findMatrixUnit(bf16, bf16, f32).getShape(),
              ElementsAre(16, 16, 32));
  EXPECT_THAT(rapids
                  .findMatrixUnit(builder.getIntegerType(8, false),
                                  builder.getIntegerType(8, true),
                                  builder.getIntegerType(32, true))
                  .getShape(),
              ElementsAre(16, 16, 64));
  auto arm = llvm::cantFail(getAttr("aarch64-linux-gnu", "neoverse-v2"));
  EXPECT_EQ(arm.getVectorBytes(), 16);
  EXPECT_FALSE(arm.has(CpuFeature::lane_permute));
}

TEST_F(CpuAttrTest, CachesAreParsed) {
  auto with = [&](const char *caches) {
    return getAttr("x86_64-linux-gnu", "x86-64-v4", caches);
  };
  EXPECT_THAT(llvm::cantFail(with("512K,4096K")).getCaches(),
              ElementsAre(512 << 10, 4 << 20));
  auto stalls = llvm::cantFail(with("1M,4M,nontemporal_stores_stall"));
  EXPECT_THAT(stalls.getCaches(), ElementsAre(1 << 20, 4 << 20));
  EXPECT_THAT(stalls.getTraits(),
              ElementsAre(CpuTrait::nontemporal_stores_stall));
  for (const char *wrong :
       {"1M", "1M,", "x,1M", "2M,1M", "1,2", "-1M,1M", "split_vector_loads",
        "99999999999M,99999999999M"}) {
    auto attribute = with(wrong);
    EXPECT_THAT(llvm::toString(attribute.takeError()),
                testing::HasSubstr("expected the sizes of the second and third"
                                   " level as in 1M,32M"));
  }
  auto both =
      llvm::cantFail(with("1M,4M,split_vector_loads,nontemporal_stores_stall"));
  EXPECT_THAT(both.getTraits(),
              UnorderedElementsAre(CpuTrait::split_vector_loads,
                                   CpuTrait::nontemporal_stores_stall));
  auto unknown = with("1M,4M,fast");
  EXPECT_THAT(llvm::toString(unknown.takeError()),
              testing::HasSubstr("expected the trait split_vector_loads or "
                                 "nontemporal_stores_stall, but got 'fast'"));
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
