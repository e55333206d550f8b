// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers attention query by query: a row of scores, their softmax, and the
// weighted sum of the values.
#include "KernelLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace adze::graph;

namespace {

class AttentionLowering {
public:
  AttentionLowering(AttentionOp op, KernelLowering &k)
      : op(op), k(k), query(k.get(op.getQuery())), key(k.get(op.getKey())),
        value(k.get(op.getValue())), output(k.getOutput(op.getResult())) {
    type =
        getAccumulatorType(cast<MemRefType>(output.getType()).getElementType());
    if (op.getBias())
      bias = k.get(op.getBias());
    if (op.getMask())
      mask = k.get(op.getMask());
    rank = getDims(op.getQuery()).size();
    depth = k.getSize(op.getQuery(), rank - 1);
    keys = k.getSize(op.getKey(), rank - 2);
    columns = k.getSize(op.getValue(), rank - 1);
  }

  LogicalResult run() {
    for (int64_t dim = 0; dim + 2 < rank; ++dim)
      for (Value operand : {op.getKey(), op.getValue()})
        if (!op.getRepeats(operand, dim))
          return op.emitOpError("unsupported: expected to know which dims of "
                                "key and value are repeated");
    auto rowType = MemRefType::get({ShapedType::kDynamic}, type);
    row = memref::AllocOp::create(k.builder, k.loc, rowType, keys,
                                  k.builder.getI64IntegerAttr(64));
    SmallVector<Value> sizes = k.getSizes(op.getQuery());
    sizes.pop_back();
    k.forEach(sizes, [&](ValueRange at) { lowerQuery(at); });
    return success();
  }

private:
  void lowerQuery(ValueRange at) {
    ElementBuilder b = k.elements();
    Value most = k.fold({{k.index(0), keys}},
                        b.constant(getNeutral(Combiner::Max, type)),
                        [&](ValueRange j, Value most) {
                          Value s = score(at, j[0]);
                          k.store(s, row, j);
                          return buildCombine(b, Combiner::Max, type, most, s);
                        });
    Value sum = k.fold(
        {{k.index(0), keys}}, k.number(type, 0), [&](ValueRange j, Value sum) {
          Value p = math::ExpOp::create(
              k.builder, k.loc, k.subNum(k.load(row, j), most), tinyIsZero);
          k.store(p, row, j);
          return k.addNum(sum, p);
        });
    Value zero = k.number(type, 0);
    // Without keys, sum and product are 0. NaN propagates.
    auto predicate = op.getZeroEmpty() ? arith::CmpFPredicate::OGT
                                       : arith::CmpFPredicate::UNE;
    Value some = arith::CmpFOp::create(k.builder, k.loc, predicate, sum, zero);
    if (op.getZeroMasked())
      some = arith::AndIOp::create(
          k.builder, k.loc, some,
          arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::UNE,
                                most, k.number(type, -INFINITY)));
    k.forEach(columns, [&](ValueRange e) {
      Value total =
          k.fold({{k.index(0), keys}}, zero, [&](ValueRange j, Value total) {
            Value v = k.loadWide(value, inGroup(op.getValue(), at, j[0], e[0]));
            return k.addNum(total, k.mulNum(k.load(row, j), v));
          });
      total = k.select(some, k.divNum(total, sum), zero);
      SmallVector<Value> place(at);
      place.push_back(e[0]);
      k.storeWide(total, output, place);
    });
  }

  /// Returns the indices of element (row, column) of the key or value of a
  /// query.
  SmallVector<Value> inGroup(Value operand, ValueRange at, Value row,
                             Value column) {
    SmallVector<Value> place;
    for (int64_t dim = 0; dim + 2 < rank; ++dim) {
      int64_t repeats = *op.getRepeats(operand, dim);
      place.push_back(repeats == 0 ? k.index(0) : k.floorDiv(at[dim], repeats));
    }
    place.append({row, column});
    return place;
  }

  /// Returns the indices of the bias or mask of a score.
  SmallVector<Value> atScore(Value operand, ValueRange at, Value j) {
    Dims dims = getDims(operand);
    SmallVector<Value> score(at), place;
    score.push_back(j);
    size_t offset = score.size() - dims.size();
    for (size_t i = 0; i < dims.size(); ++i) {
      Value isOne =
          k.compare(arith::CmpIPredicate::eq, k.evaluate(dims[i]), k.index(1));
      place.push_back(k.select(isOne, k.index(0), score[offset + i]));
    }
    return place;
  }

  /// Returns true if key j is not masked for the query.
  Value isVisible(ValueRange at, Value j) {
    Value last = at.back();
    if (op.getCausal() == Causal::LowerRight)
      last = k.add(last, k.sub(keys, k.getSize(op.getQuery(), rank - 2)));
    return k.compare(arith::CmpIPredicate::sle, j, last);
  }

  Value score(ValueRange at, Value j) {
    Value s = k.fold(
        {{k.index(0), depth}}, k.number(type, 0), [&](ValueRange d, Value sum) {
          SmallVector<Value> place(at);
          place.push_back(d[0]);
          Value x = k.loadWide(query, place);
          Value y = k.loadWide(key, inGroup(op.getKey(), at, j, d[0]));
          return k.addNum(sum, k.mulNum(x, y));
        });
    s = k.mulNum(s, k.number(type, op.getScale().convertToDouble()));
    if (double cap = op.getSoftcap().convertToDouble(); cap > 0) {
      Value scaled = k.divNum(s, k.number(type, cap));
      Value tanh = math::TanhOp::create(k.builder, k.loc, scaled);
      s = k.mulNum(tanh, k.number(type, cap));
    }
    if (bias)
      s = k.addNum(s, k.loadWide(bias, atScore(op.getBias(), at, j)));
    Value fill = k.number(type, op.getFill().convertToDouble());
    if (mask)
      s = k.select(k.load(mask, atScore(op.getMask(), at, j)), s, fill);
    if (op.getCausal() != Causal::None)
      s = k.select(isVisible(at, j), s, fill);
    return s;
  }

  AttentionOp op;
  KernelLowering &k;
  Value query, key, value, output, bias, mask, row;
  Value depth, keys, columns;
  int64_t rank;
  Type type;
};

} // namespace

FamilyResult adze::graph::lowerAttention(Operation *op, KernelLowering &k) {
  if (auto attention = dyn_cast<AttentionOp>(op))
    return AttentionLowering(attention, k).run();
  return std::nullopt;
}
