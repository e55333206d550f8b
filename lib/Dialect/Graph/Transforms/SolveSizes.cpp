// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-solve-sizes: solves the equations of sizes that are checked before a
// run, and replaces sizes that have one value by it.
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Graph/IR/Clamp.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/IR/Terms.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Host/IR/Host.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"
#include <numeric>

namespace adze::graph {
#define GEN_PASS_DEF_SOLVESIZESPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

struct Values {
  DenseMap<unsigned, AffineExpr> symbols;
  /// Expressions that are not negative; they decide which clamped sizes are
  /// bounded.
  Exprs bounds;

  /// A cache of replace() for long expressions; cleared after a change.
  mutable DenseMap<AffineExpr, AffineExpr> found;

  bool empty() const { return symbols.empty() && bounds.empty(); }
};

/// Solves for sizes in terms of others, from conditions that hold in every run.
class Solver {
public:
  explicit Solver(func::FuncOp function);

  /// Solves all conditions. Returns the symbols that are not free in terms of
  /// those that are.
  Values run();

private:
  struct Range {
    int64_t min = 0, max = INT64_MAX;
  };

  void readRanges();
  void readConditions();
  void readBounds();
  bool isKnownEarly(AffineExpr expr) const;
  bool step();
  /// Uses `zero` = 0. Returns true if this was new information.
  bool solve(AffineExpr zero);
  bool solveTerm(const Term &term, int64_t constant);
  bool solveSum(ArrayRef<Term> terms, AffineExpr zero);
  bool set(unsigned symbol, AffineExpr value);
  /// Returns a lower bound from the known ranges.
  int64_t getLeast(AffineExpr expr) const;
  bool cannotBeOne(AffineExpr expr) const;

  func::FuncOp function;
  MLIRContext *context;
  DenseSet<unsigned> free; // symbols of inputs that are not solved yet
  DenseMap<unsigned, Range> ranges;
  Values values;
  SmallVector<std::pair<AffineExpr, AffineExpr>> equal, broadcast;
};

} // namespace

//===----------------------------------------------------------------------===//
// Replacing
//===----------------------------------------------------------------------===//

/// Returns the broadcast of sizes as one new expression.
static AffineExpr broadcastAll(ArrayRef<AffineExpr> sizes) {
  Dims result{sizes.front()};
  std::string error;
  for (AffineExpr size : sizes.drop_front()) {
    auto both = broadcastDims({result, Dims{size}}, error);
    if (failed(both))
      return {};
    result = *both;
  }
  return result.front();
}

static AffineExpr replace(AffineExpr expr, const Values &values);

static AffineExpr replaceInside(AffineBinaryOpExpr expr, const Values &values) {
  if (AffineExpr inner = getClamped(expr)) {
    AffineExpr clamp = clampExprWhere(replace(inner, values), values.bounds);
    return clamp ? clamp : expr;
  }
  SmallVector<AffineExpr> sizes = getBroadcastSizes(expr);
  if (!sizes.empty()) {
    for (AffineExpr &size : sizes)
      size = replace(size, values);
    if (AffineExpr all = broadcastAll(sizes))
      return all;
  }
  AffineExpr lhs = replace(expr.getLHS(), values),
             rhs = replace(expr.getRHS(), values);
  if (lhs == expr.getLHS() && rhs == expr.getRHS())
    return expr;
  AffineExpr result =
      normalize(getAffineBinaryOpExpr(expr.getKind(), lhs, rhs));
  return result ? result : expr;
}

/// Returns the expression with symbols replaced by their values, or unchanged,
/// which is also correct, if it would be too long.
static AffineExpr replace(AffineExpr expr, const Values &values) {
  if (!expr || values.empty())
    return expr;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    AffineExpr value = values.symbols.lookup(symbol.getPosition());
    return value ? value : expr;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  if (AffineExpr known = values.found.lookup(expr))
    return known;
  AffineExpr result = replaceInside(binary, values);
  values.found[expr] = result;
  return result;
}

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

