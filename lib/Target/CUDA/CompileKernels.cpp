// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles kernels to a device image: passes, translation to LLVM IR, PTX,
// and ptxas.
#include "Target/CUDA/CompileKernels.h"
#include "ClampedMath.h"
#include "Conversion/Passes.h"
#include "DeviceMath.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Host/IR/Programs.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "IntegerMath.h"
#include "OverlapLaunches.h"
#include "Transforms/Passes.h"
#include "adze_module.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace adze::cuda {

namespace {

/// Returns the name of the LLVM intrinsic for a function that an SM executes in
/// few instructions; empty for other functions.
StringRef getInstruction(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<math::FmaOp>([](auto) { return "llvm.fma"; })
      .Case<math::SqrtOp>([](auto) { return "llvm.sqrt"; })
      .Case<math::AbsFOp>([](auto) { return "llvm.fabs"; })
      .Case<math::FloorOp>([](auto) { return "llvm.floor"; })
      .Case<math::CeilOp>([](auto) { return "llvm.ceil"; })
      .Case<math::TruncOp>([](auto) { return "llvm.trunc"; })
      .Case<math::RoundOp>([](auto) { return "llvm.round"; })
      .Case<math::RoundEvenOp>([](auto) { return "llvm.roundeven"; })
      .Case<math::CopySignOp>([](auto) { return "llvm.copysign"; })
      .Default([](auto) { return ""; });
}

/// Replaces functions of f32 by the arithmetic of CPU targets, so that results
/// are the same with and without a CUDA toolkit. Fails at functions that need
/// libdevice if that is absent.
struct ApproximateMathPass
    : PassWrapper<ApproximateMathPass, OperationPass<gpu::GPUModuleOp>> {
  explicit ApproximateMathPass(bool hasLibdevice)
      : hasLibdevice(hasLibdevice) {}
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApproximateMathPass)
  StringRef getName() const final { return "ApproximateMath"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  }
  void runOnOperation() final {
    RewritePatternSet widen(&getContext());
    populateMathF32ExpansionPatterns(widen, [](StringRef) { return true; });
    (void)applyPatternsGreedily(getOperation(), std::move(widen));
    simplifyClampedMath(getOperation());
    expandTurns(getOperation());
    expandDeviceMath(getOperation());
    RewritePatternSet patterns(&getContext());
    populateMathApproximatePatterns(patterns, /*vectorBytes=*/0);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
    if (hasLibdevice)
      return;
    getOperation().walk([&](Operation *op) {
      bool isFunction = isa_and_present<math::MathDialect>(op->getDialect()) ||
                        isa<arith::RemFOp>(op);
      if (!isFunction || !getInstruction(op).empty() ||
          !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
        return;
      op->emitError("unsupported: '")
          << op->getName() << "' of " << op->getResult(0).getType()
          << " on a GPU without libdevice; install the CUDA toolkit, or set "
             "CUDA_HOME";
      signalPassFailure();
    });
  }

private:
  bool hasLibdevice;
};

/// Lowers functions that SMs have instructions for, so that no libdevice calls
/// are created. The intrinsics are called by name, because the conversion to
/// NVVM rejects most of LLVM's own ops.
struct LowerInstructionsPass
    : PassWrapper<LowerInstructionsPass, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerInstructionsPass)
  StringRef getName() const final { return "LowerInstructions"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<LLVM::LLVMDialect>();
  }
  void runOnOperation() final {
    getOperation().walk([](Operation *op) {
      StringRef name = getInstruction(op);
      if (name.empty())
        return;
      OpBuilder b(op);
      op->replaceAllUsesWith(LLVM::CallIntrinsicOp::create(
          b, op->getLoc(), op->getResult(0).getType(), b.getStringAttr(name),
          op->getOperands()));
      op->erase();
    });
  }
};

struct ExpandIntegerMathPass
    : PassWrapper<ExpandIntegerMathPass, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandIntegerMathPass)
  StringRef getName() const final { return "ExpandIntegerMath"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, scf::SCFDialect>();
  }
  void runOnOperation() final { expandIntegerMath(getOperation()); }
};

struct OverlapLaunchesPass
    : PassWrapper<OverlapLaunchesPass, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OverlapLaunchesPass)
  StringRef getName() const final { return "OverlapLaunches"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  }
  void runOnOperation() final { overlapLaunches(getOperation()); }
};

