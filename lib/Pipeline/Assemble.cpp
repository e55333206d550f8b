// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles a planned module to the parts of a shared object.
#include "Compilation.h"
#include "Describe.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Dialect/Tile/IR/Tile.h"
#include "EqualKernels.h"
#include "LightKernels.h"
#include "SharedKernels.h"
#include "Target/CUDA/CompileKernels.h"
#include "adze_module.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace adze {

bool Program::isForDevices() const {
  return bool(tile::findCudaTarget(*module));
}

LogicalResult Compilation::resolveTargets() {
  if (!targets.empty())
    return success();
  for (const std::string &cpu : options.cpus) {
    auto target = cpu::CpuTarget::resolve(options.triple, cpu);
    if (!target)
      return emitError(UnknownLoc::get(&context))
             << llvm::toString(target.takeError());
    targets.push_back(*target);
  }
  // All targets are resolved before anything is compiled.
  for (const std::string &name : options.cudaTargets)
    if (auto target = cuda::CudaTarget::resolve(name); !target)
      return emitError(UnknownLoc::get(&context))
             << llvm::toString(target.takeError());
  // The run time selects the first variant that the machine supports.
  llvm::sort(targets, [](const cpu::CpuTarget &a, const cpu::CpuTarget &b) {
    int left = llvm::popcount(a.moduleFeatures);
    int right = llvm::popcount(b.moduleFeatures);
    return left != right ? left > right : a.cpu < b.cpu;
  });
  for (const cpu::CpuTarget &target : targets) {
    auto attribute = target.getAttr(context, options.caches);
    if (!attribute)
      return emitError(UnknownLoc::get(&context))
             << llvm::toString(attribute.takeError());
    targetAttrs.push_back(*attribute);
  }
  for (const std::string &name : options.cudaTargets)
    targetAttrs.push_back(
        llvm::cantFail(cuda::CudaTarget::resolve(name)).getAttr(context));
  return success();
}

/// Prints the kernels with the longest LLVM time, for --timing.
void Compilation::printSlowestKernels(ArrayRef<KernelObject> objects,
                                      StringRef prefix,
                                      ArrayRef<host::LaunchOp> launches) {
  constexpr size_t most = 10;
  llvm::StringMap<host::LaunchOp> firsts;
  for (host::LaunchOp launch : launches)
    firsts.try_emplace((prefix + launch.getCallee()).str(), launch);
  double whole = 0;
  size_t numKernels = 0, numLight = 0;
  SmallVector<const KernelObject *> order;
  for (const KernelObject &object : objects) {
    whole += object.llvmSeconds;
    numKernels += object.kernels.size();
    numLight += object.isLight ? object.kernels.size() : 0;
    order.push_back(&object);
  }
  llvm::sort(order, [](const KernelObject *a, const KernelObject *b) {
    return a->llvmSeconds != b->llvmSeconds ? a->llvmSeconds > b->llvmSeconds
                                            : a < b;
  });
  diagnostics << "LLVM on kernels: " << llvm::format("%.3f", whole)
              << " seconds of all threads, " << numKernels << " kernels, "
              << numLight << " of them light\n";
  for (const KernelObject *object : llvm::ArrayRef(order).take_front(most)) {
    StringRef body = object->kernels.front().body;
    diagnostics << llvm::format("  %8.3f  ", object->llvmSeconds)
                << body.drop_front(prefix.size());
    if (size_t others = object->kernels.size() - 1)
      diagnostics << " and " << others << " more";
    if (host::LaunchOp launch = firsts.lookup(body))
      diagnostics << "  " << llvm::join(getNodeNames(launch.getLoc()), ", ");
    diagnostics << "\n";
  }
}

