// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs tile kernels as lowered by convert-tile-to-vector and by
// convert-tile-to-linalg on the same random data, and compares all memory.
#include "Conversion/Passes.h"
#include "Dialect/Tile/IR/Tile.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "InitAll.h"
#include "Package/Package.h"
#include "Pipeline/Stages.h"
#include "Target/CPU/CpuTarget.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace adze;

namespace {
using KernelFn = void (*)(void *const *, const int64_t *, int64_t, int64_t,
                          void *);
using FormulaFn = int64_t (*)(const int64_t *);

/// Values of the symbols in the dims of the test kernels.
constexpr int64_t symbols[] = {37, 29, 21};

/// The number of guard elements before and after each argument, which must not
/// change.
constexpr int64_t guard = 1024;

/// A kernel argument: its element type and its size in memory.
struct Argument {
  Type element;
  int64_t elements;
  int64_t bytes() const {
    return elements * ((element.getIntOrFloatBitWidth() + 7) / 8);
  }
};

struct Compiled {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::map<std::string, std::vector<Argument>> kernels;
};

int64_t evaluate(AffineExpr dim, MLIRContext *context) {
  SmallVector<AffineExpr> values;
  for (int64_t symbol : symbols)
    values.push_back(getAffineConstantExpr(symbol, context));
  auto value = dyn_cast<AffineConstantExpr>(
      simplifyAffineExpr(dim.replaceSymbols(values), 0, 0));
  return value ? value.getValue() : -1;
}

std::map<std::string, std::vector<Argument>> signatures(ModuleOp module) {
  std::map<std::string, std::vector<Argument>> result;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr("adze.kernel"))
      continue;
    std::vector<Argument> &arguments = result[function.getName().str()];
    for (unsigned i = 0; i + 2 < function.getNumArguments(); ++i) {
      auto type = cast<MemRefType>(function.getArgument(i).getType());
      auto dims = function.getArgAttrOfType<AffineMapAttr>(i, "adze.dims");
      int64_t elements = 1;
      for (int64_t d = 0; d < type.getRank(); ++d)
        elements *=
            type.isDynamicDim(d)
                ? evaluate(dims.getValue().getResult(d), module.getContext())
                : type.getDimSize(d);
      arguments.push_back({type.getElementType(), elements});
    }
  }
  return result;
}

