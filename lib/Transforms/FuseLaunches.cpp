// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// fuse-launches: computes the result of a launch in the programs that read it.
#include "Dialect/Tile/Transforms/Schedules.h"
#include "Launches.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_FUSELAUNCHES
#include "Transforms/Passes.h.inc"

namespace {
/// A launch and those of the other versions of its kernel: one of them has
/// programs.
using Versions = SmallVector<host::LaunchOp, 4>;

/// Two launches of which the second reads the result of the first, which is
/// the operand `between` of the second.
struct Pair {
  host::LaunchOp producer, consumer;
  unsigned between;
};

class Fusion {
public:
  Fusion(ModuleOp module, tile::CudaTargetAttr target)
      : symbols(module), target(target) {}

  /// Fuses launches of the first group with launches of the second, which
  /// follows it, where both have programs for the same sizes. Returns the
  /// number of launches that others compute now.
  unsigned fuse(Versions &writers, ArrayRef<host::LaunchOp> readers);

private:
  LogicalResult fuse(Pair pair);
  tile::KernelOp getFused(Pair pair, ArrayRef<unsigned> arguments);

  SymbolTable symbols;
  tile::CudaTargetAttr target;
  /// The fused kernels by both kernels and the arguments of the producer, or
  /// null if these have no fused form.
  DenseMap<std::pair<Operation *, Operation *>,
           SmallVector<std::pair<SmallVector<unsigned>, tile::KernelOp>, 1>>
      fused;
};

struct FuseLaunchesPass final : impl::FuseLaunchesBase<FuseLaunchesPass> {
  void runOnOperation() override;
};
} // namespace

/// Returns the launches of a block in order, in groups of versions.
static SmallVector<Versions> getVersions(Block &block) {
  SmallVector<Versions> groups;
  for (Operation &op : block) {
    auto launch = dyn_cast<host::LaunchOp>(op);
    if (!launch)
      continue;
    if (!launch->hasAttr(host::otherVersionAttr) || groups.empty())
      groups.emplace_back();
    groups.back().push_back(launch);
  }
  return groups;
}

/// Returns true if the place is a slot that only launches of the two groups
/// access: those of the first write it.
static bool isBetween(Value place, ArrayRef<host::LaunchOp> writers,
                      ArrayRef<host::LaunchOp> readers) {
  return place.getDefiningOp<host::SlotOp>() &&
         llvm::all_of(place.getUses(), [&](OpOperand &use) {
           Operation *user = use.getOwner();
           if (isa<host::SlotOp>(user)) // follows this one
             return true;
           auto launch = dyn_cast<host::LaunchOp>(user);
           if (!launch)
             return false;
           bool writes = use.getOperandNumber() + launch.getNumOutputs() >=
                         launch.getNumOperands();
           return llvm::is_contained(writes ? writers : readers, launch);
         });
}

/// Returns true for a simple kernel without scratch memory and tied arguments.
static bool canFuse(tile::KernelOp kernel) {
  return isSimpleKernel(kernel, llvm::IsaPred<tile::ScratchOp>) &&
         llvm::none_of(llvm::seq(kernel.getNumArguments()), [&](unsigned i) {
           return bool(kernel.getArgAttr(i, host::tiedAttr));
         });
}

/// Replaces the load of an argument by the value that is stored to it, if both
/// access the same window.
static LogicalResult forward(BlockArgument memory) {
  tile::StoreOp store;
  tile::LoadOp load;
  SmallVector<Value> views{memory};
  while (!views.empty()) {
    Value view = views.pop_back_val();
    for (Operation *user : view.getUsers()) {
      if (isa<ViewLikeOpInterface>(user)) {
        views.push_back(user->getResult(0));
      } else if (auto own = dyn_cast<tile::StoreOp>(user)) {
        if (store)
          return failure();
        store = own;
      } else if (auto own = dyn_cast<tile::LoadOp>(user)) {
        if (load)
          return failure();
        load = own;
      } else if (!isa<memref::DimOp>(user)) {
        return failure();
      }
    }
  }
  if (!store || !load || store->getBlock() != load->getBlock() ||
      !store->isBeforeInBlock(load) || store.getMemref() != load.getMemref() ||
      !haveSameWindow(load, store) || !isUsedElementwise(load.getResult()))
    return failure();
  load.getResult().replaceAllUsesWith(store.getValue());
  load.erase();
  store.erase();
  for (Operation *user : llvm::make_early_inc_range(memory.getUsers()))
    if (user->use_empty())
      user->erase();
  return success();
}

