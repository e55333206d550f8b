// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Attention in one pass over the keys (online softmax): a program multiplies
// blocks of keys by a block of queries, and keeps the running maximum and sum
// of each query. Scores are not stored.
//
// The last axis of the tiles is that of the queries, so that a vector holds one
// score of many queries: maxima and sums need no cross-lane operations, and
// elements of keys and values are broadcast from memory. With few queries, the
// keys are along the vectors instead; if the number of queries is dynamic, the
// kernel chooses at run time. Programs of one query process several heads that
// share keys, so that the keys are read once.
#include "Dialect/Graph/IR/Attention.h"
#include "AttentionParts.h"
#include "Dialect/Graph/IR/Precision.h"
#include "Dialect/Graph/IR/Weights.h"
#include "FewRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <numeric>

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// The axes of the tile space: queries, keys, the elements of a key, and those
/// of a value.
struct AttentionAxes {
  int queries, keys, depth, columns;
  Axes on(std::initializer_list<int> list) const {
    Axes axes(list);
    llvm::sort(axes);
    return axes;
  }
};

class AttentionEmitter {
public:
  AttentionEmitter(KernelEmitter &e, AttentionOp op)
      : e(e), op(op), b(e.builder()), loc(e.loc()),
        element(getSignlessType(getElementTypeOrSelf(op.getResult()))),
        type(getAccumulatorType(element)) {}

  LogicalResult run();

private:
  LogicalResult setTiling();
  void setAxes(bool few, Value count);
  void chooseSharing();
  std::optional<int64_t> getSharing(Value operand);
  FailureOr<DimRanges> inGroup(Value operand);
  DimRanges getQueryRanges();
  LogicalResult prepareQuery();
  FailureOr<Value> scale(Value tile, Value scales, DimRanges batch,
                         Value first);
  FailureOr<KernelEmitter::Carried> step(Value first, ValueRange carried);
  FailureOr<Value> emitScores(Value first);
  FailureOr<Emitted> emitAtScores(Value operand, Value first);
  Value hideKeys(Value scores, Value first);
  std::pair<Value, Value> subtract(Value scores, Value before, Value base);
  Value createDot(const Emitted &lhs, const Emitted &rhs, Value acc);
  Emitted round(Emitted operand);
  Value position(int axis, Value offset, ArrayRef<int> axes);
  LogicalResult finish(ValueRange carried);

  Type getFactor() { return getPrecision(op).value_or(element); }
  double getScale() { return op.getScale().convertToDouble(); }
  double getFill() { return op.getFill().convertToDouble(); }
  double getSoftcap() { return op.getSoftcap().convertToDouble(); }
  /// Whether the scores of a block are scaled where the maximum is subtracted,
  /// by one fused multiply-add. What is added to scores or replaces them is of
  /// the same scale then: nothing, or -infinity.
  bool scalesDifferences() {
    bool isHidden = op.getMask() || op.getCausal() != Causal::None;
    return element != type && !op.getBias() && getSoftcap() == 0 &&
           getScale() > 0 && (!isHidden || getFill() == -INFINITY);
  }
  Value number(double value, ArrayRef<int> on) {
    return e.constant(b.getFloatAttr(type, value), on);
  }
  Value spread(Value perQuery, ArrayRef<int> on) {
    return e.broadcast({perQuery, {axes.queries}}, on);
  }
  /// Returns true if a block of keys may have only keys that are masked for a
  /// query.
  bool mayHideAll() {
    return op.getMask() || op.getBias() || op.getCausal() != Causal::None;
  }

  /// Returns true if the number of queries is dynamic and may be small, as in
  /// the steps of a decoder. Programs for few queries then have one query each.
  bool asksWhetherFew() { return knownQueries < 0 && e.tilesEvenly; }

  /// Returns true for the version for few queries of a kernel for GPUs, whose
  /// programs have one query.
  bool isFew() const { return e.version == RowVersion::Few; }

  /// Programs of `count` queries, which run if the condition holds. With `few`,
  /// keys are along the vectors; with `shares`, a program has one query, and
  /// the heads that share keys.
  struct Form {
    Value condition; // null: always
    bool few;
    Value count;
    bool shares = false;
  };
  LogicalResult emit(const Form &form);
  LogicalResult emitForms(ArrayRef<Form> forms);

