// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What happens when atranslate itself is at fault.
#include "CrashHandling.h"
#include "Pipeline/Compile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <csignal>
#include <unistd.h>

using namespace llvm;

namespace adze {

namespace {
struct CommandLine {
  int argc;
  char **argv;
};
} // namespace
static CommandLine commandLine;

/// In the temporary folder, or where that is not to be had, in this one.
static bool openReproducer(int &fd, SmallVectorImpl<char> &path) {
  if (!sys::fs::createTemporaryFile("atranslate-reproducer", "sh", fd, path))
    return true;
  return !sys::fs::createUniqueFile("atranslate-reproducer-%%%%%%.sh", fd,
                                    path);
}

static void writeReproducer() {
  int fd;
  SmallString<128> path, directory;
  if (!openReproducer(fd, path)) {
    errs() << "error: internal error; no reproducer could be written\n";
    return;
  }
  sys::fs::current_path(directory);
  raw_fd_ostream os(fd, /*shouldClose=*/true);
  os << "#!/bin/sh\n# atranslate " ADZE_VERSION " failed on this command.\n"
     << "cd '" << directory << "'\nexec";
  for (int i = 0; i < commandLine.argc; ++i)
    os << " '" << commandLine.argv[i] << "'";
  os << "\n";
  errs() << "error: internal error; please report it with the reproducer "
         << path << "\n";
}

/// Runs on a signal, after LLVM removed the files it was told of. The state of
/// the process is unknown: one thread tries, and no time is spent on clean-up.
static void onSignal(void *) {
  static std::atomic<bool> entered = false;
  if (!entered.exchange(true))
    writeReproducer();
  _exit(static_cast<int>(CompileStatus::Defect));
}

static void onFatalError(void *, const char *reason, bool) {
  errs() << "error: " << reason << "\n";
  abort(); // from here as any other signal
}

void installCrashHandling(int argc, char **argv) {
  commandLine = {argc, argv};
  setBugReportMsg("");
  sys::PrintStackTraceOnErrorSignal(argv[0]);
  sys::AddSignalHandler(onSignal, nullptr);
  install_fatal_error_handler(onFatalError);
  install_bad_alloc_error_handler(onFatalError);
}

} // namespace adze
