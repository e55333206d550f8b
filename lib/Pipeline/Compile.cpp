// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The whole compilation: load, run the stages, write.
#include "Compilation.h"
#include "Describe.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Faults.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Export/ONNX/Export.h"
#include "HostText.h"
#include "Pipeline/Dialects.h"
#include "Report.h"
#include "Reproducer.h"
#include "Support/OutputFile.h"
#include "Transforms/ArenaFormula.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace adze {

void prepareContext(MLIRContext &context) {
  DialectRegistry registry;
  registerPipelineDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

CompileStatus compile(const CompileOptions &options,
                      llvm::raw_ostream &diagnostics) {
  std::unique_ptr<llvm::ThreadPoolInterface> pool;
  auto context =
      std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  if (options.jobs != 1) {
    pool = std::make_unique<llvm::DefaultThreadPool>(
        llvm::hardware_concurrency(options.jobs));
    context->setThreadPool(*pool);
  }
  if (!options.stagePasses.empty())
    registerStagePasses();
  DialectRegistry plugged;
  if (llvm::Error error = loadPlugins(options.plugins, plugged)) {
    diagnostics << "error: " << llvm::toString(std::move(error)) << "\n";
    return CompileStatus::Usage;
  }
  context->appendDialectRegistry(plugged);
  prepareContext(*context);
  CompileStatus status = compile(options, diagnostics, *context);
  if (options.disableFree) {
    (void)context.release();
    (void)pool.release();
  }
  return status;
}

CompileStatus compile(const CompileOptions &options,
                      llvm::raw_ostream &diagnostics, MLIRContext &context) {
  return Compilation(options, diagnostics, context).run();
}

Compilation::Compilation(const CompileOptions &options,
                         llvm::raw_ostream &diagnostics, MLIRContext &context)
    : options(options), diagnostics(diagnostics), context(context) {
  // Texts refer to blobs relative to themselves, and so do the texts that we
  // write.
  graph::BlobTable &blobs = getBlobs();
  blobs.searchDirs = options.blobDirs;
  blobs.searchDirs.push_back(llvm::sys::path::parent_path(options.input).str());
  blobs.printBase = options.output == "-" || !options.reproducer.empty()
                        ? ""
                        : llvm::sys::path::parent_path(options.output).str();
  blobs.sideFile = options.weightsFile;

  handler = context.getDiagEngine().registerHandler(
      [this](Diagnostic &diagnostic) { report(diagnostic); });
  if (!options.report.empty()) {
    gathered = std::make_unique<Report>();
    collectRemarks(context, *gathered);
  }
  if (options.timing) {
    timing.setEnabled(true);
    rootTiming = timing.getRootScope();
  }
  stageOptions.optLevel = options.optLevel;
  stageOptions.batchInvariant = options.batchInvariant;
  stageOptions.forExport = options.emit == Emit::ONNX;
  // Its profitability depends on the number of rows.
  stageOptions.winograd = options.winograd && !options.batchInvariant;
  stageOptions.precision = options.precision;
  stageOptions.wideProducts = options.wideProducts;
  stageOptions.probesPrecision = options.probed != nullptr;
  stageOptions.weights = options.weightsPrecision;
  stageOptions.cachePrecision = options.cachePrecision;
  stageOptions.states = options.states;
  stageOptions.literal = options.literal;
  stageOptions.quickCode = options.quickCode;
  stageOptions.checkBounds = options.checkBounds;
  stageOptions.plainKernels = options.optLevel == 0;
  stageOptions.injectCrash = options.injectCrash;
  stageOptions.injectFault = options.injectFault;
  if (options.limit)
    limiter = std::make_unique<PassLimiter>(context, *options.limit);
  else if (options.observer)
    skipPassesOnceCancelled();
}

graph::BlobTable &Compilation::getBlobs() {
  return context.getOrLoadDialect<graph::GraphDialect>()->getBlobs();
}

Compilation::~Compilation() {
  context.getDiagEngine().eraseHandler(handler);
  if (!options.limit && options.observer)
    context.registerActionHandler({});
  if (!options.report.empty())
    context.setRemarkEngine(nullptr);
  if (options.disableFree) {
    getBlobs().removeTemporaries();
    for (Program &program : programs)
      (void)program.module.release();
  }
}

/// Returns the status after a stage failed.
CompileStatus Compilation::fail() {
  if (sawCancel)
    return CompileStatus::Cancelled;
  if (sawFileError || sawHostFallback || getBlobs().writeError)
    return CompileStatus::InputAtFault;
  if (sawUnsupported)
    return CompileStatus::Unsupported;
  // An imported model was checked, so the failure is a defect of ours; a text
  // may be invalid.
  return inputIsText ? CompileStatus::InputAtFault : CompileStatus::Defect;
}

CompileStatus Compilation::load() {
  StringRef extension = llvm::sys::path::extension(options.input);
  inputIsText = extension == ".mlir" || extension == ".mlirbc";
  if (!inputIsText)
    return loadModel();
  if (options.contents.empty()) {
    module = parseSourceFile<ModuleOp>(options.input, &context);
  } else if (auto text = llvm::MemoryBuffer::getFile(options.contents)) {
    module = parseSourceString<ModuleOp>((*text)->getBuffer(), &context,
                                         /*sourceName=*/options.input);
  } else {
    return reportFileError(
        llvm::createFileError(options.input, text.getError()));
  }
  return module ? CompileStatus::Done : CompileStatus::InputAtFault;
}

void Compilation::instrument(PassManager &manager) {
  if (options.timing)
    manager.enableTiming(rootTiming);
  if (options.stats)
    manager.addInstrumentation(statistics.createInstrumentation());
  if (!options.reproducer.empty())
    captureReproducer(manager, options.reproducer, options.command);
}

/// Adds the passes of --stage-passes at the end of the stage.
LogicalResult Compilation::addStagePasses(Stage stage, PassManager &manager) {
  for (const auto &[after, pipeline] : options.stagePasses)
    if (after == stage && !isReference &&
        failed(parsePassPipeline(pipeline, manager)))
      return emitError(UnknownLoc::get(&context))
             << "--stage-passes: '" << pipeline << "' is no pipeline";
  return success();
}

LogicalResult Compilation::runStage(Stage stage) {
  for (Program &program : programs)
    if (failed(runStage(stage, program)))
      return failure();
  return success();
}

/// Returns true if the module has constants in a file that will be removed.
static bool needsSideFile(ModuleOp module, const graph::BlobTable &blobs) {
  bool found = false;
  AttrTypeWalker walker;
  walker.addWalk([&](graph::BlobElementsAttr elements) {
    found |= elements.getBlob()->getSource().path == blobs.sideFile;
  });
  module.walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  return found;
}

/// Keeps the host program in texts of the stage "llvm", so that they can be
/// compiled, except on standard output if it has constants in a file.
void Compilation::keepHostProgram(ModuleOp module) {
  graph::BlobTable &blobs = getBlobs();
  bool isDumped = !options.dumpPhases.empty();
  bool isOutput = options.emit == Emit::LLVM && !(options.weightsFile.empty() &&
                                                  needsSideFile(module, blobs));
  if (!isDumped && !isOutput)
    return;
  // Files are relative to the text, or absolute if there are texts in two
  // folders.
  std::string folder = isOutput ? "" : getAbsolutePath(options.dumpPhases);
  llvm::SaveAndRestore base(blobs.printBase,
                            isDumped ? folder : blobs.printBase);
  adze::keepHostProgram(module);
}

LogicalResult Compilation::runStage(Stage stage, Program &program) {
  if (isCancelled())
    return failure();
  progress(getStageName(stage));
  PassManager manager(&context);
  // Verifying after each pass takes up to a quarter of the time, so the result
  // of the stage is verified. Passes from outside, and those that are searched
  // for a failure, are verified one by one.
  manager.enableVerifier(!options.stagePasses.empty() ||
                         !options.reproducer.empty());
  instrument(manager);
  StageOptions own = stageOptions;
  own.plainKernels |= tile::isLoweredByOp(*program.module);
  buildStage(stage, manager, own);
  if (failed(addStagePasses(stage, manager)))
    return failure();
  if (stage == Stage::LLVM)
    keepHostProgram(*program.module);
  bool isLimited = options.limit && options.limit->stage == stage;
  if (isLimited)
    limiter->begin(manager);
  if (failed(manager.run(*program.module)) || sawCancel ||
      (isLimited && failed(continueAsReference(stage, program))) ||
      failed(verify(*program.module)))
    return failure();
  return dumpPhase(stage, *program.module, program.prefix);
}

/// Ends the passes of the level in `stage`. The reference path completes this
/// stage, if the limit left passes out, and runs the later ones.
LogicalResult Compilation::continueAsReference(Stage stage, Program &program) {
  limiter->end();
  isReference = true;
  options.limit->module = program.module->clone();
  stageOptions.optLevel = 0;
  stageOptions.literal = true;
  stageOptions.injectFault = false;
  stageOptions.plainKernels = options.limit->plainKernels;
  stageOptions.fastKernels = options.limit->kernels;
  // All passes ran: running them again might undo the result under test.
  if (options.limit->numPasses >= options.limit->names.size())
    return success();
  PassManager manager(&context);
  buildStage(stage, manager, stageOptions);
  return manager.run(*program.module);
}

CompileStatus Compilation::reportFileError(llvm::Error error) {
  sawError = sawFileError = true;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    CompileMessage message;
    message.text = info.message();
    if (info.isA<llvm::FileError>()) {
      const auto &file = static_cast<const llvm::FileError &>(info);
      message.file = file.getFileName().str();
      message.text = file.messageWithoutFileInfo();
    }
    report(message);
  });
  return CompileStatus::InputAtFault;
}

