// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Every ```mlir block of docs/ parses and verifies, so examples stay true.
#include "InitAll.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

struct Example {
  std::string place; // file:line
  std::string text;
};

/// The ```mlir blocks of one page.
std::vector<Example> examplesOf(llvm::StringRef path) {
  std::vector<Example> examples;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return examples;
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  bool inside = false;
  for (auto [number, line] : llvm::enumerate(lines)) {
    if (inside && line.starts_with("```")) {
      inside = false;
    } else if (inside) {
      examples.back().text += (line + "\n").str();
    } else if (line.trim() == "```mlir") {
      inside = true;
      examples.push_back({(path + ":" + llvm::Twine(number + 1)).str(), ""});
    }
  }
  return examples;
}

TEST(DocsTest, ExamplesParseAndVerify) {
  DialectRegistry registry;
  adze::registerAllDialects(registry);
  MLIRContext context(registry);
  unsigned pages = 0;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(ADZE_DOCS, error), end;
       it != end && !error; it.increment(error)) {
    if (llvm::sys::path::extension(it->path()) != ".md")
      continue;
    ++pages;
    for (const Example &example : examplesOf(it->path())) {
      std::string reasons;
      ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
        reasons += diagnostic.str() + "\n";
        return success();
      });
      OwningOpRef<ModuleOp> module =
          parseSourceString<ModuleOp>(example.text, &context);
      EXPECT_TRUE(module) << example.place << ": " << reasons;
    }
  }
  EXPECT_FALSE(error) << error.message();
  EXPECT_GT(pages, 0u);
}

} // namespace
