// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// hoist-scratch: moves scratch memory of kernels to the arena of the program.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Host/IR/Programs.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <map>

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_HOISTSCRATCH
#include "Transforms/Passes.h.inc"

namespace {
/// An allocation of a kernel, and the loop whose programs each have one.
struct Scratch {
  memref::AllocOp alloc;
  scf::ForOp programs;
  SmallVector<AffineExpr> sizes; // with the number of programs first
};

class HoistScratchPass final : public impl::HoistScratchBase<HoistScratchPass> {
public:
  void runOnOperation() override;

private:
  void hoist(func::FuncOp kernel, ArrayRef<host::LaunchOp> launches);
  void replace(func::FuncOp kernel, Scratch scratch);
};
} // namespace

/// Returns the value as an expression of the symbols, or null.
static AffineExpr getExpr(Value value, func::FuncOp kernel) {
  MLIRContext *context = value.getContext();
  if (auto constant = getConstantIntValue(value))
    return getAffineConstantExpr(*constant, context);
  Operation *op = value.getDefiningOp();
  if (auto size = dyn_cast_or_null<host::SizeOp>(op))
    return size.getValue().getResult(0);
  if (auto dim = dyn_cast_or_null<memref::DimOp>(op)) {
    auto argument = dyn_cast<BlockArgument>(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!argument || !index || argument.getOwner() != &kernel.front())
      return {};
    auto dims = kernel.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(),
                                                       host::dimsAttr);
    return dims ? dims.getValue().getResult(*index) : AffineExpr();
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return {};
  AffineExpr lhs = getExpr(op->getOperand(0), kernel),
             rhs = getExpr(op->getOperand(1), kernel);
  if (!lhs || !rhs)
    return {};
  return isa<arith::AddIOp>(op)   ? lhs + rhs
         : isa<arith::SubIOp>(op) ? lhs - rhs
                                  : lhs * rhs;
}

/// Returns the loop of programs that has all uses of the allocation. Its users
/// must not depend on the layout of the memory.
static scf::ForOp findPrograms(memref::AllocOp alloc) {
  for (auto loop : alloc->getBlock()->getOps<scf::ForOp>()) {
    if (!loop->hasAttr(host::programsAttr))
      continue;
    bool isOwn = llvm::all_of(alloc->getUsers(), [&](Operation *user) {
      return loop->isProperAncestor(user) &&
             isa<memref::LoadOp, memref::StoreOp, memref::DimOp>(user);
    });
    if (isOwn)
      return loop;
  }
  return {};
}

/// Returns true if the block has a loop of programs, which may own allocations.
static bool hasPrograms(Block &block) {
  return llvm::any_of(block.getOps<scf::ForOp>(), [](scf::ForOp loop) {
    return loop->hasAttr(host::programsAttr);
  });
}

static std::optional<Scratch> getScratch(memref::AllocOp alloc,
                                         func::FuncOp kernel) {
  Scratch scratch{alloc, findPrograms(alloc), {}};
  if (!scratch.programs && hasPrograms(*alloc->getBlock()))
    return std::nullopt;
  auto add = [&](AffineExpr size) {
    scratch.sizes.push_back(size);
    return bool(size);
  };
  if (scratch.programs &&
      !add(getExpr(scratch.programs.getUpperBound(), kernel)))
    return std::nullopt;
  auto dynamic = alloc.getDynamicSizes().begin();
  for (int64_t size : alloc.getType().getShape())
    if (!add(ShapedType::isDynamic(size)
                 ? getExpr(*dynamic++, kernel)
                 : getAffineConstantExpr(size, alloc.getContext())))
      return std::nullopt;
  return scratch;
}

/// Returns the bytes, or the greatest integer if they are dynamic.
static int64_t getBytes(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (!type.hasStaticShape())
    return std::numeric_limits<int64_t>::max();
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return type.getNumElements() * llvm::divideCeil(bits, 8);
}