/// Visits the symbols of types inside of sequences and the like, which no view
/// can change, so that these symbols are kept.
static void forEachFixedSymbol(TypeRange types,
                               function_ref<void(unsigned)> visit) {
  for (Type type : types)
    getElementTypeOrSelf(type).walk(
        [&](RankedTensorType inner) { forEachSymbol(inner, visit); });
}

Solver::Solver(func::FuncOp function)
    : function(function), context(function.getContext()) {
  for (Type type : function.getArgumentTypes())
    forEachSymbol(type, [&](unsigned symbol) { free.insert(symbol); });
  for (TypeRange types : {TypeRange(function.getArgumentTypes()),
                          TypeRange(function.getResultTypes())})
    forEachFixedSymbol(types, [&](unsigned symbol) { free.erase(symbol); });
  readRanges();
  readConditions();
  readBounds();
}

void Solver::readRanges() {
  auto all = function->getAttrOfType<ArrayAttr>(adze::host::symbolRangesAttr);
  if (!all)
    return;
  for (auto [symbol, range] :
       llvm::enumerate(all.getAsRange<DenseI64ArrayAttr>()))
    if (range.size() == 3)
      ranges[symbol] = {std::max<int64_t>(range[0], 0),
                        range[1] < 0 ? INT64_MAX : range[1]};
}

/// The run checks sizes of inputs only.
bool Solver::isKnownEarly(AffineExpr expr) const {
  bool known = bool(expr);
  forEachSymbol(expr, [&](unsigned symbol) { known &= free.contains(symbol); });
  return known;
}

void Solver::readConditions() {
  for (auto [name, pairs] : {std::pair(equalitiesAttr, &equal),
                             std::pair(broadcastsAttr, &broadcast)}) {
    auto maps = function->getAttrOfType<ArrayAttr>(name);
    if (!maps)
      continue;
    for (auto map : maps.getAsRange<AffineMapAttr>()) {
      ArrayRef<AffineExpr> sizes = map.getValue().getResults();
      for (size_t i = 1; i < sizes.size(); ++i)
        for (size_t k = 0; k < i; ++k)
          if (isKnownEarly(sizes[i]) && isKnownEarly(sizes[k]))
            pairs->push_back({sizes[k], sizes[i]});
    }
  }
}

