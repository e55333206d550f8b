// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Inference and cost of attention.
#include "Infer.h"

using namespace mlir;
using namespace adze::graph;
using namespace adze::graph::op_detail;

/// Returns how many indices of a dim of the query share an index of that of the
/// key or value: 0 if that is 1 and broadcast, 1 if they are equal, more if
/// heads share a group; nothing if the sizes do not determine it.
static std::optional<int64_t> getRatio(AffineExpr query, AffineExpr other,
                                       bool isHead) {
  if (areEqual(query, other))
    return 1;
  if (!other)
    return std::nullopt;
  if (getConstant(other) == 1)
    return 0;
  AffineExpr ratio =
      isHead && query ? divideExactly(query, other) : AffineExpr();
  std::optional<int64_t> known =
      ratio ? getConstant(ratio) : std::optional<int64_t>();
  return known && *known > 0 ? known : std::nullopt;
}

static LogicalResult checkOperand(Where where, Value query, Value operand,
                                  StringRef what) {
  Dims to = getDims(query), from = getDims(operand);
  int64_t rank = to.size();
  if (int64_t(from.size()) != rank)
    return inferError<AttentionOp>(where, "expected a ", rank, "-D ", what,
                                   ", but got ", toString(from));
  if (getElement(query) != getElement(operand))
    return inferError<AttentionOp>(
        where, "expected equal element types, but got ", getElement(query),
        " and ", getElement(operand));
  for (int64_t dim = 0; dim + 2 < rank; ++dim) {
    bool known = to[dim] && from[dim] && areDifferent(to[dim], from[dim]);
    if (known && !getRatio(to[dim], from[dim], dim + 3 == rank))
      return inferError<AttentionOp>(
          where, "expected a ", what, " with the batch dims of the query ",
          toString(to), ", but got ", toString(from));
  }
  return success();
}

/// Checks that bias or mask broadcast to the scores.
static LogicalResult checkScores(Where where, Value operand,
                                 ArrayRef<AffineExpr> scores, StringRef what) {
  if (!operand)
    return success();
  Dims dims = getDims(operand);
  bool fits = dims.size() <= scores.size();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    AffineExpr score = scores[scores.size() - dims.size() + i];
    fits = getConstant(dims[i]) == 1 || !areDifferent(dims[i], score);
  }
  if (!fits)
    return inferError<AttentionOp>(where, "expected a ", what,
                                   " that broadcasts to ", toString(scores),
                                   ", but got ", toString(dims));
  return success();
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *context, Where where,
                                            Adaptor adaptor, Types &types) {
  Value query = adaptor.getQuery();
  Dims dims = getDims(query);
  if (dims.size() < 3)
    return inferError<AttentionOp>(
        where, "expected operands of rank 3 or more, but got ", toString(dims));
  if (failed(checkOperand(where, query, adaptor.getKey(), "key")) ||
      failed(checkOperand(where, query, adaptor.getValue(), "value")))
    return failure();
  Dims key = getDims(adaptor.getKey()), value = getDims(adaptor.getValue());
  if (areDifferent(dims.back(), key.back()))
    return inferError<AttentionOp>(where,
                                   "expected keys of the query's size, "
                                   "but got ",
                                   toString(dims), " and ", toString(key));
  AffineExpr keys = key.end()[-2];
  if (areDifferent(keys, value.end()[-2]))
    return inferError<AttentionOp>(where,
                                   "expected as many keys as values, "
                                   "but got ",
                                   toString(key), " and ", toString(value));
  Dims scores(dims);
  scores.back() = keys;
  if (failed(checkScores(where, adaptor.getBias(), scores, "bias")) ||
      failed(checkScores(where, adaptor.getMask(), scores, "mask")))
    return failure();
  dims.back() = value.back();
  types.push_back(makeType(getElement(query), dims));
  return success();
}

Dims AttentionOp::getScoreDims() {
  Dims dims = getDims(getQuery());
  dims.back() = getDims(getKey()).end()[-2];
  return dims;
}

std::optional<int64_t> AttentionOp::getRepeats(Value operand, int64_t dim) {
  Dims query = getDims(getQuery());
  return getRatio(query[dim], getDims(operand)[dim],
                  dim + 3 == int64_t(query.size()));
}

/// There are two products, and five operations for each score.
AffineExpr AttentionOp::getFlops() {
  MLIRContext *context = getContext();
  AffineExpr sizes =
      addExprs(getDims(getQuery()).back(), getDims(getValue()).back());
  AffineExpr perScore =
      addExprs(mulExprs(getAffineConstantExpr(2, context), sizes),
               getAffineConstantExpr(5, context));
  return mulExprs(product(context, getScoreDims()), perScore);
}
