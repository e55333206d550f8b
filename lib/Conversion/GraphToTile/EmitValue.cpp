// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits the tile of a graph value at ranges, through elementwise ops and data
// movement down to loads.
#include "Families.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

static bool isScalarRanges(ArrayRef<DimRange> ranges) {
  return llvm::all_of(ranges,
                      [](const DimRange &range) { return range.axis < 0; });
}

KernelEmitter::Key KernelEmitter::getKey(Value value,
                                         ArrayRef<DimRange> ranges) const {
  Dims dims = getDims(value);
  Key key;
  unsigned dim = 0;
  for (const DimRange &range : ranges) {
    unsigned first = dims.size(), count = 0;
    // A window may leave a dim of size 1.
    bool isBeyond =
        range.span == 1 && getConstantIntValue(range.offset).value_or(0) != 0;
    // A tile along an axis there has only one valid element.
    bool isAlong =
        range.axis >= 0 && getConstantIntValue(axisSizes[range.axis]) != 1;
    for (unsigned i = 0; i < range.span; ++i, ++dim)
      if (getConstant(dims[dim]) != 1 || isBeyond) {
        first = std::min(first, dim);
        ++count;
      }
    if (count > 0)
      key.push_back({range.offset.getAsOpaquePointer(), range.axis,
                     range.stride, first, count,
                     range.end.getAsOpaquePointer()});
    else if (isAlong)
      key.push_back({nullptr, range.axis, 0, dim, 0, nullptr});
  }
  return key;
}

void KernelEmitter::define(Value value, ArrayRef<DimRange> ranges,
                           Emitted tile) {
  scopes.back()[value][getKey(value, ranges)] = std::move(tile);
}

FailureOr<Emitted> KernelEmitter::emit(Value value, ArrayRef<DimRange> ranges) {
  Key key = getKey(value, ranges);
  for (auto &scope : llvm::reverse(scopes)) {
    auto known = scope.find(value);
    if (known == scope.end())
      continue;
    if (auto entry = known->second.find(key); entry != known->second.end())
      return entry->second;
  }
  FailureOr<Emitted> tile = compute(value, ranges);
  if (succeeded(tile))
    define(value, ranges, *tile);
  return tile;
}

FailureOr<Value> KernelEmitter::emitOn(Value value, ArrayRef<DimRange> ranges,
                                       ArrayRef<int> axes) {
  auto tile = emit(value, ranges);
  auto isForeign = [&](int axis) { return !llvm::is_contained(axes, axis); };
  if (succeeded(tile) && llvm::any_of(tile->axes, isForeign)) {
    // Cached tiles are along another axis, as this is a dim of size 1.
    auto known = std::exchange(scopes, decltype(scopes)(1));
    tile = emit(value, ranges);
    scopes = std::move(known);
  }
  if (failed(tile))
    return failure();
  if (llvm::any_of(tile->axes, isForeign))
    return fail("a tile has another axis than its indices");
  return broadcast(*tile, axes);
}

/// Returns the repeated element of a small constant as a signless scalar
/// attribute.
static TypedAttr getSplat(ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements || !elements.isSplat())
    return {};
  Attribute element = elements.getSplatValue<Attribute>();
  Type type = getSignlessType(elements.getElementType());
  if (auto integer = dyn_cast<IntegerAttr>(element))
    return IntegerAttr::get(type, integer.getValue());
  return cast<TypedAttr>(element);
}

FailureOr<Emitted> KernelEmitter::compute(Value value,
                                          ArrayRef<DimRange> ranges) {
  Operation *op = value.getDefiningOp();
  if (Value buffer = memory.lookup(value)) {
    FailureOr<Emitted> tile = load(buffer, ranges);
    if (failed(tile) || !getElementTypeOrSelf(value.getType()).isInteger(1))
      return tile;
    TileElementBuilder builder(*this, tile->axes);
    Value zero = builder.constant(b.getI8IntegerAttr(0));
    return Emitted{arith::CmpIOp::create(b, location, arith::CmpIPredicate::ne,
                                         tile->value, zero),
                   tile->axes};
  }
  using Result = FailureOr<Emitted>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](ConstantOp constant) -> Result {
        TypedAttr splat = getSplat(constant);
        if (!splat)
          return fail("a constant in the kernel is not a splat");
        return Emitted{this->constant(splat, {}), {}};
      })
      .Case([&](ElementwiseOpInterface op) {
        return emitElementwise(op, ranges);
      })
      .Case([&](BatchNormOp op) { return emitBatchNorm(op, ranges); })
      .Case([&](TransposeOp op) { return emitTranspose(op, ranges); })
      .Case([&](BroadcastToOp op) { return emitBroadcast(op, ranges); })
      .Case([&](SliceOp op) { return emitSlice(op, ranges); })
      .Case([&](PadOp op) { return emitPad(op, ranges); })
      .Case([&](ReverseOp op) { return emitReverse(op, ranges); })
      .Case([&](ConcatOp op) { return emitConcat(op, ranges); })
      .Case([&](ResizeOp op) { return emitResize(op, ranges); })
      .Case([&](RangeOp op) { return emitRange(op, ranges); })
      .Case([&](ShapeOp op) {
        return emitOneOf(*this, getDims(op.getInput()), ranges);
      })
      .Case([&](TriluOp op) { return emitTrilu(op, ranges); })
      .Case([&](ReshapeOp op) { return emitReshape(op, ranges); })
      .Case([&](ReduceOpInterface op) { return emitRowReduction(op, ranges); })
      .Case([&](GatherOp op) { return emitGather(op, ranges); })
      .Case([&](GatherElementsOp op) { return emitGatherElements(op, ranges); })
      .Case([&](GatherNDOp op) { return emitGatherND(op, ranges); })
      .Default([&](Operation *op) -> Result {
        return fail(op->getName().getStringRef() + " has no tile form");
      });
}

