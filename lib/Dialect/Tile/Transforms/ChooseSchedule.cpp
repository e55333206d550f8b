// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// tile-choose-schedule: chooses the unit of a GPU for a product, and its
// blocks.
#include "AttentionSchedule.h"
#include "Bindings.h"
#include "Dialect/Tile/Analysis/Products.h"
#include "Dialect/Tile/IR/Clusters.h"
#include "Dialect/Tile/IR/Units.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "Dialect/Tile/Transforms/Schedules.h"
#include "ProductCosts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallSet.h"
#include <map>

namespace adze::tile {
#define GEN_PASS_DEF_TILECHOOSESCHEDULE
#include "Dialect/Tile/Transforms/Passes.h.inc"
} // namespace adze::tile

using namespace mlir;
using namespace adze;
using namespace adze::tile;

ParamOp tile::getSizeParam(LoadOp load, unsigned dim) {
  if (!ShapedType::isDynamic(load.getStaticSizes()[dim]))
    return {};
  unsigned number = llvm::count_if(load.getStaticSizes().take_front(dim),
                                   ShapedType::isDynamic);
  return load.getSizes()[number].getDefiningOp<ParamOp>();
}

namespace {

constexpr ResultBlock kResultBlocks[] = {
    {128, 256, 2},    {256, 128, 2},  {128, 192, 2}, {128, 128, 2},
    {64, 256, 1},     {64, 128, 1},   {64, 64, 1},   {128, 128, 2, 2},
    {192, 128, 2, 2}, {128, 64, 2, 2}};
constexpr int64_t kWarpgroup = 4;     ///< warps
constexpr int64_t kLeastColumns = 64; ///< of a product in a block
constexpr int64_t kMostStages = 8;
constexpr int64_t kStagingBytes = 16384; ///< of a warpgroup, for results
constexpr int64_t kBarrierBytes = 16;    ///< two in a stage
constexpr int64_t kTilesTogether = 16;   ///< rows of tiles in a group
/// The numbers of blocks of threads that may share k of a tile.
constexpr int64_t kSplits[] = {1, 2, 3, 4, 6, 8};

/// Returns the contracted size of one product: the whole size, or a part that
/// divides it.
int64_t getProductDepth(int64_t size, bool isKnown, int64_t step) {
  constexpr int64_t most = 2048, usual = 512, least = 64;
  if (!isKnown)
    return least;
  if (size <= most)
    return llvm::alignTo(size, step);
  for (int64_t depth = most; depth >= least; depth /= 2)
    if (size % depth == 0)
      return depth;
  return usual;
}

class Scheduler {
public:
  /// `alternative`: how many blocks with less estimated time are passed over.
  Scheduler(KernelOp kernel, CudaTargetAttr target, bool batchInvariant,
            unsigned alternative)
      : kernel(kernel), target(target), batchInvariant(batchInvariant),
        alternative(alternative) {}

  /// Fails with the reason in `why`, which is empty if the kernel is not a
  /// product.
  LogicalResult run(std::string &why) {
    // The programs of a step are few, and their blocks are those of the kernel.
    if (kernel.isOrdered())
      return failure();
    unsigned dots = 0;
    kernel.walk([&](DotOp) { ++dots; });
    if (!dots)
      return bindWithoutProduct(kernel, target);
    auto found = findProduct(kernel, why);
    if (failed(found) && dots == 2)
      return scheduleAttention(kernel, target, alternative, why);
    if (failed(found))
      return failure(dots > 1 || failed(bindComputed()));
    product = *found;
    if (kernel->hasAttr(kCudaBindings)) {
      why = "the IR binds the parameters of the blocks";
      return failure();
    }
    if (product.isComputed())
      return success((succeeded(findParams(why)) && succeeded(findUnit(why)) &&
                      succeeded(choose(why))) ||
                     succeeded(bindComputed()));
    if (failed(findParams(why)))
      return failure();
    LogicalResult takes = findUnit(why);
    if (succeeded(takes))
      takes = choose(why);
    if (succeeded(takes) || countProducts() > 1)
      return takes;
    return success(succeeded(bindThreadBlock(getSizes(product, /*unit=*/{}))) &&
                   warpUnit);
  }

private:
  /// Returns true for a version of a kernel by its number of rows.
  bool isVersion() const { return kernel->hasAttr(kUsualSizeAttribute); }
  /// Returns the number of products that have the left operand in common.
  int64_t countProducts() const { return int64_t(product.dots.size()); }

