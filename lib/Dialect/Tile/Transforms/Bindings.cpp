// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#include "Bindings.h"
#include "Dialect/Tile/IR/Clusters.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "Dialect/Tile/Transforms/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace adze::tile {

void bindParams(KernelOp kernel, ArrayRef<ParamOp> params,
                ArrayRef<int64_t> values) {
  Builder b(kernel.getContext());
  NamedAttrList bound;
  for (auto [param, value] : llvm::zip(params, values)) {
    ParamOp op = param;
    bound.set(op.getName(), b.getI64IntegerAttr(value));
  }
  kernel->setAttr(kCudaBindings, bound.getDictionary(kernel.getContext()));
}

void setThreads(KernelOp kernel, int64_t threads, int64_t split) {
  MLIRContext *context = kernel.getContext();
  kernel->setAttr(
      kScheduleAttribute,
      ScheduleAttr::get(context, kThreadsUnit,
                        {ScheduleDimAttr::get(context, "threads", threads),
                         ScheduleDimAttr::get(context, "split", split)},
                        {}, {}));
}

/// Returns the value that the kernel's parameter has on CPUs.
static int64_t getValue(KernelOp kernel, ParamOp param) {
  auto values = kernel->getAttrOfType<DictionaryAttr>("tile.params");
  auto value =
      values ? values.getAs<IntegerAttr>(param.getName()) : IntegerAttr();
  return value ? value.getInt() : 0;
}

std::optional<int64_t> evaluateSize(OpFoldResult size,
                                    function_ref<int64_t(ParamOp)> getParam) {
  if (auto known = getConstantIntValue(size))
    return known;
  Operation *op = cast<Value>(size).getDefiningOp();
  if (auto param = dyn_cast_or_null<ParamOp>(op))
    return getParam(param);
  if (!isa_and_present<arith::CeilDivUIOp, arith::MulIOp, arith::MinUIOp>(op))
    return std::nullopt;
  auto lhs = evaluateSize(op->getOperand(0), getParam),
       rhs = evaluateSize(op->getOperand(1), getParam);
  if (!lhs || !rhs)
    return std::nullopt;
  return isa<arith::MulIOp>(op)    ? *lhs * *rhs
         : isa<arith::MinUIOp>(op) ? std::min(*lhs, *rhs)
                                   : llvm::divideCeilSigned(*lhs, *rhs);
}

/// Binds the block of an elementwise kernel over one dim: a thread has one
/// vector of 16 bytes, if elements of 32 bits are the widest. It reads and
/// writes at the rate of a copy; with four vectors it was 0.95 of that.
static LogicalResult bindElements(KernelOp kernel) {
  constexpr int64_t block = 1024, widest = 32;
  bool isElementwise = true;
  unsigned bits = 0;
  SmallVector<ParamOp> params;
  kernel.walk([&](Operation *op) {
    if (auto param = dyn_cast<ParamOp>(op)) {
      params.push_back(param);
      return;
    }
    isElementwise &= !isa<scf::ForOp, ReduceOp, ScanOp, GatherOp>(op);
    if (auto store = dyn_cast<StoreOp>(op)) {
      RankedTensorType type = store.getValue().getType();
      isElementwise &= type.getRank() == 1;
      bits = std::max(bits, type.getElementTypeBitWidth());
    }
  });
  if (!isElementwise || params.size() != 1 || bits != widest ||
      params.front().getChoices() || getValue(kernel, params.front()) <= block)
    return failure();
  bindParams(kernel, params, {block});
  return success();
}

int64_t countIterations(KernelOp kernel) {
  int64_t most = 1;
  kernel.walk([&](scf::ForOp loop) {
    auto end = getConstantIntValue(loop.getUpperBound());
    auto step = evaluateSize(
        loop.getStep(), [&](ParamOp param) { return getValue(kernel, param); });
    most = most > 0 && end && step && *step > 0
               ? std::max(most, llvm::divideCeilSigned(*end, *step))
               : -1;
  });
  return most;
}

/// Binds the number of parts of a kernel that reduces each of them by a warp,
/// and joins the results: a cluster of blocks computes a program if programs do
/// not fill the GPU, and its warps have several iterations, which take longer
/// than the barriers of a cluster. Dynamic numbers of programs are assumed to
/// be small.
static LogicalResult bindParts(KernelOp kernel, CudaTargetAttr target) {
  constexpr int64_t warpThreads = 32, mostWarps = 32, usualWarps = 8;
  ParamOp parts;
  int64_t programs = 1;
  kernel.walk([&](Operation *op) {
    if (auto param = dyn_cast<ParamOp>(op); param && param.getName() == "PARTS")
      parts = param;
    else if (auto ids = dyn_cast<ProgramIdOp>(op))
      for (Value size : ids.getGrid())
        programs *= evaluateSize(size, [&](ParamOp param) {
                      return getValue(kernel, param);
                    }).value_or(1);
  });
  if (!parts)
    return failure();
  int64_t warps = getValue(kernel, parts);
  if (!llvm::isPowerOf2_64(warps) || warps > mostWarps)
    return failure();
  int64_t resident = 2 * usualWarps * target.getMultiprocessors(),
          all = std::max<int64_t>(1, programs) * std::max(warps, usualWarps),
          blocks =
              std::clamp<int64_t>(llvm::bit_floor(uint64_t(resident / all)), 1,
                                  target.getMostClusterBlocks());
  if (int64_t iterations = countIterations(kernel); iterations > 0)
    blocks = std::min<int64_t>(blocks, llvm::bit_floor(uint64_t(iterations)));
  else
    while (blocks > 1 &&
           programs > countClusters(blocks, target.getMultiprocessors()))
      blocks /= 2;
  setThreads(kernel, warps * warpThreads, blocks);
  bindParams(kernel, parts, {warps * blocks});
  return success();
}

LogicalResult bindWithoutProduct(KernelOp kernel, CudaTargetAttr target) {
  if (kernel->hasAttr(kCudaBindings))
    return failure();
  return success(succeeded(bindParts(kernel, target)) ||
                 succeeded(bindElements(kernel)));
}

} // namespace adze::tile
