// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The whole compilation as one call.
#ifndef ADZE_PIPELINE_COMPILE_H
#define ADZE_PIPELINE_COMPILE_H

#include "Pipeline/Stages.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

namespace adze {

/// What a run of the compiler ends with.
enum class CompileStatus {
  Done = 0,
  InputAtFault = 1,
  Usage = 2,
  Unsupported = 3,
  Cancelled = 4, // by CompileObserver::isCancelled
  Defect = 70,
};

/// What is said of an input, or of what was asked for.
struct CompileMessage {
  enum class Severity { Error, Warning, Remark, Note };

  Severity severity = Severity::Error;
  std::string file;              // as it was given; empty outside of any file
  unsigned line = 0, column = 0; // in MLIR text; 0 elsewhere
  std::string node, op;          // "conv1", "ai.onnx.Conv-22"; may be empty
  std::string text;              // without any of these

  /// Prints "error: model.onnx: node 'conv1' (ai.onnx.Conv-22): text", with
  /// the first word in color where the stream has colors enabled.
  void print(llvm::raw_ostream &os) const;
};

/// Follows a compilation. Calls come from its threads, one at a time; but
/// isCancelled may be called from several at once.
class CompileObserver {
public:
  virtual ~CompileObserver();
  virtual void report(const CompileMessage &message) = 0;
  /// The compilation has begun a stage ("import", those of Stages.def, "tune",
  /// "link"), or has done so many kernels of `all` in it; 0 of 0 where it has
  /// none.
  virtual void progress(llvm::StringRef stage, size_t done, size_t all) {}
  /// Returns true if the compilation is to end. It is asked before each pass
  /// and each kernel.
  virtual bool isCancelled() { return false; }
};

/// What is written in the end.
enum class Emit { Graph, Tile, Linalg, LLVM, PTX, Object, ONNX, Module };

/// Where block sizes come from: the rules of convert-graph-to-tile, a model of
/// the cost, or measurements in this process.
enum class Tune { Off, Model, Measure };

/// What a module that was made is held to.
enum class Verify { None, Differential, Passes };

struct PassCut;

/// A product that --precision speaks of.
struct ProbedProduct {
  std::string name;  // of its ONNX node
  double work = 0;   // multiplications; open dims count as 1
  double error = -1; // of the outputs' range, where it alone is narrow
  bool isWide = false;
};

struct CompileOptions {
  std::string input, output; // "-": standard output, of text only
  /// The file that holds the input's bytes; empty: `input` itself. Messages,
  /// external data and the module's name refer to `input`.
  std::string contents;
  CompileObserver *observer = nullptr; // takes messages instead of the stream
  Emit emit = Emit::Module;
  unsigned optLevel = 2;
  unsigned jobs = 0; // 0: as many as the machine runs at once
  bool quiet = false, verbose = false, timing = false, stats = false;
  bool check = false; // import only
  bool json = false;  // what `check` finds goes to `output`, as JSON
  bool cpu = true;    // code for the host's CPU
  std::vector<std::string> cudaTargets; // "cuda:sm_90a"
  /// Kernels without device code run on the CPU (needs `cpu`); else they are
  /// errors.
  bool allowHostFallback = false;
  std::string triple; // empty: the host's
  std::vector<std::string> cpus = {"native"};
  std::string caches;                    // "L2,L3" of the CPUs; empty: theirs
  std::vector<std::string> dims, shapes; // as given to --dim and --shape
  std::vector<std::string> blobDirs;
  std::string weightsFile; // side file of folded constants; empty: temporary
  std::string externalWeights; // the module's weights; empty: in the module
  std::string kernels;         // tile kernels in a file
  Tune tune = Tune::Off;
  std::string tuneDatabase;    // what was measured, or empty
  unsigned maxSeconds = 60;    // of searches
  bool checkBounds = false;    // tile kernels of the text check windows
  bool batchInvariant = false; // no choice depends on the number of rows
  /// The type that products of f32 are computed in: f32, bf16 or f16; or auto,
  /// which is not for compile, but for Verify/AutoPrecision.h.
  std::string precision = "f32";
  /// For auto: the largest error of an output, as a part of its range.
  double maxError = 0.01;
  /// Products that stay in f32, by graph-set-precision's numbers.
  std::vector<int64_t> wideProducts;
  /// Not null: the module computes in f32, and an input says which products
  /// round to `precision`; these are listed here.
  std::vector<ProbedProduct> *probed = nullptr;
  /// What auto found, for the report; null: nothing.
  const std::vector<ProbedProduct> *precisionErrors = nullptr;
  WeightsPrecision weightsPrecision;
  /// The type of caches that are f32 in the model: f32, f16, bf16 or int8.
  std::string cachePrecision = "f32";
  /// Pairs INPUT=OUTPUT of values of which the output continues the input, with
  /// a * in each for any text; or "none".
  std::vector<std::string> states;
  /// Patterns of names of initializers whose values a context may override.
  std::vector<std::string> overridable;
  std::vector<std::string> plugins; // libraries with dialects and passes
  /// Textual pass pipelines that run after a stage.
  std::vector<std::pair<Stage, std::string>> stagePasses;
  std::string dumpPhases;       // directory, or empty
  std::string report;           // FILE.json or FILE.html, or empty
  std::string cache;            // directory of finished modules, or empty
  Verify verify = Verify::None; // not by compile, but by Verify/*.h
  /// Where the reference path takes over; of a context without threads.
  PassCut *cut = nullptr;
  bool winograd = true; // where it is faster
  /// At -O0 not even canonicalisation: for tests of what that does.
  bool literal = false;
  /// Machine code that is made quickly and runs slowly: for tests with many
  /// small models.
  bool quickCode = false;
  /// Where the IR before a pass that fails is written, or empty; and the
  /// command that it is said to come from. Needs a context without threads.
  std::string reproducer, command;
  unsigned injectCrash = 0; // threads that crash at once
  bool injectFault = false;
  /// Set to whether the module rounds floats to narrower types than the model
  /// says, or the model to 8-bit integers, if not null.
  bool *isQuantized = nullptr;
};

/// Loads libraries with passes and dialects (MLIR's plugin interface); the
/// passes are known by their names from then on, the dialects to `registry`.
llvm::Error loadPlugins(const std::vector<std::string> &paths,
                        mlir::DialectRegistry &registry);

/// Makes the names of our passes and of MLIR's general ones known, for
/// CompileOptions::stagePasses.
void registerStagePasses();

/// Compiles a model or MLIR text of any level. Messages go to `diagnostics`.
CompileStatus compile(const CompileOptions &options,
                      llvm::raw_ostream &diagnostics);

/// Readies a context for compilations, which may then follow one another in it.
void prepareContext(mlir::MLIRContext &context);

/// The same in a context made ready, on its threads (CompileOptions::jobs has
/// no effect): for programs that compile many models.
CompileStatus compile(const CompileOptions &options,
                      llvm::raw_ostream &diagnostics,
                      mlir::MLIRContext &context);

} // namespace adze

#endif // ADZE_PIPELINE_COMPILE_H
