// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-recognize-attention: replaces matmul(softmax(matmul(q, k) ..), v), in
// the variants of exporters, by graph.attention. The search goes backwards from
// the second product: through ops between it and the softmax, then between the
// softmax and the first product, then before keys and values.
#include "AttentionMask.h"
#include "AttentionViews.h"
#include "Dialect/Graph/IR/Attention.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "IndexFunctions.h"
#include "Refusals.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze::graph {
#define GEN_PASS_DEF_RECOGNIZEATTENTIONPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// One attempt, from the second product.
class Recognizer {
public:
  explicit Recognizer(MatmulOp product)
      : product(product), b(product), mask(b) {}

  bool run();
  /// Returns true if the product uses the result of a softmax at all.
  bool isCandidate();
  StringRef why = "";

private:
  bool refuse(StringRef reason) {
    why = reason;
    return false;
  }
  bool matchWeights(Value value, bool transposed);
  bool matchScores(Value value, bool inner = false);
  bool matchStep(Value &value, bool &inner);
  bool matchTransposed();
  bool matchDropped(SelectOp select, Value &value);
  bool hide(Value condition, bool visibleIfTrue, double number, bool inner);
  bool matchBias(Operation *sum, bool inner);
  Value matchBlend(Operation *sum, bool inner);
  bool matchProduct(MatmulOp scores, bool swapped);
  Value createScaled(Value bias);
  Value takeScale(Value value);
  Value takeRepeats(Value value);
  Value toLevel(Value value, ArrayRef<AffineExpr> whole);
  Value toLevelOrGroups(Value value, ArrayRef<AffineExpr> whole);
  bool dropsQueries();
  void narrow(AttentionOp op);
  Value createDropped(Value result);
  bool build();

  MatmulOp product;
  OpBuilder b;
  AttentionMask mask;
  Value query, key, value;
  double scale = 1.0, softcap = 0.0;
  bool zeroEmpty = false, zeroMasked = false, outputTransposed = false;
  std::optional<Dims> level; // batch dims at the position of the mask
  Dims scoreBatch;           // of the first product
  // Condition that drops weights, and its polarity.
  std::pair<Value, bool> dropped;
  SmallVector<Location> locations;
};

} // namespace

/// Matches a selection of weights by a condition: NaN weights, or those of
/// masked keys, are replaced by 0.
bool Recognizer::matchDropped(SelectOp select, Value &value) {
  auto isNan = select.getCondition().getDefiningOp<IsNanOp>();
  if (isNan && isNan.getInput() == select.getRhs()) {
    if (!isSplat(select.getLhs(), 0.0) || !select->hasOneUse() ||
        !isNan->hasOneUse() || llvm::range_size(select.getRhs().getUses()) != 2)
      return refuse("the select that replaces NaN has other uses");
    zeroEmpty = true;
    value = select.getRhs();
    return true;
  }
  bool keepsTrue = isSplat(select.getRhs(), 0.0);
  Value kept = keepsTrue ? select.getLhs() : select.getRhs();
  if ((!keepsTrue && !isSplat(select.getLhs(), 0.0)) || !select->hasOneUse() ||
      dropped.first || !areEqual(getDims(kept), getDims(select.getResult())))
    return refuse("a select does not replace weights by 0");
  dropped = {select.getCondition(), keepsTrue};
  value = kept;
  return true;
}

