// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Schedules of attention: a part of tile-choose-schedule.
#include "AttentionSchedule.h"
#include "Bindings.h"
#include "Dialect/Tile/Analysis/Products.h"
#include "Dialect/Tile/IR/Units.h"
#include "Dialect/Tile/Transforms/Schedules.h"

using namespace mlir;

namespace adze::tile {

/// The parameters of the block sizes, and the sizes of a head.
struct AttentionBlocks {
  ParamOp rows, keys;
  HeadSizes head;
};

static FailureOr<AttentionBlocks> findBlocks(Attention &attention,
                                             std::string &why) {
  auto head = attention.getHeadSizes(why);
  if (failed(head))
    return failure();
  AttentionBlocks blocks{getSizeParam(attention.query, 1),
                         getSizeParam(attention.keys, 0), *head};
  ParamOp keys = getSizeParam(attention.values, 1);
  if (!blocks.rows || !blocks.keys || !keys ||
      keys.getName() != blocks.keys.getName())
    return why = "the blocks are not separate parameters", failure();
  return blocks;
}

/// The sizes of the result, if they are static.
struct AttentionSizes {
  int64_t rows;  ///< of a matrix
  int64_t heads; ///< matrices
};

static std::optional<AttentionSizes> getSizes(Attention &attention) {
  StoreOp store = attention.stores.front();
  auto type = cast<MemRefType>(store.getMemref().getType());
  if (!type.hasStaticShape())
    return std::nullopt;
  SmallVector<int64_t> dims = store.getMemDims(); // [depth, rows]
  AttentionSizes sizes{type.getDimSize(dims[1]), 1};
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!llvm::is_contained(dims, d))
      sizes.heads *= type.getDimSize(d);
  return sizes;
}

static int64_t countTiles(AttentionSizes sizes, int64_t rows) {
  return llvm::divideCeil(sizes.rows, rows) * sizes.heads;
}

/// The tiles of causal attention, in pairs of a late and an early one that take
/// as long as any other pair.
struct TilePairs {
  int64_t rounds; ///< in which each multiprocessor computes a pair
  int64_t rest;   ///< tiles that remain, which multiprocessors divide
  bool areOdd;    ///< a tile of each matrix is in no pair
};

static TilePairs countPairs(AttentionSizes sizes, int64_t rows,
                            int64_t multiprocessors) {
  int64_t ofMatrix = llvm::divideCeil(sizes.rows, rows),
          pairs = ofMatrix / 2 * sizes.heads;
  TilePairs result{pairs / multiprocessors, 2 * (pairs % multiprocessors),
                   ofMatrix % 2 != 0};
  if (result.areOdd)
    result.rest += sizes.heads;
  return result;
}

/// The rows of a block of one, two or three warpgroups, and the keys of a block
/// if registers and shared memory suffice.
constexpr int64_t few = 64, many = 128, most = 192, mostKeys = 128;

/// Returns true if scores depend on a tile in memory, such as a bias.
static bool readsScores(Attention &attention) {
  return llvm::any_of(
      attention.loop.getBody()->getOps<LoadOp>(), [&](LoadOp load) {
        return load != attention.keys && load != attention.values &&
               load.getResult().getType().getRank() == 2;
      });
}

/// Returns true if the registers of a thread hold the scores, the weights and
/// the sums of a block. Three warpgroups have none left for what scores read.
static bool fitsRegisters(Attention &attention, int64_t rows, int64_t keys,
                          int64_t value) {
  // Of the 64 rows of its warpgroup, a thread has half as many elements as
  // there are columns. A register holds two weights.
  int64_t scores = keys / 2, weights = keys / 4, sums = value / 2,
          registers = scores + weights + sums;
  if (rows == most)
    return registers <= 128 && !readsScores(attention);
  return registers <= 192;
}