  /// The numbers of queries from which a vector for each key pays off. If the
  /// number is dynamic, a single query has programs of its own, and less than
  /// `fewBlocked` queries also have blocks of keys along the vectors.
  static constexpr int64_t fewQueries = 8, fewBlocked = 21, blockedQueries = 4;
  /// The number of accumulators of a head that fit in registers next to its
  /// keys.
  static constexpr int64_t mostShared = 8;
  KernelEmitter &e;
  AttentionOp op;
  OpBuilder &b;
  Location loc;
  Type element, type;
  AttentionAxes axes;
  Axes scoreAxes, resultAxes;
  unsigned rank;
  int64_t depth, columns, knownQueries;
  int64_t sharing = 1; // heads with the same keys that a program may share
  int64_t heads = 1;   // of a program of this form
  int64_t keyBlock = 0;
  int64_t keysAhead = 0;          // prefetch distance
  Value queries, keys;            // their numbers
  SmallVector<Form, 3> forms;     // the first whose condition holds runs
  Value blockQueries, blockKeys;  // queries of a program, keys of a step
  Value rowId, row;               // of the queries; the first one
  SmallVector<Value> batch;       // ids
  DimRanges keyBatch, valueBatch; // of the batch dims
  Value key, value;               // without the scales of rows
  Value keyScales, valueScales;   // of each key and value, or null
  Emitted query;
};

} // namespace

/// Creates a product in the order of the axes: the rows of the result are the
/// lesser axis. For few queries, a GPU reads keys and values in all threads,
/// and reduces.
Value AttentionEmitter::createDot(const Emitted &lhs, const Emitted &rhs,
                                  Value acc) {
  if (isFew()) {
    Axes all(lhs.axes);
    all.append(rhs.axes.begin(), rhs.axes.end());
    llvm::sort(all);
    auto common = *std::adjacent_find(all.begin(), all.end());
    all.erase(llvm::unique(all), all.end());
    Value product =
        arith::MulFOp::create(b, loc, e.broadcast(e.convert(lhs, type), all),
                              e.broadcast(e.convert(rhs, type), all));
    Value sum = e.reduce(Combiner::Add, type, {product, all}, common).value;
    return arith::AddFOp::create(b, loc, acc, sum);
  }
  OperationState state(loc, tile::DotOp::getOperationName());
  state.addOperands({lhs.value, rhs.value, acc});
  state.addTypes(acc.getType());
  return b.create(state)->getResult(0);
}

/// Rounds an operand of a product, which a unit that computes in f32 may omit.
Emitted AttentionEmitter::round(Emitted operand) {
  Emitted result = e.convert(operand, getFactor());
  auto rounded = result.value.getDefiningOp<arith::TruncFOp>();
  if (rounded && result.value != operand.value)
    rounded.setFastmathAttr(arith::FastMathFlagsAttr::get(
        b.getContext(), arith::FastMathFlags::contract));
  return result;
}

/// Returns how many consecutive heads read the same keys or values.
std::optional<int64_t> AttentionEmitter::getSharing(Value operand) {
  std::optional<int64_t> repeats = op.getRepeats(operand, rank - 3);
  return repeats == 0 ? getConstant(getDims(op.getResult())[rank - 3])
                      : repeats;
}

/// Chooses how many heads programs of one query share.
void AttentionEmitter::chooseSharing() {
  if (rank < 3 || op.getCausal() == Causal::UpperLeft)
    return;
  auto inKeys = getSharing(op.getKey()), inValues = getSharing(op.getValue());
  auto all = getConstant(getDims(op.getResult())[rank - 3]);
  if (!inKeys || !inValues || !all)
    return;
  int64_t common = std::gcd(std::gcd(*inKeys, *inValues), *all);
  for (int64_t count = 1; count <= std::min(common, mostShared); ++count)
    if (common % count == 0)
      sharing = count;
}

/// Returns the ranges of the batch dims of key or value.
FailureOr<DimRanges> AttentionEmitter::inGroup(Value operand) {
  DimRanges ranges;
  for (unsigned dim = 0; dim + 2 < rank; ++dim) {
    std::optional<int64_t> repeats = op.getRepeats(operand, dim);
    if (!repeats)
      return e.fail("it is unknown whether a batch dim is broadcast");
    Value id = batch[dim];
    if (dim + 3 == rank && heads > 1)
      id = e.mul(id, e.index(heads));
    Value at = *repeats == 0 ? e.index(0) : e.div(id, e.index(*repeats));
    ranges.push_back({at, -1, 1, 1});
  }
  return ranges;
}

