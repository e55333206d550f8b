// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Measures the time of a kernel in this process.
#include "Dialect/Host/IR/Host.h"
#include "JITLoad.h"
#include "Kernels.h"
#include "Support/PackedLayout.h"
#include "Tune.h"
#include "adze_module.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/APInt.h"

using namespace mlir;

namespace adze {

namespace {
/// Zeroed memory, aligned to 64 bytes.
class Buffer {
public:
  explicit Buffer(uint64_t bytes) : storage(bytes + 64) {}
  void *get() {
    return reinterpret_cast<void *>(
        llvm::alignAddr(storage.data(), llvm::Align(64)));
  }

private:
  std::vector<char> storage;
};
} // namespace

/// Zeros are valid numbers and indices, and as fast as any others.
static std::optional<std::vector<Buffer>>
makeArguments(tile::KernelOp kernel, ArrayRef<int64_t> symbols) {
  constexpr int64_t most = int64_t(1) << 30;
  std::vector<Buffer> arguments;
  auto function = cast<FunctionOpInterface>(kernel.getOperation());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto dims = getArgumentDims(kernel, i, symbols);
    if (!dims)
      return std::nullopt;
    auto type = cast<MemRefType>(function.getArgumentTypes()[i]);
    SmallVector<int64_t> stored = *dims;
    if (!type.getLayout().isIdentity())
      stored = getPackedShape(*dims, type.getLayout().getAffineMap());
    int64_t bytes =
        std::max(8u, type.getElementType().getIntOrFloatBitWidth()) / 8;
    for (int64_t size : stored)
      if (llvm::MulOverflow(bytes, size, bytes) || bytes > most)
        return std::nullopt;
    arguments.emplace_back(bytes);
  }
  return arguments;
}

/// Returns the least time of a few runs, which take some milliseconds together.
static double timeRuns(llvm::function_ref<void()> run) {
  using Clock = std::chrono::steady_clock;
  double least = INFINITY, total = 0;
  for (unsigned count = 0; count < 3 || (total < 2e7 && count < 50); ++count) {
    Clock::time_point begin = Clock::now();
    run();
    double ns =
        std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    least = std::min(least, ns);
    total += ns;
  }
  return least;
}

static std::optional<double> timeKernel(llvm::orc::LLJIT &jit,
                                        tile::KernelOp kernel,
                                        const TuneContext &context) {
  std::string name = kernel.getSymName().str();
  auto find = [&](StringRef suffix) -> void * {
    auto symbol = jit.lookup(name + suffix.str());
    if (symbol)
      return symbol->toPtr<void *>();
    llvm::consumeError(symbol.takeError());
    return nullptr;
  };
  auto body = reinterpret_cast<adze_kernel_fn>(find(""));
  auto programs = reinterpret_cast<adze_formula_fn>(find("_programs"));
  auto scratchBytes = reinterpret_cast<adze_formula_fn>(find("_scratch"));
  auto arguments = makeArguments(kernel, context.symbols);
  if (!body || !programs || !arguments)
    return std::nullopt;
  std::vector<void *> pointers;
  for (Buffer &argument : *arguments)
    pointers.push_back(argument.get());
  const int64_t *symbols = context.symbols.data();
  Buffer scratch(scratchBytes ? scratchBytes(symbols) : 0);
  int64_t count = programs(symbols);
  double ns = timeRuns([&] {
    body(pointers.data(), symbols, 0, count, scratch.get(), nullptr);
  });
  // With fewer programs than cores, some cores are idle; with eight cores, the
  // last one ends with its last program.
  constexpr int64_t cores = 8;
  return ns * double(llvm::divideCeil(std::max<int64_t>(count, 1), cores)) *
         cores / double(std::max<int64_t>(count, 1));
}

std::optional<double> measureCost(tile::KernelOp kernel,
                                  const TuneBindings &bindings,
                                  const TuneContext &context) {
  if (llvm::Error refused = context.target.requestRegisters()) {
    llvm::consumeError(std::move(refused));
    return std::nullopt;
  }
  OwningOpRef<ModuleOp> module = cloneBound(kernel, bindings);
  PassManager manager(kernel.getContext());
  buildStage(Stage::Kernel, manager, context.stageOptions);
  SmallVector<char, 0> object;
  if (failed(manager.run(*module)) ||
      failed(compileLLVMModule(*module, context.target,
                               context.stageOptions.optLevel, "", object)))
    return std::nullopt;
  auto jit =
      loadObject(StringRef(object.data(), object.size()), context.target);
  if (!jit) {
    llvm::consumeError(jit.takeError());
    return std::nullopt;
  }
  return timeKernel(**jit, kernel, context);
}

} // namespace adze
