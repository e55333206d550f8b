// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Profiles of runs of a session.
#include "Cache.h"
#include "CompiledNode.h"

namespace adze::ep {

// A plain pointer, since a thread-local variable with a destructor would keep
// the library loaded until the thread ends. A run ends the profile that it
// begins.
static thread_local RunProfile *innermost;

void beginProfile(const void *owner, std::string file) {
  auto profile = std::make_unique<RunProfile>();
  profile->owner = owner;
  profile->file = std::move(file);
  profile->outer.reset(innermost);
  innermost = profile.release();
}

RunProfile *findProfile(const void *owner) {
  RunProfile *profile = innermost;
  while (profile && profile->owner != owner)
    profile = profile->outer.get();
  return profile;
}

static void writeProfile(const RunProfile &profile) {
  // Each trace is an object; its events are between the first and the last
  // bracket.
  std::string events;
  for (const std::string &trace : profile.traces) {
    size_t begin = trace.find('['), end = trace.rfind(']');
    if (begin == std::string::npos || end == std::string::npos)
      throw Error("expected a trace, but got '" + trace.substr(0, 40) + "'");
    std::string some = trace.substr(begin + 1, end - begin - 1);
    if (some.find('{') == std::string::npos)
      continue;
    if (!events.empty())
      events += ",";
    events += some;
  }
  std::string text =
      "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [" + events + "]}\n";
  writeFile(profile.file, text);
}

void finishProfile(const void *owner) {
  if (!innermost || innermost->owner != owner)
    return;
  std::unique_ptr<RunProfile> profile(innermost);
  innermost = profile->outer.release();
  writeProfile(*profile);
}

} // namespace adze::ep
