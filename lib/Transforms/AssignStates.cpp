// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Places of states: buffers of the caller.
#include "Assignment.h"
#include "Dialect/Graph/IR/States.h"

using namespace mlir;
using namespace adze;

/// Returns true if the state refers to an input and an output of the program,
/// and has the parameters of its kind.
static bool isSound(graph::StateAttr state, func::FuncOp program) {
  if (state.getInput() >= program.getNumArguments() ||
      state.getOutput() >= program.getNumResults())
    return false;
  auto input =
           cast<RankedTensorType>(program.getArgumentTypes()[state.getInput()]),
       output =
           cast<RankedTensorType>(program.getResultTypes()[state.getOutput()]);
  auto isSize = [](AffineMapAttr map) {
    return map && map.getValue().getNumResults() == 1 &&
           map.getValue().getNumDims() == 0;
  };
  return input.getElementType() == output.getElementType() &&
         input.getRank() == output.getRank() &&
         (state.getKind() != graph::StateKind::Rows ||
          (state.getAxis() < input.getRank() && state.getPitch() >= 0 &&
           isSize(state.getRows()) && isSize(state.getDrop())));
}

LogicalResult Assignment::checkStates() {
  auto states = program->getAttrOfType<ArrayAttr>(graph::statesAttr);
  if (!states)
    return success();
  for (Attribute attribute : states) {
    auto state = dyn_cast<graph::StateAttr>(attribute);
    if (!state || !isSound(state, program))
      return program.emitError("expected an input and an output of one element "
                               "type and rank, and pitch, rows and drop of "
                               "kind rows, but got ")
             << attribute;
  }
  return success();
}

LogicalResult Assignment::assign(graph::OpenStateOp op) {
  auto states = program->getAttrOfType<ArrayAttr>(graph::statesAttr);
  auto state = states && op.getState() < states.size()
                   ? cast<graph::StateAttr>(states[op.getState()])
                   : graph::StateAttr();
  if (!state || state.getKind() != graph::StateKind::Rows)
    return op.emitOpError("expected a state of the function, of kind rows, but "
                          "got ")
           << op.getState();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  places[op.getResult()] = host::StateOp::create(
      builder, op.getLoc(), getPlaceType(type), op.getStateAttr(),
      builder.getI64IntegerAttr(state.getPitch()));
  return success();
}
