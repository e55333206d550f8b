// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over any dims, and the place of the greatest or least element. The
// last dim of the input runs along the lanes: if it is kept, the reduced dims
// are loops that carry a tile; if not, each tile is folded along it, or, where
// tiles do not fill it exactly, each lane has values of its own up to its end.
#include "RowMath.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

enum Axis { Row = 0, Lane = 1 };

/// How elements become one: values that are carried over them.
class Fold {
public:
  using Carried = KernelEmitter::Carried;
  /// The places of elements along the reduced dim, as numbers of a type.
  using Position = llvm::function_ref<Value(Type)>;

  Fold(KernelEmitter &e, Type graphType)
      : e(e), b(e.builder()), graphType(graphType),
        accType(getAccumulatorType(getSignlessType(graphType))),
        combineType(accType == getSignlessType(graphType) ? graphType
                                                          : accType) {}
  virtual ~Fold() = default;

  /// Before any element.
  virtual Carried begin(ArrayRef<int> axes) = 0;
  /// What a tile of elements carries alone.
  virtual Carried take(Value x, ArrayRef<int> axes, Position position) = 0;
  /// Of elements and of later ones; `mask`: which of the later ones there are.
  virtual Carried merge(ValueRange first, ValueRange second, Value mask,
                        ArrayRef<int> axes) = 0;
  /// All along the lanes become one.
  virtual Carried foldLanes(ValueRange carried, ArrayRef<int> axes) = 0;
  /// Whether several dims may go, and tiles may be folded one by one.
  virtual bool isPlain() const { return true; }

  Type getAccumulator() const { return accType; }

protected:
  KernelEmitter &e;
  OpBuilder &b;
  Type graphType, accType, combineType;
};

/// Numbers by a combiner.
class NumberFold final : public Fold {
public:
  NumberFold(KernelEmitter &e, ReduceOpInterface op)
      : Fold(e, getElementTypeOrSelf(op.getInput())), op(op),
        combiner(op.getCombiner()) {}

  /// First the maximum, which the second pass over the elements subtracts.
  void findMaximum() {
    prepares = false;
    combiner = Combiner::Max;
  }
  bool needsMaximum() const {
    return op.subtractsMax() && isa<FloatType>(accType);
  }
  void subtractMaximum(Value most, ArrayRef<int> axes) {
    prepares = true;
    combiner = op.getCombiner();
    // An infinite maximum would make every difference NaN.
    Value size = math::AbsFOp::create(b, e.loc(), most);
    Value infinity = e.constant(getNeutral(Combiner::Min, accType), axes);
    Value isFinite = arith::CmpFOp::create(
        b, e.loc(), arith::CmpFPredicate::OLT, size, infinity);
    Value zero = e.constant(b.getFloatAttr(accType, 0.0), axes);
    shift = arith::SelectOp::create(b, e.loc(), isFinite, most, zero);
    shiftAxes.assign(axes.begin(), axes.end());
  }
  Value finish(Value combined, Value count, ArrayRef<int> axes) {
    TileElementBuilder builder(e, axes);
    Value converted;
    if (count) {
      TileElementBuilder scalar(e, {});
      converted = buildCast(scalar, count, b.getI64Type(), combineType);
      converted = e.broadcast({converted, {}}, axes);
    }
    Value result = op.buildFinish(builder, combined, converted);
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
        e.reduce(combiner, combineType, {carried[0], Axes(axes)}, Lane).value};
  }

private:
  mutable ReduceOpInterface op;
  Combiner combiner;
  bool prepares = true;
  Value shift;
  Axes shiftAxes;
};

/// The best element and where it is; NaN is the best of all.
class PlaceFold final : public Fold {
public:
  PlaceFold(KernelEmitter &e, Value input, bool greatest, bool takesLast,
            Type placeType)
      : Fold(e, getElementTypeOrSelf(input)),
        combiner(greatest ? Combiner::Max : Combiner::Min),
        takesLast(takesLast), placeType(placeType) {}

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
    // Of the places of the best ones the first or last.
    Combiner which = takesLast ? Combiner::Max : Combiner::Min;
    Value none = e.constant(getNeutral(which, placeType), all);
    Value places =
        arith::SelectOp::create(b, e.loc(), isBest, carried[1], none);
    return {best, e.reduce(which, placeType, {places, all}, Lane).value};
  }
  bool isPlain() const override { return false; }

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

