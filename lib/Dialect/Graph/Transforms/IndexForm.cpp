// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Linear forms of integer tensors, from ranges and sizes through arithmetic and
// data movement.
#include "IndexForm.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace adze::graph;

using MaybeForm = std::optional<IndexForm>;

bool IndexForm::isNonNegative() const {
  return llvm::all_of(slopes, [](int64_t slope) { return slope >= 0; }) &&
         adze::graph::isNonNegative(offset);
}

namespace {

class Forms {
public:
  MaybeForm get(Value value);
  MaybeForm getCondition(Value condition, bool truth);

private:
  MaybeForm look(Operation *op);
  MaybeForm getRange(RangeOp op);
  MaybeForm getConstant(ConstantOp op);
  MaybeForm getReshape(ReshapeOp op);
  MaybeForm getTranspose(TransposeOp op);
  MaybeForm getSlice(SliceOp op);
  MaybeForm getProduct(MulOp op);
  MaybeForm getSelect(SelectOp op);
  /// Returns the form of an operand in the shape of the result that it is
  /// broadcast to.
  MaybeForm getSpread(Value operand, Value result);
  MaybeForm combine(Value lhs, Value rhs, Value result, int64_t sign);

  unsigned steps = 0; // expressions in models are short
};

} // namespace

static std::optional<AffineExpr> getSingle(Value value) {
  auto elements = getElements(value);
  if (!elements || elements->size() != 1)
    return std::nullopt;
  return elements->front();
}

static bool isInteger(Value value) {
  auto type = dyn_cast<IntegerType>(getElement(value));
  return type && type.getWidth() >= 32 && !type.isUnsigned();
}

MaybeForm Forms::get(Value value) {
  constexpr unsigned most = 64;
  Operation *op = value.getDefiningOp();
  if (!op || !isInteger(value) || ++steps > most)
    return std::nullopt;
  MaybeForm form;
  if (auto single = getSingle(value))
    form = IndexForm{SmallVector<int64_t, 4>(getRank(value), 0), *single};
  else
    form = look(op);
  if (!form)
    return form;
  for (auto [slope, dim] : llvm::zip_equal(form->slopes, getDims(value)))
    if (adze::graph::getConstant(dim) == 1)
      slope = 0;
  return form;
}

