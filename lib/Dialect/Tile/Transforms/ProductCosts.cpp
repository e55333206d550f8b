// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#include "ProductCosts.h"
#include "Dialect/Tile/IR/Units.h"

using namespace mlir;

namespace adze::tile {

constexpr int64_t kStageRowBytes = 128; ///< along k, at most
constexpr int64_t kSumBytes = 4;        ///< of an accumulator

int64_t getSizeOr(Value memref, int64_t dim, int64_t otherwise, bool &isKnown) {
  int64_t size = cast<MemRefType>(memref.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return size;
  isKnown = false;
  return otherwise;
}

ProductSizes getSizes(Product &product, TargetUnitAttr unit) {
  constexpr int64_t someMatrices = 16;
  ProductSizes sizes;
  auto usual =
      product.dot->getParentOfType<KernelOp>()->getAttrOfType<IntegerAttr>(
          kUsualSizeAttribute);
  int64_t manyRows = usual ? usual.getInt() : 2048;
  StoreOp store = product.stores.front();
  SmallVector<int64_t> dims = store.getMemDims();
  unsigned numRows = product.getNumRowDims();
  auto size = [&](Value memref, int64_t dim, int64_t otherwise) {
    return getSizeOr(memref, dim, otherwise, sizes.isKnown);
  };
  for (unsigned i = 0; i < numRows; ++i)
    sizes.rows.push_back(size(store.getMemref(), dims[i], manyRows));
  sizes.n = size(store.getMemref(), dims[numRows], manyRows);
  sizes.k =
      getSizeOr(product.lhs.getMemref(), product.lhs.getMemDims()[numRows],
                manyRows, sizes.isDepthKnown);
  sizes.isKnown &= sizes.isDepthKnown;
  // A stage of a window has one tap, which may have fewer channels.
  int64_t least = unit ? unit.getShape()[2] : 1;
  sizes.depth = unit ? kStageRowBytes / getElementBytes(unit) : 1;
  while (numRows > 1 && sizes.depth > least && sizes.k <= sizes.depth / 2)
    sizes.depth /= 2;
  sizes.k = llvm::alignTo(sizes.k, sizes.depth);
  sizes.parts = sizes.k / sizes.depth;
  for (scf::ForOp loop : ArrayRef(product.loops).drop_back()) {
    int64_t trips =
        loop.getStaticTripCount().value_or(llvm::APInt(64, 1)).getSExtValue();
    if (loop == product.loops.front())
      sizes.parts = trips;
    sizes.k *= trips;
  }
  sizes.batch = 1;
  int64_t rank = cast<MemRefType>(store.getMemref().getType()).getRank();
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(dims, d))
      sizes.batch *= size(store.getMemref(), d, someMatrices);
  return sizes;
}

double countTiles(const ProductSizes &sizes, ArrayRef<int64_t> rows,
                  int64_t columns) {
  double tiles = double(llvm::divideCeil(sizes.n, columns)) * sizes.batch;
  for (auto [size, block] : llvm::zip(sizes.rows, rows))
    tiles *= double(llvm::divideCeil(size, block));
  return tiles;
}

double getCycles(const ProductSizes &sizes, const ResultBlock &block,
                 ArrayRef<int64_t> rows, int64_t split, TargetUnitAttr unit,
                 int64_t multiprocessors) {
  constexpr double instructionCycles = 128, bytesFromCache = 60,
                   bytesFromOthers = 8, exposed = 0.3, start = 1500,
                   meeting = 1200;
  ArrayRef<int64_t> shape = unit.getShape();
  double multiplyAdds =
      double(shape[0] * shape[1] * shape[2]) / instructionCycles;
  auto elementBytes = double(getElementBytes(unit));
  double tiles = countTiles(sizes, rows, block.n);
  double waves = std::ceil(tiles * double(split) / double(multiprocessors));
  double depth = double(sizes.k) / double(sizes.parts) *
                 double(llvm::divideCeil(sizes.parts, split));
  double join = split == 1 ? 0
                           : meeting + double((split - 1) * block.m * block.n) *
                                           kSumBytes / bytesFromOthers;
  double multiply = depth * block.m * block.n / multiplyAdds;
  double copy = depth * (block.m + block.n) * elementBytes / bytesFromCache;
  return waves *
             (std::max(multiply, copy) + exposed * std::min(multiply, copy)) +
         start + join + tiles;
}

bool maySplit(const ProductSizes &sizes, const ResultBlock &block,
              int64_t split, int64_t stages, int64_t elementBytes) {
  if (split == 1)
    return true;
  int64_t each = llvm::divideCeil(sizes.parts, split);
  return each * (split - 1) < sizes.parts &&
         block.m * block.n * kSumBytes <=
             stages * (block.m + block.n) * sizes.depth * elementBytes;
}

} // namespace adze::tile
