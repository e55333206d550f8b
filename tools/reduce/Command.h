// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs the command that must fail.
#ifndef ADZE_TOOLS_REDUCE_COMMAND_H
#define ADZE_TOOLS_REDUCE_COMMAND_H

#include <string>

namespace adze::reduce {

/// The result of a run of the command.
struct Ending {
  int status = 0; // 128 and the number of the signal that ended it, if any
  bool isTimeout = false;
  bool matches = false; // the output contains the given text
  double seconds = 0;
};

/// Lets SIGINT and SIGTERM end the command instead of the tool.
void handleInterrupts();
bool isInterrupted();

class Command {
public:
  /// `{}` in `text` is replaced by the model's path. An empty `match` matches
  /// any output.
  Command(std::string text, std::string match)
      : text(std::move(text)), match(std::move(match)) {}

  /// Runs the command in a shell, and ends it with all its child processes
  /// after `seconds`.
  Ending run(const std::string &model, const std::string &log,
             double seconds) const;

private:
  std::string expand(const std::string &model) const;

  std::string text, match;
};

} // namespace adze::reduce

#endif // ADZE_TOOLS_REDUCE_COMMAND_H
