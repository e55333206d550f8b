// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Every relative link of a page must refer to a file, and its fragment to a
// heading.
#include "Pages.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <set>

using namespace llvm;
using namespace adze::docs;

namespace {

/// Returns the anchor that Markdown renderers derive from a heading: lower
/// case, words joined by hyphens.
std::string slugOf(StringRef heading) {
  std::string slug;
  for (char c : heading.trim())
    if (isAlnum(c) || c == '_')
      slug += toLower(c);
    else if (c == ' ' || c == '-')
      slug += '-';
  return slug;
}

/// Calls `visit(line, number)` for lines outside of fenced blocks.
template <typename Visit>
void forEachTextLine(const Page &page, Visit visit) {
  bool isInside = false;
  for (auto [number, text] : enumerate(page.lines)) {
    if (StringRef(text).ltrim().starts_with("```"))
      isInside = !isInside;
    else if (!isInside)
      visit(StringRef(text), number + 1);
  }
}

bool hasHeading(const Page &page, StringRef slug) {
  bool found = false;
  forEachTextLine(page, [&](StringRef line, size_t) {
    if (line.starts_with("#"))
      found |= slugOf(line.ltrim('#')) == slug;
  });
  return found;
}

/// Returns the targets `](TARGET)` of a line.
std::vector<StringRef> targetsOf(StringRef line) {
  std::vector<StringRef> targets;
  for (size_t at = line.find("]("); at != StringRef::npos;
       at = line.find("](", at + 2)) {
    size_t end = line.find(')', at);
    if (end != StringRef::npos)
      targets.push_back(line.slice(at + 2, end));
  }
  return targets;
}

TEST(LinksTest, LeadToFilesAndHeadings) {
  unsigned links = 0;
  for (const std::string &path : findPages(ADZE_SOURCE)) {
    Page page = readPage(ADZE_SOURCE, path);
    forEachTextLine(page, [&](StringRef line, size_t number) {
      for (StringRef target : targetsOf(line)) {
        if (target.contains("://") || target.starts_with("mailto:"))
          continue;
        ++links;
        auto [file, fragment] = target.split('#');
        SmallString<128> to(path);
        if (!file.empty()) {
          sys::path::remove_filename(to);
          sys::path::append(to, file);
          sys::path::remove_dots(to, /*remove_dot_dot=*/true);
        }
        EXPECT_TRUE(sys::fs::exists(ADZE_SOURCE "/" + to))
            << path << ":" << number << ": no file '" << target.str() << "'";
        if (!fragment.empty())
          EXPECT_TRUE(hasHeading(readPage(ADZE_SOURCE, to), fragment))
              << path << ":" << number << ": no heading '" << target.str()
              << "'";
      }
    });
  }
  EXPECT_GT(links, 0u);
}

} // namespace