class TileKernels : public ::testing::Test {
protected:
  TileKernels() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    adze::registerAllDialects(registry);
    registerAllToLLVMIRTranslations(registry);
    context.appendDialectRegistry(registry);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  }

  /// If `vectorBytes` is 0, lowers through linalg.
  Compiled compile(StringRef file, int64_t vectorBytes, std::string params) {
    Compiled result;
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
    if (!module)
      return result;
    PassManager tiles(&context), rest(&context);
    tile::TileSpecializeOptions bindings;
    bindings.params = params;
    tiles.addPass(tile::createTileSpecialize(bindings));
    StageOptions stage;
    if (vectorBytes == 0) {
      tiles.addPass(createConvertTileToLinalg());
      rest.addPass(createCanonicalizerPass());
      rest.addPass(bufferization::createOneShotBufferizePass());
      rest.addPass(createReconcileUnrealizedCastsPass());
    } else {
      tile::setTargets(
          *module, tile::CpuTargetAttr::get(&context, "generic", vectorBytes,
                                            {1 << 20, 32 << 20},
                                            /*flopsPerByte=*/8, {}, {}, {}));
      tiles.addPass(createConvertTileToVector());
    }
    buildKernelStage(rest, stage);
    if (failed(tiles.run(*module)))
      return result;
    result.kernels = signatures(*module);
    if (failed(rest.run(*module)))
      return result;
    auto llvmContext = std::make_unique<llvm::LLVMContext>();
    std::unique_ptr<llvm::Module> code =
        translateModuleToLLVMIR(*module, *llvmContext);
    auto target = cpu::CpuTarget::resolve("", "native");
    if (!code || !target)
      return result;
    code->setDataLayout(target->createMachine(1)->createDataLayout());
    code->setTargetTriple(llvm::Triple(target->triple));
    SmallVector<char, 0> object;
    llvm::cantFail(cpu::emitObject(*code, *target, 1, object));
    result.jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    StringRef bytes(object.data(), object.size());
    for (StringRef part : {package::supportObject(target->elfMachine), bytes})
      llvm::cantFail(result.jit->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(part, "kernels")));
    return result;
  }

  /// Runs up to `most` programs from each end of the grid on new random memory,
  /// and returns the memory.
  std::vector<std::vector<char>> run(Compiled &compiled,
                                     const std::string &name, int64_t most) {
    std::mt19937 random(7);
    std::vector<std::vector<char>> memory;
    std::vector<void *> pointers;
    for (const Argument &argument : compiled.kernels[name]) {
      int64_t width =
          argument.bytes() / std::max<int64_t>(argument.elements, 1);
      memory.emplace_back(argument.bytes() + 2 * guard * width);
      fill(memory.back().data(), argument, argument.elements + 2 * guard,
           random);
    }
    for (auto [bytes, argument] : llvm::zip(memory, compiled.kernels[name]))
      pointers.push_back(bytes.data() + (bytes.size() - argument.bytes()) / 2);
    auto body = llvm::cantFail(compiled.jit->lookup(name)).toPtr<KernelFn>();
    auto count = llvm::cantFail(compiled.jit->lookup(name + "_programs"))
                     .toPtr<FormulaFn>();
    std::vector<char> scratch(16 << 20);
    void *aligned = reinterpret_cast<void *>(
        llvm::alignAddr(scratch.data(), llvm::Align(64)));
    int64_t programs = count(symbols), low = std::min(most, programs);
    body(pointers.data(), symbols, 0, low, aligned);
    body(pointers.data(), symbols, std::max(low, programs - most), programs,
         aligned);
    return memory;
  }

  static void fill(char *bytes, const Argument &argument, int64_t count,
                   std::mt19937 &random) {
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < count; ++i) {
      if (argument.element.isF64()) {
        reinterpret_cast<double *>(bytes)[i] = normal(random);
      } else if (argument.element.isF32()) {
        reinterpret_cast<float *>(bytes)[i] = normal(random);
      } else if (isa<FloatType>(argument.element)) {
        // 1.x of either sign in both 16-bit formats
        uint16_t one = argument.element.isF16() ? 0x3C00 : 0x3F80;
        reinterpret_cast<uint16_t *>(bytes)[i] = one | (random() & 0x807F);
      } else {
        int64_t value = random() % 8;
        memcpy(bytes + i * (argument.element.getIntOrFloatBitWidth() / 8),
               &value, argument.element.getIntOrFloatBitWidth() / 8);
      }
    }
  }

  /// Returns the greatest difference, relative to the greatest element.
  static double difference(const std::vector<char> &x,
                           const std::vector<char> &y, Type element) {
    if (!isa<FloatType>(element))
      return x == y ? 0 : INFINITY;
    auto value = [&](const std::vector<char> &from, size_t i) -> double {
      if (element.isF64())
        return reinterpret_cast<const double *>(from.data())[i];
      if (element.isF32())
        return reinterpret_cast<const float *>(from.data())[i];
      APFloat half(
          cast<FloatType>(element).getFloatSemantics(),
          APInt(16, reinterpret_cast<const uint16_t *>(from.data())[i]));
      bool lost;
      half.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      return half.convertToDouble();
    };
    double worst = 0, range = 0;
    for (size_t i = 0, e = x.size() * 8 / element.getIntOrFloatBitWidth();
         i < e; ++i) {
      double a = value(x, i), b = value(y, i);
      if (std::isnan(a) != std::isnan(b) || std::isinf(a) != std::isinf(b))
        return INFINITY;
      if (!std::isfinite(b))
        continue;
      worst = std::max(worst, std::fabs(a - b));
      range = std::max(range, std::fabs(b));
    }
    return worst / std::max(range, 1e-30);
  }

  /// All kernels of a file compute the same numbers with both lowerings, and
  /// write only to their arguments (the guards are compared as well).
  void compare(StringRef file, std::string params = "", int64_t most = 1000) {
    Compiled plain = compile(file, 0, params);
    ASSERT_TRUE(plain.jit) << file.str();
    auto cpu = llvm::cantFail(cpu::CpuTarget::resolve("", "native"));
    for (int64_t bytes : {64, 32, 16}) {
      if (8 * bytes > cpu.vectorBits()) // LLVM cannot divide all of their ops
        continue;
      Compiled fast = compile(file, bytes, params);
      ASSERT_TRUE(fast.jit) << file.str() << " at " << bytes;
      for (auto &[name, arguments] : fast.kernels) {
        auto want = run(plain, name, most), got = run(fast, name, most);
        for (size_t i = 0; i < arguments.size(); ++i)
          EXPECT_LT(difference(got[i], want[i], arguments[i].element),
                    arguments[i].element.getIntOrFloatBitWidth() == 16 ? 1e-2
                                                                       : 3e-5)
              << name << ", argument " << i << ", vectors of " << bytes
              << " bytes";
      }
    }
  }

  MLIRContext context;
};

