// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Proves that expressions are never negative: by the signs of their terms, or
// by the bounds of quotients and remainders.
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Graph/IR/Clamp.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/IR/Terms.h"
#include "ExprFacts.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;
using namespace adze::graph;

static void collectFactors(AffineExpr expr, Term &term) {
  if (auto constant = getConstant(expr)) {
    term.factor *= *constant;
  } else if (expr.getKind() == AffineExprKind::Mul) {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    collectFactors(binary.getLHS(), term);
    collectFactors(binary.getRHS(), term);
  } else {
    term.atoms.push_back(expr);
  }
}

SmallVector<Term> adze::graph::getTerms(AffineExpr expr) {
  SmallVector<Term> terms;
  while (expr.getKind() == AffineExprKind::Add) {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    collectFactors(binary.getRHS(), terms.emplace_back());
    expr = binary.getLHS();
  }
  collectFactors(expr, terms.emplace_back());
  std::reverse(terms.begin(), terms.end());
  return terms;
}

static bool isPositive(AffineExpr expr) {
  return isNonNegative(
      subExprs(expr, getAffineConstantExpr(1, expr.getContext())));
}

/// Returns true for symbols, and for quotients and remainders that are not
/// negative because of their operands.
static bool isNonNegativeAtom(AffineExpr atom) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(atom);
  if (!binary)
    return true;
  auto divisor = getConstant(binary.getRHS());
  if (binary.getKind() == AffineExprKind::Mod)
    return divisor ? *divisor > 0 : isPositive(binary.getRHS());
  if (SmallVector<AffineExpr> sizes = getBroadcastSizes(atom); !sizes.empty())
    return llvm::all_of(sizes, isNonNegative);
  return isNonNegative(binary.getLHS()) && isNonNegative(binary.getRHS());
}

static bool areNonNegative(ArrayRef<AffineExpr> atoms) {
  return llvm::all_of(atoms, isNonNegativeAtom);
}

/// Returns true if all coefficients have the sign; atoms are >= 0.
static bool hasSign(ArrayRef<Term> terms, bool negative) {
  return llvm::all_of(terms, [&](const Term &term) {
    return (term.factor < 0) == negative && areNonNegative(term.atoms);
  });
}

//===----------------------------------------------------------------------===//
// Quotients and remainders
//===----------------------------------------------------------------------===//

namespace {

/// Linear conditions on integers: symbols, quotients and remainders by
/// constants, and one for each product of several, of which only the sign is
/// known.
class Conditions {
public:
  /// Returns true if the expression may be negative while the given ones are
  /// not, and also if there are too many integers.
  bool mayBeNegative(AffineExpr expr, ArrayRef<AffineExpr> given);

private:
  using Product = SmallVector<AffineExpr, 2>;
  /// Integers with factors; `one` stands for 1.
  using Sum = llvm::MapVector<unsigned, int64_t>;

  Sum getSum(AffineExpr expr);
  unsigned getInteger(const Product &product);
  /// Requires that the sum is >= 0.
  void require(const Sum &sum) { sums.push_back(sum); }
  Sum single(unsigned integer, int64_t factor) {
    return combine(Sum(), integer, factor);
  }
  Sum combine(Sum lhs, unsigned integer, int64_t factor) {
    add(lhs, integer, factor);
    return lhs;
  }
  Sum combine(Sum lhs, const Sum &rhs, int64_t factor) {
    for (auto [integer, other] : rhs)
      add(lhs, integer, other, factor);
    return lhs;
  }
  /// Adds a product to the factor of an integer.
  void add(Sum &sum, unsigned integer, int64_t factor, int64_t times = 1) {
    int64_t product = 0, total = 0;
    if (llvm::MulOverflow(factor, times, product) ||
        llvm::AddOverflow(sum[integer], product, total) || total > mostFactor ||
        total < -mostFactor)
      isTooLarge = true;
    else
      sum[integer] = total;
  }

  static constexpr unsigned one = 1u << 30;
  static constexpr int64_t mostFactor = int64_t(1) << 31;
  bool isTooLarge = false; // overflow of a factor: the result is unknown
  std::map<std::vector<const void *>, unsigned> known;
  unsigned count = 0;
  SmallVector<Sum> sums;
};

} // namespace

unsigned Conditions::getInteger(const Product &product) {
  std::vector<const void *> key;
  for (AffineExpr atom : product)
    key.push_back(atom.getAsOpaquePointer());
  auto [place, isNew] = known.try_emplace(key, count);
  if (!isNew)
    return place->second;
  unsigned self = count++;
  if (areNonNegative(product))
    require(single(self, 1));
  auto binary = dyn_cast<AffineBinaryOpExpr>(product.front());
  auto divisor = binary ? getConstant(binary.getRHS()) : std::nullopt;
  // A remainder of a value that is not negative is at most that value.
  if (product.size() == 1 && binary &&
      binary.getKind() == AffineExprKind::Mod && isNonNegative(binary.getLHS()))
    require(combine(getSum(binary.getLHS()), single(self, 1), -1));
  if (product.size() != 1 || !divisor || *divisor <= 0)
    return self;
  // x - c q, or the remainder itself, is in [0, c).
  Sum rest = single(self, 1);
  if (binary.getKind() == AffineExprKind::FloorDiv) {
    rest = combine(getSum(binary.getLHS()), rest, -*divisor);
  } else {
    unsigned quotient = count++;
    Sum zero = combine(getSum(binary.getLHS()), rest, -1);
    zero = combine(zero, quotient, -*divisor);
    require(zero);
    require(combine(Sum(), zero, -1));
  }
  require(rest);
  require(combine(single(one, *divisor - 1), rest, -1));
  return self;
}