/// Compiles the kernels that run on a CPU: in a program for devices, those
/// without device code.
LogicalResult
Compilation::compileForCpus(Program &program,
                            package::ModuleDescription &description,
                            package::ModuleParts &parts) {
  FailureOr<func::FuncOp> main = findHostProgram(*program.module);
  if (failed(main))
    return failure();
  SmallVector<host::LaunchOp> launches = getLaunches(*main);
  llvm::SetVector<StringRef> names;
  for (host::LaunchOp launch : launches)
    if (!program.isForDevices() || launch->hasAttr(host::hostFallbackAttr))
      names.insert(launch.getCallee());
  if (program.isForDevices() && names.empty())
    return success();
  EqualKernels kernels = findEqualKernels(*program.module, names.getArrayRef());
  llvm::StringSet<> light = findLightKernels(*program.module, *main, kernels);
  Report *reported = &program == &programs.front() ? gathered.get() : nullptr;
  std::atomic<size_t> done = 0;

  for (auto [number, target] : llvm::enumerate(targets)) {
    std::string prefix = program.prefix + "v" + std::to_string(number) + ".";
    size_t all = kernels.different.size() * targets.size();
    progress(getStageName(Stage::Kernel), done, all);
    auto objects = compileKernels(
        cloneKernels(*program.module, kernels.different, light,
                     targetAttrs[number], stageOptions),
        stageOptions, target, prefix,
        [&](PassManager &manager) {
          if (isCancelled())
            return failure();
          instrument(manager);
          if (failed(addStagePasses(Stage::Kernel, manager)))
            return failure();
          if (options.limit && options.limit->stage == Stage::Kernel)
            limiter->begin(manager);
          return success();
        },
        [&](const KernelUnit &unit) {
          progress(getStageName(Stage::Kernel), done += unit.names.size(), all);
        });
    if (failed(objects))
      return failure();

    if (options.timing)
      printSlowestKernels(*objects, prefix, launches);
    package::CpuVariant &variant = description.variants.emplace_back();
    variant.features = target.moduleFeatures;
    variant.name = target.cpu;
    llvm::StringMap<KernelSymbols> byName;
    auto name = kernels.different.begin();
    for (KernelObject &object : *objects) {
      if (reported)
        addCodeBytes(object.object, {name, object.kernels.size()}, prefix,
                     target.cpu, *reported);
      for (const KernelSymbols &kernel : object.kernels)
        byName[*name++] = kernel;
      parts.objects.push_back(std::move(object.object));
    }
    for (const KernelAlias &alias : kernels.aliases)
      if (ReportFunction *function =
              reported ? reported->findFunction(alias.name) : nullptr)
        function->sameAs = alias.of.str();
    if (!kernels.aliases.empty()) {
      auto aliases = createAliases(context, kernels.aliases, prefix, byName);
      if (failed(
              compileLLVMModule(*aliases, target, stageOptions.getCodeLevel(),
                                /*rename=*/"", parts.objects.emplace_back())))
        return failure();
    }
    for (host::LaunchOp launch : launches) {
      KernelSymbols kernel = byName.lookup(launch.getCallee());
      variant.kernels.push_back(
          {kernel.body, kernel.programs, kernel.scratchBytes});
    }
  }
  for (Operation *kernel : kernels.made)
    kernel->erase();
  return success();
}

FailureOr<cuda::CompileOptions> Compilation::getCudaOptions(StringRef name) {
  cuda::CompileOptions result;
  auto target = cuda::CudaTarget::resolve(name);
  if (!target)
    return emitError(UnknownLoc::get(&context))
           << llvm::toString(target.takeError());
  result.target = *target;
  result.toolkit = cuda::Toolkit::find();
  result.threads = std::max(1u, context.getNumThreads());
  result.remarks = options.verbose;
  result.batchInvariant = options.batchInvariant;
  // At -O0 kernels are the reference of CPUs.
  result.loops = options.optLevel > 0;
  return result;
}

/// Returns the row of a compiled kernel in the tables of the module. Its host
/// functions get unique names, as those of other targets may differ.
static package::DeviceKernel getDeviceKernel(ModuleOp helpers,
                                             const cuda::CompiledKernel &kernel,
                                             const SharedKernels &shared,
                                             StringRef chip) {
  auto rename = [&](StringRef name) {
    if (name.empty())
      return name.str();
    std::string own = (name + "_" + chip).str();
    if (Operation *function = helpers.lookupSymbol(name))
      SymbolTable::setSymbolName(function, own);
    return own;
  };
  package::DeviceKernel row;
  row.entry = kernel.entry;
  row.programs = rename(kernel.programs);
  row.blockThreads = kernel.blockThreads;
  row.sharedBytes = kernel.sharedBytes;
  row.residentBlocks = kernel.residentBlocks;
  row.flags = kernel.flags;
  row.mostShared = kernel.mostShared;
  row.numSymbols = kernel.numSymbols;
  row.symbolsRead = kernel.symbolsRead;
  row.bindSymbols = shared.bindSymbols(helpers, kernel, chip);
  row.mapValues = rename(kernel.mapValues);
  for (const cuda::TensorMap &map : kernel.maps)
    row.maps.push_back(
        {map.pointer, map.type, map.rowBytes, map.box, map.steps});
  return row;
}

