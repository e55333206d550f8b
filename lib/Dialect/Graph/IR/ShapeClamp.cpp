// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// max(x, 0) as an expression, proofs by cases of it, and the conditions under
// which a bounded size equals its bound.
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Graph/IR/Clamp.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/IR/Terms.h"
#include "ExprFacts.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;
using namespace adze::graph;

/// More clamps in one expression are not distinguished, as each has two cases.
static constexpr unsigned mostClamps = 7;

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

static AffineExpr number(AffineExpr like, int64_t value) {
  return getAffineConstantExpr(value, like.getContext());
}

static AffineExpr negate(AffineExpr expr) {
  return expr ? subExprs(number(expr, 0), expr) : expr;
}

/// Splits the expression into the difference of two sums that are not negative.
/// Returns null if a sign is unknown.
static std::pair<AffineExpr, AffineExpr> getParts(AffineExpr expr) {
  AffineExpr sums[2] = {number(expr, 0), number(expr, 0)};
  for (const Term &term : getTerms(expr)) {
    AffineExpr value; // except -2^63, which has no opposite
    if (term.factor != INT64_MIN)
      value = number(expr, std::abs(term.factor));
    for (AffineExpr atom : term.atoms)
      value = isNonNegative(atom) ? mulExprs(value, atom) : AffineExpr();
    AffineExpr &sum = sums[term.factor < 0];
    sum = addExprs(sum, value);
  }
  return {sums[0], sums[1]};
}

/// x = a - b is less than
///   r = a + 2 - (a + 1) mod (b + 1)
/// and r is 1 where x is negative: x mod r is x, or 0 there. No divisor is ever
/// 0, and nothing grows beyond a + 2.
static AffineExpr makeClamp(AffineExpr expr) {
  auto [plus, minus] = getParts(expr);
  AffineExpr one = number(expr, 1), more = addExprs(plus, one);
  AffineExpr rest = modExprs(more, addExprs(minus, one));
  AffineExpr result = modExprs(expr, subExprs(addExprs(more, one), rest));
  auto binary = dyn_cast_if_present<AffineBinaryOpExpr>(result);
  bool isAtom = binary && binary.getKind() == AffineExprKind::Mod &&
                binary.getLHS() == expr;
  return isAtom ? result : AffineExpr();
}

/// Returns true if one of them is 0 in each case.
static bool areExclusive(AffineExpr lhs, AffineExpr rhs, unsigned depth = 0) {
  if (!lhs || !rhs || getConstant(lhs) == 0 || getConstant(rhs) == 0)
    return lhs && rhs;
  AffineExpr atom = findClamp(lhs);
  if (!atom || depth == mostClamps)
    return false;
  return llvm::all_of(ArrayRef<AffineExpr>{getClamped(atom), number(lhs, 0)},
                      [&, lhs = lhs, rhs = rhs](AffineExpr value) {
                        return areExclusive(replaceAtom(lhs, atom, value),
                                            replaceAtom(rhs, atom, value),
                                            depth + 1);
                      });
}

/// Returns the common factor of all terms of an expression, which is not
/// negative.
static AffineExpr getShared(AffineExpr expr) {
  SmallVector<Term> terms = getTerms(expr);
  int64_t factor = 0;
  for (const Term &term : terms)
    factor = std::gcd(factor, term.factor);
  AffineExpr shared = number(expr, std::max<int64_t>(factor, 1));
  for (AffineExpr atom : terms.front().atoms) {
    AffineExpr more = mulExprs(shared, atom);
    if (isNonNegative(atom) && more && divideExactly(expr, more))
      shared = more;
  }
  return shared;
}

AffineExpr adze::graph::clampExpr(AffineExpr expr) {
  expr = expr ? normalize(expr) : expr;
  if (!expr)
    return {};
  AffineExpr minus = negate(expr);
  if (isNonNegative(expr))
    return expr;
  if (!minus || isNonNegative(minus))
    return minus ? number(expr, 0) : AffineExpr();
  if (auto [plus, less] = getParts(expr); areExclusive(plus, less))
    return plus;
  AffineExpr shared = getShared(expr);
  if (getConstant(shared) != 1)
    return mulExprs(shared, clampExpr(divideExactly(expr, shared)));
  // max(x, 0) = x + max(-x, 0), so only one of both is used.
  if (getTerms(expr).front().factor < 0)
    return addExprs(expr, makeClamp(minus));
  return makeClamp(expr);
}

