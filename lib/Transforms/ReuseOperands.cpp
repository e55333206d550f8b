// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// reuse-operands: stores results of launches in the memory of operands.
#include "Dialect/Tile/IR/Targets.h"
#include "Launches.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_REUSEOPERANDS
#include "Transforms/Passes.h.inc"

/// Returns the argument of which a memref is a view.
static BlockArgument getArgument(Value memref) {
  return dyn_cast<BlockArgument>(
      memref::skipViewLikeOps(cast<MemrefValue>(memref)));
}

/// Returns true if the argument or a view of it has other uses than this one
/// and sizes.
static bool hasOtherUses(Value memref, Operation *access) {
  return llvm::any_of(memref.getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return hasOtherUses(user->getResult(0), access);
    return user != access && !isa<memref::DimOp>(user);
  });
}

/// Returns the numbers of the arguments whose memory the result of the kernel,
/// its last argument, may have. Each element of them is read before it is
/// written, as it is a part of what is computed for it.
static SmallVector<unsigned> findReusable(tile::KernelOp kernel) {
  tile::StoreOp store;
  unsigned stores = 0;
  kernel.walk([&](tile::StoreOp op) {
    store = op;
    ++stores;
  });
  bool isSimple = isSimpleKernel(kernel, [](Operation *op) {
    return isa<tile::ScratchOp, tile::ViewOp>(op);
  });
  if (!isSimple || stores != 1 || store->getParentOp() != kernel)
    return {};
  BlockArgument result = getArgument(store.getMemref());
  unsigned last = kernel.getNumArguments() - 1;
  if (!result || result.getArgNumber() != last ||
      kernel.getArgAttr(last, host::tiedAttr) || hasOtherUses(result, store))
    return {};
  SmallVector<unsigned> found;
  for (auto load : kernel.getBody().getOps<tile::LoadOp>()) {
    BlockArgument argument = getArgument(load.getMemref());
    if (argument && argument != result && haveSameWindow(load, store) &&
        !hasOtherUses(argument, load) && isUsedElementwise(load.getResult()))
      found.push_back(argument.getArgNumber());
  }
  return found;
}

/// Returns true if the place is a slot of known size that only launches of its
/// block access.
static bool isPlainSlot(Value place) {
  auto slot = place.getDefiningOp<host::SlotOp>();
  return slot && !slot.getBox() && !slot.getOffset() &&
         slot.getAfter().empty() &&
         llvm::all_of(slot->getUsers(), [&](Operation *user) {
           return isa<host::LaunchOp>(user) &&
                  user->getBlock() == slot->getBlock();
         });
}

/// Returns true if the launch is the last one that accesses the slot, or, with
/// `isFirst`, the first one.
static bool isAtEnd(host::LaunchOp launch, Value slot, bool isFirst) {
  return llvm::all_of(slot.getUsers(), [&](Operation *user) {
    return user == launch || launch->isBeforeInBlock(user) == isFirst;
  });
}

namespace {
struct ReuseOperandsPass final : impl::ReuseOperandsBase<ReuseOperandsPass> {
  void runOnOperation() override {
    if (tile::findCudaTarget(getOperation()))
      return;
    SymbolTable symbols(getOperation());
    SmallVector<host::LaunchOp> launches;
    getOperation().walk(
        [&](host::LaunchOp launch) { launches.push_back(launch); });
    DenseMap<Operation *, SmallVector<unsigned>> known;
    for (host::LaunchOp launch : launches) {
      auto kernel = symbols.lookup<tile::KernelOp>(launch.getCallee());
      if (!kernel || launch.getNumOutputs() != 1)
        continue;
      auto [entry, isNew] = known.try_emplace(kernel);
      if (isNew)
        entry->second = findReusable(kernel);
      reuse(launch, kernel, entry->second);
    }
  }

private:
  /// Stores the result of the launch in one of these operands, if possible.
  void reuse(host::LaunchOp launch, tile::KernelOp kernel,
             ArrayRef<unsigned> operands) {
    Value result = getOutputs(launch).front();
    if (!isPlainSlot(result) || !isAtEnd(launch, result, /*isFirst=*/true))
      return;
    for (unsigned number : operands) {
      Value operand = launch.getOperand(number);
      if (operand == result || operand.getType() != result.getType() ||
          !isPlainSlot(operand) ||
          llvm::count(launch.getOperands(), operand) != 1 ||
          result.getParentBlock() != operand.getParentBlock() ||
          !isAtEnd(launch, operand, /*isFirst=*/false) ||
          host::getPlaceBytes(operand) != host::getPlaceBytes(result))
        continue;
      unsigned last = kernel.getNumArguments() - 1;
      auto reused =
          kernel.getArgAttrOfType<IntegerAttr>(last, host::inPlaceAttr);
      if (reused && reused.getInt() != number)
        continue;
      kernel.setArgAttr(last, host::inPlaceAttr,
                        Builder(kernel.getContext()).getI64IntegerAttr(number));
      Operation *slot = result.getDefiningOp();
      result.replaceAllUsesWith(operand);
      slot->erase();
      ++numReused;
      return;
    }
  }
};
} // namespace

} // namespace adze
