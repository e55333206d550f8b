// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Schedules of attention: a part of tile-choose-schedule.
#include "AttentionSchedule.h"
#include "Dialect/Tile/Analysis/Products.h"
#include "Dialect/Tile/Transforms/Schedules.h"

using namespace mlir;

namespace adze::tile {

/// The parameters of the rows and the keys, and the contracted size of the
/// scores.
struct AttentionBlocks {
  ParamOp rows, keys;
  int64_t depth;
};

static FailureOr<AttentionBlocks> findBlocks(Attention &attention,
                                             std::string &why) {
  AttentionBlocks blocks{getSizeParam(attention.query, 1),
                         getSizeParam(attention.keys, 0),
                         attention.query.getStaticSizes()[0]};
  constexpr int64_t depths[] = {64, 128};
  if (!llvm::is_contained(depths, blocks.depth) ||
      attention.values.getStaticSizes()[0] != blocks.depth)
    return why = "the head size is neither 64 nor 128", failure();
  ParamOp keys = getSizeParam(attention.values, 1);
  if (!blocks.rows || !blocks.keys || !keys ||
      keys.getName() != blocks.keys.getName())
    return why = "the blocks are not separate parameters", failure();
  return blocks;
}

/// Returns the number of blocks of this many rows, or nothing if a size is
/// dynamic.
static std::optional<int64_t> countTiles(Attention &attention, int64_t rows) {
  StoreOp store = attention.stores.front();
  auto type = cast<MemRefType>(store.getMemref().getType());
  if (!type.hasStaticShape())
    return std::nullopt;
  SmallVector<int64_t> dims = store.getMemDims(); // [depth, rows]
  int64_t tiles = llvm::divideCeil(type.getDimSize(dims[1]), rows);
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!llvm::is_contained(dims, d))
      tiles *= type.getDimSize(d);
  return tiles;
}

/// The rows of a block of one, two or three warpgroups.
constexpr int64_t few = 64, many = 128, most = 192;
/// The head size of which three warpgroups have registers.
constexpr int64_t shortHead = 64;

/// Returns the rows of a block: two warpgroups share keys and values, unless
/// the multiprocessors have a block each with the rows of one. The registers of
/// three hold the sums of heads of 64 elements: they keep the matrix units
/// busier while weights are computed, if their blocks fit as well.
static int64_t chooseRows(Attention &attention, AttentionBlocks blocks,
                          int64_t multiprocessors) {
  constexpr double speedOfMost = 1.1;
  auto mayBe = [&](int64_t rows) { return mayBind(blocks.rows, rows); };
  auto tiles = countTiles(attention, few);
  if (!tiles)
    return many;
  if (*tiles <= multiprocessors && mayBe(few))
    return few;
  // Tiles of causal attention are computed in pairs.
  int64_t together = attention.isTriangular() ? 2 : 1;
  auto getTime = [&](int64_t rows) {
    return llvm::divideCeil(*countTiles(attention, together * rows),
                            multiprocessors) *
           together * rows;
  };
  bool isFaster = getTime(most) < speedOfMost * getTime(many);
  return blocks.depth == shortHead && mayBe(most) && isFaster ? most : many;
}

/// Returns the stages of a ring, at most `most`: a block of threads with one
/// tile needs no more than it fills.
static int64_t chooseStages(Attention &attention, int64_t most, int64_t rows,
                            int64_t keys, int64_t multiprocessors) {
  constexpr int64_t least = 2;
  auto tiles = countTiles(attention, rows);
  int64_t count = cast<MemRefType>(attention.keys.getMemref().getType())
                      .getDimSize(attention.keys.getMemDims()[0]);
  if (!tiles || *tiles > multiprocessors || ShapedType::isDynamic(count))
    return most;
  return std::min(most,
                  std::max<int64_t>(least, llvm::divideCeil(count, keys)));
}

/// Copies have to be boxes of whole rows of 128 bytes.
static LogicalResult checkBoxes(Attention &attention, int64_t rows,
                                int64_t keys, int64_t depth, std::string &why) {
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
  return success(check(attention.keys, {keys, depth}, TileRole::Lhs, true) &&
                 check(attention.values, {depth, keys}, TileRole::Lhs, false) &&
                 check(attention.query, {depth, rows}, TileRole::Rhs, true));
}

static void write(KernelOp kernel, StringRef unit,
                  const AttentionBlocks &blocks, int64_t rows, int64_t keys,
                  int64_t stages) {
  constexpr int64_t warps = 4, warpgroupRows = 64, swizzle = 128,
                    headsTogether = 16;
  MLIRContext *context = kernel.getContext();
  Builder b(context);
  SmallVector<ScheduleOperandAttr> operands;
  for (int64_t number : {0, 1, 2})
    operands.push_back(
        ScheduleOperandAttr::get(context, number, CopyKind::tma, swizzle));
  SmallVector<ScheduleDimAttr> dims = {
      ScheduleDimAttr::get(context, "m", rows),
      ScheduleDimAttr::get(context, "n", keys),
      ScheduleDimAttr::get(context, "k", blocks.depth)};
  auto gpu = GpuScheduleAttr::get(context,
                                  {warps, rows / warpgroupRows * warps}, stages,
                                  /*inflight=*/0, headsTogether);
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
    for (int64_t keys : {128, 64, 32}) {
      bool isKnown = llvm::is_contained(choices, std::pair(rows, keys));
      bool hasRegisters = rows < most || blocks.depth == shortHead;
      if (!isKnown && hasRegisters && mayBind(blocks.keys, keys) &&
          (rows == best || mayBind(blocks.rows, rows)))
        choices.emplace_back(rows, keys);
    }
  return choices;
}

LogicalResult scheduleAttention(KernelOp kernel, CudaTargetAttr target,
                                unsigned alternative, std::string &why) {
  constexpr int64_t elementBytes = 2, stagingRowBytes = 256, barriers = 256,
                    mostStages = 4;
  auto attention = findAttention(kernel, why);
  if (failed(attention))
    return failure();
  Type element = getElementTypeOrSelf(attention->query.getResult().getType());
  TargetUnitAttr unit = target.findUnit(
      element, element,
      getElementTypeOrSelf(attention->output.getResult().getType()));
  if (!unit || !target.has(CudaFeature::tma) ||
      getElementTypeOrSelf(attention->output.getRhs().getType()) != element)
    return why = "no unit of " + target.getChip().str() +
                 " for its element types",
           failure();
  if (kernel->hasAttr(kCudaBindings))
    return why = "the IR binds the parameters of the blocks", failure();
  auto blocks = findBlocks(*attention, why);
  if (failed(blocks))
    return failure();
  auto getStages = [&](int64_t rows, int64_t keys) {
    int64_t left = target.getSharedBytes() - barriers -
                   rows * (stagingRowBytes + blocks->depth * elementBytes);
    return std::min(mostStages,
                    left / (2 * keys * blocks->depth * elementBytes));
  };
  std::optional<std::pair<int64_t, int64_t>> chosen;
  why = "the block of keys is not a multiple of 32";
  unsigned passedOver = 0;
  for (auto [rows, keys] :
       listBlocks(*attention, *blocks, target.getMultiprocessors())) {
    if (failed(checkBoxes(*attention, rows, keys, blocks->depth, why)))
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
        chooseStages(*attention, getStages(rows, keys), rows, keys,
                     target.getMultiprocessors()));
  return success();
}

} // namespace adze::tile
