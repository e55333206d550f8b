// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Views of the operands of attention.
#include "AttentionViews.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace adze::graph;

bool adze::graph::isBatchReshape(ReshapeOp op) {
  Dims from = getDims(op.getInput()), to = getDims(op.getResult());
  return !op.getShape() && from.size() >= 2 && to.size() >= 2 &&
         areEqual(ArrayRef<AffineExpr>(from).take_back(2),
                  ArrayRef<AffineExpr>(to).take_back(2));
}

bool adze::graph::isFloatCast(Operation *op) {
  auto cast = dyn_cast_or_null<CastOp>(op);
  return cast && isa<FloatType>(getElement(cast.getInput())) &&
         isa<FloatType>(getElement(cast.getResult()));
}

static SmallVector<int64_t> getPermOfLastTwo(int64_t rank) {
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(perm[rank - 1], perm[rank - 2]);
  return perm;
}

MatmulOp adze::graph::getTransposedProduct(Operation *op) {
  auto transpose = dyn_cast<TransposeOp>(op);
  auto product =
      transpose ? transpose.getInput().getDefiningOp<MatmulOp>() : MatmulOp();
  if (!product || !product->hasOneUse())
    return {};
  auto perm = getPermOfLastTwo(getRank(product.getResult()));
  return transpose.getPerm() == ArrayRef<int64_t>(perm) ? product : MatmulOp();
}

Dims adze::graph::getBatch(Value value) {
  Dims dims = getDims(value);
  dims.truncate(dims.size() - 2);
  return dims;
}

Value adze::graph::swapLastTwo(OpBuilder &b, Value value) {
  if (auto reshape = value.getDefiningOp<ReshapeOp>();
      reshape && isBatchReshape(reshape) &&
      isa_and_nonnull<TransposeOp, ReshapeOp>(
          reshape.getInput().getDefiningOp())) {
    Dims dims = getDims(value);
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    return ReshapeOp::create(b, value.getLoc(),
                             makeType(getElement(value), dims),
                             swapLastTwo(b, reshape.getInput()));
  }
  SmallVector<int64_t> perm = getPermOfLastTwo(getRank(value));
  Value source = value;
  if (auto transpose = value.getDefiningOp<TransposeOp>()) {
    perm = applyPermutation(transpose.getPerm(), perm);
    source = transpose.getInput();
    if (isIdentityPermutation(perm))
      return source;
  }
  return TransposeOp::create(b, value.getLoc(), source, perm);
}

int64_t adze::graph::countLarge(Value value) {
  return llvm::count_if(getDims(value),
                        [](AffineExpr dim) { return getConstant(dim) != 1; });
}

RankedTensorType adze::graph::withElement(Value value, Type element) {
  return cast<RankedTensorType>(
      cast<RankedTensorType>(value.getType()).clone(element));
}

Value adze::graph::getNarrow(OpBuilder &b, Value value) {
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(op)) {
    Type type = getElement(cast.getInput());
    bool isSmall = type.isF16() || type.isBF16();
    return isSmall && getElement(value).isF32() ? cast.getInput() : Value();
  }
  if (!isa_and_nonnull<ReshapeOp, TransposeOp>(op) || op->getNumOperands() != 1)
    return {};
  Value input = getNarrow(b, op->getOperand(0));
  if (!input)
    return {};
  Operation *moved = b.clone(*op);
  moved->setOperand(0, input);
  moved->getResult(0).setType(withElement(value, getElement(input)));
  return moved->getResult(0);
}

CastOp adze::graph::findNarrowing(Value value, Type type,
                                  SmallVectorImpl<Operation *> &ops) {
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (auto cast = dyn_cast<CastOp>(user))
      return getElement(cast.getResult()) == type ? cast : CastOp();
    if (!isa<ReshapeOp, TransposeOp>(user) || user->getNumOperands() != 1)
      break;
    ops.push_back(user);
    value = user->getResult(0);
  }
  return {};
}
