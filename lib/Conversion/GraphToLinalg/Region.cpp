// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Pooling over regions of interest, whose coordinates are data.
#include "Dialect/Graph/IR/RegionMath.h"
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

/// A sample along one dim, and the elements before and after it.
struct Sample : RegionSample {
  Value lowIndex, highIndex;
};

Sample locate(Numbers &n, Value position, Value size) {
  KernelLowering &k = n.k;
  ElementBuilder b = k.elements();
  Sample s{buildSample(b, position, n.number(size)), {}, {}};
  Value last = k.add(size, -1);
  s.lowIndex = n.clampedIndex(s.low, last);
  s.highIndex = k.min(k.add(s.lowIndex, 1), last);
  return s;
}

/// Returns the dim of a region whose corners are columns `first` and
/// `first + 2`.
RegionExtent getExtent(RoiAlignOp op, Numbers &n, Value roi, int64_t first,
                       Value bins) {
  KernelLowering &k = n.k;
  ElementBuilder b = k.elements();
  auto corner = [&](int64_t i) {
    return k.loadWide(k.get(op.getRois()), {roi, k.index(i)});
  };
  return buildExtent(b, op, corner(first), corner(first + 2), n.number(bins));
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
  Value getCount() { return samples; }

private:
  Value getPosition(Value bin, Value i) {
    ElementBuilder b = n.k.elements();
    return buildPosition(b, extent, n.number(bin), n.number(i),
                         n.number(samples));
  }
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
  RegionExtent extent;
  Value samples;        // of a bin
  Value cells, weights; // by sample: low, high, inside; their weights
};

void Samples::setRegion(Value roi) {
  KernelLowering &k = n.k;
  extent = getExtent(op, n, roi, first, bins);
  ElementBuilder b = k.elements();
  samples = op.getSamples() ? k.index(op.getSamples())
                            : n.index(buildSampleCount(b, extent));
  if (!cells)
    return;
  k.forEach({bins, samples}, [&](ValueRange at) {
    Sample s = locate(n, getPosition(at[0], at[1]), size);
    Value row = getRow(at[0], at[1]);
    Value inside = k.select(s.inside, k.index(1), k.index(0));
    auto store = [&](ArrayRef<Value> numbers, Value table) {
      for (auto [i, number] : llvm::enumerate(numbers))
        k.store(number, table, {row, k.index(i)});
    };
    store({s.lowIndex, s.highIndex, inside}, cells);
    store({s.lowWeight, s.highWeight}, weights);
  });
}

Sample Samples::get(Value bin, Value i) {
  KernelLowering &k = n.k;
  if (!cells)
    return locate(n, getPosition(bin, i), size);
  Value row = getRow(bin, i);
  auto load = [&](Value table, int64_t column) {
    return k.load(table, {row, k.index(column)});
  };
  Sample s;
  s.lowIndex = load(cells, 0);
  s.highIndex = load(cells, 1);
  s.inside = k.compare(arith::CmpIPredicate::ne, load(cells, 2), k.index(0));
  s.lowWeight = load(weights, 0);
  s.highWeight = load(weights, 1);
  return s;
}

/// Interpolates between the four elements around a sample.
Value interpolate(RoiAlignOp op, Numbers &n, const Sample &sy, const Sample &sx,
                  Value image, Value channel) {
  KernelLowering &k = n.k;
  auto pixel = [&](Value row, Value column) {
    return k.loadWide(k.get(op.getInput()), {image, channel, row, column});
  };
  ElementBuilder b = k.elements();
  return buildInterpolation(
      b, op, sy, sx,
      {pixel(sy.lowIndex, sx.lowIndex), pixel(sy.lowIndex, sx.highIndex),
       pixel(sy.highIndex, sx.lowIndex), pixel(sy.highIndex, sx.highIndex)});
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
    Value count = n.number(k.mul(y.getCount(), x.getCount()));
    ElementBuilder b = k.elements();
    Value none = buildNoSamples(b, op, n.type);
    k.forEach(ArrayRef(out).drop_front(), [&](ValueRange at) {
      Value folded =
          k.fold({{k.index(0), y.getCount()}, {k.index(0), x.getCount()}}, none,
                 [&](ValueRange i, Value carried) {
                   Value value = interpolate(op, n, y.get(at[1], i[0]),
                                             x.get(at[2], i[1]), image, at[0]);
                   ElementBuilder inner = k.elements();
                   return buildFold(inner, op, carried, value);
                 });
      ElementBuilder inner = k.elements();
      k.storeWide(buildBin(inner, op, folded, count), output,
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
