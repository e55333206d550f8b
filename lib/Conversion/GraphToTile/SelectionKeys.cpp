// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Keys are integers in the order of the values, in which NaN is the greatest
// and zeros are equal.
#include "SelectionKeys.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Returns the type in which elements are compared: at least f32 for floats.
static Type getWideType(Type element) {
  bool isNarrow = element.isF16() || element.isBF16();
  return isNarrow ? Float32Type::get(element.getContext())
                  : getSignlessType(element);
}

SelectionKeys::SelectionKeys(KernelEmitter &e, Type element, bool reverses)
    : e(e), b(e.builder()), loc(e.loc()), reverses(reverses),
      wide(getWideType(element)),
      type(b.getIntegerType(wide.getIntOrFloatBitWidth())) {}

bool SelectionKeys::exist(Type element) {
  return isa<FloatType>(element) || element.isSignlessInteger(32) ||
         element.isSignlessInteger(64);
}

Value SelectionKeys::flip(Value bits, ArrayRef<int> axes) {
  int64_t signBit = type.getIntOrFloatBitWidth() - 1;
  Value sign = arith::ShRSIOp::create(b, loc, bits, number(signBit, axes));
  return arith::XOrIOp::create(
      b, loc, bits,
      arith::AndIOp::create(b, loc, sign, number(getMost(), axes)));
}

Value SelectionKeys::make(const Emitted &elements) {
  Emitted x = e.convert(elements, wide);
  Value key = x.value;
  if (isa<FloatType>(wide)) {
    // -0.0 + 0.0 is 0.0.
    Value sum = arith::AddFOp::create(
        b, loc, key, e.constant(b.getFloatAttr(wide, 0.0), x.axes));
    Value bits =
        arith::BitcastOp::create(b, loc, e.tileType(x.axes, type), sum);
    Value isNan =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, sum, sum);
    key = arith::SelectOp::create(b, loc, isNan, number(getMost(), x.axes),
                                  flip(bits, x.axes));
  }
  return reverses ? arith::XOrIOp::create(b, loc, key, number(-1, x.axes))
                        .getResult()
                  : key;
}

Value SelectionKeys::getElements(Value keys, ArrayRef<int> axes) {
  if (reverses)
    keys = arith::XOrIOp::create(b, loc, keys, number(-1, axes));
  if (!isa<FloatType>(wide))
    return keys;
  return arith::BitcastOp::create(b, loc, e.tileType(axes, wide),
                                  flip(keys, axes));
}

LogicalResult adze::storeAt(KernelEmitter &e, TopKOp op, RangesRef from,
                            RangesRef to, Value places) {
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  const DimRange &range = *llvm::find_if(
      from, [](const DimRange &range) { return range.axis >= 0; });
  Axes axes{range.axis};
  for (auto [i, output] : llvm::enumerate(e.getOutputs())) {
    Value tile;
    if (output == op.getValues()) {
      auto elements = e.emit(op.getInput(), from);
      if (failed(elements))
        return failure();
      tile = e.broadcast(*elements, axes);
    } else if (output == op.getIndices()) {
      Type i64 = b.getI64Type();
      Value first = arith::IndexCastOp::create(b, loc, i64, range.offset);
      tile = arith::AddIOp::create(b, loc, e.broadcast({first, {}}, axes),
                                   e.emitPositions(range.axis, i64).value);
    } else {
      return e.fail("a selection has no epilogue");
    }
    if (failed(e.store({tile, axes}, e.getOutputMemory(i), to, places)))
      return failure();
  }
  return success();
}