/// Returns a module that contains the modules of all programs, or that of the
/// only one.
static OwningOpRef<ModuleOp> takeAll(MutableArrayRef<Program> programs) {
  if (programs.size() == 1)
    return std::move(programs.front().module);
  OwningOpRef<ModuleOp> all =
      ModuleOp::create(programs.front().module->getLoc());
  for (Program &program : programs)
    all->push_back(program.module.release());
  return all;
}

CompileStatus Compilation::writeText() {
  OwningOpRef<ModuleOp> text = takeAll(programs);
  programs.clear();
  if (options.weightsFile.empty() && needsSideFile(*text, getBlobs())) {
    emitError(UnknownLoc::get(&context))
        << "expected -o FILE, but got -o -: the text has constants that the "
           "compiler computed, which go to FILE.weights";
    return CompileStatus::Usage;
  }
  auto output = OutputFile::create(options.output);
  if (!output)
    return reportFileError(output.takeError());
  printModule(*text, (*output)->os());
  if (llvm::Error error = (*output)->close())
    return reportFileError(std::move(error));
  // The text refers to its file of weights, which is written first.
  if (std::error_code code = getBlobs().keepSideFile())
    return reportFileError(llvm::createFileError(options.weightsFile, code));
  if (llvm::Error error = (*output)->commit())
    return reportFileError(std::move(error));
  return CompileStatus::Done;
}

