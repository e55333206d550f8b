// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The functions around kernels that have a schedule: an entry point with tensor
// maps as arguments, and the sizes of these for the host.
#include "Converter.h"
#include "PipelinedAttention.h"
#include "adze_module.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace adze::togpu {

/// Returns the element type of a map. An operand of a tf32 product is rounded
/// by the copy.
static int64_t getMapType(const PipelinePlan &plan,
                          const tile::TensorBox &map) {
  bool isOperand = &map < plan.maps.begin() + plan.countOperandMaps();
  Type element = map.physical.getElementType();
  if (isOperand && isa<FloatTF32Type>(plan.types.getLhs()))
    return ADZE_TENSOR_MAP_TF32;
  return element.isBF16()        ? ADZE_TENSOR_MAP_BF16
         : element.isF16()       ? ADZE_TENSOR_MAP_F16
         : element.isF32()       ? ADZE_TENSOR_MAP_F32
         : element.isInteger(32) ? ADZE_TENSOR_MAP_I32
                                 : ADZE_TENSOR_MAP_U8;
}

/// Describes each map for the host, except its sizes: the attribute
/// `adze.tensor_maps` of the function has the argument, the type, the bytes of
/// a row, the box and its steps, both innermost first.
static ArrayAttr describeMaps(OpBuilder &b, const PipelinePlan &plan) {
  SmallVector<Attribute> rows;
  for (const tile::TensorBox &map : plan.maps) {
    SmallVector<int64_t> row = {int64_t(map.argument), getMapType(plan, map),
                                map.rowBytes};
    row.append(map.box.rbegin(), map.box.rend());
    row.append(map.steps.rbegin(), map.steps.rend());
    rows.push_back(b.getDenseI64ArrayAttr(row));
  }
  return b.getArrayAttr(rows);
}

/// Creates `@NAME_cuda_maps(symbols, values)`: for each map, the sizes of its
/// dims, innermost first, and the strides in bytes of all but the first.
void Converter::makeMapSizes(tile::KernelOp kernel, KernelPlan &spreads,
                             PipelinePlan &plan) {
  Location loc = kernel.getLoc();
  b.setInsertionPointToEnd(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto function = LLVM::LLVMFuncOp::create(
      b, loc, (kernel.getName() + "_cuda_maps").str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, pointer}));
  OpBuilder at = OpBuilder::atBlockEnd(function.addEntryBlock(b));
  KernelFrame frame =
      beginHostFunction(at, kernel, spreads, function.getArgument(0));
  auto store = [&](Value v, int64_t place) {
    Value address = LLVM::GEPOp::create(at, loc, pointer, at.getI64Type(),
                                        function.getArgument(1),
                                        LLVM::GEPArg(int32_t(place)));
    LLVM::StoreOp::create(
        at, loc, arith::IndexCastOp::create(at, loc, at.getI64Type(), v),
        address);
  };
  for (auto [number, map] : llvm::enumerate(plan.maps)) {
    const MemView &view = frame.views.find(map.memref)->second;
    int64_t place = number * ADZE_TENSOR_MAP_VALUES;
    Value bytes = arith::ConstantIndexOp::create(
        at, loc, map.physical.getElementTypeBitWidth() / 8);
    for (int64_t dim = map.physical.getRank() - 1, i = 0; dim >= 0;
         --dim, ++i) {
      Value size = getValueOrCreateConstantIndexOp(
          at, loc,
          view.map ? at.getIndexAttr(map.physical.getDimSize(dim))
                   : view.sizes[dim]);
      store(size, place + i);
      if (i == 0)
        continue;
      Value stride = getValueOrCreateConstantIndexOp(
          at, loc, (view.map ? view.physicalStrides : view.strides)[dim]);
      store(at.createOrFold<arith::MulIOp>(loc, stride, bytes),
            place + ADZE_TENSOR_MAP_RANK + i - 1);
    }
  }
  LLVM::ReturnOp::create(at, loc, ValueRange());
  eraseUnused(function);
}

/// Returns an op of the function that uses a value of the kernel, or null if
/// all scalars were lowered.
static Operation *findUseOf(tile::KernelOp kernel, LLVM::LLVMFuncOp function) {
  Operation *found = nullptr;
  function.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (kernel->isAncestor(operand.getParentBlock()->getParentOp()))
        found = op;
  });
  return found;
}

bool Converter::convertScheduled(tile::KernelOp kernel) {
  constexpr int64_t sharedAlign = 1024; // swizzles depend on addresses
  std::string why;
  FailureOr<PipelinePlan> plan = planPipeline(kernel, why);
  if (failed(plan))
    return refuse(kernel, "the kernel does not match its schedule: " + why);
  if (plan->getSharedBytes() > sharedLimit)
    return refuse(kernel, "expected at most " + std::to_string(sharedLimit) +
                              " bytes of shared memory, but got " +
                              std::to_string(plan->getSharedBytes()));
  KernelPlan spreads(kernel, plan->getThreads());
  std::string name = table.chooseName(kernel.getName());
  LLVM::LLVMFuncOp function =
      makeEntry(kernel, name, plan->getThreads(), plan->maps.size());
  Block *block = function.addEntryBlock(b);
  OpBuilder at = OpBuilder::atBlockEnd(block);
  KernelFrame frame = makeFrame(at, kernel, getInputs(at, kernel, block));
  frame.threadId = frame.programId =
      arith::ConstantIndexOp::create(at, kernel.getLoc(), 0);
  frame.sharedSymbol = name + "_shared";
  if (plan->computesOperands())
    frame.zeroSymbol = name + "_zeros";
  KernelLowering prologue(kernel, spreads, frame, /*fast=*/true);
  prologue.lowerPrologue(at);
  Value programs = arith::TruncIOp::create(
      at, kernel.getLoc(), at.getI32Type(),
      block->getArgument(kernel.getNumArguments() + numSymbols));
  ValueRange maps = block->getArguments().take_back(plan->maps.size());
  if (plan->attention) {
    PipelinedAttention(kernel, *plan, spreads, prologue.getFrame(), maps,
                       programs)
        .run(block);
  } else {
    PipelinedKernel product(kernel, *plan, spreads, prologue.getFrame(), maps,
                            programs);
    product.run(block);
    if (!product.reason.empty()) {
      function.erase();
      return refuse(kernel, product.reason);
    }
  }
  if (Operation *user = findUseOf(kernel, function)) {
    std::string name = user->getName().getStringRef().str();
    function.erase();
    return refuse(kernel, "expected scalars of dims and constants, but got one "
                          "from memory in '" +
                              name + "'");
  }
  function->setAttr("adze.shared_bytes",
                    b.getI64IntegerAttr(plan->getSharedBytes()));
  function->setAttr("adze.resident_blocks", b.getI64IntegerAttr(1));
  if (plan->split > 1)
    function->setAttr("adze.most_shared", b.getI64IntegerAttr(plan->split));
  function->setAttr("adze.tensor_maps", describeMaps(b, *plan));
  addGlobals(function, frame, sharedAlign);
  makePrograms(kernel, spreads);
  makeMapSizes(kernel, spreads, *plan);
  return true;
}

} // namespace adze::togpu
