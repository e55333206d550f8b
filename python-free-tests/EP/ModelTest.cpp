// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Protobuf's wire format, against bytes written by hand.
#include "Model.h"
#include "gtest/gtest.h"

using namespace adze::ep;

namespace {

/// The bytes of a message; parts without data are zeros.
std::string getBytes(const Message &message) {
  std::string bytes;
  for (const adze_model_part &part : message.getParts())
    bytes += part.data
                 ? std::string(static_cast<const char *>(part.data), part.size)
                 : std::string(part.size, '\0');
  EXPECT_EQ(bytes.size(), message.getSize());
  return bytes;
}

TEST(Message, Scalars) {
  Message message;
  message.addInteger(1, 150);
  message.addInteger(20, 0);
  message.addText(2, "abc");
  message.addFloat(3, 1.0f);
  EXPECT_EQ(getBytes(message), std::string("\x08\x96\x01\xa0\x01\x00\x12\x03"
                                           "abc\x1d\x00\x00\x80\x3f",
                                           16));
}

TEST(Message, NegativeNumbersTakeTenBytes) {
  Message message;
  message.addInteger(1, static_cast<uint64_t>(int64_t(-1)));
  EXPECT_EQ(getBytes(message), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

// Memory of others is not copied, at any depth, and lengths include it.
TEST(Message, Memory) {
  const std::string weights(200, 'w');
  Message tensor, graph, model;
  tensor.addInteger(1, 7);
  tensor.addMemory(9, weights.data(), weights.size());
  tensor.addText(8, "t");
  graph.addMessage(5, std::move(tensor));
  graph.addMessage(5, {});
  model.addMessage(7, std::move(graph));
  model.addInteger(1, 8);
  std::vector<adze_model_part> parts = model.getParts();
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].data, weights.data());
  std::string tensorBytes = "\x08\x07\x4a\xc8\x01" + weights + "\x42\x01t";
  ASSERT_EQ(tensorBytes.size(), 208u);
  EXPECT_EQ(getBytes(model), "\x3a\xd5\x01\x2a\xd0\x01" + tensorBytes +
                                 std::string("\x2a\x00\x08\x08", 4));
}

TEST(Message, Holes) {
  Message message;
  message.addMemory(9, nullptr, 1 << 20);
  ASSERT_EQ(message.getParts().size(), 2u);
  EXPECT_EQ(message.getParts()[1].data, nullptr);
  EXPECT_EQ(message.getSize(), 4u + (1 << 20));
}

} // namespace