/// One dim (or dims taken as one) of the input.
struct Part {
  unsigned begin, end;
  bool reduced;
  AffineExpr size;
  Value block; // null: one place
  int axis = -1;
  Value offset;

  Place place() const { return {offset, axis, 1, end - begin}; }
};

/// The loops and programs around a fold.
class Reduction {
public:
  using Carried = KernelEmitter::Carried;

  Reduction(KernelEmitter &e, Fold &fold, Value input,
            ArrayRef<int64_t> reduced, bool keepdims)
      : e(e), fold(fold), input(input), reduced(reduced), keepdims(keepdims),
        dims(getDims(input)) {}

  LogicalResult cutParts(Cut cut);
  LogicalResult setPrograms();
  /// All elements.
  FailureOr<Carried> run() { return loopParts(0, fold.begin(axes)); }
  LogicalResult store(Value result, Value tile);
  /// How many elements become one.
  Value count();
  ArrayRef<int> getAxes() const { return axes; }

private:
  LogicalResult setBlocks();
  LogicalResult setRowAxis(int64_t rows);
  AffineExpr keptRows() const;
  FailureOr<Carried> loopParts(unsigned part, ValueRange carried);
  FailureOr<Carried> walkLanes(Part &part, ValueRange carried);
  FailureOr<Carried> takeTile();
  Places getResultPlaces();

  KernelEmitter &e;
  Fold &fold;
  Value input;
  ArrayRef<int64_t> reduced;
  bool keepdims;
  Dims dims;
  SmallVector<Part> parts;
  Axes axes;           // of what is carried
  WalkedRows walked{}; // chunk 0: tiles fill the lanes' dim
};

} // namespace

/// Dims of one kind that follow each other are one part, if `Flat`.
LogicalResult Reduction::cutParts(Cut cut) {
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    bool goes = llvm::is_contained(reduced, int64_t(dim));
    if (cut == Cut::Flat && !parts.empty() && parts.back().reduced == goes) {
      parts.back().end = dim + 1;
      parts.back().size = mulExprs(parts.back().size, dims[dim]);
    } else {
      parts.push_back({dim, dim + 1, goes, dims[dim], {}, -1, {}});
    }
  }
  if (parts.empty() || !llvm::any_of(parts, [](Part &p) { return p.reduced; }))
    return e.fail("a reduction over no dim");
  return setBlocks();
}

LogicalResult Reduction::setBlocks() {
  constexpr int64_t maxLength = 16384, elements = 4096, leastChunk = 16;
  Part &last = parts.back();
  int64_t size = getKnown(last.size);
  last.axis = Lane;
  if (!last.reduced) {
    last.block = e.param("BLOCK_N", chooseLanes(size, 256));
    e.setAxis(Lane, last.block);
    axes = {Lane};
    return success();
  }
  // Chunks that end where the row ends need no mask.
  int64_t chunk = size < 1 ? 0 : largestDivisor(size, maxLength);
  bool fits = fold.isPlain() && chunk >= 1 &&
              chunk >= std::min<int64_t>(size, leastChunk);
  if (fits) {
    last.block = e.index(chunk);
    e.setAxis(Lane, last.block);
    return setRowAxis(std::clamp<int64_t>(elements / chunk, 1, 16));
  }
  walked = chooseWalkedRows(e.getKnownRows(keptRows()), size);
  return setRowAxis(walked.rows);
}

/// The innermost kept part, or one.
AffineExpr Reduction::keptRows() const {
  for (const Part &part : llvm::reverse(parts))
    if (!part.reduced)
      return part.size;
  return getAffineConstantExpr(1, input.getContext());
}

