// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The pipeline of a scheduled product: checks the schedule, and lists the
// copies.
#include "PipelinePlan.h"
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "Dialect/Tile/IR/PhysicalType.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace adze::togpu {

/// Returns true if windows start at whole panels, so that the box of a panel
/// starts at its first element.
static bool startsAtPanels(tile::LoadOp load) {
  auto type = cast<MemRefType>(load.getMemref().getType());
  SmallVector<OpFoldResult> offsets = load.getMixedOffsets();
  for (AffineExpr expr : tile::getPhysicalMap(type).getResults()) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      continue;
    int64_t panel = cast<AffineConstantExpr>(binary.getRHS()).getValue();
    unsigned dim = cast<AffineDimExpr>(binary.getLHS()).getPosition();
    if (tile::getKnownDivisor(offsets[dim]) % panel != 0)
      return false;
  }
  return true;
}

static LogicalResult addOperand(PipelinePlan &plan, tile::LoadOp load,
                                ArrayRef<int64_t> sizes, tile::TileRole role,
                                std::string &why) {
  auto box = tile::getTensorBox(
      load.getMemref(),
      {load.getMemDims(), llvm::to_vector(sizes), load.getSteps()}, role, why);
  if (failed(box))
    return failure();
  if (!startsAtPanels(load))
    return why = "an operand does not start at whole panels", failure();
  plan.maps.push_back(std::move(*box));
  return success();
}

/// Returns true if pairs of these elements are staged in shared memory.
static bool isStaged(Type element) {
  return element.isF32() || element.isF16() || element.isBF16() ||
         element.isInteger(32) || element.getIntOrFloatBitWidth() == 8;
}

/// Returns true if a tile of the result has all columns of its memory. Copies
/// omit the columns of the last segment beyond them.
static bool hasAllColumns(const PipelinePlan &plan, tile::StoreOp store) {
  return plan.attention && store.getMemref().getType().getShape().back() ==
                               plan.getResultColumns();
}

/// Returns the columns of a segment of a result: rows of 128 or 64 bytes.
static int64_t getPieceColumns(const PipelinePlan &plan, tile::StoreOp store) {
  Type element = store.getMemref().getType().getElementType();
  int64_t bits = std::max(8u, element.getIntOrFloatBitWidth());
  if (hasAllColumns(plan, store))
    return 1024 / bits;
  for (int64_t rowBits : {1024, 512})
    if (plan.getResultColumns() * bits % rowBits == 0)
      return rowBits / bits;
  return kColumnGranule;
}

/// Returns the box of a result that a tensor map can store in segments of 64
/// rows of 128 or 64 bytes, which are whole rows of the block of an image.
static std::optional<tile::TensorBox>
getResultBox(const PipelinePlan &plan, const PipelineResult &result) {
  tile::StoreOp store = result.store;
  auto type = cast<MemRefType>(store.getMemref().getType());
  SmallVector<int64_t> dims = store.getMemDims(), steps = store.getSteps(),
                       sizes;
  if (plan.attention) // [depth, rows]
    std::swap(dims[0], dims[1]);
  bool isImage = dims.size() > 2;
  bool hasPart = plan.getResultColumns() % result.columns != 0;
  if ((hasPart && !hasAllColumns(plan, store)) ||
      !isStaged(type.getElementType()) || !type.getLayout().isIdentity() ||
      dims.back() != type.getRank() - 1 ||
      llvm::any_of(steps, [](int64_t step) { return step != 1; }) ||
      (isImage && kInstructionRows % plan.columns != 0))
    return std::nullopt;
  if (isImage)
    sizes = {kInstructionRows / plan.columns, plan.columns, result.columns};
  else
    sizes = {kInstructionRows, result.columns};
  std::string why;
  auto box = tile::getTensorBox(store.getMemref(), {dims, sizes, steps},
                                tile::TileRole::Result, why);
  if (failed(box))
    return std::nullopt;
  return std::move(*box);
}

/// Succeeds if the loops hold only scalars, which each role may compute for
/// itself.
static LogicalResult checkLoops(tile::Product &product, std::string &why) {
  for (scf::ForOp loop : product.loops)
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isa<scf::ForOp>(op) &&
          !llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
          (op.getNumRegions() || !isMemoryEffectFree(&op) ||
           isa<memref::DimOp>(op)))
        return why = "the loop of a product contains '" +
                     op.getName().getStringRef().str() + "'",
               failure();
  return success();
}

