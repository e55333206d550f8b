// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads Markdown pages and compares output with its pattern.
#include "Pages.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace llvm;

namespace adze::docs {

std::string Block::text() const { return join(lines, "\n") + "\n"; }

/// Returns the value of `name="VALUE"` in the text after a fence's language.
static std::string getAttribute(StringRef info, StringRef name) {
  size_t at = info.find((name + "=\"").str());
  if (at == StringRef::npos)
    return "";
  return info.drop_front(at + name.size() + 2).split('"').first.str();
}

/// Returns the command of a line `<!-- needs: COMMAND -->`.
static std::string getNeeds(StringRef line) {
  line = line.trim();
  if (!line.consume_front("<!-- needs:") || !line.consume_back("-->"))
    return "";
  return line.trim().str();
}

static void readBlocks(Page &page) {
  bool isInside = false;
  size_t indent = 0;
  for (auto [number, text] : enumerate(page.lines)) {
    StringRef line = text, trimmed = line.ltrim();
    if (isInside && trimmed.rtrim() == "```") {
      isInside = false;
    } else if (isInside) {
      page.blocks.back().lines.push_back(
          line.drop_front(std::min(indent, line.size() - trimmed.size()))
              .str());
    } else if (trimmed.consume_front("```")) {
      isInside = true;
      indent = line.size() - trimmed.size() - 3;
      auto [language, info] = trimmed.split(' ');
      std::string needs = number ? getNeeds(page.lines[number - 1]) : "";
      page.blocks.push_back({language.trim().str(),
                             getAttribute(info, "title"),
                             needs,
                             {},
                             static_cast<unsigned>(number + 1)});
    }
  }
}

Page readPage(StringRef root, StringRef path) {
  Page page{path.str(), {}, {}};
  auto buffer = MemoryBuffer::getFile(root + "/" + path);
  if (!buffer)
    return page;
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (StringRef line : lines)
    page.lines.push_back(line.str());
  readBlocks(page);
  return page;
}

std::vector<std::string> findPages(StringRef root) {
  std::vector<std::string> pages;
  std::error_code error;
  auto add = [&](StringRef path) {
    if (sys::path::extension(path) == ".md")
      pages.push_back(path.drop_front(root.size() + 1).str());
  };
  for (sys::fs::directory_iterator it(root, error), end; it != end && !error;
       it.increment(error))
    add(it->path());
  for (StringRef folder : {"docs", "examples"})
    for (sys::fs::recursive_directory_iterator it(root + "/" + folder, error),
         end;
         it != end && !error; it.increment(error))
      add(it->path());
  llvm::sort(pages);
  return pages;
}

/// Returns true if a line matches a pattern, in which `...` stands for any
/// text.
static bool matchesLine(StringRef pattern, StringRef line) {
  SmallVector<StringRef> parts;
  pattern.rtrim().split(parts, "...");
  line = line.rtrim();
  if (parts.size() == 1)
    return parts.front() == line;
  if (!line.consume_front(parts.front()) || !line.consume_back(parts.back()))
    return false;
  for (StringRef part : ArrayRef(parts).drop_front().drop_back()) {
    size_t at = line.find(part);
    if (at == StringRef::npos)
      return false;
    line = line.drop_front(at + part.size());
  }
  return true;
}

bool matches(ArrayRef<std::string> expected, ArrayRef<std::string> got) {
  if (expected.empty())
    return got.empty();
  if (StringRef(expected.front()).trim() != "...")
    return !got.empty() && matchesLine(expected.front(), got.front()) &&
           matches(expected.drop_front(), got.drop_front());
  for (size_t skipped = 0; skipped <= got.size(); ++skipped)
    if (matches(expected.drop_front(), got.drop_front(skipped)))
      return true;
  return false;
}

} // namespace adze::docs