LogicalResult Reduction::setRowAxis(int64_t rows) {
  axes = {Row};
  for (Part &part : llvm::reverse(parts))
    if (!part.reduced) {
      part.axis = Row;
      part.block = e.param("ROWS", chooseBlock(getKnown(part.size), rows));
      e.setAxis(Row, part.block);
      return success();
    }
  if (!keepdims)
    return e.fail("a reduction to a scalar");
  e.setAxis(Row, e.index(1));
  return success();
}

LogicalResult Reduction::setPrograms() {
  SmallVector<Value> counts;
  SmallVector<Part *> kept;
  for (Part &part : llvm::reverse(parts)) {
    Value size = e.size(part.size);
    if (!size)
      return failure();
    if (part.reduced)
      continue;
    counts.push_back(part.block ? e.ceilDiv(size, part.block) : size);
    kept.push_back(&part);
  }
  SmallVector<Value> ids = e.programIds(counts);
  for (auto [part, id] : llvm::zip(kept, ids))
    part->offset = part->block ? e.mul(id, part->block) : id;
  return success();
}

/// What the tile at the current place carries.
FailureOr<KernelEmitter::Carried> Reduction::takeTile() {
  Places places;
  const Part *along = nullptr;
  for (const Part &part : parts) {
    places.push_back(part.place());
    if (part.reduced)
      along = &part;
  }
  auto x = e.emit(input, places);
  if (failed(x))
    return failure();
  Axes tileAxes(axes);
  if (parts.back().reduced)
    tileAxes.push_back(Lane);
  Value tile = e.broadcast(e.convert(*x, fold.getAccumulator()), tileAxes);
  auto position = [&](Type type) {
    OpBuilder &b = e.builder();
    Value start = arith::IndexCastOp::create(b, e.loc(), type, along->offset);
    Value first = e.broadcast({start, {}}, tileAxes);
    if (along->axis < 0)
      return first;
    Value own = e.broadcast(e.emitPositions(along->axis, type), tileAxes);
    return arith::AddIOp::create(b, e.loc(), own, first).getResult();
  };
  return fold.take(tile, tileAxes, position);
}

/// The last part in two walks, with values for each lane.
FailureOr<KernelEmitter::Carried> Reduction::walkLanes(Part &part,
                                                       ValueRange before) {
  Carried carried(before);
  Axes tileAxes(axes);
  tileAxes.push_back(Lane);
  for (const RowWalk &walk :
       walkRow(e, part.size, walked.chunk, /*least=*/16)) {
    e.setAxis(Lane, walk.chunk);
    e.setTail(walk.isTail);
    auto each =
        e.loop(walk.length, walk.chunk, fold.begin(tileAxes),
               [&](Value iv, ValueRange inner) -> FailureOr<Carried> {
                 part.offset = walk.place(e, iv);
                 auto taken = takeTile();
                 if (failed(taken))
                   return failure();
                 Value mask;
                 if (walk.end)
                   mask = e.broadcast(e.emitInside(Lane, part.offset, walk.end),
                                      tileAxes);
                 return fold.merge(inner, *taken, mask, tileAxes);
               });
    e.setTail(false);
    if (failed(each))
      return failure();
    carried = fold.merge(carried, fold.foldLanes(*each, tileAxes), {}, axes);
  }
  return carried;
}

FailureOr<KernelEmitter::Carried> Reduction::loopParts(unsigned index,
                                                       ValueRange carried) {
  if (index == parts.size()) {
    auto taken = takeTile();
    if (failed(taken))
      return failure();
    if (!parts.back().reduced)
      return fold.merge(carried, *taken, {}, axes);
    Axes tileAxes(axes);
    tileAxes.push_back(Lane);
    return fold.merge(carried, fold.foldLanes(*taken, tileAxes), {}, axes);
  }
  Part &part = parts[index];
  if (!part.reduced)
    return loopParts(index + 1, carried);
  if (part.axis == Lane && walked.chunk > 0)
    return walkLanes(part, carried);
  Value step = part.block ? part.block : e.index(1);
  return e.loop(e.size(part.size), step, carried,
                [&](Value iv, ValueRange inner) {
                  part.offset = iv;
                  return loopParts(index + 1, inner);
                });
}