/// Computes sizes, and chooses the forms of programs.
LogicalResult AttentionEmitter::setTiling() {
  Dims result = getDims(op.getResult()), scores = op.getScoreDims();
  rank = result.size();
  depth = getKnown(getDims(op.getQuery()).back());
  columns = getKnown(result.back());
  if (!isHeadSize(getDims(op.getQuery()).back()) || !isHeadSize(result.back()))
    return e.fail("the head size is dynamic or too large");
  knownQueries = getKnown(scores[rank - 2]);
  int64_t knownKeys = getKnown(scores.back());
  queries = e.size(scores[rank - 2]);
  keys = e.size(scores.back());
  if (!queries || !keys)
    return failure();
  bool few = knownQueries > 0 && knownQueries < fewQueries;
  auto unit = e.target.findMatrixUnit(getFactor(), getFactor(), type);
  bool hasUnit = !e.gpu && unit && columns % unit.getShape()[0] == 0;
  blockQueries =
      isFew() ? e.index(1)
              : e.param("BLOCK_M",
                        few ? knownQueries
                            : chooseLanes(knownQueries, hasUnit ? 64 : 32));
  constexpr int64_t keysOfThreads = 512;
  int64_t block = isFew() ? chooseBlock(knownKeys, keysOfThreads)
                          : chooseKeys(knownKeys, hasUnit && !few);
  keyBlock = block;
  blockKeys = e.param("BLOCK_N", block, getEvenKeyBlocks(knownKeys, block));
  Value rows = countForVersion(e, queries, e.ceilDiv(queries, blockQueries));
  chooseSharing();
  Value allHeads = rank < 3 ? Value() : e.size(result[rank - 3]);
  Value numHeads = allHeads;
  bool isOne = knownQueries == 1 && sharing > 1 && !isFew();
  if (isFew())
    forms = {{nullptr, true, blockQueries}};
  if (sharing > 1 && (asksWhetherFew() || isOne))
    numHeads = e.index(*getConstant(result[rank - 3]) / sharing);
  if (isOne)
    forms = {{nullptr, true, e.index(1), true}};
  if (asksWhetherFew()) {
    auto isBelow = [&](int64_t limit) -> Value {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, queries,
                                   e.index(limit));
    };
    forms = {{isBelow(2), true, e.index(1), sharing > 1},
             {isBelow(fewBlocked), true, e.index(blockedQueries)},
             {nullptr, false, blockQueries}};
    // The order of sums depends on whether keys are along the vectors.
    if (e.batchInvariant) {
      forms = {forms[0], {nullptr, true, e.index(blockedQueries)}};
      rows = e.ceilDiv(queries, e.index(blockedQueries));
    }
    for (const Form &form : llvm::reverse(ArrayRef<Form>(forms).drop_back()))
      rows = arith::SelectOp::create(b, loc, form.condition,
                                     e.ceilDiv(queries, form.count), rows);
    if (sharing > 1)
      numHeads = arith::SelectOp::create(b, loc, forms.front().condition,
                                         numHeads, allHeads);
  }
  SmallVector<Value> counts{rows};
  for (unsigned dim = rank - 2; dim-- > 0;) {
    Value count = dim + 3 == rank ? numHeads : e.size(result[dim]);
    if (!count)
      return failure();
    counts.push_back(count);
  }
  SmallVector<Value> ids = e.programIds(counts);
  rowId = ids[0];
  batch.assign(ids.rbegin(), ids.rend() - 1);
  return success();
}

/// Sets the axes of programs of `count` queries; with `few`, keys are along the
/// vectors.
void AttentionEmitter::setAxes(bool few, Value count) {
  axes = few ? AttentionAxes{/*queries=*/4, /*keys=*/6, /*depth=*/5,
                             /*columns=*/7}
             : AttentionAxes{/*queries=*/3, /*keys=*/1, /*depth=*/2,
                             /*columns=*/0};
  scoreAxes = axes.on({axes.queries, axes.keys});
  resultAxes = axes.on({axes.queries, axes.columns});
  e.setSummed(axes.keys);
  e.setSummed(axes.depth);
  e.setAxis(axes.queries, heads > 1 ? e.index(heads) : count);
  e.setAxis(axes.keys, blockKeys);
  e.setAxis(axes.depth, e.index(depth));
  e.setAxis(axes.columns, e.index(columns));
  row = e.mul(rowId, count);
  if (getConstantIntValue(count) == 1) // known to be in bounds
    row = e.max(e.min(row, e.sub(queries, e.index(1))), e.index(0));
}