/// Returns true if a value is computed from the result of a softmax,
/// elementwise or by data movement.
static bool followsSoftmax(Value value) {
  constexpr size_t mostValues = 16;
  SmallVector<Value> work{value};
  for (size_t i = 0; i < work.size() && work.size() <= mostValues; ++i) {
    Operation *op = work[i].getDefiningOp();
    if (isa_and_nonnull<SoftmaxOp>(op))
      return true;
    if (isa_and_nonnull<ElementwiseOpInterface, ReshapeOp, TransposeOp>(op))
      llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Matches backwards from the weights to the softmax.
bool Recognizer::matchWeights(Value value, bool transposed) {
  if (transposed)
    return refuse("the product transposes the weights");
  for (unsigned steps = 0; steps < 8; ++steps) {
    Operation *op = value.getDefiningOp();
    if (auto select = dyn_cast_or_null<SelectOp>(op)) {
      if (!matchDropped(select, value))
        return false;
      continue;
    }
    auto softmax = dyn_cast_or_null<SoftmaxOp>(op);
    if (softmax)
      level = getBatch(softmax.getInput());
    if (!op)
      return refuse("the weights are not the result of a softmax");
    if (!op->hasOneUse() && !(zeroEmpty && softmax))
      return refuse("the weights have other uses");
    locations.push_back(op->getLoc());
    if (softmax) {
      if (int64_t(softmax.getAxis()) + 1 != getRank(softmax.getInput()))
        return refuse("the softmax is not over the last dim");
      mask.setScores(getDims(softmax.getInput()));
      return matchScores(softmax.getInput());
    }
    auto reshape = dyn_cast<ReshapeOp>(op);
    if (!isFloatCast(op) && !(reshape && isBatchReshape(reshape)))
      return refuse("an unsupported op is between softmax and product");
    value = op->getOperand(0);
  }
  return refuse("too many ops are between softmax and product");
}

/// Matches backwards from the softmax to the first product. `inner` is true for
/// ops that are applied to the scores before bias and mask.
bool Recognizer::matchScores(Value value, bool inner) {
  for (unsigned steps = 0; steps < 16; ++steps) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return refuse("the scores are not the result of a matrix product");
    if (!op->hasOneUse())
      return refuse("the scores have other uses");
    locations.push_back(op->getLoc());
    if (auto scores = dyn_cast<MatmulOp>(op))
      return matchProduct(scores, /*swapped=*/false);
    if (MatmulOp scores = getTransposedProduct(op)) {
      locations.push_back(scores.getLoc());
      return matchProduct(scores, /*swapped=*/true);
    }
    if (isa<AddOp, SubOp>(op)) {
      Value rest = matchBlend(op, inner);
      if (!rest)
        return matchBias(op, inner);
      value = rest;
      continue;
    }
    if (!matchStep(value, inner))
      return false;
  }
  return refuse("too many ops are between product and softmax");
}

/// Replaces scores by `number` where the condition masks them.
bool Recognizer::hide(Value condition, bool visibleIfTrue, double number,
                      bool inner) {
  // A masked score stays masked after a factor.
  if (inner)
    number *= scale;
  if (inner && (softcap != 0.0 || scale <= 0.0 || !hidesScores(number)))
    return refuse("the scores are masked before they are scaled");
  return mask.hide(condition, visibleIfTrue, number) ||
         refuse("the masks cannot be merged");
}

/// Matches one op between the softmax and the scores, except sums.
bool Recognizer::matchStep(Value &value, bool &inner) {
  Operation *op = value.getDefiningOp();
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (isFloatCast(op) || (reshape && isBatchReshape(reshape))) {
    value = op->getOperand(0);
    // Masks apply to the scores in this shape.
    if (reshape && mask.isEmpty()) {
      level = getBatch(value);
      mask.setScores(getDims(value));
    }
    mask.setPlace(getDims(value));
    return true;
  }
  if (auto select = dyn_cast<SelectOp>(op)) {
    std::optional<double> onTrue = getSplatNumber(select.getLhs()),
                          onFalse = getSplatNumber(select.getRhs());
    if (onTrue.has_value() == onFalse.has_value())
      return refuse("a select does not choose between scores and a constant");
    value = onTrue ? select.getRhs() : select.getLhs();
    if (!areEqual(getDims(value), getDims(select.getResult())))
      return refuse("the mask broadcasts the scores");
    return hide(select.getCondition(), /*visibleIfTrue=*/!onTrue,
                onTrue ? *onTrue : *onFalse, inner);
  }
  double least = 0.0;
  if (Value bounded = matchWithSplat<MaximumOp>(value, least)) {
    value = bounded;
    return !inner && mask.bound(least)
               ? true
               : refuse("a lower bound of the scores has an effect");
  }
  double factor = 1.0;
  Value scaled = matchScaled(value, factor);
  if (!scaled)
    return refuse("an unsupported op is between product and softmax");
  inner = true;
  value = scaled;
  auto tanh = scaled.getDefiningOp<TanhOp>();
  if (!tanh) {
    scale *= factor;
    return true;
  }
  double inverse = 1.0;
  Value x = matchScaled(tanh.getInput(), inverse);
  if (!x || !tanh->hasOneUse() || !tanh.getInput().hasOneUse() ||
      scale != 1.0 || softcap != 0.0 || std::abs(factor * inverse - 1) > 1e-5)
    return refuse("the tanh is not a soft cap of the scores");
  softcap = factor;
  value = x;
  return true;
}

/// Matches scores * m + number * (1 - m), also with a difference: scores where
/// m is 1, and a number where it is 0. Returns the scores.
Value Recognizer::matchBlend(Operation *sum, bool inner) {
  for (unsigned i : {0u, 1u}) {
    auto product = sum->getOperand(i).getDefiningOp<MulOp>();
    if (!product || !product->hasOneUse() || (isa<SubOp>(sum) && i == 1))
      continue;
    for (unsigned k : {0u, 1u}) {
      Value scores = product->getOperand(k), m = product->getOperand(1 - k);
      double slope = 0, number = 0;
      if (!areEqual(getDims(scores), getDims(sum->getResult(0))) ||
          !matchLinear(sum->getOperand(1 - i), m, slope, number) ||
          slope != -number)
        continue;
      Value condition = getIndicated(b, m);
      if (condition && hide(condition, /*visibleIfTrue=*/true,
                            isa<SubOp>(sum) ? -number : number, inner))
        return scores;
    }
  }
  return {};
}

/// Matches scores + bias, in either order, or scores - bias.
bool Recognizer::matchBias(Operation *sum, bool inner) {
  if (inner && softcap != 0.0)
    return refuse("a bias is added before the soft cap");
  bool subtracts = isa<SubOp>(sum);
  StringRef reason = "the bias does not broadcast to the scores";
  for (unsigned i : {0u, 1u}) {
    Value scores = sum->getOperand(i), bias = sum->getOperand(1 - i);
    if (!areEqual(getDims(scores), getDims(sum->getResult(0))) ||
        (subtracts && i == 1))
      continue;
    Recognizer attempt(*this);
    if (subtracts)
      bias = NegOp::create(b, bias.getLoc(), bias);
    if (inner) // (scores + bias) * scale
      bias = createScaled(bias);
    bool fits = attempt.mask.add(bias);
    if (!fits || !attempt.matchScores(scores, inner)) {
      reason = fits ? attempt.why : reason;
      continue;
    }
    // Only the result is copied, as the attempt has another builder.
    mask.take(attempt.mask);
    query = attempt.query;
    key = attempt.key;
    scale = attempt.scale;
    softcap = attempt.softcap;
    level = attempt.level;
    scoreBatch = attempt.scoreBatch;
    locations = attempt.locations;
    return true;
  }
  return refuse(reason);
}

/// Scales a bias that is added before the scale of the scores.
Value Recognizer::createScaled(Value bias) {
  auto type = RankedTensorType::get({}, getElement(bias));
  Value factor = ConstantOp::create(
      b, bias.getLoc(),
      DenseElementsAttr::get(type,
                             b.getFloatAttr(type.getElementType(), scale)));
  return MulOp::create(b, bias.getLoc(), bias, factor);
}

/// Removes a factor of an operand of the first product.
Value Recognizer::takeScale(Value value) {
  double factor = 1.0;
  while (value.hasOneUse()) {
    Value x = matchScaled(value, factor);
    if (!x || !areEqual(getDims(x), getDims(value)))
      break;
    scale *= factor;
    value = x;
  }
  // The factor may be before data movement.
  Operation *view = value.getDefiningOp();
  if (!isa_and_nonnull<ReshapeOp, TransposeOp>(view) || !value.hasOneUse() ||
      view->getNumOperands() != 1)
    return value;
  Value source = takeScale(view->getOperand(0));
  if (source == view->getOperand(0))
    return value;
  Operation *moved = b.clone(*view);
  moved->setOperand(0, source);
  return moved->getResult(0);
}

/// Matches the operands of query * key' or, with `swapped`, of key * query',
/// whose transpose are the scores.
bool Recognizer::matchProduct(MatmulOp scores, bool swapped) {
  scoreBatch = getBatch(scores.getResult());
  query = takeScale(swapped ? scores.getRhs() : scores.getLhs());
  if (swapped ? !scores.getTransposeB() : scores.getTransposeA())
    query = takeScale(swapLastTwo(b, query));
  key = takeScale(swapped ? scores.getLhs() : scores.getRhs());
  if (swapped ? scores.getTransposeA() : !scores.getTransposeB())
    key = takeScale(swapLastTwo(b, key));
  return true;
}

/// Removes the repetition of heads that share keys: a view of [.., G, 1, S, D]
/// repeated to [.., G, n, S, D], where G * n is the number of heads of the
/// masks, becomes [.., G, S, D]. Dims of size 1 may be anywhere.
Value Recognizer::takeRepeats(Value value) {
  Value source = value;
  while (auto reshape = source.getDefiningOp<ReshapeOp>())
    source = reshape.getInput();
  auto repeat = source.getDefiningOp<BroadcastToOp>();
  MLIRContext *context = value.getContext();
  if (!repeat || level->empty() ||
      !areEqual(adze::graph::product(context, getBatch(value)),
                adze::graph::product(context, *level)))
    return value;
  Dims from = getDims(repeat.getInput()), to = getDims(repeat.getResult());
  AffineExpr one = b.getAffineConstantExpr(1), times;
  from.insert(from.begin(), to.size() - from.size(), one);
  Dims seen, before;
  for (auto [old, now] : llvm::zip(from, to)) {
    if (!areEqual(old, now)) {
      if (times || old != one)
        return value;
      times = now;
      before = seen;
    } else if (now != one) {
      seen.push_back(now);
    }
  }
  AffineExpr groups =
      times ? divideExactly(level->back(), times) : AffineExpr();
  if (!groups)
    return value;
  Dims dims(level->begin(), level->end() - 1), own = getDims(value);
  dims.push_back(groups);
  auto drop = [&](Dims sizes) {
    llvm::erase(sizes, one);
    return sizes;
  };
  bool isLast = areEqual(before, drop(dims));
  dims.append(own.end() - 2, own.end());
  if (!isLast || !areEqual(seen, drop(dims)))
    return value;
  return ReshapeOp::create(b, value.getLoc(), makeType(getElement(value), dims),
                           repeat.getInput());
}

/// Returns the operand of a product of these batch dims in the batch dims of
/// the masks. Attention broadcasts as the product does.
Value Recognizer::toLevel(Value value, ArrayRef<AffineExpr> whole) {
  Dims batch = getBatch(value), dims(*level), own = getDims(value);
  MLIRContext *context = value.getContext();
  if (!areEqual(adze::graph::product(context, batch),
                adze::graph::product(context, *level))) {
    AffineExpr one = b.getAffineConstantExpr(1);
    size_t rank = batch.size();
    if (rank > level->size() || rank > whole.size())
      return {};
    // With views in between, the last dims have to be equal.
    if (!areEqual(whole, *level) &&
        llvm::any_of(batch, [&](AffineExpr dim) { return dim != one; }) &&
        !(areEqual(batch, ArrayRef(*level).take_back(rank)) &&
          areEqual(batch, whole.take_back(rank))))
      return {};
    dims.assign(level->size() - rank, one);
    dims.append(batch);
  }
  dims.append(own.end() - 2, own.end());
  if (areEqual(dims, own))
    return value;
  return ReshapeOp::create(b, value.getLoc(), makeType(getElement(value), dims),
                           value);
}

Value Recognizer::toLevelOrGroups(Value value, ArrayRef<AffineExpr> whole) {
  Value groups = takeRepeats(value); // as in the masks
  return groups != value ? groups : toLevel(value, whole);
}

/// If weights are dropped by the condition of the mask, queries of which all
/// keys are masked have no weights.
Value Recognizer::createDropped(Value result) {
  auto [condition, showsTrue] = dropped;
  if (!condition)
    return result;
  Location loc = product.getLoc();
  int64_t last = getRank(condition) - 1;
  if (!showsTrue)
    condition = NotOp::create(b, loc, condition);
  Value any = ReduceMaxOp::create(b, loc, condition, ArrayRef<int64_t>{last},
                                  /*keepdims=*/true);
  auto type = RankedTensorType::get({}, getElement(result));
  Value zero =
      ConstantOp::create(b, loc, cast<ElementsAttr>(b.getZeroAttr(type)));
  return SelectOp::create(b, loc, any, result, zero);
}

/// Returns true if weights are dropped for whole queries, so that their results
/// are, too.
bool Recognizer::dropsQueries() {
  Dims dims = getDims(dropped.first);
  return !dims.empty() && getConstant(dims.back()) == 1 &&
         (dims.size() <= 2 || areEqual(getBatch(product.getLhs()), *level));
}

/// Attention sums small floats in f32 itself, so an extension of its operands
/// and a rounding of its result are removed.
void Recognizer::narrow(AttentionOp op) {
  OpBuilder before(op);
  Value q = getNarrow(before, op.getQuery()),
        k = getNarrow(before, op.getKey()),
        v = getNarrow(before, op.getValue());
  if (!q || !k || !v || getElement(q) != getElement(k) ||
      getElement(q) != getElement(v))
    return;
  Type small = getElement(q);
  SmallVector<Operation *> moves;
  CastOp cast = findNarrowing(product.getResult(), small, moves);
  if (!cast)
    return;
  op.getQueryMutable().assign(q);
  op.getKeyMutable().assign(k);
  op.getValueMutable().assign(v);
  for (Operation *moved : moves)
    moved->getResult(0).setType(withElement(moved->getResult(0), small));
  for (Value value : {op.getResult(), product.getResult()})
    value.setType(withElement(value, small));
  cast.getResult().replaceAllUsesWith(cast.getInput());
  cast.erase();
}

bool Recognizer::build() {
  if (dropped.first && !dropped.second &&
      mask.isOfMaskedQueries(dropped.first, zeroMasked))
    dropped = {};
  bool byQuery = dropped.first && dropsQueries();
  if (byQuery && getElement(product.getResult()).getIntOrFloatBitWidth() < 32)
    return refuse("rounded weights are dropped by query");
  if (dropped.first && !byQuery &&
      (!mask.hidesJust(dropped.first, dropped.second) ||
       getRank(dropped.first) == 0 ||
       (getRank(dropped.first) > 2 &&
        !areEqual(getBatch(product.getLhs()), *level))))
    return refuse("weights are dropped whose scores are not masked");
  Type element = getElement(product.getResult());
  if (getElement(query) != element || getElement(key) != element ||
      getElement(value) != element)
    return refuse("the operands have different element types");
  // Without masks, the dims before heads and batch were merged.
  if (auto reshape = query.getDefiningOp<ReshapeOp>();
      reshape && mask.isEmpty() && !dropped.first && isBatchReshape(reshape) &&
      countLarge(reshape.getInput()) > countLarge(query))
    level = getBatch(reshape.getInput());
  if (level->empty())
    level->push_back(getAffineConstantExpr(1, b.getContext()));
  Value q = toLevel(query, scoreBatch), k = toLevelOrGroups(key, scoreBatch),
        v = toLevelOrGroups(value, getBatch(product.getResult()));
  if (!q || !k || !v)
    return refuse("the batch dims do not match");
  if (!isHeadSize(getDims(q).back()) || !isHeadSize(getDims(v).back()))
    return refuse("the head size is dynamic or too large");
  auto [bias, visible] = mask.getOperands();
  auto f64 = [&](double number) { return b.getF64FloatAttr(number); };
  locations.push_back(product.getLoc());
  Location location = b.getFusedLoc(locations);
  ScopedDiagnosticHandler silent(b.getContext(),
                                 [](Diagnostic &) { return success(); });
  auto op = createChecked<AttentionOp>(
      b, location, q, k, v, bias, visible, f64(scale), f64(softcap),
      f64(mask.getFill()), CausalAttr::get(b.getContext(), mask.getCausal()),
      b.getBoolAttr(zeroEmpty), b.getBoolAttr(zeroMasked));
  if (failed(op))
    return refuse("the dims do not fit graph.attention");
  for (int64_t dim = 0, e = level->size(); dim < e; ++dim)
    for (Value operand : {k, v})
      if (!op->getRepeats(operand, dim)) {
        op->erase();
        return refuse("it is unknown whether a batch dim is broadcast");
      }
  narrow(*op);
  Value result = createDropped(op->getResult());
  if (outputTransposed)
    result = swapLastTwo(b, result);
  auto type = cast<RankedTensorType>(product.getType());
  if (result.getType() != type)
    result = ReshapeOp::create(b, product.getLoc(), type, result);
  product.getResult().replaceAllUsesWith(result);
  product.erase();
  return true;
}

bool Recognizer::isCandidate() {
  return level || followsSoftmax(product.getLhs());
}

/// Matches value' * weights', whose result is transposed.
bool Recognizer::matchTransposed() {
  Value weights = product.getRhs();
  bool transposed = product.getTransposeB();
  if (auto transpose = weights.getDefiningOp<TransposeOp>();
      transpose && !transposed && transpose->hasOneUse()) {
    Value source = swapLastTwo(b, weights);
    if (source != transpose.getInput())
      return false;
    weights = source;
    transposed = true;
  }
  outputTransposed = true;
  value = product.getLhs();
  return transposed && matchWeights(weights, false);
}

bool Recognizer::run() {
  value = product.getRhs();
  bool swapped = product.getTransposeB();
  if (!matchWeights(product.getLhs(), product.getTransposeA())) {
    StringRef first = why;
    if (level || !matchTransposed()) {
      if (followsSoftmax(product.getLhs()))
        why = first;
      return false;
    }
    swapped = !product.getTransposeA();
  }
  if (swapped)
    value = swapLastTwo(b, value);
  return build();
}

namespace {

class RecognizeAttentionPass final
    : public adze::graph::impl::RecognizeAttentionPassBase<
          RecognizeAttentionPass> {
public:
  using RecognizeAttentionPassBase::RecognizeAttentionPassBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    dropRangeLimits(getOperation()); // they would read scores
    askInputsForSizes(getOperation().getBody().front());
    SmallVector<MatmulOp> products;
    getOperation().walk([&](MatmulOp op) { products.push_back(op); });
    for (MatmulOp product : products) {
      Recognizer recognizer(product);
      if (recognizer.run()) {
        ++recognized;
      } else if (recognizer.isCandidate()) {
        ++refused;
        refuse(product, "attention", recognizer.why);
      }
    }
  }
};

} // namespace
