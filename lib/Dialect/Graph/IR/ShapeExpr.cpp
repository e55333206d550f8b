// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The normal form of symbolic dims: polynomials over symbols, quotients and
// remainders.
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Graph/IR/Graph.h"
#include "ExprFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace adze::graph;

namespace {

/// A total order of expressions by structure, which does not depend on
/// addresses.
int compare(AffineExpr lhs, AffineExpr rhs) {
  if (lhs == rhs)
    return 0;
  if (lhs.getKind() != rhs.getKind())
    return lhs.getKind() < rhs.getKind() ? -1 : 1;
  if (auto l = dyn_cast<AffineSymbolExpr>(lhs))
    return l.getPosition() < cast<AffineSymbolExpr>(rhs).getPosition() ? -1 : 1;
  if (auto l = dyn_cast<AffineDimExpr>(lhs))
    return l.getPosition() < cast<AffineDimExpr>(rhs).getPosition() ? -1 : 1;
  if (auto l = dyn_cast<AffineConstantExpr>(lhs))
    return l.getValue() < cast<AffineConstantExpr>(rhs).getValue() ? -1 : 1;
  auto l = cast<AffineBinaryOpExpr>(lhs), r = cast<AffineBinaryOpExpr>(rhs);
  int first = compare(l.getLHS(), r.getLHS());
  return first ? first : compare(l.getRHS(), r.getRHS());
}

/// A product of atoms (symbols, quotients, remainders), sorted.
using Monomial = SmallVector<AffineExpr, 2>;

struct MonomialLess {
  bool operator()(const Monomial &lhs, const Monomial &rhs) const {
    if (lhs.size() != rhs.size())
      return lhs.size() > rhs.size();
    for (auto [l, r] : llvm::zip_equal(lhs, rhs))
      if (int order = compare(l, r))
        return order < 0;
    return false;
  }
};

/// Dims of models are far below these limits. Larger expressions are unknown,
/// so that products of products do not grow without bound.
constexpr size_t kMaxTerms = 128, kMaxDegree = 16;

/// A sum of monomials with coefficients; the empty monomial is the constant.
struct Polynomial {
  std::map<Monomial, int64_t, MonomialLess> terms;
  /// False after an overflow or above the limits; the other members are then
  /// invalid.
  bool valid = true;

