// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants in files: identity, the side file, and the bytes of constants.
#include "Dialect/Graph/IR/Graph.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <thread>

using namespace mlir;
using namespace adze::graph;
namespace fs = llvm::sys::fs;

namespace {

class BlobTest : public ::testing::Test {
protected:
  BlobTest() {
    context.loadDialect<GraphDialect>();
    EXPECT_FALSE(fs::createUniqueDirectory("adze-blob", directory));
  }
  ~BlobTest() override { fs::remove_directories(directory); }

  BlobTable &table() {
    return context.getLoadedDialect<GraphDialect>()->getBlobs();
  }
  std::string path(StringRef name) {
    SmallString<128> result = directory;
    llvm::sys::path::append(result, name);
    return result.str().str();
  }
  void write(StringRef name, StringRef bytes) {
    std::error_code code;
    llvm::raw_fd_ostream os(path(name), code);
    os << bytes;
  }
  static std::vector<char> makeBytes(size_t size, int seed) {
    std::vector<char> bytes(size);
    for (size_t i = 0; i < size; ++i)
      bytes[i] = char((i * 31 + i / 256 + seed) & 127);
    return bytes;
  }
  RankedTensorType floats(int64_t count) {
    return RankedTensorType::get({count}, Float32Type::get(&context));
  }

