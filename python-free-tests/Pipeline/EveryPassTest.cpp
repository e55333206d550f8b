// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs every registered pass and pipeline on modules that it was not written
// for: an empty one, modules of other dialects, all ops, and the results of
// each other pass. A pass may reject a module with a diagnostic. It must not
// crash, fail without a diagnostic, or leave invalid IR.
#include "Pipeline/Compile.h"
#include "Pipeline/Dialects.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace adze {
namespace {

constexpr llvm::StringLiteral kEmpty = "module {}";

/// A module without ops of Adze: branches, calls, declarations, memory, nested
/// modules.
constexpr llvm::StringLiteral kForeign = R"(
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %n: index, %c: i1) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  cf.cond_br %c, ^then, ^else(%0 : tensor<4xf32>)
^then:
  %1 = func.call @declared(%x) : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^else(%1 : tensor<4xf32>)
^else(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}
func.func @again(%m: memref<?xf32>, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %m[%i] : memref<?xf32>
    %w = math.exp %v : f32
    memref.store %w, %m[%i] : memref<?xf32>
  }
  %s = func.call @again(%m, %n) : (memref<?xf32>, index) -> index
  return %s : index
}
module @inner {
  func.func @f(%v: vector<8xf32>) -> f32 {
    %0 = vector.reduction <add>, %v : vector<8xf32> into f32
    return %0 : f32
  }
}
)";

/// A few ops of each level.
constexpr llvm::StringLiteral kSmall[] = {
    R"(
func.func @main(%x: tensor<2x4xf32> {graph.name = "x"}) -> (tensor<2x4xf32> {graph.name = "y"}) {
  %w = graph.constant dense<0.5> : tensor<4x4xf32>
  %0 = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = graph.relu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = graph.add %1, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
)",
    R"(
tile.kernel @neg(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {tile.params = {BLOCK = 256 : i64}} {
  %b = tile.param "BLOCK" : index
  %c1024 = arith.constant 1024 : index
  %g = arith.ceildivui %c1024, %b : index
  %p = tile.program_id(%g) : index
  %at = arith.muli %p, %b : index
  %t = tile.load %x[%at] sizes [%b] : memref<1024xf32> -> tensor<?xf32>
  %n = arith.negf %t : tensor<?xf32>
  tile.store %n, %y[%at] : tensor<?xf32>, memref<1024xf32>
  tile.return
}
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = host.launch @neg(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
)",
    R"(
func.func @main(%x: tensor<1x3x8x8xf32> {graph.name = "x"}) -> (tensor<1x4xf32> {graph.name = "y"}) {
  %w = graph.constant dense<0.25> : tensor<4x3x3x3xf32>
  %b = graph.constant dense<1.0> : tensor<4x1x1xf32>
  %0 = graph.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %1 = graph.add %0, %b : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %2 = graph.relu %1 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %3 = graph.reduce_mean %2 {axes = array<i64: 2, 3>, keepdims = false} : (tensor<1x4x8x8xf32>) -> tensor<1x4xf32>
  %4 = graph.softmax %3 {axis = 1 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %4 : tensor<1x4xf32>
}
)",
    R"(
func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {adze.kernel} {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = host.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
)",
    R"(
#shape = affine_map<()[s0] -> (s0, 4)>
func.func @main(%x: tensor<?x4xf32, #shape>) -> tensor<?x4xf32, #shape> attributes {graph.symbols = ["batch"]} {
  %0 = graph.exp %x : (tensor<?x4xf32, #shape>) -> tensor<?x4xf32, #shape>
  return %0 : tensor<?x4xf32, #shape>
}
)"};

class EveryPassTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    registerStagePasses();
    registerPipelines();
    llvm::CrashRecoveryContext::Enable();
  }
  static void TearDownTestSuite() { llvm::CrashRecoveryContext::Disable(); }

  /// Returns the names in MLIR's registry, which has no other interface for
  /// them.
  static std::vector<std::string> getPasses() {
    testing::internal::CaptureStdout();
    printRegisteredPasses();
    llvm::outs().flush();
    std::string text = testing::internal::GetCapturedStdout();
    std::vector<std::string> names = {"adze-graph", "adze-tile", "adze-cpu",
                                      "adze-cuda", "adze"};
    for (StringRef line : llvm::split(text, '\n')) {
      // "  --name    -  summary"; the options of a pass are indented more.
      if (!line.consume_front("  --"))
        continue;
      StringRef name = line.take_until([](char c) { return c == ' '; });
      // A pass that crashes on purpose; MLIR's passes that print and write
      // files; and one of MLIR's passes that leaves branches of llvm.func with
      // operands from erased blocks.
      static constexpr llvm::StringLiteral left[] = {
          "test-inject-crash", "view-op-graph",         "print-ir",
          "print-op-stats",    "snapshot-op-locations", "remove-dead-values"};
      if (!llvm::is_contained(left, name))
        names.push_back(name.str());
    }
    return names;
  }

  /// A context that has loaded only the dialects that passes and texts require.
  static std::unique_ptr<MLIRContext> makeContext() {
    DialectRegistry registry;
    registerPipelineDialects(registry);
    auto context = std::make_unique<MLIRContext>(
        registry, MLIRContext::Threading::DISABLED);
    context->allowUnregisteredDialects();
    return context;
  }

  /// Runs a pass on a module. Returns its error, or an empty string.
  static std::string run(StringRef pass, ModuleOp module, bool &succeeds) {
    std::string messages, wrong;
    bool hasError = false;
    ScopedDiagnosticHandler handler(
        module.getContext(), [&](Diagnostic &diagnostic) {
          hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
          messages += StringRef(diagnostic.str()).take_front(500).str() + "\n";
        });
    llvm::CrashRecoveryContext recovery;
    succeeds = false;
    bool finished = recovery.RunSafely([&] {
      PassManager manager(module.getContext());
      manager.enableVerifier(false);
      std::string nested = "func.func(" + pass.str() + ")";
      if (failed(parsePassPipeline(pass, manager, llvm::nulls())) &&
          failed(parsePassPipeline(nested, manager, llvm::nulls()))) {
        wrong = "is no pass";
        return;
      }
      succeeds = succeeded(manager.run(module));
      if (!succeeds && !hasError)
        wrong = "fails without a diagnostic";
      if (succeeds && failed(verify(module)))
        wrong = "leaves invalid IR: " + messages;
    });
    return finished ? wrong : "crashes";
  }

  static OwningOpRef<ModuleOp> parse(StringRef text, MLIRContext &context) {
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    return parseSourceString<ModuleOp>(text, &context);
  }

  static std::string runOnText(StringRef pass, StringRef text) {
    auto context = makeContext();
    auto module = parse(text, *context);
    if (!module)
      return "cannot be given the text";
    bool succeeds;
    std::string wrong = run(pass, *module, succeeds);
    if (wrong == "crashes") { // its state is unknown
      (void)module.release();
      (void)context.release();
    }
    return wrong;
  }

  static void expectAllRun(StringRef text, StringRef what) {
    for (const std::string &pass : getPasses())
      EXPECT_EQ(runOnText(pass, text), "") << pass << " on " << what.str();
  }
};

