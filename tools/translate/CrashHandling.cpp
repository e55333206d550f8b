// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Handles crashes and internal errors of atranslate.
#include "CrashHandling.h"
#include "Support/Version.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace adze {

static constexpr int kDefect = static_cast<int>(CompileStatus::Defect);
/// Time limits of the handler, and of a run that reproduces the failure.
static constexpr unsigned kHandlerSeconds = 20, kReplaySeconds = 120;

namespace {
struct CommandLine {
  int argc = 0;
  char **argv = nullptr;
  // The run that writes a reproducer must not write another one.
  bool isReplay = false;
  // Prepared in advance: a crash may leave no memory for allocations.
  posix_spawn_file_actions_t quiet;
};
} // namespace
static CommandLine commandLine;
/// True when the message has been written.
static std::atomic<bool> isReported = false;

/// Opens a file in the temporary folder or, on failure, in the current one.
static bool openReproducer(StringRef suffix, int &fd,
                           SmallVectorImpl<char> &path) {
  if (!sys::fs::createTemporaryFile("atranslate-reproducer", suffix, fd, path))
    return true;
  return !sys::fs::createUniqueFile("atranslate-reproducer-%%%%%%." + suffix,
                                    fd, path);
}

/// Writes a script of the command.
static bool writeScript(SmallVectorImpl<char> &path) {
  int fd;
  if (!openReproducer("sh", fd, path))
    return false;
  SmallString<128> directory;
  sys::fs::current_path(directory);
  raw_fd_ostream os(fd, /*shouldClose=*/true);
  os << "#!/bin/sh\n# " << getVersionLine() << ": failed on this command.\n"
     << "cd '" << directory << "'\nexec";
  for (int i = 0; i < commandLine.argc; ++i)
    os << " '" << commandLine.argv[i] << "'";
  os << "\n";
  os.close();
  bool isWritten = !os.has_error();
  os.clear_error();
  return isWritten;
}

/// Waits for a process, and ends it after a time limit.
static void waitFor(pid_t child) {
  constexpr unsigned perSecond = 50;
  for (unsigned i = 0; i < kReplaySeconds * perSecond; ++i) {
    if (waitpid(child, nullptr, WNOHANG) != 0)
      return;
    usleep(1000000 / perSecond);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

/// Runs the command again in a process that copies the IR before each pass,
/// which would slow down normal compilations. That process has one thread, so
/// it does not reproduce failures that need several.
static bool writeIR(SmallVectorImpl<char> &path) {
  int fd;
  if (!openReproducer("mlir", fd, path))
    return false;
  close(fd);
  std::string name(path.data(), path.size());
  std::string flag = "--reproducer=" + name;
  std::vector<char *> args(commandLine.argv,
                           commandLine.argv + commandLine.argc);
  args.push_back(flag.data());
  args.push_back(nullptr);
  // The stack trace of that process is not used, and symbolization leaves
  // files.
  setenv("LLVM_DISABLE_SYMBOLIZATION", "1", /*overwrite=*/1);
  pid_t child;
  if (!posix_spawn(&child, "/proc/self/exe", &commandLine.quiet, nullptr,
                   args.data(), environ))
    waitFor(child);
  for (const char *suffix : {".out", ".weights"})
    sys::fs::remove(name + suffix);
  uint64_t size = 0;
  if (!sys::fs::file_size(name, size) && size)
    return true;
  sys::fs::remove(name);
  return false;
}

void reportDefect(bool isOfPass) {
  if (commandLine.isReplay)
    return;
  SmallString<128> script, text;
  bool hasScript = writeScript(script);
  alarm(0); // the replay may take longer than the handler's limit
  bool hasText = isOfPass && writeIR(text);
  if (hasText && hasScript)
    sys::fs::remove(script);
  if (hasText || hasScript)
    errs() << "error: internal error; please report it with the reproducer "
           << (hasText ? text : script) << "\n";
  else
    errs() << "error: internal error; no reproducer could be written\n";
  isReported = true;
}

/// Ends the process if its handler cannot: without memory allocation or locks,
/// and with a message unless there is one already.
[[noreturn]] static void endInHandler() {
  static constexpr char text[] =
      "error: internal error; no reproducer could be written\n";
  if (!isReported && !commandLine.isReplay &&
      write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
    _exit(kDefect); // the message cannot be written
  _exit(kDefect);
}

/// Handles a signal in the first thread that receives one; other threads that
/// crash wait for the end of the process. The state of the process is
/// undefined: a second fault in this thread, or a deadlock, ends the process at
/// once.
static void onFault(int) {
  static std::atomic<pid_t> owner = 0;
  pid_t self = gettid(), none = 0;
  if (!owner.compare_exchange_strong(none, self)) {
    if (none == self)
      endInHandler();
    for (;;)
      pause();
  }
  alarm(kHandlerSeconds);
  sys::RunInterruptHandlers(); // removes temporary files
  sys::RunSignalHandlers();    // prints the stack
  reportDefect(/*isOfPass=*/true);
  _exit(kDefect);
}

static void onFatalError(void *, const char *reason, bool) {
  static std::atomic<bool> isTold = false;
  if (!isTold.exchange(true))
    errs() << "error: " << reason << "\n";
  abort(); // handled like other signals
}

/// Replaces LLVM's handlers, which handle a fault of one thread only: a second
/// one ends the process.
static void catchFaults() {
  struct sigaction fault = {};
  fault.sa_handler = onFault;
  fault.sa_flags = SA_NODEFER | SA_ONSTACK;
  for (int signal : {SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV, SIGSYS})
    sigaction(signal, &fault, nullptr);
  struct sigaction late = {};
  late.sa_handler = [](int) { endInHandler(); };
  sigaction(SIGALRM, &late, nullptr);
}

void installCrashHandling(int argc, char **argv) {
  commandLine.argc = argc;
  commandLine.argv = argv;
  for (int i = 1; i < argc; ++i)
    commandLine.isReplay |= StringRef(argv[i]).starts_with("--reproducer=");
  // First, because later initialization allocates memory. LLVM replaces these
  // handlers below, so they are installed again.
  catchFaults();
  install_fatal_error_handler(onFatalError);
  install_bad_alloc_error_handler(onFatalError);
  posix_spawn_file_actions_init(&commandLine.quiet);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&commandLine.quiet, fd, "/dev/null",
                                     O_RDWR, 0);
  setBugReportMsg("");
  sys::PrintStackTraceOnErrorSignal(argv[0]);
  catchFaults();
}

} // namespace adze