/// Returns the ranges of all dims of query and result except the last one.
DimRanges AttentionEmitter::getQueryRanges() {
  DimRanges ranges;
  for (Value id : batch)
    ranges.push_back({id, -1, 1, 1});
  ranges.push_back({row, axes.queries, 1, 1});
  if (heads > 1) {
    DimRange &head = ranges[rank - 3];
    head = {e.mul(batch[rank - 3], e.index(heads)), axes.queries, 1, 1};
    ranges[rank - 2].axis = -1;
  }
  return ranges;
}

/// Loads the block of queries, which all steps use. In f32, the scale is
/// applied to it once.
LogicalResult AttentionEmitter::prepareQuery() {
  DimRanges ranges = getQueryRanges();
  ranges.push_back({e.index(0), axes.depth, 1, 1});
  Axes on = axes.on({axes.queries, axes.depth});
  auto tile = e.emitOn(op.getQuery(), ranges, on);
  if (failed(tile))
    return failure();
  query = {*tile, on};
  if (element == type)
    query.value = arith::MulFOp::create(b, loc, *tile, number(getScale(), on));
  query = round(query);
  return success();
}

/// Multiplies scores or weights by the scales of the keys from `first` on.
FailureOr<Value> AttentionEmitter::scale(Value tile, Value scales,
                                         DimRanges batch, Value first) {
  if (!scales)
    return tile;
  batch.push_back({first, axes.keys, 1, 1});
  auto factors = e.emit(scales, batch);
  if (failed(factors))
    return failure();
  return arith::MulFOp::create(b, loc, tile, e.broadcast(*factors, scoreAxes))
      .getResult();
}

/// Emits the tile of the bias or mask for the scores of a step.
FailureOr<Emitted> AttentionEmitter::emitAtScores(Value operand, Value first) {
  Dims dims = getDims(operand), scores = op.getScoreDims();
  DimRanges ranges;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    unsigned at = rank - dims.size() + i;
    if (getKnown(dim) == 1) {
      ranges.push_back({e.index(0), -1, 1, 1});
      continue;
    }
    if (!areEqual(dim, scores[at]))
      return e.fail("it is unknown whether a dim of a mask is broadcast");
    if (at + 1 == rank)
      ranges.push_back({first, axes.keys, 1, 1});
    else
      ranges.push_back(getQueryRanges()[at]);
  }
  return e.emit(operand, ranges);
}

/// Returns `offset` plus the position along an axis, as i32.
Value AttentionEmitter::position(int axis, Value offset, ArrayRef<int> on) {
  Emitted tile = e.emitPositions(axis, b.getI32Type());
  Value start = arith::IndexCastOp::create(b, loc, b.getI32Type(), offset);
  tile.value = arith::AddIOp::create(b, loc, tile.value,
                                     e.broadcast({start, {}}, tile.axes));
  return e.broadcast(tile, on);
}

/// Replaces the scores of masked keys by `fill`, and removes keys beyond the
/// last one.
Value AttentionEmitter::hideKeys(Value scores, Value first) {
  if (op.getCausal() != Causal::None && heads == 1) { // else no key is masked
    Value last = row;
    if (op.getCausal() == Causal::LowerRight)
      last = e.add(row, e.sub(keys, queries));
    Value seen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle,
                                       position(axes.keys, first, scoreAxes),
                                       position(axes.queries, last, scoreAxes));
    Value fill = number(getFill(), scoreAxes);
    scores = arith::SelectOp::create(b, loc, seen, scores, fill);
  }
  auto count = getConstantIntValue(keys);
  auto block = e.getBinding("BLOCK_N");
  if (count && block && *count % *block == 0)
    return scores;
  Value inside = e.broadcast(e.emitInside(axes.keys, first, keys), scoreAxes);
  Value none = number(-INFINITY, scoreAxes);
  return arith::SelectOp::create(b, loc, inside, scores, none);
}

