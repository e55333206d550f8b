// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The flags of atranslate.
#include "CommandLine.h"
#include "Support/OutputFile.h"
#include "Support/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>

using namespace llvm;

namespace adze {

namespace {
/// All flags. LLVM's libraries register their own, which are hidden: only this
/// category is atranslate's interface.
struct Flags {
  cl::OptionCategory category{"atranslate"};

  cl::opt<std::string> input{cl::Positional, cl::desc("MODEL.{onnx,mlir}"),
                             cl::cat(category)};
  cl::opt<std::string> output{"o",
                              cl::desc("Output file; - for text on "
                                       "standard output"),
                              cl::value_desc("FILE"), cl::cat(category)};
  cl::opt<char> optLevel{"O", cl::desc("-O0 (reference path) .. -O3"),
                         cl::Prefix, cl::init('2'), cl::cat(category)};
  cl::opt<unsigned> jobs{"j",         cl::desc("Threads to compile with"),
                         cl::Prefix,  cl::value_desc("N"),
                         cl::init(0), cl::cat(category)};
  cl::opt<bool> quiet{"q", cl::desc("Errors only"), cl::cat(category)};
  cl::opt<bool> verbose{"v", cl::desc("Remarks and notes too"),
                        cl::cat(category)};
  cl::opt<bool> timing{"timing", cl::desc("Print where the time went"),
                       cl::cat(category)};
  cl::opt<bool> stats{"stats", cl::desc("Print what passes did, and the arena"),
                      cl::cat(category)};
  cl::opt<Emit> emit{
      "emit", cl::desc("What to write"), cl::init(Emit::Module),
      cl::values(clEnumValN(Emit::Graph, "graph", "graph dialect"),
                 clEnumValN(Emit::Tile, "tile", "parametric tile kernels"),
                 clEnumValN(Emit::Linalg, "linalg", "the reference path"),
                 clEnumValN(Emit::LLVM, "llvm", "LLVM dialect"),
                 clEnumValN(Emit::PTX, "ptx", "PTX of the cuda target"),
                 clEnumValN(Emit::Object, "obj", "relocatable object"),
                 clEnumValN(Emit::ONNX, "onnx", "the graph as ONNX"),
                 clEnumValN(Emit::Module, "so", "loadable module")),
      cl::cat(category)};
  cl::list<std::string> targets{"target",
                                cl::desc("cpu or cuda:sm_NN; may be "
                                         "repeated"),
                                cl::value_desc("TARGET"), cl::cat(category)};
  cl::opt<bool> allowHostFallback{
      "allow-host-fallback",
      cl::desc("Run kernels without device code on the CPU; needs "
               "--target=cpu too"),
      cl::cat(category)};
  cl::opt<std::string> triple{"mtriple", cl::desc("Target triple of CPU code"),
                              cl::cat(category)};
  cl::list<std::string> cpus{"mcpu", cl::desc("CPUs, one variant each"),
                             cl::CommaSeparated, cl::value_desc("native|..."),
                             cl::cat(category)};
  cl::opt<std::string> caches{"mcache",
                              cl::desc("Second and third level of cache of "
                                       "the CPUs"),
                              cl::value_desc("1M,32M[,apart]"),
                              cl::cat(category)};
  cl::list<std::string> dims{
      "dim",
      cl::desc("Fix or bound a symbolic dim, or (N=?) "
               "give each dim of that name its own size"),
      cl::value_desc("N=1..64[:8]"), cl::cat(category)};
  cl::list<std::string> shapes{"shape", cl::desc("Shape of an input"),
                               cl::value_desc("x=1x3x224x224"),
                               cl::cat(category)};
  cl::opt<std::string> precision{"precision",
                                 cl::desc("f32 (what ONNX says), tf32, bf16 or "
                                          "f16"),
                                 cl::init("f32"), cl::cat(category)};
  cl::opt<bool> deterministic{"deterministic",
                              cl::desc("Results do not depend on threads; "
                                       "always on"),
                              cl::init(true), cl::cat(category)};
  cl::opt<bool> batchInvariant{"batch-invariant",
                               cl::desc("Results do not depend on the batch"),
                               cl::cat(category)};
  cl::opt<Tune> tune{
      "tune", cl::desc("Where block sizes come from"), cl::init(Tune::Off),
      cl::values(clEnumValN(Tune::Off, "off", "rules"),
                 clEnumValN(Tune::Model, "model", "a model of the cost"),
                 clEnumValN(Tune::Measure, "measure", "times taken here")),
      cl::cat(category)};
  cl::opt<std::string> tuneDb{"tune-db", cl::desc("Tuning log"),
                              cl::value_desc("FILE"), cl::cat(category)};
  cl::opt<unsigned> maxSeconds{"max-compile-seconds",
                               cl::desc("Bound on searches"),
                               cl::value_desc("N"), cl::cat(category)};
  cl::opt<std::string> kernels{"kernels",
                               cl::desc("Tile kernels for operators"),
                               cl::value_desc("FILE.mlir"), cl::cat(category)};
  cl::opt<std::string> weights{"weights", cl::desc("embed or file"),
                               cl::init("embed"), cl::cat(category)};
  cl::opt<std::string> cache{"cache",
                             cl::desc("Folder of finished modules, by content"),
                             cl::value_desc("DIR"), cl::cat(category)};
  cl::opt<std::string> winograd{
      "winograd",
      cl::desc("on or off: 3x3 convolutions with fewer multiplications"),
      cl::init("on"), cl::cat(category)};
  cl::opt<bool> check{"check", cl::desc("Only list what can't be compiled"),
                      cl::cat(category)};
  cl::opt<bool> json{"json",
                     cl::desc("With --check: as JSON on standard output"),
                     cl::cat(category)};
  cl::opt<std::string> dumpPhases{"dump-phases",
                                  cl::desc("Write the IR after each stage"),
                                  cl::value_desc("DIR"), cl::cat(category)};
  cl::opt<std::string> report{"report", cl::desc("Write a report"),
                              cl::value_desc("FILE.{json,html}"),
                              cl::cat(category)};
  cl::opt<std::string> verify{"verify",
                              cl::desc("none, differential or passes"),
                              cl::init("none"), cl::cat(category)};
  cl::list<std::string> plugins{"plugin",
                                cl::desc("Load dialects and passes, as of "
                                         "mlir-opt's plugins"),
                                cl::value_desc("LIB.so"), cl::cat(category)};
  cl::list<std::string> stagePasses{
      "stage-passes",
      cl::desc("Passes to run after stage graph, tile, linalg, host or kernel"),
      cl::value_desc("STAGE:PIPELINE"), cl::cat(category)};
  cl::list<std::string> blobDirs{"blob-dir",
                                 cl::desc("Where MLIR text's blobs are"),
                                 cl::value_desc("DIR"), cl::cat(category)};
  cl::opt<bool> injectCrash{"inject-crash", cl::Hidden, cl::cat(category)};
  cl::opt<unsigned> crashThreads{"inject-crash-threads", cl::Hidden,
                                 cl::init(1), cl::cat(category)};
  cl::opt<std::string> reproducer{"reproducer", cl::Hidden, cl::cat(category)};
  cl::opt<bool> injectFault{"inject-fault", cl::Hidden, cl::cat(category)};
};
} // namespace

static CompileStatus complain(CompileStatus status, const Twine &message) {
  errs() << "error: " << message << "\n";
  return status;
}

/// Flags that are known but have no effect yet are refused, never ignored.
static std::optional<CompileStatus> refuseUnsupported(const Flags &flags) {
  auto refuse = [](const Twine &what) {
    return complain(CompileStatus::Unsupported, "unsupported: " + what);
  };
  constexpr StringRef precisions[] = {"f32", "tf32", "bf16", "f16"};
  if (!is_contained(precisions, flags.precision.getValue()))
    return complain(CompileStatus::Usage,
                    "expected --precision=f32, tf32, bf16 or f16, but got '" +
                        flags.precision + "'");
  if (!flags.deterministic)
    return complain(CompileStatus::Usage,
                    "expected --deterministic, but got --deterministic=false: "
                    "no code is made whose results depend on threads");
  if (flags.precision != "f32")
    return refuse("--precision=" + flags.precision);
  return std::nullopt;
}

static std::optional<CompileStatus> readTargets(const Flags &flags,
                                                CompileOptions &options) {
  options.cpu = flags.targets.empty();
  for (const std::string &target : flags.targets) {
    if (target == "cpu")
      options.cpu = true;
    else if (StringRef(target).starts_with("cuda:"))
      options.cudaTargets.push_back(target);
    else
      return complain(
          CompileStatus::Usage,
          "expected --target=cpu or --target=cuda:sm_NN, but got '" + target +
              "'");
  }
  if (flags.emit == Emit::PTX && options.cudaTargets.empty())
    return complain(CompileStatus::Usage,
                    "--emit=ptx needs a --target=cuda:sm_NN");
  options.allowHostFallback = flags.allowHostFallback;
  if (options.allowHostFallback && !options.cpu)
    return complain(CompileStatus::Usage,
                    "--allow-host-fallback needs --target=cpu beside "
                    "--target=cuda:sm_NN");
  return std::nullopt;
}

/// Temporary files go beside the output where the system has no folder for them
/// (a root folder with nothing but the compiler in it).
static void chooseTemporaryFolder(StringRef output) {
  SmallString<128> folder;
  sys::path::system_temp_directory(/*erasedOnReboot=*/true, folder);
  if (sys::fs::can_write(folder))
    return;
  folder = output;
  sys::fs::make_absolute(folder);
  setenv("TMPDIR", sys::path::parent_path(folder).str().c_str(),
         /*overwrite=*/1);
}

static bool isText(Emit emit) {
  return emit != Emit::Module && emit != Emit::Object && emit != Emit::ONNX;
}

static std::optional<CompileStatus> readFiles(const Flags &flags,
                                              CompileOptions &options) {
  auto usage = [](const Twine &message) {
    return complain(CompileStatus::Usage, message);
  };
  if (flags.input.empty())
    return usage("expected a model; see --help");
  options.input = flags.input;
  options.output = flags.output;
  options.check = flags.check;
  options.json = flags.json;
  if (options.json && !options.check)
    return usage("--json needs --check");
  if (options.output.empty() && !options.check)
    return usage("expected -o FILE");
  if (options.output == "-" && !isText(flags.emit))
    return usage("-o - is for text: add --emit=graph, tile, linalg, llvm or "
                 "ptx");
  if (flags.weights != "embed" && flags.weights != "file")
    return usage("expected --weights=embed or --weights=file, but got '" +
                 flags.weights + "'");
  if (flags.weights == "file") {
    if (options.output == "-")
      return usage("--weights=file needs -o FILE");
    if (flags.emit == Emit::Object || flags.emit == Emit::PTX ||
        flags.emit == Emit::ONNX)
      return complain(CompileStatus::Unsupported,
                      "unsupported: --weights=file of --emit=obj, ptx or "
                      "onnx");
  }
  chooseTemporaryFolder(options.output);
  SmallString<128> side(options.output);
  sys::path::replace_extension(side, "weights");
  if (options.output != "-" && isText(flags.emit))
    options.weightsFile = side.str().str();
  else if (flags.weights == "file") {
    // Where the run time looks: beside the module itself, not beside a link.
    side = resolveOutput(options.output);
    sys::path::replace_extension(side, "weights");
    options.externalWeights = side.str().str();
  }
  return std::nullopt;
}

static std::optional<CompileStatus> readTune(const Flags &flags,
                                             CompileOptions &options) {
  options.tune = flags.tune;
  options.tuneDatabase = flags.tuneDb;
  if (!options.tuneDatabase.empty() && options.tune != Tune::Measure)
    return complain(CompileStatus::Usage, "--tune-db needs --tune=measure");
  if (flags.maxSeconds.getNumOccurrences()) {
    if (options.tune == Tune::Off)
      return complain(CompileStatus::Usage,
                      "--max-compile-seconds bounds --tune=model and "
                      "--tune=measure");
    options.maxSeconds = flags.maxSeconds;
  }
  return std::nullopt;
}

static std::optional<CompileStatus> readKernels(const Flags &flags,
                                                CompileOptions &options) {
  options.kernels = flags.kernels;
  StringRef extension = sys::path::extension(flags.input);
  if (!options.kernels.empty() &&
      (extension == ".mlir" || extension == ".mlirbc"))
    return complain(CompileStatus::Usage,
                    "--kernels is for ONNX models: a text has its kernels");
  return std::nullopt;
}

static std::optional<CompileStatus> readStagePasses(const Flags &flags,
                                                    CompileOptions &options) {
  for (StringRef text : flags.stagePasses) {
    auto [name, pipeline] = text.split(':');
    std::optional<Stage> stage = findStage(name);
    if (!stage || *stage < Stage::Graph || *stage > Stage::Kernel)
      return complain(CompileStatus::Usage,
                      "expected --stage-passes=graph, tile, linalg, host or "
                      "kernel, and passes behind a colon, but got '" +
                          text + "'");
    options.stagePasses.push_back({*stage, pipeline.str()});
  }
  return std::nullopt;
}

static std::optional<CompileStatus> readVerify(const Flags &flags,
                                               CompileOptions &options) {
  auto verify = StringSwitch<std::optional<Verify>>(flags.verify)
                    .Case("none", Verify::None)
                    .Case("differential", Verify::Differential)
                    .Case("passes", Verify::Passes)
                    .Default(std::nullopt);
  if (!verify)
    return complain(CompileStatus::Usage,
                    "expected --verify=none, differential or passes, but got "
                    "'" +
                        flags.verify + "'");
  options.verify = *verify;
  bool compares = options.emit == Emit::Module && options.cpu && !options.check;
  if (options.verify != Verify::None && !compares)
    return complain(CompileStatus::Usage,
                    "--verify=" + flags.verify +
                        " needs --emit=so with code for the CPU");
  return std::nullopt;
}

static std::optional<CompileStatus> checkReport(const CompileOptions &options) {
  if (options.report.empty())
    return std::nullopt;
  StringRef extension = sys::path::extension(options.report);
  if (extension != ".json" && extension != ".html")
    return complain(CompileStatus::Usage,
                    "expected --report=FILE.json or FILE.html, but got '" +
                        options.report + "'");
  if (options.check || options.emit == Emit::Graph ||
      options.emit == Emit::Tile || options.emit == Emit::Linalg ||
      options.emit == Emit::ONNX)
    return complain(CompileStatus::Usage,
                    "--report needs the host program: --emit=so, obj, llvm or "
                    "ptx");
  return std::nullopt;
}

/// A run that is to show a failure again (--reproducer) writes nothing else.
static void redirectOutputs(const Flags &flags, int argc, char **argv,
                            CompileOptions &options) {
  if (flags.reproducer.empty())
    return;
  options.reproducer = flags.reproducer;
  options.command = "atranslate";
  for (StringRef arg : ArrayRef(argv + 1, argc - 1))
    if (!arg.starts_with("--reproducer="))
      options.command += (" " + arg).str();
  options.jobs = 1;
  options.verify = Verify::None;
  options.dumpPhases = options.report = options.cache = "";
  if (options.output != "-")
    options.output = options.reproducer + ".out";
  for (std::string *weights : {&options.weightsFile, &options.externalWeights})
    if (!weights->empty())
      *weights = options.reproducer + ".weights";
}

/// Empties LLVM's global parser but for `kept`. Before ours are added, what
/// LLVM's libraries registered has to go: it is no interface of atranslate and
/// takes names (--stats). Afterwards ours: lld registers some of the same
/// names.
static void removeFlags(ArrayRef<StringRef> kept) {
  SmallVector<cl::Option *> flags;
  for (auto &entry : cl::getRegisteredOptions())
    if (!is_contained(kept, entry.first))
      flags.push_back(entry.second);
  for (cl::Option *option : flags)
    option->removeArgument();
}

std::optional<CompileStatus> parseCommandLine(int argc, char **argv,
                                              CompileOptions &options) {
  static cl::OptionCategory common("common");
  // LLVM registers some on first use of the parser: this is a use.
  cl::HideUnrelatedOptions(common);
  removeFlags({"help", "help-hidden", "h", "version"});
  static Flags flags;
  cl::SetVersionPrinter(printVersion);
  bool parsed = cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles an ONNX model to a loadable module.\n\n"
      "Example: atranslate model.onnx -o model.so\n",
      &errs());
  removeFlags({});
  if (!parsed)
    return CompileStatus::Usage;
  if (flags.optLevel < '0' || flags.optLevel > '3')
    return complain(CompileStatus::Usage, "expected -O0 .. -O3");
  options.optLevel = flags.optLevel - '0';
  options.emit = flags.emit;
  options.jobs = flags.jobs;
  options.quiet = flags.quiet;
  options.verbose = flags.verbose;
  options.timing = flags.timing;
  options.stats = flags.stats;
  options.triple = flags.triple;
  options.caches = flags.caches;
  if (!flags.cpus.empty())
    options.cpus.assign(flags.cpus.begin(), flags.cpus.end());
  options.dims.assign(flags.dims.begin(), flags.dims.end());
  options.shapes.assign(flags.shapes.begin(), flags.shapes.end());
  options.blobDirs.assign(flags.blobDirs.begin(), flags.blobDirs.end());
  options.dumpPhases = flags.dumpPhases;
  options.injectCrash = flags.injectCrash ? flags.crashThreads : 0u;
  options.injectFault = flags.injectFault;
  options.batchInvariant = flags.batchInvariant;
  if (auto status = readTune(flags, options))
    return status;
  options.plugins.assign(flags.plugins.begin(), flags.plugins.end());
  if (auto status = readKernels(flags, options))
    return status;
  if (auto status = readStagePasses(flags, options))
    return status;
  if (auto status = readTargets(flags, options))
    return status;
  if (auto status = readFiles(flags, options))
    return status;
  options.report = flags.report;
  if (auto status = checkReport(options))
    return status;
  options.cache = flags.cache;
  if (!options.cache.empty() && isText(options.emit))
    return complain(CompileStatus::Usage,
                    "--cache is for --emit=so, obj and onnx");
  if (flags.winograd != "on" && flags.winograd != "off")
    return complain(CompileStatus::Usage,
                    "expected --winograd=on or off, but got '" +
                        flags.winograd + "'");
  options.winograd = flags.winograd == "on";
  if (auto status = readVerify(flags, options))
    return status;
  redirectOutputs(flags, argc, argv, options);
  return refuseUnsupported(flags);
}

} // namespace adze
