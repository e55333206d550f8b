// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The whole compilation as one call.
#ifndef ADZE_PIPELINE_COMPILE_H
#define ADZE_PIPELINE_COMPILE_H

#include "Pipeline/Stages.h"
#include "Pipeline/TuneDatabase.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <vector>

namespace adze {

/// The status of a run of the compiler.
enum class CompileStatus {
  Done = 0,
  InputAtFault = 1,
  Usage = 2,
  Unsupported = 3,
  Cancelled = 4, // by CompileObserver::isCancelled
  Defect = 70,
};

/// A message about an input or an option.
struct CompileMessage {
  enum class Severity { Error, Warning, Remark, Note };

  Severity severity = Severity::Error;
  std::string file;              // as given; empty if there is none
  unsigned line = 0, column = 0; // in MLIR text; 0 elsewhere
  std::string node, op;          // "conv1", "ai.onnx.Conv-22"; may be empty
  std::string text;              // without any of these

  /// Prints "error: model.onnx: node 'conv1' (ai.onnx.Conv-22): text", with
  /// the first word in color where the stream has colors enabled.
  void print(llvm::raw_ostream &os) const;
};

/// Observes a compilation. Calls come from its threads, one at a time, except
/// isCancelled, which several threads may call at once.
class CompileObserver {
public:
  virtual ~CompileObserver();
  virtual void report(const CompileMessage &message) = 0;
  /// Called when the compilation begins a stage ("import", those of Stages.def,
  /// "tune", "link"), or has completed `done` of `all` kernels in it; 0 of 0 if
  /// it has none.
  virtual void progress(llvm::StringRef stage, size_t done, size_t all) {}
  /// Returns true to cancel the compilation. Called before each pass and each
  /// kernel.
  virtual bool isCancelled() { return false; }
};

/// The kind of output.
enum class Emit { Graph, Tile, Linalg, LLVM, PTX, Object, ONNX, Module };

/// The source of block sizes: the heuristics of convert-graph-to-tile, a cost
/// model, or measurements in this process.
enum class Tune { Off, Model, Measure };

/// The verification of a module.
enum class Verify { None, Differential, Passes };

struct PassLimit;

/// A product that --precision applies to.
struct ProbedProduct {
  std::string name; // of its ONNX node
  double work = 0;  // multiplications; dynamic dims count as 1
  // Error of the outputs relative to their range if only it is narrow.
  double error = -1;
  bool isWide = false;
};

/// One compilation of a search for the schedules of a GPU's kernels.
struct ScheduleTrial {
  struct Kernel {
    std::string key; ///< in the database
    TuneEntry entry; ///< without a time
  };

  /// The kernels that are not in the database get the choice of this number of
  /// `tile::listSchedules`, and the first one if there are fewer. Without a
  /// number, the compilation ends without an output if there are such kernels.
  std::optional<unsigned> alternative;
  /// Results: the kernels that have this choice, the most choices of a kernel
  /// that is not in the database, and the dims of the inputs for the typical
  /// sizes.
  std::vector<Kernel> kernels;
  unsigned mostChoices = 0;
  std::vector<std::vector<int64_t>> inputDims;