  void add(const Monomial &monomial, int64_t coefficient) {
    auto it = terms.try_emplace(monomial, 0).first;
    valid &= !llvm::AddOverflow(it->second, coefficient, it->second);
    if (it->second == 0)
      terms.erase(it);
    valid &= terms.size() <= kMaxTerms && monomial.size() <= kMaxDegree;
  }
  void add(const Polynomial &other) {
    valid &= other.valid;
    for (const auto &[monomial, coefficient] : other.terms)
      add(monomial, coefficient);
  }
  std::optional<int64_t> constant() const {
    if (terms.empty())
      return 0;
    if (terms.size() == 1 && terms.begin()->first.empty())
      return terms.begin()->second;
    return std::nullopt;
  }
};

Polynomial parse(AffineExpr expr);

/// Returns null if the polynomial is invalid.
AffineExpr build(const Polynomial &polynomial, MLIRContext *context) {
  if (!polynomial.valid)
    return {};
  AffineExpr sum;
  for (const auto &[monomial, coefficient] : polynomial.terms) {
    AffineExpr term;
    for (AffineExpr atom : monomial)
      term = term ? term * atom : atom;
    if (!term)
      term = getAffineConstantExpr(coefficient, context);
    else if (coefficient != 1)
      term = term * coefficient;
    sum = sum ? sum + term : term;
  }
  return sum ? sum : getAffineConstantExpr(0, context);
}

Polynomial multiply(const Polynomial &lhs, const Polynomial &rhs) {
  Polynomial result;
  result.valid = lhs.valid && rhs.valid;
  for (const auto &[lm, lc] : lhs.terms)
    for (const auto &[rm, rc] : rhs.terms) {
      int64_t coefficient = 0;
      result.valid &= !llvm::MulOverflow(lc, rc, coefficient);
      if (!result.valid)
        return result;
      Monomial monomial(lm);
      monomial.append(rm.begin(), rm.end());
      llvm::sort(monomial,
                 [](AffineExpr a, AffineExpr b) { return compare(a, b) < 0; });
      result.add(monomial, coefficient);
    }
  return result;
}

/// Divides a term by a term if the quotient is a term.
std::optional<std::pair<Monomial, int64_t>>
divideTerm(const std::pair<const Monomial, int64_t> &lhs,
           const std::pair<const Monomial, int64_t> &rhs) {
  if (rhs.second == 0 || lhs.second % rhs.second != 0)
    return std::nullopt;
  Monomial rest(lhs.first);
  for (AffineExpr atom : rhs.first) {
    auto it = llvm::find(rest, atom);
    if (it == rest.end())
      return std::nullopt;
    rest.erase(it);
  }
  return std::make_pair(rest, lhs.second / rhs.second);
}

/// Returns lhs / rhs if it is a polynomial, by long division by the leading
/// term.
std::optional<Polynomial> divide(Polynomial lhs, const Polynomial &rhs) {
  if (rhs.terms.empty() || !lhs.valid || !rhs.valid)
    return std::nullopt;
  Polynomial quotient;
  for (int steps = 0; !lhs.terms.empty() && steps < 64; ++steps) {
    auto term = divideTerm(*lhs.terms.begin(), *rhs.terms.begin());
    if (!term)
      return std::nullopt;
    if (term->second == INT64_MIN)
      return std::nullopt;
    quotient.add(term->first, term->second);
    Polynomial factor;
    factor.add(term->first, -term->second);
    lhs.add(multiply(factor, rhs));
  }
  if (!lhs.terms.empty() || !lhs.valid)
    return std::nullopt;
  return quotient;
}

int64_t floorDiv(int64_t lhs, int64_t rhs) {
  int64_t quotient = lhs / rhs;
  return quotient - (lhs % rhs != 0 && (lhs < 0) != (rhs < 0));
}

/// Splits `value` by a constant: value = divisor * quotient + rest, where the
/// rest has coefficients in [0, divisor).
void split(const Polynomial &value, int64_t divisor, Polynomial &quotient,
           Polynomial &rest) {
  for (const auto &[monomial, coefficient] : value.terms) {
    int64_t q = floorDiv(coefficient, divisor);
    quotient.add(monomial, q);
    rest.add(monomial, coefficient - q * divisor);
  }
}

/// Returns the quotient if the polynomial is `(x floordiv c) + constant`.
AffineExpr getSingleQuotient(const Polynomial &value) {
  AffineExpr quotient;
  for (const auto &[monomial, coefficient] : value.terms) {
    if (monomial.empty())
      continue;
    if (quotient || coefficient != 1 || monomial.size() != 1 ||
        monomial[0].getKind() != AffineExprKind::FloorDiv)
      return {};
    quotient = monomial[0];
    if (!isa<AffineConstantExpr>(cast<AffineBinaryOpExpr>(quotient).getRHS()))
      return {};
  }
  return quotient;
}

Polynomial getInvalid() {
  Polynomial result;
  result.valid = false;
  return result;
}

/// Removes the atoms from `common` that `monomial` does not have.
void keepCommon(Monomial &common, Monomial monomial) {
  llvm::erase_if(common, [&](AffineExpr atom) {
    auto it = llvm::find(monomial, atom);
    if (it == monomial.end())
      return true;
    monomial.erase(it);
    return false;
  });
}

/// Removes the atoms that all terms of both have. The quotient does not change,
/// but also has a value where these atoms are 0, as for the sizes of an empty
/// tensor.
void cancelAtoms(Polynomial &lhs, Polynomial &rhs) {
  if (lhs.terms.empty() || rhs.terms.empty())
    return;
  Monomial common = rhs.terms.begin()->first;
  for (const Polynomial *side : {&lhs, &rhs})
    for (const auto &[monomial, coefficient] : side->terms)
      keepCommon(common, monomial);
  if (common.empty())
    return;
  for (Polynomial *side : {&lhs, &rhs}) {
    Polynomial rest;
    for (const auto &[monomial, coefficient] : side->terms) {
      Monomial left(monomial);
      for (AffineExpr atom : common)
        left.erase(llvm::find(left, atom));
      rest.add(left, coefficient);
    }
    *side = rest;
  }
}

/// Returns a quotient or a remainder in normal form, by an expression that is
/// not constant.
AffineExpr keepAtom(AffineExpr atom) {
  if (ExprFacts *facts = getFacts(atom))
    facts->atoms.insert(atom);
  return atom;
}

bool isKeptAtom(AffineBinaryOpExpr expr) {
  if (isa<AffineConstantExpr>(expr.getRHS()) ||
      (expr.getKind() != AffineExprKind::Mod &&
       expr.getKind() != AffineExprKind::FloorDiv))
    return false;
  ExprFacts *facts = getFacts(expr);
  return facts && facts->atoms.contains(expr);
}

Polynomial parseFloorDiv(AffineExpr expr, Polynomial lhs, Polynomial rhs) {
  MLIRContext *context = expr.getContext();
  if (!lhs.valid || !rhs.valid)
    return getInvalid();
  if (auto exact = divide(lhs, rhs))
    return *exact;
  cancelAtoms(lhs, rhs);
  std::optional<int64_t> divisor = rhs.constant();
  Polynomial result;
  if (!divisor || *divisor <= 0) {
    result.add(
        Monomial{keepAtom(build(lhs, context).floorDiv(build(rhs, context)))},
        1);
    return result;
  }
  Polynomial rest;
  split(lhs, *divisor, result, rest);
  // (x floordiv a + c) floordiv b = (x + a * c) floordiv (a * b).
  if (AffineExpr quotient = getSingleQuotient(rest)) {
    auto inner = cast<AffineBinaryOpExpr>(quotient);
    int64_t a = cast<AffineConstantExpr>(inner.getRHS()).getValue();
    auto it = rest.terms.find(Monomial());
    int64_t c = it == rest.terms.end() ? 0 : it->second;
    int64_t shift = 0, product = 0;
    if (llvm::MulOverflow(a, c, shift) ||
        llvm::MulOverflow(a, *divisor, product))
      return getInvalid();
    result.add(parse((inner.getLHS() + shift).floorDiv(product)));
    return result;
  }
  if (std::optional<int64_t> constant = rest.constant())
    result.add(Monomial(), floorDiv(*constant, *divisor));
  else
    result.add(Monomial{build(rest, context).floorDiv(*divisor)}, 1);
  return result;
}

Polynomial parseMod(AffineExpr expr, const Polynomial &lhs,
                    const Polynomial &rhs) {
  MLIRContext *context = expr.getContext();
  if (!lhs.valid || !rhs.valid)
    return getInvalid();
  if (divide(lhs, rhs))
    return {};
  std::optional<int64_t> divisor = rhs.constant();
  Polynomial result, quotient, rest;
  if (!divisor || *divisor <= 0) {
    result.add(Monomial{keepAtom(build(lhs, context) % build(rhs, context))},
               1);
    return result;
  }
  split(lhs, *divisor, quotient, rest);
  if (std::optional<int64_t> constant = rest.constant())
    result.add(Monomial(), *constant);
  else
    result.add(Monomial{build(rest, context) % *divisor}, 1);
  return result;
}

Polynomial parse(AffineExpr expr) {
  Polynomial result;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    if (constant.getValue() != 0)
      result.add(Monomial(), constant.getValue());
    return result;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || isKeptAtom(binary)) {
    result.add(Monomial{expr}, 1);
    return result;
  }
  Polynomial lhs = parse(binary.getLHS()), rhs = parse(binary.getRHS());
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    lhs.add(rhs);
    return lhs;
  case AffineExprKind::Mul:
    return multiply(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return parseFloorDiv(expr, lhs, rhs);
  case AffineExprKind::CeilDiv: {
    // ceil(a / b) = floor((a + b - 1) / b).
    lhs.add(rhs);
    lhs.add(Monomial(), -1);
    return parseFloorDiv(expr, lhs, rhs);
  }
  case AffineExprKind::Mod:
    return parseMod(expr, lhs, rhs);
  default:
    llvm_unreachable("not a binary expression");
  }
}

} // namespace

