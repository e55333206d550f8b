// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#include "ProductCosts.h"
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "Dialect/Tile/IR/Clusters.h"
#include "Dialect/Tile/IR/PhysicalType.h"
#include "Dialect/Tile/IR/Units.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace adze::tile {

constexpr int64_t kSumBytes = 4; ///< of an accumulator

int64_t getSizeOr(Value memref, int64_t dim, int64_t otherwise, bool &isKnown) {
  int64_t size = cast<MemRefType>(memref.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return size;
  isKnown = false;
  return otherwise;
}

int64_t getDepthOr(Product &product, int64_t otherwise, bool &isKnown) {
  // Left operands may have other elements that the product does not read.
  if (!product.isComputed())
    return getSizeOr(product.rhs.front().getMemref(),
                     product.rhs.front().getMemDims().front(), otherwise,
                     isKnown);
  return getSizeOr(product.lhs.getMemref(), product.lhs.getMemDims().back(),
                   otherwise, isKnown);
}

/// Returns the cycles of a thread for an element of the epilogue. These are
/// those of its store, and estimates for each operation.
static double getEpilogueCycles(Product &product) {
  constexpr double store = 9, load = 6, arithmetic = 2, function = 12;
  double cycles = store;
  for (Operation &op : *product.loops.front()->getBlock()) {
    if (isa<LoadOp>(op))
      cycles += load;
    else if (op.hasTrait<OpTrait::Elementwise>() &&
             isa<RankedTensorType>(op.getResult(0).getType()))
      cycles +=
          isa<math::MathDialect>(op.getDialect()) || isa<arith::DivFOp>(op)
              ? function
              : arithmetic;
  }
  return cycles;
}

/// Returns true if rows of a memref begin within lines of the second-level
/// cache, so that parts of them are in two lines.
static bool crossesLines(Value memref) {
  constexpr int64_t lineBits = 128 * 8;
  auto type = getPhysicalType(cast<MemRefType>(memref.getType()));
  int64_t row = type.getShape().back();
  int64_t bits = row * type.getElementTypeBitWidth();
  return !ShapedType::isDynamic(row) && bits > lineBits && bits % lineBits != 0;
}

/// Returns the assumed size of a dim of an image of dynamic size: that in a
/// model whose inputs have 256 pixels along each dim. Images become smaller
/// from layer to layer. Blocks for small images are also good for large ones,
/// but not the reverse.
static int64_t assumeImageSize(Value memref, int64_t dim) {
  constexpr int64_t ofModel = 256, otherwise = 64;
  AffineExpr size = getSizeExpr(memref, dim);
  if (!size)
    return otherwise;
  unsigned symbols = 0;
  size.walk([&](AffineExpr part) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      symbols = std::max(symbols, symbol.getPosition() + 1);
  });
  SmallVector<AffineExpr> values(
      symbols, getAffineConstantExpr(ofModel, memref.getContext()));
  auto known = dyn_cast<AffineConstantExpr>(
      simplifyAffineExpr(size.replaceSymbols(values), 0, 0));
  return known ? std::max<int64_t>(known.getValue(), 1) : otherwise;
}

/// Returns the assumed number of rows: those of several images, if rows are the
/// pixels of a dynamic number of images.
static int64_t assumeRows(Value memref, int64_t dim, int64_t usual) {
  constexpr int64_t someImages = 2;
  AffineExpr size = getSizeExpr(memref, dim);
  return size ? std::max(usual, size.getLargestKnownDivisor() * someImages)
              : usual;
}