/// Emits the scores of the queries and the keys from `first` on.
FailureOr<Value> AttentionEmitter::emitScores(Value first) {
  DimRanges ranges = keyBatch;
  ranges.push_back({first, axes.keys, 1, 1});
  // Keys that are read once come from memory, so the next block is prefetched.
  ranges.back().ahead = keysAhead;
  ranges.push_back({e.index(0), axes.depth, 1, 1});
  Axes on = axes.on({axes.keys, axes.depth});
  auto tile = e.emitOn(key, ranges, on);
  if (failed(tile))
    return failure();
  Emitted block = round({*tile, on});
  bool keysAreRows = axes.keys < axes.queries;
  Value zero = number(0.0, scoreAxes);
  auto product = scale(keysAreRows ? createDot(block, query, zero)
                                   : createDot(query, block, zero),
                       keyScales, keyBatch, first);
  if (failed(product))
    return failure();
  Value s = *product;
  auto scaled = [&](Value x, double factor) -> Value {
    return arith::MulFOp::create(b, loc, x, number(factor, scoreAxes));
  };
  if (element != type && !scalesDifferences())
    s = scaled(s, getScale());
  if (double cap = getSoftcap(); cap > 0)
    s = scaled(math::TanhOp::create(b, loc, scaled(s, 1.0 / cap)), cap);
  if (op.getBias()) {
    auto bias = emitAtScores(op.getBias(), first);
    if (failed(bias))
      return failure();
    Value wide = e.broadcast(e.convert(*bias, type), scoreAxes);
    s = arith::AddFOp::create(b, loc, s, wide);
  }
  if (op.getMask()) {
    auto mask = emitAtScores(op.getMask(), first);
    if (failed(mask))
      return failure();
    Value fill = number(getFill(), scoreAxes);
    s = arith::SelectOp::create(b, loc, e.broadcast(*mask, scoreAxes), s, fill);
  }
  return hideKeys(s, first);
}

/// What scores, and a number of each query, are above `base`.
std::pair<Value, Value> AttentionEmitter::subtract(Value scores, Value before,
                                                   Value base) {
  if (!scalesDifferences())
    return {arith::SubFOp::create(b, loc, scores, spread(base, scoreAxes)),
            arith::SubFOp::create(b, loc, before, base)};
  Axes perQuery{axes.queries};
  auto scaled = [&](Value v, double factor) -> Value {
    return arith::MulFOp::create(b, loc, v, number(factor, perQuery));
  };
  Value least = scaled(base, -getScale());
  Value shifted = math::FmaOp::create(
      b, loc, scores, number(getScale(), scoreAxes), spread(least, scoreAxes));
  // Both products are rounded: equal numbers differ by 0.
  Value drop = arith::AddFOp::create(b, loc, scaled(before, getScale()), least);
  return {shifted, drop};
}

/// One block of keys: carried are the sum of weighted values, the maximum and
/// the sum of the weights of each query.
FailureOr<KernelEmitter::Carried> AttentionEmitter::step(Value first,
                                                         ValueRange carried) {
  auto scores = emitScores(first);
  if (failed(scores))
    return failure();
  Axes perQuery{axes.queries};
  Value before = carried[1];
  Value most =
      e.reduce(Combiner::Max, type, {*scores, scoreAxes}, axes.keys).value;
  most = arith::MaximumFOp::create(b, loc, before, most);
  Value base = most;
  if (mayHideAll()) { // exp(-inf - -inf) is NaN
    Value none = number(-INFINITY, perQuery);
    Value isNone =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, most, none);
    base = arith::SelectOp::create(b, loc, isNone, number(0.0, perQuery), most);
  }
  auto [shifted, drop] = subtract(*scores, before, base);
  Value weights = math::ExpOp::create(b, loc, shifted, isWeight);
  Value decay = math::ExpOp::create(b, loc, drop, isWeight);
  Value added =
      e.reduce(Combiner::Add, type, {weights, scoreAxes}, axes.keys).value;
  Value sum = math::FmaOp::create(b, loc, carried[2], decay, added);
  Value kept =
      arith::MulFOp::create(b, loc, carried[0], spread(decay, resultAxes));
  DimRanges ranges = valueBatch;
  ranges.push_back({first, axes.keys, 1, 1});
  ranges.back().ahead = keysAhead;
  ranges.push_back({e.index(0), axes.columns, 1, 1});
  Axes on = axes.on({axes.keys, axes.columns});
  auto block = e.emitOn(value, ranges, on);
  auto scaled = scale(weights, valueScales, valueBatch, first);
  if (failed(block) || failed(scaled))
    return failure();
  Emitted left = round({*block, on}), right = round({*scaled, scoreAxes});
  if (axes.columns > axes.queries)
    std::swap(left, right);
  return KernelEmitter::Carried{createDot(left, right, kept), most, sum};
}

