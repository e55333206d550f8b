// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Branches and loops: their regions, and the types of values that enter and
// leave them.
#include "Importer.h"
#include "Sizes.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Region;
using mlir::Type;
using mlir::Value;

/// Returns true if the expression uses only symbols up to `end`.
static bool isVisible(AffineExpr expr, unsigned end) {
  bool visible = bool(expr);
  graph::forEachSymbol(expr, [&](unsigned symbol) { visible &= symbol < end; });
  return visible;
}

Type Binder::join(Type lhs, Type rhs, unsigned firstInnerSymbol,
                  llvm::SmallVectorImpl<int64_t> &symbols) {
  auto left = llvm::dyn_cast<mlir::RankedTensorType>(lhs);
  auto right = llvm::dyn_cast<mlir::RankedTensorType>(rhs);
  if (!left || !right)
    return lhs == rhs ? lhs : Type();
  if (graph::isHandle(left) || graph::isHandle(right))
    return graph::isHandle(left) && graph::isHandle(right)
               ? graph::joinElements(left, right)
               : Type();
  if (left.getElementType() != right.getElementType() ||
      left.getRank() != right.getRank())
    return {};
  Dims dims = graph::getDims(left);
  for (auto [dim, other] : llvm::zip_equal(dims, graph::getDims(right))) {
    if (graph::areEqual(dim, other) && isVisible(dim, firstInnerSymbol))
      continue;
    dim = makeFreshSymbol();
    symbols.push_back(llvm::cast<mlir::AffineSymbolExpr>(dim).getPosition());
  }
  return graph::makeType(left.getElementType(), dims);
}

bool Importer::isInside(Region *inner, Region *outer) const {
  while (inner && inner != outer)
    inner = inner->getParentOp() ? inner->getParentRegion()
                                 : unattached.lookup(inner);
  return inner;
}

mlir::Block *Importer::createBlock(Region *region) {
  unattached[region] = builder.getInsertionBlock()->getParent();
  return builder.createBlock(region);
}

/// Discards a region and all information about its values.
void Importer::forget(Region &region) {
  llvm::SmallVector<Value> dead;
  for (auto &[value, dims] : bound)
    if (isInside(dims.second->getParentRegion(), &region))
      dead.push_back(value);
  for (Value value : dead)
    bound.erase(value);
  dead.clear();
  for (auto &[value, taint] : taints)
    if (isInside(value.getParentRegion(), &region))
      dead.push_back(value);
  for (Value value : dead)
    taints.erase(value);
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

std::optional<bool> Importer::chooseBranch() {
  // After a failed node, no further information is available.
  if (!issues.empty()) {
    isPoisoned = true;
    return std::nullopt;
  }
  isRankOpen = duplicatesTails;
  isChoiceOpen = !choices;
  return choices ? std::make_optional(choices->next()) : std::nullopt;
}

std::optional<bool> Binder::chooseByRank(llvm::ArrayRef<Value> thenResults,
                                         llvm::ArrayRef<Value> elseResults) {
  bool fits[2] = {true, true};
  for (auto [i, lhs, rhs] : llvm::enumerate(thenResults, elseResults)) {
    auto left = llvm::dyn_cast<mlir::RankedTensorType>(lhs.getType());
    auto right = llvm::dyn_cast<mlir::RankedTensorType>(rhs.getType());
    if (!left || !right || left.getElementType() != right.getElementType())
      return std::nullopt;
    auto rank = getDeclaredRank(i);
    fits[0] &= !rank || left.getRank() == *rank;
    fits[1] &= !rank || right.getRank() == *rank;
  }
  return fits[0] != fits[1] ? std::make_optional(fits[0])
                            : importer.chooseBranch();
}

Binder::Values Binder::takeBranch(Value condition, bool takesThen,
                                  BuildBranch build) {
  llvm::StringRef message = "expected a condition for which the result has as "
                            "many dims as the model needs";
  auto view = condition.getDefiningOp<graph::ReshapeOp>();
  auto equal = (view ? view.getInput() : condition)
                   .template getDefiningOp<graph::EqualOp>();
  if (!takesThen)
    check(create<graph::NotOp>(condition), message);
  else if (equal)
    checkEqual(equal.getLhs(), equal.getRhs(), message);
  else
    check(condition, message);
  Values results;
  if (mlir::failed(build(results)) || !canCreate(results)) {
    failed = true;
    return {};
  }
  return results;
}

Binder::Values Binder::createIf(Value condition, BuildBranch thenBranch,
                                BuildBranch elseBranch) {
  if (!canCreate(condition))
    return {};
  unsigned firstInner = importer.symbols.count();
  std::unique_ptr<Region> regions[2];
  Values yielded[2];
  BuildBranch builds[] = {thenBranch, elseBranch};
  bool areBuilt = true;
  for (auto [i, build] : llvm::enumerate(builds)) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    regions[i] = std::make_unique<Region>();
    importer.createBlock(regions[i].get());
    LogicalResult built = build(yielded[i]);
    importer.forget(*regions[i]);
    // After an error in a branch, the other one is imported to find its errors.
    if (mlir::failed(built) || !canCreate(yielded[i]))
      areBuilt = false;
    else
      graph::YieldOp::create(builder, loc, yielded[i]);
    if (failed)
      return {};
  }
  if (!areBuilt) {
    failed = true;
    return {};
  }
  llvm::SmallVector<Type> types;
  llvm::SmallVector<int64_t> symbols;
  if (yielded[0].size() != yielded[1].size()) {
    (void)fail("expected as many outputs from both branches");
    return {};
  }
  for (auto [lhs, rhs] : llvm::zip_equal(yielded[0], yielded[1])) {
    types.push_back(join(lhs.getType(), rhs.getType(), firstInner, symbols));
    if (types.back())
      continue;
    if (auto takesThen = chooseByRank(yielded[0], yielded[1]))
      return takeBranch(condition, *takesThen,
                        *takesThen ? thenBranch : elseBranch);
    (void)unsupported("expected branches of one type and rank, but got " +
                      mlir::debugString(lhs.getType()) + " and " +
                      mlir::debugString(rhs.getType()) +
                      ", and no shape of the result; fix the sizes that the "
                      "condition depends on by --shape or --dim, or export the "
                      "model with the shape of the result in value_info");
    return {};
  }
  auto op = graph::IfOp::create(builder, loc, types, condition, symbols);
  op.getThenRegion().takeBody(*regions[0]);
  op.getElseRegion().takeBody(*regions[1]);
  return Values(op.getResults());
}