ProductSizes getSizes(Product &product, TargetUnitAttr unit) {
  // An image of dynamic size is assumed to be alone.
  constexpr int64_t someMatrices = 16;
  ProductSizes sizes;
  auto usual =
      product.ids->getParentOfType<KernelOp>()->getAttrOfType<IntegerAttr>(
          kUsualSizeAttribute);
  int64_t manyRows = usual ? usual.getInt() : 2048;
  StoreOp store = product.stores.front();
  SmallVector<int64_t> dims = store.getMemDims();
  unsigned numRows = product.getNumRowDims();
  auto size = [&](Value memref, int64_t dim, int64_t otherwise) {
    return getSizeOr(memref, dim, otherwise, sizes.isKnown);
  };
  bool isImage = numRows > 1, isWhole = true;
  for (unsigned i = 0; i < numRows; ++i)
    sizes.rows.push_back(
        getSizeOr(store.getMemref(), dims[i],
                  isImage ? assumeImageSize(store.getMemref(), dims[i])
                  : usual ? manyRows
                          : assumeRows(store.getMemref(), dims[i], manyRows),
                  isWhole));
  sizes.isKnown &= isWhole;
  sizes.products = int64_t(product.dots.size());
  sizes.n = sizes.products * size(store.getMemref(), dims[numRows], manyRows);
  sizes.k = getDepthOr(product, manyRows, sizes.isDepthKnown);
  sizes.isKnown &= sizes.isDepthKnown;
  // A stage of a window has one tap, which may have fewer channels.
  int64_t least = unit ? unit.getShape()[2] : 1;
  sizes.depth = unit ? kStageRowBytes / getElementBytes(unit) : 1;
  if (product.isComputed()) {
    // Threads load whole words of what they compute from. Operands are stored
    // to the shared memory that matrix instructions read meanwhile.
    sizes.depth *= 2;
    sizes.computed = 1.0 / 32;
  }
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
  sizes.epilogue = getEpilogueCycles(product) / double(sizes.products);
  constexpr double acrossLines = 1.25;
  if (crossesLines(product.lhs.getMemref()) ||
      llvm::any_of(product.rhs,
                   [](LoadOp load) { return crossesLines(load.getMemref()); }))
    sizes.copyFactor = acrossLines;
  sizes.batch = 1;
  int64_t rank = cast<MemRefType>(store.getMemref().getType()).getRank();
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(dims, d))
      sizes.batch *=
          size(store.getMemref(), d, isImage && !isWhole ? 1 : someMatrices);
  return sizes;
}

double countTiles(const ProductSizes &sizes, ArrayRef<int64_t> rows,
                  int64_t columns) {
  double tiles = double(llvm::divideCeil(sizes.n, columns)) * sizes.batch;
  for (auto [size, block] : llvm::zip(sizes.rows, rows))
    tiles *= double(llvm::divideCeil(size, block));
  return tiles;
}

SmallVector<SmallVector<int64_t, 2>> getRowBlocks(int64_t rows, bool isImage) {
  if (!isImage)
    return {{rows}};
  SmallVector<SmallVector<int64_t, 2>> blocks;
  // A store of 64 rows covers whole rows of the block of the image.
  for (int64_t columns : {64, 32, 16, 8})
    if (columns <= rows)
      blocks.push_back({rows / columns, columns});
  return blocks;
}

//===--- Blocks of threads and warps --------------------------------------===//

/// A block that threads multiply, with the microseconds for 16 of k on an H200:
/// of a block that is alone on a multiprocessor, and of each of many there.
/// More threads share the addresses of images.
struct ThreadBlock {
  int64_t m, n, threads, threadsOfImages;
  double alone, together;
};
/// A thread has at most 64 accumulators. The first three are large blocks.
static constexpr ThreadBlock kThreadBlocks[] = {
    {128, 128, 256, 256, 1.53, 1.42}, {128, 64, 128, 256, 0.91, 0.75},
    {64, 64, 128, 128, 0.54, 0.41},   {32, 64, 128, 128, 0.33, 0.26},
    {32, 32, 64, 128, 0.25, 0.15},    {16, 32, 64, 64, 0.2, 0.09},
    {8, 32, 64, 64, 0.2, 0.07}};
static constexpr unsigned kLargeBlocks = 3;

/// A block that warps multiply by matrix instructions, and its multiply-adds
/// per time, relative to others of matrices and of images (0: not used).
struct WarpBlock {
  int64_t m, n;
  double rate, rateOfImages;
};
static constexpr WarpBlock kWarpBlocks[] = {
    {128, 256, 1.0, 0},   {128, 128, 0.9, 1.0}, {128, 64, 0.66, 0.85},
    {64, 128, 0.66, 0.8}, {64, 64, 0.52, 0.7},  {64, 32, 0.38, 0.5},
    {32, 64, 0.3, 0.4}};

