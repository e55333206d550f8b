// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels as compilation units of their own.
#include "Kernels.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace adze {

std::vector<KernelUnit> cloneKernels(ModuleOp module,
                                     ArrayRef<StringRef> names) {
  SymbolTable symbols(module);
  std::vector<KernelUnit> units;
  for (StringRef name : names) {
    llvm::SetVector<Operation *> needed;
    auto need = [&](Operation *op) {
      if (op)
        needed.insert(op);
    };
    need(symbols.lookup(name));
    need(symbols.lookup((name + "_programs").str()));
    for (size_t i = 0; i < needed.size(); ++i)
      if (auto uses = SymbolTable::getSymbolUses(needed[i]))
        for (SymbolTable::SymbolUse use : *uses)
          need(symbols.lookup(use.getSymbolRef().getRootReference()));
    OwningOpRef<ModuleOp> unit = ModuleOp::create(
        needed.empty() ? module.getLoc() : needed.front()->getLoc());
    for (Operation *op : needed)
      unit->push_back(op->clone());
    units.push_back({name.str(), std::move(unit)});
  }
  return units;
}

LogicalResult compileLLVMModule(ModuleOp module, const cpu::CpuTarget &target,
                                unsigned optLevel, StringRef rename,
                                SmallVectorImpl<char> &object) {
  llvm::LLVMContext context;
  // The name would tell of the machine that the module was made on.
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
            llvm::function_ref<void(PassManager &)> instrument,
            KernelObject &result) {
  PassManager manager(unit.module->getContext());
  instrument(manager);
  buildStage(Stage::Kernel, manager, options);
  if (failed(manager.run(*unit.module)))
    return failure();
  auto symbol = [&](StringRef suffix) -> std::string {
    return (prefix + unit.name + suffix).str();
  };
  result.body = symbol("");
  result.programs = symbol("_programs");
  if (unit.module->lookupSymbol(unit.name + "_scratch"))
    result.scratchBytes = symbol("_scratch");
  LogicalResult compiled = compileLLVMModule(
      *unit.module, target, options.optLevel, prefix, result.object);
  unit.module = nullptr; // its memory is needed for the next ones
  return compiled;
}

FailureOr<std::vector<KernelObject>>
compileKernels(std::vector<KernelUnit> units, const StageOptions &options,
               const cpu::CpuTarget &target, StringRef prefix,
               llvm::function_ref<void(PassManager &)> instrument) {
  std::vector<KernelObject> objects(units.size());
  if (units.empty())
    return objects;
  MLIRContext *context = units.front().module->getContext();
  ParallelDiagnosticHandler ordered(context);
  LogicalResult result =
      failableParallelForEachN(context, 0, units.size(), [&](size_t index) {
        ordered.setOrderIDForThread(index);
        LogicalResult compiled = compileUnit(
            units[index], options, target, prefix, instrument, objects[index]);
        ordered.eraseOrderIDForThread();
        return compiled;
      });
  if (failed(result))
    return failure();
  return objects;
}

} // namespace adze
