// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Verifiers and inference of the ops that compute on tiles.
#include "Dialect/Tile/IR/Tile.h"
#include "Dialect/Tile/IR/Units.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace adze::tile;

/// Returns true unless both sizes are known and differ.
static bool mayAgree(int64_t x, int64_t y) {
  return ShapedType::isDynamic(x) || ShapedType::isDynamic(y) || x == y;
}

static RankedTensorType tileType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===--- dot --------------------------------------------------------------===//

LogicalResult DotOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType lhs = tileType(adaptor.getLhs());
  RankedTensorType rhs = tileType(adaptor.getRhs());
  if (lhs.getRank() != 2 || rhs.getRank() != 2) // C1
    return emitOptionalError(loc, "expected operands of rank 2, but got ", lhs,
                             " and ", rhs);
  types.push_back(
      RankedTensorType::get({lhs.getDimSize(0), rhs.getDimSize(1)},
                            tileType(adaptor.getAcc()).getElementType()));
  return success();
}

LogicalResult DotOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  if (getAcc().getType() != getType()) // C2
    return emitOpError("expected an accumulator of type ")
           << getType() << ", but got " << getAcc().getType();
  if (!mayAgree(lhs.getDimSize(1), rhs.getDimSize(0))) // C2
    return emitOpError("expected equal contracted sizes, but got ")
           << lhs.getDimSize(1) << " and " << rhs.getDimSize(0);
  ProductAttr product = getProduct();
  bool isFloat = isa<FloatType>(getType().getElementType());
  for (Type type : {product.getLhs(), product.getRhs()})
    if (isa<FloatType>(type) != isFloat) // C3
      return emitOpError(
                 "expected operands of the accumulator's kind, but got ")
             << type << " and " << getType().getElementType();
  if (!getCompute())
    return success();
  auto holds = [](Type element, Type narrow) {
    unsigned width = getStorageBits(narrow);
    return element.getIntOrFloatBitWidth() == width &&
           isa<FloatType>(element) == isa<FloatType>(narrow);
  };
  bool isPlain = holds(lhs.getElementType(), product.getLhs()) &&
                 holds(rhs.getElementType(), product.getRhs());
  bool isWords = lhs.getElementType().isInteger(32) &&
                 rhs.getElementType().isInteger(32) &&
                 product.getLhs().getIntOrFloatBitWidth() ==
                     product.getRhs().getIntOrFloatBitWidth() &&
                 getWordElements() > 1;
  if (!isPlain && !isWords) // C4
    return emitOpError("expected elements of ")
           << product << " or words of them, but got " << lhs.getElementType()
           << " and " << rhs.getElementType();
  if (!holds(getType().getElementType(), product.getAcc())) // C4
    return emitOpError("expected an accumulator of ")
           << product.getAcc() << ", but got " << getType().getElementType();
  return success();
}

ProductAttr DotOp::getProduct() {
  if (ProductAttr compute = getComputeAttr())
    return compute;
  auto typed = [&](RankedTensorType tile) -> Type {
    auto integer = dyn_cast<IntegerType>(tile.getElementType());
    return !integer ? tile.getElementType()
                    : IntegerType::get(getContext(), integer.getWidth(),
                                       IntegerType::Signed);
  };
  return ProductAttr::get(getContext(), typed(getLhs().getType()),
                          typed(getRhs().getType()), typed(getType()));
}

int64_t DotOp::getWordElements() {
  return getLhs().getType().getElementType().getIntOrFloatBitWidth() /
         getStorageBits(getProduct().getLhs());
}

//===--- reduce -----------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType source = tileType(adaptor.getSource());
  if (adaptor.getDim() >= (uint64_t)source.getRank()) // C1
    return emitOptionalError(loc, "expected a dimension below ",
                             source.getRank(), ", but got ", adaptor.getDim());
  SmallVector<int64_t> shape(source.getShape());
  shape.erase(shape.begin() + adaptor.getDim());
  types.push_back(RankedTensorType::get(shape, source.getElementType()));
  return success();
}