Conditions::Sum Conditions::getSum(AffineExpr expr) {
  Sum sum;
  for (const Term &term : getTerms(expr))
    add(sum, term.atoms.empty() ? one : getInteger(term.atoms), term.factor);
  return sum;
}

bool Conditions::mayBeNegative(AffineExpr expr, ArrayRef<AffineExpr> given) {
  constexpr unsigned most = 12;
  require(combine(single(one, -1), getSum(expr), -1)); // -expr - 1 >= 0
  for (AffineExpr other : given)
    require(getSum(other));
  if (count > most || isTooLarge)
    return true;
  using namespace mlir::presburger;
  IntegerPolyhedron all(PresburgerSpace::getSetSpace(count));
  for (const Sum &sum : sums) {
    SmallVector<int64_t> row(count + 1, 0);
    for (auto [integer, factor] : sum)
      row[integer == one ? count : integer] = factor;
    all.addInequality(row);
  }
  return !all.isIntegerEmpty();
}

/// Removes the atoms that all terms have, if these are >= 0.
static AffineExpr dropCommonAtoms(AffineExpr expr, ArrayRef<Term> terms) {
  for (AffineExpr atom : terms.front().atoms)
    if (isNonNegativeAtom(atom) && llvm::all_of(terms, [&](const Term &term) {
          return llvm::is_contained(term.atoms, atom);
        }))
      return divideExactly(expr, atom);
  return {};
}

/// A size that is the maximum of two is one of both, so both cases are proven.
static bool isNonNegativeByCase(AffineExpr expr, Exprs given, unsigned depth) {
  constexpr unsigned mostCases = 7;
  SmallVector<Term> terms = getTerms(expr);
  if (hasSign(terms, /*negative=*/false))
    return true;
  AffineExpr atom = findClamp(expr);
  for (size_t i = 0; !atom && i < given.size(); ++i)
    atom = findClamp(given[i]);
  if (!atom)
    return !Conditions().mayBeNegative(expr, given);
  AffineExpr inner = getClamped(atom);
  AffineExpr zero = getAffineConstantExpr(0, expr.getContext());
  auto holds = [&](AffineExpr value, AffineExpr condition) {
    AffineExpr other = replaceAtom(expr, atom, value);
    Exprs known;
    for (AffineExpr bound : given)
      known.push_back(replaceAtom(bound, atom, value));
    known.push_back(condition);
    return other && !llvm::is_contained(known, AffineExpr()) &&
           isNonNegativeByCase(other, known, depth + 1);
  };
  return depth < mostCases && holds(inner, inner) &&
         holds(zero, subExprs(zero, inner));
}

bool adze::graph::isNonNegativeWhere(AffineExpr expr,
                                     ArrayRef<AffineExpr> given) {
  expr = expr ? normalize(expr) : expr;
  if (!expr)
    return false;
  SmallVector<Term> terms = getTerms(expr);
  if (hasSign(terms, /*negative=*/false))
    return true;
  // Without quotients, nothing outweighs a negative term.
  auto isBinary = [](AffineExpr atom) { return isa<AffineBinaryOpExpr>(atom); };
  if (given.empty() && llvm::none_of(terms, [&](const Term &term) {
        return llvm::any_of(term.atoms, isBinary);
      }))
    return false;
  if (AffineExpr rest = dropCommonAtoms(expr, terms))
    return isNonNegativeWhere(rest, given);
  Exprs known;
  for (AffineExpr bound : given)
    if (AffineExpr normal = normalize(bound))
      known.push_back(normal);
  ExprFacts *facts = known.empty() ? getFacts(expr) : nullptr;
  if (!facts)
    return isNonNegativeByCase(expr, known, 0);
  if (auto found = facts->nonNegative.find(expr);
      found != facts->nonNegative.end())
    return found->second;
  bool result = isNonNegativeByCase(expr, known, 0);
  facts->nonNegative[expr] = result;
  return result;
}

bool adze::graph::isNonNegative(AffineExpr expr) {
  return isNonNegativeWhere(expr, {});
}

bool adze::graph::areDifferent(AffineExpr lhs, AffineExpr rhs) {
  AffineExpr difference = subExprs(lhs, rhs);
  if (!difference)
    return false;
  if (auto constant = getConstant(difference))
    return *constant != 0;
  // There is a constant term, and no other term cancels it.
  for (const Term &term : getTerms(difference))
    if (term.atoms.empty())
      return hasSign(getTerms(difference), term.factor < 0);
  return false;
}
