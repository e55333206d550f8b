// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The progress line.
#include "Support/Terminal.h"
#include "gtest/gtest.h"

using namespace adze;
using std::chrono::seconds;

TEST(TerminalTest, ShowsHowManyAreDone) {
  EXPECT_EQ(formatProgress("kernel", 12, 48, seconds(3), 79),
            "kernel [######..................] 12/48, 3 s");
  EXPECT_EQ(formatProgress("kernel", 48, 48, seconds(61), 79),
            "kernel [########################] 48/48, 61 s");
}

TEST(TerminalTest, ShowsStagesOfUnknownLength) {
  EXPECT_EQ(formatProgress("graph", 0, 0, seconds(0), 79), "graph, 0 s");
}

TEST(TerminalTest, FitsIntoTheTerminal) {
  EXPECT_EQ(formatProgress("kernel", 1, 4, seconds(3), 12), "kernel [####");
}