/// Returns the properties of the device code of a kernel for the report.
static std::vector<std::pair<std::string, int64_t>>
describeDeviceCode(const cuda::CompiledKernel &kernel) {
  std::vector<std::pair<std::string, int64_t>> facts = {
      {"threads", kernel.blockThreads}, {"shared_bytes", kernel.sharedBytes}};
  if (!kernel.loops.empty())
    facts.push_back({"loops", 1});
  if (kernel.registers) {
    facts.push_back({"registers", kernel.registers});
    facts.push_back({"spill_bytes", kernel.spillBytes});
  }
  return facts;
}

LogicalResult
Compilation::compileForDevices(Program &program,
                               package::ModuleDescription &description,
                               std::vector<OwningOpRef<ModuleOp>> &helpers) {
  Report *reported = &program == &programs.front() ? gathered.get() : nullptr;
  for (const std::string &name : options.cudaTargets) {
    if (isCancelled())
      return failure();
    progress(name);
    auto cudaOptions = getCudaOptions(name);
    if (failed(cudaOptions))
      return failure();

    OwningOpRef<ModuleOp> kernels = program.module->clone();
    SharedKernels shared(*kernels);
    cuda::CompiledImage compiled;
    if (failed(cuda::compileKernels(*kernels, *cudaOptions, compiled)))
      return failure();
    shared.addErased(compiled);
    helpers.push_back(std::move(kernels));

    package::DeviceImage &image = description.images.emplace_back();
    image.target = name;
    image.sm = cudaOptions->target.sm;
    image.flags = (compiled.isPTX ? ADZE_IMAGE_PTX : 0) |
                  (cudaOptions->target.archExact ? ADZE_IMAGE_ARCH_EXACT : 0);
    image.bytes = std::move(compiled.bytes);
    llvm::StringMap<package::DeviceKernel> byName;
    for (const cuda::CompiledKernel &kernel : compiled.kernels) {
      byName[kernel.kernel] = getDeviceKernel(*helpers.back(), kernel, shared,
                                              cudaOptions->target.chip);
      ReportFunction *function =
          reported ? reported->findFunction(kernel.kernel) : nullptr;
      if (!function)
        continue;
      function->deviceCode[name] = describeDeviceCode(kernel);
      function->sameAs = shared.getCompiled(kernel.kernel).str();
    }
    FailureOr<func::FuncOp> main = findHostProgram(*program.module);
    for (host::LaunchOp launch : getLaunches(*main))
      image.kernels.push_back(byName.lookup(launch.getCallee()));
    if (options.verbose)
      reportLoops(program, compiled.kernels, name);
    if (failed(checkDeviceKernels(program, description, compiled.refused)))
      return failure();
    if (!compiled.ptx.empty()) {
      package::DeviceImage forLater = image;
      forLater.flags |= ADZE_IMAGE_PTX;
      forLater.bytes = std::move(compiled.ptx);
      description.images.push_back(std::move(forLater));
    }
  }
  return success();
}

/// Compiles the host program with the helpers, which are functions of device
/// code.
LogicalResult
Compilation::compileHost(Program &program,
                         std::vector<OwningOpRef<ModuleOp>> &helpers,
                         package::ModuleParts &parts) {
  FailureOr<func::FuncOp> main = findHostProgram(*program.module);
  if (failed(main))
    return failure();
  // Kernels of a text in the LLVM dialect would be compiled with the host.
  if ((*main)->hasAttr(host::loweredAttr)) {
    llvm::SetVector<StringRef> kernels;
    for (host::LaunchOp launch : getLaunches(*main))
      kernels.insert(launch.getCallee());
    eraseLoweredKernels(*program.module, kernels.getArrayRef());
  }
  if (failed(runStage(Stage::LLVM, program)))
    return failure();
  ModuleOp module = *program.module;
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (!isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op))
      op.erase();
  for (OwningOpRef<ModuleOp> &helper : helpers)
    for (Operation &op : llvm::make_early_inc_range(*helper->getBody()))
      if (!module.lookupSymbol(SymbolTable::getSymbolName(&op)))
        op.moveBefore(module.getBody(), module.getBody()->end());
  return compileLLVMModule(module, targets.back(), stageOptions.getCodeLevel(),
                           program.prefix, parts.objects.emplace_back());
}

