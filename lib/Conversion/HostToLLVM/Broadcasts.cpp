// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes that a host program takes to agree, checked before it begins.
#include "Broadcasts.h"
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Host/IR/Host.h"
#include "Formula.h"

using namespace mlir;

namespace adze {

namespace {
/// Ors conditions together.
class Violation {
public:
  Violation(OpBuilder &builder, Location loc, Value symbols)
      : builder(builder), loc(loc), formula(builder, loc, symbols) {}

  /// Two sizes differ, and with `unlessOne` neither is 1.
  void add(AffineExpr first, AffineExpr second, bool unlessOne) {
    Value lhs = formula.emit(first), rhs = formula.emit(second);
    Value bad = differ(lhs, rhs);
    if (unlessOne)
      for (Value size : {lhs, rhs})
        bad = LLVM::AndOp::create(builder, loc, bad,
                                  differ(size, formula.constant(1)));
    add(bad);
  }

  void addNegative(AffineExpr size) {
    add(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt,
                             formula.emit(size), formula.constant(0)));
  }

  Value any;

private:
  void add(Value bad) {
    any = any ? LLVM::OrOp::create(builder, loc, any, bad).getResult() : bad;
  }
  Value differ(Value lhs, Value rhs) {
    return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, lhs,
                                rhs);
  }

  OpBuilder &builder;
  Location loc;
  Formula formula;
};
} // namespace

Value emitSizeViolation(OpBuilder &builder, func::FuncOp program,
                        Value symbols) {
  Violation violation(builder, program.getLoc(), symbols);
  unsigned numKnown = host::getNumInputSymbols(program);
  auto isKnown = [&](AffineExpr size) {
    return host::getNumSymbolsUsed(size) <= numKnown;
  };
  for (StringRef name : {graph::broadcastsAttr, graph::equalitiesAttr}) {
    auto maps = program->getAttrOfType<ArrayAttr>(name);
    if (!maps)
      continue;
    for (auto map : maps.getAsRange<AffineMapAttr>()) {
      SmallVector<AffineExpr> sizes;
      for (AffineExpr size : map.getValue().getResults())
        if (isKnown(size))
          sizes.push_back(size);
      for (size_t i = 0; i < sizes.size(); ++i)
        for (size_t k = 0; k < i; ++k)
          violation.add(sizes[i], sizes[k], name == graph::broadcastsAttr);
    }
  }
  SmallVector<AffineMapAttr> bounds;
  if (auto maps = program->getAttrOfType<ArrayAttr>(graph::boundsAttr))
    llvm::append_range(bounds, maps.getAsRange<AffineMapAttr>());
  if (auto map = program->getAttrOfType<AffineMapAttr>(host::sizesAttr))
    bounds.push_back(map);
  for (AffineMapAttr map : bounds)
    for (AffineExpr size : map.getValue().getResults())
      if (isKnown(size))
        violation.addNegative(size);
  return violation.any;
}

} // namespace adze
