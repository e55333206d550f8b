// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The form of clusters.
#include "Fusion.h"

using namespace mlir;

namespace adze::graph {

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
