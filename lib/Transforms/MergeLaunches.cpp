// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// merge-launches: runs independent small kernels as the programs of one launch.
#include "Dialect/Tile/IR/Targets.h"
#include "Launches.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_MERGELAUNCHES
#include "Transforms/Passes.h.inc"

namespace {
/// Adjacent launches that are independent of each other.
using Group = SmallVector<host::LaunchOp, 4>;

/// The arguments of a merged kernel: the inputs of all launches, each once,
/// then their outputs.
struct Arguments {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  /// For each launch, the argument for each of its operands.
  SmallVector<SmallVector<unsigned>> numbers;
};

class Merger {
public:
  explicit Merger(ModuleOp module) : symbols(module) {}

  /// Returns true for a launch of a kernel whose programs are short, run in any
  /// order, and load and store tiles without a loop or a reduction.
  bool isSmall(host::LaunchOp launch);
  /// Replaces the launches of the group by one.
  void merge(Group &group);

private:
  Arguments makeArguments(Group &group);
  tile::KernelOp getMerged(Group &group, const Arguments &arguments);

  SymbolTable symbols;
  /// The merged kernels by the names of the kernels and the numbers of the
  /// arguments.
  llvm::StringMap<tile::KernelOp, llvm::MallocAllocator> merged;
};

struct MergeLaunchesPass final : impl::MergeLaunchesBase<MergeLaunchesPass> {
  void runOnOperation() override;
};
} // namespace

/// Returns true if the place or a view of it is an operand of `launch` or of
/// a later op of its block.
static bool isUsedFrom(Value place, host::LaunchOp launch) {
  return llvm::any_of(place.getUsers(), [&](Operation *user) {
    if (isa<host::ViewOp>(user))
      return isUsedFrom(user->getResult(0), launch);
    Operation *own = launch->getBlock()->findAncestorOpInBlock(*user);
    return own && isa<host::LaunchOp>(user) && !own->isBeforeInBlock(launch);
  });
}

