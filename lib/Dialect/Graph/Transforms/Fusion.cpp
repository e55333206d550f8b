// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Properties of ops for fusion, and hashes of clusters.
#include "Fusion.h"
#include "Dialect/Graph/IR/Shape.h"

using namespace mlir;

namespace adze::graph {

bool isUnitReshape(ReshapeOp op) {
  auto real = [](Value value) {
    Dims dims = getDims(value);
    llvm::erase_if(dims, [](AffineExpr dim) { return getConstant(dim) == 1; });
    return dims;
  };
  return areEqual(real(op.getInput()), real(op.getResult()));
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
