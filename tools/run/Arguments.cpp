// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Parses arun's command line by a table from flags to actions.

#include "Arguments.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace adze::run {

const char *helpText() {
  return R"(usage: arun MODULE.so [flags]

Runs a module made by atranslate.

input
  --input NAME=FILE        contents of an input: .npy, .pb (ONNX's format) or raw .bin
  --random                 random contents for inputs without --input: standard
                           normal numbers, integers in [0, --ids), bools
  --seed N                 seed of random contents and tokens (0)
  --ids N                  bound of random integers (2)
  --shape NAME=1x3x8x8     shape of an input with dynamic dims
output
  --output-dir DIR         writes each output to DIR/NAME.npy, '/' in NAME as '_'
  --format npy|pb          format of these files (npy)
  --expect NAME=FILE       compares an output with a file
  --test-dir DIR           inputs and expected outputs from DIR/input_K.pb, DIR/output_K.pb
  --rtol X --atol X        |got - expected| <= atol + rtol * |expected| (1e-3, 1e-5)
  --range-tol X            |got - expected| <= X * (greatest - least expected), instead
run
  --device cpu|cuda:N      where to run (cpu)
  --threads N              threads of a run (one for each CPU)
  --variant NAME           CPU variant of the module (the best one for this machine)
  --profile FILE           writes a Chrome trace of an additional run to FILE.json, or a page with
                           the kernels' median times in --iterations runs (10) to FILE.html
  --report FILE.json       for that page: the module's report by atranslate --report
  --bench                  measures the latency of runs; with
    --warmup N --iterations N --duration SECONDS --percentiles 50,90,99
    --resident             on a device: tensors stay there, and its events time the runs (default)
    --with-copies          on a device: tensors are on the CPU, and each run copies them
generation
  --generate N             generates up to N tokens after each prompt, with a decoder model whose
                           caches are states
  --prompt-ids 1,2,3       the token ids, or FILE.npy of one prompt or of one in each row; may be
                           repeated: the prompts run as a batch, prompt i with the seed N + i
  --temperature X          temperature of sampling; 0: always the most likely token (0)
  --top-k N                samples from this many of the most likely tokens (all)
  --top-p X                samples from the most likely tokens up to this sum of probabilities (1)
  --min-p X                samples from tokens of at least this probability relative to that of the
                           most likely one (0)
  --repetition-penalty X   makes tokens that have occurred less likely, if above 1 (1)
  --stop 5,6               token ids that end a sequence; may be repeated
information
  --info                   the module's signature, variants and sizes
  --json                   one JSON object on standard output instead of text
  --version                the version, the commit and the devices
  --help

Exit status: 0 success; 1 an input error, or an output differs from the expected one;
2 usage.

example: arun resnet50.so --random --bench --threads 2 --json
)";
}

static Error parseInteger(const std::string &text, int64_t least,
                          int64_t &value) {
  char *end;
  errno = 0;
  long long parsed = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str() || *end || errno || parsed < least)
    return "expected a number of at least " + std::to_string(least) +
           ", but got '" + text + "'";
  value = parsed;
  return {};
}

static Error parseReal(const std::string &text, double &value) {
  char *end;
  value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end || !(value >= 0) || std::isinf(value))
    return "expected a number of at least 0, but got '" + text + "'";
  return {};
}

static Error parseNamed(const std::string &text, NamedText &named) {
  // The last '=' separates, since an output's name more likely has one than a
  // file.
  size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    return "expected NAME=VALUE, but got '" + text + "'";
  named = {text.substr(0, at), text.substr(at + 1)};
  return {};
}

static Error parseDevice(const std::string &text, Arguments &arguments) {
  arguments.deviceText = text;
  if (text == "cpu") {
    arguments.device = {kDLCPU, 0};
    return {};
  }
  int64_t ordinal = 0;
  if (text.compare(0, 4, "cuda") ||
      (text.size() > 4 &&
       (text[4] != ':' || !parseInteger(text.substr(5), 0, ordinal).empty() ||
        ordinal > INT32_MAX)))
    return "expected cpu or cuda:N, but got '" + text + "'";
  arguments.device = {kDLCUDA, static_cast<int32_t>(ordinal)};
  return {};
}

static Error parsePercentiles(const std::string &text,
                              std::vector<double> &percentiles) {
  percentiles.clear();
  for (size_t at = 0; at <= text.size();) {
    size_t end = text.find(',', at);
    if (end == std::string::npos)
      end = text.size();
    double value;
    if (Error error = parseReal(text.substr(at, end - at), value);
        !error.empty() || value > 100)
      return "expected numbers in [0, 100] with commas between, but got '" +
             text + "'";
    percentiles.push_back(value);
    at = end + 1;
  }
  return {};
}