/// Calls `add` with each block of the list, the shapes of its rows, and the
/// tiles of the result.
template <typename Block>
static void
forBlocks(ArrayRef<Block> blocks, const ProductSizes &sizes,
          llvm::function_ref<void(const Block &, BlockChoice, double)> add) {
  for (const Block &block : blocks)
    for (auto &rows : getRowBlocks(block.m, sizes.rows.size() > 1)) {
      BlockChoice choice;
      choice.block = llvm::to_vector(ArrayRef(rows));
      choice.block.push_back(block.n);
      add(block, choice, countTiles(sizes, rows, block.n));
    }
}

using Choices = std::multimap<double, BlockChoice>; ///< by their time

static SmallVector<BlockChoice> toList(const Choices &choices) {
  return llvm::map_to_vector(choices, [](auto &entry) { return entry.second; });
}

/// Returns the choices of blocks that multiply for this many steps.
static SmallVector<BlockChoice>
listThreadBlocks(ArrayRef<ThreadBlock> blocks, const ProductSizes &sizes,
                 int64_t steps, int64_t mostSplit, int64_t multiprocessors) {
  // Blocks that share a tile wait for each other and exchange their sums. The
  // first chunks of a block arrive in the time of two steps, in which only
  // blocks multiply that are on the multiprocessor at the same time.
  constexpr double meeting = 1, meetingOfEach = 0.5, sumsPerTime = 7500;
  constexpr double first = 2, residentThreads = 512;
  // A quarter of the time of other blocks adds to that of a block.
  constexpr double exposed = 0.25;
  bool isImage = sizes.rows.size() > 1;
  Choices choices;
  auto add = [&](const ThreadBlock &block, BlockChoice choice, double tiles) {
    choice.threads = isImage ? block.threadsOfImages : block.threads;
    for (; choice.split <= mostSplit; choice.split *= 2) {
      double each = std::ceil(tiles * double(choice.split) /
                              double(multiprocessors)),
             step =
                 std::max(block.alone, each * block.together) +
                 exposed * std::min(block.alone, (each - 1) * block.together),
             waves = std::ceil(each * double(choice.threads) / residentThreads),
             time = step * (double(llvm::divideCeil(steps, choice.split)) +
                            first * waves);
      if (choice.split > 1)
        time += meeting + meetingOfEach * double(choice.split) +
                double(block.m * block.n) / sumsPerTime;
      choices.emplace(time, choice);
    }
  };
  forBlocks<ThreadBlock>(blocks, sizes, add);
  return toList(choices);
}

SmallVector<BlockChoice> listThreadBlocks(const ProductSizes &sizes,
                                          int64_t mostSplit,
                                          int64_t multiprocessors) {
  constexpr int64_t step = 16;
  return listThreadBlocks(kThreadBlocks, sizes, llvm::divideCeil(sizes.k, step),
                          mostSplit, multiprocessors);
}

SmallVector<BlockChoice> listLargeBlocks(const ProductSizes &sizes,
                                         int64_t multiprocessors) {
  return listThreadBlocks(ArrayRef(kThreadBlocks).take_front(kLargeBlocks),
                          sizes, /*steps=*/1, /*mostSplit=*/1, multiprocessors);
}

int64_t getSharedBytes(const BlockChoice &choice) {
  constexpr int64_t stages = 2, rowBytes = 64 + 16;
  int64_t rows = llvm::product_of(ArrayRef(choice.block).drop_back());
  return stages * (rows + choice.block.back()) * rowBytes;
}

SmallVector<BlockChoice> listWarpBlocks(const ProductSizes &sizes,
                                        int64_t multiprocessors) {
  Choices choices;
  bool isImage = sizes.rows.size() > 1;
  auto add = [&](const WarpBlock &block, BlockChoice choice, double tiles) {
    double waves = std::ceil(tiles / double(multiprocessors)),
           rate = isImage ? block.rateOfImages : block.rate;
    if (rate > 0)
      choices.emplace(waves * double(block.m * block.n) / rate, choice);
  };
  forBlocks<WarpBlock>(kWarpBlocks, sizes, add);
  return toList(choices);
}

