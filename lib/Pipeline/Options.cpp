// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The table of the options, and constraints between them.
#include "Pipeline/Options.h"
#include "Dialect/Graph/Transforms/StateNames.h"
#include "Import/ONNX/Import.h"
#include "Support/OutputFile.h"
#include "Target/CPU/CpuTarget.h"
#include "Target/CUDA/CudaTarget.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace adze {

using Refusal = std::optional<OptionError>;

static OptionError usage(const Twine &message) {
  return {CompileStatus::Usage, message.str()};
}

static OptionError unsupported(const Twine &message) {
  return {CompileStatus::Unsupported, ("unsupported: " + message).str()};
}

/// Returns "-O" or "--tune".
static std::string getFlag(StringRef name) {
  return ((name.size() == 1 ? "-" : "--") + name).str();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
/// A value and its option.
struct Given {
  StringRef name, value;

  OptionError refuse(StringRef expected) const {
    return usage("expected " + getFlag(name) + "=" + expected + ", but got '" +
                 value + "'");
  }
};
} // namespace

static Refusal readSwitch(const Given &given, bool &result) {
  auto value = StringSwitch<std::optional<bool>>(given.value.lower())
                   .Cases({"", "true", "1", "on"}, true)
                   .Cases({"false", "0", "off"}, false)
                   .Default(std::nullopt);
  if (!value)
    return given.refuse("true or false");
  result = *value;
  return std::nullopt;
}

static Refusal readNumber(const Given &given, unsigned &result) {
  unsigned number;
  if (given.value.getAsInteger(10, number))
    return given.refuse("N, a number");
  result = number;
  return std::nullopt;
}

static Refusal readText(const Given &given, std::string &result) {
  result = given.value.str();
  return std::nullopt;
}

static Refusal add(const Given &given, std::vector<std::string> &result) {
  result.push_back(given.value.str());
  return std::nullopt;
}

/// Parses one of several words; `words` lists them for the message.
template <typename T>
static Refusal readWord(const Given &given, T &result, StringRef words,
                        ArrayRef<std::pair<StringRef, T>> values) {
  for (const auto &[word, value] : values)
    if (given.value == word) {
      result = value;
      return std::nullopt;
    }
  return given.refuse(words);
}

static Refusal readLevel(const Given &given, unsigned &result) {
  if (given.value.size() != 1 || given.value[0] < '0' || given.value[0] > '3')
    return usage("expected -O0, -O1, -O2 or -O3, but got '-O" + given.value +
                 "'");
  result = given.value[0] - '0';
  return std::nullopt;
}

static Refusal readCpus(const Given &given, std::vector<std::string> &result) {
  result.clear();
  for (StringRef cpu : split(given.value, ','))
    result.push_back(cpu.str());
  return std::nullopt;
}

static Refusal readTarget(const Given &given,
                          std::vector<std::string> &targets) {
  if (given.value != "cpu" && !given.value.starts_with("cuda:"))
    return usage("expected --target=cpu or --target=cuda:sm_NN, but got '" +
                 given.value + "'");
  if (given.value != "cpu")
    if (auto target = cuda::CudaTarget::resolve(given.value); !target)
      return usage(toString(target.takeError()));
  return add(given, targets);
}

static Refusal readCaches(const Given &given, std::string &caches) {
  if (!given.value.empty())
    if (Error error = cpu::CpuTarget::checkCaches(given.value))
      return usage(toString(std::move(error)));
  return readText(given, caches);
}

/// Accepts a text that `parse` accepts; the importer parses it again.
template <typename T>
static Refusal addParsed(const Given &given, std::vector<std::string> &texts,
                         std::optional<T> (&parse)(StringRef text,
                                                   std::string &error)) {
  std::string error;
  if (!parse(given.value, error))
    return usage(getFlag(given.name) + " " + given.value + ": " + error);
  return add(given, texts);
}

static Refusal addStates(const Given &given, std::vector<std::string> &states) {
  auto names = graph::StateNames::parse({given.value.str()});
  if (!names)
    return usage(toString(names.takeError()));
  return add(given, states);
}

static Refusal readReport(const Given &given, std::string &report) {
  StringRef extension = sys::path::extension(given.value);
  if (!given.value.empty() && extension != ".json" && extension != ".html")
    return given.refuse("FILE.json or FILE.html");
  return readText(given, report);
}

