// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The state of one compilation.
#ifndef ADZE_LIB_PIPELINE_COMPILATION_H
#define ADZE_LIB_PIPELINE_COMPILATION_H

#include "Dialect/Graph/IR/Blob.h"
#include "Dialect/Host/IR/Host.h"
#include "Import/ONNX/Import.h"
#include "Kernels.h"
#include "Package/Package.h"
#include "PassLimiter.h"
#include "Pipeline/Compile.h"
#include "Report.h"
#include "Support/OutputFile.h"
#include "Support/Statistics.h"
#include "Target/CUDA/CompileKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/ThreadPool.h"
#include <atomic>
#include <mutex>

namespace adze {

/// A host program and its kernels, for the devices of one kind.
struct Program {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The prefix of the names of its functions in the compiled module.
  std::string prefix;

  bool isForDevices() const;
};

class Compilation {
public:
  /// `context` was prepared by prepareContext.
  Compilation(const CompileOptions &options, llvm::raw_ostream &diagnostics,
              mlir::MLIRContext &context);
  ~Compilation();

  CompileStatus run();

private:
  // Compile.cpp
  CompileStatus load();
  CompileStatus loadModel();
  CompileStatus check(const ImportOptions &importOptions);
  void printCheck(const ImportReport &found);
  CompileStatus runStages();
  CompileStatus formPrograms();
  mlir::LogicalResult runStage(Stage stage);
  mlir::LogicalResult runStage(Stage stage, Program &program);
  void keepHostProgram(mlir::ModuleOp module);
  mlir::LogicalResult continueAsReference(Stage stage, Program &program);
  void instrument(mlir::PassManager &manager);
  mlir::LogicalResult addStagePasses(Stage stage, mlir::PassManager &manager);
  void report(mlir::Diagnostic &diagnostic);
  void report(const CompileMessage &message);
  void report(const ImportIssue &issue);
  void progress(llvm::StringRef stage, size_t done = 0, size_t all = 0);
  bool isCancelled();
  void skipPassesOnceCancelled();
  CompileStatus fail();
  graph::BlobTable &getBlobs();
  CompileStatus writeText();
  /// Emits an error of the system about a file.
  CompileStatus reportFileError(llvm::Error error);
  /// Creates the folder of --dump-phases, where constants that the compiler
  /// computes also go if they have no other file: texts refer to it.
  CompileStatus createDumpFolder();
  /// Writes the module to the folder; `prefix` distinguishes programs.
  mlir::LogicalResult dumpPhase(Stage stage, mlir::ModuleOp module,
                                llvm::StringRef prefix);
  CompileStatus keepDumpedConstants();
  void printStatistics();
  CompileStatus beginReport();
  CompileStatus writeReport();
  CompileStatus writeOutput();
  CompileStatus writeONNX();

  // Tune.cpp
  CompileStatus tune();
  // TuneSchedules.cpp
  CompileStatus setTunedSchedules();

  // Cache.cpp
  CompileStatus runCached();
  std::string getCacheKey();
  std::vector<std::string> getOutputs() const;

  // Assemble.cpp
  CompileStatus writeModule();
  CompileStatus writePTX();
  mlir::FailureOr<cuda::CompileOptions> getCudaOptions(llvm::StringRef name);
  mlir::LogicalResult resolveTargets();
  void printSlowestKernels(llvm::ArrayRef<KernelObject> objects,
                           llvm::StringRef prefix,
                           llvm::ArrayRef<host::LaunchOp> launches);
  mlir::LogicalResult compileForCpus(Program &program,
                                     package::ModuleDescription &description,
                                     package::ModuleParts &parts);
  mlir::LogicalResult
  compileForDevices(Program &program, package::ModuleDescription &description,
                    std::vector<mlir::OwningOpRef<mlir::ModuleOp>> &helpers);
  mlir::LogicalResult
  checkDeviceKernels(Program &program, package::ModuleDescription &description,
                     const llvm::StringMap<std::string> &refused);
  void reportLoops(Program &program,
                   llvm::ArrayRef<cuda::CompiledKernel> kernels,
                   llvm::StringRef target);
  void reportNoDeviceCode(host::LaunchOp launch, llvm::StringRef target,
                          llvm::StringRef reason);
  mlir::LogicalResult
  compileHost(Program &program,
              std::vector<mlir::OwningOpRef<mlir::ModuleOp>> &helpers,
              package::ModuleParts &parts);
  mlir::LogicalResult compileProgram(Program &program,
                                     package::ModuleDescription &description,
                                     package::ModuleParts &parts);
  mlir::FailureOr<package::ModuleParts> buildParts();

  const CompileOptions &options;
  llvm::raw_ostream &diagnostics;
  mlir::MLIRContext &context;
  mlir::DiagnosticEngine::HandlerID handler;
  mlir::DefaultTimingManager timing;
  mlir::TimingScope rootTiming;
  StatisticsCollector statistics;
  StageOptions stageOptions;
  std::unique_ptr<PassLimiter> limiter;     // with options.limit
  bool isReference = false;                 // since the limit
  mlir::OwningOpRef<mlir::ModuleOp> module; // as loaded
  /// One for each kind of device, that for CPUs first; created from `module`.
  llvm::SmallVector<Program, 2> programs;
  std::unique_ptr<Report> gathered; // with options.report
  std::unique_ptr<OutputFile> reportFile;
  std::vector<cpu::CpuTarget> targets; // best first
  /// The targets as attributes, followed by the GPUs.
  llvm::SmallVector<mlir::Attribute> targetAttrs;
  bool inputIsText = false, sawError = false, sawUnsupported = false;
  bool sawFileError = false;    // of the system, such as a full disk
  bool sawHostFallback = false; // not permitted by the options
  std::atomic<bool> sawCancel = false;
  std::mutex observing; // calls of the observer
};

/// Prints the module with locations, so that compiling the text has the same
/// result.
void printModule(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_COMPILATION_H