Binder::Values
Binder::choose(Value key, llvm::ArrayRef<int64_t> keys,
               llvm::function_ref<LogicalResult(size_t, Values &)> build) {
  auto chooseFrom = [&](auto &self, size_t i, Values &results) {
    if (i + 1 == keys.size())
      return build(i, results);
    Sizes sizes(*this);
    results = createIf(
        sizes.equal(key, sizes.number(keys[i])),
        [&](Values &values) { return build(i, values); },
        [&](Values &values) { return self(self, i + 1, values); });
    return mlir::failure(failed);
  };
  Values results;
  (void)chooseFrom(chooseFrom, 0, results);
  return results;
}

//===----------------------------------------------------------------------===//
// loop
//===----------------------------------------------------------------------===//

struct Binder::LoopAttempt {
  /// The types of the carried values, with a symbol for each dim that changes.
  llvm::SmallVector<Type> types;
  llvm::SmallVector<int64_t> symbols;
  /// The region of the last attempt.
  std::unique_ptr<Region> region;
  unsigned firstInner = 0;
  LoopBody body;
};

LogicalResult Binder::buildBody(LoopAttempt &attempt, BuildBody build) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  attempt.firstInner = importer.symbols.count();
  attempt.region = std::make_unique<Region>();
  attempt.body = {};
  mlir::Block *block = importer.createBlock(attempt.region.get());
  auto number = mlir::RankedTensorType::get({}, builder.getI64Type());
  block->addArgument(number, loc);
  for (Type type : attempt.types)
    block->addArgument(type, loc);
  LogicalResult built = build(block->getArgument(0),
                              block->getArguments().drop_front(), attempt.body);
  importer.forget(*attempt.region);
  if (mlir::succeeded(built) && canCreate(attempt.body.carried) &&
      canCreate(attempt.body.slices))
    return mlir::success();
  failed = true;
  return mlir::failure();
}

/// Replaces dims that an iteration changes by symbols. Returns false if there
/// were none.
bool Binder::generalize(LoopAttempt &attempt, llvm::ArrayRef<Type> types,
                        llvm::SmallVector<Type> &next) {
  bool changed = false;
  for (auto [k, type] : llvm::enumerate(types)) {
    Type yielded = attempt.body.carried[k].getType();
    auto from = llvm::dyn_cast<mlir::RankedTensorType>(type);
    auto to = llvm::dyn_cast<mlir::RankedTensorType>(yielded);
    if (from && to && graph::isHandle(from) && graph::isHandle(to)) {
      // Each attempt has a more general element type.
      Type both = graph::joinElements(from, to);
      if (!both) {
        (void)unsupported(
            "expected a carried value to keep its kind, but got " +
            mlir::debugString(type) + " and " + mlir::debugString(yielded));
        return false;
      }
      changed |= both != type;
      next.push_back(both);
      continue;
    }
    if (!from || !to ? type != yielded
                     : from.getElementType() != to.getElementType() ||
                           from.getRank() != to.getRank()) {
      (void)unsupported("expected a carried value to keep its type and rank, "
                        "but got " +
                        mlir::debugString(type) + " and " +
                        mlir::debugString(yielded));
      return false;
    }
    if (!from) {
      next.push_back(type);
      continue;
    }
    Dims dims = graph::getDims(from);
    for (auto [dim, other] : llvm::zip_equal(dims, graph::getDims(to))) {
      auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(dim);
      bool isBound =
          symbol && llvm::is_contained(attempt.symbols, symbol.getPosition());
      if (isBound ||
          (graph::areEqual(dim, other) && isVisible(dim, attempt.firstInner)))
        continue;
      dim = makeFreshSymbol();
      attempt.symbols.push_back(
          llvm::cast<mlir::AffineSymbolExpr>(dim).getPosition());
      changed = true;
    }
    next.push_back(graph::makeType(from.getElementType(), dims));
  }
  return changed;
}