AffineExpr adze::graph::normalize(AffineExpr expr) {
  if (!expr || isa<AffineConstantExpr, AffineSymbolExpr>(expr))
    return expr;
  auto *dialect = expr.getContext()->getLoadedDialect<GraphDialect>();
  if (!dialect)
    return build(parse(expr), expr.getContext());
  NormalForms &forms = dialect->getNormalForms();
  if (std::optional<AffineExpr> form = forms.find(expr))
    return *form;
  AffineExpr form = build(parse(expr), expr.getContext());
  forms.insert(expr, form);
  return form;
}

std::optional<AffineExpr> NormalForms::find(AffineExpr expr) {
  llvm::sys::ScopedReader lock(mutex);
  auto it = forms.find(expr);
  return it == forms.end() ? std::nullopt : std::make_optional(it->second);
}

void NormalForms::insert(AffineExpr expr, AffineExpr form) {
  llvm::sys::ScopedWriter lock(mutex);
  forms.try_emplace(expr, form);
}

AffineExpr adze::graph::addExprs(AffineExpr lhs, AffineExpr rhs) {
  if (!lhs || !rhs)
    return {};
  Polynomial sum = parse(lhs);
  sum.add(parse(rhs));
  return build(sum, lhs.getContext());
}

AffineExpr adze::graph::subExprs(AffineExpr lhs, AffineExpr rhs) {
  if (!lhs || !rhs)
    return {};
  Polynomial minusOne;
  minusOne.add(Monomial(), -1);
  Polynomial difference = multiply(parse(rhs), minusOne);
  difference.add(parse(lhs));
  return build(difference, lhs.getContext());
}

