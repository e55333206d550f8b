// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Verifiers, inference and syntax of the tile dialect.
#include "Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
using namespace mlir;
#include "Dialect/Tile/IR/TileDialect.cpp.inc"
#include "Dialect/Tile/IR/TileEnums.cpp.inc"
#define GET_OP_CLASSES
#include "Dialect/Tile/IR/TileOps.cpp.inc"
using namespace adze::tile;
void TileDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}
ParseResult KernelOp::parse(OpAsmParser &p, OperationState &r) {
  auto build = [](Builder &b, ArrayRef<Type> a, ArrayRef<Type> res, function_interface_impl::VariadicFlag,
                  std::string &) { return b.getFunctionType(a, res); };
  if (function_interface_impl::parseFunctionOp(p, r, false, getFunctionTypeAttrName(r.name), build,
                                               getArgAttrsAttrName(r.name), getResAttrsAttrName(r.name)))
    return failure();
  KernelOp::ensureTerminator(*r.regions[0], p.getBuilder(), r.location);
  return success();
}
void KernelOp::print(OpAsmPrinter &p) {
  function_interface_impl::printFunctionOp(p, *this, false, getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}
LogicalResult ProgramIdOp::verify() {
  if (getGrid().size() != getIds().size() || getIds().empty() || getIds().size() > 3)
    return emitOpError("wants one result per grid dimension, 1 to 3");
  return success();
}
/// Checks a window: offsets per memory dim; tile dim i runs along memory dim dims[i] (default: the trailing dims).
static LogicalResult checkWindow(Operation *op, MemRefType m, ArrayRef<int64_t> offs, int64_t rank,
                                 std::optional<ArrayRef<int64_t>> dims, std::optional<ArrayRef<int64_t>> strides) {
  if ((int64_t)offs.size() != m.getRank()) return op->emitOpError("wants one offset per memory dimension");
  if (rank > m.getRank()) return op->emitOpError("tile rank exceeds memory rank");
  if (dims) {
    if ((int64_t)dims->size() != rank) return op->emitOpError("wants one entry in `dims` per tile dimension");
    llvm::SmallDenseSet<int64_t> seen;
    for (int64_t d : *dims)
      if (d < 0 || d >= m.getRank() || !seen.insert(d).second) return op->emitOpError("bad or repeated entry in `dims`");
  }
  if (strides && (int64_t)strides->size() != rank) return op->emitOpError("wants one stride per tile dimension");
  return success();
}
static SmallVector<int64_t> memDims(MemRefType m, int64_t rank, std::optional<ArrayRef<int64_t>> dims) {
  if (dims) return SmallVector<int64_t>(*dims);
  return llvm::to_vector(llvm::seq<int64_t>(m.getRank() - rank, m.getRank()));
}
SmallVector<int64_t> LoadOp::getMemDims() {
  return memDims(getMemref().getType(), getStaticSizes().size(), getDims());
}
SmallVector<int64_t> StoreOp::getMemDims() {
  return memDims(getMemref().getType(), getValue().getType().getRank(), getDims());
}
LogicalResult LoadOp::verify() {
  if (getPad() && getPad()->getType() != getMemref().getType().getElementType())
    return emitOpError("pad must have the memory's element type");
  return checkWindow(*this, getMemref().getType(), getStaticOffsets(), getStaticSizes().size(), getDims(), getStrides());
}
LogicalResult StoreOp::verify() {
  if (getValue().getType().getElementType() != getMemref().getType().getElementType())
    return emitOpError("element types differ");
  return checkWindow(*this, getMemref().getType(), getStaticOffsets(), getValue().getType().getRank(), getDims(), getStrides());
}
LogicalResult LoadOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a, SmallVectorImpl<Type> &r) {
  r.push_back(RankedTensorType::get(a.getStaticSizes(), cast<MemRefType>(a.getMemref().getType()).getElementType()));
  return success();
}
LogicalResult DotOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a, SmallVectorImpl<Type> &r) {
  auto l = cast<RankedTensorType>(a.getLhs().getType()), h = cast<RankedTensorType>(a.getRhs().getType());
  if (l.getRank() != 2 || h.getRank() != 2) return failure();
  r.push_back(RankedTensorType::get({l.getDimSize(0), h.getDimSize(1)}, cast<RankedTensorType>(a.getAcc().getType()).getElementType()));
  return success();
}
LogicalResult DotOp::verify() {
  if (getAcc().getType() != getType()) return emitOpError("accumulator has type ") << getAcc().getType() << ", the product " << getType();
  if (getLhs().getType().getDimSize(1) != getRhs().getType().getDimSize(0))
    return emitOpError("contracted sizes differ");
  return success();
}
LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a, SmallVectorImpl<Type> &r) {
  auto t = cast<RankedTensorType>(a.getSource().getType());
  if (a.getDim() >= (uint64_t)t.getRank()) return failure();
  SmallVector<int64_t> s(t.getShape());
  s.erase(s.begin() + a.getDim());
  r.push_back(RankedTensorType::get(s, t.getElementType()));
  return success();
}
LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a, SmallVectorImpl<Type> &r) {
  r.push_back(RankedTensorType::get(a.getStaticSizes(), getElementTypeOrSelf(a.getSource().getType())));
  return success();
}
LogicalResult BroadcastOp::verify() {
  auto t = dyn_cast<RankedTensorType>(getSource().getType());
  if (t && (!getDims() || (int64_t)getDims()->size() != t.getRank()))
    return emitOpError("wants `dims`: one result dimension per source dimension");
  return success();
}
