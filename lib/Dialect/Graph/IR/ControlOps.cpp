// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Verifiers of ops whose effects depend on data: bound sizes, checks, branches,
// loops.
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Graph/IR/IntegerBounds.h"
#include "Infer.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace adze::graph;

LogicalResult BindOp::verify() {
  Dims dims = getDims(getInput());
  std::optional<int64_t> size =
      dims.size() == 1 ? getConstant(dims[0]) : std::nullopt;
  if (size && *size == int64_t(getSymbols().size()))
    return success();
  return emitOpError("expected a 1-D tensor of ")
         << getSymbols().size() << " elements, but got "
         << getInput().getType();
}

void AssignOp::build(OpBuilder &builder, OperationState &state, int64_t symbol,
                     AffineExpr value) {
  auto map =
      AffineMap::get(0, countSymbols(value), value, builder.getContext());
  build(builder, state, builder.getDenseI64ArrayAttr(symbol),
        AffineMapAttr::get(map));
}

LogicalResult AssignOp::verify() {
  AffineMap map = getValues();
  if (map.getNumDims() == 0 && map.getNumResults() == getSymbols().size())
    return success();
  return emitOpError("expected an expression of symbols for each of ")
         << getSymbols().size() << " symbols, but got " << getValuesAttr();
}

void AssumeOp::forEachSize(llvm::function_ref<void(AffineExpr)> visit) {
  for (ArrayAttr maps :
       {getBroadcastsAttr(), getEqualitiesAttr(), getBoundsAttr()})
    if (maps)
      for (auto map : maps.getAsRange<AffineMapAttr>())
        llvm::for_each(map.getValue().getResults(), visit);
}

LogicalResult AssumeOp::verify() {
  for (ArrayAttr maps :
       {getBroadcastsAttr(), getEqualitiesAttr(), getBoundsAttr()})
    if (maps)
      for (auto map : maps.getAsRange<AffineMapAttr>())
        if (map.getValue().getNumDims() > 0)
          return emitOpError("expected sizes in terms of symbols, but got ")
                 << map;
  return success();
}

/// Removes relations that hold for all values of the symbols.
LogicalResult AssumeOp::canonicalize(AssumeOp op, PatternRewriter &rewriter) {
  bool changed = false, isEmpty = true;
  auto undecided = [&](ArrayAttr maps, StringRef name) -> ArrayAttr {
    SmallVector<Attribute> left;
    if (maps)
      llvm::copy_if(maps, std::back_inserter(left), [&](Attribute map) {
        return !isDecided(cast<AffineMapAttr>(map).getValue().getResults(),
                          name);
      });
    isEmpty &= left.empty();
    changed |= maps && left.size() < maps.size();
    return left.empty() ? ArrayAttr() : rewriter.getArrayAttr(left);
  };
  ArrayAttr broadcasts = undecided(op.getBroadcastsAttr(), broadcastsAttr),
            equalities = undecided(op.getEqualitiesAttr(), equalitiesAttr),
            bounds = undecided(op.getBoundsAttr(), boundsAttr);
  if (isEmpty) {
    rewriter.eraseOp(op);
    return success();
  }
  if (!changed)
    return rewriter.notifyMatchFailure(op, "the run decides");
  rewriter.modifyOpInPlace(op, [&] {
    op.setBroadcastsAttr(broadcasts);
    op.setEqualitiesAttr(equalities);
    op.setBoundsAttr(bounds);
  });
  return success();
}

/// Returns true for tensors of one element, of any rank.
static bool isScalar(Value value) {
  return getConstant(product(value.getContext(), getDims(value))) == 1;
}

LogicalResult CheckOp::verify() {
  if (isScalar(getCondition()))
    return success();
  return emitOpError("expected one element, but got ")
         << getCondition().getType();
}

LogicalResult CheckRangeOp::verify() {
  if (!isScalar(getLeast()) || !isScalar(getGreatest()))
    return emitOpError("expected one element, but got ")
           << getLeast().getType();
  if (getRange().getNumDims() == 0 && getRange().getNumResults() == 2)
    return success();
  return emitOpError("expected a map from symbols to two bounds, but got ")
         << getRangeAttr();
}