static Refusal readEmit(const Given &given, Emit &result) {
  return readWord<Emit>(given, result,
                        "graph, tile, linalg, llvm, ptx, obj, onnx or so",
                        {{"graph", Emit::Graph},
                         {"tile", Emit::Tile},
                         {"linalg", Emit::Linalg},
                         {"llvm", Emit::LLVM},
                         {"ptx", Emit::PTX},
                         {"obj", Emit::Object},
                         {"onnx", Emit::ONNX},
                         {"so", Emit::Module}});
}

static Refusal readPrecision(const Given &given, std::string &result) {
  std::string words;
  if (auto refusal =
          readWord<std::string>(given, words, "f32, tf32, bf16, f16 or auto",
                                {{"f32", "f32"},
                                 {"tf32", "tf32"},
                                 {"bf16", "bf16"},
                                 {"f16", "f16"},
                                 {"auto", "auto"}}))
    return refusal;
  result = words;
  return std::nullopt;
}

static Refusal readFraction(const Given &given, double &result) {
  double number;
  if (given.value.getAsDouble(number) || !(number > 0) || number > 1)
    return given.refuse("E, a number above 0 and up to 1");
  result = number;
  return std::nullopt;
}

/// Parses "int4", "int8:64" or "f32".
static Refusal readWeightsPrecision(const Given &given,
                                    WeightsPrecision &result) {
  auto [type, block] = given.value.split(':');
  WeightsPrecision read;
  Refusal refusal = given.refuse(
      "f32, int8 or int4, with a block of a multiple of 16 after a colon");
  if (type == "int4" || type == "int8")
    read.bits = type == "int4" ? 4 : 8;
  else if (given.value != "f32")
    return refusal;
  bool hasBlock = given.value.contains(':');
  if (hasBlock && (block.getAsInteger(10, read.block) || read.block < 16 ||
                   read.block % 16 != 0))
    return refusal;
  result = read;
  return std::nullopt;
}

static Refusal readDeterministic(const Given &given) {
  bool isOn = true;
  if (auto refusal = readSwitch(given, isOn))
    return refusal;
  if (!isOn)
    return usage("expected --deterministic, but got --deterministic=false: "
                 "results never depend on the number of threads");
  return std::nullopt;
}

