// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs the command that must fail.
#include "Command.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace adze::reduce {

static volatile std::sig_atomic_t interrupted = 0;

void handleInterrupts() {
  for (int number : {SIGINT, SIGTERM})
    std::signal(number, [](int) { interrupted = 1; });
}

bool isInterrupted() { return interrupted; }

/// Quotes a path for a shell.
static std::string quote(const std::string &path) {
  std::string result = "'";
  for (char c : path)
    result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string Command::expand(const std::string &model) const {
  std::string result;
  size_t at = 0;
  for (size_t hole; (hole = text.find("{}", at)) != std::string::npos;
       at = hole + 2)
    result += text.substr(at, hole - at) + quote(model);
  return result + text.substr(at);
}

[[noreturn]] static void execute(const std::string &line,
                                 const std::string &log) {
  setpgid(0, 0);
  for (int number : {SIGPIPE, SIGXFSZ}) // the command gets the default handlers
    std::signal(number, SIG_DFL);
  int in = open("/dev/null", O_RDONLY);
  int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
      dup2(out, 2) < 0)
    _exit(127);
  execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char *>(nullptr));
  _exit(127);
}

Ending Command::run(const std::string &model, const std::string &log,
                    double seconds) const {
  using Clock = std::chrono::steady_clock;
  std::string line = expand(model);
  Clock::time_point begin = Clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  pid_t child = fork();
  if (child < 0)
    throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child == 0)
    execute(line, log);
  setpgid(child, child); // in both processes, since either may run first
  Ending ending;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if ((elapsed() > seconds || interrupted) && !ending.isTimeout) {
      ending.isTimeout = true;
      kill(-child, SIGKILL);
    }
    usleep(2000);
  }
  ending.seconds = elapsed();
  ending.status =
      WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  std::ifstream file(log);
  std::stringstream output;
  output << file.rdbuf();
  ending.matches = output.str().find(match) != std::string::npos;
  return ending;
}

} // namespace adze::reduce
