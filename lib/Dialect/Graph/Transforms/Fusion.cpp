// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What slices cut off of sums, and the form of clusters.
#include "Fusion.h"
#include "Dialect/Graph/IR/Shape.h"
#include "LinearFolds.h"

using namespace mlir;

namespace adze::graph {

bool isCutEvenly(std::optional<int64_t> n, int64_t most) {
  if (!n)
    return false;
  for (int64_t part = std::min(*n, most); 2 * part >= most; --part)
    if (*n % part == 0)
      return true;
  return *n <= most;
}

/// The dim of a reshape's operand that dim `dim` of its result is; -1 for one
/// of size 1. Both have the same dims but for those.
static int64_t mapUnitReshape(ReshapeOp op, int64_t dim) {
  Dims from = getDims(op.getInput()), to = getDims(op.getResult());
  int64_t place = 0;
  for (int64_t i = 0; i < dim; ++i)
    place += getConstant(to[i]) != 1;
  if (getConstant(to[dim]) == 1)
    return -1;
  for (int64_t i = 0, e = from.size(); i < e; ++i)
    if (getConstant(from[i]) != 1 && place-- == 0)
      return i;
  return -1;
}

/// Whether a slice among `movement` takes a part of what is dim `dim` of
/// `value`.
static bool cutsDim(ArrayRef<Operation *> movement, Value value, int64_t dim) {
  while (Operation *op = value.getDefiningOp()) {
    if (!llvm::is_contained(movement, op) || dim < 0)
      return false;
    if (auto slice = dyn_cast<SliceOp>(op)) {
      if (slice.getBegin() || !areEqual(getDims(slice.getInput())[dim],
                                        getDims(slice.getResult())[dim]))
        return true;
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      dim = transpose.getPerm()[dim];
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      dim = mapUnitReshape(reshape, dim);
    } else {
      dim -=
          getDims(op->getResult(0)).size() - getDims(op->getOperand(0)).size();
    }
    value = op->getOperand(0);
  }
  return false;
}

bool keepsSums(Operation *anchor, ArrayRef<Operation *> movement) {
  // `most`: blocks of all the ways to cut that there are.
  auto isKept = [&](Value value, int64_t dim, ArrayRef<int64_t> most) {
    std::optional<int64_t> size = getConstant(getDims(value)[dim]);
    return llvm::all_of(most,
                        [&](int64_t n) { return isCutEvenly(size, n); }) ||
           !cutsDim(movement, value, dim);
  };
  if (auto conv = dyn_cast<ConvOp>(anchor)) {
    int64_t last = getDims(conv.getInput()).size() - 1;
    return isKept(conv.getInput(), last, {512, 1024});
  }
  if (auto conv = dyn_cast<ConvTransposeOp>(anchor))
    return isKept(conv.getInput(), getChannelAxis(conv), {512});
  if (auto attention = dyn_cast<AttentionOp>(anchor)) {
    Value key = attention.getKey(), value = attention.getValue();
    int64_t rank = getDims(key).size();
    return isKept(key, rank - 2, {64}) && isKept(value, rank - 2, {64}) &&
           isKept(key, rank - 1, {64}) &&
           isKept(attention.getQuery(), rank - 1, {64});
  }
  auto matmul = dyn_cast<MatmulOp>(anchor);
  if (!matmul)
    return true;
  Value lhs = matmul.getLhs(), rhs = matmul.getRhs();
  int64_t left = getDims(lhs).size() - (matmul.getTransposeA() ? 2 : 1),
          right = getDims(rhs).size() - (matmul.getTransposeB() ? 1 : 2);
  bool isPacked = isa_and_nonnull<ConstantOp>(rhs.getDefiningOp());
  std::optional<int64_t> depth = getConstant(getDims(lhs)[left]);
  if (!isPacked && depth && *depth <= 256) // one block, whatever the caches
    return true;
  if (isPacked)
    return isKept(lhs, left, {1024});
  // Cut as the caches say.
  return !cutsDim(movement, lhs, left) && !cutsDim(movement, rhs, right);
}

unsigned hashForm(Block &body, function_ref<bool(Operation &)> isFree) {
  DenseMap<Value, unsigned> places;
  for (Value argument : body.getArguments())
    places.try_emplace(argument, places.size());
  llvm::hash_code code = llvm::hash_value(body.getArgumentTypes().size());
  for (Type type : body.getArgumentTypes())
    code = llvm::hash_combine(code, type);
  for (Operation &op : body) {
    code = llvm::hash_combine(code, op.getName());
    if (!isFree(op))
      code = llvm::hash_combine(code, op.getAttrDictionary());
    for (Value operand : op.getOperands())
      code = llvm::hash_combine(code, places.lookup(operand));
    for (Value result : op.getResults()) {
      code = llvm::hash_combine(code, result.getType());
      places.try_emplace(result, places.size());
    }
  }
  return static_cast<unsigned>(code);
}

} // namespace adze::graph
