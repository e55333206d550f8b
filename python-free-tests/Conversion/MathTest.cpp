// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Accuracy of math functions of kernels over all magnitudes of their arguments,
// against a wider type of the C library, in units in the last place (ulp) of
// the result.
#include "Conversion/Passes.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "InitAll.h"
#include "Package/Package.h"
#include "Pipeline/Stages.h"
#include "Target/CPU/CpuTarget.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/bit.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"
#include <cmath>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace mlir;
using namespace adze;

namespace {
using KernelFn = void (*)(void *const *, const int64_t *, int64_t, int64_t,
                          void *);
constexpr int64_t count = 4096; // elements of a call

class Math : public ::testing::Test {
protected:
  Math() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    adze::registerAllDialects(registry);
    registerAllToLLVMIRTranslations(registry);
    context.appendDialectRegistry(registry);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  }

  /// One kernel: y = name(x..), of `count` elements.
  static std::string getText(StringRef name, StringRef type, bool isBinary) {
    std::string loads, operands;
    for (int i = 0; i < (isBinary ? 2 : 1); ++i) {
      loads += llvm::formatv("%t{0} = tile.load %x{0}[0] sizes [4096] : "
                             "memref<4096x{1}> -> tensor<4096x{1}>\n",
                             i, type);
      operands += llvm::formatv("{0}%t{1}", i ? ", " : "", i);
    }
    return llvm::formatv(
        "tile.kernel @f(%x0: memref<4096x{1}>, %x1: memref<4096x{1}>, "
        "%y: memref<4096x{1}>) {{\n{2}%r = math.{0} {3} : tensor<4096x{1}>\n"
        "tile.store %r, %y[0] : tensor<4096x{1}>, memref<4096x{1}>\n"
        "tile.return\n}",
        name, type, loads, operands);
  }

  KernelFn compile(StringRef name, StringRef type, bool isBinary = false) {
    return compile(getText(name, type, isBinary));
  }
  KernelFn compile(const std::string &text) {
    return compileFor(text, "native");
  }
  KernelFn compileFor(const std::string &text, StringRef cpu) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return nullptr;
    auto target = llvm::cantFail(cpu::CpuTarget::resolve("", cpu));
    PassManager passes(&context);
    tile::setTargets(*module, llvm::cantFail(target.getAttr(context)));
    buildKernelStage(passes, StageOptions());
    if (failed(passes.run(*module)))
      return nullptr;
    auto llvmContext = std::make_unique<llvm::LLVMContext>();
    auto code = translateModuleToLLVMIR(*module, *llvmContext);
    SmallVector<char, 0> object;
    llvm::cantFail(cpu::emitObject(*code, target, 2, object));
    jits.push_back(llvm::cantFail(llvm::orc::LLJITBuilder().create()));
    StringRef bytes(object.data(), object.size());
    for (StringRef part : {package::supportObject(target.elfMachine), bytes})
      llvm::cantFail(jits.back()->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(part, "kernels")));
    return llvm::cantFail(jits.back()->lookup("f")).toPtr<KernelFn>();
  }

  template <typename T>
  static void call(KernelFn f, std::vector<T> &x0, std::vector<T> &x1,
                   std::vector<T> &y) {
    x0.resize(count);
    x1.resize(count);
    y.resize(count);
    std::vector<char> scratch(1 << 20);
    void *pointers[] = {x0.data(), x1.data(), y.data()};
    f(pointers, nullptr, 0, 1, scratch.data());
  }

  /// Returns the error of `got` relative to `want`, in ulp of T.
  template <typename T>
  static double distance(T got, long double want) {
    if (std::isnan(want) || std::isnan(got))
      return std::isnan(want) == std::isnan(got) ? 0 : INFINITY;
    T size = std::fabs(T(want));
    if (std::isinf(size) || std::isinf(got))
      return got == T(want)                        ? 0
             : std::isinf(got) && std::isinf(size) ? INFINITY
                                                   : 1;
    T next = std::nextafter(size, T(INFINITY));
    long double unit = std::isinf(next) ? size - std::nextafter(size, T(0))
                                        : (long double)next - size;
    return double(std::fabs(got - want) / unit);
  }

  MLIRContext context;
  std::vector<std::unique_ptr<llvm::orc::LLJIT>> jits;
};