/// The functions of math-approximate against the C library in f64, in ulp of
/// the result.
TEST_F(TileKernels, Functions) {
  struct Case {
    const char *name;
    double (*function)(double);
    double ulps;
  };
  const Case cases[] = {
      {"f_exp", std::exp, 2.0},     {"f_log", std::log, 2.0},
      {"f_sin", std::sin, 2.0},     {"f_cos", std::cos, 2.0},
      {"f_tanh", std::tanh, 2.0},   {"f_erf", std::erf, 2.0},
      {"f_expm1", std::expm1, 2.0}, {"f_log1p", std::log1p, 2.0}};
  Compiled compiled = compile(KERNELS "/functions.mlir", 32, "");
  ASSERT_TRUE(compiled.jit);
  for (const Case &test : cases) {
    auto memory = run(compiled, test.name, 1);
    auto *x = reinterpret_cast<const float *>(memory[0].data()) + guard;
    auto *y = reinterpret_cast<const float *>(memory[1].data()) + guard;
    for (int64_t i = 0; i < 4096; ++i) {
      double want = test.function(double(x[i] * 8.0f));
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(y[i])) << test.name << " of " << x[i] * 8.0f;
        continue;
      }
      float size = std::fabs(float(want));
      double unit = std::nextafter(size, INFINITY) - size;
      EXPECT_LE(std::fabs(y[i] - want), test.ulps * unit)
          << test.name << " of " << x[i] * 8.0f;
    }
  }
}

TEST_F(TileKernels, Windows) { compare(KERNELS "/windows.mlir"); }
TEST_F(TileKernels, Compute) { compare(KERNELS "/compute.mlir"); }
TEST_F(TileKernels, Staged) { compare(KERNELS "/staged.mlir"); }
TEST_F(TileKernels, Gemm) {
  compare(EXAMPLES "/gemm-bias-gelu.mlir", "BLOCK_M=24,BLOCK_N=64,BLOCK_K=100",
          2);
}
TEST_F(TileKernels, Conv) { compare(EXAMPLES "/conv3x3.mlir", "BLOCK_P=9", 4); }
TEST_F(TileKernels, Depthwise) {
  compare(EXAMPLES "/depthwise3x3.mlir", "", 4);
}
TEST_F(TileKernels, Softmax) {
  compare(EXAMPLES "/softmax.mlir", "ROWS=5,COLS=32");
}
TEST_F(TileKernels, Attention) {
  compare(EXAMPLES "/attention.mlir", "BLOCK_M=20,BLOCK_N=64", 2);
}
} // namespace