/// Packed elements are collected as whole bytes, as a slice may end within one.
/// Returns the types to narrow to, or null.
llvm::SmallVector<Type> Binder::widenSlices(LoopAttempt &attempt) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&attempt.region->front());
  llvm::SmallVector<Type> narrow;
  for (Value &slice : attempt.body.slices) {
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(slice.getType());
    bool isPacked = type && !graph::isHandle(type) &&
                    graph::isPacked(type.getElementType());
    narrow.push_back(isPacked ? type.getElementType() : Type());
    if (isPacked)
      slice = cast(slice, getWideType(type.getElementType()));
  }
  return narrow;
}

Binder::Values Binder::finishLoop(LoopAttempt &attempt, Value tripCount,
                                  Value condition, mlir::ValueRange inits) {
  LoopBody &body = attempt.body;
  llvm::SmallVector<Type> narrow = widenSlices(attempt);
  Values yielded;
  if (body.condition && !condition)
    condition = constant(mlir::DenseElementsAttr::get(
        mlir::RankedTensorType::get({}, builder.getI1Type()), true));
  if (condition) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&attempt.region->front());
    if (!body.condition)
      body.condition = constant(mlir::DenseElementsAttr::get(
          mlir::RankedTensorType::get({}, builder.getI1Type()), true));
    yielded.push_back(body.condition);
  }
  llvm::append_range(yielded, body.carried);
  llvm::append_range(yielded, body.slices);
  // The number of slices, if it is known.
  AffineExpr total;
  if (auto limit = tripCount ? graph::getElements(tripCount) : std::nullopt;
      limit && !condition && graph::isNonNegative(limit->front()))
    total = limit->front();
  auto makeSymbol = [&] {
    AffineExpr symbol = makeFreshSymbol();
    attempt.symbols.push_back(
        llvm::cast<mlir::AffineSymbolExpr>(symbol).getPosition());
    return symbol;
  };
  mlir::IntegerAttr count;
  if (!body.slices.empty()) {
    (void)makeSymbol();
    count = builder.getI64IntegerAttr(attempt.symbols.back());
    if (!total)
      total = makeSymbol();
  }
  llvm::SmallVector<Type> types = attempt.types;
  // After the loop, these have the sizes of the last carried values.
  llvm::SmallVector<int64_t> carried(attempt.symbols);
  for (Value slice : body.slices) {
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(slice.getType());
    if (!type || graph::isHandle(type)) {
      (void)unsupported("expected tensors to collect, but got " +
                        mlir::debugString(slice.getType()));
      return {};
    }
    Type rest = join(type, type, attempt.firstInner, attempt.symbols);
    Dims dims = graph::getDims(rest);
    for (AffineExpr &dim : dims)
      if (llvm::any_of(carried, [&](int64_t symbol) {
            return dim.isFunctionOfSymbol(symbol);
          }))
        dim = makeSymbol();
    dims.insert(dims.begin(), total);
    types.push_back(graph::makeType(type.getElementType(), dims));
  }
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&attempt.region->front());
    graph::YieldOp::create(builder, loc, yielded);
  }
  auto op = graph::LoopOp::create(builder, loc, types, tripCount, condition,
                                  inits, attempt.symbols, count);
  op.getBody().takeBody(*attempt.region);
  Values results(op.getResults());
  for (auto [result, type] : llvm::zip_equal(
           llvm::MutableArrayRef(results).take_back(narrow.size()), narrow))
    if (type)
      result = cast(result, type);
  return results;
}

Binder::Values Binder::createLoop(Value tripCount, Value condition,
                                  mlir::ValueRange inits, BuildBody build) {
  LoopAttempt attempt;
  llvm::append_range(attempt.types, inits.getTypes());
  // Each attempt but the last makes one more dim a symbol.
  for (;;) {
    if (failed || mlir::failed(buildBody(attempt, build)))
      return {};
    if (attempt.body.carried.size() != inits.size()) {
      (void)fail("expected as many values from the body as it carries");
      return {};
    }
    llvm::SmallVector<Type> next;
    if (!generalize(attempt, attempt.types, next))
      break;
    attempt.types = next;
  }
  return failed ? Values() : finishLoop(attempt, tripCount, condition, inits);
}