/// Returns true for a kernel of the reference path.
static bool isLoopKernel(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  return function && function->hasAttr(host::kernelAttr) &&
         !function.isExternal();
}

/// Returns the kernels of the module and all symbols that they reference.
static llvm::SetVector<Operation *> findKernels(ModuleOp module) {
  llvm::SetVector<Operation *> kept;
  for (Operation &op : module.getOps())
    if (isa<tile::KernelOp>(op) || isLoopKernel(&op))
      kept.insert(&op);
  SymbolTable symbols(module);
  for (size_t i = 0; i < kept.size(); ++i)
    if (auto uses = SymbolTable::getSymbolUses(kept[i]))
      for (SymbolTable::SymbolUse use : *uses)
        if (Operation *used =
                symbols.lookup(use.getSymbolRef().getRootReference()))
          kept.insert(used);
  return kept;
}

/// Removes everything but the kernels of one target. Removes the host program,
/// too, since it would launch kernels that no longer exist.
struct KeepTileKernelsPass
    : PassWrapper<KeepTileKernelsPass, OperationPass<ModuleOp>> {
  explicit KeepTileKernelsPass(const CudaTarget &target) : target(target) {}
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepTileKernelsPass)
  StringRef getName() const final { return "KeepTileKernels"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<tile::TileDialect>();
  }
  void runOnOperation() final {
    Attribute own = target.getAttr(getContext());
    // Properties of the chip in the module's target attribute take precedence.
    for (Attribute stated : tile::getTargets(getOperation()))
      if (auto gpu = dyn_cast<tile::CudaTargetAttr>(stated);
          gpu && gpu.getChip() == target.chip)
        own = gpu;
    tile::setTargets(getOperation(), own);
    llvm::SetVector<Operation *> kept = findKernels(getOperation());
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody()))
      if (!kept.contains(&op))
        op.erase();
  }

private:
  CudaTarget target;
};

} // namespace

void buildLoopPipeline(OpPassManager &manager, const CompileOptions &options) {
  // These passes lower tile kernels that have no GPU form.
  manager.addPass(createConvertTileToLinalg());
  manager.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  manager.addPass(bufferization::createOneShotBufferizePass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createJoinPrograms());
  OpPassManager &kernels = manager.nest<func::FuncOp>();
  kernels.addPass(createExpandCopies({/*all=*/true}));
  kernels.addPass(createConvertLinalgToParallelLoopsPass());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(arith::createArithExpandOpsPass());
  kernels.addPass(createMarkIndependentLoops());
  manager.addPass(createConvertLinalgToGPU({options.target.sharedLimit}));
}

/// Adds passes that simplify functions, each in its own thread.
static void simplifyFunctions(OpPassManager &manager) {
  OpPassManager &functions = manager.nest<LLVM::LLVMFuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}

