// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What passes on launches have in common.
#include "Launches.h"
#include "Dialect/Tile/IR/Faults.h"
#include "Dialect/Tile/IR/Targets.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace adze {

ValueRange getInputs(host::LaunchOp launch) {
  return ValueRange(launch.getOperands()).drop_back(launch.getNumOutputs());
}

ValueRange getOutputs(host::LaunchOp launch) {
  return ValueRange(launch.getOperands()).take_back(launch.getNumOutputs());
}

Value getRoot(Value place) {
  while (auto view = place.getDefiningOp<host::ViewOp>())
    place = view.getSource();
  return place;
}

bool isConstant(Value place) {
  return isa_and_present<host::ConstantOp, host::TransformOp>(
      getRoot(place).getDefiningOp());
}

AffineExpr sumBytes(ArrayRef<host::LaunchOp> launches, StringRef name,
                    llvm::function_ref<ValueRange(host::LaunchOp)> places) {
  MLIRContext *context = launches.front()->getContext();
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (host::LaunchOp launch : launches)
    if (Attribute attr = launch->getAttr(name))
      sum = sum + host::getBytesExpr(attr, context);
    else if (places)
      for (Value place : places(launch))
        sum = sum + host::getPlaceBytes(place);
  return sum;
}

/// Returns the kernels with tiles that are launched.
static llvm::SmallSetVector<tile::KernelOp, 16>
getLaunchedKernels(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::SmallSetVector<tile::KernelOp, 16> kernels;
  module.walk([&](host::LaunchOp launch) {
    if (auto kernel = symbols.lookup<tile::KernelOp>(launch.getCallee()))
      kernels.insert(kernel);
  });
  return kernels;
}

void rewriteLaunches(ModuleOp module,
                     llvm::function_ref<void(Block &)> rewrite) {
  auto launched = getLaunchedKernels(module);
  llvm::SmallSetVector<Block *, 4> blocks;
  module.walk(
      [&](host::LaunchOp launch) { blocks.insert(launch->getBlock()); });
  for (Block *block : blocks)
    rewrite(*block);
  launched.set_subtract(getLaunchedKernels(module));
  for (tile::KernelOp kernel : launched)
    kernel.erase();
}

/// Returns the sizes of a tile, or an empty list if they are unknown.
static SmallVector<OpFoldResult> getSizes(Value tile) {
  auto getMixed = [&](auto op) {
    Builder b(op.getContext());
    return getMixedValues(op.getStaticSizes(), op.getSizes(), b);
  };
  if (auto load = tile.getDefiningOp<tile::LoadOp>())
    return getMixed(load);
  if (auto broadcast = tile.getDefiningOp<tile::BroadcastOp>())
    return getMixed(broadcast);
  if (auto reduction = tile.getDefiningOp<tile::ReduceOp>()) {
    SmallVector<OpFoldResult> sizes = getSizes(reduction.getSource());
    if (!sizes.empty())
      sizes.erase(sizes.begin() + reduction.getDim());
    return sizes;
  }
  if (auto loop = tile.getDefiningOp<scf::ForOp>())
    return getSizes(loop.getTiedLoopInit(cast<OpResult>(tile))->get());
  Operation *op = tile.getDefiningOp();
  if (op && op->hasTrait<OpTrait::Elementwise>())
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        return getSizes(operand);
  return {};
}

/// Returns true if both are the same memory, or equal views of arguments of one
/// type.
static bool areAlike(Value a, Value b) {
  Operation *own = a.getDefiningOp(), *other = b.getDefiningOp();
  if (a == b || !own || !other)
    return a.getType() == b.getType();
  return isa<ViewLikeOpInterface>(own) && own->getName() == other->getName() &&
         own->getAttrDictionary() == other->getAttrDictionary() &&
         a.getType() == b.getType() &&
         llvm::equal(own->getOperands().drop_front(),
                     other->getOperands().drop_front()) &&
         areAlike(own->getOperand(0), other->getOperand(0));
}

bool haveSameWindow(tile::LoadOp load, tile::StoreOp store) {
  return areAlike(load.getMemref(), store.getMemref()) &&
         store.getMixedOffsets() == load.getMixedOffsets() &&
         store.getMemDims() == load.getMemDims() &&
         store.getSteps() == load.getSteps() &&
         store.getValue().getType() == load.getType() &&
         getSizes(store.getValue()) == getSizes(load.getResult());
}

bool isUsedElementwise(Value tile) {
  SetVector<Operation *> users;
  getForwardSlice(tile, &users);
  return llvm::all_of(users, [](Operation *user) {
    return user->hasTrait<OpTrait::Elementwise>() || isa<tile::StoreOp>(user);
  });
}

bool isSimpleKernel(tile::KernelOp kernel,
                    llvm::function_ref<bool(Operation *)> isExcluded) {
  tile::ProgramIdOp id = kernel ? kernel.getProgramId() : tile::ProgramIdOp();
  if (!id || id.getOrdered() || kernel.hasPhases() ||
      kernel->hasAttr(tile::kScheduleAttribute))
    return false;
  return !kernel
              .walk([&](Operation *op) {
                return isExcluded(op) || isa<tile::CheckOp>(op)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

} // namespace adze
