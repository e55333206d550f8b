// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Short names for the arithmetic that operators are decomposed into.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_ARITHMETIC_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_ARITHMETIC_H

#include "../Binder.h"

namespace adze::importer {

/// Creates graph ops by their mathematical names. A number is a scalar of the
/// type of the other operand. Null operands result in null values, as in
/// Binder.
class Arithmetic {
public:
  using Value = mlir::Value;
  explicit Arithmetic(Binder &b) : b(b) {}

#define ADZE_BINARY(NAME, OP)                                                  \
  Value NAME(Value x, Value y) { return b.create<graph::OP>({x, y}); }         \
  Value NAME(Value x, double y) { return NAME(x, like(x, y)); }                \
  Value NAME(double x, Value y) { return NAME(like(y, x), y); }
  ADZE_BINARY(add, AddOp)
  ADZE_BINARY(sub, SubOp)
  ADZE_BINARY(mul, MulOp)
  ADZE_BINARY(div, DivOp)
  ADZE_BINARY(mod, ModOp)
  ADZE_BINARY(pow, PowOp)
  ADZE_BINARY(min, MinimumOp)
  ADZE_BINARY(max, MaximumOp)
  ADZE_BINARY(less, LessOp)
  ADZE_BINARY(lessEqual, LessEqualOp)
  ADZE_BINARY(greater, GreaterOp)
  ADZE_BINARY(greaterEqual, GreaterEqualOp)
  ADZE_BINARY(equal, EqualOp)
  ADZE_BINARY(bitAnd, BitwiseAndOp)
  ADZE_BINARY(bitXor, BitwiseXorOp)
  ADZE_BINARY(shiftRight, ShiftRightOp)
#undef ADZE_BINARY

#define ADZE_UNARY(NAME, OP)                                                   \
  Value NAME(Value x) { return b.create<graph::OP>(x); }
  ADZE_UNARY(neg, NegOp)
  ADZE_UNARY(abs, AbsOp)
  ADZE_UNARY(exp, ExpOp)
  ADZE_UNARY(log, LogOp)
  ADZE_UNARY(sqrt, SqrtOp)
  ADZE_UNARY(reciprocal, ReciprocalOp)
  ADZE_UNARY(floor, FloorOp)
  ADZE_UNARY(ceil, CeilOp)
  ADZE_UNARY(round, RoundOp)
  ADZE_UNARY(sin, SinOp)
  ADZE_UNARY(cos, CosOp)
  ADZE_UNARY(tanh, TanhOp)
  ADZE_UNARY(sigmoid, SigmoidOp)
  ADZE_UNARY(notOf, NotOp)
#undef ADZE_UNARY

  Value both(Value x, Value y) { return b.create<graph::AndOp>({x, y}); }
  Value either(Value x, Value y) { return b.create<graph::OrOp>({x, y}); }
  Value select(Value condition, Value x, Value y) {
    return b.create<graph::SelectOp>({condition, x, y});
  }
  Value select(Value condition, Value x, double y) {
    return select(condition, x, like(x, y));
  }

  /// Returns a scalar of the element type of `x`.
  Value like(Value x, double value) {
    return x ? b.scalar(Binder::getElementType(x), value) : Value();
  }

  template <typename OpT>
  Value reduce(Value x, llvm::ArrayRef<int64_t> axes, bool keepdims = false) {
    return b.create<OpT>(x,
                         {b.attr("axes", axes), b.attr("keepdims", keepdims)});
  }
  Value sum(Value x, llvm::ArrayRef<int64_t> axes, bool keepdims = false) {
    return reduce<graph::ReduceSumOp>(x, axes, keepdims);
  }
  Value concat(llvm::ArrayRef<Value> values, int64_t axis) {
    return values.size() == 1
               ? values.front()
               : b.create<graph::ConcatOp>(values, b.attr("axis", axis));
  }
  Value gather(Value data, Value indices, int64_t axis) {
    return b.create<graph::GatherOp>({data, indices}, b.attr("axis", axis));
  }
  Value matmul(Value x, Value y, bool transposeY = false) {
    return b.create<graph::MatmulOp>({x, y}, b.attr("transpose_b", transposeY));
  }

