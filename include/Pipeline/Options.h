// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The options of a compilation by name: flags of atranslate, keys of the C API.
#ifndef ADZE_PIPELINE_OPTIONS_H
#define ADZE_PIPELINE_OPTIONS_H

#include "Pipeline/Compile.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace adze {

/// An error about an option: Usage or Unsupported.
struct OptionError {
  CompileStatus status;
  std::string message; // "expected --tune=off, model or measure, but got 'x'"
};

/// One option. The table of all of them is the only list.
struct OptionSpec {
  enum class Kind {
    Switch,  // "", "true" or "false"
    Value,   // one text
    Prefix,  // a value that may follow a flag directly: -O2
    Repeated // any number of values
  };

  llvm::StringRef name;
  Kind kind;
  llvm::StringRef help, valueName;
  /// True for options of the process or command line, which are no keys of the
  /// C API.
  bool toolOnly = false;
  bool hidden = false;
};

llvm::ArrayRef<OptionSpec> getOptionSpecs();

/// Collects options, and checks each one and their combination.
class OptionReader {
public:
  /// Sets the value of an option: a Repeated one is extended, others are
  /// replaced. An error has no effect.
  std::optional<OptionError> set(llvm::StringRef name, llvm::StringRef value);

  /// Returns the options for this input and output. `output` is empty for
  /// "check" alone, and "-" for text on standard output.
  std::optional<OptionError> finish(llvm::StringRef input,
                                    llvm::StringRef output,
                                    CompileOptions &result) const;

private:
  friend struct OptionTable;

  CompileOptions options;
  std::vector<std::string> targets;
  std::string precision = "f32", weights = "embed";
  bool sawMaxSeconds = false, sawMaxError = false, injectCrash = false;
  unsigned crashThreads = 1;
};

/// Returns true if the output is text.
bool isText(Emit emit);

} // namespace adze

#endif // ADZE_PIPELINE_OPTIONS_H
