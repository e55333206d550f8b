// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Malicious models: none may crash the importer or take long.
#include "Import/ONNX/Import.h"
#include "ProtoBytes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <chrono>

using namespace protobytes;

namespace {

constexpr uint64_t kHuge = uint64_t(1) << 62;

std::string opset() {
  return number(1, 8) + field(8, field(1, "") + number(2, 17));
}

std::string model(const std::string &graph, const std::string &rest = "") {
  return opset() + field(7, graph + field(2, "g")) + rest;
}

/// A tensor of floats with these dims, which may be negative.
std::string shaped(const std::string &name, std::vector<int64_t> dims) {
  std::string shape;
  for (int64_t dim : dims)
    shape += field(1, number(1, static_cast<uint64_t>(dim)));
  return field(1, name) + field(2, field(1, number(1, 1) + field(2, shape)));
}

/// An initialiser of i64.
std::string longs(const std::string &name, std::vector<int64_t> values,
                  int64_t dim) {
  std::string data(reinterpret_cast<const char *>(values.data()),
                   values.size() * sizeof(int64_t));
  return field(5, number(1, static_cast<uint64_t>(dim)) + number(2, 7) +
                      field(8, name) + field(9, data));
}

std::string function(const std::string &name, const std::string &body) {
  std::string content = field(1, name) + field(4, "a") + field(5, "b") + body +
                        field(9, field(1, "") + number(2, 17)) +
                        field(9, field(1, "mine") + number(2, 1)) +
                        field(10, "mine");
  return "\xca\x01" + varint(content.size()) + content; // ModelProto.functions
}

/// A node as a field with another number, in a domain.
std::string call(unsigned place, const std::string &op,
                 const std::string &input, const std::string &output) {
  return field(place, field(1, input) + field(2, output) + field(4, op) +
                          field(7, "mine"));
}

/// Returns the nodes of a graph of nested branches of this depth, built from
/// the inside: copying a string at each level would take hours.
std::string nestedIfs(int depth) {
  std::vector<std::string> heads;
  std::string tail;
  std::string inner = node("Relu", {"x"}, "y") + field(2, "g");
  size_t size = inner.size();
  auto wrap = [&](unsigned place, const std::string &before,
                  const std::string &after) {
    size += before.size() + after.size();
    std::string head(1, static_cast<char>(place << 3 | 2));
    head += varint(size);
    size += head.size();
    heads.push_back(head + before);
    tail += after;
  };
  for (int i = 0; i < depth; ++i) {
    wrap(6, "", "");                                  // AttributeProto.g
    wrap(5, field(1, "then_branch"), "\xa0\x01\x05"); // NodeProto.attribute
    wrap(1, field(1, "c") + field(2, "y") + field(4, "If"), "");
  }
  std::string all;
  for (size_t i = heads.size(); i-- > 0;)
    all += heads[i];
  return all + inner + tail;
}

class Hostile : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> folder;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("adze-hostile", folder));
    path = (folder + "/model.onnx").str();
    adze::registerImportDialects(registry);
  }
  void TearDown() override {
    (void)llvm::sys::fs::remove_directories(llvm::sys::path::parent_path(path));
  }

  /// Returns true if the model is imported; a rejection must have a reason and
  /// take little time.
  bool import(const std::string &bytes, double maxSeconds = 5) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << bytes;
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    unsigned errors = 0;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &) {
      ++errors;
      return mlir::success();
    });
    auto begin = std::chrono::steady_clock::now();
    bool done = mlir::succeeded(adze::importONNX(path, context));
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), maxSeconds);
    EXPECT_TRUE(done || errors);
    return done;
  }

  mlir::DialectRegistry registry;
  std::string path;
};

TEST_F(Hostile, AChainOf100000NodesIsImported) {
  std::string graph;
  for (int i = 0; i < 100000; ++i)
    graph += node("Relu", {i ? "v" + std::to_string(i) : "x"},
                  "v" + std::to_string(i + 1));
  graph += field(11, shaped("x", {4})) + field(12, shaped("v100000", {4}));
  EXPECT_TRUE(import(model(graph), 60));
}

