// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The math functions that Adze links into modules, against the C library.
#include "Package/Package.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;

namespace {

class SupportTest : public ::testing::Test {
protected:
  using Function = double (*)(double);

  void SetUp() override {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    jit = cantFail(orc::LLJITBuilder().create());
    cantFail(jit->addObjectFile(MemoryBuffer::getMemBuffer(
        adze::package::supportObject(ELF::EM_X86_64), "support", false)));
  }

  /// Returns the greatest error in ulp over [lo, hi].
  void check(const char *name, Function reference, double lo, double hi,
             double ulps) {
    auto function = cantFail(jit->lookup(name)).toPtr<Function>();
    double worst = 0, where = 0;
    for (int i = 0; i <= 20000; ++i) {
      double x = lo + (hi - lo) * i / 20000;
      double want = reference(x);
      double unit = std::nextafter(std::fabs(want), INFINITY) - std::fabs(want);
      double error = std::fabs(function(x) - want) / unit;
      if (error > worst) {
        worst = error;
        where = x;
      }
    }
    EXPECT_LE(worst, ulps) << name << " at " << where;
    EXPECT_TRUE(std::isnan(function(NAN))) << name;
  }

  std::unique_ptr<orc::LLJIT> jit;
};

TEST_F(SupportTest, HyperbolicFunctions) {
  check("sinh", std::sinh, -30, 30, 3);
  check("sinh", std::sinh, -1e-3, 1e-3, 3);
  check("sinh", std::sinh, 700, 710.4, 3);
  check("cosh", std::cosh, -30, 30, 3);
  check("tanh", std::tanh, -30, 30, 3);
  check("asinh", std::asinh, -1e6, 1e6, 4);
  check("acosh", std::acosh, 1, 1e6, 4);
  check("atanh", std::atanh, -0.999, 0.999, 4);
}

TEST_F(SupportTest, ErrorFunctions) {
  check("erf", std::erf, -7, 7, 8);
  check("erf", std::erf, -1e-3, 1e-3, 4);
  check("erfc", std::erfc, -5, 0.5, 8);
  check("erfc", std::erfc, 0.5, 26, 64);
}

TEST_F(SupportTest, EndsOfTheRange) {
  auto erf = cantFail(jit->lookup("erf")).toPtr<Function>();
  auto tanh = cantFail(jit->lookup("tanh")).toPtr<Function>();
  EXPECT_EQ(erf(INFINITY), 1.0);
  EXPECT_EQ(erf(-INFINITY), -1.0);
  EXPECT_EQ(tanh(-INFINITY), -1.0);
  EXPECT_TRUE(std::signbit(tanh(-0.0)));
}

} // namespace
