// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lets a launch begin before the previous launch has ended.
#include "OverlapLaunches.h"
#include "Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace adze::cuda {

/// Emits griddepcontrol.wait as inline assembly: LLVM models its intrinsic as
/// not accessing memory, and could move loads before it.
static Operation *waitForLaunches(OpBuilder &b, Location loc) {
  return LLVM::InlineAsmOp::create(
      b, loc, TypeRange(), ValueRange(), StringRef("griddepcontrol.wait;"),
      StringRef("~{memory}"),
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
}

/// Returns the arguments that are constants.
static DenseSet<Value> getConstants(LLVM::LLVMFuncOp function) {
  DenseSet<Value> constants;
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), tile::kConstantAttribute))
      constants.insert(argument);
  return constants;
}

/// Returns true if the address is in one of the constants, or in a constant of
/// the module, which is read in place of elements out of bounds.
static bool isInConstant(Value address, const DenseSet<Value> &constants) {
  while (auto gep = address.getDefiningOp<LLVM::GEPOp>())
    address = gep.getBase();
  if (auto select = address.getDefiningOp<arith::SelectOp>())
    return isInConstant(select.getTrueValue(), constants) &&
           isInConstant(select.getFalseValue(), constants);
  if (auto symbol = address.getDefiningOp<LLVM::AddressOfOp>()) {
    auto global = SymbolTable::lookupNearestSymbolFrom<LLVM::GlobalOp>(
        symbol, symbol.getGlobalNameAttr());
    return global && global.getConstant();
  }
  return constants.contains(address);
}

/// Moves an op and the ops that compute its operands before `end`, if they are
/// in its block and have no side effects but loads from constants.
static void moveBefore(Operation *op, Operation *end) {
  if (op->getBlock() != end->getBlock() || op->isBeforeInBlock(end))
    return;
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp())
      moveBefore(source, end);
  op->moveBefore(end);
}

static bool canMove(Operation *op, Operation *end);

/// Returns true if the ops that compute the operands can be moved.
static bool canMoveOperands(Operation *op, Operation *end) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *source = operand.getDefiningOp();
    return !source || canMove(source, end);
  });
}

/// Returns true if the op and all that compute its operands can be moved.
static bool canMove(Operation *op, Operation *end) {
  if (op->getBlock() != end->getBlock() || op->isBeforeInBlock(end))
    return true;
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         canMoveOperands(op, end);
}

/// Loads from constants before the wait: while the previous launches end, a
/// kernel reads its weights.
static void prefetchConstants(const DenseSet<Value> &constants,
                              Operation *wait) {
  // More would take registers from the rest of the kernel.
  constexpr int64_t mostBits = 160 * 8;
  int64_t bits = 0;
  for (auto load :
       llvm::make_early_inc_range(wait->getBlock()->getOps<LLVM::LoadOp>())) {
    Operation *address = load.getAddr().getDefiningOp();
    if (load->isBeforeInBlock(wait) || load.getVolatile_() ||
        !isInConstant(load.getAddr(), constants) ||
        (address && !canMove(address, wait)))
      continue;
    auto vector = dyn_cast<VectorType>(load.getType());
    Type element = vector ? vector.getElementType() : load.getType();
    if (!element.isIntOrFloat())
      continue;
    bits += element.getIntOrFloatBitWidth() *
            (vector ? vector.getNumElements() : 1);
    if (bits > mostBits)
      return;
    moveBefore(load, wait);
  }
}

/// Starts copies from constants to shared memory before the wait: the first
/// groups of copies, up to one of other memory.
static void copyConstants(const DenseSet<Value> &constants, Operation *wait) {
  SmallVector<Operation *> copies;
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(
           std::next(wait->getIterator()), wait->getBlock()->end()))) {
    if (isa<NVVM::CpAsyncCommitGroupOp>(op)) {
      for (Operation *copy : copies)
        moveBefore(copy, wait);
      if (!copies.empty())
        op.moveBefore(wait);
      copies.clear();
    } else if (auto copy = dyn_cast<NVVM::CpAsyncOp>(op)) {
      if (!isInConstant(copy.getSrc(), constants) ||
          !canMoveOperands(copy, wait))
        return;
      copies.push_back(copy);
    } else if (isa<gpu::BarrierOp, NVVM::BarrierOp, NVVM::CpAsyncWaitGroupOp>(
                   op) ||
               op.getNumRegions()) {
      return;
    }
  }
}

static bool containsLoop(Operation &op) {
  return op
      .walk([](Operation *inner) {
        return isa<scf::ForOp, scf::WhileOp>(inner) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Lets the next launch begin after the last loop of the block, in each branch
/// of a condition that contains it. `start` is where a block without loops
/// does. Earlier, blocks of several later launches would be resident where
/// those of this one leave room, and so be on few multiprocessors when they
/// compute.
static void launchNext(Block &block, OpBuilder::InsertPoint start) {
  auto loops = llvm::make_filter_range(llvm::reverse(block), containsLoop);
  OpBuilder b(block.getParentOp()->getContext());
  b.restoreInsertionPoint(start);
  if (!loops.empty()) {
    Operation &last = *loops.begin();
    if (isa<scf::IfOp>(last)) {
      for (Region &branch : last.getRegions())
        if (!branch.empty())
          launchNext(
              branch.front(),
              OpBuilder::atBlockBegin(&branch.front()).saveInsertionPoint());
      return;
    }
    b.setInsertionPointAfter(&last);
  }
  NVVM::GriddepcontrolOp::create(b, block.getParentOp()->getLoc(),
                                 NVVM::GridDepActionKind::launch_dependents);
}

void overlapLaunches(gpu::GPUModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr("adze.kernel"))
      continue;
    Block &entry = function.getBody().front();
    OpBuilder b = OpBuilder::atBlockBegin(&entry);
    // The code before the first barrier of a kernel with tensor maps accesses
    // only its own shared memory and prefetches the maps, which are parameters.
    bool hasMaps = function->hasAttr("adze.tensor_maps");
    if (hasMaps)
      for (auto barrier : entry.getOps<gpu::BarrierOp>()) {
        b.setInsertionPointAfter(barrier);
        break;
      }
    if (function->hasAttr("adze.products")) {
      launchNext(entry, b.saveInsertionPoint());
      continue;
    }
    if (!hasMaps)
      NVVM::GriddepcontrolOp::create(
          b, function.getLoc(), NVVM::GridDepActionKind::launch_dependents);
    Operation *wait = waitForLaunches(b, function.getLoc());
    if (hasMaps)
      launchNext(entry, b.saveInsertionPoint());
    DenseSet<Value> constants = getConstants(function);
    copyConstants(constants, wait);
    prefetchConstants(constants, wait);
    function->setAttr("adze.waits", b.getUnitAttr());
  }
}

} // namespace adze::cuda