MaybeForm Forms::look(Operation *op) {
  using Result = MaybeForm;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](ConstantOp op) { return getConstant(op); })
      .Case([&](RangeOp op) { return getRange(op); })
      .Case([&](ReshapeOp op) { return getReshape(op); })
      .Case([&](TransposeOp op) { return getTranspose(op); })
      .Case([&](SliceOp op) { return getSlice(op); })
      .Case([&](BroadcastToOp op) {
        return getSpread(op.getInput(), op.getResult());
      })
      .Case([&](CastOp op) -> Result {
        return isInteger(op.getInput()) ? get(op.getInput()) : std::nullopt;
      })
      .Case([&](AddOp op) {
        return combine(op.getLhs(), op.getRhs(), op.getResult(), 1);
      })
      .Case([&](SubOp op) {
        return combine(op.getLhs(), op.getRhs(), op.getResult(), -1);
      })
      .Case([&](MulOp op) { return getProduct(op); })
      .Case([&](SelectOp op) { return getSelect(op); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

MaybeForm Forms::getRange(RangeOp op) {
  auto start = getSingle(op.getStart()), delta = getSingle(op.getDelta());
  std::optional<int64_t> step =
      delta ? adze::graph::getConstant(*delta) : std::nullopt;
  if (!start || !step)
    return std::nullopt;
  return IndexForm{{*step}, *start};
}

/// Matches 0, 1, .. or one number, along the only dim that is larger than 1.
MaybeForm Forms::getConstant(ConstantOp op) {
  constexpr int64_t most = 1 << 16;
  auto type = cast<RankedTensorType>(op.getType());
  auto dense = dyn_cast<DenseIntElementsAttr>(op.getValue());
  int64_t count = type.getNumElements();
  if (!dense || count < 1 || count > most)
    return std::nullopt;
  auto numbers = llvm::map_to_vector(dense.getValues<APInt>(),
                                     [](APInt x) { return x.getSExtValue(); });
  int64_t step = count > 1 ? numbers[1] - numbers[0] : 0;
  IndexForm form{SmallVector<int64_t, 4>(type.getRank(), 0),
                 getAffineConstantExpr(numbers[0], op.getContext())};
  for (auto [slope, size] : llvm::zip_equal(form.slopes, type.getShape())) {
    if (step != 0 && size != 1 && size != count)
      return std::nullopt;
    slope = size == 1 ? 0 : step;
  }
  for (int64_t i = 1; i < count; ++i)
    if (numbers[i] - numbers[i - 1] != step)
      return std::nullopt;
  return form;
}

/// Dims of size 1 are added and dropped.
MaybeForm Forms::getReshape(ReshapeOp op) {
  MaybeForm from = get(op.getInput());
  if (!from || op.getShape())
    return std::nullopt;
  Dims before = getDims(op.getInput()), after = getDims(op.getResult());
  IndexForm form{SmallVector<int64_t, 4>(after.size(), 0), from->offset};
  size_t dim = 0;
  auto skipOnes = [&] {
    while (dim < before.size() && adze::graph::getConstant(before[dim]) == 1)
      ++dim;
  };
  for (auto [slope, size] : llvm::zip_equal(form.slopes, after)) {
    if (adze::graph::getConstant(size) == 1)
      continue;
    skipOnes();
    if (dim == before.size() || !areEqual(before[dim], size))
      return std::nullopt;
    slope = from->slopes[dim++];
  }
  skipOnes();
  return dim == before.size() ? MaybeForm(form) : std::nullopt;
}

MaybeForm Forms::getTranspose(TransposeOp op) {
  MaybeForm from = get(op.getInput());
  if (!from)
    return from;
  IndexForm form{{}, from->offset};
  for (int64_t dim : op.getPerm())
    form.slopes.push_back(from->slopes[dim]);
  return form;
}

MaybeForm Forms::getSlice(SliceOp op) {
  MaybeForm form = get(op.getInput());
  if (!form || op.getBegin())
    return std::nullopt;
  for (auto [slope, start, step] :
       llvm::zip_equal(form->slopes, op.getStartExprs(), op.getSteps())) {
    AffineExpr factor = getAffineConstantExpr(slope, op.getContext());
    form->offset = addExprs(form->offset, mulExprs(start, factor));
    slope *= step;
  }
  return form->offset ? form : std::nullopt;
}

MaybeForm Forms::getSpread(Value operand, Value result) {
  MaybeForm form = get(operand);
  if (!form)
    return form;
  Dims from = getDims(operand), to = getDims(result);
  size_t missing = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (adze::graph::getConstant(from[i]) != 1 &&
        !areEqual(from[i], to[missing + i]))
      return std::nullopt;
  form->slopes.insert(form->slopes.begin(), missing, 0);
  return form;
}

/// Returns lhs + sign * rhs.
MaybeForm Forms::combine(Value lhs, Value rhs, Value result, int64_t sign) {
  MaybeForm left = getSpread(lhs, result), right = getSpread(rhs, result);
  if (!left || !right)
    return std::nullopt;
  for (auto [l, r] : llvm::zip_equal(left->slopes, right->slopes))
    l += sign * r;
  left->offset = sign > 0 ? addExprs(left->offset, right->offset)
                          : subExprs(left->offset, right->offset);
  return left->offset ? left : std::nullopt;
}

MaybeForm Forms::getProduct(MulOp op) {
  for (unsigned i : {0u, 1u}) {
    MaybeForm form = getSpread(op->getOperand(i), op.getResult()),
              factor = getSpread(op->getOperand(1 - i), op.getResult());
    if (!form || !factor)
      return std::nullopt;
    auto number = adze::graph::getConstant(factor->offset);
    if (!number ||
        !llvm::all_of(factor->slopes, [](int64_t s) { return s == 0; }))
      continue;
    for (int64_t &slope : form->slopes)
      slope *= *number;
    form->offset = mulExprs(form->offset, factor->offset);
    return form->offset ? form : std::nullopt;
  }
  return std::nullopt;
}

/// Folds the selection of negative indices, which count from the end, if the
/// condition is decided because there are none.
MaybeForm Forms::getSelect(SelectOp op) {
  for (bool truth : {true, false}) {
    MaybeForm never = getCondition(op.getCondition(), truth);
    if (!never)
      return std::nullopt;
    // It is > 0 everywhere.
    never->offset =
        subExprs(never->offset, getAffineConstantExpr(1, op.getContext()));
    if (never->offset && never->isNonNegative())
      return getSpread(truth ? op.getRhs() : op.getLhs(), op.getResult());
  }
  return std::nullopt;
}

MaybeForm Forms::getCondition(Value condition, bool truth) {
  Operation *op = condition.getDefiningOp();
  if (auto negation = dyn_cast_or_null<NotOp>(op))
    return getCondition(negation.getInput(), !truth);
  if (auto spread = dyn_cast_or_null<BroadcastToOp>(op)) {
    MaybeForm form = getCondition(spread.getInput(), truth);
    if (!form || getRank(spread.getInput()) != getRank(condition) ||
        !areEqual(getDims(spread.getInput()), getDims(condition)))
      return std::nullopt;
    return form;
  }
  if (!isa_and_nonnull<LessOp, LessEqualOp, GreaterOp, GreaterEqualOp>(op))
    return std::nullopt;
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  bool isStrict = isa<LessOp, GreaterOp>(op);
  // The condition is written as lhs <= rhs or lhs < rhs; not (a < b) is b <= a.
  if (isa<GreaterOp, GreaterEqualOp>(op))
    std::swap(lhs, rhs);
  if (!truth) {
    std::swap(lhs, rhs);
    isStrict = !isStrict;
  }
  MaybeForm form = combine(lhs, rhs, condition, -1);
  if (form && isStrict)
    form->offset = addExprs(form->offset,
                            getAffineConstantExpr(1, condition.getContext()));
  return form && form->offset ? form : std::nullopt;
}

MaybeForm adze::graph::getIndexForm(Value value) { return Forms().get(value); }

MaybeForm adze::graph::getConditionForm(Value condition, bool truth) {
  return Forms().getCondition(condition, truth);
}
