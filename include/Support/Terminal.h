// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Colors and a progress line on standard error if it is a terminal.
#ifndef ADZE_SUPPORT_TERMINAL_H
#define ADZE_SUPPORT_TERMINAL_H

#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <string>

namespace adze {

/// Returns true if standard error is a terminal that can move its cursor.
bool isTerminal();

/// Enables colors of standard error if it is a terminal and NO_COLOR is not
/// set; otherwise disables them, also in messages of LLVM.
void chooseColors();

/// Standard error with a progress line at its end, which is cleared for other
/// output. Not thread-safe.
class ProgressStream : public llvm::raw_ostream {
public:
  ProgressStream();
  ~ProgressStream() override;

  /// Shows the progress of a stage; 0 of 0 if it is unknown. The line appears
  /// after half a second, and is updated ten times a second.
  void show(llvm::StringRef stage, size_t done, size_t all);
  /// Clears the line.
  void clear();

private:
  void write_impl(const char *data, size_t size) override;
  uint64_t current_pos() const override { return written; }

  using Clock = std::chrono::steady_clock;
  Clock::time_point begin, drawn;
  std::string stage; // of the displayed line
  bool isShown = false;
  uint64_t written = 0;
};

/// Returns "kernel [#####.....] 12/48, 3 s", truncated to `width` characters.
std::string formatProgress(llvm::StringRef stage, size_t done, size_t all,
                           std::chrono::seconds since, size_t width);

} // namespace adze

#endif // ADZE_SUPPORT_TERMINAL_H
