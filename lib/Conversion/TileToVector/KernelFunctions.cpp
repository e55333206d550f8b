// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Creates the functions of a kernel: the number of its programs, and the loop
// over programs around the kernel or its phases, one after the other.
#include "KernelFunctions.h"
#include "Dialect/Tile/IR/Faults.h"
#include "Dialect/Tile/IR/Streams.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace adze::tile;

KernelFunctions::KernelFunctions(KernelOp kernel, CpuTargetAttr target)
    : kernel(kernel), target(target), b(kernel), loc(kernel.getLoc()) {}

LogicalResult KernelFunctions::fail(Operation *op, StringRef why) {
  failure = {op, why.str()};
  return mlir::failure();
}

func::FuncOp KernelFunctions::makeFunction(StringRef name, bool isBody) {
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    types.push_back(memref ? Type(getPhysicalType(memref)) : type);
  }
  SmallVector<Type> results;
  if (isBody)
    types.append(2, b.getIndexType());
  else
    results.push_back(b.getIndexType());
  OpBuilder beside(kernel);
  auto created = func::FuncOp::create(beside, kernel.getLoc(), name,
                                      b.getFunctionType(types, results));
  for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i)
    if (DictionaryAttr attributes = kernel.getArgAttrDict(i))
      created.setArgAttrs(i, attributes);
  for (NamedAttribute attribute : kernel->getDiscardableAttrs())
    created->setAttr(attribute.getName(), attribute.getValue());
  if (isBody) // the name that convert-kernel-to-llvm expects
    created->setAttr("adze.kernel", b.getUnitAttr());
  frame = KernelFrame();
  frame.entry = created.addEntryBlock();
  for (auto [from, to] :
       llvm::zip(kernel.getArguments(), frame.entry->getArguments()))
    frame.map.map(from, to);
  b.setInsertionPointToEnd(frame.entry);
  return created;
}

/// Clones a scalar op. Dims of packed memory are static.
static void cloneScalar(OpBuilder &b, Operation *op, IRMapping &map) {
  if (auto view = dyn_cast<ViewOp>(op)) // accesses resolve views
    return map.map(view.getResult(), map.lookup(view.getSource()));
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    auto type = dyn_cast<MemRefType>(dim.getSource().getType());
    std::optional<int64_t> which = dim.getConstantIndex();
    if (type && which && !type.isDynamicDim(*which)) {
      map.map(dim.getResult(), arith::ConstantIndexOp::create(
                                   b, op->getLoc(), type.getDimSize(*which))
                                   .getResult());
      return;
    }
  }
  b.clone(*op, map);
}

/// Clones the scalars at the top of a block that depend on other scalars only;
/// with `upTo`, only those before it.
void KernelFunctions::cloneHoisted(Block &block, Operation *upTo) {
  for (Operation &op : block.without_terminator()) {
    if (&op == upTo)
      return;
    bool isPlain = op.getNumRegions() == 0 && op.getNumResults() > 0 &&
                   isMemoryEffectFree(&op) && !isa<ProgramIdOp>(op) &&
                   llvm::none_of(op.getOperands(), isTile) &&
                   llvm::none_of(op.getResults(), isTile);
    bool isReady = llvm::all_of(op.getOperands(),
                                [&](Value v) { return frame.map.contains(v); });
    if (isPlain && isReady && frame.hoisted.insert(&op).second)
      cloneScalar(b, &op, frame.map);
  }
}

LogicalResult KernelFunctions::makePrograms() {
  programs =
      makeFunction((kernel.getName() + "_programs").str(), /*isBody=*/false);
  ProgramIdOp ids = kernel.getProgramId();
  Value product = arith::ConstantIndexOp::create(b, loc, 1);
  if (ids) {
    cloneHoisted(kernel.getBody().front(), ids);
    for (Value size : ids.getGrid()) {
      if (!frame.map.contains(size))
        return fail(ids, "expected a grid computed from dims and constants");
      product =
          b.createOrFold<arith::MulIOp>(loc, product, frame.map.lookup(size));
    }
  }
  func::ReturnOp::create(b, loc, product);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*frame.entry)))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

/// Emits the loop over linear program ids; dimension 0 of the grid is the
/// fastest.
void KernelFunctions::programLoop() {
  unsigned arguments = kernel.getNumArguments();
  Block &body = kernel.getBody().front();
  cloneHoisted(body, kernel.getProgramId());
  Value step = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, frame.entry->getArgument(arguments),
                                 frame.entry->getArgument(arguments + 1), step);
  b.setInsertionPointToStart(loop.getBody());
  if (ProgramIdOp ids = kernel.getProgramId()) {
    frame.hoisted.insert(ids);
    Value linear = loop.getInductionVar();
    size_t rank = ids.getGrid().size();
    for (size_t i = 0; i + 1 < rank; ++i) {
      Value size = frame.map.lookup(ids.getGrid()[i]);
      Value id = arith::RemUIOp::create(b, loc, linear, size);
      frame.map.map(ids.getIds()[i], id);
      linear = arith::DivUIOp::create(b, loc, linear, size);
    }
    frame.map.map(ids.getIds()[rank - 1], linear);
  }
  cloneHoisted(body, nullptr);
}

//===--- Phases -----------------------------------------------------------===//

