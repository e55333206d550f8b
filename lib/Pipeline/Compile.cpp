// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The whole compilation: load, stage after stage, write.
#include "Compilation.h"
#include "Describe.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Pipeline/Dialects.h"
#include "Report.h"
#include "Transforms/ArenaFormula.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

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
  MLIRContext context(MLIRContext::Threading::DISABLED);
  if (options.jobs != 1) {
    pool = std::make_unique<llvm::DefaultThreadPool>(
        llvm::hardware_concurrency(options.jobs));
    context.setThreadPool(*pool);
  }
  prepareContext(context);
  return compile(options, diagnostics, context);
}

CompileStatus compile(const CompileOptions &options,
                      llvm::raw_ostream &diagnostics, MLIRContext &context) {
  return Compilation(options, diagnostics, context).run();
}

Compilation::Compilation(const CompileOptions &options,
                         llvm::raw_ostream &diagnostics, MLIRContext &context)
    : options(options), diagnostics(diagnostics), context(context) {
  // Texts name blobs relative to themselves; so do those that we write.
  auto &blobs = context.getOrLoadDialect<graph::GraphDialect>()->getBlobs();
  blobs.searchDirs = options.blobDirs;
  blobs.searchDirs.push_back(llvm::sys::path::parent_path(options.input).str());
  blobs.printBase = options.output == "-"
                        ? ""
                        : llvm::sys::path::parent_path(options.output).str();
  blobs.sideFile = options.weightsFile;

  handler = context.getDiagEngine().registerHandler(
      [this](Diagnostic &diagnostic) { report(diagnostic); });
  if (options.timing) {
    timing.setEnabled(true);
    rootTiming = timing.getRootScope();
  }
  stageOptions.optLevel = options.optLevel;
  // GPU kernels of the same module are made of the same graph: it stays direct.
  stageOptions.winograd = options.winograd && options.cudaTargets.empty();
  stageOptions.injectCrash = options.injectCrash;
}

Compilation::~Compilation() { context.getDiagEngine().eraseHandler(handler); }

/// "model.onnx: node 'conv1': " or "file.mlir:3:5: ".
static std::string describeLocation(Location loc) {
  SmallVector<StringRef> nodes = getNodeNames(loc);
  FileLineColLoc file;
  loc->walk([&](Location part) {
    file = dyn_cast<FileLineColLoc>(part);
    return file ? WalkResult::interrupt() : WalkResult::advance();
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!file)
    return text;
  os << file.getFilename().getValue();
  if (nodes.empty())
    os << ":" << file.getLine() << ":" << file.getColumn();
  else
    os << ": node '" << nodes.front() << "'";
  os << ": ";
  return text;
}

void Compilation::report(Diagnostic &diagnostic) {
  StringRef severity = "error";
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error: {
    sawError = true;
    sawUnsupported |= StringRef(diagnostic.str()).contains("unsupported");
    break;
  }
  case DiagnosticSeverity::Warning:
    severity = "warning";
    if (options.quiet)
      return;
    break;
  case DiagnosticSeverity::Remark:
    severity = "remark";
    if (!options.verbose)
      return;
    break;
  case DiagnosticSeverity::Note:
    severity = "note";
    break;
  }
  diagnostics << severity << ": " << describeLocation(diagnostic.getLocation())
              << diagnostic << "\n";
  // What MLIR adds by itself, such as the op's text, helps its developers; the
  // text of a whole function would not.
  if (options.verbose)
    for (Diagnostic &note : diagnostic.getNotes())
      diagnostics << "note: " << StringRef(note.str()).take_front(2000) << "\n";
}

/// After a stage failed: whose fault it is.
CompileStatus Compilation::fail() const {
  if (sawUnsupported)
    return CompileStatus::Unsupported;
  // An imported model was checked: what fails then is ours. Text is anyone's.
  return inputIsText ? CompileStatus::InputAtFault : CompileStatus::Defect;
}

CompileStatus Compilation::load() {
  StringRef extension = llvm::sys::path::extension(options.input);
  inputIsText = extension == ".mlir" || extension == ".mlirbc";
  if (!inputIsText)
    return loadModel();
  module = parseSourceFile<ModuleOp>(options.input, &context);
  return module ? CompileStatus::Done : CompileStatus::InputAtFault;
}

void Compilation::instrument(PassManager &manager) {
  if (options.timing)
    manager.enableTiming(rootTiming);
  if (options.stats)
    manager.addInstrumentation(statistics.createInstrumentation());
}

