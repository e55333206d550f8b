// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles the functions of a gpu.module for the host.
#include "Emulator.h"
#include "DeviceCalls.h"
#include "Package/Package.h"
#include "Target/CPU/CpuTarget.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace adze::test {

namespace {

/// An entry point with its arguments in one array of i64.
void addPackedEntry(LLVM::LLVMFuncOp function) {
  OpBuilder b(function->getContext());
  b.setInsertionPointAfter(function);
  Location loc = function.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {pointer});
  auto packed = LLVM::LLVMFuncOp::create(
      b, loc, ("emu_" + function.getName()).str(), type);
  b.setInsertionPointToEnd(packed.addEntryBlock(b));
  SmallVector<Value> arguments;
  for (auto [i, t] : llvm::enumerate(function.getArgumentTypes())) {
    Value at =
        LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(),
                            packed.getArgument(0), LLVM::GEPArg(int32_t(i)));
    arguments.push_back(LLVM::LoadOp::create(b, loc, t, at));
  }
  LLVM::CallOp::create(b, loc, function, arguments);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

/// Moves the device functions to a plain module.
OwningOpRef<ModuleOp> makeHostModule(ModuleOp from) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(from.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  for (auto device : from.getOps<gpu::GPUModuleOp>())
    for (Operation &op : *device.getBody())
      b.clone(op);
  for (auto function : from.getOps<LLVM::LLVMFuncOp>())
    b.clone(*function);
  replaceByCalls(*module);
  for (auto function : llvm::to_vector(module->getOps<LLVM::LLVMFuncOp>())) {
    bool isKernel = function->hasAttr("adze.kernel");
    if (function->hasAttr("adze.tensor_maps"))
      function.removeArgAttrsAttr(); // maps are passed by their addresses
    for (NamedAttribute attribute :
         llvm::to_vector(function->getDiscardableAttrs()))
      function->removeDiscardableAttr(attribute.getName());
    if (isKernel)
      addPackedEntry(function);
  }
  return module;
}

class JITEmulator final : public Emulator {
public:
  JITEmulator(std::unique_ptr<llvm::orc::LLJIT> jit) : jit(std::move(jit)) {}

  int64_t countPrograms(StringRef kernel, const int64_t *symbols) override {
    auto f = jit->lookup((kernel + "_cuda_programs").str());
    return f ? f->toPtr<int64_t(const int64_t *)>()(symbols)
             : (llvm::consumeError(f.takeError()), -1);
  }

  void getMapSizes(StringRef kernel, const int64_t *symbols,
                   int64_t *values) override {
    auto f = jit->lookup((kernel + "_cuda_maps").str());
    if (f)
      return f->toPtr<void(const int64_t *, int64_t *)>()(symbols, values);
    llvm::errs() << llvm::toString(f.takeError()) << "\n";
  }

  std::string run(StringRef entry, LaunchShape shape, int64_t number,
                  ArrayRef<int64_t> arguments, ThreadOrder order) override {
    auto f = jit->lookup(("emu_" + entry).str());
    if (!f)
      return llvm::toString(f.takeError());
    auto *function = f->toPtr<void(const int64_t *)>();
    return Cluster(shape, number, order).run([&] {
      function(arguments.data());
    });
  }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

llvm::Expected<std::unique_ptr<Emulator>> compile(ModuleOp module) {
  using namespace llvm::orc;
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, *context);
  if (!llvmModule)
    return llvm::createStringError("no LLVM IR");
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto machine = JITTargetMachineBuilder::detectHost();
  if (!machine)
    return machine.takeError();
  machine->setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  auto jit = LLJITBuilder().setJITTargetMachineBuilder(*machine).create();
  if (!jit)
    return jit.takeError();
  llvmModule->setDataLayout((*jit)->getDataLayout());
  llvmModule->setTargetTriple((*jit)->getTargetTriple());
  SymbolMap symbols;
  for (const EmulatedFunction &function : getEmulatedFunctions())
    symbols[(*jit)->mangleAndIntern(function.name)] = {
        ExecutorAddr::fromPtr(function.address),
        llvm::JITSymbolFlags::Exported};
  if (llvm::Error problem =
          (*jit)->getMainJITDylib().define(absoluteSymbols(symbols)))
    return problem;
  auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  auto target = cpu::CpuTarget::resolve("", "native");
  if (!target)
    return target.takeError();
  // CPUs without bf16 call functions that round to it.
  auto support = llvm::MemoryBuffer::getMemBuffer(
      package::supportObject(target->elfMachine), "support",
      /*RequiresNullTerminator=*/false);
  if (llvm::Error problem = (*jit)->addObjectFile(std::move(support)))
    return problem;
  if (llvm::Error problem = (*jit)->addIRModule(
          ThreadSafeModule(std::move(llvmModule), std::move(context))))
    return problem;
  return std::make_unique<JITEmulator>(std::move(*jit));
}

} // namespace

std::unique_ptr<Emulator> Emulator::create(ModuleOp from) {
  MLIRContext *context = from.getContext();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> module = makeHostModule(from);
  PassManager manager(context);
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(arith::createArithExpandOpsPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  if (failed(manager.run(*module)))
    return nullptr;
  auto emulator = compile(*module);
  if (emulator)
    return std::move(*emulator);
  llvm::errs() << llvm::toString(emulator.takeError()) << "\n";
  return nullptr;
}

} // namespace adze::test
