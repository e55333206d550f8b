// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Measures the hand-written tile kernels of examples/kernels on one core, and a
// burst of register-only multiply-adds immediately before and after the samples
// of each: `of_fma` is the kernel's rate as a fraction of the burst's. Flags are
// those of Google Benchmark.
#include "Conversion/Passes.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "InitAll.h"
#include "Package/Package.h"
#include "Pipeline/Stages.h"
#include "Support/FmaBurst.h"
#include "Target/CPU/CpuTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <benchmark/benchmark.h>
#include <chrono>

using namespace mlir;
using namespace adze;

namespace {
using KernelFn = void (*)(void *const *, const int64_t *, int64_t, int64_t,
                          void *);
using FormulaFn = int64_t (*)(const int64_t *);

/// The value of each symbol of the kernels' sizes.
constexpr int64_t symbols[] = {1024, 1024, 1024, 1024};

struct Kernel {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  KernelFn body = nullptr;
  int64_t programs = 0;
  std::vector<std::vector<float>> memory;
  std::vector<float> scratch;
  std::vector<void *> pointers;
};

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Returns the GFLOP/s of multiply-adds on registers, over about `seconds`.
double burst(double seconds) {
  double (*steps)(int) = fmaBurst();
  double operations = 0, begin = now(), end;
  do
    operations += steps(2000);
  while ((end = now()) < begin + seconds);
  return operations / (end - begin) * 1e-9;
}

/// Returns the size of an argument in memory for the values of the symbols.
int64_t sizeOf(func::FuncOp function, unsigned i) {
  auto type = cast<MemRefType>(function.getArgument(i).getType());
  auto dims = function.getArgAttrOfType<AffineMapAttr>(i, "adze.dims");
  MLIRContext *context = function.getContext();
  SmallVector<AffineExpr> values;
  for (int64_t symbol : symbols)
    values.push_back(getAffineConstantExpr(symbol, context));
  int64_t elements = 1;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d)) {
      elements *= type.getDimSize(d);
      continue;
    }
    AffineExpr size = dims.getValue().getResult(d).replaceSymbols(values);
    elements *=
        cast<AffineConstantExpr>(simplifyAffineExpr(size, 0, 0)).getValue();
  }
  return elements;
}

Kernel compile(MLIRContext &context, StringRef name, std::string params) {
  Kernel result;
  std::string file = (KERNELS "/" + name + ".mlir").str();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  llvm::Expected<cpu::CpuTarget> target = cpu::CpuTarget::resolve("", "native");
  if (!module || !target)
    llvm::report_fatal_error("expected a kernel and a known CPU");
  PassManager tiles(&context), rest(&context);
  tile::TileSpecializeOptions bindings;
  bindings.params = std::move(params);
  tiles.addPass(tile::createTileSpecialize(bindings));
  ConvertTileToVectorOptions options;
  options.vectorBytes = target->vectorBits() / 8;
  tiles.addPass(createConvertTileToVector(options));
  StageOptions stage;
  stage.vectorBits = target->vectorBits();
  buildKernelStage(rest, stage);
  if (failed(tiles.run(*module)))
    llvm::report_fatal_error("expected a kernel that lowers");
  std::string symbol;
  for (auto function : module->getOps<func::FuncOp>()) {
    if (!function->hasAttr("adze.kernel"))
      continue;
    symbol = function.getName().str();
    for (unsigned i = 0; i + 2 < function.getNumArguments(); ++i)
      result.memory.emplace_back(sizeOf(function, i) + 16, 0.5f);
  }
  if (failed(rest.run(*module)))
    llvm::report_fatal_error("expected a kernel that lowers to LLVM");
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(*module, *llvmContext);
  SmallVector<char, 0> object;
  llvm::cantFail(cpu::emitObject(*code, *target, 2, object));
  result.jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  StringRef bytes(object.data(), object.size());
  for (StringRef part : {package::supportObject(target->elfMachine), bytes})
    llvm::cantFail(result.jit->addObjectFile(
        llvm::MemoryBuffer::getMemBufferCopy(part, "kernels")));
  result.body = llvm::cantFail(result.jit->lookup(symbol)).toPtr<KernelFn>();
  result.programs = llvm::cantFail(result.jit->lookup(symbol + "_programs"))
                        .toPtr<FormulaFn>()(symbols);
  result.scratch.resize(4 << 20);
  auto align = [](std::vector<float> &v) {
    return reinterpret_cast<void *>(llvm::alignAddr(v.data(), llvm::Align(64)));
  };
  for (std::vector<float> &argument : result.memory)
    result.pointers.push_back(align(argument));
  return result;
}

/// Runs the whole grid in each sample; the bursts before and after take as long.
void measure(benchmark::State &state, MLIRContext &context, StringRef name,
             const std::string &params, double flops) {
  Kernel kernel = compile(context, name, params);
  void *scratch = reinterpret_cast<void *>(
      llvm::alignAddr(kernel.scratch.data(), llvm::Align(64)));
  auto run = [&] {
    kernel.body(kernel.pointers.data(), symbols, 0, kernel.programs, scratch);
  };
  run();
  double least = 1e9, fastest = 0;
  for (auto _ : state) {
    double before = burst(2e-3), begin = now();
    run();
    double seconds = now() - begin;
    state.SetIterationTime(seconds);
    least = std::min(least, seconds);
    fastest = std::max({fastest, before, burst(2e-3)});
  }
  state.counters["GFLOPs"] = flops / least * 1e-9;
  state.counters["FMA_GFLOPs"] = fastest;
  state.counters["of_fma"] = flops / least * 1e-9 / fastest;
}
} // namespace

int main(int argc, char **argv) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  DialectRegistry registry;
  adze::registerAllDialects(registry);
  registerAllToLLVMIRTranslations(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  struct Case {
    const char *name, *params;
    double flops; // of the products
  };
  static const Case cases[] = {
      {"gemm-bias-gelu", "BLOCK_M=128,BLOCK_N=256,BLOCK_K=1024",
       2.0 * 1024 * 1024 * 1024},
      {"conv3x3", "BLOCK_P=14", 2.0 * 56 * 56 * 64 * 64 * 9}};
  for (const Case &c : cases)
    benchmark::RegisterBenchmark(c.name,
                                 [&context, &c](benchmark::State &state) {
                                   measure(state, context, c.name, c.params,
                                           c.flops);
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->MinTime(1.0);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
