// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Digests, and files that are written atomically.
#include "Cache.h"
#include "Api.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace adze::ep;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

TEST(Digest, IsOfDescriptionAndBytes) {
  const std::string text = "some bytes";
  std::string whole = getDigest("d", {{text.data(), text.size()}});
  EXPECT_EQ(whole.size(), 32u);
  EXPECT_EQ(whole.find_first_not_of("0123456789abcdef"), std::string::npos);
  // The boundaries of parts do not matter, everything else does.
  EXPECT_EQ(whole, getDigest("d", {{text.data(), 3},
                                   {text.data() + 3, text.size() - 3}}));
  EXPECT_NE(whole, getDigest("e", {{text.data(), text.size()}}));
  EXPECT_NE(whole, getDigest("d", {{text.data(), text.size() - 1}}));
  EXPECT_NE(getDigest("ds", {}), getDigest("d", {{"s", 1}}));
  EXPECT_NE(getDigest("d", {{nullptr, 8}}), getDigest("d", {{nullptr, 16}}));
}

/// A folder that is removed at the end.
struct Folder {
  Folder() : path(testing::TempDir() + "adze-ep-" + std::to_string(getpid())) {
    fs::remove_all(path);
  }
  ~Folder() { fs::remove_all(path); }
  size_t count() const {
    return size_t(std::distance(fs::directory_iterator(path), {}));
  }
  fs::path path;
};

TEST(Files, AreWritten) {
  Folder folder;
  fs::path file = folder.path / "a" / "b.so";
  writeFile(file, "first");
  EXPECT_EQ(readFile(file), "first");
  writeFile(file, "2nd");
  EXPECT_EQ(readFile(file), "2nd");
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1);
  // Others may read the file, like any file of the user.
  struct stat status;
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
  EXPECT_EQ(readFile(folder.path / "none"), std::nullopt);
}

TEST(Files, FailuresLeaveNothing) {
  Folder folder;
  writeFile(folder.path / "file", "x");
  try {
    writeFile(folder.path / "file" / "below", "x");
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("file/below"));
    EXPECT_THAT(error.what(), HasSubstr("but got: "));
  }
  // A file that exceeds a size limit, as on a full disk.
  struct rlimit old, small;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old;
  small.rlim_cur = 1000;
  auto handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string large(5000, 'x');
  EXPECT_THROW(writeFile(folder.path / "large", large), Error);
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Files, DescribeTheirBuild) {
  Folder folder;
  fs::path file = folder.path / "lib.so";
  EXPECT_EQ(describeFile(file), "none");
  writeFile(file, "1");
  std::string first = describeFile(file);
  writeFile(file, "22");
  EXPECT_NE(describeFile(file), first);
  EXPECT_NE(describeCpu(), "");
}

} // namespace