/// Returns the last stage before the text of --emit, or nothing for other
/// outputs.
static std::optional<Stage> getTextStage(Emit emit) {
  switch (emit) {
  case Emit::Graph:
    return Stage::Graph;
  case Emit::Tile:
    return Stage::Tile;
  case Emit::Linalg:
    return Stage::Linalg;
  case Emit::LLVM:
    return Stage::LLVM;
  default:
    return std::nullopt;
  }
}

/// Prints those of the first program.
void Compilation::printStatistics() {
  FailureOr<func::FuncOp> program = findHostProgram(*programs.front().module);
  if (failed(program))
    return;
  diagnostics << "launches: " << getLaunches(*program).size() << "\n";
  SmallVector<int64_t> symbols = getTypicalSymbols(*program);
  ArenaSize arena = getArenaSize(*program, symbols);
  diagnostics << "arena_bytes: " << arena.bytes << "\n"
              << "arena_lower_bound_bytes: " << arena.lowerBound << "\n";
  if (!symbols.empty()) {
    diagnostics << "arena_at: ";
    auto names = (*program)->getAttrOfType<ArrayAttr>(host::symbolsAttr);
    llvm::interleaveComma(
        llvm::enumerate(symbols), diagnostics, [&](auto symbol) {
          StringRef name = cast<StringAttr>(names[symbol.index()]).getValue();
          if (name.empty())
            diagnostics << "s" << symbol.index();
          diagnostics << name << "=" << symbol.value();
        });
    diagnostics << "\n";
  }
  auto weights = (*program)->getAttrOfType<IntegerAttr>(host::weightsBytesAttr);
  diagnostics << "weights_bytes: " << (weights ? weights.getInt() : 0) << "\n";
}