TEST_F(EveryPassTest, RegistryIsListed) {
  std::vector<std::string> passes = getPasses();
  EXPECT_GT(passes.size(), 45u);
  for (StringRef name : {"graph-fold-constants", "tile-specialize", "cse",
                         "convert-graph-to-tile", "plan-memory"})
    EXPECT_TRUE(llvm::is_contained(passes, name)) << name.str();
}

TEST_F(EveryPassTest, OnAnEmptyModule) { expectAllRun(kEmpty, "nothing"); }

TEST_F(EveryPassTest, OnForeignDialects) {
  expectAllRun(kForeign, "foreign dialects");
}

/// Returns the modules of lit tests of dialects and conversions, among them all
/// ops. By default each pass runs on a fraction of them, selected by its name:
/// all passes on all modules (ADZE_ALL_MODULES) take a minute.
TEST_F(EveryPassTest, OnTheModulesOfTests) {
  constexpr unsigned shares = 8;
  unsigned count = 0;
  bool all = std::getenv("ADZE_ALL_MODULES");
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator it(ADZE_TESTS, code), end;
       it != end && !code; it.increment(code)) {
    StringRef path = it->path();
    if (!path.ends_with(".mlir"))
      continue;
    auto file = llvm::MemoryBuffer::getFile(path);
    ASSERT_TRUE(file) << path.str();
    SmallVector<StringRef> pieces;
    (*file)->getBuffer().split(pieces, "// -----");
    for (StringRef piece : pieces) {
      auto context = makeContext();
      if (!parse(piece, *context)) // the module must be rejected
        continue;
      ++count;
      for (const std::string &pass : getPasses())
        if (all || (llvm::xxh3_64bits(pass) + count) % shares == 0)
          EXPECT_EQ(runOnText(pass, piece), "") << pass << " on " << path.str();
    }
  }
  EXPECT_GT(count, 200u);
}

/// The inputs of passes, by their text, and the pass that wrote them.
TEST_F(EveryPassTest, OnTheOutputOfEveryOther) {
  std::vector<std::string> passes = getPasses();
  auto context = makeContext();
  context->loadAllAvailableDialects();
  llvm::StringMap<std::string> seen;
  for (StringRef text : kSmall)
    for (const std::string &first : passes) {
      auto module = parse(text, *context);
      ASSERT_TRUE(module);
      bool succeeds;
      EXPECT_EQ(run(first, *module, succeeds), "")
          << first << " on " << text.str();
      if (!succeeds)
        continue;
      std::string after;
      llvm::raw_string_ostream(after) << *module;
      // Most passes do not change most modules.
      if (!seen.try_emplace(after, first).second)
        continue;
      for (const std::string &second : passes) {
        OwningOpRef<ModuleOp> copy = module->clone();
        std::string wrong = run(second, *copy, succeeds);
        EXPECT_EQ(wrong, "")
            << second << " after " << first << " on " << text.str();
        if (wrong == "crashes")
          (void)copy.release();
      }
    }
}

} // namespace
} // namespace adze