  LogicalResult findUnit(std::string &why) {
    ProductAttr types = product.dots.front().getProduct();
    warpUnit = findWarpUnit(target, types);
    unit = target.findUnit(types.getLhs(), types.getRhs(), types.getAcc());
    if (unit && target.has(CudaFeature::tma))
      return success();
    why = "no unit of " + target.getChip().str() + " for its element types";
    return failure();
  }

  /// Returns the parameter that is the number of columns of a product.
  ParamOp getColumnsParam() {
    if (!product.isComputed())
      return getSizeParam(product.rhs.front(), 1);
    Value sums = product.loops.front().getInitArgs().front();
    auto zeros = sums.getDefiningOp<BroadcastOp>();
    return zeros && ShapedType::isDynamic(zeros.getType().getShape().back())
               ? zeros.getSizes().back().getDefiningOp<ParamOp>()
               : ParamOp();
  }

  LogicalResult findParams(std::string &why) {
    unsigned numRows = product.getNumRowDims();
    for (unsigned i = 0; i < numRows; ++i)
      params.push_back(getSizeParam(product.lhs, i));
    params.push_back(getColumnsParam());
    params.push_back(getSizeParam(product.lhs, numRows));
    ParamOp depth = product.isComputed() ? params.back()
                                         : getSizeParam(product.rhs.front(), 0);
    llvm::SmallSet<StringRef, 4> names;
    for (ParamOp param : params)
      if (!param || !names.insert(param.getName()).second) {
        why = "the blocks are not separate parameters";
        return failure();
      }
    if (depth && depth.getName() == params.back().getName())
      return success();
    why = "the blocks of the operands differ in depth";
    return failure();
  }

  /// Returns true if the parameters may be bound to the block.
  bool mayBindAll(ArrayRef<int64_t> block) {
    return llvm::all_of(llvm::zip(params, block), [](auto bound) {
      return mayBind(std::get<0>(bound), std::get<1>(bound));
    });
  }

  /// Binds the block of rows and columns of a product whose operands are
  /// computed as they are copied to shared memory. Each block computes its part
  /// of the right operand, so a dynamic number of rows is assumed to be that of
  /// a prompt.
  LogicalResult bindComputed() {
    constexpr int64_t usualRows = 256;
    StoreOp store;
    params.clear();
    kernel.walk([&](Operation *op) {
      if (auto dot = dyn_cast<DotOp>(op))
        warpUnit = findWarpUnit(target, dot.getProduct());
      else if (auto stores = dyn_cast<StoreOp>(op))
        store = stores;
      else if (auto param = dyn_cast<ParamOp>(op);
               param &&
               (param.getName() == "BLOCK_M" || param.getName() == "BLOCK_N"))
        params.push_back(param);
    });
    if (!store || store.getMemDims().size() != 2 || params.size() != 2 ||
        params[0].getName() != "BLOCK_M" || kernel->hasAttr(kCudaBindings))
      return failure();
    ProductSizes sizes;
    auto size = [&](unsigned dim, int64_t otherwise) {
      return getSizeOr(store.getMemref(), store.getMemDims()[dim], otherwise,
                       sizes.isKnown);
    };
    sizes.rows = {size(0, usualRows)};
    sizes.n = size(1, usualRows);
    sizes.batch = 1;
    return bindThreadBlock(sizes);
  }

