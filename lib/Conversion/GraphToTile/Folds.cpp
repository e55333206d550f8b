// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions to values, and to the index of the greatest or least element.
#include "Folds.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// Reduces elements by a combiner.
class NumberFold final : public Fold {
public:
  NumberFold(KernelEmitter &e, ReduceOpInterface op, int along = Lane)
      : Fold(e, *graph::getReduced(op)), op(op), combiner(op.getCombiner()),
        along(along) {}

  /// Computes the maximum first, which the second pass subtracts from the
  /// elements.
  void findMaximum() override {
    prepares = false;
    combiner = Combiner::Max;
  }
  bool needsMaximum() const override {
    return op.subtractsMax() && isa<FloatType>(accType);
  }
  void subtractMaximum(Value most, ArrayRef<int> axes) override {
    prepares = true;
    combiner = op.getCombiner();
    // An infinite maximum would make every difference NaN, so 0 replaces it.
    Value size = math::AbsFOp::create(b, e.loc(), most);
    Value infinity = e.constant(getNeutral(Combiner::Min, accType), axes);
    Value isFinite = arith::CmpFOp::create(
        b, e.loc(), arith::CmpFPredicate::OLT, size, infinity);
    Value zero = e.constant(b.getFloatAttr(accType, 0.0), axes);
    shift = arith::SelectOp::create(b, e.loc(), isFinite, most, zero);
    shiftAxes.assign(axes.begin(), axes.end());
  }
  Value finish(ValueRange carried, llvm::function_ref<Value()> count,
               ArrayRef<int> axes) override {
    TileElementBuilder builder(e, axes);
    Value converted;
    if (op.needsCount()) {
      TileElementBuilder scalar(e, {});
      converted = buildCast(scalar, count(), b.getI64Type(), combineType);
      converted = e.broadcast({converted, {}}, axes);
    }
    Value result = op.buildFinish(builder, carried[0], converted);
    return shift ? arith::AddFOp::create(b, e.loc(), result, shift).getResult()
                 : result;
  }

  Carried begin(ArrayRef<int> axes) override {
    return {e.constant(getNeutral(combiner, combineType), axes)};
  }
  Carried take(Value x, ArrayRef<int> axes, Position) override {
    if (!prepares)
      return {x};
    if (shift)
      x = arith::SubFOp::create(b, e.loc(), x,
                                e.broadcast({shift, shiftAxes}, axes));
    TileElementBuilder builder(e, axes);
    return {op.buildPrepare(builder, x)};
  }
  Carried merge(ValueRange first, ValueRange second, Value mask,
                ArrayRef<int> axes) override {
    Value more = second[0];
    if (mask)
      more = arith::SelectOp::create(b, e.loc(), mask, more, begin(axes)[0]);
    TileElementBuilder builder(e, axes);
    return {buildCombine(builder, combiner, combineType, first[0], more)};
  }
  Carried foldLanes(ValueRange carried, ArrayRef<int> axes) override {
    return {
        e.reduce(combiner, combineType, {carried[0], Axes(axes)}, along).value};
  }

private:
  mutable ReduceOpInterface op;
  Combiner combiner;
  int along; // the axis of a row
  bool prepares = true;
  Value shift;
  Axes shiftAxes;
};

/// Reduces elements to the best one and its index; NaN is the best of all.
class RangeFold final : public Fold {
public:
  template <typename OpT>
  RangeFold(KernelEmitter &e, OpT op)
      : Fold(e, *graph::getReduced(op)),
        combiner(std::is_same_v<OpT, ArgMaxOp> ? Combiner::Max : Combiner::Min),
        takesLast(op.getSelectLast()) {
    int64_t size = getKnown(getDims(op.getInput())[op.getAxis()]);
    bool isShort = size >= 0 && size <= std::numeric_limits<int32_t>::max();
    placeType = isShort ? b.getI32Type() : b.getI64Type();
  }

