// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Evaluates constants at compile time, by the reference path.
#include "Pipeline/JITEvaluator.h"
#include "Describe.h"
#include "Dialect/Graph/IR/Blob.h"
#include "JITLoad.h"
#include "Kernels.h"
#include "LightKernels.h"
#include "Package/Package.h"
#include "Support/ConstantEvaluator.h"
#include "adze_module.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include <deque>

using namespace mlir;

namespace adze {

namespace {
class JITEvaluator final : public ConstantEvaluator {
public:
  using ConstantEvaluator::ConstantEvaluator;

  LogicalResult
  evaluate(ModuleOp module,
           SmallVectorImpl<std::vector<char>> &results) const override;
};

/// The state of the calls of the host program: a single-threaded part of the
/// run time.
struct Execution {
  struct Kernel {
    adze_kernel_fn body;
    adze_formula_fn programs;
    adze_formula_fn scratchBytes; // may be null
  };
  std::vector<Kernel> kernels; // by launch
  std::deque<std::vector<uint64_t>> scratch;
  std::string failure;
};

/// Memory aligned to 64 bytes.
class AlignedMemory {
public:
  explicit AlignedMemory(uint64_t bytes) : bytes(bytes + 64) {}
  void *get() {
    return reinterpret_cast<void *>(
        llvm::alignAddr(bytes.data(), llvm::Align(64)));
  }

private:
  std::vector<char> bytes;
};
} // namespace

static int32_t launchKernel(adze_exec *exec, uint32_t number,
                            void *const *pointers) {
  auto &execution = *reinterpret_cast<Execution *>(exec);
  const Execution::Kernel &kernel = execution.kernels[number];
  AlignedMemory scratch(kernel.scratchBytes ? kernel.scratchBytes(nullptr) : 0);
  kernel.body(pointers, nullptr, 0, kernel.programs(nullptr), scratch.get(),
              nullptr);
  return 0;
}

static int32_t copyBytes(adze_exec *, void *to, const void *from,
                         uint64_t bytes) {
  memcpy(to, from, bytes);
  return 0;
}

static void *allocateBytes(adze_exec *exec, uint64_t bytes) {
  auto &execution = *reinterpret_cast<Execution *>(exec);
  auto &memory = execution.scratch.emplace_back(bytes / 8 + 8);
  return reinterpret_cast<void *>(
      llvm::alignAddr(memory.data(), llvm::Align(64)));
}

static int32_t recordFailure(adze_exec *exec, const char *node,
                             const char *message) {
  auto &execution = *reinterpret_cast<Execution *>(exec);
  execution.failure = std::string(node) + ": " + message;
  return 1;
}

/// Returns the names of the kernels that compute for so long that it is worth
/// to optimize their code.
static llvm::StringSet<> findHeavyKernels(func::FuncOp program) {
  // In bytes from memory: unoptimized code takes some 50 ms for that.
  constexpr double mostUnoptimized = 4e6;
  llvm::StringMap<double> times;
  for (host::LaunchOp launch : getLaunches(program))
    times[launch.getCallee()] += estimateTime(launch, /*symbols=*/{});
  SmallVector<std::pair<double, StringRef>> order;
  for (const auto &entry : times)
    order.push_back({entry.second, entry.first()});
  llvm::sort(order);
  llvm::StringSet<> heavy;
  double sum = 0;
  for (auto [time, name] : order)
    if ((sum += time) > mostUnoptimized)
      heavy.insert(name);
  return heavy;
}

/// Keeps LLVM from optimizing what runs once and not for long.
static void optimizeOnly(const llvm::StringSet<> &kernels, ModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    StringRef kernel = function.getName();
    kernel.consume_back(".body");
    if (function.isExternal() || kernels.contains(kernel))
      continue;
    function.setOptimizeNone(true);
    function.setNoInline(true);
  }
}