/// Divides by the sums and stores the result.
LogicalResult AttentionEmitter::finish(ValueRange carried) {
  Value sum = spread(carried[2], resultAxes);
  Value y = arith::DivFOp::create(b, loc, carried[0], sum);
  // Without keys, sums and products are 0. NaN propagates.
  bool mayLackKeys = getConstantIntValue(keys).value_or(0) == 0;
  if (op.getZeroEmpty() || mayLackKeys) {
    Value zero = number(0.0, resultAxes);
    auto predicate = op.getZeroEmpty() ? arith::CmpFPredicate::OGT
                                       : arith::CmpFPredicate::UNE;
    Value some = arith::CmpFOp::create(b, loc, predicate, sum, zero);
    y = arith::SelectOp::create(b, loc, some, y, zero);
  }
  DimRanges ranges = getQueryRanges();
  ranges.push_back({e.index(0), axes.columns, 1, 1});
  e.define(op.getResult(), ranges, e.convert({y, resultAxes}, element));
  return e.storeOutputs(op.getResult(), ranges);
}

/// Emits a program of `count` queries.
LogicalResult AttentionEmitter::emit(const Form &form) {
  heads = form.shares ? sharing : 1;
  keysAhead = form.few && (asksWhetherFew() || form.shares) ? keyBlock : 0;
  auto inKeys = inGroup(op.getKey()), inValues = inGroup(op.getValue());
  if (failed(inKeys) || failed(inValues))
    return failure();
  keyBatch = *inKeys;
  valueBatch = *inValues;
  setAxes(form.few, form.count);
  if (failed(prepareQuery()))
    return failure();
  Axes perQuery{axes.queries};
  SmallVector<Value> init{number(0.0, resultAxes), number(-INFINITY, perQuery),
                          number(0.0, perQuery)};
  // Only keys below the diagonal are read: all later ones are masked for the
  // whole block.
  Value end = keys;
  if (op.getCausal() != Causal::None && heads == 1) {
    end = e.add(row, e.getAxisSize(axes.queries));
    if (op.getCausal() == Causal::LowerRight)
      end = e.max(e.add(end, e.sub(keys, queries)), e.index(1));
    end = e.min(end, keys);
  }
  auto carried =
      e.loop(end, blockKeys, init, [&](Value first, ValueRange carried) {
        return step(first, carried);
      });
  if (failed(carried))
    return failure();
  return finish(*carried);
}

LogicalResult AttentionEmitter::run() {
  if (failed(setTiling()))
    return failure();
  std::tie(key, keyScales) = separateScales(op.getKey());
  std::tie(value, valueScales) = separateScales(op.getValue());
  if (forms.empty())
    forms = {
        {nullptr, knownQueries > 0 && knownQueries < fewQueries, blockQueries}};
  return forms.size() == 1 ? emit(forms.front()) : emitForms(forms);
}

/// Emits the forms; at run time the first whose condition holds is chosen.
LogicalResult AttentionEmitter::emitForms(ArrayRef<Form> forms) {
  const Form &first = forms.front();
  if (!first.condition)
    return e.phase([&] { return emit(first); });
  auto choice = scf::IfOp::create(b, loc, first.condition, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(choice.thenBlock()->getTerminator());
  if (failed(e.phase([&] { return emit(first); })))
    return failure();
  b.setInsertionPoint(choice.elseBlock()->getTerminator());
  return emitForms(forms.drop_front());
}

LogicalResult adze::emitAttention(KernelEmitter &e, AttentionOp op,
                                  Tiling tiling) {
  if (tiling != Tiling::Dims)
    return e.fail("attention has a tiling by dims only");
  return AttentionEmitter(e, op).run();
}