/// Lowers the kernel, or one phase, at the insertion point.
LogicalResult KernelFunctions::lower(Operation *root) {
  KernelLowering lowering(root, target, frame, b);
  if (succeeded(lowering.run()))
    return success();
  failure = lowering.getFailure();
  return mlir::failure();
}

LogicalResult KernelFunctions::phaseLoop(scf::ForOp op) {
  auto loop = scf::ForOp::create(b, loc, frame.map.lookup(op.getLowerBound()),
                                 frame.map.lookup(op.getUpperBound()),
                                 frame.map.lookup(op.getStep()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  frame.map.map(op.getInductionVar(), loop.getInductionVar());
  return phases(*op.getBody());
}

LogicalResult KernelFunctions::phaseChoice(scf::IfOp op) {
  bool hasElse = !op.getElseRegion().empty();
  auto choice =
      scf::IfOp::create(b, loc, frame.map.lookup(op.getCondition()), hasElse);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  if (failed(phases(*op.thenBlock())))
    return mlir::failure();
  if (!hasElse)
    return success();
  b.setInsertionPointToStart(choice.elseBlock());
  return phases(*op.elseBlock());
}

static bool containsPhase(Operation *op) {
  return op->walk([](PhaseOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Lowers phases, the loops and branches around them, and the scalars and
/// memory that they share.
LogicalResult KernelFunctions::phases(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (frame.hoisted.contains(&op))
      continue;
    loc = op.getLoc();
    if (auto scratch = dyn_cast<ScratchOp>(op)) {
      OpBuilder atEntry = OpBuilder::atBlockBegin(frame.entry);
      Value memory = memref::AllocaOp::create(
          atEntry, loc, getPhysicalType(scratch.getType()),
          b.getI64IntegerAttr(64));
      frame.map.map(scratch.getResult(), memory);
    } else if (auto phase = dyn_cast<PhaseOp>(op)) {
      cloneHoisted(phase.getBody().front(), nullptr);
      if (failed(lower(phase)))
        return mlir::failure();
    } else if (auto loop = dyn_cast<scf::ForOp>(op);
               loop && containsPhase(loop)) {
      if (failed(phaseLoop(loop)))
        return mlir::failure();
    } else if (auto choice = dyn_cast<scf::IfOp>(op);
               choice && containsPhase(choice)) {
      if (failed(phaseChoice(choice)))
        return mlir::failure();
    } else {
      b.clone(op, frame.map);
    }
  }
  return success();
}

//===--- The whole --------------------------------------------------------===//

LogicalResult KernelFunctions::checkOps() {
  WalkResult walk = kernel.walk([&](Operation *op) {
    if (isa<PrintOp>(op)) { // computed in slices, and out of program order
      (void)fail(op, "expected no tile.print, whose kernel "
                     "convert-tile-to-linalg lowers");
      return WalkResult::interrupt();
    }
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    auto type = view ? dyn_cast<MemRefType>(view.getViewSource().getType())
                     : MemRefType();
    if (!type || getPhysicalType(type) == type)
      return WalkResult::advance();
    (void)fail(op, "expected views of plain memory, not of packed memory or "
                   "bools");
    return WalkResult::interrupt();
  });
  return mlir::failure(walk.wasInterrupted());
}

/// Returns the run-time condition that all results exceed the caches, if rows
/// are then processed in another way. Returns null if one version suffices.
Value KernelFunctions::haveLargeResults() {
  auto isApart = [&](bool largeResults) {
    return DimClasses(kernel, target, /*inOrder=*/false, largeResults)
        .storesApart();
  };
  if (kernel.hasPhases() || isApart(false) || !isApart(true))
    return {};
  int64_t bytes = kernel->getAttrOfType<IntegerAttr>(streamBytesAttr).getInt();
  llvm::SetVector<Value> results;
  kernel.walk([&](StoreOp store) {
    Value memory = argumentOf(store.getMemref());
    if (!cast<MemRefType>(memory.getType()).hasStaticShape())
      results.insert(memory);
  });
  Value all;
  for (Value memory : results) {
    if (!frame.map.contains(memory))
      return {};
    Value one = isLarger(b, loc, frame.map.lookup(memory), bytes);
    all = all ? arith::AndIOp::create(b, loc, all, one).getResult() : one;
  }
  return all;
}

/// Lowers the kernel twice: with non-temporal stores of results, and without.
LogicalResult KernelFunctions::lowerTwice(Value large) {
  auto choice = scf::IfOp::create(b, loc, large, /*withElse=*/true);
  KernelFrame shared = frame;
  for (bool isLarge : {true, false}) {
    frame = shared;
    frame.largeResults = isLarge;
    b.setInsertionPointToStart(isLarge ? choice.thenBlock()
                                       : choice.elseBlock());
    programLoop();
    if (failed(lower(kernel)))
      return mlir::failure();
  }
  return success();
}

LogicalResult KernelFunctions::makeBody() {
  function = makeFunction(kernel.getName(), /*isBody=*/true);
  func::ReturnOp::create(b, loc);
  b.setInsertionPoint(frame.entry->getTerminator());
  if (Value large = haveLargeResults())
    return lowerTwice(large);
  programLoop();
  return kernel.hasPhases() ? phases(kernel.getBody().front()) : lower(kernel);
}

LogicalResult KernelFunctions::run() {
  if (succeeded(checkOps()) && succeeded(makePrograms()) &&
      succeeded(makeBody()))
    return success();
  if (function)
    function.erase();
  if (programs)
    programs.erase();
  return mlir::failure();
}
