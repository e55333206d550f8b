// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the output of arun.

#include "Output.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace adze::run {

/// The path of the temporary file that a signal handler removes, or "".
static char temporary[PATH_MAX];
static std::atomic<bool> isThere, isOpening, isEnding;
static_assert(std::atomic<bool>::is_always_lock_free);

static void removeOnSignal(int signal) {
  isEnding = true;
  constexpr int mostWaits = 1000;
  for (int i = 0; i < mostWaits && isOpening; ++i) {
    timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, nullptr);
  }
  if (isThere)
    unlink(temporary);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Signals that are ignored remain so (nohup).
static void catchSignals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction known;
    if (sigaction(signal, nullptr, &known) || known.sa_handler != SIG_DFL)
      continue;
    struct sigaction caught = {};
    caught.sa_handler = removeOnSignal;
    sigaction(signal, &caught, nullptr);
  }
}

/// Closes the file; returns errno of the first failed write, or 0.
static int writeAndClose(int fd, std::string_view bytes) {
  size_t written = 0;
  int code = 0;
  while (!code && written < bytes.size()) {
    ssize_t got = write(fd, bytes.data() + written, bytes.size() - written);
    if (got >= 0)
      written += static_cast<size_t>(got);
    else if (errno != EINTR)
      code = errno;
  }
  if (close(fd) && !code)
    code = errno;
  return code;
}

/// Opens a temporary file in the folder of `target`, with the permissions of a
/// new file. Signals are blocked until the handler knows the file.
static int openTemporary(const std::string &target) {
  std::string name = target + ".tmp-XXXXXX";
  if (name.size() >= sizeof(temporary)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  isOpening = true;
  while (isEnding) { // the handler of another thread ends the process
    isOpening = false;
    pause();
  }
  int fd = mkstemp(name.data());
  int code = errno;
  if (fd >= 0) {
    std::memcpy(temporary, name.c_str(), name.size() + 1);
    isThere = true;
  }
  isOpening = false;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (fd < 0) {
    errno = code;
    return fd;
  }
  mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  return fd;
}

static int writeWhole(const std::string &target, std::string_view bytes) {
  catchSignals();
  int fd = openTemporary(target);
  if (fd < 0)
    return errno;
  int code = writeAndClose(fd, bytes);
  if (!code && rename(temporary, target.c_str()))
    code = errno;
  if (code)
    unlink(temporary);
  isThere = false;
  return code;
}

Error writeBytes(const std::string &path, std::string_view bytes) {
  int code;
  struct stat info;
  if (!stat(path.c_str(), &info) && !S_ISREG(info.st_mode)) {
    int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    code = fd < 0 ? errno : writeAndClose(fd, bytes);
  } else {
    // A symbolic link is kept, and its target is written.
    char *resolved = realpath(path.c_str(), nullptr);
    code = writeWhole(resolved ? resolved : path, bytes);
    std::free(resolved);
  }
  return code ? path + ": " + std::strerror(code) : "";
}

void prepareOutputs() {
  for (int signal : {SIGPIPE, SIGXFSZ})
    std::signal(signal, SIG_IGN);
}

Error finishStandardOutput() {
  errno = 0;
  bool failed = std::fflush(stdout) != 0;
  int code = errno;
  failed |= std::ferror(stdout) != 0;
  if (!failed)
    return {};
  return "standard output: " +
         std::string(code ? std::strerror(code) : "cannot be written");
}

} // namespace adze::run