/// Verifies that a kind of combination exists for the elements of an op.
static LogicalResult verifyKind(Operation *op, ReduceKind kind) {
  Type element = getElementTypeOrSelf(op->getResult(0));
  bool integersOnly = kind != ReduceKind::add && kind != ReduceKind::mul &&
                      kind != ReduceKind::max && kind != ReduceKind::min;
  if (!integersOnly || !isa<FloatType>(element))
    return success();
  return op->emitOpError("expected integers for ")
         << stringifyReduceKind(kind) << ", but got " << element;
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyKind(*this, getKind()))) // C2
    return failure();
  bool hasNaN =
      (getKind() == ReduceKind::max || getKind() == ReduceKind::min) &&
      isa<FloatType>(getType().getElementType());
  if (getNnan() && !hasNaN) // C3
    return emitOpError("expected 'nnan' with max or min of floats only");
  return success();
}

//===--- scan -------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  int64_t rank = cast<RankedTensorType>(getType()).getRank();
  if (getDim() >= uint64_t(rank)) // C1
    return emitOpError("expected a dimension below ")
           << rank << ", but got " << getDim();
  return verifyKind(*this, getKind()); // C2
}

//===--- broadcast --------------------------------------------------------===//

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get(
      adaptor.getStaticSizes(), getElementTypeOrSelf(adaptor.getSource())));
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto source = dyn_cast<RankedTensorType>(getSource().getType());
  if (!source)
    return success();
  if (!getDims() || (int64_t)getDims()->size() != source.getRank()) // C1
    return emitOpError("expected ")
           << source.getRank() << " entries in dims, but got "
           << (getDims() ? getDims()->size() : 0);
  llvm::SmallDenseSet<int64_t> seen;
  for (auto [i, dim] : llvm::enumerate(*getDims())) {
    if (dim < 0 || dim >= getType().getRank() || !seen.insert(dim).second) // C1
      return emitOpError(
                 "expected distinct result dimensions in dims, but got ")
             << dim;
    if (!mayAgree(source.getDimSize(i), getType().getDimSize(dim))) // C2
      return emitOpError("expected size ")
             << getType().getDimSize(dim) << " of source dimension " << i
             << ", but got " << source.getDimSize(i);
  }
  return success();
}

//===--- iota, reshape, bitcast, transpose --------------------------------===//

LogicalResult IotaOp::verify() {
  if (getDim() >= (uint64_t)getType().getRank()) // C1
    return emitOpError("expected a dimension below ")
           << getType().getRank() << ", but got " << getDim();
  if (getStaticSizes() != getType().getShape()) // C2
    return emitOpError("expected a result of the given sizes, but got ")
           << getType();
  return success();
}

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(
      RankedTensorType::get(adaptor.getStaticSizes(),
                            tileType(adaptor.getSource()).getElementType()));
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = getSource().getType(), to = getType();
  if (from.hasStaticShape() && to.hasStaticShape() &&
      from.getNumElements() != to.getNumElements()) // C1
    return emitOpError("expected ")
           << from.getNumElements() << " elements, but got "
           << to.getNumElements();
  return success();
}

LogicalResult ByteLookupOp::verify() {
  constexpr int64_t size = 256;
  if (int64_t count = getTable().getNumElements(); count != size) // C1
    return emitOpError("expected a table of ")
           << size << " elements, but got " << count;
  return success();
}

LogicalResult BitcastOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType source = tileType(adaptor.getSource());
  Type from = source.getElementType(), to = adaptor.getElement();
  if (from.isIndex() || !to.isIntOrFloat() ||
      from.getIntOrFloatBitWidth() % to.getIntOrFloatBitWidth()) // C1
    return emitOptionalError(loc,
                             "expected elements of a multiple of the bits "
                             "of ",
                             to, ", but got ", from);
  SmallVector<int64_t> shape(source.getShape());
  shape.push_back(from.getIntOrFloatBitWidth() / to.getIntOrFloatBitWidth());
  types.push_back(RankedTensorType::get(shape, to));
  return success();
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType source = tileType(adaptor.getSource());
  SmallVector<int64_t> shape;
  for (int64_t dim : adaptor.getPerm()) {
    if (dim < 0 || dim >= source.getRank()) // C1
      return emitOptionalError(loc, "expected perm entries below ",
                               source.getRank(), ", but got ", dim);
    shape.push_back(source.getDimSize(dim));
  }
  types.push_back(RankedTensorType::get(shape, source.getElementType()));
  return success();
}

LogicalResult TransposeOp::verify() {
  llvm::SmallDenseSet<int64_t> seen(getPerm().begin(), getPerm().end());
  if ((int64_t)getPerm().size() != getSource().getType().getRank() ||
      seen.size() != getPerm().size()) // C1
    return emitOpError("expected a permutation of ")
           << getSource().getType().getRank() << " dimensions";
  return success();
}