/// Returns true if an earlier check in the block fails if this one does.
static bool isChecked(CheckRangeOp op) {
  return llvm::any_of(op.getLeast().getUsers(), [&](Operation *user) {
    auto other = dyn_cast<CheckRangeOp>(user);
    return other && other != op && other->getBlock() == op->getBlock() &&
           other.getLeast() == op.getLeast() &&
           other.getGreatest() == op.getGreatest() &&
           other.getRange() == op.getRange() && other->isBeforeInBlock(op);
  });
}

/// Erases checks of values that are known to be in range, or that an earlier op
/// checks.
LogicalResult CheckRangeOp::canonicalize(CheckRangeOp op,
                                         PatternRewriter &rewriter) {
  if (isChecked(op)) {
    rewriter.eraseOp(op);
    return success();
  }
  SmallVector<IntegerBounds> least = getIntegerBounds(op.getLeast()),
                             greatest = getIntegerBounds(op.getGreatest());
  AffineExpr low = op.getRange().getResult(0),
             last = subExprs(op.getRange().getResult(1),
                             rewriter.getAffineConstantExpr(1));
  auto isAtMost = [](AffineExpr lhs, AffineExpr rhs) {
    AffineExpr space = lhs && rhs ? subExprs(rhs, lhs) : AffineExpr();
    return space && isNonNegative(space);
  };
  auto isLow = [&](const IntegerBounds &part) {
    return isAtMost(low, part.least);
  };
  auto isHigh = [&](const IntegerBounds &part) {
    return isAtMost(part.greatest, last);
  };
  if (least.empty() || greatest.empty() || !llvm::all_of(least, isLow) ||
      !llvm::all_of(greatest, isHigh))
    return rewriter.notifyMatchFailure(op, "values may be out of range");
  rewriter.eraseOp(op);
  return success();
}

LogicalResult CallOp::verify() {
  llvm::SmallDenseSet<int64_t> given;
  for (Type type : getResultTypes())
    for (AffineExpr dim : getDims(type))
      if (auto symbol = dyn_cast_if_present<AffineSymbolExpr>(dim))
        given.insert(symbol.getPosition());
  for (int64_t symbol : getSymbols())
    if (!given.contains(symbol))
      return emitOpError("expected symbol ")
             << symbol << " to be a dim of a result";
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(getInputs().getTypes()),
                                SmallVector<Type>(getResultTypes())))
    if (llvm::is_contained(getDims(type), AffineExpr()))
      return emitOpError("expected known dims, but got ") << type;
  return success();
}

/// Returns true if values of type `given` may be used as values of type
/// `wanted`: dims that are symbols bound by the op accept any size, and an
/// optional accepts the type of its value.
static bool fits(Type given, Type wanted, ArrayRef<int64_t> bound) {
  auto to = dyn_cast<RankedTensorType>(wanted);
  if (given == wanted || !to)
    return given == wanted;
  if (isHandle(to)) {
    auto from = dyn_cast<RankedTensorType>(given);
    return from && isHandle(from) && joinElements(from, to) == to;
  }
  Dims dims = getDims(to);
  for (AffineExpr &dim : dims) {
    auto symbol = dyn_cast_if_present<AffineSymbolExpr>(dim);
    if (symbol && llvm::is_contained(bound, symbol.getPosition()))
      dim = AffineExpr();
  }
  return areCompatible(TypeRange(given),
                       TypeRange(Type(makeType(to.getElementType(), dims))));
}

static LogicalResult verifyValues(Operation *op, StringRef what,
                                  TypeRange given, TypeRange wanted,
                                  ArrayRef<int64_t> bound) {
  if (given.size() != wanted.size())
    return op->emitOpError("expected ") << wanted.size() << " values from "
                                        << what << ", but got " << given.size();
  for (auto [from, to] : llvm::zip_equal(given, wanted))
    if (!fits(from, to, bound))
      return op->emitOpError("expected ")
             << to << " from " << what << ", but got " << from;
  return success();
}

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