FailureOr<Emitted> KernelEmitter::emitElementwise(ElementwiseOpInterface op,
                                                  ArrayRef<DimRange> ranges) {
  Value result = op->getResult(0);
  unsigned rank = cast<RankedTensorType>(result.getType()).getRank();
  SmallVector<Emitted> operands;
  llvm::SmallSetVector<int, 4> used;
  for (Value operand : op->getOperands()) {
    unsigned operandRank = cast<RankedTensorType>(operand.getType()).getRank();
    auto where =
        mapRanges(ranges, result, operand, alignRight(operandRank, rank));
    if (failed(where))
      return failure();
    auto tile = emit(operand, *where);
    if (failed(tile))
      return failure();
    used.insert(tile->axes.begin(), tile->axes.end());
    operands.push_back(*tile);
  }
  Axes axes(used.begin(), used.end());
  llvm::sort(axes);
  SmallVector<Value> values;
  for (const Emitted &operand : operands)
    values.push_back(broadcast(operand, axes));
  TileElementBuilder builder(*this, axes);
  return Emitted{op.buildBody(builder, values), axes};
}

/// Emits `(x - mean) * (scale / sqrt(variance + epsilon)) + bias`, with the
/// statistics of the channels on their own axis.
FailureOr<Emitted> KernelEmitter::emitBatchNorm(BatchNormOp op,
                                                ArrayRef<DimRange> ranges) {
  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  Type type = getAccumulatorType(element);
  auto input = emit(op.getInput(), ranges);
  if (failed(input))
    return failure();
  SmallVector<Emitted> channels;
  for (Value operand :
       {op.getScale(), op.getBias(), op.getMean(), op.getVariance()}) {
    auto where =
        mapRanges(ranges, op.getResult(), operand, {int64_t(op.getAxis())});
    if (failed(where))
      return failure();
    auto tile = emit(operand, *where);
    if (failed(tile))
      return failure();
    channels.push_back(convert(*tile, type));
  }
  Axes axes = channels[3].axes; // all constants are splats, or none is
  for (const Emitted &channel : channels)
    if (channel.axes.size() > axes.size())
      axes = channel.axes;
  auto on = [&](const Emitted &tile) { return broadcast(tile, axes); };
  Value epsilon =
      constant(b.getFloatAttr(type, op.getEpsilon().convertToDouble()), axes);
  Value sum = arith::AddFOp::create(b, location, on(channels[3]), epsilon);
  Value root = math::SqrtOp::create(b, location, sum);
  Value scale = arith::DivFOp::create(b, location, on(channels[0]), root);
  Axes all(input->axes);
  for (int axis : axes)
    if (!llvm::is_contained(all, axis))
      all.push_back(axis);
  llvm::sort(all);
  auto spread = [&](Value value) { return broadcast({value, axes}, all); };
  Value x = broadcast(convert(*input, type), all);
  Value centred =
      arith::SubFOp::create(b, location, x, spread(on(channels[2])));
  Value scaled = arith::MulFOp::create(b, location, centred, spread(scale));
  Value y = arith::AddFOp::create(b, location, scaled, spread(on(channels[1])));
  return convert({y, all}, element);
}

//===----------------------------------------------------------------------===//
// The same elements at other ranges
//===----------------------------------------------------------------------===//

FailureOr<Emitted> KernelEmitter::emitTranspose(TransposeOp op,
                                                ArrayRef<DimRange> ranges) {
  SmallVector<int64_t> map(op.getPerm().size());
  for (auto [dim, source] : llvm::enumerate(op.getPerm()))
    map[source] = dim;
  auto where = mapRanges(ranges, op.getResult(), op.getInput(), map);
  if (failed(where))
    return failure();
  return emit(op.getInput(), *where);
}

