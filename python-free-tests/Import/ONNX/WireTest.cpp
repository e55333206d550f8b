// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The wire-format pass on messages written by hand.
#include "Wire.h"
#include "ProtoBytes.h"
#include "gtest/gtest.h"

using namespace adze::importer;
using namespace protobytes;

namespace {

// ModelProto.graph (7) . initializer (5).
std::string model(const std::string &tensor) {
  return field(7, field(5, tensor));
}

std::optional<std::string> run(const std::string &file, WireError &error) {
  return makeSkeleton(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(file.data()),
                     file.size()),
      error);
}

/// Returns the raw_data (9) of the only tensor of a skeleton of `file`, which
/// `before` precedes.
std::optional<RawData> rawData(const std::string &file, std::string &skeleton,
                               const std::string &before = "") {
  WireError error;
  auto result = run(file, error);
  if (!result)
    return std::nullopt;
  skeleton = *result;
  llvm::StringRef rest = skeleton;
  // Tags and sizes below 128 are one byte each.
  if (!rest.consume_front("\x3a"))
    return std::nullopt;
  rest = rest.drop_front(1);
  if (!rest.consume_front("\x2a"))
    return std::nullopt;
  rest = rest.drop_front(1);
  if (!rest.consume_front(before) || !rest.consume_front("\x4a"))
    return std::nullopt;
  size_t size = rest.front();
  return RawData::decode(rest.drop_front(1).take_front(size));
}

TEST(Wire, LargeDataStaysInTheFile) {
  std::string data(2000, 'd');
  std::string file = model(field(9, data)), skeleton;
  auto raw = rawData(file, skeleton);
  ASSERT_TRUE(raw);
  EXPECT_TRUE(raw->inFile);
  EXPECT_EQ(raw->offset, file.find(data));
  EXPECT_EQ(raw->size, data.size());
  EXPECT_LT(skeleton.size(), 40u);
}

TEST(Wire, SmallDataIsCopied) {
  std::string file = model(field(9, "data")), skeleton;
  auto raw = rawData(file, skeleton);
  ASSERT_TRUE(raw);
  EXPECT_FALSE(raw->inFile);
  EXPECT_EQ(raw->bytes, "data");
}

// Data in the file that have the form of a reference are data.
TEST(Wire, ReferencesCannotBeForged) {
  std::string forged = std::string(1, '\1') + std::string(16, '\xff');
  std::string file = model(field(9, forged)), skeleton;
  auto raw = rawData(file, skeleton);
  ASSERT_TRUE(raw);
  EXPECT_FALSE(raw->inFile);
  EXPECT_EQ(raw->bytes, forged);
}

TEST(Wire, PackedFloatsStayInTheFile) {
  std::string floats(4096, 'f');
  std::string type = number(2, 1), skeleton;
  std::string file = model(type + field(4, floats));
  auto raw = rawData(file, skeleton, type);
  ASSERT_TRUE(raw);
  EXPECT_TRUE(raw->inFile);
  EXPECT_EQ(raw->offset, file.find(floats));
  EXPECT_EQ(raw->size, floats.size());
}

// Fields in two pieces or of another type are not extracted: protobuf reads
// them.
TEST(Wire, OtherFloatsAreCopied) {
  std::string floats(4096, 'f');
  WireError error;
  for (const std::string &tensor :
       {number(2, 1) + field(4, floats) + field(4, floats),
        number(2, 11) + field(4, floats)}) {
    auto skeleton = run(model(tensor), error);
    ASSERT_TRUE(skeleton);
    EXPECT_NE(skeleton->find(floats), std::string::npos);
  }
}

TEST(Wire, DocumentationIsDropped) {
  WireError error;
  auto skeleton = run(field(6, "words") + field(2, "producer"), error);
  ASSERT_TRUE(skeleton);
  EXPECT_EQ(*skeleton, field(2, "producer"));
}

// Attributes (5) of nodes (1) contain tensors (5, 10) and graphs (6).
TEST(Wire, FindsNestedTensors) {
  std::string data(3000, 'd');
  std::string inner = field(1, field(5, field(5, field(9, data))));
  std::string file = field(7, field(1, field(5, field(6, inner))));
  WireError error;
  auto skeleton = run(file, error);
  ASSERT_TRUE(skeleton);
  EXPECT_LT(skeleton->size(), 60u);
}

struct Broken {
  const char *name;
  std::string file;
  std::optional<uint64_t> offset;
  const char *message;
};

TEST(Wire, SaysWhatIsWrongAndWhere) {
  std::string deep = field(9, "");
  for (int i = 0; i < 40; ++i)
    deep = field(1, field(5, field(6, deep)));
  const Broken cases[] = {
      {"length past the end", "\x3a\x05x", 0, "only 1 are left"},
      {"length past the message", "\x3a\x02\x2a\x09", 2, "only 0 are left"},
      {"huge length", "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 0,
       "only 0 are left"},
      {"number without end", std::string(4, '\xff'), 0, "the message ends"},
      {"number of 65 bits", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 1,
       "at most 64 bits"},
      {"field number 0", std::string("\x02\x00", 2), 0, "field number"},
      {"group", "\x3b", 0, "but got 3"},
      {"no wire type", "\x3f", 0, "but got 7"},
      {"fixed past the end", "\x39\x01\x02", 0, "only 2 are left"},
      {"nested too deep", field(7, deep), std::nullopt, "nested at most"},
  };
  for (const Broken &broken : cases) {
    WireError error;
    EXPECT_FALSE(run(broken.file, error)) << broken.name;
    EXPECT_NE(error.message.find(broken.message), std::string::npos)
        << broken.name << ": " << error.message;
    EXPECT_EQ(error.offset, broken.offset.value_or(error.offset))
        << broken.name;
  }
}

TEST(Wire, EmptyFileIsAnEmptyModel) {
  WireError error;
  auto skeleton = run("", error);
  ASSERT_TRUE(skeleton);
  EXPECT_TRUE(skeleton->empty());
}

} // namespace
