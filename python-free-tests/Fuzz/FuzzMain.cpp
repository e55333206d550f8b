// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs a libFuzzer target without libFuzzer, on a given number of mutated
// inputs that depend on the seed alone:
//
//   soak-NAME [--seed=N] [--count=N] [--seconds=N] [--keep=PREFIX] FILE...
//
// Input i is a mutation of one of the files with seed N + i. An input that
// crashes or takes longer than 20 seconds is written to PREFIX, and its seed is
// printed, which reproduces it with --count=1.

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <sys/time.h>
#include <unistd.h>
#include <vector>

using Bytes = std::vector<uint8_t>;

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                               unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);
}

static std::mt19937_64 gRandom;

/// Changes bytes, as libFuzzer's function of this name does for mutators.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize) {
  if (size == 0)
    return 0;
  size_t at = gRandom() % size;
  switch (gRandom() % 6) {
  case 0:
    data[at] ^= static_cast<uint8_t>(1u << gRandom() % 8);
    return size;
  case 1:
    data[at] = static_cast<uint8_t>(gRandom());
    return size;
  case 2: { // drop some bytes
    size_t bytes = 1 + gRandom() % std::min<size_t>(size - at, 16);
    std::memmove(data + at, data + at + bytes, size - at - bytes);
    return std::max<size_t>(size - bytes, 1);
  }
  case 3: { // repeat some bytes
    size_t bytes = 1 + gRandom() % std::min<size_t>(size - at, 16);
    if (size + bytes > maxSize)
      return size;
    std::memmove(data + at + bytes, data + at, size - at);
    return size + bytes;
  }
  case 4: { // copy some bytes to another position
    size_t to = gRandom() % size;
    size_t bytes = 1 + gRandom() % std::min(size - at, size - to);
    std::memmove(data + to, data + at, bytes);
    return size;
  }
  default: {
    const uint64_t numbers[] = {0, 1, 127, 128, 255, 65536, UINT64_MAX};
    uint64_t number = numbers[gRandom() % std::size(numbers)];
    std::memcpy(data + at, &number, std::min<size_t>(size - at, 8));
    return size;
  }
  }
}

namespace {

struct Options {
  uint64_t seed = 1, count = 1000, seconds = 0;
  std::string keep = "failed-";
  std::vector<Bytes> files;
};

const Bytes *gInput = nullptr;
char gName[4096];

/// Writes the input, by calls that a signal handler may make.
void keepInput(int signal) {
  if (int fd = open(gName, O_WRONLY | O_CREAT | O_TRUNC, 0644); fd >= 0) {
    for (size_t done = 0; done < gInput->size();) {
      ssize_t bytes = write(fd, gInput->data() + done, gInput->size() - done);
      if (bytes <= 0)
        break;
      done += static_cast<size_t>(bytes);
    }
    close(fd);
  }
  const char text[] = "\nfailed; the input is kept as ";
  (void)!write(2, text, sizeof(text) - 1);
  (void)!write(2, gName, std::strlen(gName));
  (void)!write(2, "\n", 1);
  std::signal(signal, SIG_DFL);
  raise(signal == SIGALRM || signal == SIGPROF ? SIGKILL : signal);
}

/// Raises SIGPROF after this many seconds of CPU time, and SIGALRM after this
/// much wall time, as other processes may use the cores; 0: never.
void limitTime(unsigned work, unsigned wait) {
  itimerval limit = {};
  limit.it_value.tv_sec = work;
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(wait);
}

void addFile(const std::filesystem::path &path, Options &options) {
  std::ifstream in(path, std::ios::binary);
  Bytes bytes(std::istreambuf_iterator<char>(in), {});
  if (!bytes.empty())
    options.files.push_back(std::move(bytes));
}

/// Returns files, and those in folders, sorted by name.
void addPath(const std::filesystem::path &path, Options &options) {
  if (!std::filesystem::is_directory(path))
    return addFile(path, options);
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto &file : paths)
    addFile(file, options);
}

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    auto number = [&](const std::string &prefix, uint64_t &value) {
      if (argument.compare(0, prefix.size(), prefix))
        return false;
      char *end;
      value = std::strtoull(argument.c_str() + prefix.size(), &end, 10);
      return !*end && argument.size() > prefix.size();
    };
    if (argument.compare(0, 7, "--keep=") == 0)
      options.keep = argument.substr(7);
    else if (argument[0] != '-')
      addPath(argument, options);
    else if (!number("--seed=", options.seed) &&
             !number("--count=", options.count) &&
             !number("--seconds=", options.seconds))
      return false;
  }
  return !options.files.empty();
}

void makeInput(const Options &options, uint64_t seed, Bytes &input) {
  gRandom.seed(seed);
  input = options.files[gRandom() % options.files.size()];
  size_t size = input.size(), maxSize = size + 4096;
  input.resize(maxSize);
  for (uint64_t changes = 1 + gRandom() % 4; changes; --changes)
    size = LLVMFuzzerCustomMutator(input.data(), size, maxSize,
                                   static_cast<unsigned>(gRandom()));
  input.resize(size);
  // Reads after the end are detected.
  input.shrink_to_fit();
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: %s [--seed=N] [--count=N] [--seconds=N] "
                 "[--keep=PREFIX] FILE...\n",
                 argv[0]);
    return 2;
  }
  Bytes input;
  gInput = &input;
  for (int signal :
       {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGPROF, SIGALRM})
    std::signal(signal, keepInput);
  std::time_t begin = std::time(nullptr);
  uint64_t done = 0;
  for (; done < options.count; ++done) {
    if (options.seconds &&
        std::time(nullptr) - begin >= static_cast<long>(options.seconds))
      break;
    uint64_t seed = options.seed + done;
    std::snprintf(gName, sizeof(gName), "%s%llu", options.keep.c_str(),
                  static_cast<unsigned long long>(seed));
    makeInput(options, seed, input);
    limitTime(/*work=*/20, /*wait=*/600);
    LLVMFuzzerTestOneInput(input.data(), input.size());
    limitTime(0, 0);
  }
  std::printf("seed %llu: %llu inputs of %zu files, 0 failures\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(done), options.files.size());
  return 0;
}
