// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The options of a compilation by name: flags of atranslate, keys of the C API.
#ifndef ADZE_PIPELINE_OPTIONS_H
#define ADZE_PIPELINE_OPTIONS_H

#include "Pipeline/Compile.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace adze {

/// Why an option is refused: Usage or Unsupported.
struct OptionError {
  CompileStatus status;
  std::string message; // "expected --tune=off, model or measure, but got 'x'"
};

/// One option. The table of all of them is the only list.
struct OptionSpec {
  enum class Kind {
    Switch,  // "", "true" or "false"
    Value,   // one text
    Prefix,  // the same; as a flag, its value may follow without a sign: -O2
    Repeated // any number of texts
  };

  llvm::StringRef name;
  Kind kind;
  llvm::StringRef help, valueName;
  /// Of the process or of the command line: no key of the C API.
  bool toolOnly = false;
  bool hidden = false;
};

llvm::ArrayRef<OptionSpec> getOptionSpecs();

/// Collects options, and checks each by itself and all together.
class OptionReader {
public:
  /// Takes an option's value: a Repeated one is added to, any other replaced.
  /// Without effect if it is refused.
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
