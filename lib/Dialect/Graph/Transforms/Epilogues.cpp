// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Epilogues of parallel branches: ops that only some branches have are applied
// to all, with the neutral element for the others.
#include "Epilogues.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace adze::graph;

/// Returns true if the operands of an elementwise op other than `operand` are
/// constants with one element for each column, or one for all.
static bool hasColumnConstants(Operation *op, unsigned operand, int64_t axis) {
  int64_t rank = getRank(op->getResult(0));
  for (OpOperand &other : op->getOpOperands()) {
    if (other.getOperandNumber() == operand)
      continue;
    Dims dims = getDims(other.get());
    if (!matchPattern(other.get(), m_Constant()))
      return false;
    for (size_t i = 0; i < dims.size(); ++i)
      if (rank - int64_t(dims.size()) + int64_t(i) != axis &&
          getConstant(dims[i]) != 1)
        return false;
  }
  return true;
}

bool adze::graph::doesTheSame(Operation *first, Operation *op, int64_t axis) {
  if (first->getName() != op->getName() ||
      first->getAttrDictionary() != op->getAttrDictionary() ||
      first->getNumOperands() != op->getNumOperands())
    return false;
  Dims one = getDims(first->getResult(0)), other = getDims(op->getResult(0));
  if (one.size() != other.size() ||
      getElement(first->getResult(0)) != getElement(op->getResult(0)))
    return false;
  for (size_t i = 0; i < one.size(); ++i)
    if (int64_t(i) != axis && !areEqual(one[i], other[i]))
      return false;
  return true;
}

Epilogue adze::graph::getEpilogue(Value value, int64_t axis) {
  Epilogue ops;
  for (Value end = value; end.hasOneUse();) {
    OpOperand &use = *end.use_begin();
    Operation *user = use.getOwner();
    if (!isa<ElementwiseOpInterface>(user) ||
        user->getBlock() != value.getParentBlock() ||
        !hasColumnConstants(user, use.getOperandNumber(), axis) ||
        !areEqual(getDims(end), getDims(user->getResult(0))))
      break;
    ops.push_back(user);
    end = user->getResult(0);
  }
  return ops;
}

//===----------------------------------------------------------------------===//
// Ops with a number that changes nothing
//===----------------------------------------------------------------------===//

/// Returns the index of the operand that is not constant: the value of the
/// branch.
static unsigned getChainOperand(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (!matchPattern(operand.get(), m_Constant()))
      return operand.getOperandNumber();
  return 0;
}

/// Returns the name of the op, with one number for each column or none, of
/// which the op is the neutral or a special case; operand 0 is the value of the
/// branch.
static std::optional<OperationName> getKind(Operation *op) {
  MLIRContext *context = op->getContext();
  if (isa<ReluOp>(op))
    return OperationName(MaximumOp::getOperationName(), context);
  if (isa<LeakyReluOp>(op))
    return OperationName(PreluOp::getOperationName(), context);
  if (isa<AddOp, MulOp, MinimumOp, MaximumOp>(op) || // in either order
      (isa<SubOp, DivOp, PreluOp>(op) && getChainOperand(op) == 0))
    return op->getName();
  return std::nullopt;
}

static TypedAttr makeNumber(Type element, double number) {
  if (isa<FloatType>(element))
    return FloatAttr::get(element, number);
  return IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(),
                                         int64_t(number), /*isSigned=*/true,
                                         /*implicitTrunc=*/true));
}

/// Returns n with x op n == x, also for zeros of either sign and NaN.
static TypedAttr getNumberOfNoEffect(StringRef name, Type element) {
  bool isFloat = isa<FloatType>(element);
  if (name == AddOp::getOperationName())
    return makeNumber(element, -0.0);
  if (name == SubOp::getOperationName())
    return makeNumber(element, 0.0);
  if (name != MaximumOp::getOperationName() &&
      name != MinimumOp::getOperationName())
    return makeNumber(element, 1.0);
  bool isLeast = name == MaximumOp::getOperationName();
  if (isFloat)
    return makeNumber(element, isLeast ? -INFINITY : INFINITY);
  unsigned bits = element.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger();
  APInt bound = isUnsigned ? (isLeast ? APInt::getMinValue(bits)
                                      : APInt::getMaxValue(bits))
                           : (isLeast ? APInt::getSignedMinValue(bits)
                                      : APInt::getSignedMaxValue(bits));
  return IntegerAttr::get(element, bound);
}

