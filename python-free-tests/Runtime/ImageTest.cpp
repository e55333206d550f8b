// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The function that decodes images: formats without a library, against known
// pixels, and damaged data of each format.

#include "FunctionCalls.h"

#include <random>

using namespace adze::test;

namespace {

constexpr int64_t kByte = ADZE_VALUE_TYPE(kDLUInt, 8, ADZE_TENSOR);
enum Format : int64_t { RGB = 0, BGR = 1, Grayscale = 2 };

struct Decoded {
  bool ok;
  std::string message;
  std::vector<int64_t> dims;
  std::vector<int> samples;
};

Decoded decode(const std::string &file, Format format = RGB) {
  std::vector<uint8_t> bytes(file.begin(), file.end());
  std::vector<Operand> result = {
      {kByte, {-1, -1, format == Grayscale ? 1 : 3}}};
  Outcome outcome(
      runOne("decode_image",
             {make<uint8_t>(kByte, {static_cast<int64_t>(bytes.size())}, bytes),
              make<int64_t>(kInt, {1}, {format})},
             result));
  Decoded decoded{outcome.ok(), outcome.message, result[0].dims, {}};
  for (size_t i = 0; outcome.ok() && i < bytesOf(result[0]); ++i)
    decoded.samples.push_back(result[0].at<uint8_t>(i));
  return decoded;
}

using Samples = std::vector<int>;
using Dims = std::vector<int64_t>;

std::string word(uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i)
    bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

/// A BMP file of this many bits per pixel, whose rows are whole words.
std::string bmp(int32_t width, int32_t height, uint32_t bits,
                const std::string &palette, const std::string &rows) {
  uint32_t start = 54 + static_cast<uint32_t>(palette.size());
  return "BM" + word(start + static_cast<uint32_t>(rows.size())) + word(0) +
         word(start) + word(40) + word(static_cast<uint32_t>(width)) +
         word(static_cast<uint32_t>(height)) + word(1 | bits << 16) + word(0) +
         word(0) + word(0) + word(0) +
         word(static_cast<uint32_t>(palette.size() / 4)) + word(0) + palette +
         rows;
}

} // namespace

TEST(Images, PixmapsOfTextAndOfBytes) {
  const std::string bytes =
      "P6 # two pixels\n2 1\n255\n\x01\x02\x03\x10\x20\x30";
  for (const std::string &file :
       {bytes, std::string("P3\n2 1 255\n1 2 3 16 32 48\n")}) {
    Decoded rgb = decode(file);
    EXPECT_EQ(rgb.dims, (Dims{1, 2, 3})) << rgb.message;
    EXPECT_EQ(rgb.samples, (Samples{1, 2, 3, 16, 32, 48}));
    EXPECT_EQ(decode(file, BGR).samples, (Samples{3, 2, 1, 48, 32, 16}));
    // .299 r + .587 g + .114 b, rounded.
    EXPECT_EQ(decode(file, Grayscale).samples, (Samples{2, 29}));
  }
  EXPECT_EQ(decode("P2 1 2 9 9 3").samples,
            (Samples{255, 255, 255, 85, 85, 85}));
  EXPECT_EQ(decode("P5 1 1 65535\n\xff\xff").samples, (Samples{255, 255, 255}));
  EXPECT_EQ(decode("P1 3 1 101", Grayscale).samples, (Samples{0, 255, 0}));
  EXPECT_EQ(decode(std::string("P4 9 1\n\x80\x80"), Grayscale).samples,
            (Samples{0, 255, 255, 255, 255, 255, 255, 255, 0}));
}

TEST(Images, Bitmaps) {
  // The last row is stored first; rows end with whole words.
  std::string rows =
      std::string("\x03\x02\x01\0", 4) + std::string("\x06\x05\x04\0", 4);
  EXPECT_EQ(decode(bmp(1, 2, 24, "", rows)).samples,
            (Samples{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(decode(bmp(1, -2, 24, "", rows)).samples,
            (Samples{1, 2, 3, 4, 5, 6}));
  std::string palette = word(0x0a0b0c) + word(0x010203);
  Decoded one = decode(bmp(3, 1, 1, palette, std::string("\x40\0\0\0", 4)));
  EXPECT_EQ(one.samples, (Samples{10, 11, 12, 1, 2, 3, 10, 11, 12}));
  Decoded four = decode(bmp(2, 1, 4, palette, std::string("\x10\0\0\0", 4)));
  EXPECT_EQ(four.samples, (Samples{1, 2, 3, 10, 11, 12}));
  // A color that the palette lacks.
  Decoded eight = decode(bmp(1, 1, 8, palette, std::string("\x02\0\0\0", 4)));
  EXPECT_FALSE(eight.ok);
  EXPECT_NE(eight.message.find("format BMP"), std::string::npos);
}

TEST(Images, DataThatEndEarlyOrAreNoImage) {
  std::string pixmap = "P6 3 2 255\n" + std::string(18, 'x'),
              bitmap = bmp(3, 2, 24, "", std::string(24, 'x'));
  for (const std::string &file : {pixmap, bitmap}) {
    EXPECT_TRUE(decode(file).ok);
    for (size_t size = 0; size < file.size(); ++size)
      EXPECT_FALSE(decode(file.substr(0, size)).ok) << size;
  }
  Decoded text = decode("no image");
  EXPECT_NE(text.message.find("expected the data of an image"),
            std::string::npos);
  EXPECT_FALSE(decode("P6 999999999 999999999 255\nx").ok);
  EXPECT_FALSE(decode(bmp(0x7fffffff, 0x7fffffff, 1, "", "")).ok);
}

TEST(Images, DamagedHeadersOfLibraries) {
  // Each is rejected with the format, or with the missing library.
  const std::pair<std::string, const char *> rows[] = {
      {"\xff\xd8\xff\xe0", "JPEG"},
      {"\x89PNG\r\n\x1a\n", "PNG"},
      {"RIFFxxxxWEBP", "WebP"},
      {std::string("II*\0\x08\0\0\0", 8), "TIFF"},
      {std::string("\0\0\0\x0cjP  \r\n\x87\n", 12), "JPEG 2000"},
      {"\xff\x4f\xff\x51", "JPEG 2000"}};
  for (const auto &[file, format] : rows) {
    Decoded decoded = decode(file);
    EXPECT_FALSE(decoded.ok) << format;
    EXPECT_TRUE(decoded.message.find(std::string("format ") + format) !=
                    std::string::npos ||
                decoded.message.find("install") != std::string::npos)
        << decoded.message;
  }
}

TEST(Images, RandomDataNeverCrash) {
  std::mt19937 random(11);
  std::string pixmap = "P6 3 2 255\n" + std::string(18, 'x'),
              bitmap = bmp(5, 3, 4, std::string(64, 'p'), std::string(12, 'x'));
  for (int i = 0; i < 2000; ++i) {
    std::string file = i % 2 ? pixmap : bitmap;
    for (int k = 0; k < 3; ++k)
      file[2 + random() % (file.size() - 2)] = static_cast<char>(random());
    Decoded decoded = decode(file);
    if (decoded.ok)
      EXPECT_EQ(decoded.samples.size(),
                static_cast<size_t>(decoded.dims[0] * decoded.dims[1] * 3));
  }
}