  /// Returns size / divisor, or null if it does not divide. If this is dynamic,
  /// the reshape to the result checks it at run time.
  mlir::AffineExpr quotient(mlir::AffineExpr size, int64_t divisor) {
    mlir::AffineExpr exact = graph::divideExactly(size, b.expr(divisor));
    return exact || graph::getConstant(size)
               ? exact
               : graph::floorDivExprs(size, b.expr(divisor));
  }
  /// Returns the size of a dim as an i64 scalar.
  Value size(Value tensor, int64_t dim) {
    if (!tensor || !b.hasAxis(dim, Binder::getRank(tensor)))
      return {};
    if (auto constant = graph::getConstant(graph::getDims(tensor)[dim]))
      return b.scalar(b.builder.getI64Type(), double(*constant));
    Value shape = b.create<graph::ShapeOp>(tensor);
    return b.reshape(b.slice(shape, 0, dim, b.expr(1)), {});
  }
  /// Returns 0, 1, .. up to the size of dim `dim` of `tensor`, as i64.
  Value iota(Value tensor, int64_t dim) {
    if (!tensor || !b.hasAxis(dim, Binder::getRank(tensor)))
      return {};
    return range(graph::getDims(tensor)[dim], size(tensor, dim));
  }
  /// Returns 0, 1, .. with `count` elements, where `limit` is the count as an
  /// i64 scalar.
  Value range(mlir::AffineExpr count, Value limit) {
    mlir::Type i64 = b.builder.getI64Type();
    return b.createAs<graph::RangeOp>(
        mlir::Type(graph::makeType(i64, count)),
        {b.scalar(i64, 0), limit, b.scalar(i64, 1)});
  }
  /// Returns 0, 1, .. count - 1, as i64.
  Value iota(int64_t count) {
    return b.ints(llvm::to_vector(llvm::seq<int64_t>(0, count)));
  }
  /// Adds `count` trailing dims of size 1 to `x`.
  Value withTail(Value x, int64_t count) {
    Dims dims = x ? graph::getDims(x) : Dims();
    dims.append(count, b.expr(1));
    return b.reshape(x, dims);
  }
  /// Merges all dims in [first, last).
  Value flatten(Value x, int64_t first, int64_t last) {
    int64_t rank = Binder::getRank(x);
    if (!x || (first < last &&
               (!b.hasAxis(first, rank) || !b.hasAxis(last - 1, rank))))
      return {};
    Dims dims = graph::getDims(x);
    mlir::AffineExpr all = graph::product(
        b.builder.getContext(),
        llvm::ArrayRef<mlir::AffineExpr>(dims).slice(first, last - first));
    if (!all) {
      (void)b.unsupported("expected dims that are known");
      return {};
    }
    dims.erase(dims.begin() + first, dims.begin() + last);
    dims.insert(dims.begin() + first, all);
    return b.reshape(x, dims);
  }

  /// Applies `move`, which only moves elements, to the strings `x`: it receives
  /// their indices, from 1 on, and 0 stands for the empty string.
  Value moveStrings(Value x, llvm::function_ref<Value(Value)> move) {
    if (!x)
      return {};
    Value texts = flatten(x, 0, Binder::getRank(x));
    if (!texts)
      return {};
    Value numbers = b.reshape(add(iota(texts, 0), 1.0), graph::getDims(x));
    return gather(concat({b.strings({""}), texts}, 0), move(numbers), 0);
  }

  /// Applies `build` to the axis that operand `i` holds, one of the first
  /// `count` of `rank` dims. If it is dynamic, builds the result for each axis,
  /// and selects the right one. All results have one shape.
  Value alongOperand(unsigned i, int64_t rank, int64_t count,
                     llvm::function_ref<Value(int64_t)> build) {
    if (graph::getConstantElements(b.operand(i))) {
      auto axis = b.getConstantInt(i);
      int64_t at = axis ? b.normalizeAxis(*axis, rank) : 0;
      return b.hasFailed() ? Value() : build(at);
    }
    Value axis = b.reshape(b.cast(b.operand(i), b.builder.getI64Type()), {});
    Value result;
    for (int64_t at = 0; at < count; ++at) {
      Value isIt =
          either(equal(axis, double(at)), equal(axis, double(at - rank)));
      Value mine = build(at);
      result = result ? select(isIt, mine, result) : mine;
    }
    return result;
  }

private:
  Binder &b;
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_ARITHMETIC_H
