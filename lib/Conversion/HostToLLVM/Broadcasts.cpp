// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks the relations of sizes that a host program requires, before it begins
// or at host.holds.
#include "Broadcasts.h"
#include "Conversion/HostToLLVM/Formula.h"
#include "Dialect/Graph/IR/Broadcast.h"
#include "adze_module.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace adze {

/// Returns the error code of two sizes that do not agree, which names a symbol
/// of each if possible.
static int64_t getMisfit(AffineExpr lhs, AffineExpr rhs) {
  // From the second size, a symbol is used that the first one does not have.
  llvm::SmallSetVector<unsigned, 4> all;
  auto collect = [&](AffineExpr size) {
    size.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        if (symbol.getPosition() + 1 < ADZE_MISFIT_BASE)
          all.insert(symbol.getPosition());
    });
  };
  collect(lhs);
  size_t count = all.size();
  if (rhs)
    collect(rhs);
  size_t next = all.size() > count ? std::max<size_t>(count, 1) : 1;
  int64_t first = all.empty() ? 0 : all[0] + 1;
  int64_t second = next < all.size() ? all[next] + 1 : 0;
  return -1 - (first + second * int64_t(ADZE_MISFIT_BASE));
}

namespace {
/// Computes the disjunction of violations.
class Violation {
public:
  /// Ignores sizes of symbols other than the first `numKnown`.
  Violation(OpBuilder &builder, Location loc, Value symbols,
            unsigned numKnown = ~0u)
      : builder(builder), loc(loc), numKnown(numKnown),
        formula(builder, loc, symbols) {}

  /// Adds maps of sizes that have to be equal or, with `unlessOne`, 1.
  void addSets(ArrayAttr maps, bool unlessOne) {
    forEachMap(maps, [&](ArrayRef<AffineExpr> sizes) {
      for (size_t i = 0; i < sizes.size(); ++i)
        for (size_t k = 0; k < i; ++k)
          addPair(sizes[i], sizes[k], unlessOne);
    });
  }

  /// Adds maps of sizes that must not be negative.
  void addBounds(ArrayAttr maps) {
    forEachMap(maps, [&](ArrayRef<AffineExpr> sizes) {
      for (AffineExpr size : sizes)
        add(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt,
                                 formula.emit(size), formula.constant(0)),
            getMisfit(size, AffineExpr()));
    });
  }

  Value any;

  /// Returns the code of the first violation, or `number`.
  Value select(Value number) {
    for (auto [bad, code] : llvm::reverse(all))
      number = LLVM::SelectOp::create(builder, loc, bad, formula.constant(code),
                                      number);
    return number;
  }

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
    add(bad, getMisfit(first, second));
  }
  void add(Value bad, int64_t code) {
    all.push_back({bad, code});
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
  SmallVector<std::pair<Value, int64_t>> all;
};
} // namespace

Value emitUnlessMisfit(OpBuilder &builder, func::FuncOp program, Value symbols,
                       Value number) {
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
  return violation.select(number);
}

Value emitSizeViolation(OpBuilder &builder, host::HoldsOp op, Value symbols) {
  Violation violation(builder, op.getLoc(), symbols);
  violation.addSets(op.getBroadcastsAttr(), /*unlessOne=*/true);
  violation.addSets(op.getEqualitiesAttr(), /*unlessOne=*/false);
  violation.addBounds(op.getBoundsAttr());
  return violation.any;
}

} // namespace adze