/// Collects the report of the first program before it is lowered.
CompileStatus Compilation::beginReport() {
  if (!gathered)
    return CompileStatus::Done;
  if (failed(gatherReport(*programs.front().module, *gathered)))
    return fail();
  gathered->model = llvm::sys::path::stem(options.input).str();
  gathered->optLevel = options.optLevel;
  if (options.precisionErrors)
    gathered->precision = *options.precisionErrors;
  if (options.cpu)
    for (const cpu::CpuTarget &target : targets)
      gathered->targets.push_back("cpu:" + target.cpu);
  auto cpu = cast<tile::CpuTargetAttr>(targetAttrs.front());
  gathered->cacheBytes = {{"l2", cpu.getL2Bytes()}, {"l3", cpu.getL3Bytes()}};
  gathered->vectorBytes = cpu.getVectorBytes();
  gathered->flopsPerByte = cpu.getFlopsPerByte();
  for (tile::CpuTrait trait : cpu.getTraits())
    gathered->traits.push_back(stringifyEnum(trait).str());
  llvm::append_range(gathered->targets, options.cudaTargets);
  return CompileStatus::Done;
}

/// Writes the report after the kernels are compiled and before the output, to a
/// file that is kept if the output is.
CompileStatus Compilation::writeReport() {
  if (!gathered)
    return CompileStatus::Done;
  auto opened = OutputFile::create(options.report);
  if (!opened)
    return reportFileError(opened.takeError());
  reportFile = std::move(*opened);
  bool isHTML = llvm::sys::path::extension(options.report) == ".html";
  (isHTML ? writeHTML : writeJSON)(*gathered, reportFile->os());
  if (llvm::Error error = reportFile->close())
    return reportFileError(std::move(error));
  return CompileStatus::Done;
}

CompileStatus Compilation::writeONNX() {
  ModuleOp module = *programs.front().module;
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() != 1 || !functions.front().getBody().hasOneBlock()) {
    module.emitError("unsupported: expected one function of graph ops to be "
                     "exported, but got ")
        << functions.size();
    return fail();
  }
  llvm::Error error = ::adze::writeOutput(
      options.output, [&](llvm::raw_ostream &os) -> llvm::Error {
        if (succeeded(exportONNX(functions.front(), os)))
          return llvm::Error::success();
        return llvm::createStringError("nothing was written");
      });
  if (!error)
    return CompileStatus::Done;
  if (!error.isA<llvm::FileError>() && sawError) {
    llvm::consumeError(std::move(error));
    return fail();
  }
  return reportFileError(std::move(error));
}

/// Returns the programs of a text that has several, which are nested modules.
static SmallVector<ModuleOp> getPrograms(ModuleOp text) {
  SmallVector<ModuleOp> found(text.getOps<ModuleOp>());
  bool isAll = found.size() == text.getBody()->getOperations().size();
  return isAll ? found : SmallVector<ModuleOp>();
}

/// Creates a program for each kind of device from the loaded module. They are
/// independent from here on, as layouts, clusters and accumulation depend on
/// the device.
CompileStatus Compilation::formPrograms() {
  ArrayRef<Attribute> all = targetAttrs;
  SmallVector<ArrayRef<Attribute>, 2> kinds;
  if (options.cpu && options.emit != Emit::PTX)
    kinds.push_back(all.take_front(targets.size()));
  if (!options.cudaTargets.empty() &&
      (options.emit != Emit::ONNX || kinds.empty()))
    kinds.push_back(all.take_back(options.cudaTargets.size()));
  SmallVector<ModuleOp> apart = getPrograms(*module);
  for (auto [number, kind] : llvm::enumerate(kinds)) {
    Program &program = programs.emplace_back();
    if (apart.empty()) {
      program.module = number + 1 == kinds.size()
                           ? std::move(module)
                           : OwningOpRef(module->clone());
    } else {
      bool isForGpus = isa<tile::CudaTargetAttr>(kind.front());
      auto *found = llvm::find_if(apart, [&](ModuleOp candidate) {
        return bool(tile::findCudaTarget(candidate)) == isForGpus;
      });
      if (found == apart.end()) {
        emitError(module->getLoc())
            << "expected the text to have a module for "
            << (isForGpus ? "GPUs (#tile.cuda)" : "CPUs (#tile.cpu)");
        return CompileStatus::InputAtFault;
      }
      program.module = OwningOpRef(found->clone());
    }
    if (failed(restoreHostProgram(*program.module, kind.front())))
      return CompileStatus::InputAtFault;
    tile::setTargets(*program.module, kind);
    if (number > 0)
      program.prefix = "devices.";
  }
  module = nullptr;
  return CompileStatus::Done;
}