/// Types elsewhere may use the symbols, even if no result is used.
void IfOp::getEffects(Effects &effects) {
  if (!getSymbols().empty())
    effects.emplace_back(MemoryEffects::Write::get());
}

void LoopOp::getEffects(Effects &effects) {
  if (!getSymbols().empty())
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult IfOp::verify() {
  if (!isScalar(getCondition()))
    return emitOpError("expected a condition of one element, but got ")
           << getCondition().getType();
  for (Region *region : {&getThenRegion(), &getElseRegion()}) {
    if (region->getNumArguments())
      return emitOpError("expected branches without arguments");
    if (failed(verifyValues(*this, "a branch",
                            region->front().getTerminator()->getOperandTypes(),
                            getResultTypes(), getSymbols())))
      return failure();
  }
  return success();
}

YieldOp LoopOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

ArrayRef<BlockArgument> LoopOp::getCarriedArguments() {
  return getBody().getArguments().drop_front();
}

ValueRange LoopOp::getYieldedCarried() {
  return ValueRange(getYield().getOperands())
      .slice(getCondition() ? 1 : 0, getInits().size());
}

ValueRange LoopOp::getYieldedSlices() {
  return ValueRange(getYield().getOperands())
      .drop_front((getCondition() ? 1 : 0) + getInits().size());
}

LogicalResult LoopOp::verify() {
  size_t carried = getInits().size(), conditions = getCondition() ? 1 : 0;
  if (getBody().getNumArguments() != carried + 1 || getNumResults() < carried ||
      getYield().getNumOperands() != conditions + getNumResults())
    return emitOpError("expected a region of ")
           << carried + 1 << " arguments that yields "
           << conditions + getNumResults() << " values, but got "
           << getBody().getNumArguments() << " and "
           << getYield().getNumOperands();
  for (Value scalar : {Value(getTripCount()), Value(getCondition())})
    if (scalar && !isScalar(scalar))
      return emitOpError("expected a trip count and a condition of one "
                         "element, but got ")
             << scalar.getType();
  if (conditions && !isScalar(getYield().getOperand(0)))
    return emitOpError("expected a condition of one element from the region");
  auto arguments = TypeRange(getBody().getArgumentTypes()).drop_front();
  if (failed(verifyValues(*this, "outside", getInits().getTypes(), arguments,
                          getSymbols())) ||
      failed(verifyValues(*this, "the region's arguments", arguments,
                          TypeRange(getResultTypes()).take_front(carried),
                          getSymbols())) ||
      failed(verifyValues(*this, "an iteration", getYieldedCarried().getTypes(),
                          arguments, getSymbols())))
    return failure();
  if (getNumResults() > carried && !getCount())
    return emitOpError("expected a symbol that counts the iterations");
  llvm::SmallDenseSet<unsigned> ofCarried;
  for (BlockArgument argument : getCarriedArguments())
    forEachSymbol(argument.getType(),
                  [&](unsigned symbol) { ofCarried.insert(symbol); });
  for (Type type : TypeRange(getResultTypes()).drop_front(carried))
    for (AffineExpr dim : getDims(type))
      for (int64_t symbol : getSymbols())
        if (dim && ofCarried.contains(symbol) && dim.isFunctionOfSymbol(symbol))
          return emitOpError("expected sizes of slices that do not depend on "
                             "carried values, but got ")
                 << type;
  SmallVector<Type> collected;
  for (Value slice : getYieldedSlices()) {
    auto type = dyn_cast<RankedTensorType>(slice.getType());
    if (!type)
      return emitOpError("expected tensors to collect, but got ")
             << slice.getType();
    Dims dims = getDims(type);
    dims.insert(dims.begin(), AffineExpr());
    collected.push_back(makeType(type.getElementType(), dims));
  }
  return verifyValues(*this, "the slices", collected,
                      TypeRange(getResultTypes()).drop_front(carried),
                      getSymbols());
}
