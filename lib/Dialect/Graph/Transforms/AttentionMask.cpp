// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Masks of attention: conditions are split into the causal mask and the rest,
// and biases that only mask become conditions.
#include "AttentionMask.h"
#include "IndexForm.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace adze::graph;

/// Returns the value before a broadcast, as masks are broadcast by attention.
static Value stripBroadcast(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastToOp>())
    value = broadcast.getInput();
  return value;
}

bool AttentionMask::setFill(double number) {
  if (hidden && *hidden != number)
    return false;
  hidden = number;
  return true;
}

/// Returns true if the dims broadcast to the scores for all values of the
/// symbols. If the scores have been reshaped, the dims from the first one that
/// is not broadcast on must be equal.
bool AttentionMask::fits(Value value) const {
  Dims dims = getDims(value);
  if (dims.size() > scores.size())
    return false;
  size_t count = dims.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (getConstant(dims[i]) != 1 &&
        !areEqual(dims[i], scores[scores.size() - dims.size() + i]))
      return false;
    if (getConstant(dims[i]) == 1 && count == dims.size() - i)
      --count;
  }
  return areEqual(scores, place) ||
         (count <= place.size() &&
          areEqual(ArrayRef<AffineExpr>(scores).take_back(count),
                   ArrayRef<AffineExpr>(place).take_back(count)));
}

/// Returns a condition without negations, and whether it unmasks where it is
/// true.
static std::pair<Value, bool> getLiteral(Value condition, bool visibleIfTrue) {
  while (Operation *op = stripBroadcast(condition).getDefiningOp()) {
    condition = stripBroadcast(condition);
    if (!isa<NotOp>(op))
      break;
    condition = op->getOperand(0);
    visibleIfTrue = !visibleIfTrue;
  }
  return {condition, visibleIfTrue};
}

/// Calls `check` for each element of the last two dims of a static constant
/// whose other dims are 1. Returns false if a check fails or the value is not
/// such a constant.
static bool
checkMatrix(Value value,
            llvm::function_ref<bool(int64_t, int64_t, double)> check) {
  constexpr int64_t most = 1 << 22;
  bool isCondition = getElement(value).isInteger(1);
  if (auto cast = value.getDefiningOp<CastOp>(); cast && isCondition)
    value = cast.getInput(); // a test for nonzero values
  auto constant = value.getDefiningOp<ConstantOp>();
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  if (!constant || !type.hasStaticShape() || rank < 2 ||
      type.getNumElements() > most)
    return false;
  int64_t rows = type.getDimSize(rank - 2), columns = type.getDimSize(rank - 1);
  if (rows * columns != type.getNumElements())
    return false;
  ElementsAttr elements = constant.getValue();
  auto each = [&](auto values) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j, ++values)
        if (!check(i, j, double(*values)))
          return false;
    return true;
  };
  if (type.getElementType().isF32()) {
    if (auto values = elements.tryGetValues<float>())
      return each(values->begin());
  } else if (type.getElementType().isInteger(1)) {
    if (auto values = elements.tryGetValues<bool>())
      return each(values->begin());
  }
  return false;
}

/// Returns the causal mask j <= i + distance: of equal numbers of queries and
/// keys, or aligned to their ends.
Causal AttentionMask::getTriangle(AffineExpr distance) const {
  if (!distance)
    return Causal::None;
  if (getConstant(distance) == 0)
    return Causal::UpperLeft;
  AffineExpr more = subExprs(scores.back(), scores[scores.size() - 2]);
  return areEqual(distance, more) ? Causal::LowerRight : Causal::None;
}

/// Returns true if there is one element for each key of each query.
bool AttentionMask::hasPairs(Value value) const {
  Dims dims = getDims(value);
  return dims.size() >= 2 && scores.size() >= 2 &&
         areEqual(ArrayRef<AffineExpr>(dims).take_back(2),
                  ArrayRef<AffineExpr>(scores).take_back(2));
}

