// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands and parameters of attention.
#include "AttentionParts.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

std::pair<Value, Value> adze::separateScales(Value operand) {
  Value rows = operand;
  while (auto slice = rows.getDefiningOp<SliceOp>()) {
    bool isAtFront = !slice.getBegin() &&
                     llvm::all_of(slice.getStartExprs(), [](AffineExpr start) {
                       return getConstant(start) == 0;
                     });
    if (!isAtFront ||
        llvm::any_of(slice.getSteps(), [](int64_t step) { return step != 1; }))
      break;
    rows = slice.getInput();
  }
  auto scaled = rows.getDefiningOp<MulOp>();
  auto reshape =
      scaled ? scaled.getRhs().getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!reshape)
    return {operand, Value()};
  Dims elements = getDims(scaled.getLhs());
  bool isOfRows =
      getDims(reshape.getResult()).size() == elements.size() &&
      areEqual(getDims(reshape.getInput()), ArrayRef(elements).drop_back());
  return isOfRows ? std::pair(scaled.getLhs(), reshape.getInput())
                  : std::pair(operand, Value());
}

SmallVector<int64_t> adze::getEvenKeyBlocks(int64_t keys, int64_t block) {
  constexpr int64_t longest = 1024;
  SmallVector<int64_t> menu;
  if (keys > 0 && keys % block == 0)
    for (int64_t size = 1; size <= std::min(keys, longest); ++size)
      if (keys % size == 0)
        menu.push_back(size);
  return menu;
}

int64_t adze::chooseKeysOfMatrices(tile::CudaTargetAttr target, int64_t keys) {
  constexpr int64_t usual = 64, most = 128, granule = 32;
  // Blocks of 128 keys of which the last one is masked take less time than
  // whole blocks of 64 keys. Without copies by tensor maps, registers hold 64.
  int64_t best = target.has(tile::CudaFeature::tma) ? most : usual;
  if (keys < 0 || keys % best == 0)
    return usual;
  return keys <= usual ? llvm::alignTo(keys, granule) : best;
}

int64_t adze::chooseKeysOfPart(int64_t elements) {
  // The registers of a warp hold this many elements of keys, and of values.
  constexpr int64_t held = 1024, least = 4, most = 32;
  return std::clamp<int64_t>(llvm::bit_floor(uint64_t(held / elements)), least,
                             most);
}