  /// Binds the block of the least estimated time, where warps or threads
  /// multiply: those of a CPU are no choice for a GPU. Few rows or columns keep
  /// theirs.
  LogicalResult bindThreadBlock(const ProductSizes &sizes) {
    bool hasDepth = params.size() > sizes.rows.size() + 1;
    const int64_t least = warpUnit || hasDepth ? 8 : 64;
    int64_t rows = 1;
    for (int64_t size : sizes.rows)
      rows *= size;
    if (rows < least || sizes.n < least)
      return failure();
    int64_t processors = target.getMultiprocessors();
    SmallVector<BlockChoice> choices =
        warpUnit   ? listWarpBlocks(sizes, processors)
        : hasDepth ? listThreadBlocks(sizes, getMostSplit(), processors)
                   : listLargeBlocks(sizes, processors);
    llvm::erase_if(choices, [&](const BlockChoice &choice) {
      return getSharedBytes(choice) > target.getSharedBytes();
    });
    if (hasDepth)
      for (BlockChoice &choice : choices)
        choice.block.push_back(getDepth());
    llvm::erase_if(choices, [&](const BlockChoice &choice) {
      return !mayBindAll(choice.block);
    });
    if (choices.empty())
      return failure();
    unsigned last = choices.size() - 1;
    const BlockChoice &choice = choices[std::min(alternative, last)];
    bindParams(kernel, params, choice.block);
    if (choice.threads)
      setThreads(kernel, choice.threads, choice.split);
    return success();
  }

  /// Returns how many blocks of threads may share a tile of a product without a
  /// unit.
  int64_t getMostSplit() const {
    return batchInvariant ? 1 : target.getMostClusterBlocks();
  }

  /// Returns the contracted size of a product by threads or the warp-level
  /// unit.
  int64_t getDepth() {
    constexpr int64_t threadStep = 16;
    bool isKnown = true;
    int64_t size = getDepthOr(product, 0, isKnown);
    return getProductDepth(size, isKnown,
                           warpUnit ? warpUnit.getShape()[2] : threadStep);
  }

  /// Returns the number of stages of a ring: as many as fit, except for a block
  /// of threads with one tile no more than it fills, so that blocks of the next
  /// launch fit on the multiprocessor, too.
  int64_t getStages(const ProductSizes &sizes, const ResultBlock &block,
                    ArrayRef<int64_t> rows, int64_t split) const {
    constexpr int64_t least = 2;
    int64_t stage = (block.m + block.n) * sizes.depth * getElementBytes(unit) +
                    kBarrierBytes;
    int64_t left = target.getSharedBytes() - block.warpgroups * kStagingBytes -
                   kBarrierBytes;
    int64_t stages = std::min(kMostStages, left / stage);
    if (!sizes.isKnown || countTiles(sizes, rows, block.n) * double(split) >
                              double(target.getMultiprocessors()))
      return stages;
    int64_t filled = sizes.k / sizes.depth / sizes.parts *
                     llvm::divideCeil(sizes.parts, split);
    return std::min(stages, std::max(least, filled));
  }

  /// Returns the bytes of a row of each operand in shared memory.
  FailureOr<std::array<int64_t, 2>> getSwizzles(ArrayRef<int64_t> rows,
                                                const ResultBlock &block,
                                                int64_t depth,
                                                std::string &why) {
    TileWindow left{product.lhs.getMemDims(), llvm::to_vector(rows),
                    product.lhs.getSteps()};
    left.sizes.push_back(depth);
    auto lhs = getTensorBox(product.lhs.getMemref(), left, TileRole::Lhs, why);
    if (failed(lhs))
      return failure();
    std::optional<TensorBox> first;
    if (product.isComputed()) // in rows along the depth
      return std::array<int64_t, 2>{
          lhs->rowBytes,
          std::min(kStageRowBytes, depth * getElementBytes(unit))};
    for (LoadOp load : product.rhs) {
      TileWindow right{load.getMemDims(),
                       {depth, block.n / countProducts()},
                       load.getSteps()};
      auto rhs = getTensorBox(load.getMemref(), right, TileRole::Rhs, why);
      if (failed(rhs))
        return failure();
      if (readsAlongDepth(unit) && !(lhs->alongSum && rhs->alongSum)) {
        why = "an operand is not contiguous along the depth";
        return failure();
      }
      if (first && !first->hasSameForm(*rhs)) {
        why = "the right operands differ in their layouts";
        return failure();
      }
      first = *rhs;
    }
    return std::array<int64_t, 2>{lhs->rowBytes, first->rowBytes};
  }

