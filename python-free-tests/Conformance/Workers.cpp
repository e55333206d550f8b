// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// One forked child a case. What it says goes through a pipe, numbers through
// shared memory; how it ends is seen by its exit status.
#include "Workers.h"
#include "llvm/Support/FileSystem.h"
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = llvm::sys::fs;

namespace conformance {

namespace {
/// Wall time that a case gets for each second of processor time: the machine
/// may be busy with other things.
constexpr double kPatience = 6;
/// Exit statuses that no crash has.
constexpr int kPassed = 100, kFailed = 101, kSkipped = 102;

struct Shared {
  double compileMs, runMs;
};

struct Child {
  pid_t pid = 0;
  int pipe = -1;
  size_t index = 0;
  unsigned seconds = 0;
  double deadline = 0;
  std::string text, folder;
  Shared *shared = nullptr;
};
} // namespace

Error makeFolder(std::string &folder) {
  for (const char *base : {"/dev/shm", "/tmp"}) {
    std::string pattern = std::string(base) + "/adze-conformance-XXXXXX";
    if (mkdtemp(pattern.data())) {
      folder = pattern;
      return {};
    }
  }
  return "no folder for temporary files: " + std::string(strerror(errno));
}

/// Never returns.
[[noreturn]] static void
runChild(const Child &child, int out,
         const std::function<Outcome(size_t, const std::string &)> &task) {
  dup2(out, 1);
  dup2(out, 2);
  rlimit limit = {child.seconds, child.seconds + 1};
  setrlimit(RLIMIT_CPU, &limit);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  setenv("TMPDIR", child.folder.c_str(), 1);
  // Handlers that LLVM installed would print a stack for ever and ever.
  for (int number : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE})
    signal(number, SIG_DFL);
  Outcome outcome = task(child.index, child.folder);
  *child.shared = {outcome.compileMs, outcome.runMs};
  llvm::outs() << outcome.message;
  llvm::outs().flush();
  _exit(outcome.status == Status::Passed    ? kPassed
        : outcome.status == Status::Skipped ? kSkipped
                                            : kFailed);
}

static Error
start(Child &child, size_t index, unsigned seconds,
      const std::function<Outcome(size_t, const std::string &)> &task) {
  int ends[2];
  if (Error error = makeFolder(child.folder); !error.empty())
    return error;
  if (pipe2(ends, O_CLOEXEC))
    return std::string("pipe: ") + strerror(errno);
  child.index = index;
  child.seconds = seconds;
  child.text.clear();
  *child.shared = {};
  child.deadline = nowMs() + 1000 * kPatience * seconds;
  // What is not written yet would be written by both.
  llvm::outs().flush();
  child.pid = fork();
  if (child.pid < 0)
    return std::string("fork: ") + strerror(errno);
  if (child.pid == 0)
    runChild(child, ends[1], task);
  close(ends[1]);
  child.pipe = ends[0];
  return {};
}

/// Reads what there is; false at the end.
static bool readSome(Child &child) {
  char buffer[4096];
  ssize_t got = read(child.pipe, buffer, sizeof(buffer));
  if (got > 0)
    child.text.append(buffer, static_cast<size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

static Outcome finish(Child &child, bool late) {
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
    ;
  close(child.pipe);
  child.pid = 0;
  fs::remove_directories(child.folder);
  Outcome outcome;
  outcome.message = child.text;
  outcome.compileMs = child.shared->compileMs;
  outcome.runMs = child.shared->runMs;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == kPassed)
    outcome.status = Status::Passed;
  else if (code == kSkipped)
    outcome.status = Status::Skipped;
  else if (late || (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU ||
                                            WTERMSIG(status) == SIGKILL)))
    outcome.message = "did not end in " + std::to_string(child.seconds) +
                      " s; " + outcome.message;
  else if (WIFSIGNALED(status))
    outcome.message = std::string("crashed (") + strsignal(WTERMSIG(status)) +
                      "); " + outcome.message;
  else if (code != kFailed)
    outcome.message =
        "ended with status " + std::to_string(code) + "; " + outcome.message;
  return outcome;
}

/// Waits for something to happen; children that ended go to `done`.
static void wait(std::vector<Child> &children,
                 const std::function<void(size_t, const Outcome &)> &done) {
  std::vector<pollfd> polls;
  std::vector<Child *> running;
  double now = nowMs(), next = now + 60000;
  for (Child &child : children)
    if (child.pid) {
      polls.push_back({child.pipe, POLLIN, 0});
      running.push_back(&child);
      next = std::min(next, child.deadline);
    }
  poll(polls.data(), polls.size(),
       static_cast<int>(std::max(0.0, next - now)) + 1);
  for (size_t i = 0; i < polls.size(); ++i) {
    Child &child = *running[i];
    bool late = nowMs() > child.deadline;
    if (late)
      kill(child.pid, SIGKILL);
    if (!late && (!polls[i].revents || readSome(child)))
      continue;
    Outcome outcome = finish(child, late);
    done(child.index, outcome);
  }
}

Error forEach(size_t count, const std::function<unsigned(size_t)> &seconds,
              unsigned jobs,
              const std::function<Outcome(size_t, const std::string &)> &task,
              const std::function<void(size_t, const Outcome &)> &done) {
  std::vector<Child> children(std::max(1u, jobs));
  void *memory =
      mmap(nullptr, sizeof(Shared) * children.size(), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return std::string("mmap: ") + strerror(errno);
  for (size_t i = 0; i < children.size(); ++i)
    children[i].shared = static_cast<Shared *>(memory) + i;
  size_t started = 0, ended = 0;
  Error error;
  auto count1 = [&](size_t index, const Outcome &outcome) {
    ++ended;
    done(index, outcome);
  };
  while (ended < started || (started < count && error.empty())) {
    for (Child &child : children)
      if (!child.pid && started < count && error.empty()) {
        error = start(child, started, seconds(started), task);
        started += error.empty();
      }
    wait(children, count1);
  }
  munmap(memory, sizeof(Shared) * children.size());
  return error;
}

} // namespace conformance
