// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reduces graphs that show a fault.
#include "Check.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace property {

static func::FuncOp getFunction(ModuleOp module) {
  return *module.getOps<func::FuncOp>().begin();
}

/// Removes unused ops, and updates the function's type.
static void tidy(func::FuncOp function) {
  SmallVector<Operation *> ops;
  for (Operation &op : function.front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  for (unsigned i = function.getNumArguments(); i-- > 0;)
    // An argument with dynamic dims may bind a symbol.
    if (function.getArgument(i).use_empty() &&
        cast<RankedTensorType>(function.getArgument(i).getType())
            .hasStaticShape())
      (void)function.eraseArgument(i);
  Operation *terminator = function.front().getTerminator();
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(),
                                     terminator->getOperandTypes()));
}

static void addArgument(func::FuncOp function, Value value) {
  unsigned index = function.getNumArguments();
  auto tame = StringAttr::get(function.getContext(), "tame");
  auto name = StringAttr::get(function.getContext(), "graph.test_data");
  (void)function.insertArgument(
      index, value.getType(),
      DictionaryAttr::get(function.getContext(), NamedAttribute(name, tame)),
      value.getLoc());
  value.replaceAllUsesWith(function.getArgument(index));
}

namespace {
/// A way to reduce a module; returns false if it does not apply.
using Reduction = std::function<bool(func::FuncOp)>;

class Shrinker {
public:
  Shrinker(ModuleOp module, llvm::function_ref<bool(ModuleOp)> fails)
      : best(module.clone()), fails(fails) {}

  OwningOpRef<ModuleOp> run() {
    keepOneResult();
    for (bool smaller = true; smaller && trials < 150;) {
      smaller = false;
      // From the end, where removal has the largest effect.
      for (size_t i = countOps(); i-- > 0 && trials < 150;)
        smaller |= replaceOp(i);
    }
    return std::move(best);
  }

private:
  size_t countOps() {
    return llvm::range_size(getFunction(*best).front().without_terminator());
  }
  static Operation *getOp(func::FuncOp function, size_t index) {
    auto ops = function.front().without_terminator();
    return index < llvm::range_size(ops) ? &*std::next(ops.begin(), index)
                                         : nullptr;
  }

  bool attempt(const Reduction &reduction) {
    OwningOpRef<ModuleOp> candidate = best->clone();
    if (!reduction(getFunction(*candidate)))
      return false;
    tidy(getFunction(*candidate));
    ++trials;
    if (getFunction(*candidate).getNumResults() == 0 ||
        failed(verify(*candidate)) || !fails(*candidate))
      return false;
    best = std::move(candidate);
    return true;
  }

  void keepOneResult() {
    unsigned count = getFunction(*best).getNumResults();
    for (unsigned keep = 0; keep < count && count > 1; ++keep)
      if (attempt([&](func::FuncOp function) {
            Operation *terminator = function.front().getTerminator();
            terminator->setOperands(terminator->getOperand(keep));
            return true;
          }))
        return;
  }

  /// Replaces a value by an input, or by an operand of the same type.
  bool replaceOp(size_t index) {
    bool byInput = attempt([&](func::FuncOp function) {
      Operation *op = getOp(function, index);
      if (!op || op->hasTrait<OpTrait::ConstantLike>() ||
          llvm::any_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>))
        return false;
      for (Value result : op->getResults()) {
        Type element =
            cast<RankedTensorType>(result.getType()).getElementType();
        if (!isa<FloatType>(element))
          return false;
        if (!result.use_empty())
          addArgument(function, result);
      }
      return true;
    });
    if (byInput)
      return true;
    size_t operands = 0;
    if (Operation *op = getOp(getFunction(*best), index))
      operands = op->getNumOperands();
    for (size_t i = 0; i < operands; ++i)
      if (attempt([&](func::FuncOp function) {
            Operation *op = getOp(function, index);
            if (!op || op->getNumResults() != 1 || i >= op->getNumOperands() ||
                op->getOperand(i).getType() != op->getResult(0).getType())
              return false;
            op->getResult(0).replaceAllUsesWith(op->getOperand(i));
            return true;
          }))
        return true;
    return false;
  }

  OwningOpRef<ModuleOp> best;
  llvm::function_ref<bool(ModuleOp)> fails;
  unsigned trials = 0;
};
} // namespace

OwningOpRef<ModuleOp> shrink(ModuleOp module,
                             llvm::function_ref<bool(ModuleOp)> fails) {
  return Shrinker(module, fails).run();
}

} // namespace property
