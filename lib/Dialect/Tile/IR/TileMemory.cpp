// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Verifiers and inference of the ops that access memory.
#include "Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace adze::tile;

namespace {
using OptionalList = std::optional<ArrayRef<int64_t>>;
} // namespace

static SmallVector<int64_t> memDims(Type memref, int64_t rank,
                                    OptionalList dims) {
  if (dims)
    return SmallVector<int64_t>(*dims);
  int64_t memRank = cast<MemRefType>(memref).getRank();
  return llvm::to_vector(llvm::seq<int64_t>(memRank - rank, memRank));
}

static SmallVector<int64_t> steps(int64_t rank, OptionalList strides) {
  return strides ? SmallVector<int64_t>(*strides)
                 : SmallVector<int64_t>(rank, 1);
}

static LogicalResult verifyDims(Operation *op, ArrayRef<int64_t> dims,
                                int64_t rank, int64_t memRank) {
  if ((int64_t)dims.size() != rank)
    return op->emitOpError("expected ")
           << rank << " entries in dims, but got " << dims.size();
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t dim : dims)
    if (dim < 0 || dim >= memRank || !seen.insert(dim).second)
      return op->emitOpError("expected distinct memory dimensions below ")
             << memRank << " in dims, but got " << dim;
  return success();
}

/// Verifies that strides, if present, are positive, with one for each tile
/// dimension.
static LogicalResult verifyStrides(Operation *op, int64_t rank,
                                   OptionalList strides) {
  if (!strides)
    return success();
  if ((int64_t)strides->size() != rank)
    return op->emitOpError("expected ")
           << rank << " entries in strides, but got " << strides->size();
  for (int64_t step : *strides)
    if (step < 1)
      return op->emitOpError("expected positive strides, but got ") << step;
  return success();
}

/// Verifies C1 to C4 of load and store.
static LogicalResult verifyWindow(Operation *op, MemRefType memref,
                                  size_t offsets, int64_t rank,
                                  OptionalList dims, OptionalList strides) {
  if ((int64_t)offsets != memref.getRank()) // C1
    return op->emitOpError("expected ")
           << memref.getRank() << " offsets, but got " << offsets;
  if (rank > memref.getRank()) // C2
    return op->emitOpError("expected at most ")
           << memref.getRank() << " tile dimensions, but got " << rank;
  if (dims && failed(verifyDims(op, *dims, rank, memref.getRank()))) // C3
    return failure();
  return verifyStrides(op, rank, strides); // C4
}

static LogicalResult verifyPad(Operation *op, std::optional<TypedAttr> pad,
                               MemRefType memref) {
  if (pad && pad->getType() != memref.getElementType())
    return op->emitOpError("expected a pad of type ")
           << memref.getElementType() << ", but got " << pad->getType();
  return success();
}

//===--- scratch ----------------------------------------------------------===//

LogicalResult ScratchOp::verify() {
  auto type = cast<MemRefType>(getResult().getType());
  if (type.getShape() != getStaticSizes()) // C1
    return emitOpError("expected sizes ")
           << type.getShape() << ", but got " << getStaticSizes();
  return success();
}

//===--- view -------------------------------------------------------------===//

Value ViewOp::getViewSource() { return getSource(); }

SmallVector<OpFoldResult> ViewOp::getMixedSizes() {
  Builder builder(getContext());
  return getMixedValues(getStaticSizes(), getSizes(), builder);
}

LogicalResult ViewOp::verify() {
  auto from = cast<MemRefType>(getSource().getType());
  auto to = cast<MemRefType>(getResult().getType());
  unsigned results = to.getLayout().getAffineMap().getNumResults();
  if (results != from.getRank()) // C1
    return emitOpError("expected a layout map of ")
           << from.getRank() << " results, but got " << results;
  if (from.getElementType() != to.getElementType()) // C2
    return emitOpError("expected elements of type ")
           << from.getElementType() << ", but got " << to.getElementType();
  if (to.getShape() != getStaticSizes()) // C3
    return emitOpError("expected sizes ")
           << to.getShape() << ", but got " << getStaticSizes();
  return success();
}

//===--- load -------------------------------------------------------------===//

SmallVector<int64_t> LoadOp::getMemDims() {
  return memDims(getMemref().getType(), getStaticSizes().size(), getDims());
}

SmallVector<int64_t> LoadOp::getSteps() {
  return steps(getStaticSizes().size(), getStrides());
}

SmallVector<OpFoldResult> LoadOp::getMixedOffsets() {
  Builder builder(getContext());
  return getMixedValues(getStaticOffsets(), getOffsets(), builder);
}