/// Returns the reason why the kernel takes the reference path.
static std::string getRefusal(ModuleOp module, StringRef kernel) {
  if (Operation *callee = module.lookupSymbol(kernel))
    if (auto reason = callee->getAttrOfType<StringAttr>(host::refusalAttr))
      return "it has no tile form: " + reason.str();
  return "it takes the reference path";
}

/// Appends the nodes of the launch.
static void addNodes(InFlightDiagnostic &message, host::LaunchOp launch) {
  if (auto nodes = getNodeNames(launch.getLoc()); !nodes.empty())
    message << " (nodes '" << llvm::join(nodes, "', '") << "')";
}

/// Reports kernels of the reference path that run on the device.
void Compilation::reportLoops(Program &program,
                              ArrayRef<cuda::CompiledKernel> kernels,
                              StringRef target) {
  llvm::StringMap<const cuda::CompiledKernel *> loops;
  for (const cuda::CompiledKernel &kernel : kernels)
    if (!kernel.loops.empty())
      loops[kernel.kernel] = &kernel;
  llvm::StringSet<> reported;
  FailureOr<func::FuncOp> main = findHostProgram(*program.module);
  for (host::LaunchOp launch : getLaunches(*main)) {
    StringRef name = launch.getCallee();
    if (!loops.contains(name) || !reported.insert(name).second)
      continue;
    InFlightDiagnostic message = emitRemark(launch.getLoc());
    message << "kernel '" << name << "'";
    addNodes(message, launch);
    message << " runs on " << target << " as loops, " << loops[name]->loops
            << ": ";
    if (isa<tile::KernelOp>(program.module->lookupSymbol(name)))
      message << "its tiles have no GPU form: " << loops[name]->reason;
    else
      message << getRefusal(*program.module, name);
  }
}

void Compilation::reportNoDeviceCode(host::LaunchOp launch, StringRef target,
                                     StringRef reason) {
  bool isAllowed = options.cpu && options.allowHostFallback;
  sawHostFallback |= !isAllowed;
  InFlightDiagnostic message =
      isAllowed ? emitRemark(launch.getLoc()) : emitError(launch.getLoc());
  message << "kernel '" << launch.getCallee() << "'";
  addNodes(message, launch);
  message << (isAllowed ? " runs on the CPU, not on " : " has no code for ")
          << target << ": " << reason;
  if (!isAllowed)
    message << "; --target=cpu with --allow-host-fallback runs it on the CPU";
}

/// Reports kernels that the last image does not have as errors, or lets them
/// run on the CPU, with copies of their places.
LogicalResult
Compilation::checkDeviceKernels(Program &program,
                                package::ModuleDescription &description,
                                const llvm::StringMap<std::string> &refused) {
  const package::DeviceImage &image = description.images.back();
  FailureOr<func::FuncOp> main = findHostProgram(*program.module);
  llvm::StringSet<> reported;
  for (auto [number, launch] : llvm::enumerate(getLaunches(*main))) {
    StringRef name = launch.getCallee();
    if (!image.kernels[number].entry.empty())
      continue;
    launch->setAttr(host::hostFallbackAttr, UnitAttr::get(&context));
    description.kernels[number].places =
        host::placesFunction.str() + std::to_string(number);
    if (!reported.insert(name).second)
      continue;
    std::string reason = refused.lookup(name);
    if (reason.empty())
      reason = getRefusal(*program.module, name) +
               "; loops at -O0 are for CPUs only";
    reportNoDeviceCode(launch, image.target, reason);
  }
  return failure(sawHostFallback);
}