/// Returns the causal mask that a condition is, if it is one.
Causal AttentionMask::matchTriangle(Value condition) const {
  if (!hasPairs(condition))
    return Causal::None;
  Value ones = condition;
  // The cast to bool tests for nonzero values.
  if (auto cast = condition.getDefiningOp<CastOp>())
    ones = cast.getInput();
  if (auto trilu = ones.getDefiningOp<TriluOp>()) {
    bool shows = getSplatBool(trilu.getInput()) == true ||
                 getSplatNumber(trilu.getInput()).value_or(0) != 0;
    return !trilu.getUpper() && shows
               ? getTriangle(b.getAffineConstantExpr(trilu.getK()))
               : Causal::None;
  }
  if (auto form = getConditionForm(condition, /*truth=*/true)) {
    // The condition is j - i - distance <= 0.
    auto slopes = ArrayRef(form->slopes);
    auto runs = [&](size_t fromEnd, int64_t slope) {
      return slopes[slopes.size() - fromEnd] == slope ||
             getConstant(scores[scores.size() - fromEnd]) == 1;
    };
    bool isTriangle = runs(1, 1) && runs(2, -1) &&
                      llvm::all_of(slopes.drop_back(2),
                                   [](int64_t slope) { return slope == 0; });
    return isTriangle
               ? getTriangle(subExprs(b.getAffineConstantExpr(0), form->offset))
               : Causal::None;
  }
  bool isCausal = checkMatrix(condition, [](int64_t i, int64_t j, double x) {
    return (x != 0) == (j <= i);
  });
  return isCausal ? Causal::UpperLeft : Causal::None;
}

/// Matches 0 for j <= i, and one masking number elsewhere.
Causal AttentionMask::matchTriangleBias(Value term, double &number) const {
  if (!hasPairs(term))
    return Causal::None;
  if (auto trilu = term.getDefiningOp<TriluOp>()) {
    std::optional<double> splat = getSplatNumber(trilu.getInput());
    if (!trilu.getUpper() || !splat || !hidesScores(*splat))
      return Causal::None;
    number = *splat;
    return getTriangle(b.getAffineConstantExpr(int64_t(trilu.getK()) - 1));
  }
  number = 0;
  bool isCausal = checkMatrix(term, [&](int64_t i, int64_t j, double x) {
    if (j <= i)
      return x == 0;
    number = number == 0 ? x : number;
    return hidesScores(x) && x == number;
  });
  return isCausal && number != 0 ? Causal::UpperLeft : Causal::None;
}

bool AttentionMask::hideWhereFalse(Value condition) {
  condition = stripBroadcast(condition);
  if (getSplatBool(condition) == true)
    return true;
  if (auto both = condition.getDefiningOp<AndOp>())
    return hideWhereFalse(both.getLhs()) && hideWhereFalse(both.getRhs());
  // A causal mask needs both dims of the scores, or one that is 1 in both.
  if (causal == Causal::None && fits(condition)) {
    causal = matchTriangle(condition);
    if (causal != Causal::None)
      return true;
  }
  if (!fits(condition))
    return false;
  mask = mask ? Value(AndOp::create(b, condition.getLoc(), mask, condition))
              : condition;
  return true;
}

bool AttentionMask::hide(Value condition, bool visibleIfTrue, double number) {
  // A later bias could unmask scores that are masked first, so there must be
  // none, or the number must be so large that a bias is negligible.
  return (!bias || hidesScores(number)) &&
         hideAlone(condition, visibleIfTrue, number);
}

bool AttentionMask::hideAlone(Value condition, bool visibleIfTrue,
                              double number) {
  AttentionMask before(*this);
  std::pair<Value, bool> literal = getLiteral(condition, visibleIfTrue);
  if (!setFill(number))
    return false;
  if (!visibleIfTrue) {
    if (auto negation = condition.getDefiningOp<NotOp>())
      condition = negation.getInput();
    else
      condition =
          NotOp::create(b, condition.getLoc(), stripBroadcast(condition));
  }
  if (hideWhereFalse(condition)) {
    conditions.push_back(literal);
    return true;
  }
  take(before);
  return false;
}

