// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// libadze_compiler, loaded when a model has to be compiled.
#ifndef ADZE_EP_COMPILER_H
#define ADZE_EP_COMPILER_H

#include "Model.h"
#include "Options.h"
#include <memory>
#include <mutex>
#include <variant>

namespace adze::ep {

struct CompilerLibrary;

/// A reason why a node is left to other providers.
struct Refusal {
  size_t node; ///< its place among the nodes of the model
  std::string reason;
};

/// What a check has found.
struct CheckResult {
  std::vector<Refusal> refusals;
  /// Why nothing of the model can be compiled; "" if something can.
  std::string wholeModel;
};

/// A compiled module: in a file of the cache, or in memory.
using ModuleSource = std::variant<std::filesystem::path, std::string>;

/// Checks and compiles models by the options of a session. Calls may come from
/// several threads.
class Compiler {
public:
  Compiler(const Options &options, const Log &log);
  ~Compiler();

  /// Loads the library, and checks the options of the compiler. Throws.
  void load();

  /// Asks which nodes of a model are supported. The name is for messages.
  CheckResult check(const Message &model, const std::string &name);
  /// Compiles a model, or takes its module from the cache.
  ModuleSource compile(const Message &model, const std::string &name);

private:
  std::string getKey(const char *purpose, const Message &model);
  std::string runCheck(const Message &model, const std::string &name);
  void loadLocked();

  const Options &options;
  const Log &log;
  std::filesystem::path path; ///< of the library
  std::mutex mutex;           ///< of the two below
  const CompilerLibrary *library = nullptr;
  adze_compiler_options *settings = nullptr;
};

/// Reads the JSON of adze_compiler_check. Throws if it is none.
CheckResult readCheckResult(const std::string &json);

} // namespace adze::ep

#endif // ADZE_EP_COMPILER_H