/// Functions of one argument: in f64, which is exact enough for f32, and in 80
/// bits.
struct Function {
  const char *name;
  double (*wide)(double);
  long double (*wider)(long double);
  double single, twice; // ulp allowed
};
const Function functions[] = {
    {"exp", std::exp, std::exp, 2, 2},
    {"expm1", std::expm1, std::expm1, 2, 2},
    {"exp2", std::exp2, std::exp2, 2, 2},
    {"log", std::log, std::log, 2, 2},
    {"log1p", std::log1p, std::log1p, 2, 2},
    {"log2", std::log2, std::log2, 2, 2},
    {"log10", std::log10, std::log10, 2, 2},
    {"tanh", std::tanh, std::tanh, 2, 3},
    {"erf", std::erf, std::erf, 2, 8},
    {"sin", std::sin, std::sin, 2, 2},
    {"cos", std::cos, std::cos, 2, 2},
    {"tan", std::tan, std::tan, 2, 2},
    {"asin", std::asin, std::asin, 2, 2},
    {"acos", std::acos, std::acos, 2, 2},
    {"atan", std::atan, std::atan, 2, 2},
    {"sinh", std::sinh, std::sinh, 2, 3},
    {"cosh", std::cosh, std::cosh, 2, 3},
    {"asinh", std::asinh, std::asinh, 2, 3},
    {"acosh", std::acosh, std::acosh, 2, 3},
    {"atanh", std::atanh, std::atanh, 2, 3},
    {"sqrt", std::sqrt, std::sqrt, 2, 2},
};

TEST_F(Math, SinglesOfAllMagnitudes) {
  constexpr uint32_t stride = 40503;
  for (const Function &test : functions) {
    KernelFn f = compile(test.name, "f32");
    ASSERT_TRUE(f) << test.name;
    double worst = 0;
    float where = 0;
    std::vector<float> x, none, y;
    for (uint64_t bits = 0; bits >> 32 == 0;) {
      x.clear();
      for (; int64_t(x.size()) < count && bits >> 32 == 0; bits += stride)
        x.push_back(llvm::bit_cast<float>(uint32_t(bits)));
      call(f, x, none, y);
      for (int64_t i = 0; i < count; ++i) {
        double error = distance(y[i], test.wide(x[i]));
        if (error > worst) {
          worst = error;
          where = x[i];
        }
      }
    }
    EXPECT_LE(worst, test.single) << test.name << " at " << where;
  }
}

/// Values near which a function tends to infinity with one sign.
struct Range {
  const char *name, *flags;
  double (*wide)(double);
  float from, to;
  double most = 0.05; // ulp of the mean
};
const Range ranges[] = {
    {"exp", "", std::exp, -80, 80},
    {"exp", " fastmath<afn>", std::exp, -80, 80},
    {"exp", " fastmath<afn,arcp>", std::exp, -80, 0},
    {"expm1", "", std::expm1, 1e-3f, 80},
    {"expm1", "", std::expm1, -15, -1e-3f},
    {"exp2", "", std::exp2, -100, 100},
    {"log", "", std::log, 1.001f, 1e6f},
    {"log", "", std::log, 1e-6f, 0.999f},
    {"log1p", "", std::log1p, 1e-3f, 1e6f},
    {"log1p", "", std::log1p, -0.999f, -1e-3f},
    {"log2", "", std::log2, 1.001f, 1e6f},
    {"log10", "", std::log10, 1.001f, 1e6f},
    {"tanh", "", std::tanh, 1e-3f, 8},
    {"erf", "", std::erf, 1e-3f, 3.5f},
    {"sin", "", std::sin, 1e-3f, 3},
    {"sin", "", std::sin, 100, 102},
    // The remainder of a quarter turn has the same rounding in a whole binade.
    {"cos", "", std::cos, -1.5f, 1.5f, 0.1},
    {"tan", "", std::tan, 1e-3f, 1.5f},
    {"asin", "", std::asin, 1e-3f, 1},
    {"acos", "", std::acos, -1, 1},
    {"atan", "", std::atan, 1e-3f, 100},
    {"sinh", "", std::sinh, 1e-3f, 80},
    {"cosh", "", std::cosh, 0, 80},
    {"asinh", "", std::asinh, 1e-3f, 1e6f},
    {"acosh", "", std::acosh, 1.001f, 1e6f},
    {"atanh", "", std::atanh, 1e-3f, 0.999f},
    {"sqrt", "", std::sqrt, 1e-3f, 1e6f},
};