/// Returns true if a size inside is the maximum of two.
static bool hasClamps(func::FuncOp function) {
  DenseSet<Type> seen;
  auto isCut = [&](Type type) {
    return seen.insert(type).second &&
           llvm::any_of(getDims(type),
                        [](AffineExpr dim) { return bool(findClamp(dim)); });
  };
  return function
      .walk([&](Operation *op) {
        return llvm::any_of(op->getResultTypes(), isCut)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void Solver::readBounds() {
  if (!hasClamps(function))
    return;
  for (auto [position, range] : ranges) {
    AffineExpr symbol = getAffineSymbolExpr(position, context);
    if (range.min > 0)
      values.bounds.push_back(symbol - range.min);
    if (range.max < INT64_MAX)
      values.bounds.push_back(
          subExprs(getAffineConstantExpr(range.max, context), symbol));
  }
  auto maps = function->getAttrOfType<ArrayAttr>(boundsAttr);
  for (auto map : maps ? maps.getValue() : ArrayRef<Attribute>())
    for (AffineExpr bound : cast<AffineMapAttr>(map).getValue().getResults())
      if (bound = normalize(bound); bound && isKnownEarly(bound))
        values.bounds.push_back(bound);
}

int64_t Solver::getLeast(AffineExpr expr) const {
  if (auto constant = getConstant(expr))
    return *constant;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return ranges.lookup(symbol.getPosition()).min;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return INT64_MIN;
  int64_t lhs = getLeast(binary.getLHS()), rhs = getLeast(binary.getRHS());
  int64_t result = INT64_MIN;
  bool isKnown = lhs >= 0 && rhs >= 0;
  if (binary.getKind() == AffineExprKind::Add)
    isKnown = isKnown && !llvm::AddOverflow(lhs, rhs, result);
  else
    isKnown = isKnown && binary.getKind() == AffineExprKind::Mul &&
              !llvm::MulOverflow(lhs, rhs, result);
  return isKnown ? result : INT64_MIN;
}

//===----------------------------------------------------------------------===//
// Solving
//===----------------------------------------------------------------------===//

/// Sets the value of a symbol, if it is possible for all values of the others.
bool Solver::set(unsigned symbol, AffineExpr value) {
  auto constant = getConstant(value);
  Range range = ranges.lookup(symbol);
  if (!free.contains(symbol) || !isNonNegative(value) ||
      (constant && (*constant < range.min || *constant > range.max)))
    return false;
  free.erase(symbol);
  Values self;
  self.symbols[symbol] = value;
  for (auto &[other, known] : values.symbols)
    known = replace(known, self);
  for (AffineExpr &bound : values.bounds)
    bound = replace(bound, self);
  values.symbols[symbol] = value;
  values.found.clear();
  // The range is then only known through the other symbol.
  if (auto other = dyn_cast<AffineSymbolExpr>(value)) {
    Range &kept = ranges[other.getPosition()];
    kept.min = std::max(kept.min, range.min);
    kept.max = std::min(kept.max, range.max);
  }
  return true;
}

/// Solves factor * atoms + constant = 0: one symbol, or a product that is 1.
bool Solver::solveTerm(const Term &term, int64_t constant) {
  if (term.factor == 0 || constant == INT64_MIN || constant % term.factor != 0)
    return false;
  int64_t value = -(constant / term.factor);
  if (term.atoms.size() > 1 && value != 1)
    return false;
  if (!llvm::all_of(term.atoms, llvm::IsaPred<AffineSymbolExpr>))
    return false;
  bool changed = false;
  for (AffineExpr atom : term.atoms)
    changed |= set(cast<AffineSymbolExpr>(atom).getPosition(),
                   getAffineConstantExpr(value, context));
  return changed;
}

/// Solves for a symbol that is a term by itself: it is the sum of the others.
/// Of several, the last one is used, as it depends on the earlier ones.
bool Solver::solveSum(ArrayRef<Term> terms, AffineExpr zero) {
  SmallVector<std::pair<unsigned, int64_t>> candidates;
  for (const Term &term : terms)
    if (term.atoms.size() == 1 && std::abs(term.factor) == 1)
      if (auto symbol = dyn_cast<AffineSymbolExpr>(term.atoms.front()))
        candidates.push_back({symbol.getPosition(), term.factor});
  llvm::sort(candidates, std::greater<>());
  for (auto [position, factor] : candidates) {
    AffineExpr symbol = getAffineSymbolExpr(position, context);
    AffineExpr rest = subExprs(
        zero, mulExprs(symbol, getAffineConstantExpr(factor, context)));
    AffineExpr value = mulExprs(rest, getAffineConstantExpr(-factor, context));
    bool isInside = !value;
    forEachSymbol(
        value, [&, at = position](unsigned other) { isInside |= other == at; });
    if (!isInside && set(position, value))
      return true;
  }
  return false;
}

/// Returns the common divisor of all terms.
static int64_t getDivisor(ArrayRef<Term> terms) {
  int64_t divisor = 0;
  for (const Term &term : terms)
    divisor = std::gcd(divisor, term.factor);
  return divisor;
}

/// Returns true if the size cannot be 1, as in four heads for each element of a
/// batch.
bool Solver::cannotBeOne(AffineExpr expr) const {
  if (!expr)
    return false;
  SmallVector<Term> terms = getTerms(expr);
  return getDivisor(terms) > 1 || getLeast(expr) > 1;
}

bool Solver::solve(AffineExpr zero) {
  if (!zero || getConstant(zero))
    return false;
  SmallVector<Term> terms = getTerms(zero);
  // A common factor that is never 0 is irrelevant.
  SmallVector<AffineExpr, 2> shared = terms.front().atoms;
  for (AffineExpr atom : shared)
    if (getLeast(atom) > 0 && llvm::all_of(terms, [&](const Term &term) {
          return llvm::is_contained(term.atoms, atom);
        })) {
      zero = divideExactly(zero, atom);
      return solve(zero);
    }
  if (int64_t divisor = getDivisor(terms); divisor > 1)
    return solve(divideExactly(zero, getAffineConstantExpr(divisor, context)));
  auto constant =
      llvm::find_if(terms, [](const Term &term) { return term.atoms.empty(); });
  int64_t number = constant == terms.end() ? 0 : constant->factor;
  if (terms.size() == (constant == terms.end() ? 1 : 2))
    return solveTerm(constant == terms.begin() ? terms[1] : terms[0], number);
  return solveSum(terms, zero);
}

bool Solver::step() {
  for (auto [lhs, rhs] : equal)
    if (solve(subExprs(replace(lhs, values), replace(rhs, values))))
      return true;
  // Neither can be 1.
  for (auto [lhs, rhs] : broadcast) {
    AffineExpr left = replace(lhs, values), right = replace(rhs, values);
    if (cannotBeOne(left) && cannotBeOne(right) && solve(subExprs(left, right)))
      return true;
  }
  return false;
}

Values Solver::run() {
  while (step())
    ;
  return values;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static Type replaceType(Type type, const Values &values) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.hasStaticShape() ||
      !isa_and_nonnull<AffineMapAttr>(tensor.getEncoding()))
    return type;
  Dims dims = getDims(type), known = dims;
  for (AffineExpr &dim : known)
    dim = replace(dim, values);
  return known == dims ? type : makeType(tensor.getElementType(), known);
}

using ReplacedType = std::optional<std::pair<Type, WalkResult>>;

/// Replaces the sizes everywhere between the arguments and the results.
static void replaceSizes(func::FuncOp function, const Values &values) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> ReplacedType {
    if (!type.getElementType().isIntOrFloat())
      return std::nullopt; // contents of the type
    return std::pair(replaceType(type, values), WalkResult::skip());
  });
  replacer.addReplacement([&](AffineMapAttr attr) -> std::optional<Attribute> {
    AffineMap map = attr.getValue();
    if (map.getNumDims() != 0 || map.getNumSymbols() == 0)
      return std::nullopt;
    auto results = llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
      AffineExpr normal = normalize(expr);
      return replace(normal ? normal : expr, values);
    });
    return AffineMapAttr::get(
        AffineMap::get(0, map.getNumSymbols(), results, map.getContext()));
  });
  function.getBody().walk([&](Operation *op) {
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                               /*replaceTypes=*/true);
  });
}

