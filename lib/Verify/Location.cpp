// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Where in a model a pass went wrong.
#include "Location.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Host/IR/Host.h"
#include "Support/NodeName.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace adze::verify {

/// The function that is the program: not a kernel, and no part of one.
static func::FuncOp getProgram(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate() && !function->hasAttr("adze.kernel"))
      return function;
  return {};
}

static Place makePlace(StringRef what, Location loc) {
  Place place{what.str(), {}};
  for (StringRef node : getNodeNames(loc))
    place.nodes.push_back(node.str());
  return place;
}

static Place makePlace(Operation *op) {
  if (auto launch = dyn_cast<host::LaunchOp>(op))
    return makePlace(launch.getCallee(), op->getLoc());
  return makePlace(op->getName().getStringRef(), op->getLoc());
}

/// The kernel with the nodes of its first launch.
static Place makePlace(ModuleOp module, StringRef kernel) {
  Place place{kernel.str(), {}};
  module.walk([&](host::LaunchOp launch) {
    if (launch.getCallee() != kernel)
      return WalkResult::advance();
    place = makePlace(launch);
    return WalkResult::interrupt();
  });
  return place;
}

//===----------------------------------------------------------------------===//
// Ops of a graph
//===----------------------------------------------------------------------===//

namespace {
/// Values by what computes them, whatever they are called.
class Hashes {
public:
  explicit Hashes(func::FuncOp function) { addBlock(function.front()); }

  llvm::hash_code get(Value value) const { return values.lookup(value); }
  bool contains(llvm::hash_code hash) const { return all.contains(hash); }

private:
  llvm::hash_code addBlock(Block &block) {
    for (BlockArgument argument : block.getArguments())
      values[argument] =
          llvm::hash_combine(argument.getArgNumber(), argument.getType());
    llvm::hash_code last = 0;
    for (Operation &op : block)
      last = llvm::hash_combine(last, addOp(op));
    return last;
  }
  llvm::hash_code addOp(Operation &op) {
    llvm::hash_code hash = llvm::hash_combine(op.getName().getAsOpaquePointer(),
                                              op.getAttrDictionary());
    for (Value operand : op.getOperands())
      hash = llvm::hash_combine(hash, values.lookup(operand));
    for (Region &region : op.getRegions())
      for (Block &block : region)
        hash = llvm::hash_combine(hash, addBlock(block));
    for (OpResult result : op.getResults()) {
      values[result] =
          llvm::hash_combine(hash, result.getResultNumber(), result.getType());
      all.insert(values[result]);
    }
    return hash;
  }

  llvm::DenseMap<Value, llvm::hash_code> values;
  llvm::DenseSet<size_t> all;
};
} // namespace

/// Ops of `after` that `before` has not, of operands that it has.
static SmallVector<Operation *> getChanged(func::FuncOp before,
                                           func::FuncOp after) {
  Hashes old(before), now(after);
  SmallVector<Operation *> changed;
  auto isOld = [&](Value value) {
    return isa<BlockArgument>(value) || old.contains(now.get(value)) ||
           isa_and_present<graph::ConstantOp>(value.getDefiningOp());
  };
  for (Operation &op : after.front().without_terminator())
    if (op.getNumResults() && !isa<graph::ConstantOp>(op) &&
        !llvm::all_of(op.getResults(), isOld) &&
        llvm::all_of(op.getOperands(), isOld))
      changed.push_back(&op);
  return changed;
}

/// The value of the same ONNX node and type in the other graph: its last one.
static Value findCounterpart(Operation *op, func::FuncOp other) {
  StringRef node = getNodeName(op->getLoc());
  Value found;
  if (!node.empty())
    for (Operation &candidate : other.front().without_terminator())
      if (getNodeName(candidate.getLoc()) == node)
        for (Value result : candidate.getResults())
          if (result.getType() == op->getResult(0).getType())
            found = result;
  return found;
}

/// The module with the value as its only result.
static OwningOpRef<ModuleOp> extract(ModuleOp module, Value value) {
  IRMapping mapping;
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(mapping));
  Value result = mapping.lookup(value);
  func::FuncOp function = getProgram(*copy);
  auto returned = cast<func::ReturnOp>(function.front().getTerminator());
  returned->setOperands(result);
  function.setFunctionType(FunctionType::get(
      copy->getContext(), function.getArgumentTypes(), result.getType()));
  auto name =
      NamedAttribute(StringAttr::get(copy->getContext(),
                                     graph::GraphDialect::getNameAttrName()),
                     StringAttr::get(copy->getContext(), "value"));
  function.setAllResultAttrs(
      ArrayRef(DictionaryAttr::get(copy->getContext(), name)));
  return copy;
}