  /// The block chosen for a product.
  struct Choice {
    const ResultBlock *block = nullptr;
    SmallVector<int64_t, 2> rows;
    int64_t split = 1, stages = 0;
    std::array<int64_t, 2> swizzles = {0, 0};
  };

  /// Returns true if warpgroups may compute tiles in turn: blocks of threads
  /// are likely to have several tiles, these have several stages, and they are
  /// narrow only if the result is.
  bool mayTakeTurns(const ProductSizes &sizes, const ResultBlock &block,
                    double tiles) {
    constexpr int64_t wide = 128;
    return (sizes.isKnown || isVersion()) &&
           tiles > double(target.getMultiprocessors()) &&
           sizes.k > sizes.depth && block.n >= std::min(wide, sizes.n) &&
           product.hasUniformDepth();
  }

  /// Adds the block to the choices if a schedule may have it.
  void consider(const ProductSizes &sizes, const ResultBlock &block,
                ArrayRef<int64_t> rows, int64_t split,
                std::multimap<double, Choice> &choices) {
    int64_t multiprocessors = target.getMultiprocessors();
    int64_t stages = getStages(sizes, block, rows, split);
    double tiles = countTiles(sizes, rows, block.n);
    bool runAtOnce = tiles <= double(countClusters(split, multiprocessors));
    bool mayShare = sizes.isKnown || (sizes.isDepthKnown && !batchInvariant);
    if (stages < 2 || (split > 1 && !(mayShare && runAtOnce)) ||
        (block.tiles > 1 &&
         (split > 1 || !mayTakeTurns(sizes, block, tiles))) ||
        !maySplit(sizes, block, split, stages, getElementBytes(unit)))
      return;
    auto estimate = isVersion() ? getVersionCycles : getCycles;
    choices.emplace(
        estimate(sizes, block, rows, split, unit, multiprocessors),
        Choice{&block, SmallVector<int64_t, 2>(rows), split, stages});
  }

  /// Returns true if the kernel's parameters and operands permit the block.
  bool isPermitted(const ProductSizes &sizes, Choice &choice,
                   std::string &why) {
    SmallVector<int64_t> values = llvm::to_vector(choice.rows);
    values.append({choice.block->n / countProducts(), sizes.depth});
    if (!mayBindAll(values) || (product.isComputed() && !mayLoadAhead(values)))
      return false;
    auto swizzles = getSwizzles(choice.rows, *choice.block, sizes.depth, why);
    if (succeeded(swizzles))
      choice.swizzles = *swizzles;
    return succeeded(swizzles);
  }

  /// Returns true if a warpgroup may compute the right operands of blocks of
  /// this shape: each thread has whole columns, and leaves the other
  /// warpgroups registers for their accumulators. Taking turns does not pay.
  bool mayCompute(const ResultBlock &block) const {
    constexpr int64_t mostRows = 128, bytes = 2;
    return block.n / countProducts() % kWarpgroupThreads == 0 &&
           block.m / block.warpgroups <= mostRows && block.tiles == 1 &&
           getElementBytes(unit) == bytes;
  }

