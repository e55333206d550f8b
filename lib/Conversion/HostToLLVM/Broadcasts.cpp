// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes that a host program takes to agree, checked before it begins.
#include "Broadcasts.h"
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Host/IR/Host.h"
#include "Formula.h"

using namespace mlir;

namespace adze {

/// How many symbols the inputs' dims give.
static unsigned countInputSymbols(func::FuncOp program) {
  unsigned count = 0;
  auto numInputs = program->getAttrOfType<IntegerAttr>(host::numInputsAttr);
  for (int64_t i = 0, end = numInputs ? numInputs.getInt() : 0; i < end; ++i)
    if (auto map = program.getArgAttrOfType<AffineMapAttr>(i, host::dimsAttr))
      for (AffineExpr dim : map.getValue().getResults())
        if (auto symbol = dyn_cast<AffineSymbolExpr>(dim))
          count = std::max(count, symbol.getPosition() + 1);
  return count;
}

static bool isKnown(AffineExpr expr, unsigned numKnown) {
  bool known = true;
  expr.walk([&](AffineExpr part) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      known &= symbol.getPosition() < numKnown;
  });
  return known;
}

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
        bad = LLVM::AndOp::create(builder, loc, bad, differ(size, one()));
    any = any ? LLVM::OrOp::create(builder, loc, any, bad).getResult() : bad;
  }

  Value any;

private:
  Value differ(Value lhs, Value rhs) {
    return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, lhs,
                                rhs);
  }
  Value one() {
    return formula.emit(getAffineConstantExpr(1, loc.getContext()));
  }

  OpBuilder &builder;
  Location loc;
  Formula formula;
};
} // namespace

Value emitSizeViolation(OpBuilder &builder, func::FuncOp program,
                        Value symbols) {
  Violation violation(builder, program.getLoc(), symbols);
  unsigned numKnown = countInputSymbols(program);
  for (StringRef name : {graph::broadcastsAttr, graph::equalitiesAttr}) {
    auto maps = program->getAttrOfType<ArrayAttr>(name);
    if (!maps)
      continue;
    for (auto map : maps.getAsRange<AffineMapAttr>()) {
      SmallVector<AffineExpr> sizes;
      for (AffineExpr size : map.getValue().getResults())
        if (isKnown(size, numKnown))
          sizes.push_back(size);
      for (size_t i = 0; i < sizes.size(); ++i)
        for (size_t k = 0; k < i; ++k)
          violation.add(sizes[i], sizes[k], name == graph::broadcastsAttr);
    }
  }
  return violation.any;
}

} // namespace adze
