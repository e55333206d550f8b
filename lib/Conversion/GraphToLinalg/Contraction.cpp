// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matrix products and convolutions. Sums of f32 and wider types are accumulated
// in place, with the innermost loop along contiguous results, which LLVM
// vectorises. f16 and bf16 are summed in an f32 scalar.
#include "KernelLowering.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace adze::graph;

static int64_t getRank(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

/// Returns true if sums can be accumulated in elements of the tensor.
static bool sumsInPlace(Value tensor) {
  Type type = getMemrefType(tensor.getType()).getElementType();
  return getAccumulatorType(type) == type;
}

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

namespace {

Type getElement(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Extends an element of an operand of a product to the type of the sum.
Value widen(KernelLowering &k, Value element, Value operand, Type type) {
  ElementBuilder b = k.elements();
  return buildCast(b, element, getElement(operand), type);
}

/// Returns the batch indices of an operand: 0 where it is broadcast.
SmallVector<Value> getBatch(KernelLowering &k, Value operand, Value result,
                            ValueRange indices) {
  Dims from = getDims(operand), to = getDims(result);
  size_t offset = to.size() - from.size();
  SmallVector<Value> batch;
  for (size_t i = 0; i + 2 < from.size(); ++i) {
    Value at = indices[offset + i];
    if (getConstant(from[i]) == 1) {
      at = k.index(0);
    } else if (!areEqual(from[i], to[offset + i])) {
      Value isOne =
          k.compare(arith::CmpIPredicate::eq, k.evaluate(from[i]), k.index(1));
      at = k.select(isOne, k.index(0), at);
    }
    batch.push_back(at);
  }
  return batch;
}

/// Returns the indices of element (row, column) of an operand.
SmallVector<Value> getElementAt(SmallVector<Value> batch, Value row,
                                Value column, bool transposed) {
  batch.push_back(transposed ? column : row);
  batch.push_back(transposed ? row : column);
  return batch;
}

/// Accumulates each element in a scalar.
void lowerMatmulScalar(MatmulOp op, KernelLowering &k) {
  Value lhs = k.get(op.getLhs()), rhs = k.get(op.getRhs());
  Value inner = k.getSize(op.getLhs(),
                          getRank(op.getLhs()) - (op.getTransposeA() ? 2 : 1));
  Value output = k.getOutput(op.getResult());
  Type type =
      getAccumulatorType(cast<MemRefType>(output.getType()).getElementType());
  k.forEach(k.getSizes(op.getResult()), [&](ValueRange at) {
    Value row = at[at.size() - 2], column = at.back();
    SmallVector<Value> left = getBatch(k, op.getLhs(), op.getResult(), at);
    SmallVector<Value> right = getBatch(k, op.getRhs(), op.getResult(), at);
    Value sum = k.fold(
        {{k.index(0), inner}}, k.number(type, 0), [&](ValueRange i, Value sum) {
          Value x =
              k.load(lhs, getElementAt(left, row, i[0], op.getTransposeA()));
          Value y = k.load(
              rhs, getElementAt(right, i[0], column, op.getTransposeB()));
          return k.addNum(sum, k.mulNum(widen(k, x, op.getLhs(), type),
                                        widen(k, y, op.getRhs(), type)));
        });
    k.storeWide(sum, output, at);
  });
}

/// Returns the indexing map of an operand over (batch.., row, inner, column).
AffineMap getOperandMap(ArrayRef<AffineExpr> dims, size_t batchRank,
                        unsigned row, unsigned column, bool transposed,
                        MLIRContext *context) {
  SmallVector<AffineExpr> exprs;
  size_t offset = batchRank - (dims.size() - 2);
  for (size_t i = 0; i + 2 < dims.size(); ++i)
    exprs.push_back(getConstant(dims[i]) == 1
                        ? getAffineConstantExpr(0, context)
                        : getAffineDimExpr(offset + i, context));
  exprs.push_back(getAffineDimExpr(transposed ? column : row, context));
  exprs.push_back(getAffineDimExpr(transposed ? row : column, context));
  return AffineMap::get(batchRank + 3, 0, exprs, context);
}

/// Accumulates in place, with rows of the result innermost.
void lowerMatmulInPlace(MatmulOp op, KernelLowering &k) {
  MLIRContext *context = op.getContext();
  size_t batch = getRank(op.getResult()) - 2;
  unsigned row = batch, inner = batch + 1, column = batch + 2;
  Dims result = getDims(op.getResult());
  SmallVector<AffineMap> maps = {
      getOperandMap(getDims(op.getLhs()), batch, row, inner, op.getTransposeA(),
                    context),
      getOperandMap(getDims(op.getRhs()), batch, inner, column,
                    op.getTransposeB(), context)};
  SmallVector<AffineExpr> out;
  for (size_t i = 0; i < batch; ++i)
    out.push_back(getAffineDimExpr(i, context));
  out.push_back(getAffineDimExpr(row, context));
  out.push_back(getAffineDimExpr(column, context));
  maps.push_back(AffineMap::get(batch + 3, 0, out, context));
  SmallVector<utils::IteratorType> iterators(batch + 3,
                                             utils::IteratorType::parallel);
  iterators[inner] = utils::IteratorType::reduction;
  Value output = k.getOutput(op.getResult());
  Type type = cast<MemRefType>(output.getType()).getElementType();
  linalg::FillOp::create(k.builder, k.loc, k.number(type, 0), output);
  linalg::GenericOp::create(
      k.builder, k.loc, {k.get(op.getLhs()), k.get(op.getRhs())},
      ValueRange(output), maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange x) {
        OpBuilder::InsertionGuard guard(k.builder);
        k.builder.setInsertionPoint(b.getInsertionBlock(),
                                    b.getInsertionPoint());
        Value product = k.mulNum(widen(k, x[0], op.getLhs(), type),
                                 widen(k, x[1], op.getRhs(), type));
        Value sum = k.addNum(x[2], product);
        linalg::YieldOp::create(k.builder, loc, sum);
      });
}

/// Returns true if it is dynamic whether a batch dim is broadcast.
bool hasUnknownBatch(Value operand, Value result) {
  Dims from = getDims(operand), to = getDims(result);
  size_t offset = to.size() - from.size();
  for (size_t i = 0; i + 2 < from.size(); ++i)
    if (getConstant(from[i]) != 1 && !areEqual(from[i], to[offset + i]))
      return true;
  return false;
}

LogicalResult lowerMatmul(MatmulOp op, KernelLowering &k) {
  bool scalar = !sumsInPlace(op.getResult()) || op.getTransposeB() ||
                hasUnknownBatch(op.getLhs(), op.getResult()) ||
                hasUnknownBatch(op.getRhs(), op.getResult());
  if (scalar)
    lowerMatmulScalar(op, k);
  else
    lowerMatmulInPlace(op, k);
  return success();
}

//===----------------------------------------------------------------------===//
// conv
//===----------------------------------------------------------------------===//

/// The common parts of the loops of a convolution.
struct Conv {
  Conv(ConvOp op, KernelLowering &k)
      : op(op), k(k), at(op.getInput(), op.getLayout()),
        input(k.get(op.getInput())), filter(k.get(op.getFilter())),
        bias(op.getBias() ? k.get(op.getBias()) : Value()),
        output(k.getOutput(op.getResult())), inSizes(k.getSizes(op.getInput())),
        filterSizes(k.getSizes(op.getFilter())),
        outSizes(k.getSizes(op.getResult())) {
    type =
        getAccumulatorType(cast<MemRefType>(output.getType()).getElementType());
  }

  WindowDim window(int64_t i) {
    return {op.getStrides()[i], op.getPads()[i],
            op.getPads()[at.spatialRank + i], op.getDilations()[i]};
  }
  /// Returns the first input channel that an output channel is summed over.
  Value getFirstChannel(Value outChannel) {
    int64_t group = op.getGroup();
    if (group == 1)
      return k.index(0);
    Value inputs = filterSizes[1];
    if (int64_t band = op.getBand().value_or(0)) {
      outChannel = k.mul(k.floorDiv(outChannel, band), band);
      inputs = k.floorDiv(inSizes[at.channel()], group);
    }
    Value perGroup = k.builder.createOrFold<arith::DivSIOp>(
        k.loc, filterSizes[0], k.index(group));
    Value index =
        k.builder.createOrFold<arith::DivSIOp>(k.loc, outChannel, perGroup);
    return k.mul(index, inputs);
  }
  /// Returns the number of input channels from the first one on.
  Value countChannels(Value first) {
    if (!op.getBand())
      return filterSizes[1];
    return k.min(filterSizes[1], k.sub(inSizes[at.channel()], first));
  }
  Value widenInput(Value x) { return widen(k, x, op.getInput(), type); }
  Value widenFilter(Value w) { return widen(k, w, op.getFilter(), type); }
  Value getInit(Value outChannel) {
    return bias ? k.loadWide(bias, outChannel) : k.number(type, 0);
  }
  SmallVector<Value> spatialSizes() {
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < at.spatialRank; ++i)
      sizes.push_back(outSizes[at.spatial(i)]);
    return sizes;
  }

  ConvOp op;
  KernelLowering &k;
  ImageDims at;
  Value input, filter, bias, output;
  SmallVector<Value> inSizes, filterSizes, outSizes;
  Type type;
};

/// Accumulates each element in a scalar.
void lowerConvScalar(Conv &c) {
  KernelLowering &k = c.k;
  k.forEach(c.outSizes, [&](ValueRange out) {
    Value channel = out[c.at.channel()];
    Value first = c.getFirstChannel(channel);
    SmallVector<KernelLowering::Range> ranges = {
        {k.index(0), c.countChannels(first)}};
    for (int64_t i = 0; i < c.at.spatialRank; ++i)
      ranges.push_back(getTaps(k, c.window(i), out[c.at.spatial(i)],
                               c.filterSizes[2 + i],
                               c.inSizes[c.at.spatial(i)]));
    Value sum =
        k.fold(ranges, c.getInit(channel), [&](ValueRange tap, Value sum) {
          SmallVector<Value> from, weight = {channel};
          for (int64_t i = 0; i < c.at.spatialRank; ++i)
            from.push_back(
                getPosition(k, c.window(i), out[c.at.spatial(i)], tap[i + 1]));
          llvm::append_range(weight, tap);
          Value x =
              k.load(c.input, c.at.order(out[0], k.add(first, tap[0]), from));
          Value w = k.load(c.filter, weight);
          return k.addNum(sum, k.mulNum(c.widenInput(x), c.widenFilter(w)));
        });
    k.storeWide(sum, c.output, out);
  });
}

/// Accumulates whole planes in place: for each tap, the outputs that it
/// contributes to.
void lowerConvInPlace(Conv &c) {
  KernelLowering &k = c.k;
  int64_t rank = c.at.spatialRank;
  k.forEach({c.outSizes[0], c.outSizes[1]}, [&](ValueRange plane) {
    Value init = c.getInit(plane[1]);
    Value first = c.getFirstChannel(plane[1]);
    k.forEach(c.spatialSizes(), [&](ValueRange out) {
      k.store(init, c.output, c.at.order(plane[0], plane[1], out));
    });
    SmallVector<Value> taps(ArrayRef(c.filterSizes).drop_front());
    taps.front() = c.countChannels(first);
    k.forEach(taps, [&](ValueRange tap) {
      SmallVector<Value> weight = {plane[1]};
      llvm::append_range(weight, tap);
      Value w = c.widenFilter(k.load(c.filter, weight));
      Value channel = k.add(first, tap[0]);
      SmallVector<KernelLowering::Range> ranges;
      for (int64_t i = 0; i < rank; ++i)
        ranges.push_back(getOutputs(k, c.window(i), tap[i + 1],
                                    c.inSizes[c.at.spatial(i)],
                                    c.outSizes[c.at.spatial(i)]));
      k.fold(ranges, ValueRange(), [&](ValueRange out, ValueRange) {
        SmallVector<Value> from;
        for (int64_t i = 0; i < rank; ++i)
          from.push_back(getPosition(k, c.window(i), out[i], tap[i + 1]));
        SmallVector<Value> to = c.at.order(plane[0], plane[1], out);
        Value x = k.load(c.input, c.at.order(plane[0], channel, from));
        Value sum =
            k.addNum(k.load(c.output, to), k.mulNum(c.widenInput(x), w));
        k.store(sum, c.output, to);
        return SmallVector<Value>();
      });
    });
  });
}

LogicalResult lowerConv(ConvOp op, KernelLowering &k) {
  Conv conv(op, k);
  if (sumsInPlace(op.getResult()) && !conv.at.channelsLast)
    lowerConvInPlace(conv);
  else
    lowerConvScalar(conv);
  return success();
}

//===----------------------------------------------------------------------===//
// conv_transpose
//===----------------------------------------------------------------------===//

/// Returns the input position that contributes to output `out` through `tap`,
/// (out + low - tap * dilation) / stride, and whether it exists.
Value getSource(KernelLowering &k, WindowDim window, Value out, Value tap,
                Value size, Value &exists) {
  Value offset = k.sub(k.add(out, window.low), k.mul(tap, window.dilation));
  Value source = k.floorDiv(offset, window.stride);
  Value zero = k.index(0);
  auto check = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    Value holds = k.compare(predicate, lhs, rhs);
    exists = exists ? k.conjunction(exists, holds) : holds;
  };
  check(arith::CmpIPredicate::sge, source, zero);
  check(arith::CmpIPredicate::slt, source, size);
  if (window.stride != 1)
    check(arith::CmpIPredicate::eq, k.mul(source, window.stride), offset);
  return source;
}