bool AttentionMask::bound(double number) {
  // Scores that are masked after the bound are not bounded.
  if (!isEmpty() || isBounded() || !hidesScores(number))
    return false;
  least = number;
  return true;
}

bool AttentionMask::hidesJust(Value condition, bool visibleIfTrue) const {
  return conditions.size() == 1 && !bias && hidesScores(getFill()) &&
         conditions.front() == getLiteral(condition, visibleIfTrue);
}

/// A masking bias is within the bound, as adding it to the least number has no
/// effect.
std::pair<Value, Value> AttentionMask::getOperands() {
  if (!bias || !isBounded())
    return {bias, mask};
  auto type = RankedTensorType::get({}, getElement(bias));
  Value number = ConstantOp::create(
      b, bias.getLoc(),
      DenseElementsAttr::get(type,
                             b.getFloatAttr(type.getElementType(), least)));
  return {MaximumOp::create(b, bias.getLoc(), bias, number), mask};
}

/// Splits a sum if one of its operands is a triangle, or 0.
bool AttentionMask::addParts(AddOp sum) {
  Value parts[] = {sum.getLhs(), sum.getRhs()};
  AttentionMask before(*this);
  bool isAdded = llvm::all_of(parts, [&](Value part) { return add(part); });
  if (isAdded && (causal != before.causal ||
                  llvm::any_of(parts, [](Value v) { return isSplat(v, 0.0); })))
    return true;
  take(before);
  return false;
}

/// The condition is that the greatest bias of a query is -infinity, as in the
/// function of Attention in the ONNX standard.
bool AttentionMask::isOfMaskedQueries(Value condition, bool &exist) const {
  auto equal = condition.getDefiningOp<EqualOp>();
  auto greatest =
      equal ? equal.getLhs().getDefiningOp<ReduceMaxOp>() : ReduceMaxOp();
  if (!greatest || getSplatNumber(equal.getRhs()) != -INFINITY ||
      greatest.getAxes() !=
          ArrayRef<int64_t>{int64_t(getRank(greatest.getInput())) - 1})
    return false;
  // What the condition reduces, as if it alone were added to the scores.
  AttentionMask term(b);
  term.setScores(scores);
  if (!term.add(greatest.getInput()))
    return false;
  bool isTriangle = !term.mask && !term.bias;
  bool hidesNone =
      term.isEmpty() || term.causal == Causal::UpperLeft ||
      (term.causal == Causal::LowerRight &&
       isNonNegative(subExprs(scores.back(), scores[scores.size() - 2])));
  bool mayExist = !isTriangle || !hidesNone,
       isThis = term.bias == bias && term.conditions == conditions &&
                term.causal == causal && term.hidden == hidden &&
                getFill() == -INFINITY;
  if (mayExist && !isThis)
    return false;
  exist = mayExist;
  return true;
}

bool AttentionMask::add(Value term) {
  term = stripBroadcast(term);
  if (isSplat(term, 0.0))
    return true;
  if (auto sum = term.getDefiningOp<AddOp>(); sum && addParts(sum))
    return true;
  if (auto select = term.getDefiningOp<SelectOp>()) {
    std::optional<double> onTrue = getSplatNumber(select.getLhs()),
                          onFalse = getSplatNumber(select.getRhs());
    if (onTrue == 0.0 && onFalse && hidesScores(*onFalse) &&
        hideAlone(select.getCondition(), true, *onFalse))
      return true;
    if (onFalse == 0.0 && onTrue && hidesScores(*onTrue) &&
        hideAlone(select.getCondition(), false, *onTrue))
      return true;
  }
  double number = 0;
  Causal triangle = causal == Causal::None && !bias && fits(term)
                        ? matchTriangleBias(term, number)
                        : Causal::None;
  if (triangle != Causal::None) {
    if (!setFill(number))
      return false;
    causal = triangle;
    conditions.push_back({Value(), true});
    return true;
  }
  if (!fits(term))
    return false;
  if (!bias) {
    bias = term;
    return true;
  }
  // It is at most as large as the scores, which are not stored.
  bias = AddOp::create(b, term.getLoc(), bias, term);
  return true;
}

