// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs the example in each graph pass's description: the pass must rewrite the
// text under "Before:" to the text under "After:". Values that only the second
// text names match any value. An example that is a whole @main is compared as a
// whole, with its attributes. "Before (cuda=sm_90a):" sets that target, "After
// (option=value):" sets that option.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Host/IR/Host.h"
#include "InitAll.h"
#include "Target/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

struct Example {
  std::string pass, pipeline, before, after;
};

/// Returns the text of the next ```mlir block and removes it from `text`.
std::string takeBlock(StringRef &text) {
  text = text.split("```mlir\n").second;
  auto [block, rest] = text.split("```");
  text = rest;
  return block.str();
}

std::vector<Example> readExamples(StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(ADZE_SOURCE_DIR "/" + file.str());
  if (!buffer)
    return {};
  std::vector<Example> examples;
  StringRef text = (*buffer)->getBuffer();
  llvm::Regex header(
      "Pass<\"([a-z-]+)\"(, \"::mlir::(func::FuncOp|ModuleOp)\")?>");
  llvm::Regex targets("Before \\(([a-z0-9_=]+)\\):");
  llvm::Regex options("After \\(([a-z0-9=-]+)\\):");
  SmallVector<StringRef> match;
  while (header.match(text, &match)) {
    Example example;
    example.pass = match[1].str();
    bool onFunctions = match[3] == "func::FuncOp";
    text = text.substr(match[0].end() - text.begin());
    // The description of this pass, up to the next pass.
    StringRef rest = text.split("\ndef ").first;
    std::string target;
    if (targets.match(rest, &match))
      target = ("tile-attach-targets{" + match[1] + "},").str();
    rest = rest.substr(rest.find("    Before"));
    example.before = takeBlock(rest);
    StringRef between = rest.split("```mlir").first;
    example.after = takeBlock(rest);
    std::string pass = example.pass;
    if (options.match(between, &match))
      pass += "{" + match[1].str() + "}";
    if (onFunctions)
      pass = "func.func(" + pass + ")";
    example.pipeline = "builtin.module(" + target + pass + ")";
    examples.push_back(example);
  }
  // No pass may be skipped because its definition has another format.
  EXPECT_EQ(examples.size(), (*buffer)->getBuffer().count(" Pass<\""))
      << file.str();
  return examples;
}

using Names = llvm::MapVector<StringRef, StringRef>;

/// Pairs the operands of a line with the types of its signature.
void collectOperands(StringRef line, llvm::StringSet<> &defined, Names &free) {
  auto [head, signature] = line.split(" : (");
  auto [results, op] = head.split(" = ");
  if (op.empty())
    op = head;
  else
    for (StringRef name : llvm::split(results.trim(), ", "))
      defined.insert(name.split(":").first);
  SmallVector<StringRef> types, match;
  signature.split(")").first.split(types, ", ");
  llvm::Regex name("(%[a-z0-9]+)( = (%[a-z0-9]+))?");
  for (unsigned i = 0; i < types.size() && name.match(op, &match); ++i) {
    if (!match[3].empty()) // an argument of a region and its operand
      defined.insert(match[1]);
    StringRef operand = match[3].empty() ? match[1] : match[3];
    if (!defined.contains(operand))
      free.insert({operand, types[i]});
    op = op.substr(match[0].end() - op.begin());
  }
}

/// Creates `@main` whose arguments are the values that a fragment does not
/// define; it returns the results of the last op.
std::string makeModule(StringRef fragment, Names &free) {
  auto [body, functions] = fragment.split("    func.func");
  llvm::StringSet<> defined;
  std::string last, lastType;
  for (StringRef line : llvm::split(body, "\n")) {
    collectOperands(line, defined, free);
    if (!line.starts_with("    %") || !line.contains(" = "))
      continue;
    last = line.trim().split(" = ").first.str();
    lastType = line.contains(" -> ") ? line.rsplit(" -> ").second.str()
                                     : line.rsplit(" : ").second.str();
    lastType = StringRef(lastType).rtrim(" {").str();
  }
  std::string text = "func.func @main(";
  llvm::interleave(
      free, [&](auto &arg) { text += (arg.first + ": " + arg.second).str(); },
      [&] { text += ", "; });
  text += ") -> " + lastType + " {\n" + body.str();
  if (!body.contains("return "))
    text += "return " + last + " : " + lastType + "\n";
  text += "}\n";
  return functions.empty() ? text : text + "func.func" + functions.str();
}

