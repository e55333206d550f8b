// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Models larger than protobuf can read, with weights inside of the file and
// next to it: they are mapped and hashed, and take little memory.
#include "Import/ONNX/Import.h"
#include "ProtoBytes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace protobytes;

namespace {

constexpr uint64_t kBytes = 3ull << 30;

/// Returns the anonymous memory of this process, in KiB.
uint64_t getAnonymousMemory() {
  auto status = llvm::MemoryBuffer::getFileAsStream("/proc/self/status");
  if (!status)
    return 0;
  llvm::StringRef rest =
      (*status)->getBuffer().split("RssAnon:").second.ltrim();
  uint64_t kilobytes = 0;
  rest.consumeInteger(10, kilobytes);
  return kilobytes;
}

/// The start of a tensor "w" of kBytes i8: dims, data_type, name.
std::string makeTensor() {
  return number(1, kBytes) + number(2, 3) + field(8, "w");
}

/// All of y = Neg(w) except w: a graph without its last field.
std::string makeGraph() {
  std::string type = number(1, 3) + field(2, field(1, number(1, kBytes)));
  return node("Neg", {"w"}, "y") + field(2, "g") +
         field(12, field(1, "y") + field(2, field(1, type)));
}

std::string makeModel(const std::string &graph, uint64_t behind) {
  return number(1, 8) + field(8, field(1, "") + number(2, 17)) + "\x3a" +
         varint(graph.size() + behind) + graph;
}

class LargeFile : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("adze-large", folder));
  }
  void TearDown() override { (void)llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) { return (folder + "/" + name).str(); }

  /// Writes a file that ends with kBytes zeros, except for the first of them.
  void write(llvm::StringRef name, const std::string &start) {
    int file;
    ASSERT_FALSE(llvm::sys::fs::openFileForWrite(path(name), file));
    llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
    os << start << '\1';
    os.flush();
    ASSERT_FALSE(
        llvm::sys::fs::resize_file_sparse(file, start.size() + kBytes));
  }

  std::string import(llvm::StringRef name) {
    mlir::DialectRegistry registry;
    adze::registerImportDialects(registry);
    mlir::MLIRContext context(registry);
    auto module = adze::importONNX(path(name), context);
    std::string text;
    if (mlir::succeeded(module)) {
      llvm::raw_string_ostream os(text);
      (*module)->print(os);
    }
    EXPECT_LT(getAnonymousMemory(), 200u * 1024);
    return text;
  }

  llvm::SmallString<128> folder;
};

TEST_F(LargeFile, DataInTheModel) {
  std::string tensor = makeTensor() + "\x4a" + varint(kBytes);
  std::string graph =
      makeGraph() + "\x2a" + varint(tensor.size() + kBytes) + tensor;
  std::string start = makeModel(graph, kBytes);
  write("model.onnx", start);
  std::string text = import("model.onnx");
  std::string blob = "model.onnx\", " + std::to_string(start.size()) + ", " +
                     std::to_string(kBytes);
  EXPECT_NE(text.find(blob), std::string::npos) << text;
}

TEST_F(LargeFile, DataBesideTheModel) {
  std::string tensor =
      makeTensor() + field(13, field(1, "location") + field(2, "weights.bin")) +
      number(14, 1);
  std::error_code code;
  llvm::raw_fd_ostream(path("model.onnx"), code)
      << makeModel(makeGraph() + field(5, tensor), 0);
  write("weights.bin", "");
  std::string text = import("model.onnx");
  std::string blob = "weights.bin\", 0, " + std::to_string(kBytes);
  EXPECT_NE(text.find(blob), std::string::npos) << text;
}

} // namespace