void buildCudaPipeline(OpPassManager &manager, const CompileOptions &options) {
  manager.addPass(std::make_unique<KeepTileKernelsPass>(options.target));
  manager.addPass(tile::createTileChooseSchedule(
      {options.remarks, options.batchInvariant}));
  manager.addPass(tile::createTileSpecialize({"", "cuda"}));
  manager.addPass(tile::createTileFuseSteps());
  ConvertTileToGPUOptions convert;
  convert.sharedLimit = options.target.sharedLimit;
  manager.addPass(createConvertTileToGPU(convert));
  if (options.loops)
    buildLoopPipeline(manager, options);
  simplifyFunctions(manager);
  OpPassManager &device = manager.nest<gpu::GPUModuleOp>();
  simplifyFunctions(device);
  device.addPass(std::make_unique<ApproximateMathPass>(
      !options.toolkit.libdevice.empty()));
  device.addPass(std::make_unique<ExpandIntegerMathPass>());
  device.addPass(std::make_unique<LowerInstructionsPass>());
  constexpr unsigned overlaps = 90;
  if (options.target.sm >= overlaps)
    device.addPass(std::make_unique<OverlapLaunchesPass>());
  OpPassManager &functions = device.nest<LLVM::LLVMFuncOp>();
  functions.addPass(createLoopInvariantCodeMotionPass());
  functions.addPass(createSCFToControlFlowPass());
  device.addPass(createConvertGpuOpsToNVVMOps());
  device.addPass(createConvertNVVMToLLVMPass());
  device.addPass(createReconcileUnrealizedCastsPass());
  simplifyFunctions(device);
  // The functions that compute the number of programs.
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

/// Splits the module into modules of one kernel each, with the globals that the
/// kernel references.
static SmallVector<OwningOpRef<ModuleOp>>
splitKernels(gpu::GPUModuleOp device) {
  SmallVector<OwningOpRef<ModuleOp>> modules;
  for (auto function : device.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr("adze.kernel"))
      continue;
    OwningOpRef<ModuleOp> one = ModuleOp::create(device.getLoc());
    llvm::StringSet<> used;
    function.walk(
        [&](LLVM::AddressOfOp op) { used.insert(op.getGlobalName()); });
    function.walk([&](LLVM::CallOp op) {
      if (auto callee = op.getCallee())
        used.insert(*callee);
    });
    OpBuilder b = OpBuilder::atBlockEnd(one->getBody());
    for (Operation &op : *device.getBody()) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      if (&op == function.getOperation() ||
          (symbol && used.contains(symbol.getName())))
        b.clone(op);
    }
    one->walk([](LLVM::LLVMFuncOp f) {
      for (unsigned i = 0; i < f.getNumArguments(); ++i)
        f.removeArgAttr(i, tile::kConstantAttribute);
      for (StringRef name :
           {"adze.kernel", "adze.threads", "adze.symbols", "adze.shared_bytes",
            "adze.resident_blocks", "adze.tensor_maps", "adze.most_shared",
            "adze.packed_programs", "adze.products", "adze.waits",
            "adze.ordered", "adze.loops", "adze.refusal", "gpu.kernel"})
        f->removeAttr(name);
    });
    modules.push_back(std::move(one));
  }
  return modules;
}

static FailureOr<std::string> translate(ModuleOp module,
                                        const CompileOptions &options) {
  // Alignments of loads and stores follow from the layout.
  if (std::unique_ptr<llvm::TargetMachine> machine =
          options.target.createMachine())
    module->setAttr(
        LLVM::LLVMDialect::getDataLayoutAttrName(),
        StringAttr::get(module.getContext(),
                        machine->createDataLayout().getStringRepresentation()));
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context);
  if (!llvmModule)
    return module.emitError("kernel cannot be translated to LLVM IR"),
           failure();
  llvm::Expected<std::string> ptx =
      emitPTX(*llvmModule, options.target, options.toolkit);
  if (!ptx)
    return module.emitError(llvm::toString(ptx.takeError())), failure();
  return std::move(*ptx);
}

/// Adds the data that the host needs for a kernel with tensor maps.
static void addMaps(CompiledKernel &kernel, LLVM::LLVMFuncOp function,
                    ArrayAttr maps) {
  kernel.mapValues = kernel.kernel + "_cuda_maps";
  kernel.residentBlocks =
      function->getAttrOfType<IntegerAttr>("adze.resident_blocks").getInt();
  if (auto most = function->getAttrOfType<IntegerAttr>("adze.most_shared"))
    kernel.mostShared = most.getInt();
  for (Attribute attribute : maps) {
    ArrayRef<int64_t> row = cast<DenseI64ArrayAttr>(attribute).asArrayRef();
    TensorMap &map = kernel.maps.emplace_back();
    map.pointer = row[0];
    map.type = row[1];
    map.rowBytes = row[2];
    ArrayRef<int64_t> boxes = row.drop_front(3);
    size_t rank = boxes.size() / 2;
    for (auto [size, step] :
         llvm::zip(boxes.take_front(rank), boxes.take_back(rank))) {
      map.box.push_back(size);
      map.steps.push_back(step);
    }
  }
}

/// Returns which symbols the kernel reads (adze_device_kernel.symbols_read).
/// The arguments are pointers, symbols, the number of programs, and others.
static uint64_t getSymbolsRead(LLVM::LLVMFuncOp function, size_t numSymbols) {
  constexpr unsigned lastBit = 63;
  uint64_t read = uint64_t(1) << lastBit;
  auto symbols = function.getArguments().drop_while([](BlockArgument argument) {
    return isa<LLVM::LLVMPointerType>(argument.getType());
  });
  for (auto [number, symbol] : llvm::enumerate(symbols.take_front(numSymbols)))
    if (!symbol.use_empty())
      read |= uint64_t(1) << std::min<uint64_t>(number, lastBit);
  return read;
}