Place locateOp(const Culprit &culprit, const Questions &questions) {
  func::FuncOp before = getProgram(*culprit.before),
               after = getProgram(*culprit.after);
  if (!before || !after)
    return {};
  constexpr size_t most = 32; // of those, by running them
  SmallVector<Operation *> changed = getChanged(before, after);
  for (Operation *op : ArrayRef(changed).take_front(most)) {
    Value other = findCounterpart(op, before);
    if (other && questions.differ(*extract(*culprit.before, other),
                                  *extract(*culprit.after, op->getResult(0))))
      return makePlace(op);
  }
  return changed.empty() ? Place() : makePlace(changed.front());
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static bool isKernel(Operation &op, func::FuncOp program) {
  return isa<SymbolOpInterface>(op) && &op != program.getOperation();
}

/// The kernels that are in both modules and not the same.
static SmallVector<StringRef> getChangedKernels(ModuleOp before,
                                                ModuleOp after) {
  SmallVector<StringRef> names;
  func::FuncOp program = getProgram(after);
  for (Operation &op : *after.getBody()) {
    if (!isKernel(op, program))
      continue;
    StringRef name = SymbolTable::getSymbolName(&op).getValue();
    Operation *old = before.lookupSymbol(name);
    if (old && !OperationEquivalence::isEquivalentTo(
                   old, &op, OperationEquivalence::IgnoreLocations))
      names.push_back(name);
  }
  return names;
}

/// `after` with the kernels as they were before.
static OwningOpRef<ModuleOp> mix(ModuleOp before, ModuleOp after,
                                 ArrayRef<StringRef> kernels) {
  OwningOpRef<ModuleOp> mixed = after.clone();
  for (StringRef name : kernels) {
    Operation *now = mixed->lookupSymbol(name);
    OpBuilder(now).clone(*before.lookupSymbol(name));
    now->erase();
  }
  return mixed;
}

/// The op of the program that is not as before; the launch that reads what it
/// makes, where it is none itself.
static Place locateLaunch(ModuleOp before, ModuleOp after) {
  func::FuncOp old = getProgram(before), now = getProgram(after);
  if (!old || !now)
    return {};
  AsmState oldState(old), nowState(now);
  auto print = [](Operation &op, AsmState &state) {
    std::string text;
    llvm::raw_string_ostream os(text);
    op.print(os, state);
    return text;
  };
  auto it = old.front().begin();
  for (Operation &op : now.front()) {
    if (it != old.front().end() &&
        print(*it, oldState) == print(op, nowState)) {
      ++it;
      continue;
    }
    // One that is gone is in the old program only.
    bool isGone =
        old.front().getOperations().size() > now.front().getOperations().size();
    Operation *found = isGone && it != old.front().end() ? &*it : &op;
    for (Operation *user : found->getUsers())
      if (isa<host::LaunchOp>(user) && !isa<host::LaunchOp>(found))
        found = user;
    return makePlace(found);
  }
  return {};
}

/// The first of `count` items for which `isBad` holds of it and those before
/// it.
static std::optional<size_t>
findFirst(size_t count, llvm::function_ref<bool(size_t numItems)> isBad) {
  if (count == 0 || !isBad(count))
    return std::nullopt;
  size_t good = 0, bad = count;
  while (bad - good > 1) {
    size_t middle = good + (bad - good) / 2;
    (isBad(middle) ? bad : good) = middle;
  }
  return bad - 1;
}

Place locateKernel(const Culprit &culprit, const Questions &questions) {
  ModuleOp before = *culprit.before, after = *culprit.after;
  SmallVector<StringRef> changed = getChangedKernels(before, after);
  // With all kernels as before, only the program is left.
  bool isProgram =
      changed.empty() || questions.differs(*mix(before, after, changed));
  auto index =
      isProgram ? std::nullopt
                : findFirst(changed.size(), [&](size_t numItems) {
                    return questions.differs(*mix(
                        before, after, ArrayRef(changed).drop_front(numItems)));
                  });
  return index ? makePlace(after, changed[*index])
               : locateLaunch(before, after);
}

Place locateCode(const Culprit &culprit, const CompileOptions &options,
                 Judge judge, ModuleOp program) {
  std::vector<std::string> names;
  program.walk([&](host::LaunchOp launch) {
    if (!llvm::is_contained(names, launch.getCallee()))
      names.push_back(launch.getCallee().str());
  });
  auto index = findFirst(names.size(), [&](size_t numItems) {
    // Without the pass that lowers tiles, kernels are plain.
    bool isLowering = culprit.pass == "convert-tile-to-vector";
    PassCut cut(isLowering ? Stage::Host : Stage::Kernel);
    if (!isLowering)
      cut.numPasses = culprit.number + 1;
    cut.hasKernels = true;
    cut.kernels.insert(names.begin(), names.begin() + ptrdiff_t(numItems));
    CompileOptions copy = options;
    copy.cut = &cut;
    return judge(copy) == Verdict::Different;
  });
  return index ? makePlace(program, names[*index]) : Place();
}

} // namespace adze::verify
