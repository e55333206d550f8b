// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The Markdown pages that tests read: README files and docs/, and their fenced
// blocks.
#ifndef ADZE_TESTS_DOCS_PAGES_H
#define ADZE_TESTS_DOCS_PAGES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace adze::docs {

/// A fenced block: "```LANGUAGE title="FILE"", its lines without the
/// indentation of the fence, and "```".
struct Block {
  std::string language;
  std::string title; // a file to write the block to; "" without one
  std::string needs; // of a comment `<!-- needs: COMMAND -->` before the block
  std::vector<std::string> lines;
  unsigned line; // of the fence, from 1

  std::string text() const;
};

/// A page, by its path relative to the root of the source tree.
struct Page {
  std::string path;
  std::vector<std::string> lines;
  std::vector<Block> blocks;
};

/// Reads a page; `root` is the folder of the source tree.
Page readPage(llvm::StringRef root, llvm::StringRef path);

/// Returns all pages: those of the root, docs/ and examples/, in a fixed order.
std::vector<std::string> findPages(llvm::StringRef root);

/// Returns true if `got` is `expected`, in which a line `...` stands for any
/// lines, and `...` within a line for any text.
bool matches(llvm::ArrayRef<std::string> expected,
             llvm::ArrayRef<std::string> got);

} // namespace adze::docs

#endif // ADZE_TESTS_DOCS_PAGES_H