void AttentionMask::take(const AttentionMask &other) {
  scores = other.scores;
  place = other.place;
  mask = other.mask;
  bias = other.bias;
  hidden = other.hidden;
  least = other.least;
  causal = other.causal;
  conditions = other.conditions;
}

//===----------------------------------------------------------------------===//
// Masks that are numbers
//===----------------------------------------------------------------------===//

/// Returns the elements of a float constant, if there are at most `most`.
static std::optional<SmallVector<float>> getNumbers(Value value) {
  constexpr int64_t most = 1 << 22;
  auto constant = value.getDefiningOp<ConstantOp>();
  auto type = cast<RankedTensorType>(value.getType());
  if (!constant || !type.getElementType().isF32() || !type.hasStaticShape() ||
      type.getNumElements() > most)
    return std::nullopt;
  auto values = constant.getValue().tryGetValues<float>();
  if (!values)
    return std::nullopt;
  return llvm::to_vector(*values);
}

Value adze::graph::getIndicated(OpBuilder &b, Value value) {
  value = stripBroadcast(value);
  if (auto cast = value.getDefiningOp<CastOp>();
      cast && getElement(cast.getInput()).isInteger(1))
    return cast.getInput();
  Value source = value; // parts of it are 0 or 1 if all of it is
  while (isa_and_nonnull<SliceOp, ReshapeOp, TransposeOp, BroadcastToOp>(
      source.getDefiningOp()))
    source = source.getDefiningOp()->getOperand(0);
  auto numbers = getNumbers(source);
  if (!numbers ||
      !llvm::all_of(*numbers, [](float x) { return x == 0 || x == 1; }))
    return {};
  return CastOp::create(b, value.getLoc(),
                        makeType(b.getI1Type(), getDims(value)), value);
}

/// Matches constants in the same way, if x is one.
static bool matchLinearNumbers(Value value, Value x, double &a, double &b) {
  auto numbers = getNumbers(value), places = getNumbers(x);
  if (!numbers || !places || numbers->size() != places->size())
    return false;
  std::optional<float> at[2];
  for (auto [number, place] : llvm::zip(*numbers, *places)) {
    std::optional<float> &known = at[place != 0];
    if (known && *known != number)
      return false;
    known = number;
  }
  b = at[0].value_or(0);
  a = at[1].value_or(0) - b;
  return at[0] && at[1];
}

bool adze::graph::matchLinear(Value value, Value x, double &a, double &b,
                              unsigned depth) {
  constexpr unsigned most = 8;
  value = stripBroadcast(value);
  if (value == stripBroadcast(x)) {
    a = 1;
    b = 0;
    return true;
  }
  if (std::optional<double> number = getSplatNumber(value)) {
    a = 0;
    b = *number;
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<AddOp, SubOp, MulOp, DivOp, NegOp>(op) || depth > most)
    return matchLinearNumbers(value, stripBroadcast(x), a, b);
  double c = 0, d = 0; // of the other operand
  if (!matchLinear(op->getOperand(0), x, a, b, depth + 1) ||
      (op->getNumOperands() == 2 &&
       !matchLinear(op->getOperand(1), x, c, d, depth + 1)))
    return false;
  if (isa<AddOp>(op)) {
    a += c;
    b += d;
  } else if (isa<SubOp>(op)) {
    a -= c;
    b -= d;
  } else if (isa<NegOp>(op)) {
    a = -a;
    b = -b;
  } else if (isa<MulOp>(op)) {
    if (a != 0 && c != 0)
      return false;
    a = a * d + c * b;
    b *= d;
  } else {
    if (c != 0 || d == 0)
      return false;
    a /= d;
    b /= d;
  }
  return true;
}