/// Creates views between the declared types and the new ones.
static void createViews(func::FuncOp function, const Values &values) {
  OpBuilder b = OpBuilder::atBlockBegin(&function.front());
  for (BlockArgument argument : function.getArguments()) {
    Type type = replaceType(argument.getType(), values);
    if (type == argument.getType() || argument.use_empty())
      continue;
    auto view = ReshapeOp::create(b, argument.getLoc(), type, argument);
    argument.replaceAllUsesExcept(view.getResult(), view);
  }
  Operation *end = function.front().getTerminator();
  b.setInsertionPoint(end);
  for (auto [operand, type] :
       llvm::zip_equal(end->getOpOperands(), function.getResultTypes()))
    if (operand.get().getType() != type)
      operand.set(
          ReshapeOp::create(b, end->getLoc(), type, operand.get()).getResult());
}

/// Returns false, and changes nothing, if ops would become inconsistent: no
/// sizes satisfy all conditions, or those of a branch that never runs.
static bool replaceAll(func::FuncOp function, const Values &values) {
  OwningOpRef<func::FuncOp> copy = function.clone();
  replaceSizes(*copy, values);
  createViews(*copy, values);
  ScopedDiagnosticHandler silent(function.getContext(),
                                 [](Diagnostic &) { return success(); });
  if (failed(verify(*copy)))
    return false;
  function.getBody().takeBody(copy->getBody());
  return true;
}

namespace {

class SolveSizesPass final
    : public adze::graph::impl::SolveSizesPassBase<SolveSizesPass> {
public:
  using SolveSizesPassBase::SolveSizesPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(adze::host::symbolsAttr) ||
        function->hasAttr(adze::host::kernelAttr) || function.isExternal())
      return;
    Values values = Solver(function).run();
    if (!values.empty() && replaceAll(function, values))
      solved = values.symbols.size();
  }
};

} // namespace
