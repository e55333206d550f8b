// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// adze-reduce: reduces a model to the smallest one that still fails.
#include "AdzeCommit.h"
#include "Edits.h"
#include "Output.h"
#include "Reducer.h"
#include <cstdlib>
#include <iostream>
#include <unistd.h>

static const char kHelp[] =
    "Reduces an ONNX model while a command fails on it in the same way.\n"
    "\n"
    "Example: adze-reduce model.onnx --expect-fail 'atranslate {} -o "
    "/tmp/m.so' -o small.onnx\n"
    "\n"
    "USAGE: adze-reduce MODEL.onnx --expect-fail 'CMD {}' -o SMALL.onnx "
    "[flags]\n"
    "\n"
    "  --expect-fail=CMD  A shell command; {} is replaced by the path of the "
    "model.\n"
    "                     It must end with the same non-zero status as on "
    "MODEL\n"
    "  --match=TEXT       Text that its output must also contain\n"
    "  --timeout=SECONDS  Time limit of a run, which a failure must not exceed "
    "(60)\n"
    "  -o FILE            The smallest model that was found\n"
    "  -v                 Print the removed parts\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 success; 1 the model cannot be read or the command does "
    "not fail "
    "on it;\n"
    "2 usage.\n";

namespace {

using namespace adze::reduce;

struct Arguments {
  std::string model, output, command, match;
  double timeout = 60;
  bool isVerbose = false;
};

int complain(const std::string &message) {
  std::cerr << "error: " << message << "; see adze-reduce --help\n";
  return 2;
}

/// Parses the value of `--name=VALUE`, `--name VALUE` or `-o VALUE`.
bool takeValue(int argc, char **argv, int &i, const std::string &name,
               std::string &value) {
  std::string argument = argv[i];
  if (argument.compare(0, name.size() + 1, name + "=") == 0) {
    value = argument.substr(name.size() + 1);
    return true;
  }
  if (argument != name || i + 1 == argc)
    return false;
  value = argv[++i];
  return true;
}

int parse(int argc, char **argv, Arguments &arguments) {
  std::string timeout;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (takeValue(argc, argv, i, "--expect-fail", arguments.command) ||
        takeValue(argc, argv, i, "--match", arguments.match) ||
        takeValue(argc, argv, i, "--timeout", timeout) ||
        takeValue(argc, argv, i, "-o", arguments.output))
      continue;
    if (argument == "-v")
      arguments.isVerbose = true;
    else if (argument[0] == '-' || !arguments.model.empty())
      return complain("unexpected '" + argument + "'");
    else
      arguments.model = argument;
  }
  char *end = nullptr;
  if (!timeout.empty())
    arguments.timeout = std::strtod(timeout.c_str(), &end);
  if (end && (*end || arguments.timeout <= 0))
    return complain("expected a number of seconds, but got --timeout=" +
                    timeout);
  if (arguments.model.empty() || arguments.output.empty())
    return complain("expected a model and -o FILE");
  if (arguments.command.find("{}") == std::string::npos)
    return complain("expected --expect-fail='CMD {}', where {} is the model, "
                    "but got '" +
                    arguments.command + "'");
  return 0;
}

/// Writes the file completely or not at all.
void write(const onnx::ModelProto &model, const std::string &path) {
  std::string bytes;
  if (!model.SerializeToString(&bytes))
    throw std::runtime_error(path + ": a model of more than 2 GB");
  if (std::string error = adze::run::writeBytes(path, std::string_view(bytes));
      !error.empty())
    throw std::runtime_error(error);
}

/// A temporary folder, which is removed by the destructor.
class Folder {
public:
  Folder() {
    const char *base = std::getenv("TMPDIR");
    path = std::string(base && *base ? base : "/tmp") + "/adze-reduce-XXXXXX";
    if (!mkdtemp(path.data()))
      throw std::runtime_error(path + ": cannot be made");
  }
  ~Folder() {
    for (const char *name : {"/candidate.onnx", "/log"})
      std::remove((path + name).c_str());
    rmdir(path.c_str());
  }
  std::string path;
};

std::string describe(const onnx::ModelProto &model) {
  return std::to_string(model.graph().node_size()) + " nodes, " +
         std::to_string(model.graph().initializer_size()) + " initializers, " +
         std::to_string(model.ByteSizeLong()) + " bytes";
}

void run(const Arguments &arguments) {
  onnx::ModelProto model = load(arguments.model);
  std::string before = describe(model);
  handleInterrupts();
  Folder folder;
  Command command(arguments.command, arguments.match);
  Reducer reducer(command, folder.path, arguments.timeout, arguments.isVerbose);
  reducer.run(model);
  write(model, arguments.output);
  std::cout << arguments.output << ": " << describe(model) << " (of " << before
            << "); status " << reducer.getStatus() << " after "
            << reducer.getNumRuns() << " runs\n";
  if (isInterrupted())
    throw std::runtime_error("interrupted: " + arguments.output +
                             " is the smallest so far");
}

int reduce(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--help") {
      std::cout << kHelp;
      return 0;
    }
    if (std::string(argv[i]) == "--version") {
      std::cout << "Adze " ADZE_VERSION " (commit " ADZE_COMMIT
                   "), models without LLVM\n"
                   "targets: those of the command that it runs\n";
      return 0;
    }
  }
  Arguments arguments;
  if (int status = parse(argc, argv, arguments))
    return status;
  try {
    run(arguments);
  } catch (const std::exception &e) {
    std::cerr << "error: " << arguments.model << ": " << e.what() << "\n";
    return 1;
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  adze::run::prepareOutputs();
  int status = reduce(argc, argv);
  // A failed write to standard output is an error, too. stdio buffers it until
  // here.
  std::string error = adze::run::finishStandardOutput();
  if (error.empty() && !std::cout)
    error = "standard output cannot be written";
  if (error.empty())
    return status;
  std::cerr << "error: " << error << "\n";
  return 1;
}
