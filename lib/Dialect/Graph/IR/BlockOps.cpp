// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Inference and cost of ops on blockwise quantized weights.
#include "Infer.h"

using namespace mlir;
using namespace adze::graph;
using namespace adze::graph::op_detail;

static bool areBits(int64_t bits) {
  return bits == 2 || bits == 4 || bits == 8;
}

//===----------------------------------------------------------------------===//
// dequantize_blocks
//===----------------------------------------------------------------------===//

LogicalResult DequantizeBlocksOp::verify() {
  int64_t bits = getBits(), block = getBlock();
  if (!areBits(bits))
    return emitOpError("expected 2, 4 or 8 bits, but got ") << bits;
  constexpr int64_t granule = 16;
  if (block < granule || block % granule != 0)
    return emitOpError("expected a block of a multiple of 16, but got ")
           << block;
  auto packed = cast<RankedTensorType>(getPacked().getType()),
       scales = cast<RankedTensorType>(getScales().getType()),
       result = cast<RankedTensorType>(getResult().getType());
  if (!packed.getElementType().isUnsignedInteger(8) ||
      (getZeros() && !getElement(getZeros()).isUnsignedInteger(8)))
    return emitOpError("expected packed and zeros of ui8");
  for (RankedTensorType type : {packed, scales, result})
    if (!type.hasStaticShape())
      return emitOpError("expected static shapes, but got ") << type;
  if (packed.getRank() != 3 || scales.getRank() != 2 || result.getRank() != 2 ||
      packed.getDimSize(0) != scales.getDimSize(0) ||
      packed.getDimSize(1) != scales.getDimSize(1) ||
      packed.getDimSize(2) != block * bits / 8 ||
      result.getDimSize(0) != packed.getDimSize(0) ||
      result.getDimSize(1) > packed.getDimSize(1) * block ||
      result.getDimSize(1) <= (packed.getDimSize(1) - 1) * block)
    return emitOpError("expected [N, B, ")
           << block * bits / 8 << "], [N, B] and [N, K] with K in "
           << "((B - 1) * " << block << ", B * " << block << "], but got "
           << packed << ", " << scales << " and " << result;
  if (getZeros() && cast<RankedTensorType>(getZeros().getType()).getShape() !=
                        scales.getShape())
    return emitOpError("expected zeros of the shape of the scales");
  if (scales.getElementType() != result.getElementType())
    return emitOpError("expected scales of the element type of the result");
  return success();
}

AffineExpr DequantizeBlocksOp::getFlops() {
  return getElementCost(getContext(), getResult().getType(), 2);
}

//===----------------------------------------------------------------------===//
// word_matmul
//===----------------------------------------------------------------------===//

LogicalResult WordMatmulOp::inferReturnTypes(MLIRContext *context, Where where,
                                             Adaptor adaptor, Types &types) {
  Dims lhs = getDims(adaptor.getLhs()), scales = getDims(adaptor.getScales()),
       starts = getDims(adaptor.getStarts()), rhs = getDims(adaptor.getRhs());
  int64_t bits = adaptor.getBits(), planes = adaptor.getPlanes();
  if (!areBits(bits) || planes < 1)
    return inferError<WordMatmulOp>(
        where, "expected 2, 4 or 8 bits and at least one plane, but got ", bits,
        " and ", planes);
  for (Value words : {adaptor.getLhs(), adaptor.getStarts(), adaptor.getRhs()})
    if (!getElement(words).isSignlessInteger(32))
      return inferError<WordMatmulOp>(where, "expected words of i32, but got ",
                                      words.getType());
  if (!getElement(adaptor.getScales()).isF32() ||
      (adaptor.getZeros() &&
       !getElement(adaptor.getZeros()).isUnsignedInteger(8)))
    return inferError<WordMatmulOp>(where,
                                    "expected scales of f32 and zeros of ui8");
  size_t rank = scales.size();
  if (rank < 2 || lhs.size() != rank + 1 || starts.size() != rank + 1 ||
      rhs.size() != 3)
    return inferError<WordMatmulOp>(
        where,
        "expected [.., M, B, W], [.., M, B], [.., M, B, P] and "
        "[B, R, N], but got ",
        toString(lhs), ", ", toString(scales), ", ", toString(starts), " and ",
        toString(rhs));
  auto words = getConstant(lhs.back()), rows = getConstant(rhs[1]);
  if (!words || !rows || *words % planes != 0 || *rows < 2 ||
      *words / planes * bits != 8 * (*rows - 1) ||
      (*rows - 1) * (8 / bits) * planes != *words)
    return inferError<WordMatmulOp>(
        where, "expected as many elements in blocks of both operands, but got ",
        toString(lhs), " and ", toString(rhs));
  for (size_t dim = 0; dim < rank; ++dim)
    if (areDifferent(lhs[dim], scales[dim]) ||
        areDifferent(starts[dim], scales[dim]))
      return inferError<WordMatmulOp>(
          where, "expected equal rows and blocks, but got ", toString(lhs),
          ", ", toString(scales), " and ", toString(starts));
  if (areDifferent(starts.back(), getAffineConstantExpr(planes, context)) ||
      areDifferent(scales.back(), rhs[0]))
    return inferError<WordMatmulOp>(
        where,
        "expected a start for each plane and as many blocks in both "
        "operands, but got ",
        toString(starts), " and ", toString(rhs));
  if (Value zeros = adaptor.getZeros())
    if (Dims dims = getDims(zeros); dims.size() != 2 ||
                                    areDifferent(dims[0], rhs[0]) ||
                                    areDifferent(dims[1], rhs[2]))
      return inferError<WordMatmulOp>(where, "expected zeros [B, N], but got ",
                                      toString(dims));
  Dims dims(scales);
  dims.back() = rhs[2];
  types.push_back(makeType(getElement(adaptor.getScales()), dims));
  return success();
}