static LogicalResult planResults(PipelinePlan &plan,
                                 ArrayRef<tile::StoreOp> stores) {
  for (tile::StoreOp store : stores) {
    PipelineResult &result = plan.results.emplace_back();
    result.store = store;
    result.columns = getPieceColumns(plan, store);
    auto box = getResultBox(plan, result);
    if (!box)
      continue;
    result.map = plan.maps.size();
    plan.maps.push_back(std::move(*box));
  }
  return success();
}

/// The keys are n, and the contracted size of the scores is k; the operands of
/// a stage are [n, k] and [n, columns of the result] in memory.
static LogicalResult planAttention(PipelinePlan &plan, std::string &why) {
  tile::Attention &attention = *plan.attention;
  auto shape = [](tile::LoadOp load) {
    return load.getResult().getType().getShape();
  };
  if (shape(attention.keys) != ArrayRef({plan.n, plan.k}) ||
      shape(attention.query) != ArrayRef({plan.k, plan.m}) ||
      shape(attention.values)[1] != plan.n ||
      plan.m != plan.warpgroups * kInstructionRows || plan.n % 16 != 0)
    return why = "the schedule has other blocks than the kernel", failure();
  auto head = attention.getHeadSizes(why);
  if (failed(head))
    return failure();
  plan.columns = plan.m;
  plan.product.loops = {attention.loop};
  plan.product.ids = attention.ids;
  plan.product.lhs = attention.keys;
  plan.product.rhs = {attention.values};
  plan.lhsBytes = plan.n * head->stagedKey * plan.getElementBytes();
  plan.rhsBytes = plan.n * head->stagedValue * plan.getElementBytes();
  plan.residentBytes = plan.m * head->stagedKey * plan.getElementBytes();
  if (failed(addOperand(plan, attention.keys, {plan.n, head->stagedKey},
                        tile::TileRole::Lhs, why)) ||
      failed(addOperand(plan, attention.values, {head->stagedValue, plan.n},
                        tile::TileRole::Lhs, why)) ||
      failed(addOperand(plan, attention.query, {head->stagedKey, plan.m},
                        tile::TileRole::Rhs, why)))
    return failure();
  // Elements along k of the scores are adjacent in memory.
  if (!plan.maps[0].alongSum || plan.maps[1].alongSum || !plan.maps[2].alongSum)
    return why = "the operands of attention have another layout", failure();
  return planResults(plan, attention.stores);
}

/// Plans right operands that threads compute: rows of 128 bytes along the
/// depth.
static LogicalResult planComputed(PipelinePlan &plan, std::string &why) {
  constexpr int64_t rowBytes = 128;
  int64_t depth = rowBytes / plan.getElementBytes();
  Type element = plan.product.dots.front().getRhs().getType().getElementType();
  if (plan.product.loops.size() > 1 || plan.k % depth != 0 ||
      plan.n % kWarpgroupThreads != 0 || element != plan.types.getRhs())
    return why = "a warpgroup can't compute right operands of these blocks",
           failure();
  plan.rhs.box = {plan.n, depth};
  plan.rhs.alongSum = true;
  plan.rhs.rowBytes = rowBytes;
  return success();
}

int64_t PipelinePlan::countSegments(int64_t columns) const {
  int64_t segments = 0;
  for (const PipelineResult &result : results)
    if (result.map)
      segments += llvm::divideCeil(columns, result.columns);
  return segments;
}

int64_t PipelinePlan::getCopiesInFlight(int64_t number, int64_t count) const {
  int64_t inTile = stagingParts - 1;
  if (number >= stagingParts)
    return inTile;
  int64_t afterLast = (count - 1 - number) % stagingParts;
  return std::min(inTile, afterLast + number);
}

int64_t PipelinePlan::getSharedColumns() const {
  int64_t columns = kColumnGranule;
  for (const PipelineResult &result : results)
    columns = std::max(columns, result.columns);
  return columns;
}