/// Biased errors accumulate over the elements of a layer, so the mean error
/// must be far below the greatest error of an element.
TEST_F(Math, SinglesLeanToNoSide) {
  constexpr int calls = 16;
  for (const char *cpu : {"native", "x86-64-v3"})
    for (const Range &test : ranges) {
#if !defined(__x86_64__)
      if (StringRef(cpu) != "native")
        continue;
#endif
      std::string text = getText(test.name, "f32", false);
      text.insert(text.find(" : tensor", text.find("%r = math.")), test.flags);
      KernelFn f = compileFor(text, cpu);
      ASSERT_TRUE(f) << test.name;
      // Arguments with both signs of the exponent, if the function has them.
      bool byExponent = test.from > 0 && test.to / test.from > 100;
      double sum = 0;
      std::vector<float> x(count), none, y;
      for (int k = 0; k < calls; ++k) {
        for (int64_t i = 0; i < count; ++i) {
          double part = std::fmod((k * count + i) * 0.6180339887498949, 1.0);
          x[i] =
              float(byExponent ? test.from * std::pow(test.to / test.from, part)
                               : test.from + (test.to - test.from) * part);
        }
        call(f, x, none, y);
        for (int64_t i = 0; i < count; ++i) {
          double want = test.wide(x[i]);
          double error = distance(y[i], want);
          sum += std::fabs(y[i]) < std::fabs(want) ? -error : error;
        }
      }
      double mean = sum / (calls * count);
      EXPECT_LE(std::fabs(mean), test.most)
          << test.name << test.flags << " in [" << test.from << ", " << test.to
          << "] for " << cpu << ": " << mean;
    }
}

#if defined(__x86_64__)
/// Returns true if a call has subnormal operands or results, by the status
/// flags of the processor.
template <typename Run>
static bool meetsTiny(const Run &run) {
  constexpr unsigned denormal = 1 << 1, underflow = 1 << 4;
  _mm_setcsr(_mm_getcsr() & ~(denormal | underflow));
  run();
  return _mm_getcsr() & (denormal | underflow);
}

TEST_F(Math, ExpMakesNoTinyNumbers) {
  std::string text = getText("exp", "f32", false);
  KernelFn exact = compile(text);
  size_t type = text.find(" : tensor", text.find("math.exp"));
  std::string weights = text;
  KernelFn fast = compile(text.insert(type, " fastmath<afn>"));
  // Arguments of at most 0.
  KernelFn weight = compile(weights.insert(type, " fastmath<afn,arcp>"));
  ASSERT_TRUE(exact && fast && weight);
  std::vector<float> x(count), none, y;
  for (int64_t i = 0; i < count; ++i) // to -200, and beyond
    x[i] = i < 4000 ? -0.05f * float(i) : -std::exp2(float(i) - 4000.0f);
  x.back() = -INFINITY;
  for (KernelFn f : {fast, weight}) {
    EXPECT_FALSE(meetsTiny([&] { call(f, x, none, y); }));
    for (int64_t i = 0; i < count; ++i) {
      if (x[i] >= -87.33f)
        EXPECT_LE(distance(y[i], std::exp(double(x[i]))), 2) << x[i];
      else
        EXPECT_EQ(y[i], 0.0f) << x[i];
    }
  }
  std::vector<float> unknown(count, NAN);
  call(weight, unknown, none, y);
  EXPECT_TRUE(llvm::all_of(y, [](float v) { return std::isnan(v); }));
  // Subnormal numbers occur if requested, and otherwise never.
  EXPECT_TRUE(meetsTiny([&] { call(exact, x, none, y); }));
  for (float &argument : x)
    argument = argument < -87.0f && argument > -104.01f ? 0.0f : argument;
  EXPECT_FALSE(meetsTiny([&] { call(exact, x, none, y); }));
}
#endif

TEST_F(Math, DoublesOfAllMagnitudes) {
  for (const Function &test : functions) {
    KernelFn f = compile(test.name, "f64");
    ASSERT_TRUE(f) << test.name;
    double worst = 0, where = 0;
    std::vector<double> x, none, y;
    for (double scale = 1e-12; scale < 1e6; scale *= 8) {
      x.clear();
      for (int64_t i = 0; i < count; ++i)
        x.push_back(scale * (2 * double(i) / count - 1));
      call(f, x, none, y);
      for (int64_t i = 0; i < count; ++i) {
        double error = distance(y[i], test.wider(x[i]));
        if (error > worst) {
          worst = error;
          where = x[i];
        }
      }
    }
    EXPECT_LE(worst, test.twice) << test.name << " at " << where;
  }
}

TEST_F(Math, Powers) {
  KernelFn f = compile("powf", "f32", /*isBinary=*/true);
  ASSERT_TRUE(f);
  for (float power :
       {-3.5f, -2.0f, -1.0f, -0.3f, 0.0f, 0.5f, 1.0f, 2.2f, 3.0f, 17.25f}) {
    std::vector<float> x, y, powers(count, power);
    for (int64_t i = 0; i < count; ++i)
      x.push_back(llvm::bit_cast<float>(uint32_t(i * 1048573)));
    call(f, x, powers, y);
    for (int64_t i = 0; i < count; ++i)
      EXPECT_LE(
          std::isnan(x[i]) ? 0 : distance(y[i], std::pow(double(x[i]), power)),
          2)
          << x[i] << " to the power of " << power << " is " << y[i];
  }
}

