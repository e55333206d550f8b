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
//
// The version for few queries of GPUs divides the keys of a step into parts,
// each with a maximum and sums of its own, which are joined at the end: warps,
// and the blocks of a cluster, do not wait for each other while they read.
#include "AttentionEmitter.h"
#include "Dialect/Graph/IR/Weights.h"
#include "Dialect/Tile/IR/Clusters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <numeric>

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Creates a product that is summed along the axis `common` and added to `acc`,
/// in the order of the axes: the rows of the result are the lesser axis. For
/// few queries, a GPU reads keys and values in all threads, and reduces; `acc`
/// may be null.
Value AttentionEmitter::createDot(const Emitted &lhs, const Emitted &rhs,
                                  Value acc, int common) {
  if (isFew()) {
    Axes all(lhs.axes);
    all.append(rhs.axes.begin(), rhs.axes.end());
    llvm::sort(all);
    all.erase(llvm::unique(all), all.end());
    Value product = arith::MulFOp::create(
        b, loc, e.broadcast(e.convert(lhs, type), all),
        e.broadcast(e.convert(rhs, type), all), arith::FastMathFlags::contract);
    Value sum = e.reduce(Combiner::Add, type, {product, all}, common).value;
    return acc ? arith::AddFOp::create(b, loc, acc, sum) : sum;
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

/// Returns a measure of the time of programs of one query on a GPU: the waves
/// of their clusters, times the time of one with `heads` heads. On an H200, it
/// is that of 2.5 heads and of those that it has.
static int64_t getTimeOfFew(tile::CudaTargetAttr target, int64_t programs,
                            int64_t heads) {
  int64_t atOnce = tile::countClusters(target.getMostClusterBlocks(),
                                       target.getMultiprocessors());
  return llvm::divideCeil(programs, std::max<int64_t>(1, atOnce)) *
         (5 + 2 * heads);
}

/// Chooses how many heads programs of one query share: as many as possible, or
/// those of the least time for the version for few queries. Keys that several
/// of its programs read come from the second-level cache.
void AttentionEmitter::chooseSharing() {
  if (rank < 3 || op.getCausal() == Causal::UpperLeft)
    return;
  auto inKeys = getSharing(op.getKey()), inValues = getSharing(op.getValue());
  auto all = getConstant(getDims(op.getResult())[rank - 3]);
  if (!inKeys || !inValues || !all)
    return;
  int64_t common = std::gcd(std::gcd(*inKeys, *inValues), *all);
  // A dynamic batch is assumed to be small.
  int64_t batch = getKnown(product(op.getContext(),
                                   ArrayRef<AffineExpr>(getDims(op.getResult()))
                                       .take_front(rank - 3))),
          programs = *all * std::max<int64_t>(1, batch);
  std::optional<int64_t> least;
  for (int64_t count = 1; count <= std::min(common, mostShared); ++count) {
    if (common % count != 0)
      continue;
    int64_t time = isFew() ? getTimeOfFew(e.gpu, programs / count, count) : 0;
    if (!least || time <= *least) {
      least = time;
      sharing = count;
    }
  }
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
  bool hasGpuUnit =
      e.gpu && !few && e.gpu.findUnit(getFactor(), getFactor(), type);
  int64_t block = isFew()      ? chooseKeysOfPart(std::max(depth, columns))
                  : hasGpuUnit ? chooseKeysOfMatrices(e.gpu, knownKeys)
                               : chooseKeys(knownKeys, hasUnit && !few);
  keyBlock = block;
  if (isFew()) {
    constexpr int64_t warps = 8;
    keysOfPart = e.index(block);
    parts = e.param("PARTS", warps);
    blockKeys = e.mul(parts, keysOfPart);
  } else {
    blockKeys = e.param("BLOCK_N", block, getEvenKeyBlocks(knownKeys, block));
  }
  Value rows = countForVersion(e, e.ceilDiv(queries, blockQueries));
  chooseSharing();
  Value allHeads = rank < 3 ? Value() : e.size(result[rank - 3]);
  Value numHeads = allHeads;
  bool isOne = isFew() || (knownQueries == 1 && sharing > 1);
  if (sharing > 1 && (asksWhetherFew() || isOne))
    numHeads = e.index(*getConstant(result[rank - 3]) / sharing);
  if (isOne)
    forms = {{nullptr, true, e.index(1), sharing > 1}};
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
  if (isFew())
    axes = {/*queries=*/0, /*keys=*/3, /*depth=*/4,
            /*columns=*/5, /*step=*/2, /*parts=*/1};
  else if (few)
    axes = {/*queries=*/4, /*keys=*/6, /*depth=*/5, /*columns=*/7, /*step=*/6};
  else
    axes = {/*queries=*/3, /*keys=*/1, /*depth=*/2, /*columns=*/0, /*step=*/1};
  queryAxes = axes.onParts({axes.queries});
  scoreAxes = axes.onParts({axes.queries, axes.keys});
  resultAxes = axes.onParts({axes.queries, axes.columns});
  for (int axis : {axes.keys, axes.step, axes.depth})
    e.setSummed(axis);
  if (isFew()) {
    e.setAxis(axes.parts, parts);
    e.setAxis(axes.keys, keysOfPart);
  }
  e.setAxis(axes.queries, heads > 1 ? e.index(heads) : count);
  e.setAxis(axes.step, blockKeys);
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

/// What scores, and a number of each query, are above `base`.
std::pair<Value, Value> AttentionEmitter::subtract(Value scores, Value before,
                                                   Value base) {
  if (!scalesDifferences())
    return {arith::SubFOp::create(b, loc, scores, spread(base, scoreAxes)),
            arith::SubFOp::create(b, loc, before, base)};
  auto scaled = [&](Value v, double factor) -> Value {
    return arith::MulFOp::create(b, loc, v, number(factor, queryAxes));
  };
  Value least = scaled(base, -getScale());
  Value shifted = math::FmaOp::create(
      b, loc, scores, number(getScale(), scoreAxes), spread(least, scoreAxes));
  // Both products are rounded: equal numbers differ by 0.
  Value drop = arith::AddFOp::create(b, loc, scaled(before, getScale()), least);
  return {shifted, drop};
}

/// Returns what is subtracted from scores: their maximum, or 0 if all keys are
/// masked, as exp(-inf - -inf) is NaN.
Value AttentionEmitter::getBase(Value most) {
  Value none = number(-INFINITY, queryAxes);
  Value isNone =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, most, none);
  return arith::SelectOp::create(b, loc, isNone, number(0.0, queryAxes), most);
}

/// One block of keys: carried are the sum of weighted values, the maximum and
/// the sum of the weights of each query.
FailureOr<KernelEmitter::Carried> AttentionEmitter::step(Value first,
                                                         ValueRange carried) {
  auto scores = emitScores(first);
  if (failed(scores))
    return failure();
  Value before = carried[1];
  Value most =
      e.reduce(Combiner::Max, type, {*scores, scoreAxes}, axes.keys).value;
  most = arith::MaximumFOp::create(b, loc, before, most);
  Value base = mayHideAll() ? getBase(most) : most;
  auto [shifted, drop] = subtract(*scores, before, base);
  Value weights = math::ExpOp::create(b, loc, shifted, isWeight);
  Value decay = math::ExpOp::create(b, loc, drop, isWeight);
  Value added =
      e.reduce(Combiner::Add, type, {weights, scoreAxes}, axes.keys).value;
  Value sum = math::FmaOp::create(b, loc, carried[2], decay, added);
  Value kept =
      arith::MulFOp::create(b, loc, carried[0], spread(decay, resultAxes));
  auto block = emitKeys(value, valueBatch, first, axes.columns);
  auto scaled = scale(weights, valueScales, valueBatch, first);
  if (failed(block) || failed(scaled))
    return failure();
  Emitted left = round(*block), right = round({*scaled, scoreAxes});
  if (axes.columns > axes.queries)
    std::swap(left, right);
  return KernelEmitter::Carried{createDot(left, right, kept, axes.keys), most,
                                sum};
}

/// Adds the sums of the parts, relative to the maximum of all parts.
void AttentionEmitter::joinParts(KernelEmitter::Carried &carried) {
  Emitted before{carried[1], queryAxes};
  Emitted most = e.reduce(Combiner::Max, type, before, axes.parts);
  Value base = getBase(e.broadcast(most, queryAxes));
  Value drop = arith::SubFOp::create(b, loc, before.value, base);
  if (scalesDifferences())
    drop = arith::MulFOp::create(b, loc, drop, number(getScale(), queryAxes));
  Value decay = math::ExpOp::create(b, loc, drop, isWeight);
  auto join = [&](Value sums, ArrayRef<int> on) {
    Value scaled = arith::MulFOp::create(b, loc, sums, spread(decay, on));
    return e.reduce(Combiner::Add, type, {scaled, Axes(on)}, axes.parts);
  };
  Emitted sum = join(carried[2], queryAxes),
          products = join(carried[0], resultAxes);
  carried = {products.value, most.value, sum.value};
  queryAxes = sum.axes;
  resultAxes = products.axes;
}

/// Divides by the sums and stores the result.
LogicalResult AttentionEmitter::finish(ValueRange carried) {
  Value sum = spread(carried[2], resultAxes);
  Value y = arith::DivFOp::create(b, loc, carried[0], sum);
  // Without keys that are visible, sums and products are 0. NaN propagates.
  bool mayLackKeys = getConstantIntValue(keys).value_or(0) == 0;
  if (op.getZeroEmpty() || op.getZeroMasked() || mayLackKeys) {
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
  bool readsOnce = form.few && (asksWhetherFew() || form.shares);
  keysAhead = readsOnce && !isFew() ? keyBlock : 0;
  auto inKeys = inGroup(op.getKey()), inValues = inGroup(op.getValue());
  if (failed(inKeys) || failed(inValues))
    return failure();
  keyBatch = *inKeys;
  valueBatch = *inValues;
  setAxes(form.few, form.count);
  if (failed(prepareQuery()))
    return failure();
  SmallVector<Value> init{number(0.0, resultAxes), number(-INFINITY, queryAxes),
                          number(0.0, queryAxes)};
  // Only keys below the diagonal are read: all later ones are masked for the
  // whole block.
  Value end = keys;
  if (op.getCausal() != Causal::None && (heads == 1 || isFew())) {
    end = e.add(row, form.count);
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
  if (isFew())
    joinParts(*carried);
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
