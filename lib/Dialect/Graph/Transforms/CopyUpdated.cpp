// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies of the tensors of which launches replace elements. On a device, all
// updates of a launch run at the same time as each other, so that they cannot
// wait for a copy in the same launch.
#include "CopyUpdated.h"
#include "Dialect/Graph/IR/Insertions.h"
#include "Dialect/Graph/Transforms/Updates.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// Creates kernels and launches that copy a tensor, or store a constant.
class Copies {
public:
  explicit Copies(ModuleOp module) : symbols(module) {}

  void copyUpdated(func::FuncOp kernel, ArrayRef<host::LaunchOp> launches);

private:
  void addOperand(func::FuncOp kernel, ArrayRef<host::LaunchOp> launches,
                  Value updated, Operation *scatter);
  func::FuncOp createKernel(func::FuncOp kernel, Value source);
  Value launch(func::FuncOp copy, host::LaunchOp before, Value source);

  SymbolTable symbols;
};

} // namespace

/// Creates a kernel before `kernel` that returns the source: its argument, or a
/// constant.
func::FuncOp Copies::createKernel(func::FuncOp kernel, Value source) {
  SmallVector<Type> inputs;
  if (isa<BlockArgument>(source))
    inputs.push_back(source.getType());
  auto copy = func::FuncOp::create(
      kernel.getLoc(), (kernel.getName() + "_copy").str(),
      FunctionType::get(kernel.getContext(), inputs, source.getType()));
  copy.setPrivate();
  copy->setAttr(host::kernelAttr, UnitAttr::get(kernel.getContext()));
  symbols.insert(copy, Block::iterator(kernel));
  Block *body = copy.addEntryBlock();
  OpBuilder b = OpBuilder::atBlockEnd(body);
  ValueRange results = body->getArguments();
  if (inputs.empty())
    results = b.clone(*source.getDefiningOp())->getResults();
  func::ReturnOp::create(b, kernel.getLoc(), results);
  return copy;
}

/// Launches the copy of the source: the operand of `before` that it is, or a
/// constant of the kernel.
Value Copies::launch(func::FuncOp copy, host::LaunchOp before, Value source) {
  OpBuilder b(before);
  SmallVector<Value> inputs;
  if (auto argument = dyn_cast<BlockArgument>(source))
    inputs.push_back(before.getOperand(argument.getArgNumber()));
  return host::LaunchOp::create(b, before.getLoc(),
                                FlatSymbolRefAttr::get(copy.getNameAttr()),
                                copy.getResultTypes(), inputs)
      .getResult(0);
}

/// Adds an argument of the kernel for the tensor of which the scatter replaces
/// elements: one that is read elsewhere, too, or a constant.
void Copies::addOperand(func::FuncOp kernel, ArrayRef<host::LaunchOp> launches,
                        Value updated, Operation *scatter) {
  func::FuncOp copy = createKernel(kernel, updated);
  unsigned position = kernel.getNumArguments();
  (void)kernel.insertArgument(position, updated.getType(), {}, kernel.getLoc());
  scatter->setOperand(0, kernel.getArgument(position));
  for (host::LaunchOp each : launches)
    each->insertOperands(position, launch(copy, each, updated));
}

void Copies::copyUpdated(func::FuncOp kernel,
                         ArrayRef<host::LaunchOp> launches) {
  for (Value result : kernel.getBody().front().getTerminator()->getOperands()) {
    Value updated = getUpdated(result);
    if (!updated || updated.getType() != result.getType())
      continue;
    auto argument = dyn_cast<BlockArgument>(updated);
    bool isConstant =
        !argument && updated.getDefiningOp()->hasTrait<OpTrait::ConstantLike>();
    Operation *changes = result.getDefiningOp();
    if (!isa<InsertSliceOp>(changes) &&
        (isConstant || (argument && !argument.hasOneUse()))) {
      addOperand(kernel, launches, updated, changes);
      continue;
    }
    if (!argument || !argument.hasOneUse())
      continue;
    unsigned position = argument.getArgNumber();
    func::FuncOp copy;
    for (host::LaunchOp each : launches) {
      Value operand = each->getOperand(position);
      // Each launch has an empty tensor of its own.
      if (mayReplace(each, operand) || operand.getDefiningOp<EmptyOp>())
        continue;
      if (!copy)
        copy = createKernel(kernel, argument);
      each->setOperand(position, launch(copy, each, argument));
    }
  }
}

void adze::graph::copyUpdated(ModuleOp module) {
  DenseMap<StringAttr, SmallVector<host::LaunchOp>> launches;
  module.walk([&](host::LaunchOp launch) {
    launches[launch.getCalleeAttr().getAttr()].push_back(launch);
  });
  Copies copies(module);
  for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (kernel->hasAttr(host::kernelAttr) && !kernel.isExternal())
      copies.copyUpdated(kernel, launches[kernel.getSymNameAttr()]);
}
