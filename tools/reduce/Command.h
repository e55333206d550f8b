// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The command that has to fail.
#ifndef ADZE_TOOLS_REDUCE_COMMAND_H
#define ADZE_TOOLS_REDUCE_COMMAND_H

#include <string>

namespace adze::reduce {

/// How a run of the command ended.
struct Ending {
  int status = 0; // 128 and the signal's number, if one ended it
  bool isTimeout = false;
  bool matches = false; // its output has the text that was asked for
  double seconds = 0;
};

/// From here on SIGINT and SIGTERM end the command, not the tool.
void handleInterrupts();
bool isInterrupted();

class Command {
public:
  /// `{}` in `text` stands for the model's path. `match`: empty for any output.
  Command(std::string text, std::string match)
      : text(std::move(text)), match(std::move(match)) {}

  /// Runs the command in a shell; ends it and all that it started after
  /// `seconds`.
  Ending run(const std::string &model, const std::string &log,
             double seconds) const;

private:
  std::string expand(const std::string &model) const;

  std::string text, match;
};

} // namespace adze::reduce

#endif // ADZE_TOOLS_REDUCE_COMMAND_H