TEST_F(Hostile, HugeDimsAreRefused) {
  auto huge = static_cast<int64_t>(kHuge);
  for (std::vector<int64_t> dims :
       {std::vector<int64_t>{huge, 4}, {huge, huge, huge}, {INT64_MAX}})
    EXPECT_FALSE(
        import(model(node("Relu", {"x"}, "y") + field(11, shaped("x", dims)) +
                     field(12, shaped("y", dims)))));
  EXPECT_FALSE(import(
      model(node("Expand", {"x", "s"}, "y") + longs("s", {huge, huge}, 2) +
            field(11, shaped("x", {1, 1})) + field(12, shaped("y", {1, 1})))));
  EXPECT_FALSE(
      import(model(node("ConstantOfShape", {"s"}, "y") + longs("s", {huge}, 1) +
                   field(12, shaped("y", {4})))));
}

TEST_F(Hostile, NegativeSizesAreRefused) {
  EXPECT_FALSE(
      import(model(node("Relu", {"x"}, "y") + field(11, shaped("x", {-5})) +
                   field(12, shaped("y", {-5})))));
  EXPECT_FALSE(
      import(model(node("ConstantOfShape", {"s"}, "y") + longs("s", {-3}, 1) +
                   field(12, shaped("y", {4})))));
  EXPECT_FALSE(import(
      model(node("Reshape", {"x", "s"}, "y") + longs("s", {-2, -3}, 2) +
            field(11, shaped("x", {6})) + field(12, shaped("y", {2, 3})))));
  EXPECT_FALSE(
      import(model(node("Reshape", {"x", "s"}, "y") + longs("s", {6}, -1) +
                   field(11, shaped("x", {6})) + field(12, shaped("y", {6})))));
}

TEST_F(Hostile, CyclicFunctionsAreRefused) {
  // In the same form as the others, but without a cycle.
  EXPECT_TRUE(
      import(model(call(1, "f", "x", "y") + field(11, shaped("x", {4})) +
                       field(12, shaped("y", {4})),
                   field(8, field(1, "mine") + number(2, 1)) +
                       function("f", field(7, field(1, "a") + field(2, "b") +
                                                  field(4, "Relu"))))));
  std::string graph = call(1, "f", "x", "y") + field(11, shaped("x", {4})) +
                      field(12, shaped("y", {4}));
  std::string imports = field(8, field(1, "mine") + number(2, 1));
  EXPECT_FALSE(
      import(model(graph, imports + function("f", call(7, "f", "a", "b")))));
  EXPECT_FALSE(
      import(model(graph, imports + function("f", call(7, "g", "a", "b")) +
                              function("g", call(7, "f", "a", "b")))));
}

TEST_F(Hostile, FunctionsThatDoubleAreRefused) {
  // f0 calls f1 twice, which calls f2 twice, and so on: 2^40 nodes.
  std::string graph = call(1, "f0", "x", "y") + field(11, shaped("x", {4})) +
                      field(12, shaped("y", {4}));
  std::string functions = field(8, field(1, "mine") + number(2, 1));
  for (int i = 0; i < 40; ++i) {
    std::string next = "f" + std::to_string(i + 1);
    functions += function("f" + std::to_string(i),
                          call(7, next, "a", "t") + call(7, next, "t", "b"));
  }
  functions += function(
      "f40", field(7, field(1, "a") + field(2, "b") + field(4, "Relu")));
  EXPECT_FALSE(import(model(graph, functions), 60));
}

TEST_F(Hostile, DuplicateNamesAreRefused) {
  std::string ends = field(11, shaped("x", {4})) + field(12, shaped("y", {4}));
  EXPECT_FALSE(
      import(model(node("Relu", {"x"}, "y") + node("Abs", {"x"}, "y") + ends)));
  EXPECT_FALSE(import(
      model(node("Relu", {"x"}, "x") + node("Relu", {"x"}, "y") + ends)));
}

TEST_F(Hostile, BranchesNested100000DeepAreRefused) {
  for (int depth : {30, 1000, 100000})
    EXPECT_FALSE(import(model(nestedIfs(depth) + field(11, shaped("x", {4})) +
                              field(12, shaped("y", {4})))));
}

TEST_F(Hostile, ACycleOfNodesIsRefused) {
  EXPECT_FALSE(
      import(model(node("Relu", {"b"}, "a") + node("Relu", {"a"}, "b") +
                   field(12, shaped("b", {4})))));
}

} // namespace
