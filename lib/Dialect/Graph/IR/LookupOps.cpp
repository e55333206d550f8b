// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Inference of gather and scatter.
#include "Infer.h"

using namespace mlir;
using namespace adze::graph;
using namespace adze::graph::op_detail;

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context, Where where,
                                         Adaptor adaptor, Types &types) {
  Dims data = getDims(adaptor.getData()), result;
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis<GatherOp>(where, axis, data.size())))
    return failure();
  result.append(data.begin(), data.begin() + axis);
  result.append(getDims(adaptor.getIndices()));
  result.append(data.begin() + axis + 1, data.end());
  types.push_back(makeType(getElement(adaptor.getData()), result));
  return success();
}

/// Checks that the indices of gather_elements and scatter_elements have the
/// rank of the data.
template <typename OpT>
static LogicalResult checkElementIndices(Where where,
                                         typename OpT::Adaptor adaptor) {
  int64_t rank = getRank(adaptor.getData());
  if (failed(checkAxis<OpT>(where, adaptor.getAxis(), rank)))
    return failure();
  if (getRank(adaptor.getIndices()) != rank)
    return inferError<OpT>(where, "expected indices of rank ", rank,
                           ", but got ", getRank(adaptor.getIndices()));
  return success();
}

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *context,
                                                 Where where, Adaptor adaptor,
                                                 Types &types) {
  if (failed(checkElementIndices<GatherElementsOp>(where, adaptor)))
    return failure();
  types.push_back(
      makeType(getElement(adaptor.getData()), getDims(adaptor.getIndices())));
  return success();
}

LogicalResult ScatterElementsOp::inferReturnTypes(MLIRContext *context,
                                                  Where where, Adaptor adaptor,
                                                  Types &types) {
  if (failed(checkElementIndices<ScatterElementsOp>(where, adaptor)))
    return failure();
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  auto updates = cast<RankedTensorType>(adaptor.getUpdates().getType());
  SmallVector<int64_t> shape(indices.getShape());
  for (auto [size, wide] : llvm::zip(shape, updates.getShape()))
    size = size == 1 ? wide : size;
  if (!areCompatible(
          TypeRange(indices.clone(shape, getElement(adaptor.getData()))),
          TypeRange(updates)))
    return inferError<ScatterElementsOp>(
        where,
        "expected updates of the data's element type and the shape of "
        "the indices ",
        indices, ", but got ", updates);
  types.push_back(adaptor.getData().getType());
  return success();
}

bool ScatterElementsOp::replacesRows() {
  int64_t rank = getRank(getData());
  return getReduction() == ScatterReduction::None &&
         int64_t(getAxis()) + 1 < rank &&
         getConstant(getDims(getIndices()).back()) == 1 &&
         areEqual(getDims(getData()).back(), getDims(getUpdates()).back());
}

/// Returns the dims of the slices that index tuples select, after those of the
/// indices.
template <typename OpT>
static FailureOr<Dims> pickedDims(Where where, Value data, Value indices,
                                  int64_t batch) {
  Dims from = getDims(data), at = getDims(indices);
  int64_t shared = std::min(from.size(), at.size());
  std::optional<int64_t> tuple =
      at.empty() ? std::nullopt : getConstant(at.back());
  int64_t rank = from.size();
  if (!tuple || batch < 0 || batch >= shared || *tuple < 1 ||
      *tuple > rank - batch)
    return inferError<OpT>(where,
                           "expected indices whose last dim is between 1 and ",
                           rank - std::clamp<int64_t>(batch, 0, rank),
                           " and batch dims below both ranks, but "
                           "got ",
                           toString(at), " and ", batch);
  for (int64_t i = 0; i < batch; ++i)
    if (areDifferent(from[i], at[i]))
      return inferError<OpT>(where, "expected equal batch dims, but got ",
                             toString(from), " and ", toString(at));
  Dims result(at.begin(), at.end() - 1);
  result.append(from.begin() + batch + *tuple, from.end());
  return result;
}

LogicalResult GatherNDOp::inferReturnTypes(MLIRContext *context, Where where,
                                           Adaptor adaptor, Types &types) {
  auto dims = pickedDims<GatherNDOp>(
      where, adaptor.getData(), adaptor.getIndices(), adaptor.getBatchDims());
  if (failed(dims))
    return failure();
  types.push_back(makeType(getElement(adaptor.getData()), *dims));
  return success();
}

LogicalResult ScatterNDOp::inferReturnTypes(MLIRContext *context, Where where,
                                            Adaptor adaptor, Types &types) {
  auto dims = pickedDims<ScatterNDOp>(where, adaptor.getData(),
                                      adaptor.getIndices(), 0);
  if (failed(dims))
    return failure();
  Type expected = makeType(getElement(adaptor.getData()), *dims);
  if (!areCompatible(TypeRange(expected),
                     TypeRange(adaptor.getUpdates().getType())))
    return inferError<ScatterNDOp>(where, "expected updates of type ", expected,
                                   ", but got ",
                                   adaptor.getUpdates().getType());
  types.push_back(adaptor.getData().getType());
  return success();
}

LogicalResult TreeLeavesOp::inferReturnTypes(MLIRContext *context, Where where,
                                             Adaptor adaptor, Types &types) {
  Value input = adaptor.getInput(), nodes = adaptor.getNodes(),
        roots = adaptor.getRoots(), steps = adaptor.getSteps();
  if (getRank(input) != 2)
    return inferError<TreeLeavesOp>(
        where, "expected features of rank 2, but got ", input.getType());
  for (Value table : {nodes, roots, steps})
    if (getRank(table) != 1)
      return inferError<TreeLeavesOp>(
          where, "expected tables of rank 1, but got ", table.getType());
  int64_t words = getNumWords(getElement(input));
  if (getConstant(getDims(nodes)[0]).value_or(0) % words != 0)
    return inferError<TreeLeavesOp>(where, "expected nodes of ", words,
                                    " words, but got ", nodes.getType());
  AffineExpr trees = getDims(roots)[0];
  AffineExpr group = getAffineConstantExpr(treesAStep, context),
             rest = getAffineConstantExpr(treesAStep - 1, context);
  if (areDifferent(getDims(steps)[0],
                   floorDivExprs(addExprs(trees, rest), group)))
    return inferError<TreeLeavesOp>(
        where, "expected an entry of the steps for 16 trees, but got ",
        steps.getType());
  types.push_back(makeType(getElement(roots), {getDims(input)[0], trees}));
  return success();
}
