// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The places of constants and of weights that the run time computes.
#include "Assignment.h"
#include "Dialect/Host/IR/External.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace adze;

/// Returns the place of an operand, packed by the layout of the kernel
/// argument.
Value Assignment::getOperandPlace(host::LaunchOp launch, unsigned index) {
  Value operand = launch.getOperand(index);
  auto kernel = symbols.lookup<FunctionOpInterface>(launch.getCallee());
  MemRefType wanted;
  if (kernel && index < kernel.getNumArguments())
    wanted = dyn_cast<MemRefType>(kernel.getArgumentTypes()[index]);
  if (!wanted || wanted.getLayout().isIdentity() ||
      isa<StridedLayoutAttr>(wanted.getLayout()))
    return getPlace(operand);
  auto layout = AffineMapAttr::get(wanted.getLayout().getAffineMap());
  if (auto transform = operand.getDefiningOp<graph::TransformFilterOp>())
    return createTransform(transform, layout);
  ElementsAttr data;
  if (!matchPattern(operand, m_Constant(&data))) {
    launch.emitOpError("expected operand ")
        << index << " to be a constant, because the kernel takes it packed";
    return Value();
  }
  return createConstant(operand.getLoc(), data, layout);
}

Value Assignment::createConstant(Location loc, ElementsAttr value,
                                 AffineMapAttr layout) {
  auto type = cast<RankedTensorType>(Type(value.getShapedType()));
  return host::ConstantOp::create(builder, loc, getPlaceType(type), value,
                                  layout, IntegerAttr());
}

Value Assignment::createTransform(graph::TransformFilterOp op,
                                  AffineMapAttr layout) {
  ElementsAttr filter;
  if (!matchPattern(op.getFilter(), m_Constant(&filter))) {
    op.emitOpError("expected a filter that is a constant");
    return Value();
  }
  Location loc = op.getLoc();
  Value windows = createConstant(loc, filter, AffineMapAttr()),
        matrix = createConstant(loc, op.getMatrix(), AffineMapAttr());
  return host::TransformOp::create(
      builder, loc, getPlaceType(cast<RankedTensorType>(op.getType())), windows,
      matrix, layout, IntegerAttr());
}

/// The values of overridable weights become constants, which no op reads.
void Assignment::placeDefaults() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&program.front());
  for (unsigned index = 0; index < program.getNumArguments(); ++index) {
    auto value =
        program.getArgAttrOfType<ElementsAttr>(index, host::defaultAttr);
    if (!value)
      continue;
    Value constant = createConstant(program.getLoc(), value, AffineMapAttr());
    constant.getDefiningOp()->setAttr(host::defaultOfAttr,
                                      builder.getI64IntegerAttr(index));
    program.removeArgAttr(index, host::defaultAttr);
  }
}
