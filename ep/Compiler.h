// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// libadze_compiler, loaded when a model has to be compiled.
#ifndef ADZE_EP_COMPILER_H
#define ADZE_EP_COMPILER_H

#include "Model.h"
#include "Options.h"
#include <memory>
#include <variant>

namespace adze::ep {

struct CompilerLibrary;

/// A node that is left to other providers, and the reason.
struct Refusal {
  size_t node; ///< its index among the nodes of the model
  std::string reason;
};

/// The result of a check.
struct CheckResult {
  std::vector<Refusal> refusals;
  /// Why nothing of the model can be compiled; "" if some nodes can.
  std::string wholeModel;
};

/// Bytes in memory, which are valid as long as a copy of this object.
struct Bytes {
  std::shared_ptr<const void> owner;
  std::string_view view;
};

/// A compiled module, in a file or in memory.
using ModuleSource = std::variant<std::filesystem::path, Bytes>;

/// A model to be compiled.
struct Source {
  Message model;
  std::string name;                 ///< for messages
  std::vector<std::string> symbols; ///< of the dims of its inputs
};

/// Checks and compiles models by the options of a session. Calls may come from
/// several threads.
class Compiler {
public:
  Compiler(const Options &options, const Log &log);

  /// Throws if no model can be compiled with the options.
  void checkOptions();

  /// Returns which nodes of a model are supported.
  CheckResult check(const Source &source);
  /// Compiles a model, or loads its module from the cache.
  ModuleSource compile(const Source &source);

private:
  Pairs getOptions(const Source &source) const;
  std::string getKey(const char *purpose, const Source &source) const;
  std::string runCheck(const Source &source);
  bool store(const std::filesystem::path &file, std::string_view data);

  const Options &options;
  const Log &log;
  std::filesystem::path path; ///< of the library
};

/// Parses the JSON of adze_compiler_check. Throws if it is invalid.
CheckResult readCheckResult(const std::string &json);

} // namespace adze::ep

#endif // ADZE_EP_COMPILER_H