LogicalResult LoadOp::verify() {
  auto memref = cast<MemRefType>(getMemref().getType());
  if (failed(verifyPad(*this, getPad(), memref))) // C5
    return failure();
  return verifyWindow(*this, memref, getStaticOffsets().size(),
                      getStaticSizes().size(), getDims(), getStrides());
}

LogicalResult LoadOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto memref = cast<MemRefType>(adaptor.getMemref().getType());
  types.push_back(
      RankedTensorType::get(adaptor.getStaticSizes(), memref.getElementType()));
  return success();
}

//===--- store ------------------------------------------------------------===//

SmallVector<int64_t> StoreOp::getMemDims() {
  return memDims(getMemref().getType(), getValue().getType().getRank(),
                 getDims());
}

SmallVector<int64_t> StoreOp::getSteps() {
  return steps(getValue().getType().getRank(), getStrides());
}

SmallVector<OpFoldResult> StoreOp::getMixedOffsets() {
  Builder builder(getContext());
  return getMixedValues(getStaticOffsets(), getOffsets(), builder);
}

LogicalResult StoreOp::verify() {
  auto memref = cast<MemRefType>(getMemref().getType());
  Type element = getValue().getType().getElementType();
  if (element != memref.getElementType()) // C5
    return emitOpError("expected a tile of ")
           << memref.getElementType() << ", but got " << element;
  return verifyWindow(*this, memref, getStaticOffsets().size(),
                      getValue().getType().getRank(), getDims(), getStrides());
}

//===--- gather -----------------------------------------------------------===//

SmallVector<int64_t> GatherOp::getSteps() {
  return steps(getType().getRank(), getStrides());
}

SmallVector<OpFoldResult> GatherOp::getMixedOffsets() {
  Builder builder(getContext());
  return getMixedValues(getStaticOffsets(), getOffsets(), builder);
}

/// Verifies the position of elements at computed indices along a dimension.
template <typename OpT>
static LogicalResult verifyPlaces(OpT op, RankedTensorType tile) {
  auto memref = cast<MemRefType>(op.getMemref().getType());
  int64_t rank = memref.getRank(), along = op.getAlong();
  if ((int64_t)op.getStaticOffsets().size() != rank) // C1
    return op.emitOpError("expected ")
           << rank << " offsets, but got " << op.getStaticOffsets().size();
  if (along < 0 || along >= rank) // C3
    return op.emitOpError("expected along below ")
           << rank << ", but got " << along;
  if ((int64_t)op.getDims().size() != tile.getRank()) // C2
    return op.emitOpError("expected ")
           << tile.getRank() << " entries in dims, but got "
           << op.getDims().size();
  llvm::SmallDenseSet<int64_t> seen{along};
  for (int64_t dim : op.getDims())
    if (dim != -1 && (dim < 0 || dim >= rank || !seen.insert(dim).second))
      return op.emitOpError(
                 "expected -1 or distinct memory dimensions other than "
                 "along in dims, but got ")
             << dim;
  return success();
}

LogicalResult GatherOp::verify() {
  if (failed(verifyPlaces(*this, getType())) || // C1, C2, C3
      failed(verifyStrides(*this, getType().getRank(), getStrides()))) // C5
    return failure();
  return verifyPad(*this, getPad(), cast<MemRefType>(getMemref().getType()));
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto memref = cast<MemRefType>(adaptor.getMemref().getType());
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  types.push_back(
      RankedTensorType::get(indices.getShape(), memref.getElementType()));
  return success();
}

//===--- scatter ----------------------------------------------------------===//

SmallVector<OpFoldResult> ScatterOp::getMixedOffsets() {
  Builder builder(getContext());
  return getMixedValues(getStaticOffsets(), getOffsets(), builder);
}

/// Returns true if atomic operations exist that combine elements of the type,
/// and their order does not change the result.
static bool isOrderFree(ReduceKind kind, Type element) {
  return isa<FloatType>(element)
             ? kind == ReduceKind::max || kind == ReduceKind::min
             : kind != ReduceKind::mul;
}

LogicalResult ScatterOp::verify() {
  RankedTensorType tile = getValue().getType();
  Type element = tile.getElementType(),
       expected = cast<MemRefType>(getMemref().getType()).getElementType();
  ArrayRef<int64_t> indices = getIndices().getType().getShape();
  if (element != expected) // C4
    return emitOpError("expected a tile of ")
           << expected << ", but got " << element;
  if (indices != tile.getShape()) // C5
    return emitOpError("expected indices of the shape ")
           << tile.getShape() << " of the tile, but got " << indices;
  if (auto kind = getCombine(); kind && !isOrderFree(*kind, element)) // C6
    return emitOpError("expected a kind whose result does not depend on the "
                       "order of elements of ")
           << element << ", but got " << stringifyReduceKind(*kind);
  return verifyPlaces(*this, tile); // C1, C2, C3
}