/// Returns an estimate of the time of blocks of this many rows: the rows times
/// the blocks of keys that a multiprocessor computes, fewer if more warpgroups
/// keep the matrix units busy.
static double getTime(Attention &attention, AttentionSizes sizes, int64_t rows,
                      int64_t multiprocessors) {
  constexpr double speedOfMost = 1.2; // measured for heads of 64
  double speed = rows == most ? speedOfMost : 1;
  int64_t tiles = countTiles(sizes, rows);
  if (!attention.isTriangular())
    return llvm::divideCeil(tiles, multiprocessors) * rows / speed *
           llvm::divideCeil(sizes.rows, mostKeys);
  TilePairs pairs = countPairs(sizes, rows, multiprocessors);
  double rounds =
      pairs.rounds + llvm::divideCeil(pairs.rest, multiprocessors) / 2.0;
  // Of the first and the last tile of a matrix.
  int64_t keys =
      llvm::divideCeil(rows, mostKeys) + llvm::divideCeil(sizes.rows, mostKeys);
  return rounds * rows / speed * keys;
}

/// Returns the rows of a block: two warpgroups share keys and values, unless
/// the multiprocessors have a block each with the rows of one.
static int64_t chooseRows(Attention &attention, AttentionBlocks blocks,
                          int64_t multiprocessors) {
  auto mayBe = [&](int64_t rows) { return mayBind(blocks.rows, rows); };
  auto sizes = getSizes(attention);
  if (!sizes)
    return many;
  if (countTiles(*sizes, few) <= multiprocessors && mayBe(few))
    return few;
  bool isFaster = getTime(attention, *sizes, most, multiprocessors) <
                  getTime(attention, *sizes, many, multiprocessors);
  return fitsRegisters(attention, most, mostKeys, blocks.head.value) &&
                 mayBe(most) && isFaster
             ? most
             : many;
}

/// Returns the number of keys of a head, which may be dynamic.
static int64_t countKeys(Attention &attention) {
  return attention.keys.getMemref().getType().getDimSize(
      attention.keys.getMemDims()[0]);
}

/// Returns the number of heads that multiprocessors compute at a time, which
/// divides that of all heads if that is static. The pairs of tiles that are
/// last are adjacent tiles of these heads. Such pairs are wanted if they are
/// divided among multiprocessors; then the second-level cache should hold the
/// keys and values of these heads.
static int64_t chooseHeads(Attention &attention, AttentionBlocks blocks,
                           int64_t rows, int64_t elementBytes,
                           int64_t multiprocessors) {
  constexpr int64_t usual = 16, fewest = 2, cacheBytes = 32 << 20;
  auto sizes = getSizes(attention);
  int64_t keys = countKeys(attention);
  if (!attention.isTriangular() || !sizes || ShapedType::isDynamic(keys))
    return usual;
  TilePairs pairs = countPairs(*sizes, rows, multiprocessors);
  bool divides = pairs.areOdd || pairs.rest <= multiprocessors;
  int64_t bytes = keys * (blocks.head.key + blocks.head.value) * elementBytes,
          limit = pairs.rest > 0 && divides ? usual : fewest;
  int64_t heads =
      std::clamp<int64_t>(cacheBytes / std::max<int64_t>(1, bytes), 1, limit);
  while (sizes->heads % heads != 0)
    --heads;
  return heads;
}

/// Returns the stages of a ring, at most `most`: a block of threads with one
/// tile needs no more than it fills.
static int64_t chooseStages(Attention &attention, int64_t most, int64_t rows,
                            int64_t keys, int64_t multiprocessors) {
  constexpr int64_t least = 2;
  auto sizes = getSizes(attention);
  int64_t count = countKeys(attention);
  if (!sizes || countTiles(*sizes, rows) > multiprocessors ||
      ShapedType::isDynamic(count))
    return most;
  return std::min(most,
                  std::max<int64_t>(least, llvm::divideCeil(count, keys)));
}