/// Returns the loops of the products of a kernel, which multiply tiles or add
/// products of their elements.
static SmallVector<scf::ForOp> getProductLoops(tile::KernelOp kernel) {
  SmallVector<scf::ForOp> loops;
  for (auto loop : kernel.getBody().getOps<scf::ForOp>()) {
    Block &body = *loop.getBody();
    if (llvm::hasSingleElement(body.getOps<tile::DotOp>()) ||
        !body.getOps<tile::ReduceOp>().empty())
      loops.push_back(loop);
  }
  return loops;
}

/// Computes two products in one loop, if both have the same depth.
static void fuseProducts(tile::KernelOp kernel, RewriterBase &rewriter) {
  SmallVector<scf::ForOp> loops = getProductLoops(kernel);
  if (loops.size() != 2)
    return;
  auto [first, second] = std::tuple(loops[0], loops[1]);
  if (first.getLowerBound() == second.getLowerBound() &&
      first.getUpperBound() == second.getUpperBound() &&
      first.getStep() == second.getStep() &&
      succeeded(moveOperationDependencies(rewriter, second, first)))
    fuseIndependentSiblingForLoops(second, first, rewriter);
}

/// Returns true if the kernel has an op of this kind.
template <typename Op>
static bool contains(tile::KernelOp kernel) {
  return kernel.walk([](Op) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Returns true if a kernel has no products, or a schedule of the target for
/// all of them.
static bool hasSchedule(tile::KernelOp kernel, tile::CudaTargetAttr target) {
  if (!contains<tile::DotOp>(kernel))
    return true;
  auto choices = tile::listSchedules(kernel, target, /*batchInvariant=*/false,
                                     /*most=*/1);
  tile::ScheduleAttr schedule = choices.front().schedule;
  return schedule && schedule.getGpu();
}

/// Halves the columns of a program that reduces the rows of two matrices, and
/// the warps that share its rows if they have several iterations, so that it
/// has as many loads in flight as those of one had.
static void halveBlocks(tile::KernelOp kernel) {
  auto bindings = kernel->getAttrOfType<DictionaryAttr>("tile.params");
  if (!bindings || !contains<tile::ReduceOp>(kernel))
    return;
  NamedAttrList params(bindings);
  Builder b(kernel.getContext());
  auto halve = [&](StringRef name) {
    auto size = bindings.getAs<IntegerAttr>(name);
    if (!size || size.getInt() % 2 != 0)
      return false;
    int64_t half = size.getInt() / 2;
    bool mayHalve =
        llvm::all_of(kernel.getOps<tile::ParamOp>(), [&](tile::ParamOp param) {
          return param.getName() != name || tile::mayBind(param, half);
        });
    if (mayHalve)
      params.set(name, b.getI64IntegerAttr(half));
    return mayHalve;
  };
  if (halve("BLOCK_N") && tile::countIterations(kernel) != 1)
    halve("PARTS");
  kernel->setAttr("tile.params", params.getDictionary(kernel.getContext()));
}

/// Returns the kernel of both launches. Its arguments are those of the
/// consumer, without the one between both, and before the outputs those of the
/// producer that have the number of no argument of the consumer.
tile::KernelOp Fusion::getFused(Pair pair, ArrayRef<unsigned> arguments) {
  auto producer = symbols.lookup<tile::KernelOp>(pair.producer.getCallee());
  auto consumer = symbols.lookup<tile::KernelOp>(pair.consumer.getCallee());
  if (!canFuse(producer) || !canFuse(consumer))
    return {};
  auto &known = fused[{producer, consumer}];
  for (auto &[key, kernel] : known)
    if (llvm::equal(key, arguments))
      return kernel;
  auto &entry = known.emplace_back();
  entry.first.assign(arguments.begin(), arguments.end());
  auto params = producer->getAttr("tile.params");
  if (params != consumer->getAttr("tile.params"))
    return {};

  OwningOpRef<tile::KernelOp> kernel = cast<tile::KernelOp>(consumer->clone());
  unsigned end = kernel->getNumArguments() - pair.consumer.getNumOutputs();
  IRMapping mapping;
  for (auto [i, argument] : llvm::enumerate(producer.getArguments())) {
    unsigned place =
        i + 1 == producer.getNumArguments() ? pair.between : arguments[i];
    if (place == ~0u) {
      place = end++;
      if (failed(kernel->insertArgument(place, argument.getType(),
                                        producer.getArgAttrDict(i),
                                        argument.getLoc())))
        return {};
    } else if (argument.getType() != kernel->getArgument(place).getType()) {
      return {};
    }
    mapping.map(argument, kernel->getArgument(place));
  }
  OpBuilder b = OpBuilder::atBlockBegin(&kernel->getBody().front());
  for (Operation &op : producer.getBody().front().without_terminator())
    b.clone(op, mapping);
  IRRewriter rewriter(b);
  DominanceInfo dominance(*kernel);
  eliminateCommonSubExpressions(rewriter, dominance, *kernel);
  auto ids = kernel->getBody().getOps<tile::ProgramIdOp>();
  if (!llvm::hasSingleElement(ids) ||
      failed(forward(kernel->getArgument(pair.between))) ||
      !kernel->getArgument(pair.between).use_empty() ||
      failed(kernel->eraseArgument(pair.between)))
    return {};
  fuseProducts(*kernel, rewriter);
  // Without the store, loads of both kernels from the same window are one.
  eliminateCommonSubExpressions(rewriter, dominance, *kernel);
  if (!hasSchedule(*kernel, target))
    return {};
  halveBlocks(*kernel);
  kernel->setName((producer.getName() + "_" + consumer.getName()).str());
  (*kernel)->setLoc(b.getFusedLoc({producer.getLoc(), consumer.getLoc()}));
  entry.second = kernel.release();
  symbols.insert(entry.second, std::next(Block::iterator(consumer)));
  return entry.second;
}

LogicalResult Fusion::fuse(Pair pair) {
  host::LaunchOp producer = pair.producer, consumer = pair.consumer;
  SmallVector<Value> operands(consumer.getOperands());
  size_t numInputs = operands.size() - consumer.getNumOutputs();
  SmallVector<unsigned> arguments; // of the consumer, or ~0
  SmallVector<Value> added;
  for (Value input : getInputs(producer)) {
    // Another input might be overwritten before the consumer runs, and an
    // output is, by other programs.
    size_t own = llvm::find(operands, input) - operands.begin();
    bool isOwn = own < numInputs;
    if (llvm::is_contained(ArrayRef(operands).drop_front(numInputs), input) ||
        (!isOwn && !input.getDefiningOp<host::ConstantOp>()))
      return failure();
    arguments.push_back(isOwn ? own : ~0u);
    if (!isOwn)
      added.push_back(input);
  }
  tile::KernelOp kernel = getFused(pair, arguments);
  if (!kernel)
    return failure();
  operands.insert(operands.end() - consumer.getNumOutputs(), added.begin(),
                  added.end());
  operands.erase(operands.begin() + pair.between);
  host::LaunchOp both[] = {producer, consumer};
  AffineExpr kept = host::getPlaceBytes(consumer.getOperand(pair.between)) * 2;
  consumer->setAttr(host::flopsAttr,
                    host::getBytesAttr(sumBytes(both, host::flopsAttr)));
  consumer->setAttr(
      host::bytesSavedAttr,
      host::getBytesAttr(kept + sumBytes(both, host::bytesSavedAttr)));
  consumer->setOperands(operands);
  consumer.setCallee(kernel.getName());
  consumer->setLoc(FusedLoc::get(consumer.getContext(),
                                 {producer.getLoc(), consumer.getLoc()}));
  return success();
}

unsigned Fusion::fuse(Versions &writers, ArrayRef<host::LaunchOp> readers) {
  Value place = writers.front().getOperands().back();
  if (writers.front().getNumOutputs() != 1 ||
      llvm::count(getInputs(readers.front()), place) != 1 ||
      !isBetween(place, writers, readers))
    return 0;
  unsigned numFused = 0;
  for (host::LaunchOp producer : Versions(writers))
    for (host::LaunchOp consumer : readers) {
      auto between = llvm::find(consumer.getOperands(), place);
      if (between == consumer.getOperands().end())
        continue; // fused already
      unsigned index = std::distance(consumer.operand_begin(), between);
      if (failed(fuse({producer, consumer, index})))
        continue;
      llvm::erase(writers, producer);
      producer.erase();
      ++numFused;
      break;
    }
  return numFused;
}

void FuseLaunchesPass::runOnOperation() {
  ModuleOp module = getOperation();
  tile::CudaTargetAttr target = tile::findCudaTarget(module);
  if (!target)
    return;
  Fusion fusion(module, target);
  rewriteLaunches(module, [&](Block &block) {
    SmallVector<Versions> groups = getVersions(block);
    for (size_t i = 1; i < groups.size(); ++i)
      numFused += fusion.fuse(groups[i - 1], groups[i]);
  });
}

} // namespace adze
