// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph.cluster: syntax and verification.
#include "Dialect/Graph/IR/Graph.h"

using namespace mlir;
using namespace adze::graph;

void ClusterOp::build(OpBuilder &builder, OperationState &state,
                      TypeRange results, ValueRange inputs, StringRef anchor) {
  state.addTypes(results);
  state.addOperands(inputs);
  if (!anchor.empty())
    state.getOrAddProperties<Properties>().anchor =
        builder.getStringAttr(anchor);
  auto *block = new Block();
  for (Value input : inputs)
    block->addArgument(input.getType(), input.getLoc());
  state.addRegion()->push_back(block);
}

YieldOp ClusterOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

/// graph.cluster(%a = %x, ...) anchor "matmul" {attributes} : (types) -> types
/// {
ParseResult ClusterOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() {
        return failure(parser.parseArgument(arguments.emplace_back()) ||
                       parser.parseEqual() ||
                       parser.parseOperand(operands.emplace_back()));
      }))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("anchor"))) {
    // Not an attribute, which would parse the colon as that of its type.
    std::string anchor;
    if (parser.parseString(&anchor))
      return failure();
    state.getOrAddProperties<Properties>().anchor =
        parser.getBuilder().getStringAttr(anchor);
  }
  FunctionType type;
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, state.operands))
    return failure();
  for (auto [argument, input] : llvm::zip_equal(arguments, type.getInputs()))
    argument.type = input;
  state.addTypes(type.getResults());
  Region *body = state.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), state.location);
  return success();
}

void ClusterOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(getBody().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          printer << std::get<0>(pair) << " = "
                                  << std::get<1>(pair);
                        });
  printer << ')';
  if (StringAttr anchor = getAnchorAttr())
    printer << " anchor " << anchor;
  printer.printOptionalAttrDict((*this)->getAttrs(), {getAnchorAttrName()});
  printer << " : ";
  printer.printFunctionalType(getInputs().getTypes(), getResultTypes());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ClusterOp::verify() {
  TypeRange inputs = getInputs().getTypes();
  TypeRange arguments = getBody().getArgumentTypes();
  if (inputs != arguments)
    return emitOpError("expected block arguments of the operands' types ")
           << inputs << ", but got " << arguments;
  TypeRange yielded = getYield().getOperandTypes();
  if (yielded != getResultTypes())
    return emitOpError("expected the yield to have the result types ")
           << getResultTypes() << ", but got " << yielded;
  return success();
}
