// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-recognize-attention: matmul(softmax(matmul(q, k) ..), v) in the
// spellings of exporters becomes graph.attention. The search goes back from the
// second product: through what may stand between it and the softmax, then
// between the softmax and the first product, then before keys and values.
#include "AttentionMask.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze::graph {
#define GEN_PASS_DEF_RECOGNIZEATTENTIONPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// A reshape that leaves the last two dims as they are.
bool isBatchReshape(ReshapeOp op) {
  Dims from = getDims(op.getInput()), to = getDims(op.getResult());
  return !op.getShape() && from.size() >= 2 && to.size() >= 2 &&
         areEqual(ArrayRef<AffineExpr>(from).take_back(2),
                  ArrayRef<AffineExpr>(to).take_back(2));
}

bool isFloatCast(Operation *op) {
  auto cast = dyn_cast_or_null<CastOp>(op);
  return cast && isa<FloatType>(getElement(cast.getInput())) &&
         isa<FloatType>(getElement(cast.getResult()));
}

Dims getBatch(Value value) {
  Dims dims = getDims(value);
  dims.truncate(dims.size() - 2);
  return dims;
}

/// The value with its last two dims swapped; no op where it is swapped already.
Value swapLastTwo(OpBuilder &b, Value value) {
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, getRank(value)));
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  Value source = value;
  if (auto transpose = value.getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> both;
    for (int64_t dim : perm)
      both.push_back(transpose.getPerm()[dim]);
    perm = both;
    source = transpose.getInput();
    if (llvm::equal(perm, llvm::seq<int64_t>(0, perm.size())))
      return source;
  }
  return TransposeOp::create(b, value.getLoc(), source, perm);
}

/// One attempt, from the second product.
class Recognizer {
public:
  explicit Recognizer(MatmulOp product)
      : product(product), b(product), mask(b) {}

  bool run();
  /// Whether there is a softmax between two products at all.
  bool isCandidate() const { return sawScores; }
  StringRef why = "";

private:
  bool refuse(StringRef reason) {
    why = reason;
    return false;
  }
  bool matchWeights(Value value, bool transposed);
  bool matchScores(Value value);
  bool matchStep(Value &value, bool &inner);
  bool matchBias(Operation *sum, bool inner);
  bool matchProduct(MatmulOp scores);
  Value takeScale(Value value);
  Value takeRepeats(Value value);
  Value toLevel(Value value);
  bool build();

  MatmulOp product;
  OpBuilder b;
  AttentionMask mask;
  Value query, key, value;
  double scale = 1.0, softcap = 0.0;
  bool zeroEmpty = false, outputTransposed = false, sawScores = false;
  std::optional<Dims> level; // batch dims where the mask is added
  SmallVector<Location> locations;
};

} // namespace

/// Back from the weights to the softmax.
bool Recognizer::matchWeights(Value value, bool transposed) {
  if (transposed)
    return refuse("weights are transposed within the product");
  for (unsigned steps = 0; steps < 8; ++steps) {
    Operation *op = value.getDefiningOp();
    if (auto select = dyn_cast_or_null<SelectOp>(op)) {
      auto isNan = select.getCondition().getDefiningOp<IsNanOp>();
      if (!isNan || isNan.getInput() != select.getRhs() ||
          !isSplat(select.getLhs(), 0.0) || !op->hasOneUse() ||
          !isNan->hasOneUse() ||
          llvm::range_size(select.getRhs().getUses()) != 2)
        return false;
      zeroEmpty = true;
      value = select.getRhs();
      continue;
    }
    if (!op || (!op->hasOneUse() && !(zeroEmpty && isa<SoftmaxOp>(op))))
      return false;
    locations.push_back(op->getLoc());
    if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
      if (int64_t(softmax.getAxis()) + 1 != getRank(softmax.getInput()))
        return false;
      mask.setScores(getDims(softmax.getInput()));
      level = getBatch(softmax.getInput());
      return matchScores(softmax.getInput());
    }
    auto reshape = dyn_cast<ReshapeOp>(op);
    if (!isFloatCast(op) && !(reshape && isBatchReshape(reshape)))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// Back from the softmax to the first product. `inner` says that what is met
/// from now on is done to the scores before bias and mask.
bool Recognizer::matchScores(Value value) {
  bool inner = false;
  for (unsigned steps = 0; steps < 16; ++steps) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasOneUse())
      return refuse("scores are used elsewhere");
    locations.push_back(op->getLoc());
    if (auto scores = dyn_cast<MatmulOp>(op))
      return matchProduct(scores);
    if (isa<AddOp, SubOp>(op))
      return matchBias(op, inner);
    if (!matchStep(value, inner))
      return false;
  }
  return false;
}