  MLIRContext context;
  SmallString<128> directory;
};

TEST_F(BlobTest, SmallAndSplatConstantsAreDense) {
  std::vector<char> small = makeBytes(1024, 1), large = makeBytes(1028, 1),
                    splat(4096, 3);
  auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
  EXPECT_TRUE(isa<DenseElementsAttr>(*makeElements(floats(256), small, emit)));
  EXPECT_TRUE(isa<BlobElementsAttr>(*makeElements(floats(257), large, emit)));
  auto equal = *makeElements(floats(1024), splat, emit);
  ASSERT_TRUE(isa<DenseElementsAttr>(equal));
  EXPECT_TRUE(equal.isSplat());
}

TEST_F(BlobTest, ReadingGivesTheBytesBack) {
  auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
  auto check = [&](ShapedType type, ArrayRef<char> bytes) {
    auto elements = makeElements(type, bytes, emit);
    ASSERT_TRUE(succeeded(elements));
    std::vector<char> storage;
    auto read = readElements(*elements, storage, emit);
    ASSERT_TRUE(succeeded(read));
    EXPECT_EQ(*read, bytes);
  };
  check(floats(7), makeBytes(28, 5));
  check(floats(700), makeBytes(2800, 5));
  check(floats(3), std::vector<char>(12, 0));
  check(floats(0), {});
  Type i1 = IntegerType::get(&context, 1), i4 = IntegerType::get(&context, 4);
  check(RankedTensorType::get({5}, i1), std::vector<char>{1, 0, 0, 1, 1});
  check(RankedTensorType::get({4}, i4), std::vector<char>{0x21, char(0xF3)});
  check(RankedTensorType::get({4000}, i4), makeBytes(2000, 9));
  check(RankedTensorType::get({3}, BFloat16Type::get(&context)),
        makeBytes(6, 2));
}

TEST_F(BlobTest, ContentIsTheIdentity) {
  std::vector<char> bytes = makeBytes(2048, 7);
  StringRef text(bytes.data(), bytes.size());
  write("a.bin", ("abc" + text).str());
  write("b.bin", (text + "xyz").str());
  auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
  auto a = importElements(floats(512), path("a.bin"), 3, emit);
  auto b = importElements(floats(512), path("b.bin"), 0, emit);
  auto c = makeElements(floats(512), bytes, emit);
  ASSERT_TRUE(succeeded(a) && succeeded(b) && succeeded(c));
  EXPECT_EQ(*a, *b);
  EXPECT_EQ(*a, *c); // deduplicated: nothing was written
  EXPECT_TRUE(table().sideFile.empty());
}

TEST_F(BlobTest, ImportChecksTheSize) {
  write("short.bin", "0123456789");
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
  EXPECT_TRUE(failed(importElements(floats(512), path("short.bin"), 0, emit)));
  EXPECT_EQ(message, "blob: expected 2048 bytes in '" + path("short.bin") +
                         "', but got 10");
}

TEST_F(BlobTest, SideFileMovesToItsPlace) {
  table().sideFile = path("out.weights");
  auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
  std::vector<char> first = makeBytes(3000, 1), second = makeBytes(3000, 2);
  auto a = *table().create(first, emit);
  auto b = *table().create(second, emit);
  EXPECT_EQ(a->getSource().offset, 0u);
  EXPECT_EQ(b->getSource().offset % 64, 0u);
  EXPECT_EQ(*a->getBytes(emit), ArrayRef<char>(first));
  EXPECT_FALSE(fs::exists(path("out.weights")));
  EXPECT_EQ(b->getSource().spelled, path("out.weights"));
  EXPECT_FALSE(table().keepSideFile());
  EXPECT_TRUE(fs::exists(path("out.weights")));
  EXPECT_EQ(b->getSource().spelled, path("out.weights"));
  EXPECT_EQ(*b->getBytes(emit), ArrayRef<char>(second));
}

/// An existing file with the name of the side file may be mapped as an input.
TEST_F(BlobTest, SideFileDoesNotClobberInputs) {
  std::vector<char> old = makeBytes(4096, 3);
  write("out.weights", StringRef(old.data(), old.size()));
  auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
  auto input = *table().import(path("out.weights"), 0, 4096, emit);
  table().sideFile = path("out.weights");
  auto created = *table().create(makeBytes(2000, 4), emit);
  EXPECT_EQ(*input->getBytes(emit), ArrayRef<char>(old));
  EXPECT_EQ(*created->getBytes(emit), ArrayRef<char>(makeBytes(2000, 4)));
}

/// Like successive compilations in one context.
TEST_F(BlobTest, EachSideFileBeginsAtItsBeginning) {
  auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
  std::vector<std::string> names;
  for (int i = 0; i < 2; ++i) {
    table().sideFile = "";
    auto blob = *table().create(makeBytes(2000, 7 + i), emit);
    EXPECT_EQ(blob->getSource().offset, 0u);
    EXPECT_EQ(*blob->getBytes(emit), ArrayRef<char>(makeBytes(2000, 7 + i)));
    names.push_back(table().sideFile);
  }
  EXPECT_NE(names[0], names[1]);
  table().sideFile = path("named.weights");
  auto known = *table().create(makeBytes(2000, 7), emit);
  EXPECT_EQ(known->getSource().path, names[0]);
  auto fresh = *table().create(makeBytes(2000, 9), emit);
  EXPECT_EQ(fresh->getSource().offset, 0u);
  EXPECT_EQ(*fresh->getBytes(emit), ArrayRef<char>(makeBytes(2000, 9)));
}

TEST_F(BlobTest, ReadingWhatWasCreatedMapsEachPartOnce) {
  table().sideFile = path("many.weights");
  auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
  std::vector<Blob *> blobs;
  for (int i = 0; i < 50; ++i)
    blobs.push_back(*table().create(makeBytes(2000 + i, i), emit));
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(*blobs[i]->getBytes(emit),
              ArrayRef<char>(makeBytes(2000 + i, i)));
  EXPECT_EQ(table().numMappings, 1u);
}

TEST_F(BlobTest, CreatingFromManyThreadsIsUnique) {
  table().sideFile = path("threads.weights");
  std::vector<std::vector<Blob *>> found(4);
  std::vector<std::thread> threads;
  for (auto &list : found)
    threads.emplace_back([&] {
      auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
      for (int i = 0; i < 40; ++i)
        list.push_back(*table().create(makeBytes(1500, i), emit));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (auto &list : found)
    EXPECT_EQ(list, found[0]);
}

/// A wrong hash is an error, not a crash, also if the op is printed by the
/// error.
TEST_F(BlobTest, WrongHashIsReported) {
  write("w.bin", std::string(2048, 'x') + "y");
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
  BlobKey key = BlobKey::get(makeBytes(2048, 1));
  auto blob = table().get(key, path("w.bin"), "", 0, emit);
  ASSERT_TRUE(succeeded(blob));
  EXPECT_TRUE(failed((*blob)->getBytes(emit)));
  EXPECT_NE(message.find("expected hash " + key.toString()), std::string::npos);
  // A second source with the contents resolves the error.
  std::vector<char> good = makeBytes(2048, 1);
  write("good.bin", StringRef(good.data(), good.size()));
  ASSERT_TRUE(succeeded(table().get(key, path("good.bin"), "", 0, emit)));
  EXPECT_TRUE(succeeded((*blob)->getBytes(emit)));
  EXPECT_EQ((*blob)->getSource().path, path("good.bin"));
}

} // namespace
