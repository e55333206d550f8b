// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ops that move elements: views, permutations, slices, padding, concatenation.
#include "KernelLowering.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace adze::graph;

namespace {

Type getStoredType(Value tensor) {
  return getMemrefType(tensor.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// constant, reshape
//===----------------------------------------------------------------------===//

/// A splat fills a temporary; other small constants become globals.
LogicalResult lowerConstant(ConstantOp op, KernelLowering &k) {
  if (op->use_empty())
    return success();
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return op.emitError("expected constants over 1 KiB to be arguments of the "
                        "kernel");
  Type type = getStoredType(op.getResult());
  bool isPackedType = isPacked(dense.getElementType());
  ElementBuilder b = k.elements();
  auto getScalar = [&](Attribute scalar) {
    if (auto integer = dyn_cast<IntegerAttr>(scalar))
      scalar = IntegerAttr::get(type, integer.getValue());
    else if (isSmallFloat(dense.getElementType()))
      scalar = IntegerAttr::get(
          type, cast<FloatAttr>(scalar).getValue().bitcastToAPInt());
    return b.constant(cast<TypedAttr>(scalar));
  };
  if (dense.isSplat() && !isPackedType) {
    linalg::FillOp::create(k.builder, k.loc,
                           getScalar(dense.getSplatValue<Attribute>()),
                           k.getOutput(op.getResult()));
    return success();
  }
  if (isPackedType)
    k.clearPacked(op.getResult());
  // The constant is small, so it is stored element by element.
  Value output = k.getOutput(op.getResult());
  SmallVector<int64_t> at(dense.getType().getRank(), 0);
  ArrayRef<int64_t> shape = dense.getType().getShape();
  for (Attribute scalar : dense.getValues<Attribute>()) {
    auto indices =
        llvm::map_to_vector(at, [&](int64_t i) { return k.index(i); });
    if (isPackedType)
      k.storePacked(getScalar(scalar), op.getResult(), indices);
    else
      k.store(getScalar(scalar), output, indices);
    for (int64_t d = at.size() - 1; d >= 0 && ++at[d] == shape[d]; --d)
      at[d] = 0;
  }
  return success();
}

LogicalResult lowerReshape(ReshapeOp op, KernelLowering &k) {
  Value input = k.get(op.getInput());
  if (!k.hasPlace(op.getResult())) {
    k.set(op.getResult(), k.view(input, op.getResult()));
    return success();
  }
  if (k.isAlias(op))
    return success();
  Value from = k.view(input, op.getResult());
  memref::CopyOp::create(k.builder, k.loc, from, k.get(op.getResult()));
  return success();
}

//===----------------------------------------------------------------------===//
// transpose, concat: linalg
//===----------------------------------------------------------------------===//

LogicalResult lowerTranspose(TransposeOp op, KernelLowering &k) {
  linalg::TransposeOp::create(k.builder, k.loc, k.get(op.getInput()),
                              k.getOutput(op.getResult()), op.getPerm());
  return success();
}

/// Copies a tensor to the part of the output that begins at `start`.
void copyInto(Value output, Value tensor, int64_t axis, Value start,
              KernelLowering &k) {
  SmallVector<Value> sizes = k.getSizes(tensor);
  // An empty tensor is skipped, as an empty view at the end would be out of
  // bounds.
  if (llvm::any_of(sizes,
                   [](Value size) { return getConstantIntValue(size) == 0; }))
    return;
  SmallVector<OpFoldResult> offsets(sizes.size(), k.builder.getIndexAttr(0)),
      strides(sizes.size(), k.builder.getIndexAttr(1)), extents;
  for (Value size : sizes)
    extents.push_back(getAsOpFoldResult(size));
  offsets[axis] = getAsOpFoldResult(start);
  Value part = memref::SubViewOp::create(k.builder, k.loc, output, offsets,
                                         extents, strides);
  linalg::CopyOp::create(k.builder, k.loc, k.get(tensor), part);
}

LogicalResult lowerConcat(ConcatOp op, KernelLowering &k) {
  Value output = k.getOutput(op.getResult());
  int64_t axis = op.getAxis();
  Value start = k.index(0);
  for (Value tensor : op.getInputs()) {
    copyInto(output, tensor, axis, start, k);
    start = k.add(start, k.getSizes(tensor)[axis]);
  }
  return success();
}

/// An empty tensor only allocates its memory.
LogicalResult lowerEmpty(EmptyOp op, KernelLowering &k) {
  (void)k.getOutput(op.getResult());
  return success();
}

LogicalResult lowerInsertSlice(InsertSliceOp op, KernelLowering &k) {
  Value output = k.getOutput(op.getResult());
  if (!k.isTied(op.getResult()))
    linalg::CopyOp::create(k.builder, k.loc, k.get(op.getDest()), output);
  for (auto [i, source] : llvm::enumerate(op.getSources())) {
    Value offset = k.evaluate(op.getOffset(i));
    if (!offset)
      return op.emitOpError("expected offsets of symbols that the kernel sees");
    copyInto(output, source, op.getAxis(), offset, k);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// One load an element
//===----------------------------------------------------------------------===//

LogicalResult lowerSlice(SliceOp op, KernelLowering &k) {
  Value input = k.get(op.getInput());
  SmallVector<Value> starts;
  for (auto [i, start] : llvm::enumerate(op.getStartExprs())) {
    if (!op.getBegin()) {
      starts.push_back(k.evaluate(start));
      if (!starts.back())
        return op.emitOpError(
            "expected starts of symbols that the kernel sees");
      continue;
    }
    Value begin = k.load(k.get(op.getBegin()), k.index(i));
    starts.push_back(arith::IndexCastOp::create(
        k.builder, k.loc, k.builder.getIndexType(), begin));
  }
  k.fill(op.getResult(), [&](ValueRange out) {
    SmallVector<Value> at;
    for (auto [i, index] : llvm::enumerate(out))
      at.push_back(k.add(starts[i], k.mul(index, op.getSteps()[i])));
    return k.load(input, at);
  });
  return success();
}

/// Returns the mirror image of a position without the edge, for any distance.
Value reflect(KernelLowering &k, Value position, Value size) {
  // With period 2 * (size - 1), this is |p mod period|, with the second half
  // reversed.
  Value one = k.index(1), zero = k.index(0);
  Value last = k.sub(size, one);
  Value period = k.max(k.mul(last, 2), one);
  Value rest = k.builder.createOrFold<arith::RemSIOp>(k.loc, position, period);
  Value negative = k.compare(arith::CmpIPredicate::slt, rest, zero);
  rest = k.select(negative, k.add(rest, period), rest);
  Value beyond = k.compare(arith::CmpIPredicate::sgt, rest, last);
  return k.select(beyond, k.sub(period, rest), rest);
}

Value wrap(KernelLowering &k, Value position, Value size) {
  Value rest = k.builder.createOrFold<arith::RemSIOp>(k.loc, position,
                                                      k.max(size, k.index(1)));
  Value negative = k.compare(arith::CmpIPredicate::slt, rest, k.index(0));
  return k.select(negative, k.add(rest, size), rest);
}

LogicalResult lowerPad(PadOp op, KernelLowering &k) {
  Value input = k.get(op.getInput());
  SmallVector<Value> sizes = k.getSizes(op.getInput());
  Value padding;
  if (op.getMode() == PadMode::Constant) {
    padding = k.number(getStoredType(op.getResult()), 0);
    if (Value value = op.getValue()) {
      SmallVector<Value> first(
          cast<RankedTensorType>(value.getType()).getRank(), k.index(0));
      padding = k.load(k.get(value), first);
    }
  }
  k.fill(op.getResult(), [&](ValueRange out) -> Value {
    SmallVector<Value> at;
    Value inside;
    for (auto [i, index] : llvm::enumerate(out)) {
      Value position = k.add(index, -op.getLow()[i]);
      if (op.getLow()[i] == 0 && op.getHigh()[i] == 0) {
        at.push_back(position);
        continue;
      }
      switch (op.getMode()) {
      case PadMode::Constant: {
        // One unsigned comparison checks both bounds.
        Value holds = k.compare(arith::CmpIPredicate::ult, position, sizes[i]);
        inside = inside ? k.conjunction(inside, holds) : holds;
        break;
      }
      case PadMode::Edge:
        position = k.max(k.min(position, k.add(sizes[i], -1)), k.index(0));
        break;
      case PadMode::Reflect:
        position = reflect(k, position, sizes[i]);
        break;
      case PadMode::Wrap:
        position = wrap(k, position, sizes[i]);
        break;
      }
      at.push_back(position);
    }
    if (!inside)
      return k.load(input, at);
    return k.ifThenElse(inside, [&] { return k.load(input, at); }, padding);
  });
  return success();
}

LogicalResult lowerReverse(ReverseOp op, KernelLowering &k) {
  Value input = k.get(op.getInput());
  SmallVector<Value> sizes = k.getSizes(op.getInput());
  k.fill(op.getResult(), [&](ValueRange out) {
    SmallVector<Value> at(out);
    for (int64_t axis : op.getAxes())
      at[axis] = k.sub(k.add(sizes[axis], -1), out[axis]);
    return k.load(input, at);
  });
  return success();
}

LogicalResult lowerTrilu(TriluOp op, KernelLowering &k) {
  Value input = k.get(op.getInput());
  Value zero = k.number(getStoredType(op.getResult()), 0);
  Value diagonal = k.index(op.getK());
  k.fill(op.getResult(), [&](ValueRange out) {
    Value distance = k.sub(out.back(), out[out.size() - 2]);
    Value kept = k.compare(op.getUpper() ? arith::CmpIPredicate::sge
                                         : arith::CmpIPredicate::sle,
                           distance, diagonal);
    return k.select(kept, k.load(input, out), zero);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Numbers from nothing
//===----------------------------------------------------------------------===//

LogicalResult lowerShape(ShapeOp op, KernelLowering &k) {
  Value output = k.getOutput(op.getResult());
  for (auto [i, size] : llvm::enumerate(k.getSizes(op.getInput())))
    k.store(k.toNumber(size, k.builder.getI64Type()), output, k.index(i));
  return success();
}

LogicalResult lowerRange(RangeOp op, KernelLowering &k) {
  Value start = k.loadWide(k.get(op.getStart()), {});
  Value delta = k.loadWide(k.get(op.getDelta()), {});
  Value output = k.getOutput(op.getResult());
  k.forEach(k.getSizes(op.getResult()), [&](ValueRange out) {
    Value i = k.toNumber(out[0], delta.getType());
    k.storeWide(k.addNum(start, k.mulNum(i, delta)), output, out);
  });
  return success();
}

LogicalResult lowerOneHot(OneHotOp op, KernelLowering &k) {
  Value indices = k.get(op.getIndices()), values = k.get(op.getValues());
  Type declared =
      cast<RankedTensorType>(op.getIndices().getType()).getElementType();
  int64_t axis = op.getAxis();
  Value depth = k.getSize(op.getResult(), axis);
  Value off = k.load(values, k.index(0)), on = k.load(values, k.index(1));
  k.fill(op.getResult(), [&](ValueRange out) {
    SmallVector<Value> at(out);
    at.erase(at.begin() + axis);
    ElementBuilder b = k.elements();
    Value hot =
        buildCast(b, k.load(indices, at), declared, k.builder.getI64Type());
    hot = arith::IndexCastOp::create(k.builder, k.loc, k.builder.getIndexType(),
                                     hot);
    Value negative = k.compare(arith::CmpIPredicate::slt, hot, k.index(0));
    hot = k.select(negative, k.add(hot, depth), hot);
    return k.select(k.compare(arith::CmpIPredicate::eq, hot, out[axis]), on,
                    off);
  });
  return success();
}

} // namespace

FamilyResult adze::graph::lowerDataMovement(Operation *op, KernelLowering &k) {
#define ADZE_LOWER(OP, FUNCTION)                                               \
  if (auto concrete = dyn_cast<OP>(op))                                        \
    return FUNCTION(concrete, k);
  ADZE_LOWER(ConstantOp, lowerConstant)
  ADZE_LOWER(ReshapeOp, lowerReshape)
  ADZE_LOWER(TransposeOp, lowerTranspose)
  ADZE_LOWER(ConcatOp, lowerConcat)
  ADZE_LOWER(EmptyOp, lowerEmpty)
  ADZE_LOWER(InsertSliceOp, lowerInsertSlice)
  ADZE_LOWER(SliceOp, lowerSlice)
  ADZE_LOWER(PadOp, lowerPad)
  ADZE_LOWER(ReverseOp, lowerReverse)
  ADZE_LOWER(TriluOp, lowerTrilu)
  ADZE_LOWER(ShapeOp, lowerShape)
  ADZE_LOWER(RangeOp, lowerRange)
  ADZE_LOWER(OneHotOp, lowerOneHot)
#undef ADZE_LOWER
  return std::nullopt;
}
