// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The state of output files after signals.
#include "Support/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace adze {
namespace {

/// Threads that write outputs repeatedly until a signal arrives.
[[noreturn]] void writeUntilKilled(const std::string &folder) {
  sys::PrintStackTraceOnErrorSignal("");
  prepareOutputs();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([path = folder + "/out" + std::to_string(i)] {
      while (true)
        cantFail(writeOutput(path, [](raw_ostream &os) -> Error {
          os << "whole";
          return Error::success();
        }));
    });
  pause();
  _exit(0);
}

TEST(OutputFile, SignalsLeaveWholeFilesAlone) {
  SmallString<128> folder;
  ASSERT_FALSE(sys::fs::createUniqueDirectory("adze-output-test", folder));
  for (int round = 0; round < 200; ++round) {
    pid_t child = fork();
    if (child == 0)
      writeUntilKilled(folder.str().str());
    usleep(2000 + 37 * round);
    kill(child, SIGTERM);
    kill(child, SIGTERM); // like `timeout`
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  }
  std::error_code code;
  for (sys::fs::directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code)) {
    uint64_t size = 0;
    EXPECT_FALSE(sys::fs::file_size(it->path(), size));
    EXPECT_EQ(size, StringRef("whole").size()) << it->path();
    EXPECT_FALSE(StringRef(it->path()).contains(".tmp-")) << it->path();
  }
  sys::fs::remove_directories(folder);
}

} // namespace
} // namespace adze