/// Returns the properties of each entry point, in the order of the module.
static std::vector<CompiledKernel> listKernels(gpu::GPUModuleOp device) {
  std::vector<CompiledKernel> kernels;
  for (auto function : device.getOps<LLVM::LLVMFuncOp>()) {
    auto name = function->getAttrOfType<StringAttr>("adze.kernel");
    if (!name)
      continue;
    CompiledKernel kernel;
    kernel.kernel = name.str();
    kernel.entry = function.getName().str();
    kernel.programs = kernel.kernel + "_cuda_programs";
    kernel.blockThreads =
        function->getAttrOfType<IntegerAttr>("adze.threads").getInt();
    kernel.sharedBytes =
        function->getAttrOfType<IntegerAttr>("adze.shared_bytes").getInt();
    kernel.numSymbols =
        function->getAttrOfType<IntegerAttr>("adze.symbols").getInt();
    kernel.symbolsRead = getSymbolsRead(function, kernel.numSymbols);
    if (auto loops = function->getAttrOfType<StringAttr>("adze.loops"))
      kernel.loops = loops.str();
    if (auto reason = function->getAttrOfType<StringAttr>(host::refusalAttr))
      kernel.reason = reason.str();
    if (function->hasAttr("adze.waits"))
      kernel.flags |= ADZE_KERNEL_WAITS;
    if (function->hasAttr(host::orderedAttr))
      kernel.flags |= ADZE_KERNEL_STEPS;
    if (auto maps = function->getAttrOfType<ArrayAttr>("adze.tensor_maps"))
      addMaps(kernel, function, maps);
    kernels.push_back(kernel);
  }
  return kernels;
}

static LogicalResult assembleImage(ModuleOp module,
                                   const CompileOptions &options,
                                   CompiledImage &image) {
  std::vector<KernelReport> reports;
  auto cubin = assemble(image.bytes, options.target, options.toolkit,
                        options.threads, reports);
  if (!cubin)
    return module.emitError(llvm::toString(cubin.takeError()));
  if (!options.target.archExact)
    image.ptx = image.bytes + '\0';
  image.bytes = std::move(*cubin);
  for (CompiledKernel &kernel : image.kernels)
    for (const KernelReport &report : reports)
      if (report.entry == kernel.entry) {
        kernel.registers = report.registers;
        kernel.spillBytes = report.spillBytes;
        if (report.spillBytes)
          module.emitRemark("kernel '")
              << kernel.kernel << "' spills " << report.spillBytes
              << " bytes of registers";
      }
  return success();
}

LogicalResult compileKernels(ModuleOp module, const CompileOptions &options,
                             CompiledImage &image) {
  MLIRContext *context = module.getContext();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);

  PassManager manager(context);
  buildCudaPipeline(manager, options);
  if (failed(manager.run(module)))
    return failure();
  for (Operation &kernel : llvm::make_early_inc_range(module.getOps())) {
    if (!isa<tile::KernelOp>(kernel) && !isLoopKernel(&kernel))
      continue;
    StringRef name = SymbolTable::getSymbolName(&kernel).getValue();
    if (auto why = kernel.getAttrOfType<StringAttr>(host::refusalAttr))
      image.refused[name] = why.str();
    kernel.erase();
  }
  auto devices = llvm::to_vector(module.getOps<gpu::GPUModuleOp>());
  if (devices.empty())
    return success();
  image.kernels = listKernels(devices.front());
  SmallVector<OwningOpRef<ModuleOp>> modules = splitKernels(devices.front());
  devices.front().erase();
  std::vector<std::string> texts(modules.size());
  LogicalResult done = failableParallelForEachN(
      context, 0, modules.size(), [&](size_t i) -> LogicalResult {
        FailureOr<std::string> ptx = translate(*modules[i], options);
        if (failed(ptx))
          return failure();
        texts[i] = std::move(*ptx);
        return success();
      });
  if (failed(done))
    return failure();
  image.bytes = concatenatePTX(texts);
  image.isPTX = options.forcePTX || options.toolkit.ptxas.empty();
  if (!image.isPTX)
    return assembleImage(module, options, image);
  if (!options.forcePTX)
    module.emitRemark("no ptxas was found: the module has PTX, which the "
                      "driver assembles when the module is loaded");
  image.bytes.push_back('\0');
  return success();
}

} // namespace adze::cuda
