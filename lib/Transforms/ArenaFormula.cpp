// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes of the arena of a host program for given values of its symbols.
#include "Transforms/ArenaFormula.h"
#include "Dialect/Host/IR/Host.h"
#include "Support/AffineEvaluate.h"

using namespace mlir;

namespace adze {

int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> symbols) {
  return evaluateAffine(expr, [&](AffineExpr leaf) {
    unsigned position = cast<AffineSymbolExpr>(leaf).getPosition();
    return position < symbols.size() ? symbols[position] : 0;
  });
}

SmallVector<int64_t> getTypicalSymbols(func::FuncOp program, int64_t usual) {
  SmallVector<int64_t> values;
  if (auto names = program->getAttrOfType<ArrayAttr>(host::symbolsAttr))
    values.assign(names.size(), usual);
  auto ranges = program->getAttrOfType<ArrayAttr>(host::symbolRangesAttr);
  if (!ranges)
    return values;
  for (auto [value, attr] : llvm::zip(values, ranges)) {
    auto range = dyn_cast<DenseI64ArrayAttr>(attr); // min, max, common
    if (!range || range.size() != 3)
      continue;
    if (range[1] >= 0)
      value = std::min(value, range[1]);
    value = std::max(value, range[0]);
    if (range[2] >= 0)
      value = range[2];
  }
  return values;
}

static int64_t evaluateMax(Attribute attr, ArrayRef<int64_t> symbols) {
  int64_t result = 0;
  if (auto map = dyn_cast_if_present<AffineMapAttr>(attr))
    for (AffineExpr expr : map.getValue().getResults())
      result = std::max(result, evaluate(expr, symbols));
  return result;
}

ArenaSize getArenaSize(func::FuncOp program, ArrayRef<int64_t> symbols) {
  ArenaSize size;
  size.bytes = evaluateMax(program->getAttr(host::arenaBytesAttr), symbols);
  size.lowerBound =
      evaluateMax(program->getAttr(host::arenaLowerBoundAttr), symbols);
  MLIRContext *context = program.getContext();
  llvm::DenseMap<Value, int64_t> ends;
  for (auto slot : program.front().getOps<host::SlotOp>()) {
    if (slot.getBox())
      continue; // not in the arena
    int64_t offset =
        evaluate(host::getBytesExpr(slot.getOffsetAttr(), context), symbols);
    for (Value other : slot.getAfter())
      offset = std::max(offset, ends.lookup(other));
    int64_t bytes =
        evaluate(host::getBytesExpr(slot.getSize(), context), symbols);
    int64_t end = offset + int64_t(llvm::alignTo(bytes, host::placeAlignment));
    ends[slot.getResult()] = end;
    size.bytes = std::max(size.bytes, end);
  }
  return size;
}

} // namespace adze