static Error parseShapeOf(const std::string &text, Arguments &to) {
  NamedText named;
  if (Error error = parseNamed(text, named); !error.empty())
    return error;
  std::optional<std::vector<int64_t>> dims = parseShape(named.second);
  if (!dims)
    return "expected a shape such as 1x3x224x224, but got '" + named.second +
           "'";
  to.shapes.push_back({named.first, *dims});
  return {};
}

static Error addNamed(const std::string &text, std::vector<NamedText> &to) {
  NamedText named;
  Error error = parseNamed(text, named);
  to.push_back(named);
  return error;
}

static Error setText(const std::string &text, std::string &to) {
  to = text;
  return {};
}

static Error setFormat(const std::string &text, Arguments &to) {
  to.format = text;
  return text == "npy" || text == "pb"
             ? ""
             : "expected npy or pb, but got '" + text + "'";
}

/// Adds the ids of a list such as 1,2,3.
static Error addIds(const std::string &text,
                    std::vector<std::vector<int64_t>> &to) {
  std::vector<int64_t> ids;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    int64_t id;
    if (!parseInteger(text.substr(at, end - at), 0, id).empty())
      return "expected token ids with commas between, but got '" + text + "'";
    ids.push_back(id);
    at = end + 1;
  }
  to.push_back(std::move(ids));
  return {};
}

static Error parseInt32(const std::string &text, int64_t &value) {
  if (Error error = parseInteger(text, 0, value); !error.empty())
    return error;
  return value <= INT32_MAX ? ""
                            : "expected a number of at most 2147483647, but "
                              "got '" +
                                  text + "'";
}

template <typename T, typename Parse>
static Error setOptional(std::optional<T> &to, Parse parse) {
  T value{};
  Error error = parse(value);
  to = value;
  return error;
}

namespace {
struct Switch {
  const char *name;
  bool Arguments::*member;
};
/// The kind of run that a flag applies to.
enum class Use { Any, Run, Generate };
struct Flag {
  const char *name;
  Error (*set)(const std::string &value, Arguments &to);
  Use use = Use::Run;
};
} // namespace

using Text = const std::string &;

static const Switch kSwitches[] = {
    {"--help", &Arguments::help},
    {"--info", &Arguments::info},
    {"--json", &Arguments::json},
    {"--random", &Arguments::random},
    {"--bench", &Arguments::bench},
    {"--version", &Arguments::version},
    {"--resident", &Arguments::resident},
    {"--with-copies", &Arguments::withCopies},
};

static Error addProfile(Text value, Arguments &arguments) {
  arguments.profiles.push_back(value);
  return value.empty() ? "expected a file" : "";
}

static const Flag kFlags[] = {
    {"--input", [](Text v, Arguments &to) { return addNamed(v, to.inputs); }},
    {"--expect",
     [](Text v, Arguments &to) { return addNamed(v, to.expected); }},
    {"--shape", parseShapeOf},
    {"--seed",
     [](Text v, Arguments &to) { return parseInteger(v, 0, to.seed); },
     Use::Any},
    {"--ids", [](Text v, Arguments &to) { return parseInteger(v, 1, to.ids); }},
    {"--output-dir",
     [](Text v, Arguments &to) { return setText(v, to.outputDir); }},
    {"--format", setFormat},
    {"--test-dir",
     [](Text v, Arguments &to) { return setText(v, to.testDir); }},
    {"--rtol",
     [](Text v, Arguments &to) { return parseReal(v, to.tolerance.relative); }},
    {"--atol",
     [](Text v, Arguments &to) { return parseReal(v, to.tolerance.absolute); }},
    {"--range-tol",
     [](Text v, Arguments &to) {
       return setOptional(to.tolerance.ofRange,
                          [&](double &x) { return parseReal(v, x); });
     }},
    {"--device", parseDevice, Use::Any},
    {"--threads",
     [](Text v, Arguments &to) {
       int64_t count;
       to.threads = v;
       return parseInteger(v, 1, count);
     },
     Use::Any},
    {"--variant", [](Text v, Arguments &to) { return setText(v, to.variant); },
     Use::Any},
    {"--profile", addProfile},
    {"--report", [](Text v, Arguments &to) { return setText(v, to.report); }},
    {"--warmup",
     [](Text v, Arguments &to) { return parseInteger(v, 0, to.warmup); }},
    {"--iterations",
     [](Text v, Arguments &to) {
       return setOptional(to.iterations,
                          [&](int64_t &n) { return parseInteger(v, 1, n); });
     }},
    {"--duration",
     [](Text v, Arguments &to) {
       return setOptional(to.duration,
                          [&](double &x) { return parseReal(v, x); });
     }},
    {"--percentiles",
     [](Text v, Arguments &to) { return parsePercentiles(v, to.percentiles); }},
    {"--generate",
     [](Text v, Arguments &to) {
       to.generate = true;
       return parseInteger(v, 1, to.generation.maxTokens);
     },
     Use::Generate},
    {"--prompt-ids",
     [](Text v, Arguments &to) {
       bool isFile = v.size() > 4 && v.compare(v.size() - 4, 4, ".npy") == 0;
       if (!isFile)
         return addIds(v, to.generation.prompts);
       to.generation.promptFiles.push_back(v);
       return Error();
     },
     Use::Generate},
    {"--temperature",
     [](Text v, Arguments &to) {
       return parseReal(v, to.generation.temperature);
     },
     Use::Generate},
    {"--top-k",
     [](Text v, Arguments &to) { return parseInt32(v, to.generation.topK); },
     Use::Generate},
    {"--top-p",
     [](Text v, Arguments &to) { return parseReal(v, to.generation.topP); },
     Use::Generate},
    {"--min-p",
     [](Text v, Arguments &to) { return parseReal(v, to.generation.minP); },
     Use::Generate},
    {"--repetition-penalty",
     [](Text v, Arguments &to) {
       return parseReal(v, to.generation.repetitionPenalty);
     },
     Use::Generate},
    {"--stop",
     [](Text v, Arguments &to) { return addIds(v, to.generation.stops); },
     Use::Generate},
};

