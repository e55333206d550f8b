// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The flags of atranslate: a flag for each option (Pipeline/Options.h).
#include "CommandLine.h"
#include "Pipeline/Options.h"
#include "Support/Version.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <memory>

using namespace llvm;

namespace adze {

namespace {
/// All flags. LLVM's libraries register further ones, which are hidden: only
/// this category is the interface of atranslate.
class Flags {
public:
  Flags();
  std::optional<OptionError> read(OptionReader &reader) const;

  cl::OptionCategory category{"atranslate"};
  cl::opt<std::string> input{cl::Positional, cl::desc("MODEL.{onnx,mlir}"),
                             cl::cat(category)};
  cl::opt<std::string> output{"o",
                              cl::desc("Output file; - for text on "
                                       "standard output"),
                              cl::value_desc("FILE"), cl::cat(category)};

private:
  void add(const OptionSpec &spec);

  struct Flag {
    StringRef name;
    // One of them.
    std::unique_ptr<cl::opt<bool>> isOn;
    std::unique_ptr<cl::opt<std::string>> one;
    std::unique_ptr<cl::list<std::string>> many;
  };
  std::vector<Flag> flags;
};
} // namespace

Flags::Flags() {
  for (const OptionSpec &spec : getOptionSpecs())
    add(spec);
}

void Flags::add(const OptionSpec &spec) {
  Flag &flag = flags.emplace_back();
  flag.name = spec.name;
  auto hidden = spec.hidden ? cl::Hidden : cl::NotHidden;
  cl::desc help(spec.help);
  cl::value_desc value(spec.valueName);
  cl::cat group(category);
  switch (spec.kind) {
  case OptionSpec::Kind::Switch:
    flag.isOn = std::make_unique<cl::opt<bool>>(spec.name, help, hidden, group);
    break;
  case OptionSpec::Kind::Repeated:
    flag.many = std::make_unique<cl::list<std::string>>(spec.name, help, value,
                                                        hidden, group);
    break;
  case OptionSpec::Kind::Value:
  case OptionSpec::Kind::Prefix:
    flag.one = std::make_unique<cl::opt<std::string>>(spec.name, help, value,
                                                      hidden, group);
    if (spec.kind == OptionSpec::Kind::Prefix)
      flag.one->setFormattingFlag(cl::Prefix);
    break;
  }
}

std::optional<OptionError> Flags::read(OptionReader &reader) const {
  for (const Flag &flag : flags) {
    std::vector<std::string> values;
    if (flag.many)
      values = *flag.many;
    else if (flag.one && flag.one->getNumOccurrences())
      values.push_back(*flag.one);
    else if (flag.isOn && flag.isOn->getNumOccurrences())
      values.push_back(*flag.isOn ? "true" : "false");
    for (const std::string &value : values)
      if (auto error = reader.set(flag.name, value))
        return error;
  }
  return std::nullopt;
}

/// Creates temporary files in the folder of the output if the system has no
/// folder for them (a root file system with only the compiler in it).
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

/// A run that reproduces a failure (--reproducer) writes no other outputs.
static void redirectOutputs(int argc, char **argv, CompileOptions &options) {
  if (options.reproducer.empty())
    return;
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

/// Removes all flags but `kept` from LLVM's global parser. Flags of LLVM's
/// libraries are removed before those of atranslate are added, since they are
/// not part of its interface and use the same names (--stats). Those of
/// atranslate are removed afterwards, because lld registers some of the same
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
  // LLVM registers some flags on the first use of the parser, such as this one.
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
  OptionReader reader;
  std::optional<OptionError> error = flags.read(reader);
  if (!error)
    error = reader.finish(flags.input, flags.output, options);
  if (error) {
    CompileMessage message;
    message.text = error->message;
    message.print(errs());
    return error->status;
  }
  chooseTemporaryFolder(options.output);
  redirectOutputs(argc, argv, options);
  return std::nullopt;
}

} // namespace adze
