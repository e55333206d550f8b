// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Forked children, each of which runs several tasks. What a task says goes to a
// file in memory, its result through shared memory; how a child ends is seen by
// its exit status.
#include "Workers.h"
#include "llvm/Support/FileSystem.h"
#include <atomic>
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
/// The wall time of a case for each second of CPU time, as the machine may be
/// busy.
constexpr double kPatience = 6;
/// Processor time that the tasks of a child have together.
constexpr unsigned kSecondsOfChild = 400;
constexpr size_t kMostTasks = 40;
/// The exit status of a child that ran all of its tasks, which no crash has.
constexpr int kDone = 100;

/// The result of a task, and where the text ends that was written until then.
struct Result {
  Status status;
  double compileMs, runMs;
  off_t textEnd;
};

struct Shared {
  std::atomic<size_t> numEnded;
  std::atomic<double> begin; // of the task that runs
  Result results[kMostTasks];
};

/// Tasks [begin, end), which have equal time limits.
struct Range {
  size_t begin, end;
};

struct Child {
  pid_t pid = 0;
  int alive = -1; // the end of a pipe that the child closes when it ends
  int text = -1;
  Range range = {};
  unsigned seconds = 0; // of a task
  std::string folder;
  Shared *shared = nullptr;

  double getDeadline() const {
    return shared->begin + 1000 * kPatience * seconds;
  }
};

using Task = std::function<Outcome(size_t, const std::string &)>;
using Done = std::function<void(size_t, const Outcome &)>;
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

/// Gives this process so much processor time from now on, rounded up to what
/// the limit counts in.
static void allowTime(unsigned seconds) {
  rusage usage;
  rlimit limit;
  getrusage(RUSAGE_SELF, &usage);
  getrlimit(RLIMIT_CPU, &limit);
  time_t used = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
                (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000000 + 1;
  limit.rlim_cur = static_cast<rlim_t>(used) + seconds;
  setrlimit(RLIMIT_CPU, &limit);
}

/// Never returns.
[[noreturn]] static void runChild(const Child &child, const Task &task) {
  dup2(child.text, 1);
  dup2(child.text, 2);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // Handlers that LLVM installed would print a stack for ever and ever.
  for (int number : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE})
    signal(number, SIG_DFL);
  for (size_t i = child.range.begin; i < child.range.end; ++i) {
    std::string folder = child.folder + "/" + std::to_string(i);
    (void)fs::create_directory(folder);
    setenv("TMPDIR", folder.c_str(), 1);
    allowTime(child.seconds);
    child.shared->begin = nowMs();
    Outcome outcome = task(i, folder);
    llvm::outs() << outcome.message;
    llvm::outs().flush();
    (void)fs::remove_directories(folder);
    size_t number = i - child.range.begin;
    child.shared->results[number] = {outcome.status, outcome.compileMs,
                                     outcome.runMs, lseek(1, 0, SEEK_CUR)};
    child.shared->numEnded = number + 1;
  }
  _exit(kDone);
}

static Error start(Child &child, Range range, unsigned seconds,
                   const Task &task) {
  int ends[2];
  if (Error error = makeFolder(child.folder); !error.empty())
    return error;
  child.text = memfd_create("text", MFD_CLOEXEC);
  if (child.text < 0)
    return std::string("memfd_create: ") + strerror(errno);
  if (pipe2(ends, O_CLOEXEC))
    return std::string("pipe: ") + strerror(errno);
  child.range = range;
  child.seconds = seconds;
  child.shared->numEnded = 0;
  child.shared->begin = nowMs();
  // What is not written yet would be written by both.
  llvm::outs().flush();
  child.pid = fork();
  if (child.pid < 0)
    return std::string("fork: ") + strerror(errno);
  if (child.pid == 0)
    runChild(child, task);
  close(ends[1]);
  child.alive = ends[0];
  return {};
}