  Carried begin(ArrayRef<int> axes) override {
    return {e.constant(getNeutral(combiner, combineType), axes),
            e.constant(b.getIntegerAttr(placeType, 0), axes)};
  }
  Carried take(Value x, ArrayRef<int>, Position position) override {
    return {x, position(placeType)};
  }
  Carried merge(ValueRange first, ValueRange second, Value mask,
                ArrayRef<int>) override {
    Value better = isBetter(second[0], first[0]);
    if (mask)
      better = arith::AndIOp::create(b, e.loc(), better, mask);
    auto pick = [&](unsigned i) -> Value {
      return arith::SelectOp::create(b, e.loc(), better, second[i], first[i]);
    };
    return {pick(0), pick(1)};
  }
  Carried foldLanes(ValueRange carried, ArrayRef<int> axes) override {
    Axes all(axes), kept(axes);
    llvm::erase(kept, int(Lane));
    Value best = e.reduce(combiner, combineType, {carried[0], all}, Lane).value;
    Value isBest = isEqual(carried[0], e.broadcast({best, kept}, all));
    // The result is the first or last index of the best elements.
    Combiner which = takesLast ? Combiner::Max : Combiner::Min;
    Value none = e.constant(getNeutral(which, placeType), all);
    Value ranges =
        arith::SelectOp::create(b, e.loc(), isBest, carried[1], none);
    return {best, e.reduce(which, placeType, {ranges, all}, Lane).value};
  }
  bool isPlain() const override { return false; }
  Value finish(ValueRange carried, llvm::function_ref<Value()>,
               ArrayRef<int> axes) override {
    Type type = e.tileType(axes, b.getI64Type());
    return type == carried[1].getType()
               ? carried[1]
               : arith::ExtSIOp::create(b, e.loc(), type, carried[1]);
  }

private:
  Value isBetter(Value x, Value best) {
    bool most = combiner == Combiner::Max;
    if (isa<FloatType>(accType)) {
      using P = arith::CmpFPredicate;
      P predicate =
          most ? (takesLast ? P::OGE : P::OGT) : (takesLast ? P::OLE : P::OLT);
      Value better = arith::CmpFOp::create(b, e.loc(), predicate, x, best);
      Value isNaN = arith::CmpFOp::create(b, e.loc(), P::UNO, x, x);
      if (!takesLast) { // the first NaN stays
        Value number = arith::CmpFOp::create(b, e.loc(), P::ORD, best, best);
        isNaN = arith::AndIOp::create(b, e.loc(), isNaN, number);
      }
      return arith::OrIOp::create(b, e.loc(), better, isNaN);
    }
    using P = arith::CmpIPredicate;
    bool isUnsigned = graphType.isUnsignedInteger();
    P above = isUnsigned ? (takesLast ? P::uge : P::ugt)
                         : (takesLast ? P::sge : P::sgt);
    P below = isUnsigned ? (takesLast ? P::ule : P::ult)
                         : (takesLast ? P::sle : P::slt);
    return arith::CmpIOp::create(b, e.loc(), most ? above : below, x, best);
  }

  Value isEqual(Value x, Value best) {
    if (!isa<FloatType>(accType))
      return arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::eq, x,
                                   best);
    Value equal =
        arith::CmpFOp::create(b, e.loc(), arith::CmpFPredicate::OEQ, x, best);
    Value isNaN =
        arith::CmpFOp::create(b, e.loc(), arith::CmpFPredicate::UNO, x, x);
    return arith::OrIOp::create(b, e.loc(), equal, isNaN);
  }

  Combiner combiner;
  bool takesLast;
  Type placeType;
};

} // namespace

std::unique_ptr<Fold> adze::makeFold(KernelEmitter &e, Operation *op) {
  if (auto most = dyn_cast<ArgMaxOp>(op))
    return std::make_unique<RangeFold>(e, most);
  if (auto least = dyn_cast<ArgMinOp>(op))
    return std::make_unique<RangeFold>(e, least);
  return std::make_unique<NumberFold>(e, cast<ReduceOpInterface>(op));
}

Value adze::reduceRows(KernelEmitter &e, ReduceOpInterface op, Value tile,
                       ArrayRef<int> axes, int along, Value count) {
  NumberFold fold(e, op, along);
  Axes kept(axes);
  llvm::erase(kept, along);
  auto run = [&] {
    return fold.foldLanes(fold.take(tile, axes, Fold::Position()), axes)[0];
  };
  if (fold.needsMaximum()) {
    fold.findMaximum();
    fold.subtractMaximum(run(), kept);
  }
  return fold.finish(run(), [&] { return count; }, kept);
}
