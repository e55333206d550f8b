// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Many seeds in few processes: what each found comes back as a line of text.
#include "Sweep.h"
#include "../Conformance/Workers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/resource.h>

using llvm::StringRef;

namespace property {

namespace {
constexpr unsigned kSeconds = 20; // for one seed
constexpr size_t kSeeds = 32;     // of a process

struct Range {
  uint64_t first;
  size_t count;
};

/// A line of what a process writes: the words of a finding.
constexpr StringRef kMark = "@finding";
} // namespace

/// Gives the process so much time from now on.
static void allowTime(unsigned seconds) {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  rlimit limit;
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur =
      static_cast<rlim_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
      seconds;
  setrlimit(RLIMIT_CPU, &limit);
}

static void write(const Finding &finding) {
  std::string message;
  llvm::raw_string_ostream(message)
      << StringRef(finding.message).take_front(2000);
  llvm::printEscapedString(
      message, llvm::outs()
                   << "\n"
                   << kMark << "\t" << static_cast<int>(finding.status) << "\t"
                   << finding.hasFault << "\t" << finding.pass << "\t");
  llvm::outs() << "\n";
  llvm::outs().flush();
}

/// "\22" is a quote again.
static std::string unescape(StringRef text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\\') {
      result += '\\';
      ++i;
    } else if (text[i] == '\\' && i + 2 < text.size()) {
      result +=
          static_cast<char>(llvm::hexFromNibbles(text[i + 1], text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

/// The findings of a process, and what else it said at the end.
static std::vector<Finding> read(StringRef text, std::string &rest) {
  std::vector<Finding> findings;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    llvm::SmallVector<StringRef> words;
    line.split(words, '\t');
    if (words.size() != 5 || !words[0].ends_with(kMark)) {
      rest += line.str() + "\n";
      continue;
    }
    rest.clear();
    Finding &finding = findings.emplace_back();
    finding.status = static_cast<Status>(words[1].front() - '0');
    finding.hasFault = words[2] == "1";
    finding.pass = words[3].str();
    finding.message = unescape(words[4]);
  }
  return findings;
}

/// One round over ranges of seeds; those that are left over go to `left`.
static conformance::Error
runRanges(const std::vector<Range> &ranges, unsigned jobs,
          const std::function<Finding(uint64_t, const std::string &)> &check,
          const std::function<void(uint64_t, const Finding &)> &done,
          std::vector<Range> &left) {
  return conformance::forEach(
      ranges.size(), [](size_t) { return kSeconds * (kSeeds + 1); }, jobs,
      [&](size_t i, const std::string &folder) -> Outcome {
        for (size_t j = 0; j < ranges[i].count; ++j) {
          allowTime(kSeconds);
          write(check(ranges[i].first + j, folder));
        }
        return {Status::Passed, "", 0, 0};
      },
      [&](size_t i, const Outcome &outcome) {
        std::string rest;
        std::vector<Finding> findings = read(outcome.message, rest);
        uint64_t seed = ranges[i].first;
        for (const Finding &finding : findings)
          done(seed++, finding);
        if (findings.size() == ranges[i].count)
          return;
        Finding end;
        end.message = StringRef(outcome.message).split(';').first.str() + "; " +
                      StringRef(rest).take_back(2000).str();
        done(seed, end);
        if (size_t count = ranges[i].count - findings.size() - 1)
          left.push_back({seed + 1, count});
      });
}

conformance::Error
sweep(uint64_t first, size_t count, unsigned jobs,
      const std::function<Finding(uint64_t, const std::string &)> &check,
      const std::function<void(uint64_t, const Finding &)> &done) {
  std::vector<Range> ranges;
  for (size_t i = 0; i < count; i += kSeeds)
    ranges.push_back({first + i, std::min(kSeeds, count - i)});
  while (!ranges.empty()) {
    std::vector<Range> left;
    if (conformance::Error error = runRanges(ranges, jobs, check, done, left);
        !error.empty())
      return error;
    ranges = std::move(left);
  }
  return {};
}

} // namespace property