/// Returns true if two functions return equal computations.
class Comparison {
public:
  Comparison(const Names &given, const Names &named)
      : given(given), named(named) {}

  bool areAlike(Value expected, Value got) {
    auto [it, fresh] = known.try_emplace(expected, got);
    if (!fresh)
      return it->second == got;
    if (auto argument = dyn_cast<BlockArgument>(expected)) {
      StringRef name = std::next(named.begin(), argument.getArgNumber())->first;
      auto same = given.find(name);
      auto from = dyn_cast<BlockArgument>(got);
      return same == given.end() || // stands for anything of this type
             (from && from.getArgNumber() == same - given.begin());
    }
    Operation *a = expected.getDefiningOp(), *b = got.getDefiningOp();
    auto alike = [&](Value x, Value y) {
      return success(isDefinedIn(x, a) ? isDefinedIn(y, b) : areAlike(x, y));
    };
    return b && OperationEquivalence::isEquivalentTo(
                    a, b, alike, /*markEquivalent=*/nullptr,
                    OperationEquivalence::IgnoreLocations |
                        OperationEquivalence::IgnoreDiscardableAttrs);
  }

private:
  static bool isDefinedIn(Value value, Operation *op) {
    return op->isProperAncestor(value.getParentBlock()->getParentOp()) ||
           value.getParentBlock()->getParentOp() == op;
  }

  const Names &given, &named;
  llvm::DenseMap<Value, Value> known;
};

class PassExamples : public testing::Test {
protected:
  PassExamples() {
    adze::graph::registerGraphTransformsPasses();
    adze::registerTargetPasses();
    DialectRegistry registry;
    adze::registerAllDialects(registry); // has the constant evaluator
    context.appendDialectRegistry(registry);
    context.loadDialect<func::FuncDialect, adze::graph::GraphDialect,
                        adze::host::HostDialect>();
  }

  void check(const Example &example) {
    SCOPED_TRACE(example.pass);
    ASSERT_FALSE(example.before.empty() || example.after.empty())
        << "expected an example of what the pass does";
    Names given, named;
    bool isWhole = StringRef(example.before).ltrim().starts_with("func.func");
    std::string before =
        isWhole ? example.before : makeModule(example.before, given);
    std::string after =
        isWhole ? example.after : makeModule(example.after, named);
    auto module = parseSourceString<ModuleOp>(before, &context);
    auto expected = parseSourceString<ModuleOp>(after, &context);
    ASSERT_TRUE(module) << before;
    ASSERT_TRUE(expected) << after;
    auto manager = parsePassPipeline(example.pipeline);
    ASSERT_TRUE(succeeded(manager)) << example.pipeline;
    PassManager passes(&context);
    static_cast<OpPassManager &>(passes) = std::move(*manager);
    ASSERT_TRUE(succeeded(passes.run(*module)));
    if (isWhole) {
      EXPECT_EQ(mlir::debugString(*expected), mlir::debugString(*module));
      return;
    }
    auto returned = [](ModuleOp m) {
      return m.lookupSymbol<func::FuncOp>("main").back().getTerminator();
    };
    Comparison comparison(given, named);
    EXPECT_TRUE(comparison.areAlike(returned(*expected)->getOperand(0),
                                    returned(*module)->getOperand(0)))
        << "expected:\n"
        << after << "got:\n"
        << mlir::debugString(*module);
  }

  MLIRContext context;
};

TEST_F(PassExamples, AreWhatThePassesDo) {
  std::vector<Example> examples;
  for (StringRef file :
       {"Passes.td", "QuantizationPasses.td", "RecognizePasses.td",
        "ShapePasses.td", "SimplifyPasses.td", "StatePasses.td"})
    llvm::append_range(
        examples,
        readExamples("include/Dialect/Graph/Transforms/" + file.str()));
  ASSERT_GE(examples.size(), 16u);
  for (const Example &example : examples)
    check(example);
}

} // namespace