static Refusal
readStagePasses(const Given &given,
                std::vector<std::pair<Stage, std::string>> &result) {
  auto [name, pipeline] = given.value.split(':');
  std::optional<Stage> stage = findStage(name);
  if (!stage || *stage < Stage::Graph || *stage > Stage::Kernel)
    return usage("expected --stage-passes=graph, tile, linalg, host or kernel, "
                 "and passes after a colon, but got '" +
                 given.value + "'");
  result.push_back({*stage, pipeline.str()});
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// The options, and the field of each.
struct OptionTable {
  using Read = Refusal (*)(OptionReader &, const Given &);
  struct Row {
    OptionSpec spec;
    Read read;
  };
  static const Row rows[];
};

using Kind = OptionSpec::Kind;

using R = OptionReader;
using G = const Given;

const OptionTable::Row OptionTable::rows[] = {
    {{"O", Kind::Prefix, "-O0 (reference path) .. -O3; -O2 by default", "N"},
     [](R &r, G &g) { return readLevel(g, r.options.optLevel); }},
    {{"j", Kind::Prefix, "Threads to compile with", "N"},
     [](R &r, G &g) { return readNumber(g, r.options.jobs); }},
    {{"q", Kind::Switch, "Print errors only", ""},
     [](R &r, G &g) { return readSwitch(g, r.options.quiet); }},
    {{"v", Kind::Switch, "Also print remarks and notes", ""},
     [](R &r, G &g) { return readSwitch(g, r.options.verbose); }},
    {{"timing", Kind::Switch, "Print where compile time is spent", "", true},
     [](R &r, G &g) { return readSwitch(g, r.options.timing); }},
    {{"stats", Kind::Switch, "Print pass statistics and the size of the arena",
      ""},
     [](R &r, G &g) { return readSwitch(g, r.options.stats); }},
    {{"emit", Kind::Value,
      "Output: the IR of a level, PTX, an object, ONNX, or a loadable "
      "module (so, by default)",
      "graph|tile|linalg|llvm|ptx|obj|onnx|so"},
     [](R &r, G &g) { return readEmit(g, r.options.emit); }},
    {{"target", Kind::Repeated, "cpu or cuda:sm_NN; may be repeated", "TARGET"},
     [](R &r, G &g) { return readTarget(g, r.targets); }},
    {{"allow-host-fallback", Kind::Switch,
      "Run kernels without device code on the CPU; also needs --target=cpu",
      ""},
     [](R &r, G &g) { return readSwitch(g, r.options.allowHostFallback); }},
    {{"mtriple", Kind::Value, "Target triple of CPU code", "TRIPLE"},
     [](R &r, G &g) { return readText(g, r.options.triple); }},
    {{"mcpu", Kind::Value, "CPUs to compile for, with one variant for each",
      "native|..."},
     [](R &r, G &g) { return readCpus(g, r.options.cpus); }},
    {{"mcache", Kind::Value, "Sizes of the L2 and L3 caches of the CPUs",
      "1M,32M[,TRAIT..]"},
     [](R &r, G &g) { return readCaches(g, r.options.caches); }},
    {{"dim", Kind::Repeated,
      "Fix or bound a symbolic dim, or (N=?) give each dim of that name its "
      "own size",
      "N=1..64[:8]"},
     [](R &r, G &g) { return addParsed(g, r.options.dims, parseDimOption); }},
    {{"shape", Kind::Repeated, "Shape of an input", "x=1x3x224x224"},
     [](R &r, G &g) {
       return addParsed(g, r.options.shapes, parseShapeOption);
     }},
    {{"precision", Kind::Value,
      "f32 (as ONNX defines), tf32, bf16 or f16; auto: bf16 where --max-error "
      "allows it",
      "TYPE"},
     [](R &r, G &g) { return readPrecision(g, r.precision); }},
    {{"max-error", Kind::Value,
      "For --precision=auto: largest error of an output, as a fraction of its "
      "range; .01 by default",
      "E"},
     [](R &r, G &g) {
       r.sawMaxError = true;
       return readFraction(g, r.options.maxError);
     }},
    {{"state", Kind::Repeated,
      "Output PRESENT continues input PAST in one buffer (* matches any text), "
      "in addition to those found by name; none: no output does",
      "PAST=PRESENT[,..]|none"},
     [](R &r, G &g) { return addStates(g, r.options.states); }},
    {{"kv-precision", Kind::Value,
      "Type of caches that are f32 in the model, and of the module's inputs "
      "and outputs for them; int8 has a scale for each row",
      "f32|f16|bf16|int8"},
     [](R &r, G &g) {
       return readWord<std::string>(g, r.options.cachePrecision,
                                    "f32, f16, bf16 or int8",
                                    {{"f32", "f32"},
                                     {"f16", "f16"},
                                     {"bf16", "bf16"},
                                     {"int8", "int8"}});
     }},
    {{"overridable", Kind::Repeated,
      "Initializers (* matches any text) that a context may override (LoRA)",
      "NAME"},
     [](R &r, G &g) { return add(g, r.options.overridable); }},
    {{"deterministic", Kind::Switch,
      "Results do not depend on threads; always on", ""},
     [](R &, G &g) { return readDeterministic(g); }},
    {{"batch-invariant", Kind::Switch, "Results do not depend on the batch",
      ""},
     [](R &r, G &g) { return readSwitch(g, r.options.batchInvariant); }},
    {{"tune", Kind::Value,
      "Source of block sizes: rules (off, by default), a cost model, or "
      "measurements on this machine",
      "off|model|measure"},
     [](R &r, G &g) {
       return readWord<Tune>(g, r.options.tune, "off, model or measure",
                             {{"off", Tune::Off},
                              {"model", Tune::Model},
                              {"measure", Tune::Measure}});
     }},
    {{"tune-db", Kind::Value, "Database of tuning measurements", "FILE"},
     [](R &r, G &g) { return readText(g, r.options.tuneDatabase); }},
    {{"max-compile-seconds", Kind::Value,
      "Time limit of tuning and of other searches; 60 by default", "N"},
     [](R &r, G &g) {
       r.sawMaxSeconds = true;
       return readNumber(g, r.options.maxSeconds);
     }},
    {{"kernels", Kind::Value, "Tile kernels for operators", "FILE.mlir"},
     [](R &r, G &g) { return readText(g, r.options.kernels); }},
    {{"check-bounds", Kind::Switch,
      "A run fails if a window of a tile kernel given as text begins out of "
      "bounds",
      ""},
     [](R &r, G &g) { return readSwitch(g, r.options.checkBounds); }},
    {{"weights", Kind::Value,
      "Store weights in the module, or in a file next to it", "embed|file"},
     [](R &r, G &g) {
       return readWord<std::string>(g, r.weights, "embed or file",
                                    {{"embed", "embed"}, {"file", "file"}});
     }},
    {{"weights-precision", Kind::Value,
      "Constant weights of f32 matrix products: f32, or rounded to int8 or "
      "int4 by blocks along the depth (32)",
      "f32|int8|int4[:BLOCK]"},
     [](R &r, G &g) {
       return readWeightsPrecision(g, r.options.weightsPrecision);
     }},
    {{"cache", Kind::Value, "Cache folder of compiled modules, by content",
      "DIR"},
     [](R &r, G &g) { return readText(g, r.options.cache); }},
    {{"winograd", Kind::Value,
      "3x3 convolutions with fewer multiplications; on by default", "on|off"},
     [](R &r, G &g) {
       return readWord<bool>(g, r.options.winograd, "on or off",
                             {{"on", true}, {"off", false}});
     }},
    {{"check", Kind::Switch,
      "Import only, and list all nodes that cannot be compiled", "", true},
     [](R &r, G &g) { return readSwitch(g, r.options.check); }},
    {{"json", Kind::Switch, "--check writes JSON, to -o or standard output", "",
      true},
     [](R &r, G &g) { return readSwitch(g, r.options.json); }},
    {{"dump-phases", Kind::Value, "Write the IR after each stage", "DIR"},
     [](R &r, G &g) { return readText(g, r.options.dumpPhases); }},
    {{"report", Kind::Value, "Write a report", "FILE.{json,html}"},
     [](R &r, G &g) { return readReport(g, r.options.report); }},
    {{"verify", Kind::Value, "Compare the module with the reference path",
      "none|differential|passes"},
     [](R &r, G &g) {
       return readWord<Verify>(g, r.options.verify,
                               "none, differential or passes",
                               {{"none", Verify::None},
                                {"differential", Verify::Differential},
                                {"passes", Verify::Passes}});
     }},
    {{"plugin", Kind::Repeated,
      "Load dialects and passes from a plugin for mlir-opt", "LIB.so", true},
     [](R &r, G &g) { return add(g, r.options.plugins); }},
    {{"stage-passes", Kind::Repeated,
      "Passes to run after stage graph, tile, linalg, host or kernel",
      "STAGE:PIPELINE", true},
     [](R &r, G &g) { return readStagePasses(g, r.options.stagePasses); }},
    {{"blob-dir", Kind::Repeated,
      "Folder of the blobs that MLIR text refers to", "DIR"},
     [](R &r, G &g) { return add(g, r.options.blobDirs); }},
    {{"inject-crash", Kind::Switch, "Crash on purpose", "", true, true},
     [](R &r, G &g) { return readSwitch(g, r.injectCrash); }},
    {{"inject-crash-threads", Kind::Value, "In so many threads", "N", true,
      true},
     [](R &r, G &g) { return readNumber(g, r.crashThreads); }},
    {{"inject-fault", Kind::Switch, "Miscompile on purpose", "", true, true},
     [](R &r, G &g) { return readSwitch(g, r.options.injectFault); }},
    {{"reproducer", Kind::Value, "Write the IR before a pass that fails",
      "FILE", true, true},
     [](R &r, G &g) { return readText(g, r.options.reproducer); }},
};

ArrayRef<OptionSpec> getOptionSpecs() {
  static const std::vector<OptionSpec> specs = [] {
    std::vector<OptionSpec> result;
    for (const OptionTable::Row &row : OptionTable::rows)
      result.push_back(row.spec);
    return result;
  }();
  return specs;
}

Refusal OptionReader::set(StringRef name, StringRef value) {
  for (const OptionTable::Row &row : OptionTable::rows) {
    if (row.spec.name != name)
      continue;
    OptionReader changed = *this;
    if (auto refusal = row.read(changed, {name, value}))
      return refusal;
    *this = std::move(changed);
    return std::nullopt;
  }
  return usage("unknown option '" + name + "'");
}

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

bool isText(Emit emit) {
  return emit != Emit::Module && emit != Emit::Object && emit != Emit::ONNX;
}

static Refusal checkTargets(ArrayRef<std::string> targets,
                            CompileOptions &options) {
  options.cpu = targets.empty();
  for (const std::string &target : targets)
    if (target == "cpu")
      options.cpu = true;
    else
      options.cudaTargets.push_back(target);
  if (options.emit == Emit::PTX && options.cudaTargets.empty())
    return usage("--emit=ptx needs a --target=cuda:sm_NN");
  if (options.allowHostFallback && !options.cpu)
    return usage("--allow-host-fallback needs --target=cpu in addition "
                 "to --target=cuda:sm_NN");
  return std::nullopt;
}

static Refusal checkOutput(const CompileOptions &options) {
  if (options.input.empty())
    return usage("expected a model; see --help");
  if (options.output.empty() && !options.check)
    return usage("expected -o FILE");
  if (options.output == "-" && !isText(options.emit) && !options.json)
    return usage("-o - is for text: add --emit=graph, tile, linalg, llvm or "
                 "ptx");
  if (options.json && !options.check)
    return usage("--json is for --check");
  if (!options.cache.empty() && isText(options.emit))
    return usage("--cache is for --emit=so, obj and onnx");
  return std::nullopt;
}

static Refusal placeWeights(StringRef weights, CompileOptions &options) {
  bool isApart = weights == "file";
  if (isApart && options.output == "-")
    return usage("--weights=file needs -o FILE");
  if (isApart && (options.emit == Emit::Object || options.emit == Emit::PTX ||
                  options.emit == Emit::ONNX))
    return unsupported("--weights=file of --emit=obj, ptx or onnx");
  SmallString<128> side(options.output);
  sys::path::replace_extension(side, "weights");
  if (options.output != "-" && isText(options.emit)) {
    options.weightsFile = side.str().str();
  } else if (isApart) {
    // The run time searches next to the module itself, not next to a link.
    side = resolveOutput(options.output);
    sys::path::replace_extension(side, "weights");
    options.externalWeights = side.str().str();
  }
  return std::nullopt;
}

static Refusal checkTune(const CompileOptions &options, bool sawMaxSeconds) {
  if (!options.tuneDatabase.empty() && options.tune != Tune::Measure)
    return usage("--tune-db needs --tune=measure");
  if (sawMaxSeconds && options.tune == Tune::Off)
    return usage("--max-compile-seconds needs --tune=model or "
                 "--tune=measure");
  return std::nullopt;
}

static Refusal checkKernels(const CompileOptions &options) {
  StringRef extension = sys::path::extension(options.input);
  if (!options.kernels.empty() &&
      (extension == ".mlir" || extension == ".mlirbc"))
    return usage("--kernels is for ONNX models: a text has its kernels");
  return std::nullopt;
}

static Refusal checkReport(const CompileOptions &options) {
  if (options.report.empty())
    return std::nullopt;
  if (options.check || options.emit == Emit::Graph ||
      options.emit == Emit::Tile || options.emit == Emit::Linalg ||
      options.emit == Emit::ONNX)
    return usage("--report needs the host program: --emit=so, obj, llvm or "
                 "ptx");
  return std::nullopt;
}

static Refusal checkVerify(const CompileOptions &options) {
  bool compares = options.emit == Emit::Module && options.cpu && !options.check;
  if (options.verify != Verify::None && !compares)
    return usage(
        Twine("--verify=") +
        (options.verify == Verify::Passes ? "passes" : "differential") +
        " needs --emit=so with code for the CPU");
  return std::nullopt;
}

Refusal OptionReader::finish(StringRef input, StringRef output,
                             CompileOptions &result) const {
  result = options;
  result.input = input.str();
  result.output = output.str();
  if (result.json && result.output.empty())
    result.output = "-";
  result.injectCrash = injectCrash ? crashThreads : 0;
  if (auto refusal = checkTune(result, sawMaxSeconds))
    return refusal;
  if (auto refusal = checkKernels(result))
    return refusal;
  if (auto refusal = checkTargets(targets, result))
    return refusal;
  if (auto refusal = checkOutput(result))
    return refusal;
  if (auto refusal = placeWeights(weights, result))
    return refusal;
  if (auto refusal = checkReport(result))
    return refusal;
  if (auto refusal = checkVerify(result))
    return refusal;
  if (sawMaxError && precision != "auto")
    return usage("--max-error needs --precision=auto");
  if (precision == "auto" &&
      (result.emit != Emit::Module || !result.cpu || result.check ||
       !result.cudaTargets.empty() || result.optLevel == 0))
    return usage("--precision=auto needs --emit=so for the CPU alone, at -O1 "
                 "or above");
  result.precision = precision;
  return std::nullopt;
}

} // namespace adze