/// Copies have to be boxes of whole rows of 128 bytes.
static LogicalResult checkBoxes(Attention &attention, int64_t rows,
                                int64_t keys, const HeadSizes &head,
                                std::string &why) {
  auto check = [&](LoadOp load, ArrayRef<int64_t> sizes, TileRole role,
                   bool alongSum) {
    auto box = getTensorBox(
        load.getMemref(),
        {load.getMemDims(), llvm::to_vector(sizes), load.getSteps()}, role,
        why);
    if (succeeded(box) && box->alongSum == alongSum && box->rowBytes == 128)
      return true;
    if (succeeded(box))
      why = "the operands of attention have another layout";
    return false;
  };
  return success(
      check(attention.keys, {keys, head.stagedKey}, TileRole::Lhs, true) &&
      check(attention.values, {head.stagedValue, keys}, TileRole::Lhs, false) &&
      check(attention.query, {head.stagedKey, rows}, TileRole::Rhs, true));
}

static void write(KernelOp kernel, StringRef unit,
                  const AttentionBlocks &blocks, int64_t rows, int64_t keys,
                  int64_t stages, int64_t heads) {
  constexpr int64_t warps = 4, warpgroupRows = 64, swizzle = 128;
  MLIRContext *context = kernel.getContext();
  Builder b(context);
  SmallVector<ScheduleOperandAttr> operands;
  for (int64_t number : {0, 1, 2})
    operands.push_back(
        ScheduleOperandAttr::get(context, number, CopyKind::tma, swizzle));
  SmallVector<ScheduleDimAttr> dims = {
      ScheduleDimAttr::get(context, "m", rows),
      ScheduleDimAttr::get(context, "n", keys),
      ScheduleDimAttr::get(context, "k", blocks.head.key)};
  auto gpu = GpuScheduleAttr::get(context,
                                  {warps, rows / warpgroupRows * warps}, stages,
                                  /*inflight=*/0, heads);
  kernel->setAttr(kScheduleAttribute,
                  ScheduleAttr::get(context, unit, dims, operands, gpu));
  ParamOp rowsParam = blocks.rows, keysParam = blocks.keys;
  kernel->setAttr(
      kCudaBindings,
      b.getDictionaryAttr(
          {b.getNamedAttr(rowsParam.getName(), b.getI64IntegerAttr(rows)),
           b.getNamedAttr(keysParam.getName(), b.getI64IntegerAttr(keys))}));
}

/// Returns the rows and keys of blocks: first those with the least estimated
/// time, and then all others.
static SmallVector<std::pair<int64_t, int64_t>>
listBlocks(Attention &attention, AttentionBlocks blocks,
           int64_t multiprocessors) {
  SmallVector<std::pair<int64_t, int64_t>> choices;
  int64_t best = chooseRows(attention, blocks, multiprocessors);
  for (int64_t rows : {best, many, most, few})
    for (int64_t keys : {mostKeys, int64_t(64), int64_t(32)}) {
      bool isKnown = llvm::is_contained(choices, std::pair(rows, keys));
      bool hasRegisters =
          fitsRegisters(attention, rows, keys, blocks.head.value);
      if (!isKnown && hasRegisters && mayBind(blocks.keys, keys) &&
          (rows == best || mayBind(blocks.rows, rows)))
        choices.emplace_back(rows, keys);
    }
  return choices;
}