LogicalResult lowerConvTranspose(ConvTransposeOp op, KernelLowering &k) {
  ImageDims at(op.getInput(), op.getLayout());
  Value input = k.get(op.getInput()), filter = k.get(op.getFilter());
  Value output = k.getOutput(op.getResult());
  SmallVector<Value> inSizes = k.getSizes(op.getInput()),
                     filterSizes = k.getSizes(op.getFilter()),
                     outSizes = k.getSizes(op.getResult());
  Type type =
      getAccumulatorType(cast<MemRefType>(output.getType()).getElementType());
  Value perGroup = k.builder.createOrFold<arith::DivSIOp>(
      k.loc, filterSizes[0], k.index(op.getGroup()));
  k.forEach(outSizes, [&](ValueRange out) {
    Value channel = out[at.channel()];
    Value group =
        k.builder.createOrFold<arith::DivSIOp>(k.loc, channel, filterSizes[1]);
    Value outInGroup = k.sub(channel, k.mul(group, filterSizes[1]));
    Value first = k.mul(group, perGroup);
    SmallVector<Value> taps = {perGroup};
    llvm::append_range(taps, ArrayRef(filterSizes).drop_front(2));
    Value init = op.getBias() ? k.loadWide(k.get(op.getBias()), channel)
                              : k.number(type, 0);
    Value sum = k.fold(k.getRanges(taps), init, [&](ValueRange tap, Value sum) {
      Value exists;
      SmallVector<Value> from;
      for (int64_t i = 0; i < at.spatialRank; ++i) {
        WindowDim window{op.getStrides()[i], op.getPads()[i], 0,
                         op.getDilations()[i]};
        from.push_back(getSource(k, window, out[at.spatial(i)], tap[i + 1],
                                 inSizes[at.spatial(i)], exists));
      }
      return k.ifThenElse(
          exists,
          [&]() -> Value {
            Value inChannel = k.add(first, tap[0]);
            SmallVector<Value> weight = {inChannel, outInGroup};
            llvm::append_range(weight, tap.drop_front());
            Value x = k.loadWide(input, at.order(out[0], inChannel, from));
            Value w = k.loadWide(filter, weight);
            return k.addNum(sum, k.mulNum(x, w));
          },
          sum);
    });
    k.storeWide(sum, output, out);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Products of words
//===----------------------------------------------------------------------===//

/// Computes one element after the other.
LogicalResult lowerWordMatmul(WordMatmulOp op, KernelLowering &k) {
  Value lhs = k.get(op.getLhs()), rhs = k.get(op.getRhs()),
        scales = k.get(op.getScales()), starts = k.get(op.getStarts()),
        zeros = op.getZeros() ? k.get(op.getZeros()) : Value(),
        output = k.getOutput(op.getResult());
  OpBuilder &b = k.builder;
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  constexpr int64_t wordBits = 32, byteBits = 8, wordBytes = 4;
  int64_t bits = op.getBits(), words = op.getBlockWords(),
          parts = byteBits / bits;
  auto number = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(b, k.loc, b.getI32IntegerAttr(n));
  };
  /// Extracts `width` bits of a word from bit `at` on.
  auto take = [&](Value word, int64_t at, int64_t width, bool isSigned) {
    Value high =
        arith::ShLIOp::create(b, k.loc, word, number(wordBits - width - at));
    Value by = number(wordBits - width);
    return isSigned ? arith::ShRSIOp::create(b, k.loc, high, by).getResult()
                    : arith::ShRUIOp::create(b, k.loc, high, by).getResult();
  };
  k.forEach(k.getSizes(op.getResult()), [&](ValueRange at) {
    Value column = at.back();
    auto ofRow = [&](ValueRange more) {
      SmallVector<Value> indices(at.drop_back());
      llvm::append_range(indices, more);
      return indices;
    };
    Value blocks = k.getSize(op.getRhs(), 0);
    Value result = k.fold(
        k.getRanges(blocks), k.number(f32, 0), [&](ValueRange i, Value sum) {
          Value block = i[0], total = k.number(f32, 0);
          for (int64_t plane = op.getPlanes(); plane-- > 0;) {
            Value start = k.load(starts, ofRow({block, k.index(plane)}));
            if (zeros)
              start = k.mulNum(
                  start, arith::ExtUIOp::create(
                             b, k.loc, i32, k.load(zeros, {block, column})));
            Value exact = k.fold(
                k.getRanges(k.index(words)), start,
                [&](ValueRange j, Value acc) {
                  Value y = k.load(rhs, {block, j[0], column});
                  for (int64_t part = 0; part < parts; ++part) {
                    Value word =
                        k.add(k.mul(j[0], parts), plane * words * parts + part);
                    Value x = k.load(lhs, ofRow({block, word}));
                    for (int64_t byte = 0; byte < wordBytes; ++byte)
                      acc = k.addNum(
                          acc,
                          k.mulNum(take(x, byte * byteBits, byteBits, true),
                                   take(y, byte * byteBits + part * bits, bits,
                                        false)));
                  }
                  return acc;
                });
            Value more = arith::SIToFPOp::create(b, k.loc, f32, exact);
            total = k.addNum(k.mulNum(total, k.number(f32, 256)), more);
          }
          Value scale = arith::BitcastOp::create(
              b, k.loc, f32, k.load(rhs, {block, k.index(words), column}));
          Value both = k.mulNum(scale, k.load(scales, ofRow(block)));
          return k.addNum(sum, k.mulNum(total, both));
        });
    k.store(result, output, at);
  });
  return success();
}

LogicalResult lowerBlockMatmul(BlockMatmulOp op, KernelLowering &k) {
  constexpr int64_t wordBits = 32;
  Value lhs = k.get(op.getLhs()), rhs = k.get(op.getRhs()),
        scales = k.get(op.getScales()),
        zeros = op.getZeros() ? k.get(op.getZeros()) : Value();
  OpBuilder &b = k.builder;
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  int64_t bits = op.getBits(), parts = wordBits / bits;
  auto number = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(b, k.loc, b.getI32IntegerAttr(n));
  };
  auto toFloat = [&](Value value) -> Value {
    Type type = value.getType();
    if (type.isF32())
      return value;
    if (type.isInteger())
      return arith::UIToFPOp::create(b, k.loc, f32, value);
    return arith::ExtFOp::create(b, k.loc, f32, value);
  };
  k.fill(op.getResult(), [&](ValueRange at) {
    Value column = at.back(), blocks = k.getSize(op.getRhs(), 1);
    Value total = k.fold(
        k.getRanges(blocks), k.number(f32, 0), [&](ValueRange i, Value sum) {
          Value block = i[0];
          Value zero =
              toFloat(zeros ? arith::ExtUIOp::create(
                                  b, k.loc, i32, k.load(zeros, {column, block}))
                                  .getResult()
                            : number(int64_t(1) << (bits - 1)));
          Value products = k.fold(
              k.getRanges(k.getSize(op.getRhs(), 2)), k.number(f32, 0),
              [&](ValueRange j, Value acc) {
                Value word = k.load(rhs, {column, block, j[0]});
                for (int64_t part = 0; part < parts; ++part) {
                  SmallVector<Value> from(at.drop_back());
                  from.append({block, j[0], k.index(part)});
                  int64_t start = part % 2 * wordBits / 2 + part / 2 * bits;
                  Value q =
                      arith::ShRUIOp::create(b, k.loc, word, number(start));
                  q = arith::AndIOp::create(b, k.loc, q,
                                            number((1 << bits) - 1));
                  Value w = arith::SubFOp::create(b, k.loc, toFloat(q), zero);
                  acc = k.addNum(acc, k.mulNum(toFloat(k.load(lhs, from)), w));
                }
                return acc;
              });
          Value scale = toFloat(k.load(scales, {column, block}));
          return k.addNum(sum, k.mulNum(products, scale));
        });
    Type element = getElementTypeOrSelf(op.getResult().getType());
    return element == f32
               ? total
               : arith::TruncFOp::create(b, k.loc, element, total).getResult();
  });
  return success();
}

} // namespace

FamilyResult adze::graph::lowerContraction(Operation *op, KernelLowering &k) {
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return lowerMatmul(matmul, k);
  if (auto conv = dyn_cast<ConvOp>(op))
    return lowerConv(conv, k);
  if (auto conv = dyn_cast<ConvTransposeOp>(op))
    return lowerConvTranspose(conv, k);
  if (auto matmul = dyn_cast<WordMatmulOp>(op))
    return lowerWordMatmul(matmul, k);
  if (auto matmul = dyn_cast<BlockMatmulOp>(op))
    return lowerBlockMatmul(matmul, k);
  return std::nullopt;
}