/// Adds the prefix of a host program in the module to the names of its
/// functions.
static void addPrefix(package::ModuleDescription &description,
                      StringRef prefix) {
  auto add = [&](std::string &name) {
    if (!name.empty())
      name = (prefix + name).str();
  };
  for (std::string *name :
       {&description.run, &description.infer, &description.arenaBytes,
        &description.arenaLowerBound})
    add(*name);
  for (package::Kernel &kernel : description.kernels)
    for (std::string *name : {&kernel.flops, &kernel.bytesRead,
                              &kernel.bytesWritten, &kernel.places})
      add(*name);
  for (package::State &state : description.states)
    for (std::string *name : {&state.rows, &state.drop})
      add(*name);
  for (package::DeviceImage &image : description.images)
    for (package::DeviceKernel &kernel : image.kernels)
      for (std::string *name :
           {&kernel.programs, &kernel.mapValues, &kernel.bindSymbols})
        add(*name);
}

LogicalResult
Compilation::compileProgram(Program &program,
                            package::ModuleDescription &description,
                            package::ModuleParts &parts) {
  description.modelName = llvm::sys::path::stem(options.input).str();
  std::vector<OwningOpRef<ModuleOp>> helpers;
  if (program.isForDevices() &&
      failed(compileForDevices(program, description, helpers)))
    return failure();
  if (options.cpu && failed(compileForCpus(program, description, parts)))
    return failure();
  if (failed(compileHost(program, helpers, parts)))
    return failure();
  addPrefix(description, program.prefix);
  return success();
}

FailureOr<package::ModuleParts> Compilation::buildParts() {
  SmallVector<func::FuncOp> mains;
  for (Program &program : programs) {
    FailureOr<func::FuncOp> main = findHostProgram(*program.module);
    if (failed(main))
      return failure();
    mains.push_back(*main);
  }
  package::ModuleParts parts;
  parts.weightsFile = options.externalWeights;
  SmallVector<package::ModuleDescription *> descriptions = {&parts.description};
  if (programs.size() > 1) {
    parts.description.devices = std::make_unique<package::ModuleDescription>();
    descriptions.push_back(parts.description.devices.get());
    FailureOr<uint64_t> offset = joinWeights(mains.front(), mains.back());
    if (failed(offset))
      return failure();
    descriptions.back()->weightsOffset = *offset;
  }
  for (auto [main, description] : llvm::zip_equal(mains, descriptions))
    if (failed(describe(main, *description)))
      return failure();
  if (failed(collectWeights(mains, descriptions.back()->weightsOffset,
                            parts.weights, parts.description.buildId)))
    return failure();
  for (auto [program, description] : llvm::zip_equal(programs, descriptions))
    if (failed(compileProgram(program, *description, parts)))
      return failure();
  return std::move(parts);
}

CompileStatus Compilation::writePTX() {
  auto cudaOptions = getCudaOptions(options.cudaTargets.front());
  if (failed(cudaOptions))
    return CompileStatus::Usage;
  cudaOptions->forcePTX = true;
  cuda::CompiledImage image;
  OwningOpRef<ModuleOp> kernels = programs.back().module->clone();
  SharedKernels shared(*kernels);
  if (failed(cuda::compileKernels(*kernels, *cudaOptions, image)))
    return fail();
  if (CompileStatus status = writeReport(); status != CompileStatus::Done)
    return status;
  llvm::Error error =
      ::adze::writeOutput(options.output, [&](llvm::raw_ostream &os) {
        os << StringRef(image.bytes).rtrim('\0');
        return llvm::Error::success();
      });
  return error ? reportFileError(std::move(error)) : CompileStatus::Done;
}

CompileStatus Compilation::writeModule() {
  if (failed(resolveTargets()))
    return CompileStatus::Usage;
  FailureOr<package::ModuleParts> parts = buildParts();
  if (failed(parts) || isCancelled())
    return fail();
  if (CompileStatus status = writeReport(); status != CompileStatus::Done)
    return status;
  progress("link");
  llvm::Error error =
      options.emit == Emit::Object
          ? package::writeObject(*parts, targets.back(), options.output)
          : package::writeModule(*parts, targets.back(), options.output);
  if (!error)
    return CompileStatus::Done;
  if (error.isA<llvm::FileError>())
    return reportFileError(std::move(error));
  emitError(UnknownLoc::get(&context)) << llvm::toString(std::move(error));
  return CompileStatus::Defect;
}

} // namespace adze