/// Adds an argument to the kernel that the allocation becomes, or the part of
/// the program.
void HoistScratchPass::replace(func::FuncOp kernel, Scratch scratch) {
  memref::AllocOp alloc = scratch.alloc;
  Location loc = alloc.getLoc();
  OpBuilder b(alloc);
  SmallVector<int64_t> shape;
  for (AffineExpr size : scratch.sizes) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    shape.push_back(constant ? constant.getValue() : ShapedType::kDynamic);
  }
  auto type = MemRefType::get(shape, alloc.getType().getElementType());
  unsigned index = kernel.getNumArguments();
  NamedAttrList attributes;
  if (!type.hasStaticShape())
    attributes.set(host::dimsAttr, AffineMapAttr::get(host::getSymbolMap(
                                       scratch.sizes, b.getContext())));
  (void)kernel.insertArgument(index, type,
                              attributes.getDictionary(b.getContext()), loc);
  Value place = kernel.getArgument(index);
  if (scratch.programs) {
    b.setInsertionPointToStart(scratch.programs.getBody());
    SmallVector<OpFoldResult> offsets = {scratch.programs.getInductionVar()},
                              sizes = {b.getIndexAttr(1)},
                              strides(type.getRank(), b.getIndexAttr(1));
    offsets.resize(type.getRank(), b.getIndexAttr(0));
    llvm::append_range(sizes, alloc.getMixedSizes());
    MemRefType part = memref::SubViewOp::inferRankReducedResultType(
        alloc.getType().getShape(), type, offsets, sizes, strides);
    place =
        memref::SubViewOp::create(b, loc, part, place, offsets, sizes, strides);
  }
  alloc.getResult().replaceAllUsesWith(place);
  alloc.erase();
}

/// Returns the launch with one more result for each scratch memory.
static void addResults(host::LaunchOp launch, ArrayRef<Type> added) {
  OpBuilder b(launch);
  SmallVector<Type> types(launch.getResultTypes());
  llvm::append_range(types, added);
  auto larger = host::LaunchOp::create(
      b, launch.getLoc(), types, launch.getCalleeAttr(), launch.getOperands(),
      b.getI64IntegerAttr(types.size()), launch.getStepsAttr(),
      launch.getGroupsAttr());
  larger->setDiscardableAttrs(launch->getDiscardableAttrDictionary());
  launch.replaceAllUsesWith(
      larger.getResults().take_front(launch.getNumResults()));
  launch.erase();
}

void HoistScratchPass::hoist(func::FuncOp kernel,
                             ArrayRef<host::LaunchOp> launches) {
  int64_t limit = std::numeric_limits<int64_t>::max();
  for (Attribute target : tile::getTargets(getOperation()))
    if (auto gpu = dyn_cast<tile::CudaTargetAttr>(target))
      limit = std::min(limit, gpu.getSharedBytes());
  // The smallest ones stay, as long as they fit.
  std::multimap<int64_t, memref::AllocOp> allocs;
  for (memref::AllocOp alloc : kernel.getOps<memref::AllocOp>())
    allocs.insert({getBytes(alloc), alloc});
  SmallVector<Type> added;
  constexpr int64_t alignment = 128;
  int64_t kept = 0;
  for (auto [bytes, alloc] : allocs) {
    if (bytes <= limit - kept) {
      kept += llvm::alignTo(bytes, alignment);
      continue;
    }
    std::optional<Scratch> scratch = getScratch(alloc, kernel);
    if (!scratch)
      continue;
    added.push_back(graph::makeType(
        alloc.getType().getElementType(),
        graph::Dims(scratch->sizes.begin(), scratch->sizes.end())));
    replace(kernel, *scratch);
    ++numHoisted;
  }
  if (!added.empty())
    for (host::LaunchOp launch : launches)
      addResults(launch, added);
}

void HoistScratchPass::runOnOperation() {
  if (!tile::findCudaTarget(getOperation()))
    return;
  llvm::StringMap<SmallVector<host::LaunchOp>> launches;
  getOperation().walk([&](host::LaunchOp launch) {
    launches[launch.getCallee()].push_back(launch);
  });
  for (auto kernel : getOperation().getOps<func::FuncOp>())
    if (kernel->hasAttr(host::kernelAttr) && !kernel.isExternal())
      hoist(kernel, launches[kernel.getName()]);
}
} // namespace adze