static const Flag *findFlag(const std::string &name) {
  for (const Flag &flag : kFlags)
    if (name == flag.name)
      return &flag;
  return nullptr;
}

static bool setSwitch(const std::string &name, Arguments &arguments) {
  for (const Switch &flag : kSwitches)
    if (name == flag.name) {
      arguments.*flag.member = true;
      return true;
    }
  return false;
}

static Error checkBench(const Arguments &arguments) {
  if (arguments.resident && arguments.withCopies)
    return "--resident: does not go with --with-copies";
  if ((arguments.resident || arguments.withCopies) && !arguments.bench)
    return std::string(arguments.resident ? "--resident" : "--with-copies") +
           ": expected --bench";
  return {};
}

/// Rejects flags of runs together with flags of generation.
static Error checkUse(const Arguments &arguments, const std::string &runFlag,
                      const std::string &generateFlag) {
  if (!arguments.generate)
    return generateFlag.empty() ? "" : generateFlag + ": expected --generate";
  if (arguments.generation.prompts.empty() &&
      arguments.generation.promptFiles.empty())
    return "--generate: expected --prompt-ids";
  std::string other = arguments.random  ? "--random"
                      : arguments.bench ? "--bench"
                                        : runFlag;
  return other.empty() ? "" : "--generate: does not go with " + other;
}

Error parseArguments(int argc, char **argv, Arguments &arguments) {
  std::string runFlag, generateFlag; // the first of each
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (name.empty() || name[0] != '-') {
      if (!arguments.module.empty())
        return "expected one module, but got '" + arguments.module + "' and '" +
               name + "'";
      arguments.module = name;
      continue;
    }
    if (setSwitch(name, arguments))
      continue;
    // Accepts both "--flag value" and "--flag=value".
    size_t equals = name.find('=');
    std::string flagName = name.substr(0, equals);
    const Flag *flag = findFlag(flagName);
    if (!flag)
      return "unknown flag '" + name + "'";
    if (equals == std::string::npos && i + 1 == argc)
      return name + ": expected a value";
    if (equals == std::string::npos && !std::strncmp(argv[i + 1], "--", 2))
      return name + ": expected a value, but got the flag '" + argv[i + 1] +
             "'; " + name + "=VALUE takes any";
    std::string value =
        equals == std::string::npos ? argv[++i] : name.substr(equals + 1);
    if (Error error = flag->set(value, arguments); !error.empty())
      return flagName + ": " + error;
    std::string &first = flag->use == Use::Run ? runFlag : generateFlag;
    if (flag->use != Use::Any && first.empty())
      first = flagName;
  }
  if (arguments.module.empty() && !arguments.help && !arguments.version)
    return "expected a module";
  if (Error error = checkBench(arguments); !error.empty())
    return error;
  return checkUse(arguments, runFlag, generateFlag);
}

} // namespace adze::run
