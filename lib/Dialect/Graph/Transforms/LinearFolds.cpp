// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of folds into weights: vectors of channels and constant weights.
#include "LinearFolds.h"

using namespace mlir;
using namespace adze::graph;

bool adze::graph::isConstant(Value value, unsigned depth) {
  constexpr unsigned most = 16;
  if (matchPattern(value, m_Constant()))
    return true;
  Operation *op = value.getDefiningOp();
  return op && depth < most &&
         isa<CastOp, MulOp, AddOp, SubOp, DivOp, SqrtOp, NegOp, ReciprocalOp,
             ReshapeOp, BroadcastToOp, PadOp, ReduceSumOp>(op) &&
         llvm::all_of(
             op->getOperands(),
             [&](Value operand) { return isConstant(operand, depth + 1); });
}

Value adze::graph::alongAxis(OpBuilder &builder, Value vector, int64_t axis,
                             int64_t rank) {
  auto type = cast<RankedTensorType>(vector.getType());
  Dims dims(rank, getAffineConstantExpr(1, vector.getContext()));
  dims[axis] = getDims(type)[0];
  return ReshapeOp::create(builder, vector.getLoc(),
                           makeType(type.getElementType(), dims), vector);
}

Value adze::graph::scaleSecond(OpBuilder &builder, Location loc, Value filter,
                               Value vector, int64_t groups) {
  Dims dims = getDims(filter);
  if (groups == 1)
    return MulOp::create(builder, loc, filter,
                         alongAxis(builder, vector, 1, dims.size()));
  auto type = cast<RankedTensorType>(filter.getType());
  Dims split =
      makeDims(builder.getContext(), {groups, type.getDimSize(0) / groups});
  split.append(dims.begin() + 1, dims.end());
  Dims numbers(split.size(), getAffineConstantExpr(1, builder.getContext()));
  numbers[0] = split[0];
  numbers[2] = split[2];
  Type element = type.getElementType();
  Value apart =
      ReshapeOp::create(builder, loc, makeType(element, split), filter);
  Value each =
      ReshapeOp::create(builder, loc, makeType(element, numbers), vector);
  Value scaled = MulOp::create(builder, loc, apart, each);
  return ReshapeOp::create(builder, loc, type, scaled);
}

bool adze::graph::isChannelVector(Value constant, int64_t axis, int64_t rank,
                                  AffineExpr channels) {
  auto type = cast<RankedTensorType>(constant.getType());
  Dims dims = getDims(constant);
  std::optional<int64_t> count = getConstant(channels);
  int64_t elements = type.hasStaticShape() ? type.getNumElements() : -1;
  if (!isConstant(constant) || !count || type.getRank() > rank ||
      (elements != 1 && elements != *count))
    return false;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (rank - type.getRank() + i != axis && getConstant(dims[i]) != 1)
      return false;
  return true;
}

Value adze::graph::getChannelVector(OpBuilder &builder, Value constant,
                                    int64_t axis, int64_t rank,
                                    AffineExpr channels) {
  if (!isChannelVector(constant, axis, rank, channels))
    return {};
  auto type = cast<RankedTensorType>(constant.getType());
  int64_t elements = type.getNumElements(), count = *getConstant(channels);
  auto vector = RankedTensorType::get({elements}, type.getElementType());
  Value flat = ReshapeOp::create(builder, constant.getLoc(), vector, constant);
  if (elements == count)
    return flat;
  return BroadcastToOp::create(
      builder, constant.getLoc(),
      RankedTensorType::get({count}, type.getElementType()), flat);
}

std::array<ProductWeight, 2> adze::graph::getProductWeights(MatmulOp matmul) {
  int64_t left = cast<RankedTensorType>(matmul.getLhs().getType()).getRank(),
          right = cast<RankedTensorType>(matmul.getRhs().getType()).getRank(),
          rank = cast<RankedTensorType>(matmul.getType()).getRank();
  int64_t row = left - (matmul.getTransposeA() ? 1 : 2),
          column = right - (matmul.getTransposeB() ? 2 : 1),
          leftDepth = left - (matmul.getTransposeA() ? 2 : 1),
          rightDepth = right - (matmul.getTransposeB() ? 1 : 2);
  return {ProductWeight{0, row, leftDepth, rank - 2, rightDepth},
          ProductWeight{1, column, rightDepth, rank - 1, leftDepth}};
}

Value adze::graph::scaleProduct(OpBuilder &builder, Location loc,
                                MatmulOp matmul, const ProductWeight &place,
                                Value scale, Value summand) {
  Value weight = matmul->getOperand(place.operand);
  int64_t own = cast<RankedTensorType>(weight.getType()).getRank(),
          rank = cast<RankedTensorType>(matmul.getType()).getRank();
  Value scaled = MulOp::create(builder, matmul.getLoc(), weight,
                               alongAxis(builder, scale, place.own, own));
  auto product = cast<MatmulOp>(builder.clone(*matmul));
  product->setOperand(place.operand, scaled);
  product->setLoc(builder.getFusedLoc({matmul.getLoc(), loc}));
  if (!summand)
    return product;
  if (place.axis + 1 != rank)
    summand = alongAxis(builder, summand, 0, rank - place.axis);
  return AddOp::create(builder, loc, product, summand);
}

std::pair<TransposeOp, MatmulOp>
adze::graph::getTransposedProduct(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose || !transpose->hasOneUse())
    return {};
  Value source = transpose.getInput();
  if (auto add = source.getDefiningOp<AddOp>();
      add && add->hasOneUse() && isConstant(add.getRhs()))
    source = add.getLhs();
  auto matmul = source.getDefiningOp<MatmulOp>();
  if (!matmul || !matmul->hasOneUse())
    return {};
  return {transpose, matmul};
}
