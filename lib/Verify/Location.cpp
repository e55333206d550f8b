// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Locates the part of a model that a pass compiled wrongly.
#include "Location.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Host/IR/Host.h"
#include "Support/NodeName.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace adze::verify {

/// Returns the function that is the program, which is neither a kernel nor a
/// part of one.
static func::FuncOp getProgram(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate() && !function->hasAttr("adze.kernel"))
      return function;
  return {};
}

static Suspect makeSuspect(StringRef what, Location loc) {
  Suspect suspect{what.str(), {}};
  for (StringRef node : getNodeNames(loc))
    suspect.nodes.push_back(node.str());
  return suspect;
}

static Suspect makeSuspect(Operation *op) {
  if (auto launch = dyn_cast<host::LaunchOp>(op))
    return makeSuspect(launch.getCallee(), op->getLoc());
  return makeSuspect(op->getName().getStringRef(), op->getLoc());
}

/// Returns the kernel with the ONNX nodes of its first launch.
static Suspect makeSuspect(ModuleOp module, StringRef kernel) {
  Suspect suspect{kernel.str(), {}};
  module.walk([&](host::LaunchOp launch) {
    if (launch.getCallee() != kernel)
      return WalkResult::advance();
    suspect = makeSuspect(launch);
    return WalkResult::interrupt();
  });
  return suspect;
}

//===----------------------------------------------------------------------===//
// Ops of a graph
//===----------------------------------------------------------------------===//

namespace {
/// Hashes values by the computations that produce them, regardless of names.
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

/// Returns the ops of `after` that `before` does not have, but whose operands
/// it has.
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

/// Returns the last value of the same ONNX node and type in the other graph.
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

/// Returns the module with the value as its only result.
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

Suspect locateOp(const Culprit &culprit, const Questions &questions) {
  func::FuncOp before = getProgram(*culprit.before),
               after = getProgram(*culprit.after);
  if (!before || !after)
    return {};
  constexpr size_t most = 32; // the largest number of candidates that are run
  SmallVector<Operation *> changed = getChanged(before, after);
  for (Operation *op : ArrayRef(changed).take_front(most)) {
    Value other = findCounterpart(op, before);
    if (other && questions.differ(*extract(*culprit.before, other),
                                  *extract(*culprit.after, op->getResult(0))))
      return makeSuspect(op);
  }
  return changed.empty() ? Suspect() : makeSuspect(changed.front());
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static bool isKernel(Operation &op, func::FuncOp program) {
  return isa<SymbolOpInterface>(op) && &op != program.getOperation();
}

/// Returns the kernels that are in both modules and differ.
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

/// Returns `after` with its kernels replaced by those of `before`.
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

/// Returns the first launch of the program that changed, or the launch that
/// reads the result of the first op that changed.
static Suspect locateLaunch(ModuleOp before, ModuleOp after) {
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
    // A removed launch is in the old program only.
    bool isGone =
        old.front().getOperations().size() > now.front().getOperations().size();
    Operation *found = isGone && it != old.front().end() ? &*it : &op;
    for (Operation *user : found->getUsers())
      if (isa<host::LaunchOp>(user) && !isa<host::LaunchOp>(found))
        found = user;
    return makeSuspect(found);
  }
  return {};
}

/// Returns the smallest index of `count` items such that `isBad` holds for the
/// items up to it.
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

Suspect locateKernel(const Culprit &culprit, const Questions &questions) {
  ModuleOp before = *culprit.before, after = *culprit.after;
  SmallVector<StringRef> changed = getChangedKernels(before, after);
  // With all kernels replaced by the old ones, only the program differs.
  bool isProgram =
      changed.empty() || questions.differs(*mix(before, after, changed));
  auto index =
      isProgram ? std::nullopt
                : findFirst(changed.size(), [&](size_t numItems) {
                    return questions.differs(*mix(
                        before, after, ArrayRef(changed).drop_front(numItems)));
                  });
  return index ? makeSuspect(after, changed[*index])
               : locateLaunch(before, after);
}

Suspect locateCode(const Culprit &culprit, const CompileOptions &options,
                   Judge judge, ModuleOp program) {
  std::vector<std::string> names;
  program.walk([&](host::LaunchOp launch) {
    if (!llvm::is_contained(names, launch.getCallee()))
      names.push_back(launch.getCallee().str());
  });
  auto index = findFirst(names.size(), [&](size_t numItems) {
    // Without the pass that lowers tiles, kernels are plain.
    bool isLowering = culprit.pass == "convert-tile-to-vector";
    PassLimit limit(isLowering ? Stage::Host : Stage::Kernel);
    if (!isLowering)
      limit.numPasses = culprit.number + 1;
    limit.hasKernels = true;
    limit.kernels.insert(names.begin(), names.begin() + ptrdiff_t(numItems));
    CompileOptions copy = options;
    copy.limit = &limit;
    return judge(copy) == Verdict::Different;
  });
  return index ? makeSuspect(program, names[*index]) : Suspect();
}

} // namespace adze::verify
