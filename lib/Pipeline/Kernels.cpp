// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles kernels as separate compilation units.
#include "Kernels.h"
#include "Dialect/Tile/IR/Faults.h"
#include "Support/ParallelUnits.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <chrono>

using namespace mlir;

namespace adze {

/// Collects the kernel, its parts, and the symbols that they refer to.
static void collectNeeded(SymbolTable &symbols, StringRef name,
                          llvm::SetVector<Operation *> &needed) {
  auto need = [&](Operation *op) {
    if (op)
      needed.insert(op);
  };
  size_t first = needed.size();
  need(symbols.lookup(name));
  need(symbols.lookup((name + "_programs").str()));
  need(symbols.lookup((name + "_scratch").str())); // of a lowered kernel
  for (size_t i = first; i < needed.size(); ++i)
    if (auto uses = SymbolTable::getSymbolUses(needed[i]))
      for (SymbolTable::SymbolUse use : *uses)
        need(symbols.lookup(use.getSymbolRef().getRootReference()));
}

void eraseLoweredKernels(ModuleOp module, ArrayRef<StringRef> names) {
  SymbolTable symbols(module);
  llvm::SetVector<Operation *> needed;
  for (StringRef name : names)
    collectNeeded(symbols, name, needed);
  for (Operation *op : needed)
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
        function && !function.isExternal())
      symbols.erase(op);
}

/// Estimates the compile time, in ops of scalar loops.
static size_t getWeight(ArrayRef<Operation *> ops,
                        const StageOptions &options) {
  // A tile becomes many vectors, which take LLVM long.
  const size_t tile = options.quickCode ? 1 : 1000;
  size_t weight = 0;
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      weight += isa<tile::KernelOp>(inner) ? tile : 1;
    });
  return weight;
}

std::vector<KernelUnit> cloneKernels(ModuleOp module, ArrayRef<StringRef> names,
                                     const llvm::StringSet<> &light,
                                     Attribute target,
                                     const StageOptions &options) {
  constexpr size_t mostWeight = 400;
  SymbolTable symbols(module);
  std::vector<KernelUnit> units;
  llvm::SetVector<Operation *> needed; // of the last unit
  size_t weight = 0;
  auto finish = [&] {
    for (Operation *op : needed)
      units.back().module->push_back(op->clone());
    needed.clear();
  };
  for (StringRef name : names) {
    llvm::SetVector<Operation *> own;
    collectNeeded(symbols, name, own);
    size_t more = getWeight(own.getArrayRef(), options);
    bool isLight = light.contains(name);
    if (units.empty() || weight + more > mostWeight ||
        units.back().isLight != isLight) {
      if (!units.empty())
        finish();
      weight = 0;
      units.push_back({{},
                       ModuleOp::create(own.empty() ? module.getLoc()
                                                    : own.front()->getLoc()),
                       isLight});
      tile::setTargets(*units.back().module, target);
    }
    weight += more;
    units.back().names.push_back(name.str());
    needed.insert_range(own);
  }
  if (!units.empty())
    finish();
  return units;
}

LogicalResult compileLLVMModule(ModuleOp module, const cpu::CpuTarget &target,
                                unsigned optLevel, StringRef rename,
                                SmallVectorImpl<char> &object) {
  llvm::LLVMContext context;
  // The name would depend on the machine of the compilation.
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "adze");
  if (!llvmModule)
    return module.emitError("translation to LLVM IR failed");
  if (!rename.empty())
    for (llvm::Function &function : *llvmModule)
      if (!function.isDeclaration() && !function.hasLocalLinkage())
        function.setName(rename + function.getName());
  if (llvm::Error error =
          cpu::emitObject(*llvmModule, target, optLevel, object))
    return module.emitError(llvm::toString(std::move(error)));
  return success();
}

static LogicalResult
compileUnit(KernelUnit &unit, const StageOptions &options,
            const cpu::CpuTarget &target, StringRef prefix,
            llvm::function_ref<LogicalResult(PassManager &)> complete,
            KernelObject &result) {
  PassManager manager(unit.module->getContext());
  // Verifying thousands of ops after each pass takes as long as the passes.
  manager.enableVerifier(false);
  StageOptions own = options;
  own.plainKernels &= llvm::none_of(unit.names, [&](const std::string &name) {
    return options.fastKernels.count(name);
  });
  own.plainKernels |= tile::isLoweredByOp(*unit.module);
  buildStage(Stage::Kernel, manager, own);
  if (failed(complete(manager)) || failed(manager.run(*unit.module)) ||
      failed(verify(*unit.module)))
    return failure();
  SymbolTable symbols(*unit.module);
  for (const std::string &name : unit.names) {
    std::string symbol = (prefix + name).str();
    bool hasScratch = symbols.lookup(name + "_scratch");
    result.kernels.push_back(
        {symbol, symbol + "_programs", hasScratch ? symbol + "_scratch" : ""});
  }
  unsigned level = options.getCodeLevel();
  auto start = std::chrono::steady_clock::now();
  LogicalResult compiled = compileLLVMModule(
      *unit.module, target, unit.isLight ? std::min(level, 1u) : level, prefix,
      result.object);
  result.isLight = unit.isLight;
  result.llvmSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  unit.module = nullptr; // frees memory for the next ones
  return compiled;
}

/// Returns the indices of the units, the longest first, so that no thread
/// begins a long one when the others are done.
static SmallVector<size_t> orderByLength(MutableArrayRef<KernelUnit> units) {
  using Length = std::tuple<bool, size_t, size_t>; // light, ~ops, index
  SmallVector<Length> lengths;
  for (auto [index, unit] : llvm::enumerate(units)) {
    size_t numOps = 0;
    unit.module->walk([&](Operation *) { ++numOps; });
    lengths.push_back({unit.isLight, ~numOps, index});
  }
  llvm::sort(lengths);
  return llvm::map_to_vector(
      lengths, [](const Length &length) { return std::get<2>(length); });
}

FailureOr<std::vector<KernelObject>>
compileKernels(std::vector<KernelUnit> units, const StageOptions &options,
               const cpu::CpuTarget &target, StringRef prefix,
               llvm::function_ref<LogicalResult(PassManager &)> complete,
               llvm::function_ref<void(const KernelUnit &)> finished) {
  std::vector<KernelObject> objects(units.size());
  if (units.empty())
    return objects;
  MLIRContext *context = units.front().module->getContext();
  SmallVector<size_t> order = orderByLength(units);
  LogicalResult result =
      parallelForUnits(context, units.size(), [&](size_t position) {
        size_t index = order[position];
        if (failed(compileUnit(units[index], options, target, prefix, complete,
                               objects[index])))
          return failure();
        finished(units[index]);
        return success();
      });
  if (failed(result))
    return failure();
  return objects;
}

} // namespace adze
