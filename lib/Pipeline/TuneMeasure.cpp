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

namespace {
/// The code of a kernel with some bindings, and its arguments.
class MeasuredKernel {
public:
  /// Returns nothing if the kernel cannot be lowered or run.
  static std::optional<MeasuredKernel> create(tile::KernelOp kernel,
                                              const TuneBindings &bindings,
                                              const TuneContext &context);
  /// Returns the least cost of a few runs.
  TuneCost measure();

private:
  bool find(tile::KernelOp kernel);

  std::unique_ptr<llvm::orc::LLJIT> jit;
  adze_kernel_fn body = nullptr;
  SmallVector<int64_t> symbols;
  int64_t programs = 0;
  std::vector<Buffer> arguments;
  std::vector<void *> pointers;
  std::optional<Buffer> scratch;
};
} // namespace

bool MeasuredKernel::find(tile::KernelOp kernel) {
  std::string name = kernel.getSymName().str();
  auto lookup = [&](StringRef suffix) -> void * {
    auto symbol = jit->lookup(name + suffix.str());
    if (symbol)
      return symbol->toPtr<void *>();
    llvm::consumeError(symbol.takeError());
    return nullptr;
  };
  body = reinterpret_cast<adze_kernel_fn>(lookup(""));
  auto count = reinterpret_cast<adze_formula_fn>(lookup("_programs"));
  auto scratchBytes = reinterpret_cast<adze_formula_fn>(lookup("_scratch"));
  if (!body || !count)
    return false;
  programs = count(symbols.data());
  scratch.emplace(scratchBytes ? scratchBytes(symbols.data()) : 0);
  return true;
}

std::optional<MeasuredKernel>
MeasuredKernel::create(tile::KernelOp kernel, const TuneBindings &bindings,
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
  MeasuredKernel measured;
  measured.jit = std::move(*jit);
  measured.symbols = context.symbols;
  auto arguments = makeArguments(kernel, context.symbols);
  if (!arguments || !measured.find(kernel))
    return std::nullopt;
  measured.arguments = std::move(*arguments);
  for (Buffer &argument : measured.arguments)
    measured.pointers.push_back(argument.get());
  return measured;
}

TuneCost MeasuredKernel::measure() {
  double ns = timeRuns([&] {
    body(pointers.data(), symbols.data(), 0, programs, scratch->get(), nullptr);
  });
  return getTuneCost(ns, programs);
}

std::optional<TuneCost> measureCost(tile::KernelOp kernel,
                                    const TuneBindings &bindings,
                                    const TuneContext &context) {
  auto measured = MeasuredKernel::create(kernel, bindings, context);
  return measured ? std::optional(measured->measure()) : std::nullopt;
}

bool isFaster(tile::KernelOp kernel, const TuneBindings &candidate,
              const TuneBindings &other, const TuneContext &context) {
  constexpr int rounds = 4;
  auto ours = MeasuredKernel::create(kernel, candidate, context),
       theirs = MeasuredKernel::create(kernel, other, context);
  if (!ours || !theirs)
    return false;
  auto least = [](const TuneCost &a, const TuneCost &b) {
    return a.sequential < b.sequential ? a : b;
  };
  TuneCost ourCost = ours->measure(), theirCost = theirs->measure();
  for (int i = 1; i < rounds; ++i) {
    ourCost = least(ourCost, ours->measure());
    theirCost = least(theirCost, theirs->measure());
  }
  return ourCost.isBetterThan(theirCost);
}

} // namespace adze