/// Binds the blocks of attention by the unit of a warp: the largest ones that
/// shared memory holds, with fewer rows if multiprocessors would have none.
static LogicalResult bindWarpBlocks(Attention &attention, KernelOp kernel,
                                    CudaTargetAttr target, std::string &why) {
  constexpr int64_t elementBytes = 2, granule = 8, padding = 8;
  ParamOp rowsParam = getSizeParam(attention.query, 1),
          keysParam = getSizeParam(attention.keys, 0);
  int64_t depth = attention.query.getStaticSizes()[0],
          columns = attention.getColumns();
  if (!findWarpUnit(target, attention.output.getProduct()))
    return why = "no unit of " + target.getChip().str() +
                 " for its element types",
           failure();
  if (!rowsParam || !keysParam)
    return why = "the blocks are not separate parameters", failure();
  if (depth % granule != 0 || columns % granule != 0)
    return why = "the head size is not a multiple of 8", failure();
  auto fits = [&](int64_t rows, int64_t keys) {
    int64_t elements =
        rows * (depth + padding) + keys * (depth + padding + columns + padding);
    return elements * elementBytes <= target.getSharedBytes();
  };
  auto sizes = getSizes(attention);
  bool areFew = sizes && countTiles(*sizes, many) < target.getMultiprocessors();
  for (int64_t rows : {areFew ? few : many, few})
    for (int64_t keys : {int64_t(64), int64_t(32)})
      if (fits(rows, keys) && mayBind(rowsParam, rows) &&
          mayBind(keysParam, keys)) {
        bindParams(kernel, {rowsParam, keysParam}, {rows, keys});
        return success();
      }
  return why = "the blocks do not fit shared memory", failure();
}

/// Sets the schedule of attention by the unit of a warpgroup.
static LogicalResult scheduleWarpgroups(Attention &attention, KernelOp kernel,
                                        CudaTargetAttr target,
                                        unsigned alternative,
                                        std::string &why) {
  constexpr int64_t elementBytes = 2, stagingRowBytes = 256, barriers = 256,
                    mostStages = 4;
  Type element = getElementTypeOrSelf(attention.query.getResult().getType());
  TargetUnitAttr unit = target.findUnit(
      element, element,
      getElementTypeOrSelf(attention.output.getResult().getType()));
  if (!unit || !target.has(CudaFeature::tma) ||
      getElementTypeOrSelf(attention.output.getRhs().getType()) != element)
    return why = "no unit of " + target.getChip().str() +
                 " for its element types",
           failure();
  auto blocks = findBlocks(attention, why);
  if (failed(blocks))
    return failure();
  auto getStages = [&](int64_t rows, int64_t keys) {
    int64_t left =
        target.getSharedBytes() - barriers -
        rows * (stagingRowBytes + blocks->head.stagedKey * elementBytes);
    int64_t stage = keys * (blocks->head.stagedKey + blocks->head.stagedValue) *
                    elementBytes;
    return std::min(mostStages, left / stage);
  };
  std::optional<std::pair<int64_t, int64_t>> chosen;
  why = "the block of keys is not a multiple of 32";
  unsigned passedOver = 0;
  for (auto [rows, keys] :
       listBlocks(attention, *blocks, target.getMultiprocessors())) {
    if (failed(checkBoxes(attention, rows, keys, blocks->head, why)))
      continue;
    if (getStages(rows, keys) < 2) {
      why = "the blocks do not fit shared memory";
      continue;
    }
    chosen = {rows, keys};
    if (passedOver++ == alternative)
      break;
  }
  if (!chosen)
    return failure();
  auto [rows, keys] = *chosen;
  write(kernel, unit.getName(), *blocks, rows, keys,
        chooseStages(attention, getStages(rows, keys), rows, keys,
                     target.getMultiprocessors()),
        chooseHeads(attention, *blocks, rows, elementBytes,
                    target.getMultiprocessors()));
  return success();
}

LogicalResult scheduleAttention(KernelOp kernel, CudaTargetAttr target,
                                unsigned alternative, std::string &why) {
  auto attention = findAttention(kernel, why);
  if (failed(attention))
    return failure();
  if (kernel->hasAttr(kCudaBindings))
    return why = "the IR binds the parameters of the blocks", failure();
  std::string whyNotWarps;
  if (succeeded(
          scheduleWarpgroups(*attention, kernel, target, alternative, why)) ||
      succeeded(bindWarpBlocks(*attention, kernel, target, whyNotWarps)))
    return success();
  if (!target.has(CudaFeature::tma))
    why = whyNotWarps;
  return failure();
}

} // namespace adze::tile
