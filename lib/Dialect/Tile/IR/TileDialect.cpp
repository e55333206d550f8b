// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Registration, kernel syntax and structure of the tile dialect.
#include "Dialect/Tile/IR/Faults.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace adze::tile;

#include "Dialect/Tile/IR/TileDialect.cpp.inc"
#include "Dialect/Tile/IR/TileEnums.cpp.inc"
#define GET_OP_CLASSES
#include "Dialect/Tile/IR/TileOps.cpp.inc"

void TileDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Dialect/Tile/IR/TileOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Dialect/Tile/IR/TileFaultOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Dialect/Tile/IR/TilePrintOps.cpp.inc"
      >();
  registerTargetAttributes();
}

//===--- kernel -----------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  if (function_interface_impl::parseFunctionOp(
          parser, result, /*allowVariadic=*/false,
          getFunctionTypeAttrName(result.name), buildType,
          getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name)))
    return failure();
  if (result.regions[0]->empty())
    return parser.emitError(parser.getNameLoc(), "expected a body");
  KernelOp::ensureTerminator(*result.regions[0], parser.getBuilder(),
                             result.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

ProgramIdOp KernelOp::getProgramId() {
  auto ids = getBody().getOps<ProgramIdOp>();
  return ids.empty() ? ProgramIdOp() : *ids.begin();
}

bool KernelOp::isOrdered() {
  ProgramIdOp ids = getProgramId();
  return ids && ids.getOrdered();
}

bool KernelOp::hasPhases() {
  return getBody()
      .walk([](PhaseOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// C3: phases pass tiles through memory.
static LogicalResult verifyTilesInPhases(KernelOp kernel) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  WalkResult walk =
      kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa<PhaseOp>(op))
          return WalkResult::skip();
        if (llvm::none_of(op->getOperandTypes(), isTile) &&
            llvm::none_of(op->getResultTypes(), isTile))
          return WalkResult::advance();
        op->emitError("expected tiles only inside of the kernel's phases");
        return WalkResult::interrupt();
      });
  return failure(walk.wasInterrupted());
}

LogicalResult KernelOp::verify() {
  if (!getResultTypes().empty()) // C1
    return emitOpError("expected no results, but got ")
           << getResultTypes().size();
  ProgramIdOp first;
  WalkResult walk = getBody().walk([&](ProgramIdOp op) { // C2
    if (!first && op->getParentOp() == getOperation()) {
      first = op;
      return WalkResult::advance();
    }
    op.emitOpError("expected at most one at the top of a kernel");
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  return hasPhases() ? verifyTilesInPhases(*this) : success();
}

LogicalResult PhaseOp::verify() {
  Operation *parent = (*this)->getParentOp();
  while (isa<scf::ForOp, scf::IfOp>(parent) && parent->getNumResults() == 0)
    parent = parent->getParentOp();
  if (isa<KernelOp>(parent)) // C1
    return success();
  return emitOpError("expected a kernel, or scf.for or scf.if without results "
                     "around it, but got '")
         << parent->getName() << "'";
}

LogicalResult ProgramIdOp::verify() {
  size_t grid = getGrid().size(), ids = getIds().size();
  if (grid != ids || ids < 1 || ids > 3) // C1
    return emitOpError("expected one result a grid dimension, 1 to 3, but got ")
           << ids << " results of " << grid << " dimensions";
  if (getGrouped() && (!getOrdered() || grid < 2)) // C2
    return emitOpError("expected groups in an ordered grid of 2 dimensions or "
                       "more");
  return success();
}

LogicalResult BarrierOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  ProgramIdOp ids = kernel ? kernel.getProgramId() : ProgramIdOp();
  if (!ids || ids.getOrdered() ||
      getConstantIntValue(ids.getGrid().front()) !=
          int64_t(getPrograms())) // C1
    return emitOpError("expected an unordered grid whose dimension 0 has ")
           << getPrograms() << " programs";
  return success();
}