  /// Returns true if the compilation has no output.
  bool isOver() const { return !alternative && mostChoices; }
};

struct CompileOptions {
  std::string input, output; // "-": standard output, of text only
  /// The file with the bytes of the input; empty: `input` itself. Messages,
  /// external data and the name of the module refer to `input`.
  std::string contents;
  // Receives messages instead of the stream.
  CompileObserver *observer = nullptr;
  Emit emit = Emit::Module;
  unsigned optLevel = 2;
  unsigned jobs = 0; // 0: the number of hardware threads
  bool quiet = false, verbose = false, timing = false, stats = false;
  bool check = false; // import only
  bool json = false;  // the result of `check` goes to `output`, as JSON
  bool cpu = true;    // code for the CPU of the host
  std::vector<std::string> cudaTargets; // "cuda:sm_90a"
  /// Kernels without device code run on the CPU (requires `cpu`); otherwise
  /// they are errors.
  bool allowHostFallback = false;
  std::string triple; // empty: that of the host
  std::vector<std::string> cpus = {"native"};
  // "L2,L3" of the CPUs; empty: the defaults
  std::string caches;
  std::vector<std::string> dims, shapes; // as given to --dim and --shape
  std::vector<std::string> blobDirs;
  std::string weightsFile; // side file of folded constants; empty: temporary
  // File for the weights of the module; empty: none.
  std::string externalWeights;
  std::string kernels; // tile kernels in a file
  Tune tune = Tune::Off;
  std::string tuneDatabase; // file of measurements, or empty
  /// If not null, schedules for a GPU are tried.
  ScheduleTrial *trial = nullptr;
  unsigned maxSeconds = 60;    // of searches
  bool checkBounds = false;    // tile kernels of the text check bounds
  bool batchInvariant = false; // no choice depends on the number of rows
  /// The type in which products of f32 are computed: f32, bf16 or f16; or auto,
  /// which Verify/AutoPrecision.h handles and not compile.
  std::string precision = "f32";
  /// For auto: the largest error of an output, relative to its range.
  double maxError = 0.01;
  /// Products that stay in f32, by the indices of graph-set-precision.
  std::vector<int64_t> wideProducts;
  /// If not null, the module computes in f32, and an input selects the products
  /// that round to `precision`; these are listed here.
  std::vector<ProbedProduct> *probed = nullptr;
  /// The result of auto, for the report, or null.
  const std::vector<ProbedProduct> *precisionErrors = nullptr;
  WeightsPrecision weightsPrecision;
  /// The type of states that are f32 in the model: f32, f16, bf16 or int8.
  std::string cachePrecision = "f32";
  /// Pairs INPUT=OUTPUT of states, where * matches any text, or "none".
  std::vector<std::string> states;
  /// Patterns of names of initializers whose values a context may override.
  std::vector<std::string> overridable;
  std::vector<std::string> plugins; // libraries with dialects and passes
  /// Textual pass pipelines that run after a stage.
  std::vector<std::pair<Stage, std::string>> stagePasses;
  std::string dumpPhases;       // directory, or empty
  std::string report;           // FILE.json or FILE.html, or empty
  std::string cache;            // directory of finished modules, or empty
  Verify verify = Verify::None; // handled by Verify/*.h, not by compile
  /// The position where the reference path takes over; requires a context
  /// without threads.
  PassLimit *limit = nullptr;
  bool winograd = true; // if it is faster
  /// At -O0 not even canonicalisation runs, which allows testing it.
  bool literal = false;
  /// Fast compilation of slow machine code, for tests with many small models.
  bool quickCode = false;
  /// Memory is not freed, as the process ends after the compilation.
  bool disableFree = false;
  /// The file for the IR before a pass that fails, or empty; and the command
  /// that is named in it. Requires a context without threads.
  std::string reproducer, command;
  unsigned injectCrash = 0; // threads that crash at once
  bool injectFault = false;
  /// If not null, set to true if the module rounds floats to narrower types
  /// than the model, or if the model rounds to 8-bit integers.
  bool *isQuantized = nullptr;
};

/// Loads libraries with passes and dialects (the plugin interface of MLIR); the
/// passes are then registered by name, the dialects in `registry`.
llvm::Error loadPlugins(const std::vector<std::string> &paths,
                        mlir::DialectRegistry &registry);

/// Registers the names of our passes and of general MLIR passes, for
/// CompileOptions::stagePasses.
void registerStagePasses();

/// Compiles a model or MLIR text of any level. Messages go to `diagnostics`.
CompileStatus compile(const CompileOptions &options,
                      llvm::raw_ostream &diagnostics);

/// Prepares a context for consecutive compilations.
void prepareContext(mlir::MLIRContext &context);

/// Compiles in a prepared context, on its threads (CompileOptions::jobs has no
/// effect), for programs that compile many models.
CompileStatus compile(const CompileOptions &options,
                      llvm::raw_ostream &diagnostics,
                      mlir::MLIRContext &context);

} // namespace adze

#endif // ADZE_PIPELINE_COMPILE_H
