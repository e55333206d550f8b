// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Pooling over regions of interest, whose coordinates are data.
#include "KernelLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// Float arithmetic, and conversions to indices.
class Numbers {
public:
  Numbers(KernelLowering &k, Type type) : k(k), type(type) {}

  Value num(double value) { return k.number(type, value); }
  Value max(Value x, Value y) {
    return arith::MaximumFOp::create(k.builder, k.loc, x, y);
  }
  Value min(Value x, Value y) {
    return arith::MinimumFOp::create(k.builder, k.loc, x, y);
  }
  Value floor(Value x) { return math::FloorOp::create(k.builder, k.loc, x); }
  Value ceil(Value x) { return math::CeilOp::create(k.builder, k.loc, x); }
  /// Rounds ties away from zero.
  Value round(Value x) { return math::RoundOp::create(k.builder, k.loc, x); }
  Value less(Value x, Value y) {
    return arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OLT, x,
                                 y);
  }
  Value number(Value index) { return k.toNumber(index, type); }
  Value index(Value x) {
    Value integer =
        arith::FPToSIOp::create(k.builder, k.loc, k.builder.getI64Type(), x);
    return arith::IndexCastOp::create(k.builder, k.loc,
                                      k.builder.getIndexType(), integer);
  }
  /// Returns `index(x)` clamped to [0, limit].
  Value clampedIndex(Value x, Value limit) {
    // The value is clamped as a float first, as floats beyond all integers
    // cannot be converted.
    Value bounded = min(max(x, num(0)), number(limit));
    return index(bounded);
  }

  KernelLowering &k;
  Type type;
};

Type getWideType(Value tensor) {
  return getAccumulatorType(
      cast<RankedTensorType>(tensor.getType()).getElementType());
}

//===----------------------------------------------------------------------===//
// roi_align
//===----------------------------------------------------------------------===//

/// One dim of a sample: the elements around it and their weights.
struct Sample {
  Value low, high, lowWeight, highWeight, inside;
};

/// A sample outside by more than one element counts nothing; otherwise the
/// border counts.
Sample locate(Numbers &n, Value position, Value size) {
  KernelLowering &k = n.k;
  Sample s;
  Value above = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::OGE, position, n.num(-1));
  Value below = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::OLE, position, n.number(size));
  s.inside = k.conjunction(above, below);
  Value last = k.add(size, -1);
  Value bounded = n.min(n.max(position, n.num(0)), n.number(last));
  Value low = n.floor(bounded);
  s.low = n.clampedIndex(low, last);
  s.high = k.min(k.add(s.low, 1), last);
  s.highWeight = k.subNum(bounded, low);
  s.lowWeight = k.subNum(n.num(1), s.highWeight);
  return s;
}

/// A dim of a region: its start, the width of a bin, and the samples of a bin.
struct Extent {
  Value start, bin, samples;
};

Extent getExtent(RoiAlignOp op, Numbers &n, Value roi, int64_t first,
                 Value bins) {
  KernelLowering &k = n.k;
  Value rois = k.get(op.getRois());
  double offset = op.getHalfPixel() ? 0.5 : 0.0;
  auto corner = [&](int64_t i) {
    Value x = k.mulNum(k.loadWide(rois, {roi, k.index(i)}),
                       n.num(op.getScale().convertToDouble()));
    return k.subNum(x, n.num(offset));
  };
  Extent e;
  e.start = corner(first);
  Value extent = k.subNum(corner(first + 2), e.start);
  if (!op.getHalfPixel())
    extent = n.max(extent, n.num(1));
  e.bin = k.divNum(extent, n.number(bins));
  e.samples = op.getSamples()
                  ? k.index(op.getSamples())
                  : n.clampedIndex(n.ceil(e.bin), k.index(int64_t(1) << 20));
  return e;
}

/// Returns the position of sample `i` of bin `bin`.
Value getPosition(Numbers &n, const Extent &e, Value bin, Value i) {
  KernelLowering &k = n.k;
  Value within =
      k.divNum(k.addNum(n.number(i), n.num(0.5)), n.number(e.samples));
  return k.addNum(e.start, k.mulNum(k.addNum(n.number(bin), within), e.bin));
}