/// Reads the attribute that graph-probe-precision added to the module.
static void readProbedProducts(ModuleOp module,
                               std::vector<ProbedProduct> &products) {
  auto rows = module->getAttrOfType<ArrayAttr>(graph::kProbedProductsAttribute);
  for (auto row : rows.getAsRange<DictionaryAttr>())
    products.push_back({row.getAs<StringAttr>("name").str(),
                        row.getAs<FloatAttr>("work").getValueAsDouble()});
}

CompileStatus Compilation::runStages() {
  if (failed(resolveTargets()))
    return CompileStatus::Usage;
  if (CompileStatus status = formPrograms(); status != CompileStatus::Done)
    return status;
  std::optional<Stage> last = getTextStage(options.emit);
  if (options.limit && options.limit->stage == Stage::Import &&
      failed(continueAsReference(Stage::Import, programs.front())))
    return fail();
  for (Stage stage : {Stage::Graph, Stage::Tile, Stage::Linalg, Stage::Host}) {
    if (failed(runStage(stage)))
      return fail();
    if (stage == Stage::Graph && options.probed)
      readProbedProducts(*programs.front().module, *options.probed);
    if (stage == Stage::Tile && options.tune != Tune::Off && !isReference) {
      CompileStatus status = tune();
      bool isOver = options.trial && options.trial->isOver();
      if (status != CompileStatus::Done || isOver)
        return status;
    }
    if (last == stage)
      return writeText();
    if (stage == Stage::Graph && options.emit == Emit::ONNX)
      return writeONNX();
  }
  if (options.stats)
    printStatistics();
  CompileStatus status = beginReport();
  if (status == CompileStatus::Done)
    status = writeOutput();
  if (status == CompileStatus::Done && reportFile)
    if (llvm::Error error = reportFile->commit())
      return reportFileError(std::move(error));
  return status;
}

CompileStatus Compilation::writeOutput() {
  if (options.emit == Emit::PTX)
    return writePTX();
  if (options.emit != Emit::LLVM)
    return writeModule();
  if (failed(resolveTargets()))
    return CompileStatus::Usage;
  for (Stage stage : {Stage::Kernel, Stage::LLVM})
    if (failed(runStage(stage)))
      return fail();
  if (CompileStatus status = writeReport(); status != CompileStatus::Done)
    return status;
  return writeText();
}

/// Returns true if floats become 8-bit integers.
static bool quantizes(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        auto blocks = dyn_cast<graph::DequantizeBlocksOp>(op);
        auto cast = dyn_cast<graph::CastOp>(op);
        bool isByte =
            (blocks && blocks.getInt8Products()) ||
            (cast && getElementTypeOrSelf(cast.getResult()).isInteger(8) &&
             isa<FloatType>(getElementTypeOrSelf(cast.getInput())));
        return isByte ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

CompileStatus Compilation::run() {
  progress(getStageName(Stage::Import));
  CompileStatus status = createDumpFolder();
  if (status == CompileStatus::Done)
    status = load();
  if (status != CompileStatus::Done || options.check)
    return status;
  if (options.isQuantized)
    *options.isQuantized = options.precision != "f32" || quantizes(*module);
  if (gathered)
    collectNodes(*module, gathered->nodes);
  if (failed(dumpPhase(Stage::Import, *module, "")))
    return fail();
  status = options.cache.empty() ? runStages() : runCached();
  if (CompileStatus kept = keepDumpedConstants(); status == CompileStatus::Done)
    status = kept;
  if (options.stats)
    statistics.print(diagnostics);
  // Failures after a cancellation are caused by it.
  return status != CompileStatus::Done && sawCancel ? CompileStatus::Cancelled
                                                    : status;
}

} // namespace adze