//===--- Tiles of warpgroups ----------------------------------------------===//

/// Returns the cycles of a tile, without its epilogue.
static double getTileCycles(const ProductSizes &sizes, const ResultBlock &block,
                            int64_t split, TargetUnitAttr unit) {
  constexpr double instructionCycles = 128, bytesFromCache = 90,
                   bytesOfCluster = 70, exposed = 0.14;
  // Measured: three blocks of rows of a warpgroup take longer than their share,
  // and two if other warpgroups compute operands.
  constexpr double ofThreeBlocks = 1.15, ofTwoBlocks = 1.6;
  constexpr double stage = 10, stageInTurn = 60, leastInTurn = 450;
  ArrayRef<int64_t> shape = unit.getShape();
  double multiplyAdds =
      double(shape[0] * shape[1] * shape[2]) / instructionCycles;
  double depth = double(sizes.k) / double(sizes.parts) *
                 double(llvm::divideCeil(sizes.parts, split));
  double multiply = depth * double(block.m * block.n) / multiplyAdds;
  int64_t rowBlocks = block.m / block.getTileWarpgroups() / shape[0];
  if (rowBlocks == 3)
    multiply *= ofThreeBlocks;
  else if (rowBlocks == 2 && sizes.computed > 0)
    multiply *= ofTwoBlocks;
  int64_t copied = block.m + (sizes.computed > 0 ? 0 : block.n);
  double copy = depth * double(copied * getElementBytes(unit)) /
                (split > 1 ? bytesOfCluster : bytesFromCache) *
                sizes.copyFactor;
  double stages = depth / double(sizes.depth),
         cycles = std::max(multiply, copy) +
                  depth * double(block.n) * sizes.computed;
  if (block.tiles > 1)
    return std::max(cycles + stages * stageInTurn, stages * leastInTurn);
  return cycles + exposed * std::min(multiply, copy) + stages * stage;
}

double getCycles(const ProductSizes &sizes, const ResultBlock &block,
                 ArrayRef<int64_t> rows, int64_t split, TargetUnitAttr unit,
                 int64_t multiprocessors) {
  constexpr double bytesFromOthers = 16, start = 4500, meeting = 3700;
  constexpr double startOfEpilogue = 190, ofTile = 15;
  constexpr int64_t spanColumns = 64;
  double tiles = countTiles(sizes, rows, block.n);
  double waves =
      std::ceil(tiles / double(countClusters(split, multiprocessors)));
  int64_t spans = block.m / block.getTileWarpgroups() / unit.getShape()[0] *
                  block.n / sizes.products / spanColumns;
  double share = double(llvm::divideCeil(spans, split)) / double(spans);
  double join = split == 1 ? 0
                           : meeting + share * double(split - 1) *
                                           double(block.m * block.n) *
                                           kSumBytes / bytesFromOthers;
  double multiply = getTileCycles(sizes, block, split, unit);
  double epilogue = double(block.m * block.n) /
                        double(kWarpgroupThreads * block.getTileWarpgroups()) *
                        sizes.epilogue * share +
                    startOfEpilogue * share;
  double each = multiply + epilogue, last = 0;
  if (block.tiles > 1) { // only the last epilogue is not hidden
    each = std::max(multiply, each / double(block.tiles));
    last = epilogue;
  }
  return waves * each + last + start + join + tiles * ofTile;
}

double getVersionCycles(const ProductSizes &sizes, const ResultBlock &block,
                        ArrayRef<int64_t> rows, int64_t split,
                        TargetUnitAttr unit, int64_t multiprocessors) {
  auto estimate = [&](const ProductSizes &of) {
    return getCycles(of, block, rows, split, unit, multiprocessors);
  };
  ProductSizes most = sizes;
  most.rows.front() *= 2;
  return (estimate(sizes) + estimate(most) / 2) / 2;
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
