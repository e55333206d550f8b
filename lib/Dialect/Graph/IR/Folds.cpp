// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Folders and canonicalisation patterns that are cheap and always an
// improvement.
#include "Infer.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace adze::graph;

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// Identities
//===----------------------------------------------------------------------===//

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getInput().getType() == getResult().getType() ? getInput() : Value();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  return getInput().getType() == getResult().getType() ? getInput() : Value();
}

OpFoldResult BroadcastToOp::fold(FoldAdaptor) {
  // Without known dims, equal types do not mean equal shapes.
  bool known = llvm::all_of(getDims(getResult()),
                            [](AffineExpr dim) { return bool(dim); });
  return known && getInput().getType() == getResult().getType() ? getInput()
                                                                : Value();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (isIdentityPermutation(getPerm()) &&
      getInput().getType() == getResult().getType())
    return getInput();
  return {};
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1 &&
      getInputs().front().getType() == getResult().getType())
    return getInputs().front();
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  auto isOne = [](int64_t step) { return step == 1; };
  Dims from = getDims(getInput()), to = getDims(getResult());
  if (!getBegin() && llvm::all_of(getSteps(), isOne) && areEqual(from, to) &&
      getInput().getType() == getResult().getType())
    return getInput();
  return {};
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t pad) { return pad == 0; };
  if (llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero) &&
      getInput().getType() == getResult().getType())
    return getInput();
  return {};
}