Value adze::graph::getStepNumber(OpBuilder &b, const EpilogueStep &step,
                                 unsigned i, unsigned operand) {
  Operation *op = step.ops[i];
  if (op && op->getName() == *step.name) {
    Value number = op->getOperand(operand);
    bool isSwapped = !matchPattern(number, m_Constant());
    return isSwapped ? op->getOperand(1 - operand) : number;
  }
  TypedAttr number =
      getNumberOfNoEffect(step.name->getStringRef(), step.element);
  if (auto leaky = dyn_cast_or_null<LeakyReluOp>(op))
    number = makeNumber(step.element, leaky.getAlpha().convertToDouble());
  else if (op) // a relu
    number = makeNumber(step.element, 0.0);
  auto type = RankedTensorType::get({}, step.element);
  return ConstantOp::create(b, op ? op->getLoc() : b.getUnknownLoc(),
                            DenseElementsAttr::get(type, number));
}

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

namespace {
/// The chains, and the position in each.
class Aligner {
public:
  Aligner(ArrayRef<Epilogue> chains, int64_t axis)
      : chains(chains), axis(axis), at(chains.size(), 0) {}

  std::optional<SmallVector<EpilogueStep>> run();

private:
  Operation *front(unsigned i) const {
    return at[i] < chains[i].size() ? chains[i][at[i]] : nullptr;
  }
  std::optional<OperationName> kindOf(unsigned i, unsigned place) const {
    return getKind(chains[i][place]);
  }
  bool haveOneFront() const;
  std::optional<OperationName> chooseKind() const;
  bool comesLater(OperationName kind) const;

  ArrayRef<Epilogue> chains;
  int64_t axis;
  SmallVector<unsigned> at;
};
} // namespace

/// Returns true if the next op of all branches is the same.
bool Aligner::haveOneFront() const {
  Operation *first = front(0);
  for (unsigned i = 0; i < chains.size(); ++i)
    if (!front(i) || !doesTheSame(first, front(i), axis) ||
        getChainOperand(front(i)) != getChainOperand(first))
      return false;
  return true;
}

/// Returns true if a branch with another next op has this one later.
bool Aligner::comesLater(OperationName kind) const {
  for (unsigned i = 0; i < chains.size(); ++i) {
    if (front(i) && kindOf(i, at[i]) == kind)
      continue;
    for (unsigned place = at[i]; place < chains[i].size(); ++place)
      if (kindOf(i, place) == kind)
        return true;
  }
  return false;
}

/// Chooses an op that some branches have next and that has a neutral element
/// for the others, preferably one that no other branch has later.
std::optional<OperationName> Aligner::chooseKind() const {
  std::optional<OperationName> choice;
  for (unsigned i = 0; i < chains.size(); ++i) {
    std::optional<OperationName> kind;
    if (front(i))
      kind = kindOf(i, at[i]);
    if (!kind)
      continue;
    if (!comesLater(*kind))
      return kind;
    choice = choice ? choice : kind;
  }
  return choice;
}

std::optional<SmallVector<EpilogueStep>> Aligner::run() {
  SmallVector<EpilogueStep> steps;
  auto isDone = [&](unsigned i) { return !front(i); };
  while (!llvm::all_of(llvm::seq<unsigned>(0, chains.size()), isDone)) {
    EpilogueStep step;
    if (haveOneFront()) {
      Operation *op = front(0);
      step.name = op->getName();
      step.attributes = op->getAttrDictionary();
      step.operand = getChainOperand(op);
    } else if (std::optional<OperationName> kind = chooseKind()) {
      step.name = *kind;
    } else {
      return std::nullopt;
    }
    bool isRaw = bool(step.attributes);
    for (unsigned i = 0; i < chains.size(); ++i) {
      bool joins = front(i) && (isRaw || kindOf(i, at[i]) == *step.name);
      step.ops.push_back(joins ? chains[i][at[i]++] : nullptr);
      if (joins)
        step.element = getElement(step.ops.back()->getResult(0));
    }
    steps.push_back(step);
  }
  return steps;
}

std::optional<SmallVector<EpilogueStep>>
adze::graph::alignEpilogues(ArrayRef<Epilogue> branches, int64_t axis) {
  return Aligner(branches, axis).run();
}