/// One op between the softmax and the scores but a sum.
bool Recognizer::matchStep(Value &value, bool &inner) {
  Operation *op = value.getDefiningOp();
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (isFloatCast(op) || (reshape && isBatchReshape(reshape))) {
    value = op->getOperand(0);
    // Masks are where the scores have their own dims.
    if (reshape && mask.isEmpty()) {
      level = getBatch(value);
      mask.setScores(getDims(value));
    }
    return true;
  }
  if (auto select = dyn_cast<SelectOp>(op)) {
    std::optional<double> onTrue = getSplatNumber(select.getLhs()),
                          onFalse = getSplatNumber(select.getRhs());
    if (onTrue.has_value() == onFalse.has_value())
      return false;
    value = onTrue ? select.getRhs() : select.getLhs();
    if (!areEqual(getDims(value), getDims(select.getResult())))
      return refuse("a mask with dims that the scores lack");
    // What hides a score hides it after a factor, too.
    double number = onTrue ? *onTrue : *onFalse;
    if (inner)
      number *= scale;
    if (inner && (softcap != 0.0 || scale <= 0.0 || !hidesScores(number)))
      return refuse("a mask before the scale");
    return mask.hide(select.getCondition(), /*visibleIfTrue=*/!onTrue,
                     number) ||
           refuse("masks that cannot be one");
  }
  double factor = 1.0;
  Value scaled = matchScaled(value, factor);
  if (!scaled)
    return refuse("an op between product and softmax");
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
    return refuse("a tanh that is no cap");
  softcap = factor;
  value = x;
  return true;
}

/// scores + bias, in either order, or scores - bias.
bool Recognizer::matchBias(Operation *sum, bool inner) {
  if (inner)
    return refuse("a bias before the scale");
  bool subtracts = isa<SubOp>(sum);
  for (unsigned i : {0u, 1u}) {
    Value scores = sum->getOperand(i), bias = sum->getOperand(1 - i);
    if (!areEqual(getDims(scores), getDims(sum->getResult(0))) ||
        (subtracts && i == 1))
      continue;
    Recognizer attempt(*this);
    if (subtracts)
      bias = NegOp::create(b, bias.getLoc(), bias);
    if (!attempt.mask.add(bias) || !attempt.matchScores(scores))
      continue;
    // Only what was found is taken over: the builder is this one's.
    mask.take(attempt.mask);
    query = attempt.query;
    key = attempt.key;
    scale = attempt.scale;
    softcap = attempt.softcap;
    level = attempt.level;
    locations = attempt.locations;
    sawScores = true;
    return true;
  }
  return refuse("a bias that is no mask of the scores");
}

/// Takes a factor off an operand of the first product.
Value Recognizer::takeScale(Value value) {
  double factor = 1.0;
  while (value.hasOneUse()) {
    Value x = matchScaled(value, factor);
    if (!x || !areEqual(getDims(x), getDims(value)))
      break;
    scale *= factor;
    value = x;
  }
  return value;
}

bool Recognizer::matchProduct(MatmulOp scores) {
  sawScores = true;
  query = takeScale(scores.getLhs());
  if (scores.getTransposeA())
    query = swapLastTwo(b, query);
  key = takeScale(scores.getRhs());
  if (!scores.getTransposeB())
    key = takeScale(swapLastTwo(b, key));
  return true;
}

