// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Registration of the graph dialect.
#include "Dialect/Graph/IR/Graph.h"
#include "ExprFacts.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace adze::graph;

#include "Dialect/Graph/IR/GraphDialect.cpp.inc"
#include "Dialect/Graph/IR/GraphEnums.cpp.inc"
#include "Dialect/Graph/IR/GraphInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "Dialect/Graph/IR/GraphAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "Dialect/Graph/IR/GraphTypes.cpp.inc"

namespace {
/// Graph ops have no effects that inlining would change.
struct GraphInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

Operation *GraphDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

void GraphDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Dialect/Graph/IR/GraphAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "Dialect/Graph/IR/GraphTypes.cpp.inc"
      >();
  registerGraphDialectOperations(this);
  addInterfaces<GraphInliner, ExprFactsInterface>();
}