FailureOr<Emitted> KernelEmitter::emitBroadcast(BroadcastToOp op,
                                                ArrayRef<DimRange> ranges) {
  auto where = mapRanges(ranges, op.getResult(), op.getInput(),
                         alignRight(getDims(op.getInput()).size(),
                                    getDims(op.getResult()).size()));
  if (failed(where))
    return failure();
  return emit(op.getInput(), *where);
}

/// Returns the start of the slice along a dim.
FailureOr<Value> KernelEmitter::emitStart(SliceOp op, unsigned dim) {
  if (!op.getBegin()) {
    Value start = size(op.getStartExprs()[dim]);
    if (!start)
      return failure();
    return start;
  }
  auto begin = emit(op.getBegin(), {point(index(dim))});
  if (failed(begin))
    return failure();
  return Value(
      arith::IndexCastOp::create(b, location, b.getIndexType(), begin->value));
}

/// Returns the end of a tile that is summed, in terms of the input of the
/// slice, or null if the input ends there, too. The end is emitted at the top
/// of the kernel, so that views that use it are, too.
FailureOr<Value> KernelEmitter::emitEnd(SliceOp op, unsigned dim,
                                        const DimRange &range) {
  Dims input = getDims(op.getInput()), result = getDims(op.getResult());
  AffineExpr step = b.getAffineConstantExpr(op.getSteps()[dim]);
  AffineExpr taken = mulExprs(result[dim], step);
  AffineExpr last = addExprs(op.getStartExprs()[dim], taken);
  if (!range.end && last && input[dim] &&
      isNonNegative(subExprs(last, input[dim])))
    return Value();
  ArrayRef<AffineExpr> inner(input);
  Value run =
      size(product(b.getContext(), inner.slice(dim + 1, range.span - 1)));
  Value count = size(taken);
  if (!run || !count)
    return failure();
  bool isKnown = true;
  Value end = atTop([&]() -> Value {
    // The start that is cached inside of loops cannot be used here.
    auto known = std::exchange(scopes, decltype(scopes)(1));
    FailureOr<Value> start = emitStart(op, dim);
    scopes = std::move(known);
    isKnown = succeeded(start);
    if (!isKnown)
      return {};
    Value length =
        range.end ? mul(range.end, index(op.getSteps()[dim])) : mul(count, run);
    return add(mul(*start, run), length);
  });
  if (!isKnown)
    return failure();
  return end;
}

FailureOr<Emitted> KernelEmitter::emitSlice(SliceOp op,
                                            ArrayRef<DimRange> ranges) {
  Dims input = getDims(op.getInput()), result = getDims(op.getResult());
  Dims starts = op.getStartExprs();
  auto isWhole = [&](unsigned dim) {
    return getConstant(starts[dim]) == 0 && op.getSteps()[dim] == 1 &&
           areEqual(input[dim], result[dim]);
  };
  // Merged dims may be split along the first of them only.
  SmallVector<unsigned> boundaries;
  for (unsigned dim = 0; dim < input.size(); ++dim)
    if (!isWhole(dim)) {
      boundaries.push_back(dim);
      if (op.getBegin() || op.getSteps()[dim] != 1)
        boundaries.push_back(dim + 1);
    }
  auto aligned = alignRanges(ranges, op.getResult(), boundaries);
  // One of several positions along a dim is a range by itself.
  if (succeeded(aligned) && splitsPoints)
    aligned = splitRanges(*aligned, op.getResult(), /*keepsTiles=*/true);
  if (failed(aligned))
    return failure();
  unsigned dim = 0;
  for (DimRange &range : *aligned) {
    if (!isWhole(dim)) {
      auto first = emitStart(op, dim);
      if (failed(first))
        return failure();
      if (summed.contains(range.axis)) {
        auto end = emitEnd(op, dim, range);
        if (failed(end))
          return failure();
        range.end = *end;
      }
      Value start = *first;
      for (unsigned inner = dim + 1; inner < dim + range.span; ++inner) {
        Value extent = size(input[inner]);
        if (!extent)
          return failure();
        start = mul(start, extent);
      }
      int64_t step = op.getSteps()[dim];
      if (step < 0 && range.axis >= 0)
        return fail("a tile axis runs along a reversed dim");
      range.offset = add(start, mul(range.offset, index(step)));
      range.stride *= step;
      range.ahead *= step;
    }
    dim += range.span;
  }
  return emit(op.getInput(), *aligned);
}

