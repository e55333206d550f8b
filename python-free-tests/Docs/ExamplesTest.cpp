// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Every ```mlir block of a page must parse and verify.
#include "InitAll.h"
#include "Pages.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

TEST(DocsTest, ExamplesParseAndVerify) {
  DialectRegistry registry;
  adze::registerAllDialects(registry);
  MLIRContext context(registry);
  unsigned examples = 0;
  for (const std::string &path : adze::docs::findPages(ADZE_SOURCE)) {
    for (const adze::docs::Block &block :
         adze::docs::readPage(ADZE_SOURCE, path).blocks) {
      if (block.language != "mlir")
        continue;
      ++examples;
      std::string reasons;
      ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
        reasons += diagnostic.str() + "\n";
        return success();
      });
      OwningOpRef<ModuleOp> module =
          parseSourceString<ModuleOp>(block.text(), &context);
      EXPECT_TRUE(module) << path << ":" << block.line << ": " << reasons;
    }
  }
  EXPECT_GT(examples, 0u);
}

} // namespace
