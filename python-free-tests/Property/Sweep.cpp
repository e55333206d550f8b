// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Many seeds in few processes: a finding comes back as text.
#include "Sweep.h"
#include "../Conformance/Workers.h"

using llvm::StringRef;

namespace property {

/// Before the finding, after what the compiler printed.
static constexpr StringRef kMark = "@finding\t";

static Outcome encode(const Finding &finding) {
  Outcome outcome = finding;
  outcome.message = (kMark + (finding.hasFault ? "1\t" : "0\t") + finding.pass +
                     "\t" + finding.message)
                        .str();
  return outcome;
}

static Finding decode(const Outcome &outcome) {
  Finding finding;
  static_cast<Outcome &>(finding) = outcome;
  StringRef text = outcome.message;
  size_t begin = text.find(kMark);
  // Without one, the message says how the process ended.
  if (begin == StringRef::npos)
    return finding;
  auto [hasFault, rest] = text.substr(begin + kMark.size()).split('\t');
  auto [pass, message] = rest.split('\t');
  finding.hasFault = hasFault == "1";
  finding.pass = pass.str();
  finding.message = message.str();
  return finding;
}

conformance::Error
sweep(uint64_t first, size_t count, unsigned jobs,
      const std::function<Finding(uint64_t, const std::string &)> &check,
      const std::function<void(uint64_t, const Finding &)> &done) {
  constexpr unsigned seconds = 20;
  return conformance::forEach(
      count, [](size_t) { return seconds; }, jobs,
      [&](size_t i, const std::string &folder) {
        return encode(check(first + i, folder));
      },
      [&](size_t i, const Outcome &outcome) {
        done(first + i, decode(outcome));
      });
}

} // namespace property
