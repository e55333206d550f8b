// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Typical values of symbols: those of --dim, or any; symbols for long sums.
#include "Symbols.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Host/IR/LastRows.h"

using namespace mlir;
using namespace adze::graph;

TypicalSizes::TypicalSizes(func::FuncOp function) : function(function) {
  for (Type type : function.getArgumentTypes())
    forEachSymbol(type, [&](unsigned symbol) { known.insert(symbol); });
  for (adze::host::LastRows rows : adze::host::getLastRows(function))
    known.insert(rows.symbol);
  if (auto ranges =
          function->getAttrOfType<ArrayAttr>(adze::host::symbolRangesAttr))
    for (auto range : ranges.getAsRange<DenseI64ArrayAttr>())
      common.push_back(range.size() == 3 ? range[2] : -1);
}

bool TypicalSizes::areKnown(AffineExpr size) const {
  bool all = bool(size);
  forEachSymbol(size, [&](unsigned symbol) { all &= known.contains(symbol); });
  return all;
}

bool TypicalSizes::areKnown(Type type) const {
  return llvm::all_of(getDims(type),
                      [&](AffineExpr dim) { return areKnown(dim); });
}

unsigned adze::graph::addSymbol(func::FuncOp function) {
  Builder builder(function.getContext());
  unsigned numUsed = 0;
  for (Type type : function.getArgumentTypes())
    forEachSymbol(type, [&](unsigned symbol) {
      numUsed = std::max(numUsed, symbol + 1);
    });
  auto append = [&](StringRef name, Attribute attr) {
    auto old = function->getAttrOfType<ArrayAttr>(name);
    SmallVector<Attribute> all;
    if (old)
      llvm::append_range(all, old);
    all.resize(std::max<size_t>(all.size(), numUsed), attr);
    all.push_back(attr);
    function->setAttr(name, builder.getArrayAttr(all));
    return all.size() - 1;
  };
  if (function->hasAttr(adze::host::symbolRangesAttr))
    append(adze::host::symbolRangesAttr,
           builder.getDenseI64ArrayAttr({0, -1, -1}));
  return append(adze::host::symbolsAttr, builder.getStringAttr(""));
}

AffineExpr TypicalSizes::getName(AffineExpr sum, Operation *user) {
  if (isa<AffineConstantExpr, AffineSymbolExpr>(sum))
    return sum;
  bool isEarly = areKnown(sum);
  AffineExpr &name = names[sum];
  if (name && isEarly)
    return name;
  unsigned symbol = addSymbol(function);
  name = getAffineSymbolExpr(symbol, sum.getContext());
  OpBuilder builder(user);
  if (isEarly && lastName)
    builder.setInsertionPointAfter(lastName);
  else if (isEarly)
    builder.setInsertionPointToStart(&function.front());
  auto assign = AssignOp::create(builder, user->getLoc(), symbol, sum);
  if (isEarly) {
    lastName = assign;
    known.insert(symbol);
  }
  return name;
}

int64_t TypicalSizes::get(AffineExpr size) const {
  constexpr int64_t any = 128;
  if (!size)
    return any;
  SmallVector<AffineExpr> values;
  for (size_t i = 0, end = countSymbols(size); i < end; ++i) {
    bool isKnown = i < common.size() && common[i] >= 0;
    values.push_back(
        getAffineConstantExpr(isKnown ? common[i] : any, size.getContext()));
  }
  return getConstant(size.replaceSymbols(values)).value_or(any);
}