FailureOr<Emitted> KernelEmitter::emitReverse(ReverseOp op,
                                              ArrayRef<DimRange> ranges) {
  auto split = splitRanges(ranges, op.getResult());
  if (failed(split))
    return failure();
  for (int64_t axis : op.getAxes()) {
    DimRange &range = (*split)[axis];
    Value extent = size(op.getInput(), axis);
    if (range.axis >= 0 || !extent)
      return fail("a tile axis runs along a reversed dim");
    range.offset = sub(sub(extent, index(1)), range.offset);
  }
  return emit(op.getInput(), *split);
}

FailureOr<Emitted> KernelEmitter::emitReshape(ReshapeOp op,
                                              ArrayRef<DimRange> ranges) {
  Dims from = getDims(op.getInput()), to = getDims(op.getResult());
  MLIRContext *context = b.getContext();
  DimRanges mapped;
  unsigned source = 0, target = 0, nextRange = 0;
  while (source < from.size() || target < to.size()) {
    // Finds the shortest run of dims of both shapes with equal numbers of
    // elements that ends with a range.
    unsigned sourceEnd = source, targetEnd = target, firstRange = nextRange;
    auto count = [&](ArrayRef<AffineExpr> dims, unsigned begin, unsigned end) {
      return product(context, dims.slice(begin, end - begin));
    };
    bool matched = false;
    while (!matched && nextRange < ranges.size()) {
      targetEnd += ranges[nextRange++].span;
      for (unsigned end = sourceEnd; end <= from.size(); ++end)
        if (areEqual(count(from, source, end), count(to, target, targetEnd))) {
          sourceEnd = end;
          matched = true;
          break;
        }
    }
    bool atEnd = nextRange == ranges.size();
    if (atEnd) {
      sourceEnd = from.size();
      matched = areEqual(count(from, source, sourceEnd),
                         count(to, target, to.size()));
    }
    while (!atEnd && sourceEnd < from.size() &&
           getConstant(from[sourceEnd]) == 1)
      ++sourceEnd;
    if (!matched)
      return fail("the dims of a reshape do not factor");
    DimRange merged{index(0), -1, 1, sourceEnd - source};
    Value inner = index(1);
    unsigned dim = targetEnd;
    for (unsigned i = nextRange; i-- > firstRange;) {
      const DimRange &range = ranges[i];
      merged.offset = add(mul(range.offset, inner), merged.offset);
      if (merged.end && getConstantIntValue(range.offset) != 0)
        return fail("a reduction is over a part of a merged dim");
      if (range.axis >= 0) {
        auto step = getConstantIntValue(inner);
        if (merged.axis >= 0 || !step)
          return fail("two tile axes run along one dim");
        merged.axis = range.axis;
        merged.stride = range.stride * *step;
        if (range.end)
          merged.end = atTop([&] { return mul(range.end, inner); });
      }
      for (unsigned k = 0; k < range.span; ++k) {
        Value extent = size(to[--dim]);
        if (!extent)
          return failure();
        inner = mul(inner, extent);
      }
    }
    if (merged.span > 0)
      mapped.push_back(merged);
    source = sourceEnd;
    target = targetEnd;
    if (atEnd)
      break;
  }
  return emit(op.getInput(), mapped);
}

FailureOr<Emitted> KernelEmitter::emitConcat(ConcatOp op,
                                             ArrayRef<DimRange> ranges) {
  if (!isScalarRanges(ranges))
    return fail("a tile spans operands of a concatenation");
  auto split = splitRanges(ranges, op.getResult());
  if (failed(split))
    return failure();
  unsigned axis = op.getAxis();
  Type type = getSignlessType(getElementTypeOrSelf(op.getResult()));
  // Selects the first operand whose end is after the position.
  std::function<FailureOr<Value>(unsigned, Value)> pick =
      [&](unsigned piece, Value offset) -> FailureOr<Value> {
    Value input = op.getInputs()[piece];
    auto emitHere = [&]() -> FailureOr<Value> {
      DimRanges where = *split;
      where[axis].offset = offset;
      auto value = emit(input, where);
      if (failed(value))
        return failure();
      return value->value;
    };
    if (piece + 1 == op.getInputs().size())
      return emitHere();
    Value extent = size(input, axis);
    if (!extent)
      return failure();
    Value here = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ult,
                                       offset, extent);
    auto choice = scf::IfOp::create(b, location, TypeRange(type), here, true);
    for (bool first : {true, false}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(first ? choice.thenBlock()
                                       : choice.elseBlock());
      scopes.emplace_back();
      auto value = first ? emitHere() : pick(piece + 1, sub(offset, extent));
      scopes.pop_back();
      if (failed(value))
        return failure();
      scf::YieldOp::create(b, location, *value);
    }
    return choice.getResult(0);
  };
  auto value = pick(0, (*split)[axis].offset);
  if (failed(value))
    return failure();
  return Emitted{*value, {}};
}