  /// Returns the number of warpgroups that copy the operands of a tile, or
  /// compute the right ones: two of these if the others need few registers.
  int64_t countProducers(const ResultBlock &block) const {
    constexpr int64_t fewSums = 64;
    int64_t sums =
        block.m * block.n / (block.getTileWarpgroups() * kWarpgroupThreads);
    return product.isComputed() && sums <= fewSums ? 2 : 1;
  }

  /// Returns true if a thread has registers for what it loads in advance to
  /// compute its columns of the right operands, with these values of the
  /// parameters.
  bool mayLoadAhead(ArrayRef<int64_t> values) {
    constexpr int64_t most = 48;
    int64_t elements = 0;
    for (Operation &op : *product.dots.front()->getBlock()) {
      auto load = dyn_cast<LoadOp>(op);
      if (!load || load == product.lhs)
        continue;
      int64_t count = 1;
      for (OpFoldResult size : getMixedValues(
               load.getStaticSizes(), load.getSizes(), kernel.getContext()))
        count *= evaluateSize(size, [&](ParamOp param) {
                   for (auto [bound, value] : llvm::zip(params, values))
                     if (bound.getName() == param.getName())
                       return value;
                   return most;
                 }).value_or(most);
      elements += llvm::divideCeil(count, kWarpgroupThreads);
    }
    return elements <= most;
  }

  LogicalResult choose(std::string &why) {
    ProductSizes sizes = getSizes(product, unit);
    std::multimap<double, Choice> choices; // by cycles
    for (const ResultBlock &block : kResultBlocks) {
      int64_t columns = block.n / countProducts();
      if (columns > unit.getShape()[1] || columns % kLeastColumns != 0 ||
          (product.isComputed() && !mayCompute(block)))
        continue;
      for (auto &rows : getRowBlocks(block.m, sizes.rows.size() > 1))
        for (int64_t split : kSplits)
          consider(sizes, block, rows, split, choices);
    }
    Choice best;
    unsigned passedOver = 0;
    for (auto &[cycles, choice] : choices) {
      if (!isPermitted(sizes, choice, why))
        continue;
      best = choice;
      if (passedOver++ == alternative)
        break;
    }
    if (!best.block) {
      if (why.empty())
        why = "no blocks fit the values of the kernel's parameters";
      return failure();
    }
    if (!sizes.isKnown && sizes.isDepthKnown && !batchInvariant &&
        best.block->tiles == 1 && mayHaveFewTiles(sizes, best))
      best.split = std::max(best.split, chooseMostShared(sizes, best));
    write(best, sizes.depth);
    return success();
  }

  /// Returns true if a run may have so few tiles that two blocks can share each
  /// of them. A version for an assumed number of rows has more than half of
  /// them.
  bool mayHaveFewTiles(const ProductSizes &sizes, const Choice &choice) {
    if (!isVersion())
      return true;
    ProductSizes least = sizes;
    least.rows.front() = sizes.rows.front() / 2 + 1;
    least.batch = 1;
    return countTiles(least, choice.rows, choice.block->n) <=
           double(countClusters(2, target.getMultiprocessors()));
  }

  /// Returns how many blocks may share a tile of a product with dynamic sizes,
  /// if a run has few tiles: those that compute one tile in the least time.
  int64_t chooseMostShared(const ProductSizes &sizes, const Choice &choice) {
    ProductSizes tile = sizes;
    tile.rows = choice.rows;
    tile.n = choice.block->n;
    tile.batch = 1;
    int64_t best = 1;
    auto getTime = [&](int64_t split) {
      return getCycles(tile, *choice.block, choice.rows, split, unit,
                       target.getMultiprocessors());
    };
    for (int64_t split : kSplits)
      if (maySplit(tile, *choice.block, split, choice.stages,
                   getElementBytes(unit)) &&
          getTime(split) < getTime(best))
        best = split;
    return best;
  }

