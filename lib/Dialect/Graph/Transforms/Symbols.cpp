// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Typical values of symbols: those of --dim, or any.
#include "Symbols.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Host/IR/Host.h"

using namespace mlir;
using namespace adze::graph;

TypicalSizes::TypicalSizes(func::FuncOp function) {
  for (Type type : function.getArgumentTypes())
    if (isa<RankedTensorType>(type))
      for (AffineExpr dim : getDims(type))
        if (dim)
          dim.walk([&](AffineExpr part) {
            if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
              known.insert(symbol.getPosition());
          });
  if (auto ranges =
          function->getAttrOfType<ArrayAttr>(adze::host::symbolRangesAttr))
    for (auto range : ranges.getAsRange<DenseI64ArrayAttr>())
      common.push_back(range.size() == 3 ? range[2] : -1);
}

bool TypicalSizes::areKnown(Type type) const {
  return llvm::all_of(getDims(type), [&](AffineExpr dim) {
    bool all = bool(dim);
    if (dim)
      dim.walk([&](AffineExpr part) {
        auto symbol = dyn_cast<AffineSymbolExpr>(part);
        all &= !symbol || known.contains(symbol.getPosition());
      });
    return all;
  });
}

int64_t TypicalSizes::get(AffineExpr size) const {
  constexpr int64_t any = 128;
  if (!size)
    return any;
  SmallVector<AffineExpr> values;
  size.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    while (symbol && values.size() <= symbol.getPosition()) {
      size_t i = values.size();
      bool told = i < common.size() && common[i] >= 0;
      values.push_back(
          getAffineConstantExpr(told ? common[i] : any, size.getContext()));
    }
  });
  return getConstant(size.replaceSymbols(values)).value_or(any);
}