/// The samples of a region along one dim. If each bin has a constant number of
/// them, the samples of all bins are computed once for all channels.
class Samples {
public:
  /// `first` is the coordinate of the corners of a region, and `dim` that of
  /// input and result.
  Samples(RoiAlignOp op, Numbers &n, int64_t first, int64_t dim)
      : op(op), n(n), first(first), size(n.k.getSize(op.getInput(), dim)),
        bins(n.k.getSize(op.getResult(), dim)) {
    auto known = getConstant(getDims(op.getResult())[dim]);
    int64_t count = known.value_or(0) * op.getSamples();
    if (count == 0)
      return;
    cells = allocate({count, 3}, n.k.builder.getIndexType());
    weights = allocate({count, 2}, n.type);
  }
  void setRegion(Value roi);
  Sample get(Value bin, Value i);
  Value getCount() { return extent.samples; }

private:
  Value allocate(ArrayRef<int64_t> shape, Type element) {
    return memref::AllocOp::create(
        n.k.builder, n.k.loc, MemRefType::get(shape, element), ValueRange(),
        n.k.builder.getI64IntegerAttr(64));
  }
  Value getRow(Value bin, Value i) {
    return n.k.add(n.k.mul(bin, op.getSamples()), i);
  }

  RoiAlignOp op;
  Numbers &n;
  int64_t first;
  Value size, bins;
  Extent extent;
  Value cells, weights; // by sample: low, high, inside; their weights
};

void Samples::setRegion(Value roi) {
  KernelLowering &k = n.k;
  extent = getExtent(op, n, roi, first, bins);
  if (!cells)
    return;
  k.forEach({bins, extent.samples}, [&](ValueRange at) {
    Sample s = locate(n, getPosition(n, extent, at[0], at[1]), size);
    Value row = getRow(at[0], at[1]);
    Value inside = k.select(s.inside, k.index(1), k.index(0));
    auto store = [&](ArrayRef<Value> numbers, Value table) {
      for (auto [i, number] : llvm::enumerate(numbers))
        k.store(number, table, {row, k.index(i)});
    };
    store({s.low, s.high, inside}, cells);
    store({s.lowWeight, s.highWeight}, weights);
  });
}

Sample Samples::get(Value bin, Value i) {
  KernelLowering &k = n.k;
  if (!cells)
    return locate(n, getPosition(n, extent, bin, i), size);
  Value row = getRow(bin, i);
  auto load = [&](Value table, int64_t column) {
    return k.load(table, {row, k.index(column)});
  };
  Sample s;
  s.low = load(cells, 0);
  s.high = load(cells, 1);
  s.inside = k.compare(arith::CmpIPredicate::ne, load(cells, 2), k.index(0));
  s.lowWeight = load(weights, 0);
  s.highWeight = load(weights, 1);
  return s;
}

/// Interpolates between the four elements around a sample.
Value interpolate(RoiAlignOp op, Numbers &n, const Sample &sy, const Sample &sx,
                  Value image, Value channel) {
  KernelLowering &k = n.k;
  Value input = k.get(op.getInput());
  auto corner = [&](Value row, Value column, Value wy, Value wx) {
    Value v = k.loadWide(input, {image, channel, row, column});
    return k.mulNum(k.mulNum(wy, wx), v);
  };
  Value a = corner(sy.low, sx.low, sy.lowWeight, sx.lowWeight);
  Value b = corner(sy.low, sx.high, sy.lowWeight, sx.highWeight);
  Value c = corner(sy.high, sx.low, sy.highWeight, sx.lowWeight);
  Value d = corner(sy.high, sx.high, sy.highWeight, sx.highWeight);
  Value value = op.getMax() ? n.max(n.max(a, b), n.max(c, d))
                            : k.addNum(k.addNum(a, b), k.addNum(c, d));
  return k.select(k.conjunction(sy.inside, sx.inside), value, n.num(0));
}

