// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Damaged models are rejected: each byte of a small model is changed in turn.
// No change may crash, and each rejection must have a reason.
#include "Import/ONNX/Import.h"
#include "ProtoBytes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <random>

using namespace protobytes;

namespace {

/// A model with a pooling, and a reshape by shape arithmetic.
std::string makeModel() {
  std::string graph =
      node("MaxPool", {"x"}, "p",
           attribute("kernel_shape", field(8, std::string("\2\2")), 7)) +
      node("Shape", {"p"}, "s") + node("Slice", {"s", "b", "e"}, "n") +
      node("Concat", {"n", "m"}, "r", attribute("axis", number(3, 0), 2)) +
      node("Reshape", {"p", "r"}, "q") + node("Softmax", {"q"}, "y") +
      field(2, "g") + field(5, ints("b", std::string(1, '\0'))) +
      field(5, ints("e", "\2")) + field(5, ints("m", "\6\6")) +
      field(11, value("x", "N\4\7\7")) + field(12, value("y", "N\4\6\6"));
  return number(1, 8) + field(8, field(1, "") + number(2, 17)) +
         field(7, graph);
}

class Mutation : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> folder;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("adze-mutation", folder));
    path = (folder + "/model.onnx").str();
    adze::registerImportDialects(registry);
  }
  void TearDown() override {
    (void)llvm::sys::fs::remove_directories(llvm::sys::path::parent_path(path));
  }

  /// Returns true if the bytes can be imported; checks that there is a reason
  /// if not.
  bool import(const std::string &bytes) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << bytes;
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    unsigned errors = 0;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
      if (d.getSeverity() == mlir::DiagnosticSeverity::Error) {
        ++errors;
        EXPECT_TRUE(llvm::StringRef(d.str()).starts_with(path + ": "))
            << d.str();
      }
      return mlir::success();
    });
    adze::ImportStatus status;
    auto module = adze::importONNX(path, context, {}, &status);
    EXPECT_EQ(mlir::failed(module), errors != 0);
    EXPECT_EQ(mlir::failed(module), status != adze::ImportStatus::Done);
    return mlir::succeeded(module);
  }

  mlir::DialectRegistry registry;
  std::string path;
};

TEST_F(Mutation, TheModelItselfIsFine) { EXPECT_TRUE(import(makeModel())); }

TEST_F(Mutation, EveryPrefixIsHandled) {
  std::string model = makeModel();
  for (size_t size = 0; size < model.size(); ++size)
    EXPECT_FALSE(import(model.substr(0, size))) << size;
}

TEST_F(Mutation, EveryByteIsHandled) {
  std::string model = makeModel();
  unsigned imported = 0;
  for (size_t i = 0; i < model.size(); ++i)
    for (int flip : {0x01, 0x10, 0x80, 0xff}) {
      std::string changed = model;
      changed[i] ^= char(flip);
      imported += import(changed);
    }
  // Most changes are detected.
  EXPECT_LT(imported, model.size() * 2);
}

TEST_F(Mutation, ManyBytesAreHandled) {
  std::string model = makeModel();
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string changed = model;
    for (int k = 0; k < 4; ++k)
      changed[random() % changed.size()] = char(random());
    (void)import(changed);
  }
}

} // namespace