TEST_F(Math, SpecialValues) {
  constexpr float infinity = INFINITY;
  auto at = [&](const char *name, float argument) {
    std::vector<float> x(count, argument), none, y;
    call(compile(name, "f32"), x, none, y);
    return y[0];
  };
  for (const char *name : {"sin", "tanh", "erf", "expm1", "log1p", "tan",
                           "asin", "atan", "sinh", "asinh", "atanh"})
    EXPECT_EQ(llvm::bit_cast<uint32_t>(at(name, -0.0f)), 0x80000000u) << name;
  // Independent of other elements of the call.
  for (const char *name : {"sin", "tan"})
    for (float large : {1e6f, 1e12f}) {
      std::vector<float> x(count, -0.0f), none, y;
      for (int64_t i = 1; i < count; i += 2)
        x[i] = large;
      call(compile(name, "f32"), x, none, y);
      EXPECT_EQ(llvm::bit_cast<uint32_t>(y[0]), 0x80000000u)
          << name << " beside " << large;
    }
  for (const char *name :
       {"exp", "expm1", "log", "log1p", "tanh", "erf", "sin", "cos", "tan",
        "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"})
    EXPECT_TRUE(std::isnan(at(name, NAN))) << name;
  EXPECT_TRUE(std::isnan(at("sin", infinity)));
  EXPECT_EQ(at("expm1", -infinity), -1.0f);
  EXPECT_EQ(at("expm1", infinity), infinity);
  EXPECT_EQ(at("log1p", -1.0f), -infinity);
  EXPECT_EQ(at("log1p", infinity), infinity);
  EXPECT_EQ(at("tanh", -infinity), -1.0f);
  EXPECT_EQ(at("erf", infinity), 1.0f);
  EXPECT_EQ(at("atan", -infinity), -1.57079637f);
  EXPECT_EQ(at("sinh", -infinity), -infinity);
  EXPECT_EQ(at("cosh", -infinity), infinity);
  EXPECT_EQ(at("asinh", -infinity), -infinity);
  EXPECT_EQ(at("acosh", infinity), infinity);
  EXPECT_EQ(at("atanh", -1.0f), -infinity);
  for (const char *name : {"tan", "asin", "acos", "atanh"})
    EXPECT_TRUE(std::isnan(at(name, infinity))) << name;
  EXPECT_TRUE(std::isnan(at("acosh", 0.5f)));
}

/// The special cases of pow in IEEE 754: the results of the C library, sign
/// included.
TEST_F(Math, SpecialPowers) {
  KernelFn f = compile("powf", "f32", /*isBinary=*/true);
  ASSERT_TRUE(f);
  const float values[] = {
      0.0f,  -0.0f,  1.0f,    -1.0f,    2.0f,      -2.0f,    0.5f,
      -0.5f, 3.0f,   -3.0f,   2.5f,     -2.5f,     INFINITY, -INFINITY,
      NAN,   1e-40f, -1e-40f, 16777215, -16777215, 1e30f,    -1e30f};
  for (float power : values) {
    std::vector<float> x(std::begin(values), std::end(values)), y;
    std::vector<float> powers(count, power);
    size_t used = x.size();
    call(f, x, powers, y);
    for (size_t i = 0; i < used; ++i) {
      float want = float(std::pow(double(x[i]), double(power)));
      EXPECT_LE(distance(y[i], want), 2) << x[i] << " to " << power;
      if (!std::isnan(want))
        EXPECT_EQ(std::signbit(y[i]), std::signbit(want))
            << x[i] << " to " << power << " is " << y[i];
    }
  }
}

/// 16-bit floats compute in f32: the nearest result, except for ties that f32
/// rounds.
TEST_F(Math, HalvesAreRoundedOnce) {
  for (const Function &test : functions) {
    KernelFn f = compile(test.name, "bf16");
    ASSERT_TRUE(f) << test.name;
    std::vector<uint16_t> x, none, y;
    for (uint32_t bits = 0; bits < 65536; bits += 16)
      x.push_back(uint16_t(bits));
    call(f, x, none, y);
    for (int64_t i = 0; i < count; ++i) {
      auto wide = [](uint16_t half) {
        return llvm::bit_cast<float>(uint32_t(half) << 16);
      };
      double want = test.wide(wide(x[i])), got = wide(y[i]);
      if (!std::isfinite(float(want)) || std::fabs(want) < 1e-37)
        continue;
      EXPECT_LE(std::fabs(got - want), std::fabs(want) * 0x1.01p-8)
          << test.name << " of " << wide(x[i]);
    }
  }
}

} // namespace