/// Heads that share a group of keys: a reshape of broadcast_to([.., G, 1, S,
/// D]) to [.., G, n, S, D] that merges the groups -> [.., G, S, D], if that has
/// as many batch dims as the masks see.
Value Recognizer::takeRepeats(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  auto repeat =
      reshape ? reshape.getInput().getDefiningOp<BroadcastToOp>() : nullptr;
  int64_t rank = level->size() + 3;
  if (!repeat || rank < 4 || getRank(repeat.getResult()) != rank ||
      getRank(repeat.getInput()) != rank)
    return value;
  Dims from = getDims(repeat.getInput()), to = getDims(repeat.getResult()),
       batch = getBatch(value), own = getDims(value);
  int64_t dim = rank - 3; // of what is repeated
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim && !areEqual(from[i], to[i]))
      return value;
  MLIRContext *context = value.getContext();
  Dims repeated(to.begin(), to.end() - 2);
  if (getConstant(from[dim]) != 1 || !areEqual(own.back(), to.back()) ||
      !areEqual(own.end()[-2], to.end()[-2]) ||
      !areEqual(adze::graph::product(context, batch),
                adze::graph::product(context, repeated)) ||
      !areEqual((*level)[dim - 1], mulExprs(to[dim - 1], to[dim])))
    return value;
  from.erase(from.begin() + dim);
  return ReshapeOp::create(b, value.getLoc(), makeType(getElement(value), from),
                           repeat.getInput());
}

/// The operand with as many batch dims as the masks see.
Value Recognizer::toLevel(Value value) {
  Dims batch = getBatch(value);
  MLIRContext *context = value.getContext();
  if (batch.size() == level->size())
    return value;
  if (!areEqual(adze::graph::product(context, batch),
                adze::graph::product(context, *level)))
    return {};
  Dims dims(*level), own = getDims(value);
  dims.append(own.end() - 2, own.end());
  return ReshapeOp::create(b, value.getLoc(), makeType(getElement(value), dims),
                           value);
}

bool Recognizer::build() {
  Type element = getElement(product.getResult());
  if (getElement(query) != element || getElement(key) != element ||
      getElement(value) != element)
    return refuse("operands of several types");
  // Without masks: the dims before heads and batch were merged.
  if (auto reshape = query.getDefiningOp<ReshapeOp>();
      reshape && mask.isEmpty() && isBatchReshape(reshape) &&
      getRank(reshape.getInput()) > getRank(query))
    level = getBatch(reshape.getInput());
  if (level->empty())
    level->push_back(getAffineConstantExpr(1, b.getContext()));
  Value q = toLevel(query), k = toLevel(takeRepeats(key)),
        v = toLevel(takeRepeats(value));
  if (!q || !k || !v)
    return refuse("batch dims that do not fit each other");
  auto [bias, visible] = mask.getOperands();
  auto f64 = [&](double number) { return b.getF64FloatAttr(number); };
  locations.push_back(product.getLoc());
  Location location = b.getFusedLoc(locations);
  ScopedDiagnosticHandler silent(b.getContext(),
                                 [](Diagnostic &) { return success(); });
  auto op = createChecked<AttentionOp>(
      b, location, q, k, v, bias, visible, f64(scale), f64(softcap),
      f64(mask.getFill()), CausalAttr::get(b.getContext(), mask.getCausal()),
      b.getBoolAttr(zeroEmpty));
  if (failed(op))
    return refuse("dims that attention cannot have");
  for (int64_t dim = 0, e = level->size(); dim < e; ++dim)
    for (Value operand : {k, v})
      if (!op->getRepeats(operand, dim)) {
        op->erase();
        return refuse("batch dims that may or may not be repeated");
      }
  Value result = op->getResult();
  if (outputTransposed)
    result = swapLastTwo(b, result);
  auto type = cast<RankedTensorType>(product.getType());
  if (getRank(result) != type.getRank())
    result = ReshapeOp::create(b, product.getLoc(), type, result);
  product.getResult().replaceAllUsesWith(result);
  product.erase();
  return true;
}

bool Recognizer::run() {
  Value weights = product.getLhs();
  value = product.getRhs();
  bool swapped = product.getTransposeB();
  if (!matchWeights(weights, product.getTransposeA())) {
    // value' * weights': the result is transposed.
    if (sawScores)
      return false;
    weights = product.getRhs();
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
    swapped = !product.getTransposeA();
    if (!transposed || !matchWeights(weights, false))
      return false;
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
    SmallVector<MatmulOp> products;
    getOperation().walk([&](MatmulOp op) { products.push_back(op); });
    for (MatmulOp product : products) {
      Recognizer recognizer(product);
      if (recognizer.run()) {
        ++recognized;
      } else if (recognizer.isCandidate()) {
        ++refused;
        if (remarks)
          product.emitRemark("no attention: ") << recognizer.why;
      }
    }
  }
};

} // namespace