/// Lowers the module to the LLVM dialect; the host program as it was planned
/// goes to `description` and `weights`.
static LogicalResult lower(ModuleOp module,
                           package::ModuleDescription &description,
                           std::vector<package::Weight> &weights,
                           SmallVectorImpl<std::string> &kernels) {
  StageOptions options;
  options.optLevel = 0;
  options.foldConstants = false;
  auto run = [&](ArrayRef<Stage> stages) {
    PassManager manager(module.getContext());
    for (Stage stage : stages)
      buildStage(stage, manager, options);
    return manager.run(module);
  };
  if (failed(run({Stage::Graph, Stage::Tile, Stage::Linalg, Stage::Host})))
    return failure();
  FailureOr<func::FuncOp> program = findHostProgram(module);
  std::string digest;
  if (failed(program) || failed(describe(*program, description)) ||
      failed(collectWeights(*program, /*offset=*/0, weights, digest)))
    return failure();
  for (host::LaunchOp launch : getLaunches(*program))
    kernels.push_back(launch.getCallee().str());
  llvm::StringSet<> heavy = findHeavyKernels(*program);
  if (failed(run({Stage::Kernel, Stage::LLVM})))
    return failure();
  optimizeOnly(heavy, module);
  return success();
}

/// Runs the loaded program; outputs are written to `results`.
static llvm::Error run(llvm::orc::LLJIT &jit, ArrayRef<std::string> kernels,
                       const package::ModuleDescription &description,
                       std::vector<package::Weight> &weights,
                       MutableArrayRef<std::vector<char>> results) {
  auto find = [&](const llvm::Twine &name, auto &function) -> llvm::Error {
    auto symbol = jit.lookup(name.str());
    if (!symbol)
      return symbol.takeError();
    function = symbol->toPtr<std::remove_reference_t<decltype(function)>>();
    return llvm::Error::success();
  };
  Execution execution;
  for (const std::string &name : kernels) {
    Execution::Kernel kernel = {};
    if (llvm::Error error = find(name, kernel.body))
      return error;
    if (llvm::Error error = find(name + "_programs", kernel.programs))
      return error;
    // Only kernels with allocations have this function.
    llvm::consumeError(find(name + "_scratch", kernel.scratchBytes));
    execution.kernels.push_back(kernel);
  }
  adze_run_fn program;
  adze_formula_fn arenaBytes;
  if (llvm::Error error = find("adze_run", program))
    return error;
  if (llvm::Error error = find("adze_arena_bytes", arenaBytes))
    return error;

  AlignedMemory arena(arenaBytes(nullptr));
  AlignedMemory constants(description.weightsSize);
  for (package::Weight &weight : weights) {
    llvm::SmallString<0> bytes;
    llvm::raw_svector_ostream os(bytes);
    if (llvm::Error error = weight.write(os))
      return error;
    memcpy(static_cast<char *>(constants.get()) + weight.offset, bytes.data(),
           bytes.size());
  }
  std::vector<void *> outputs;
  for (std::vector<char> &result : results)
    outputs.push_back(result.data());
  // Constants have no data-dependent sizes, so other functions are not used.
  adze_host_table table = {};
  table.size = offsetof(adze_host_table, read);
  table.abi = ADZE_MODULE_ABI;
  table.launch = launchKernel;
  table.copy = copyBytes;
  table.alloc = allocateBytes;
  table.fail = recordFailure;
  int32_t code =
      program(&table, reinterpret_cast<adze_exec *>(&execution), nullptr,
              outputs.data(), arena.get(), constants.get(), nullptr);
  if (code)
    return llvm::createStringError(execution.failure);
  return llvm::Error::success();
}

LogicalResult
JITEvaluator::evaluate(ModuleOp module,
                       SmallVectorImpl<std::vector<char>> &results) const {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return module.emitError("expected @main to evaluate");
  SmallVector<std::vector<char>> bytes;
  for (Type type : main.getResultTypes())
    bytes.emplace_back(graph::getNumBytes(cast<ShapedType>(type)));
  Location loc = main.getLoc();

  auto target = cpu::CpuTarget::resolve("", "native");
  if (!target)
    return emitError(loc, llvm::toString(target.takeError()));
  package::ModuleDescription description;
  std::vector<package::Weight> weights;
  SmallVector<std::string> kernels;
  SmallVector<char, 0> object;
  if (failed(lower(module, description, weights, kernels)) ||
      failed(compileLLVMModule(module, *target, /*optLevel=*/1, "", object)))
    return failure();
  auto jit = loadObject(StringRef(object.data(), object.size()), *target);
  if (!jit)
    return emitError(loc, llvm::toString(jit.takeError()));
  if (llvm::Error error = run(**jit, kernels, description, weights, bytes))
    return emitError(loc, llvm::toString(std::move(error)));
  for (std::vector<char> &result : bytes)
    results.push_back(std::move(result));
  return success();
}

void registerConstantEvaluator(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, graph::GraphDialect *dialect) {
    dialect->addInterfaces<JITEvaluator>();
  });
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

} // namespace adze
