// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#include "ConstantFunction.h"

using namespace mlir;

namespace adze::graph {

const ConstantEvaluator *findEvaluator(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<GraphDialect>();
  return dialect ? dialect->getRegisteredInterface<ConstantEvaluator>()
                 : nullptr;
}

ConstantFunction::ConstantFunction(Location loc)
    : module(ModuleOp::create(loc)),
      builder(OpBuilder::atBlockEnd(module->getBody())) {
  main = func::FuncOp::create(builder, loc, "main",
                              builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(main.addEntryBlock());
}

LogicalResult
ConstantFunction::evaluate(const ConstantEvaluator &evaluator,
                           ValueRange results,
                           SmallVectorImpl<std::vector<char>> &bytes) {
  func::ReturnOp::create(builder, main.getLoc(), results);
  main.setFunctionType(builder.getFunctionType({}, results.getTypes()));
  return evaluator.evaluate(*module, bytes);
}

} // namespace adze::graph