int64_t WordMatmulOp::getBlockWords() {
  return cast<RankedTensorType>(getRhs().getType()).getDimSize(1) - 1;
}

AffineExpr WordMatmulOp::getFlops() {
  constexpr int64_t wordBytes = 4;
  AffineExpr depth = mulExprs(
      getDims(getRhs())[0], getAffineConstantExpr(wordBytes * getBlockWords() *
                                                      (8 / int64_t(getBits())),
                                                  getContext()));
  return mulExprs(getElementCost(getContext(), getResult().getType(), 2),
                  depth);
}

//===----------------------------------------------------------------------===//
// block_matmul
//===----------------------------------------------------------------------===//

LogicalResult BlockMatmulOp::inferReturnTypes(MLIRContext *context, Where where,
                                              Adaptor adaptor, Types &types) {
  constexpr int64_t wordBits = 32;
  Dims lhs = getDims(adaptor.getLhs()), rhs = getDims(adaptor.getRhs()),
       scales = getDims(adaptor.getScales());
  int64_t bits = adaptor.getBits();
  if (!areBits(bits))
    return inferError<BlockMatmulOp>(where, "expected 2, 4 or 8 bits, but got ",
                                     bits);
  if (!getElement(adaptor.getRhs()).isSignlessInteger(wordBits) ||
      (adaptor.getZeros() &&
       !getElement(adaptor.getZeros()).isUnsignedInteger(8)))
    return inferError<BlockMatmulOp>(where,
                                     "expected words of i32 and zeros of ui8");
  if (lhs.size() < 4 || rhs.size() != 3)
    return inferError<BlockMatmulOp>(
        where, "expected [.., M, B, W, 32 / bits] and [N, B, W], but got ",
        toString(lhs), " and ", toString(rhs));
  size_t rank = lhs.size();
  if (getConstant(lhs.back()) != wordBits / bits ||
      areDifferent(lhs[rank - 2], rhs[2]) ||
      areDifferent(lhs[rank - 3], rhs[1]))
    return inferError<BlockMatmulOp>(
        where, "expected equal blocks of both operands, but got ",
        toString(lhs), " and ", toString(rhs));
  for (Value each : {adaptor.getScales(), adaptor.getZeros()})
    if (Dims dims = each ? getDims(each) : scales;
        dims.size() != 2 || areDifferent(dims[0], rhs[0]) ||
        areDifferent(dims[1], rhs[1]))
      return inferError<BlockMatmulOp>(
          where, "expected scales and zeros [N, B], but got ", toString(dims));
  Dims dims(lhs);
  dims.pop_back_n(2);
  dims.back() = rhs[0];
  types.push_back(makeType(getElement(adaptor.getLhs()), dims));
  return success();
}

int64_t BlockMatmulOp::getBlock() {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(getLhs().getType()).getShape();
  return shape[shape.size() - 2] * shape.back();
}

AffineExpr BlockMatmulOp::getFlops() {
  AffineExpr depth = mulExprs(getDims(getRhs())[1],
                              getAffineConstantExpr(getBlock(), getContext()));
  return mulExprs(getElementCost(getContext(), getResult().getType(), 2),
                  depth);
}
