// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Packing by layout maps, against the map.
#include "Support/PackedLayout.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "gmock/gmock.h"

using namespace mlir;

namespace {

class PackedLayoutTest : public ::testing::Test {
protected:
  AffineMap parse(StringRef text) {
    auto attr = parseAttribute(("affine_map<" + text + ">").str(), &context);
    return cast<AffineMapAttr>(attr).getValue();
  }

  /// Packs 0, 1, 2, .. and checks each element at the index of the map.
  void check(ArrayRef<int64_t> shape, StringRef text) {
    AffineMap map = parse(text);
    SmallVector<int64_t> packedShape = adze::getPackedShape(shape, map);
    int64_t count = 1, packedCount = 1;
    for (int64_t size : shape)
      count *= size;
    for (int64_t size : packedShape)
      packedCount *= size;
    std::vector<int32_t> from(count), to(packedCount, -1);
    for (int64_t i = 0; i < count; ++i)
      from[i] = i + 1;
    auto bytes = [](std::vector<int32_t> &v) {
      return MutableArrayRef<char>(reinterpret_cast<char *>(v.data()),
                                   v.size() * 4);
    };
    adze::packElements(bytes(from), shape, map, 4, bytes(to));
    // Packing in pieces of any size has the same result.
    for (uint64_t pieceBytes : {1, 300, 1000, 100000}) {
      std::vector<char> pieces;
      adze::packInPieces(
          bytes(from), shape, map, 4, pieceBytes, [&](ArrayRef<char> piece) {
            pieces.insert(pieces.end(), piece.begin(), piece.end());
          });
      EXPECT_EQ(ArrayRef<char>(pieces), ArrayRef<char>(bytes(to)));
    }

    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<int64_t> point;
      for (int64_t rest = i, dim = shape.size() - 1; dim >= 0; --dim) {
        point.insert(point.begin(), rest % shape[dim]);
        rest /= shape[dim];
      }
      int64_t place = 0;
      for (auto [index, size] : llvm::zip(map.compose(point), packedShape))
        place = place * size + index;
      EXPECT_EQ(to[place], i + 1);
      ++found;
    }
    // The rest is zero.
    EXPECT_EQ(llvm::count(to, 0), packedCount - found);
  }

  MLIRContext context;
};

TEST_F(PackedLayoutTest, PanelsAreWhole) {
  AffineMap map = parse("(k, n) -> (n floordiv 32, k, n mod 32)");
  EXPECT_THAT(adze::getPackedShape({5, 70}, map),
              testing::ElementsAre(3, 5, 32));
  EXPECT_THAT(adze::getPackedShape({5, 8}, map),
              testing::ElementsAre(1, 5, 32));
}

TEST_F(PackedLayoutTest, MatrixPanels) {
  check({5, 70}, "(k, n) -> (n floordiv 32, k, n mod 32)");
}

TEST_F(PackedLayoutTest, FilterPanels) {
  check({20, 3, 3, 2}, "(o, i, r, s) -> (o floordiv 16, r, s, i, o mod 16)");
}

// Blocks of several dims, and of only some coordinates of one.
TEST_F(PackedLayoutTest, FiltersOfOneElement) {
  check({40, 30, 1, 1}, "(o, i, r, s) -> (o floordiv 16, r, s, i, o mod 16)");
}

// A row that is longer than a block, in runs of eight.
TEST_F(PackedLayoutTest, LongRows) {
  check({3, 1, 5000}, "(a, b, c) -> (c floordiv 8, a, b, c mod 8)");
}

TEST_F(PackedLayoutTest, Unchanged) {
  check({7, 300}, "(a, b) -> (a, b)");
}

TEST_F(PackedLayoutTest, Pairs) {
  check({6, 40}, "(k, n) -> (n floordiv 32, k floordiv 4, n mod 32, k mod 4)");
}

TEST_F(PackedLayoutTest, NotSeparable) {
  check({4, 6}, "(a, b) -> (a + b, b)");
}

} // namespace