static std::string readText(int file) {
  std::string text;
  char buffer[4096];
  for (;;) {
    ssize_t got =
        pread(file, buffer, sizeof(buffer), static_cast<off_t>(text.size()));
    if (got <= 0)
      return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

/// Says how the child ended in the middle of a task.
static std::string describeEnd(int status, bool late, unsigned seconds) {
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (late || signal == SIGXCPU || signal == SIGKILL)
    return "did not end in " + std::to_string(seconds) + " s; ";
  if (signal)
    return std::string("crashed (") + strsignal(signal) + "); ";
  return "ended with status " + std::to_string(WEXITSTATUS(status)) + "; ";
}

/// Reports the tasks of a child that ended. Those that it did not begin go to
/// `left`.
static void finish(Child &child, bool late, std::vector<Range> &left,
                   const Done &done) {
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
    ;
  close(child.alive);
  child.pid = 0;
  std::string text = readText(child.text);
  close(child.text);
  fs::remove_directories(child.folder);
  size_t numEnded = child.shared->numEnded, textBegin = 0,
         next = child.range.begin + numEnded;
  for (size_t i = 0; i < numEnded; ++i) {
    const Result &result = child.shared->results[i];
    auto textEnd = static_cast<size_t>(result.textEnd);
    done(child.range.begin + i,
         {result.status, text.substr(textBegin, textEnd - textBegin),
          result.compileMs, result.runMs});
    textBegin = textEnd;
  }
  if (next == child.range.end)
    return;
  Outcome outcome;
  outcome.message =
      describeEnd(status, late, child.seconds) + text.substr(textBegin);
  done(next, outcome);
  if (next + 1 < child.range.end)
    left.push_back({next + 1, child.range.end});
}

/// Waits until a child ends or is late.
static void wait(std::vector<Child> &children, std::vector<Range> &left,
                 const Done &done) {
  std::vector<pollfd> polls;
  std::vector<Child *> running;
  double now = nowMs(), next = now + 60000;
  for (Child &child : children)
    if (child.pid) {
      polls.push_back({child.alive, POLLIN, 0});
      running.push_back(&child);
      next = std::min(next, child.getDeadline());
    }
  poll(polls.data(), polls.size(),
       static_cast<int>(std::max(0.0, next - now)) + 1);
  for (size_t i = 0; i < polls.size(); ++i) {
    Child &child = *running[i];
    bool late = !polls[i].revents && nowMs() > child.getDeadline();
    if (late)
      kill(child.pid, SIGKILL);
    if (late || polls[i].revents)
      finish(child, late, left, done);
  }
}

/// The next tasks of one child: of equal limits, and of a part of what is left,
/// so that no child is alone at the end.
static Range takeRange(size_t begin, size_t count, unsigned jobs,
                       const std::function<unsigned(size_t)> &seconds) {
  unsigned limit = std::max(1u, seconds(begin));
  size_t most = std::min({kMostTasks, size_t(kSecondsOfChild / limit),
                          (count - begin) / (2 * jobs)});
  Range range = {begin, begin + 1};
  while (range.end - begin < most && seconds(range.end) == limit)
    ++range.end;
  return range;
}

Error forEach(size_t count, const std::function<unsigned(size_t)> &seconds,
              unsigned jobs, const Task &task, const Done &done) {
  jobs = std::max(1u, jobs);
  std::vector<Child> children(jobs);
  void *memory =
      mmap(nullptr, sizeof(Shared) * children.size(), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return std::string("mmap: ") + strerror(errno);
  for (size_t i = 0; i < children.size(); ++i)
    children[i].shared = new (static_cast<Shared *>(memory) + i) Shared();
  size_t begun = 0;
  std::vector<Range> left;
  Error error;
  auto isRunning = [](const Child &child) { return child.pid != 0; };
  for (;;) {
    for (Child &child : children) {
      if (child.pid || !error.empty() || (left.empty() && begun == count))
        continue;
      Range range;
      if (left.empty()) {
        range = takeRange(begun, count, jobs, seconds);
        begun = range.end;
      } else {
        range = left.back();
        left.pop_back();
      }
      error = start(child, range, seconds(range.begin), task);
    }
    if (llvm::none_of(children, isRunning))
      break;
    wait(children, left, done);
  }
  munmap(memory, sizeof(Shared) * children.size());
  return error;
}

} // namespace conformance
