// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Many seeds in few processes: each is reported once, also after a crash.
#include "Sweep.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <map>

using namespace property;

TEST(Sweep, ACrashIsThatOfItsSeed) {
  std::map<uint64_t, Finding> findings;
  conformance::Error error = sweep(
      7, 70, 2,
      [](uint64_t seed, const std::string &) {
        if (seed == 9 || seed == 10)
          abort();
        Finding finding;
        finding.status = seed % 2 ? Status::Passed : Status::Failed;
        finding.message = seed == 12 ? "a\tb\n\"c\"\\d" : "";
        finding.pass = "cse";
        finding.hasFault = seed == 13;
        return finding;
      },
      [&](uint64_t seed, const Finding &finding) {
        EXPECT_TRUE(findings.try_emplace(seed, finding).second) << seed;
      });
  EXPECT_EQ(error, "");
  EXPECT_EQ(findings.size(), 70u);
  for (const auto &[seed, finding] : findings) {
    bool crashed = seed == 9 || seed == 10;
    EXPECT_EQ(finding.status,
              crashed || seed % 2 == 0 ? Status::Failed : Status::Passed)
        << seed;
    EXPECT_EQ(finding.pass, crashed ? "" : "cse");
    EXPECT_EQ(finding.hasFault, seed == 13);
    EXPECT_EQ(finding.message.find("crashed") == 0, crashed) << finding.message;
  }
  EXPECT_EQ(findings[12].message, "a\tb\n\"c\"\\d");
}