LogicalResult Compilation::runStage(Stage stage) {
  PassManager manager(&context);
  instrument(manager);
  buildStage(stage, manager, stageOptions);
  if (failed(manager.run(*module)))
    return failure();
  dumpPhase(stage);
  return success();
}

/// The text of the module, with locations, so that what is compiled from it is
/// the same.
static void printModule(ModuleOp module, llvm::raw_ostream &os) {
  module.print(os, OpPrintingFlags().enableDebugInfo(true));
  os << "\n";
}

void Compilation::dumpPhase(Stage stage) {
  if (options.dumpPhases.empty())
    return;
  llvm::sys::fs::create_directories(options.dumpPhases);
  llvm::SmallString<128> path(options.dumpPhases);
  llvm::sys::path::append(path, std::to_string(static_cast<unsigned>(stage)) +
                                    "-" + getStageName(stage) + ".mlir");
  std::error_code ec;
  llvm::raw_fd_ostream os(path, ec);
  if (ec) {
    emitWarning(UnknownLoc::get(&context)) << path << ": " << ec.message();
    return;
  }
  printModule(*module, os);
}

CompileStatus
Compilation::writeFile(StringRef path,
                       llvm::function_ref<void(llvm::raw_ostream &)> write) {
  std::error_code ec;
  llvm::ToolOutputFile file(path, ec, llvm::sys::fs::OF_None);
  if (ec) {
    emitError(UnknownLoc::get(&context)) << path << ": " << ec.message();
    return CompileStatus::InputAtFault;
  }
  write(file.os());
  file.keep();
  return CompileStatus::Done;
}

CompileStatus Compilation::writeText() {
  return writeFile(options.output,
                   [&](llvm::raw_ostream &os) { printModule(*module, os); });
}

/// The last stage before the text that --emit asks for; none for other output.
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

void Compilation::printStatistics() {
  FailureOr<func::FuncOp> program = findHostProgram(*module);
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

CompileStatus
Compilation::writeReport(std::unique_ptr<llvm::ToolOutputFile> &file) {
  FailureOr<Report> report = makeReport(*module);
  if (failed(report))
    return fail();
  report->model = llvm::sys::path::stem(options.input).str();
  report->optLevel = options.optLevel;
  if (failed(resolveTargets()))
    return CompileStatus::Usage;
  if (options.cpu)
    for (const cpu::CpuTarget &target : targets)
      report->targets.push_back("cpu:" + target.cpu);
  llvm::append_range(report->targets, options.cudaTargets);
  std::error_code ec;
  file = std::make_unique<llvm::ToolOutputFile>(options.report, ec,
                                                llvm::sys::fs::OF_Text);
  if (ec) {
    emitError(UnknownLoc::get(&context))
        << options.report << ": " << ec.message();
    return CompileStatus::InputAtFault;
  }
  bool isHTML = llvm::sys::path::extension(options.report) == ".html";
  (isHTML ? writeHTML : writeJSON)(*report, file->os());
  return CompileStatus::Done;
}

CompileStatus Compilation::runStages() {
  std::optional<Stage> last = getTextStage(options.emit);
  for (Stage stage : {Stage::Graph, Stage::Tile, Stage::Linalg, Stage::Host}) {
    if (failed(runStage(stage)))
      return fail();
    if (last == stage)
      return writeText();
  }
  if (options.stats)
    printStatistics();
  // It stays if the output does.
  std::unique_ptr<llvm::ToolOutputFile> report;
  CompileStatus status = CompileStatus::Done;
  if (!options.report.empty())
    status = writeReport(report);
  if (status == CompileStatus::Done)
    status = writeOutput();
  if (status == CompileStatus::Done && report)
    report->keep();
  return status;
}

CompileStatus Compilation::writeOutput() {
  if (options.emit == Emit::PTX)
    return writePTX();
  if (options.emit != Emit::LLVM)
    return writeModule();
  if (failed(resolveTargets()))
    return CompileStatus::Usage;
  stageOptions.vectorBits = targets.front().vectorBits();
  for (Stage stage : {Stage::Kernel, Stage::LLVM})
    if (failed(runStage(stage)))
      return fail();
  return writeText();
}

CompileStatus Compilation::run() {
  CompileStatus status = load();
  if (status != CompileStatus::Done || options.check)
    return status;
  dumpPhase(Stage::Import);
  status = options.cache.empty() ? runStages() : runCached();
  if (options.stats)
    statistics.print(diagnostics);
  return status;
}

} // namespace adze
