// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Standard error where it is a terminal: colors, and a line of progress.
#ifndef ADZE_SUPPORT_TERMINAL_H
#define ADZE_SUPPORT_TERMINAL_H

#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <string>

namespace adze {

/// Returns true if standard error is a terminal that can move its cursor.
bool isTerminal();

/// Lets standard error have colors if it is a terminal and the environment has
/// no NO_COLOR; otherwise none, also of LLVM's own messages.
void chooseColors();

/// Standard error with a line of progress at its end, which gives way to
/// whatever is written. Not for several threads at once.
class ProgressStream : public llvm::raw_ostream {
public:
  ProgressStream();
  ~ProgressStream() override;

  /// Shows how far a stage is; 0 of 0 where that is not known. The line appears
  /// when the whole has taken half a second, and changes ten times a second.
  void show(llvm::StringRef stage, size_t done, size_t all);
  /// Takes the line away.
  void clear();

private:
  void write_impl(const char *data, size_t size) override;
  uint64_t current_pos() const override { return written; }

  using Clock = std::chrono::steady_clock;
  Clock::time_point begin, drawn;
  std::string stage; // of the line that is shown
  bool isShown = false;
  uint64_t written = 0;
};

/// Returns "kernel [#####.....] 12/48, 3 s", cut to `width` characters.
std::string formatProgress(llvm::StringRef stage, size_t done, size_t all,
                           std::chrono::seconds since, size_t width);

} // namespace adze

#endif // ADZE_SUPPORT_TERMINAL_H
