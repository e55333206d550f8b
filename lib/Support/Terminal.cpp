// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Colors and a progress line on standard error if it is a terminal.
#include "Support/Terminal.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/WithColor.h"
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;

namespace adze {

bool isTerminal() {
  const char *kind = getenv("TERM");
  return isatty(STDERR_FILENO) && kind && *kind && StringRef(kind) != "dumb";
}

void chooseColors() {
  const char *none = getenv("NO_COLOR");
  bool isOn = isTerminal() && !(none && *none);
  errs().enable_colors(isOn);
  WithColor::setAutoDetectFunction(
      isOn ? WithColor::defaultAutoDetectFunction()
           : [](const raw_ostream &) { return false; });
}

std::string formatProgress(StringRef stage, size_t done, size_t all,
                           std::chrono::seconds since, size_t width) {
  constexpr size_t cells = 24;
  std::string line = stage.str();
  if (all) {
    size_t full = cells * std::min(done, all) / all;
    line += " [" + std::string(full, '#') + std::string(cells - full, '.') +
            "] " + std::to_string(done) + "/" + std::to_string(all);
  }
  line += ", " + std::to_string(since.count()) + " s";
  return line.substr(0, width);
}

ProgressStream::ProgressStream()
    : raw_ostream(/*unbuffered=*/true), begin(Clock::now()) {
  enable_colors(errs().colors_enabled());
}

ProgressStream::~ProgressStream() { clear(); }

/// Returns the number of characters of a terminal line.
static size_t getWidth() {
  constexpr size_t usual = 79;
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2)
    return usual;
  return size.ws_col - 1u;
}

void ProgressStream::show(StringRef name, size_t done, size_t all) {
  constexpr std::chrono::milliseconds quiet(500), often(100);
  auto now = Clock::now();
  bool isDue = now - drawn >= often || name != stage || (all && done == all);
  if (now - begin < quiet || !isDue)
    return;
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begin);
  errs() << "\r\033[K" << formatProgress(name, done, all, seconds, getWidth());
  errs().flush();
  drawn = now;
  stage = name.str();
  isShown = true;
}

void ProgressStream::clear() {
  if (!isShown)
    return;
  errs() << "\r\033[K";
  errs().flush();
  isShown = false;
}

void ProgressStream::write_impl(const char *data, size_t size) {
  clear();
  errs().write(data, size);
  written += size;
}

} // namespace adze