AffineExpr adze::graph::mulExprs(AffineExpr lhs, AffineExpr rhs) {
  if (!lhs || !rhs)
    return {};
  return build(multiply(parse(lhs), parse(rhs)), lhs.getContext());
}

AffineExpr adze::graph::floorDivExprs(AffineExpr lhs, AffineExpr rhs) {
  if (!lhs || !rhs || getConstant(rhs) == 0)
    return {};
  return build(parseFloorDiv(lhs, parse(lhs), parse(rhs)), lhs.getContext());
}

AffineExpr adze::graph::modExprs(AffineExpr lhs, AffineExpr rhs) {
  if (!lhs || !rhs || getConstant(rhs) == 0)
    return {};
  return build(parseMod(lhs, parse(lhs), parse(rhs)), lhs.getContext());
}

AffineExpr adze::graph::product(MLIRContext *context,
                                ArrayRef<AffineExpr> exprs) {
  AffineExpr result = getAffineConstantExpr(1, context);
  for (AffineExpr expr : exprs)
    result = mulExprs(result, expr);
  return result;
}

AffineExpr adze::graph::divideExactly(AffineExpr lhs, AffineExpr rhs) {
  if (!lhs || !rhs)
    return {};
  auto quotient = divide(parse(lhs), parse(rhs));
  return quotient ? build(*quotient, lhs.getContext()) : AffineExpr();
}