Places Reduction::getResultPlaces() {
  Places places;
  bool rowPlaced =
      llvm::any_of(parts, [](Part &p) { return !p.reduced && p.axis >= 0; });
  for (const Part &part : parts) {
    if (!part.reduced) {
      places.push_back(part.place());
      continue;
    }
    if (!keepdims)
      continue;
    for (unsigned dim = part.begin; dim < part.end; ++dim) {
      places.push_back({e.index(0), rowPlaced ? -1 : int(Row), 1, 1});
      rowPlaced = true;
    }
  }
  return places;
}

Value Reduction::count() {
  Value number = e.index(1);
  for (const Part &part : parts)
    if (part.reduced)
      number = e.mul(number, e.size(part.size));
  OpBuilder &b = e.builder();
  return arith::IndexCastOp::create(b, e.loc(), b.getI64Type(), number);
}

LogicalResult Reduction::store(Value result, Value tile) {
  Places places = getResultPlaces();
  Type element = getSignlessType(getElementTypeOrSelf(result));
  e.define(result, places, e.convert({tile, axes}, element));
  return e.storeOutputs(result, places);
}

static LogicalResult emitNumbers(KernelEmitter &e, ReduceOpInterface op,
                                 Cut cut) {
  NumberFold fold(e, op);
  Reduction reduction(e, fold, op.getInput(), op.getAxes(), op.getKeepdims());
  if (failed(reduction.cutParts(cut)) || failed(reduction.setPrograms()))
    return failure();
  if (fold.needsMaximum()) {
    fold.findMaximum();
    auto most = reduction.run();
    if (failed(most))
      return failure();
    fold.subtractMaximum((*most)[0], reduction.getAxes());
  }
  auto combined = reduction.run();
  if (failed(combined))
    return failure();
  Value count = op.needsCount() ? reduction.count() : Value();
  return reduction.store(op->getResult(0), fold.finish((*combined)[0], count,
                                                       reduction.getAxes()));
}

Value adze::reduceRows(KernelEmitter &e, ReduceOpInterface op, Value tile,
                       ArrayRef<int> axes, Value count) {
  NumberFold fold(e, op);
  Axes kept(axes);
  llvm::erase(kept, int(Lane));
  auto run = [&] {
    return fold.foldLanes(fold.take(tile, axes, Fold::Position()), axes)[0];
  };
  if (fold.needsMaximum()) {
    fold.findMaximum();
    fold.subtractMaximum(run(), kept);
  }
  return fold.finish(run(), count, kept);
}

template <typename OpT>
static LogicalResult emitPlace(KernelEmitter &e, OpT op, bool greatest,
                               Cut cut) {
  OpBuilder &b = e.builder();
  int64_t axis = op.getAxis(), size = getKnown(getDims(op.getInput())[axis]);
  bool isShort = size >= 0 && size <= std::numeric_limits<int32_t>::max();
  Type type = isShort ? b.getI32Type() : b.getI64Type();
  PlaceFold fold(e, op.getInput(), greatest, op.getSelectLast(), type);
  Reduction reduction(e, fold, op.getInput(), axis, op.getKeepdims());
  if (failed(reduction.cutParts(cut)) || failed(reduction.setPrograms()))
    return failure();
  auto carried = reduction.run();
  if (failed(carried))
    return failure();
  Value place = (*carried)[1];
  if (isShort)
    place = arith::ExtSIOp::create(
        b, e.loc(), e.tileType(reduction.getAxes(), b.getI64Type()), place);
  return reduction.store(op.getResult(), place);
}

LogicalResult adze::emitReduction(KernelEmitter &e, Operation *op, Cut cut) {
  if (cut != Cut::Flat && cut != Cut::Dims)
    return e.fail("no other cut of a reduction");
  if (auto most = dyn_cast<ArgMaxOp>(op))
    return emitPlace(e, most, /*greatest=*/true, cut);
  if (auto least = dyn_cast<ArgMinOp>(op))
    return emitPlace(e, least, /*greatest=*/false, cut);
  return emitNumbers(e, cast<ReduceOpInterface>(op), cut);
}
