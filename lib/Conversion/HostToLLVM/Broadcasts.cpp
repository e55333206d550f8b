// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes that a host program takes to agree, checked before it begins or where
// it says so.
#include "Broadcasts.h"
#include "Dialect/Graph/IR/Broadcast.h"
#include "Formula.h"

using namespace mlir;

namespace adze {

namespace {
/// Ors conditions together.
class Violation {
public:
  /// Sizes of other symbols than the first `numKnown` are left out.
  Violation(OpBuilder &builder, Location loc, Value symbols,
            unsigned numKnown = ~0u)
      : builder(builder), loc(loc), numKnown(numKnown),
        formula(builder, loc, symbols) {}

  /// Maps of sizes that have to be equal or, with `unlessOne`, 1.
  void addSets(ArrayAttr maps, bool unlessOne) {
    forEachMap(maps, [&](ArrayRef<AffineExpr> sizes) {
      for (size_t i = 0; i < sizes.size(); ++i)
        for (size_t k = 0; k < i; ++k)
          addPair(sizes[i], sizes[k], unlessOne);
    });
  }

  /// Maps of sizes that must not be negative.
  void addBounds(ArrayAttr maps) {
    forEachMap(maps, [&](ArrayRef<AffineExpr> sizes) {
      for (AffineExpr size : sizes)
        add(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt,
                                 formula.emit(size), formula.constant(0)));
    });
  }

  Value any;

private:
  void forEachMap(ArrayAttr maps,
                  llvm::function_ref<void(ArrayRef<AffineExpr>)> visit) {
    if (!maps)
      return;
    for (auto map : maps.getAsRange<AffineMapAttr>()) {
      SmallVector<AffineExpr> sizes(map.getValue().getResults());
      llvm::erase_if(sizes, [&](AffineExpr size) {
        return host::getNumSymbolsUsed(size) > numKnown;
      });
      visit(sizes);
    }
  }
  void addPair(AffineExpr first, AffineExpr second, bool unlessOne) {
    Value lhs = formula.emit(first), rhs = formula.emit(second);
    Value bad = differ(lhs, rhs);
    if (unlessOne)
      for (Value size : {lhs, rhs})
        bad = LLVM::AndOp::create(builder, loc, bad,
                                  differ(size, formula.constant(1)));
    add(bad);
  }
  void add(Value bad) {
    any = any ? LLVM::OrOp::create(builder, loc, any, bad).getResult() : bad;
  }
  Value differ(Value lhs, Value rhs) {
    return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, lhs,
                                rhs);
  }

  OpBuilder &builder;
  Location loc;
  unsigned numKnown;
  Formula formula;
};
} // namespace

Value emitSizeViolation(OpBuilder &builder, func::FuncOp program,
                        Value symbols) {
  Violation violation(builder, program.getLoc(), symbols,
                      host::getNumInputSymbols(program));
  auto get = [&](StringRef name) {
    return program->getAttrOfType<ArrayAttr>(name);
  };
  violation.addSets(get(graph::broadcastsAttr), /*unlessOne=*/true);
  violation.addSets(get(graph::equalitiesAttr), /*unlessOne=*/false);
  violation.addBounds(get(graph::boundsAttr));
  if (auto map = program->getAttrOfType<AffineMapAttr>(host::sizesAttr))
    violation.addBounds(builder.getArrayAttr(map));
  return violation.any;
}

Value emitSizeViolation(OpBuilder &builder, host::HoldsOp op, Value symbols) {
  Violation violation(builder, op.getLoc(), symbols);
  violation.addSets(op.getBroadcastsAttr(), /*unlessOne=*/true);
  violation.addSets(op.getEqualitiesAttr(), /*unlessOne=*/false);
  violation.addBounds(op.getBoundsAttr());
  return violation.any;
}

} // namespace adze