std::optional<int64_t> adze::graph::getConstant(AffineExpr expr) {
  if (!expr)
    return std::nullopt;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

bool adze::graph::areEqual(AffineExpr lhs, AffineExpr rhs) {
  if (!lhs || !rhs)
    return false;
  return lhs == rhs || normalize(lhs) == normalize(rhs);
}

bool adze::graph::areEqual(ArrayRef<AffineExpr> lhs, ArrayRef<AffineExpr> rhs) {
  return lhs.size() == rhs.size() &&
         llvm::all_of(llvm::zip(lhs, rhs), [](auto pair) {
           return areEqual(std::get<0>(pair), std::get<1>(pair));
         });
}

//===----------------------------------------------------------------------===//
// Broadcasts of dynamic sizes
//===----------------------------------------------------------------------===//

// Sizes x_i that are equal or 1, as checked at run time, broadcast to
//   (sum x_i - sum e_i + prod e_i) floordiv (n - sum e_i + prod e_i),
// where e_i = (2 floordiv (x_i + 1)) mod 2 is 1 if x_i is 1, else 0: the sum of
// those that are not 1 divided by their number, and 1 / 1 if all are. No
// divisor is ever 0, 0 is a valid size, and the x_i can be recovered from the
// divisor.

static AffineExpr makeBroadcast(ArrayRef<AffineExpr> sizes) {
  MLIRContext *context = sizes.front().getContext();
  auto number = [&](int64_t value) {
    return getAffineConstantExpr(value, context);
  };
  AffineExpr sum = number(0), count = number(0), allOne = number(1);
  for (AffineExpr size : sizes) {
    AffineExpr isOne = modExprs(
        floorDivExprs(number(2), addExprs(size, number(1))), number(2));
    sum = addExprs(sum, subExprs(size, isOne));
    count = addExprs(count, subExprs(number(1), isOne));
    allOne = mulExprs(allOne, isOne);
  }
  return floorDivExprs(addExprs(sum, allOne), addExprs(count, allOne));
}

SmallVector<AffineExpr> adze::graph::getBroadcastSizes(AffineExpr expr) {
  SmallVector<AffineExpr> sizes;
  if (!expr || expr.getKind() != AffineExprKind::FloorDiv)
    return sizes;
  auto quotient = cast<AffineBinaryOpExpr>(expr);
  for (const auto &[monomial, coefficient] : parse(quotient.getRHS()).terms) {
    if (coefficient != -1 || monomial.size() != 1 ||
        monomial[0].getKind() != AffineExprKind::Mod)
      continue;
    AffineExpr inner = cast<AffineBinaryOpExpr>(monomial[0]).getLHS();
    if (inner.getKind() == AffineExprKind::FloorDiv)
      sizes.push_back(normalize(cast<AffineBinaryOpExpr>(inner).getRHS() - 1));
  }
  llvm::sort(sizes,
             [](AffineExpr a, AffineExpr b) { return compare(a, b) < 0; });
  if (sizes.size() < 2 || makeBroadcast(sizes) != expr)
    sizes.clear();
  return sizes;
}

/// Returns true if a number above 1 divides all terms, as for twice a size.
static bool cannotBeOne(AffineExpr size) {
  int64_t factor = 0;
  for (const auto &[monomial, coefficient] : parse(size).terms)
    factor = std::gcd(factor, coefficient);
  return factor > 1;
}

AffineExpr adze::graph::broadcastExprs(AffineExpr lhs, AffineExpr rhs) {
  constexpr size_t maxSizes = 8;
  if (!lhs || !rhs)
    return {};
  SmallVector<AffineExpr> sizes;
  for (AffineExpr expr : {normalize(lhs), normalize(rhs)}) {
    if (!expr)
      return {};
    SmallVector<AffineExpr> parts = getBroadcastSizes(expr);
    if (parts.empty())
      parts.push_back(expr);
    sizes.append(parts);
  }
  // The form is the same for all orders and repetitions.
  llvm::sort(sizes,
             [](AffineExpr a, AffineExpr b) { return compare(a, b) < 0; });
  sizes.erase(llvm::unique(sizes), sizes.end());
  // If a size is never 1, all others equal it or are 1. Otherwise, sums of
  // levels of a pyramid would have nested broadcasts, twice as long at each
  // level.
  if (auto it = llvm::find_if(sizes, cannotBeOne); it != sizes.end())
    return *it;
  if (sizes.size() > maxSizes)
    return {};
  return sizes.size() == 1 ? sizes.front() : makeBroadcast(sizes);
}

bool adze::graph::isDecided(ArrayRef<AffineExpr> sizes, StringRef condition) {
  if (condition == boundsAttr)
    return llvm::all_of(sizes, isNonNegative);
  SmallVector<AffineExpr> others;
  for (AffineExpr size : sizes) {
    size = normalize(size);
    if (condition != broadcastsAttr || getConstant(size) != 1)
      others.push_back(size);
  }
  return llvm::all_equal(others) && !llvm::is_contained(others, AffineExpr());
}