LogicalResult lowerRoiAlign(RoiAlignOp op, KernelLowering &k) {
  Value batch = k.get(op.getBatch()), output = k.getOutput(op.getResult());
  Numbers n(k, getWideType(op.getInput()));
  Value images = k.getSize(op.getInput(), 0);
  SmallVector<Value> out = k.getSizes(op.getResult());
  Samples y(op, n, 1, 2), x(op, n, 0, 3);
  k.forEachProgram(out[0], [&](ValueRange region) {
    Value roi = region[0], image = k.toIndex(k.load(batch, roi), images);
    y.setRegion(roi);
    x.setRegion(roi);
    Value count = k.mul(y.getCount(), x.getCount());
    Value isEmpty = k.compare(arith::CmpIPredicate::eq, count, k.index(0));
    Value none =
        op.getMax() ? n.num(-std::numeric_limits<float>::infinity()) : n.num(0);
    k.forEach(ArrayRef(out).drop_front(), [&](ValueRange at) {
      Value folded =
          k.fold({{k.index(0), y.getCount()}, {k.index(0), x.getCount()}}, none,
                 [&](ValueRange i, Value carried) {
                   Value value = interpolate(op, n, y.get(at[1], i[0]),
                                             x.get(at[2], i[1]), image, at[0]);
                   return op.getMax() ? n.max(carried, value)
                                      : k.addNum(carried, value);
                 });
      if (!op.getMax())
        folded = k.divNum(folded, n.number(k.max(count, k.index(1))));
      k.storeWide(k.select(isEmpty, n.num(0), folded), output,
                  {roi, at[0], at[1], at[2]});
    });
  });
  return success();
}

//===----------------------------------------------------------------------===//
// roi_pool
//===----------------------------------------------------------------------===//

/// Returns the elements of a bin along one dim.
KernelLowering::Range getBin(RoiPoolOp op, Numbers &n, Value roi, int64_t first,
                             Value bin, Value bins, Value size) {
  KernelLowering &k = n.k;
  Value rois = k.get(op.getRois());
  auto corner = [&](int64_t i) {
    return n.round(k.mulNum(k.loadWide(rois, {roi, k.index(i)}),
                            n.num(op.getScale().convertToDouble())));
  };
  Value start = corner(first), end = corner(first + 2);
  Value extent = n.max(k.addNum(k.subNum(end, start), n.num(1)), n.num(1));
  Value width = k.divNum(extent, n.number(bins));
  Value low = k.addNum(n.floor(k.mulNum(n.number(bin), width)), start);
  Value high =
      k.addNum(n.ceil(k.mulNum(n.number(k.add(bin, 1)), width)), start);
  return {n.clampedIndex(low, size), n.clampedIndex(high, size)};
}

LogicalResult lowerRoiPool(RoiPoolOp op, KernelLowering &k) {
  Value input = k.get(op.getInput()), rois = k.get(op.getRois());
  Value output = k.getOutput(op.getResult());
  Numbers n(k, getWideType(op.getInput()));
  SmallVector<Value> in = k.getSizes(op.getInput()),
                     out = k.getSizes(op.getResult());
  k.forEach(out, [&](ValueRange at) {
    Value image =
        n.clampedIndex(k.loadWide(rois, {at[0], k.index(0)}), k.add(in[0], -1));
    auto y = getBin(op, n, at[0], 2, at[2], out[2], in[2]);
    auto x = getBin(op, n, at[0], 1, at[3], out[3], in[3]);
    Value none = n.num(-std::numeric_limits<float>::infinity());
    Value greatest = k.fold({y, x}, none, [&](ValueRange i, Value carried) {
      Value v = k.loadWide(input, {image, at[1], i[0], i[1]});
      return n.max(carried, v);
    });
    Value height = k.compare(arith::CmpIPredicate::slt, y.low, y.high);
    Value width = k.compare(arith::CmpIPredicate::slt, x.low, x.high);
    k.storeWide(k.select(k.conjunction(height, width), greatest, n.num(0)),
                output, at);
  });
  return success();
}

} // namespace

FamilyResult adze::graph::lowerRegion(Operation *op, KernelLowering &k) {
  if (auto align = dyn_cast<RoiAlignOp>(op))
    return lowerRoiAlign(align, k);
  if (auto pool = dyn_cast<RoiPoolOp>(op))
    return lowerRoiPool(pool, k);
  return std::nullopt;
}