FailureOr<PipelinePlan> planPipeline(tile::KernelOp kernel, std::string &why) {
  constexpr int64_t stagingParts = 2;
  constexpr int64_t warps = 4, mostBlocks = 8; // of a cluster
  tile::ScheduleAttr schedule = tile::getSchedule(kernel);
  tile::GpuScheduleAttr gpu = schedule.getGpu();
  PipelinePlan plan;
  plan.m = schedule.getBlock("m");
  plan.n = schedule.getBlock("n");
  plan.k = schedule.getBlock("k");
  plan.stages = gpu.getStages();
  plan.inflight = gpu.getInflight();
  plan.tilesTogether = gpu.getPersistent();
  plan.split = std::max<int64_t>(1, schedule.getBlock("split"));
  plan.producers = gpu.getWarps()[0] / warps;
  plan.warpgroups = gpu.getWarps()[1] / warps;
  plan.tiles = std::max<int64_t>(1, schedule.getBlock("tiles"));
  plan.stagingParts = stagingParts;
  if (plan.split > mostBlocks)
    return why = "the depth is split among more than 8 blocks", failure();
  if (schedule.getUnit() != "wgmma" || gpu.getWarps()[0] % warps != 0)
    return why = "the schedule has other units or warps", failure();
  if (plan.warpgroups % plan.tiles != 0)
    return why = std::to_string(plan.tiles) +
                 " tiles in flight do not divide the " +
                 std::to_string(plan.warpgroups) + " warpgroups",
           failure();
  if (plan.tiles > 1 && plan.split > 1)
    return why = "several tiles are in flight, and their depth is split",
           failure();
  if (schedule.getOperands().size() == 3) {
    if (plan.split > 1 || plan.tiles > 1 || plan.producers > 1)
      return why = "attention is split, has several tiles in flight, or more "
                   "than one warpgroup that copies",
             failure();
    auto attention = tile::findAttention(kernel, why);
    if (failed(attention))
      return failure();
    plan.attention = *attention;
    plan.types = attention->scores.getProduct();
    if (failed(planAttention(plan, why)))
      return failure();
    return plan;
  }
  auto product = tile::findProduct(kernel, why);
  if (failed(product) || failed(checkLoops(*product, why)))
    return failure();
  bool isComputed = llvm::any_of(
      schedule.getOperands(), [](tile::ScheduleOperandAttr operand) {
        return operand.getCopy() == tile::CopyKind::computed;
      });
  if (plan.producers > (isComputed ? plan.stages : 1))
    return why = "more warpgroups copy operands than can take turns", failure();
  if (isComputed != product->isComputed())
    return why = isComputed ? "the schedule computes a loaded operand"
                            : "the schedule copies a computed operand",
           failure();
  if (plan.tiles > 1 && !product->hasUniformDepth())
    return why = "several tiles are in flight, and their depths differ",
           failure();
  plan.product = *product;
  tile::DotOp dot = product->dots.front();
  plan.types = dot.getProduct();
  plan.lhsBytes = plan.m * plan.k * plan.getElementBytes();
  plan.rhsBytes =
      plan.n * plan.k * plan.countProducts() * plan.getElementBytes();
  auto shape = [](Value tile) {
    return cast<RankedTensorType>(tile.getType()).getShape();
  };
  if (shape(dot.getLhs()) != ArrayRef({plan.m, plan.k}) ||
      shape(dot.getRhs()) != ArrayRef({plan.k, plan.n}) ||
      plan.m % (plan.getTileWarpgroups() * kInstructionRows) != 0 ||
      plan.n % kColumnGranule != 0)
    return why = "the schedule has other blocks than the kernel", failure();
  ArrayRef<int64_t> window = shape(product->lhs.getResult());
  plan.columns = window[window.size() - 2];
  if (ShapedType::getNumElements(window.drop_back()) != plan.m ||
      window.back() != plan.k)
    return why = "the rows are reshaped to others", failure();
  for (tile::StoreOp store : product->stores)
    if (shape(store.getValue()).drop_back() != window.drop_back())
      return why = "a result has other rows than the operand", failure();
  if (plan.split > 1 &&
      plan.getSumsBytes() > plan.stages * (plan.lhsBytes + plan.rhsBytes))
    return why = "the sums of a split depth do not fit the pipeline's buffers",
           failure();
  if (failed(addOperand(plan, product->lhs, shape(product->lhs.getResult()),
                        tile::TileRole::Lhs, why)))
    return failure();
  for (tile::LoadOp rhs : product->rhs) {
    if (failed(addOperand(plan, rhs, shape(rhs.getResult()),
                          tile::TileRole::Rhs, why)))
      return failure();
    if (!plan.maps[1].hasSameForm(plan.maps.back()))
      return why = "the right operands differ in their layouts", failure();
  }
  if (!product->isComputed())
    plan.rhs = plan.maps[1];
  else if (failed(planComputed(plan, why)))
    return failure();
  if (failed(planResults(plan, product->stores)))
    return failure();
  // ptxas 13.0 converts accumulators that are stored from registers before it
  // waits for the group in flight after the loop, so products were missing. So
  // no group is in flight there.
  if (llvm::any_of(plan.results,
                   [](const PipelineResult &result) { return !result.map; }))
    plan.inflight = 0;
  return plan;
}

} // namespace adze::togpu
