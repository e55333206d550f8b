// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// check-bounds: adds checks that the windows of tile kernels begin in bounds.
#include "Dialect/Graph/IR/Checks.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Faults.h"
#include "Support/NodeName.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace adze {
#define GEN_PASS_DEF_CHECKBOUNDS
#include "Transforms/Passes.h.inc"
} // namespace adze

using namespace mlir;
using namespace adze;
using namespace adze::tile;

namespace {
/// Adds the checks of one kernel.
class BoundsChecker {
public:
  BoundsChecker(KernelOp kernel, int64_t firstFault)
      : kernel(kernel), firstFault(firstFault), b(kernel) {}

  /// Returns the messages of the faults, in the order of their numbers.
  ArrayRef<std::string> run();

private:
  template <typename AccessOp>
  void check(AccessOp access);
  void checkIndices(GatherOp gather);
  void addCheck(Value positions, Operation *access, int64_t dim,
                StringRef what);
  /// Returns the size of a dim of the memory, or null for scratch memory.
  OpFoldResult getSize(Value memory, int64_t dim);

  KernelOp kernel;
  int64_t firstFault;
  OpBuilder b;
  SmallVector<std::string> messages;
};

struct CheckBoundsPass final : adze::impl::CheckBoundsBase<CheckBoundsPass> {
  void runOnOperation() override;
};
} // namespace

/// Returns the name of the memory in messages.
static std::string nameMemory(Value memory) {
  if (auto argument = dyn_cast<BlockArgument>(memory))
    return "argument " + std::to_string(argument.getArgNumber());
  return "a view";
}

/// Returns the position of the op in its source text.
static std::string namePlace(Operation *op) {
  std::string name;
  op->getLoc()->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place)
      return WalkResult::advance();
    name = (" at " + place.getFilename().getValue() + ":" +
            Twine(place.getLine()) + ":" + Twine(place.getColumn()))
               .str();
    return WalkResult::interrupt();
  });
  return name;
}

OpFoldResult BoundsChecker::getSize(Value memory, int64_t dim) {
  auto type = cast<MemRefType>(memory.getType());
  if (!type.isDynamicDim(dim))
    return b.getIndexAttr(type.getDimSize(dim));
  if (auto view = memory.getDefiningOp<ViewOp>())
    return view.getMixedSizes()[dim];
  return memref::DimOp::create(b, memory.getLoc(), memory, dim).getResult();
}

void BoundsChecker::addCheck(Value positions, Operation *access, int64_t dim,
                             StringRef what) {
  Value memory = access->getOperand(isa<StoreOp, ScatterOp>(access) ? 1 : 0);
  Value size = getValueOrCreateConstantIndexOp(b, access->getLoc(),
                                               getSize(memory, dim));
  CheckOp::create(b, access->getLoc(), positions, size,
                  firstFault + messages.size(), /*absolute=*/true);
  messages.push_back((access->getName().getStringRef() + " of " +
                      nameMemory(memory) + namePlace(access) + ": expected " +
                      what + " of dimension " + Twine(dim) +
                      " in [{1}, {2}), but got {0}")
                         .str());
}

template <typename AccessOp>
void BoundsChecker::check(AccessOp access) {
  Value memory = access.getMemref();
  if (memory.getDefiningOp<ScratchOp>())
    return;
  b.setInsertionPoint(access);
  for (auto [dim, offset] : llvm::enumerate(access.getMixedOffsets())) {
    std::optional<int64_t> constant = getConstantIntValue(offset);
    int64_t size = cast<MemRefType>(memory.getType()).getDimSize(dim);
    bool isInside =
        constant && (*constant == 0 || (*constant > 0 && *constant < size));
    if (!isInside)
      addCheck(getValueOrCreateConstantIndexOp(b, access.getLoc(), offset),
               access, dim, "an offset");
  }
}

/// Checks the indices if no offset is added to them.
void BoundsChecker::checkIndices(GatherOp gather) {
  if (gather.getMemref().getDefiningOp<ScratchOp>() ||
      !isConstantIntValue(gather.getMixedOffsets()[gather.getAlong()], 0))
    return;
  b.setInsertionPoint(gather);
  Value indices = gather.getIndices();
  auto type = cast<RankedTensorType>(indices.getType());
  if (!type.getElementType().isIndex())
    indices = arith::IndexCastOp::create(b, gather.getLoc(),
                                         type.clone(b.getIndexType()), indices);
  addCheck(indices, gather, gather.getAlong(), "an index");
}

ArrayRef<std::string> BoundsChecker::run() {
  SmallVector<Operation *> accesses;
  kernel.walk([&](Operation *op) { accesses.push_back(op); });
  for (Operation *op : accesses)
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](LoadOp load) {
          if (!load.getPad())
            check(load);
        })
        .Case([&](GatherOp gather) {
          if (gather.getPad())
            return;
          check(gather);
          checkIndices(gather);
        })
        .Case<StoreOp, ScatterOp>([&](auto access) { check(access); });
  return messages;
}

/// Appends the faults to those of a launch.
static void addFaults(host::LaunchOp launch, ArrayRef<std::string> messages) {
  OpBuilder b(launch);
  SmallVector<Attribute> faults;
  if (auto checks = launch->getAttrOfType<ArrayAttr>(graph::checksAttr))
    llvm::append_range(faults, checks);
  std::string nodes = llvm::join(getNodeNames(launch.getLoc()), "\n");
  if (nodes.empty())
    nodes = launch.getCallee().str();
  for (const std::string &message : messages)
    faults.push_back(
        b.getArrayAttr({b.getStringAttr(nodes), b.getStringAttr(message)}));
  launch->setAttr(graph::checksAttr, b.getArrayAttr(faults));
}

void CheckBoundsPass::runOnOperation() {
  llvm::StringMap<SmallVector<host::LaunchOp>> launches;
  getOperation().walk([&](host::LaunchOp launch) {
    launches[launch.getCallee()].push_back(launch);
  });
  for (auto kernel : getOperation().getOps<KernelOp>()) {
    ArrayRef<host::LaunchOp> own = launches[kernel.getName()];
    int64_t firstFault = 0;
    for (host::LaunchOp launch : own)
      if (auto checks = launch->getAttrOfType<ArrayAttr>(graph::checksAttr))
        firstFault = checks.size();
    BoundsChecker checker(kernel, firstFault);
    ArrayRef<std::string> messages = checker.run();
    numChecks += messages.size();
    for (host::LaunchOp launch : own)
      if (!messages.empty())
        addFaults(launch, messages);
  }
}