AffineExpr adze::graph::minExprs(AffineExpr lhs, AffineExpr rhs) {
  return subExprs(lhs, clampExpr(subExprs(lhs, rhs)));
}

AffineExpr adze::graph::maxExprs(AffineExpr lhs, AffineExpr rhs) {
  return addExprs(rhs, clampExpr(subExprs(lhs, rhs)));
}

AffineExpr adze::graph::getClamped(AffineExpr atom) {
  auto binary = dyn_cast_if_present<AffineBinaryOpExpr>(atom);
  if (!binary || binary.getKind() != AffineExprKind::Mod ||
      getConstant(binary.getRHS()))
    return {};
  ExprFacts *facts = getFacts(atom);
  if (facts)
    if (auto known = facts->clamped.find(atom); known != facts->clamped.end())
      return known->second;
  AffineExpr expr = normalize(binary.getLHS());
  if (!expr || makeClamp(expr) != normalize(atom))
    expr = {};
  if (facts)
    facts->clamped[atom] = expr;
  return expr;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

AffineExpr adze::graph::findClamp(AffineExpr expr) {
  AffineExpr found;
  if (expr)
    expr.walk([&](AffineExpr part) {
      if (!found && getClamped(part))
        found = part;
    });
  return found;
}

AffineExpr adze::graph::replaceAtom(AffineExpr expr, AffineExpr atom,
                                    AffineExpr value) {
  if (!expr || !value || expr == atom)
    return expr ? value : expr;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  if (AffineExpr inner = getClamped(expr)) {
    AffineExpr other = replaceAtom(inner, atom, value);
    return other == inner ? expr : clampExpr(other);
  }
  SmallVector<AffineExpr> sizes = getBroadcastSizes(expr);
  if (!sizes.empty()) {
    AffineExpr all;
    for (AffineExpr size : sizes) {
      AffineExpr other = replaceAtom(size, atom, value);
      all = all ? broadcastExprs(all, other) : other;
    }
    return all;
  }
  AffineExpr lhs = replaceAtom(binary.getLHS(), atom, value),
             rhs = replaceAtom(binary.getRHS(), atom, value);
  if (!lhs || !rhs)
    return {};
  if (lhs == binary.getLHS() && rhs == binary.getRHS())
    return expr;
  return normalize(getAffineBinaryOpExpr(expr.getKind(), lhs, rhs));
}

AffineExpr adze::graph::clampExprWhere(AffineExpr expr,
                                       ArrayRef<AffineExpr> given) {
  if (!given.empty() && expr && !findClamp(expr)) {
    if (isNonNegativeWhere(expr, given))
      return expr;
    if (isNonNegativeWhere(negate(expr), given))
      return number(expr, 0);
  }
  return clampExpr(expr);
}

//===----------------------------------------------------------------------===//
// Meetings
//===----------------------------------------------------------------------===//

namespace {

enum class Outcome { Equal, Different, Impossible, Open };

/// Determines the values of the symbols for which two sizes are equal.
struct Cases {
  static constexpr unsigned mostSteps = 512;
  unsigned depth = 0, steps = 0;

  /// `bounds` receives the conditions under which they are equal, assuming
  /// `given`.
  Outcome solve(AffineExpr lhs, AffineExpr rhs, Exprs given, Exprs &bounds);
};

} // namespace

static Exprs with(ArrayRef<AffineExpr> given, AffineExpr expr) {
  Exprs result(given);
  result.push_back(expr);
  return result;
}

static bool isImpossible(ArrayRef<AffineExpr> given, AffineExpr like) {
  return isNonNegativeWhere(number(like, -1), given);
}

Outcome Cases::solve(AffineExpr lhs, AffineExpr rhs, Exprs given,
                     Exprs &bounds) {
  bounds.clear();
  if (!lhs || !rhs || depth > mostClamps || ++steps > mostSteps)
    return Outcome::Open;
  if (!given.empty() && isImpossible(given, lhs))
    return Outcome::Impossible;
  if (lhs == rhs)
    return Outcome::Equal;
  AffineExpr atom = findClamp(lhs);
  if (!atom) {
    AffineExpr gap = subExprs(lhs, rhs);
    given.append({gap, negate(gap), subExprs(rhs, number(rhs, 2))});
    return isImpossible(given, lhs) ? Outcome::Different : Outcome::Open;
  }
  ++depth;
  AffineExpr inner = getClamped(atom), minus = negate(inner);
  AffineExpr values[2] = {inner, number(inner, 0)}, signs[2] = {inner, minus};
  Exprs found[2];
  Outcome outcomes[2];
  auto solveCase = [&](unsigned i) {
    outcomes[i] = solve(replaceAtom(lhs, atom, values[i]),
                        replaceAtom(rhs, atom, values[i]),
                        with(given, signs[i]), found[i]);
  };
  solveCase(0);
  solveCase(1);
  // If it is 0, both cases are equal, and the decided one is the result.
  for (unsigned i : {0, 1})
    if (outcomes[i] == Outcome::Open && outcomes[1 - i] != Outcome::Open) {
      signs[i] = subExprs(signs[i], number(inner, 1));
      solveCase(i);
    }
  --depth;
  for (unsigned i : {0, 1}) {
    if (outcomes[1 - i] == Outcome::Impossible) {
      bounds = found[i];
      return outcomes[i];
    }
    if (outcomes[i] == Outcome::Equal &&
        outcomes[1 - i] == Outcome::Different) {
      bounds = with(found[i], signs[i]);
      return Outcome::Equal;
    }
  }
  bool isSame = outcomes[0] == outcomes[1] && found[0] == found[1];
  bounds = found[0];
  return isSame ? outcomes[0] : Outcome::Open;
}

/// Returns the bounds that the others do not imply.
static Exprs withoutImplied(Exprs bounds) {
  for (size_t i = 0; i < bounds.size();) {
    Exprs others(bounds);
    others.erase(others.begin() + i);
    if (isNonNegativeWhere(bounds[i], others))
      bounds = others;
    else
      ++i;
  }
  return bounds;
}

/// `cut` may be less than `size`.
static std::optional<Meeting> meetCut(AffineExpr cut, AffineExpr size) {
  // A size with a bound of its own counts as any other.
  unsigned symbol = countSymbols({cut, size});
  AffineExpr whole = size;
  SmallVector<std::pair<AffineExpr, AffineExpr>> names;
  while (AffineExpr atom = findClamp(whole)) {
    if (names.size() == mostClamps)
      return std::nullopt;
    AffineExpr name = getAffineSymbolExpr(symbol++, size.getContext());
    whole = replaceAtom(whole, atom, name);
    cut = replaceAtom(cut, atom, name);
    names.push_back({name, atom});
  }
  if (!whole || !findClamp(cut))
    return std::nullopt;
  Meeting result;
  if (Cases().solve(cut, whole, {}, result.bounds) != Outcome::Equal)
    return std::nullopt;
  result.bounds = withoutImplied(result.bounds);
  for (auto [name, atom] : llvm::reverse(names))
    for (AffineExpr &bound : result.bounds)
      bound = replaceAtom(bound, name, atom);
  if (llvm::is_contained(result.bounds, AffineExpr()))
    return std::nullopt;
  result.size = size;
  return result;
}

std::optional<Meeting> adze::graph::meet(AffineExpr lhs, AffineExpr rhs) {
  lhs = lhs ? normalize(lhs) : lhs;
  rhs = rhs ? normalize(rhs) : rhs;
  if (!lhs || !rhs || lhs == rhs || (!findClamp(lhs) && !findClamp(rhs)))
    return std::nullopt;
  if (auto result = meetCut(lhs, rhs))
    return result;
  return meetCut(rhs, lhs);
}

AffineExpr adze::graph::spreadFirst(AffineExpr lhs, AffineExpr rhs) {
  for (auto [one, size] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
    if (one && size && findClamp(one) &&
        areEqual(one, minExprs(number(size, 1), size)))
      return size;
  return {};
}