  void write(const Choice &choice, int64_t depth) {
    const ResultBlock &block = *choice.block;
    ArrayRef<int64_t> rows = choice.rows;
    int64_t columns = block.n / countProducts();
    MLIRContext *context = kernel.getContext();
    auto dim = [&](StringRef name, int64_t size) {
      return ScheduleDimAttr::get(context, name, size);
    };
    auto operand = [&](int64_t number) {
      bool isComputed = number > 0 && product.isComputed();
      return ScheduleOperandAttr::get(
          context, number, isComputed ? CopyKind::computed : CopyKind::tma,
          choice.swizzles[number]);
    };
    auto gpu = GpuScheduleAttr::get(
        context,
        {countProducers(block) * kWarpgroup, block.warpgroups * kWarpgroup},
        choice.stages,
        /*inflight=*/1, kTilesTogether);
    SmallVector<ScheduleDimAttr> dims = {dim("m", block.m), dim("n", columns),
                                         dim("k", depth)};
    if (rows.size() > 1)
      dims.append({dim("y", rows[0]), dim("x", rows[1])});
    if (block.tiles > 1)
      dims.push_back(dim("tiles", block.tiles));
    if (choice.split > 1)
      dims.push_back(dim("split", choice.split));
    kernel->setAttr(kScheduleAttribute,
                    ScheduleAttr::get(context, unit.getName(), dims,
                                      {operand(0), operand(1)}, gpu));
    SmallVector<int64_t> values = llvm::to_vector(ArrayRef<int64_t>(rows));
    values.append({columns, depth});
    bindParams(kernel, params, values);
  }

  KernelOp kernel;
  CudaTargetAttr target;
  bool batchInvariant;
  unsigned alternative;
  TargetUnitAttr unit, warpUnit; ///< of warpgroups, of warps: may be null
  Product product;
  SmallVector<ParamOp> params; ///< of the rows, n and k
};

} // namespace

SmallVector<ScheduleChoice> tile::listSchedules(KernelOp kernel,
                                                CudaTargetAttr target,
                                                bool batchInvariant,
                                                unsigned most) {
  SmallVector<ScheduleChoice> choices;
  OwningOpRef<KernelOp> copy;
  for (unsigned alternative = 0; alternative < most; ++alternative) {
    copy = cast<KernelOp>(kernel->clone());
    std::string why;
    (void)Scheduler(*copy, target, batchInvariant, alternative).run(why);
    ScheduleChoice choice{
        getSchedule(*copy),
        (*copy)->getAttrOfType<DictionaryAttr>(kCudaBindings)};
    if (llvm::is_contained(choices, choice))
      break;
    choices.push_back(choice);
  }
  return choices;
}

bool tile::mayBind(ParamOp param, int64_t value) {
  auto choices = param.getChoices();
  return !choices || llvm::is_contained(*choices, value);
}

void tile::setSchedule(KernelOp kernel, const ScheduleChoice &choice) {
  auto set = [&](StringRef name, Attribute value) {
    if (value)
      kernel->setAttr(name, value);
    else
      kernel->removeAttr(name);
  };
  set(kScheduleAttribute, choice.schedule);
  set(kCudaBindings, choice.params);
}

namespace {

struct TileChooseSchedule final
    : tile::impl::TileChooseScheduleBase<TileChooseSchedule> {
  using TileChooseScheduleBase::TileChooseScheduleBase;

  void runOnOperation() override {
    CudaTargetAttr target = findCudaTarget(getOperation());
    if (!target)
      return;
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      if (getSchedule(kernel))
        continue;
      std::string why;
      if (succeeded(Scheduler(kernel, target, batchInvariant, alternative)
                        .run(why))) {
        ++numScheduled;
        continue;
      }
      if (why.empty())
        continue;
      ++numRefused;
      if (remarks)
        kernel.emitRemark("no matrix unit of ")
            << target.getChip() << " is used: " << why;
    }
  }
};

} // namespace