/// Returns true for an argument of the host program. The run time refuses
/// arguments that overlap, except for states.
static bool isCallers(Value place) {
  auto argument = dyn_cast<BlockArgument>(place);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Returns true if a place of an earlier launch and one of a later launch may
/// share memory. Slots of which one lives where the other is used do not.
static bool mayOverlap(Value earlier, Value later, host::LaunchOp launch) {
  Value first = getRoot(earlier), second = getRoot(later);
  if (first == second)
    return true;
  if (isConstant(first) || isConstant(second))
    return false;
  auto slot = first.getDefiningOp<host::SlotOp>();
  auto other = second.getDefiningOp<host::SlotOp>();
  if (slot && other)
    return slot.getBox() || other.getBox() || !isUsedFrom(first, launch);
  if (slot || other)
    return false;
  if (isCallers(first) && isCallers(second))
    return false;
  auto state = first.getDefiningOp<host::StateOp>();
  auto otherState = second.getDefiningOp<host::StateOp>();
  return !state || !otherState || state.getState() == otherState.getState();
}

/// Returns true if `later` neither reads what `earlier` writes, nor writes what
/// it accesses.
static bool isIndependent(host::LaunchOp earlier, host::LaunchOp later) {
  auto overlap = [&](ValueRange a, ValueRange b) {
    return llvm::any_of(a, [&](Value x) {
      return llvm::any_of(b, [&](Value y) { return mayOverlap(x, y, later); });
    });
  };
  return !overlap(getOutputs(earlier), later.getOperands()) &&
         !overlap(getInputs(earlier), getOutputs(later));
}

bool Merger::isSmall(host::LaunchOp launch) {
  auto kernel = symbols.lookup<tile::KernelOp>(launch.getCallee());
  bool isSimple = isSimpleKernel(kernel, [](Operation *op) {
    return isa<tile::DotOp, tile::ReduceOp, tile::ScratchOp, scf::ForOp,
               scf::WhileOp>(op);
  });
  if (!isSimple || llvm::any_of(kernel->getAttrs(), [](NamedAttribute attr) {
        return attr.getName().getValue().starts_with("tile.params.");
      }))
    return false;
  tile::ProgramIdOp id = kernel.getProgramId();
  return llvm::all_of(*id->getBlock(), [&](Operation &op) {
    return !op.isBeforeInBlock(id) || isMemoryEffectFree(&op);
  });
}

Arguments Merger::makeArguments(Group &group) {
  Arguments result;
  result.numbers.resize(group.size());
  auto append = [&](Value operand, Type type) {
    result.operands.push_back(operand);
    result.types.push_back(type);
    return result.operands.size() - 1;
  };
  for (auto [launch, numbers] : llvm::zip(group, result.numbers)) {
    auto kernel = symbols.lookup<tile::KernelOp>(launch.getCallee());
    for (auto [input, argument] :
         llvm::zip(getInputs(launch), kernel.getArguments())) {
      size_t number = 0, end = result.operands.size();
      while (number < end && (result.operands[number] != input ||
                              result.types[number] != argument.getType()))
        ++number;
      numbers.push_back(number < end ? number
                                     : append(input, argument.getType()));
    }
  }
  for (auto [launch, numbers] : llvm::zip(group, result.numbers)) {
    auto kernel = symbols.lookup<tile::KernelOp>(launch.getCallee());
    auto outputs = kernel.getArguments().take_back(launch.getNumOutputs());
    for (auto [output, argument] : llvm::zip(getOutputs(launch), outputs))
      numbers.push_back(append(output, argument.getType()));
  }
  return result;
}

/// Clones the ops of a kernel after its program id, for the program with this
/// number.
static void clonePrograms(OpBuilder &b, tile::ProgramIdOp id, Value number,
                          IRMapping &mapping) {
  Location loc = id.getLoc();
  for (auto [size, coordinate] : llvm::zip(id.getGrid(), id.getIds())) {
    Value own = mapping.lookup(size);
    bool isLast = coordinate == id.getIds().back();
    mapping.map(coordinate,
                isLast ? number : arith::RemUIOp::create(b, loc, number, own));
    if (!isLast)
      number = arith::DivUIOp::create(b, loc, number, own);
  }
  for (Operation *op = id->getNextNode(); op && !isa<tile::ReturnOp>(op);
       op = op->getNextNode())
    b.clone(*op, mapping);
}

/// Returns a copy of the kernel whose parameters have names of their own, and
/// appends their bindings to `params`.
static OwningOpRef<tile::KernelOp>
copyWithOwnParams(tile::KernelOp kernel, size_t number,
                  SmallVectorImpl<NamedAttribute> &params) {
  OwningOpRef<tile::KernelOp> copy = kernel.clone();
  std::string suffix = "_" + std::to_string(number);
  Builder b(kernel.getContext());
  if (auto own = kernel->getAttrOfType<DictionaryAttr>("tile.params"))
    for (NamedAttribute param : own)
      params.push_back(b.getNamedAttr(
          (param.getName().getValue() + suffix).str(), param.getValue()));
  copy->walk([&](tile::ParamOp param) {
    param.setName((param.getName() + suffix).str());
  });
  return copy;
}

tile::KernelOp Merger::getMerged(Group &group, const Arguments &arguments) {
  std::string name, key;
  llvm::raw_string_ostream keys(key);
  SmallVector<tile::KernelOp> kernels;
  for (auto [launch, numbers] : llvm::zip(group, arguments.numbers)) {
    kernels.push_back(symbols.lookup<tile::KernelOp>(launch.getCallee()));
    name += (name.empty() ? "" : "_") + launch.getCallee().str();
    keys << launch.getCallee() << " ";
    llvm::interleaveComma(numbers, keys);
    keys << ";";
  }
  tile::KernelOp &result = merged[key];
  if (result)
    return result;

  SmallVector<DictionaryAttr> attrs(arguments.operands.size());
  for (auto [kernel, numbers] : llvm::zip(kernels, arguments.numbers))
    for (auto [i, number] : llvm::enumerate(numbers)) {
      NamedAttrList list(kernel.getArgAttrDict(i));
      list.erase(host::tiedAttr);
      attrs[number] = list.getDictionary(kernel.getContext());
    }
  OpBuilder b(kernels.front().getContext());
  SmallVector<Location> locs;
  for (tile::KernelOp kernel : kernels)
    locs.push_back(kernel.getLoc());
  Location loc = b.getFusedLoc(locs);
  b.setInsertionPointAfter(kernels.back());
  result =
      cast<tile::KernelOp>(b.insert(kernels.front()->cloneWithoutRegions()));
  result->setLoc(loc);
  result.setFunctionType(b.getFunctionType(arguments.types, {}));
  result.setAllArgAttrs(attrs);
  Block *block = b.createBlock(&result.getBody());
  for (Type type : arguments.types)
    block->addArgument(type, loc);

  // The sizes of the grids come first, then the programs.
  std::vector<OwningOpRef<tile::KernelOp>> parts;
  SmallVector<IRMapping> mappings(kernels.size());
  SmallVector<NamedAttribute> params;
  SmallVector<Value> begins{arith::ConstantIndexOp::create(b, loc, 0)};
  for (auto [k, numbers] : llvm::enumerate(arguments.numbers)) {
    parts.push_back(copyWithOwnParams(kernels[k], k, params));
    IRMapping &mapping = mappings[k];
    for (auto [argument, number] :
         llvm::zip(parts.back()->getArguments(), numbers))
      mapping.map(argument, block->getArgument(number));
    tile::ProgramIdOp id = parts.back()->getProgramId();
    for (Operation *op = &id->getBlock()->front(); op != id;
         op = op->getNextNode())
      b.clone(*op, mapping);
    Value count = mapping.lookup(id.getGrid().front());
    for (Value size : id.getGrid().drop_front())
      count = arith::MulIOp::create(b, loc, count, mapping.lookup(size));
    begins.push_back(arith::AddIOp::create(b, loc, begins.back(), count));
  }
  Value number =
      tile::ProgramIdOp::create(b, loc, b.getIndexType(), begins.back(),
                                /*ordered=*/false)
          .getIds()
          .front();
  for (auto [k, part] : llvm::enumerate(parts)) {
    auto compare = [&](arith::CmpIPredicate predicate, Value bound) {
      return arith::CmpIOp::create(b, loc, predicate, number, bound);
    };
    Value isOwn = arith::AndIOp::create(
        b, loc, compare(arith::CmpIPredicate::uge, begins[k]),
        compare(arith::CmpIPredicate::ult, begins[k + 1]));
    auto branch = scf::IfOp::create(b, loc, isOwn, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value own = arith::SubIOp::create(b, loc, number, begins[k]);
    clonePrograms(b, part->getProgramId(), own, mappings[k]);
  }
  tile::ReturnOp::create(b, loc);
  result->setAttr("tile.params", b.getDictionaryAttr(params));
  result.setName(name);
  symbols.insert(result);
  return result;
}

void Merger::merge(Group &group) {
  Arguments arguments = makeArguments(group);
  tile::KernelOp kernel = getMerged(group, arguments);
  unsigned numOutputs = 0;
  SmallVector<Location> locs;
  for (host::LaunchOp launch : group) {
    numOutputs += launch.getNumOutputs();
    locs.push_back(launch.getLoc());
  }
  OpBuilder b(group.back());
  auto launch = host::LaunchOp::create(b, b.getFusedLoc(locs),
                                       FlatSymbolRefAttr::get(kernel),
                                       TypeRange(), arguments.operands);
  launch.setNumOutputs(numOutputs);
  auto set = [&](StringRef name,
                 function_ref<ValueRange(host::LaunchOp)> places) {
    launch->setAttr(name, host::getBytesAttr(sumBytes(group, name, places)));
  };
  set(host::flopsAttr, {});
  set(host::bytesSavedAttr, {});
  set(host::bytesReadAttr, getInputs);
  set(host::bytesWrittenAttr, getOutputs);
  for (host::LaunchOp old : group)
    old.erase();
}

/// Returns the largest groups of adjacent launches of a block that can run at
/// once.
static SmallVector<Group> findGroups(Block &block, Merger &merger) {
  constexpr size_t mostLaunches = 8;
  SmallVector<Group> groups(1);
  for (Operation &op : block) {
    if (isa<host::ViewOp, host::StateOp, host::ConstantOp, host::SlotOp>(op))
      continue;
    auto launch = dyn_cast<host::LaunchOp>(op);
    bool canMerge = launch && !launch->hasAttr(host::otherVersionAttr) &&
                    merger.isSmall(launch);
    if (!groups.back().empty() &&
        (!canMerge || groups.back().size() == mostLaunches ||
         !llvm::all_of(groups.back(), [&](host::LaunchOp earlier) {
           return isIndependent(earlier, launch);
         })))
      groups.emplace_back();
    if (canMerge)
      groups.back().push_back(launch);
  }
  return groups;
}

void MergeLaunchesPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (!tile::findCudaTarget(module))
    return;
  Merger merger(module);
  rewriteLaunches(module, [&](Block &block) {
    for (Group &group : findGroups(block, merger))
      if (group.size() > 1) {
        numMerged += group.size() - 1;
        merger.merge(group);
      }
  });
}

} // namespace adze
