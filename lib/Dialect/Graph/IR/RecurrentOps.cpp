// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Verification, cost and activations of recurrent layers.
#include "Infer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze::graph;
using namespace adze::graph::op_detail;

/// Returns true unless dims are known to differ.
static bool fits(Value value, ArrayRef<AffineExpr> dims) {
  if (!value)
    return true;
  Dims got = getDims(value);
  return got.size() == dims.size() &&
         llvm::none_of(llvm::zip(got, dims), [](auto pair) {
           return areDifferent(std::get<0>(pair), std::get<1>(pair));
         });
}

LogicalResult RecurrentOp::verify() {
  Dims gates = getDims(getGates()), weights = getDims(getWeights());
  if (gates.size() != 3 || weights.size() != 3)
    return emitOpError("expected gates and weights of rank 3, but got ")
           << toString(gates) << " and " << toString(weights);
  auto number = [&](int64_t n) {
    return getAffineConstantExpr(n, getContext());
  };
  AffineExpr hidden = weights[1], gateCount = number(getNumGates(getCell()));
  AffineExpr wide = mulExprs(hidden, gateCount);
  Dims state{gates[1], hidden}, output{gates[0], gates[1], hidden},
      perUnit{gateCount, hidden};
  if (areDifferent(gates[2], wide) ||
      !fits(getWeights(), {gateCount, hidden, hidden}) ||
      !fits(getState(), state) || !fits(getMemory(), state) ||
      !fits(getBias(), hidden) || !fits(getLengths(), gates[1]) ||
      !fits(getPeephole(), mulExprs(hidden, number(3))) ||
      !fits(getOutput(), output) || !fits(getLastState(), state) ||
      !fits(getLastMemory(), state) || !fits(getScales(), perUnit) ||
      !fits(getWeightSums(), perUnit))
    return emitOpError("expected operands and results to fit gates ")
           << toString(gates) << " and weights " << toString(weights);
  for (Value value : llvm::concat<Value>(getOperands(), getResults()))
    if (value != getLengths() && value != getWeightSums() &&
        (value != getWeights() || !getScales()) &&
        getElement(value) != getElement(getGates()))
      return emitOpError("expected elements of one type, but got ")
             << getElement(getGates()) << " and " << getElement(value);
  if (bool(getScales()) != bool(getWeightSums()) ||
      (getScales() && (!getElement(getWeights()).isSignlessInteger(8) ||
                       !getElement(getGates()).isF32())))
    return emitOpError("expected scales and sums with weights of i8 and gates "
                       "of f32, but got weights of ")
           << getElement(getWeights()) << " and gates of "
           << getElement(getGates());
  bool isLSTM = getCell() == RecurrentCell::LSTM;
  if (bool(getMemory()) != isLSTM || bool(getLastMemory()) != isLSTM)
    return emitOpError("expected a memory of lstm cells only");
  size_t count = getCell() == RecurrentCell::RNN   ? 1
                 : getCell() == RecurrentCell::GRU ? 2
                                                   : 3;
  if (getActivations().size() != count || getAlphas().size() != count ||
      getBetas().size() != count)
    return emitOpError("expected ")
           << count << " activations, each with alpha and beta, but got "
           << getActivations().size();
  return success();
}

AffineExpr RecurrentOp::getFlops() {
  // There are the products with the state, and about ten operations for each
  // gate.
  Dims weights = getDims(getWeights());
  AffineExpr perGate =
      addExprs(mulExprs(weights[1], getAffineConstantExpr(2, getContext())),
               getAffineConstantExpr(10, getContext()));
  return mulExprs(getElementCost(getContext(), getGates().getType(), 1),
                  perGate);
}

Value RecurrentOp::buildActivation(ElementBuilder &b, unsigned i, Value x) {
  StringRef name = cast<StringAttr>(getActivations()[i]).getValue();
  Type element = getElementTypeOrSelf(x.getType());
  Value alpha = b.number(element, getAlphas()[i]);
  Value beta = b.number(element, getBetas()[i]);
  if (name == "affine")
    return arith::AddFOp::create(
        b.builder, b.loc, arith::MulFOp::create(b.builder, b.loc, alpha, x),
        beta);
  if (name == "scaled_tanh") {
    Value scaled = arith::MulFOp::create(b.builder, b.loc, beta, x);
    Value tanh = math::TanhOp::create(b.builder, b.loc, scaled);
    return arith::MulFOp::create(b.builder, b.loc, alpha, tanh);
  }
  // A temporary op is created, as its body is the only definition of the
  // arithmetic.
  OperationState state(b.loc, "graph." + name.str());
  auto type = RankedTensorType::get({}, element);
  state.addOperands(getGates());
  state.addTypes(type);
  std::optional<RegisteredOperationName> info =
      RegisteredOperationName::lookup(state.name.getStringRef(), getContext());
  if (!info || !info->hasInterface<ElementwiseOpInterface>())
    return {};
  Operation *op = Operation::create(state);
  for (auto [attribute, value] :
       {std::pair("alpha", getAlphas()[i]), std::pair("beta", getBetas()[i])})
    if (llvm::is_contained(info->getAttributeNames(), attribute))
      op->setAttr(attribute, b.builder.getF64FloatAttr(value));
  Value result = cast<ElementwiseOpInterface>(op).buildBody(b, x);
  op->destroy();
  return result;
}
