// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-narrow-states: stores states in a narrower type.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Graph/Transforms/StateNames.h"
#include "Dialect/Host/IR/External.h"
#include "Dialect/Host/IR/Host.h"
#include "Matching.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace adze::graph {
#define GEN_PASS_DEF_NARROWSTATESPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// A tensor in the type of a state: the elements and, for integers, a scale for
/// each row (null otherwise).
struct Narrow {
  Value elements, scales;
};

class StateNarrower {
public:
  StateNarrower(func::FuncOp function, const StateNames &names, Type type)
      : function(function), block(function.front()), names(names), type(type) {}

  unsigned run();

private:
  bool isCache(unsigned input, unsigned output);
  bool isUpdate(Value value, BlockArgument past);
  void narrow(unsigned input, unsigned output);
  Narrow convert(Value value, Value wide, Narrow past);
  Narrow round(OpBuilder &b, Value value);
  Value widen(OpBuilder &b, Narrow value);

  Type withElement(Value value, Type element) {
    return makeType(element, getDims(value));
  }
  /// Returns the type of the scales of a tensor, without the last dim.
  Type getScales(Value value) {
    Dims dims = getDims(value);
    dims.pop_back();
    return makeType(Float32Type::get(value.getContext()), dims);
  }
  bool hasScales() const { return isa<IntegerType>(type); }

  func::FuncOp function;
  Block &block;
  const StateNames &names;
  Type type;
};

} // namespace

/// Returns true if the value is the past with rows added or replaced.
bool StateNarrower::isUpdate(Value value, BlockArgument past) {
  if (value == past)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &block)
    return false;
  int64_t rows = -1, rank = getRank(value);
  if (auto concat = dyn_cast<ConcatOp>(op))
    rows = concat.getAxis();
  else if (auto scatter = dyn_cast<ScatterElementsOp>(op))
    rows = scatter.getReduction() == ScatterReduction::None
               ? int64_t(scatter.getAxis())
               : -1;
  if (rows >= 0 && rows + 1 < rank) {
    // The elements of a row have one scale.
    auto scatter = dyn_cast<ScatterElementsOp>(op);
    bool isOfRows = !scatter || !hasScales() || scatter.replacesRows();
    return isOfRows && isUpdate(op->getOperand(0), past);
  }
  if (hasScales())
    return false;
  auto reshape = dyn_cast<ReshapeOp>(op);
  auto scatter = dyn_cast<ScatterNDOp>(op);
  return ((reshape && !reshape.getShape()) || isa<TransposeOp>(op) ||
          (scatter && scatter.getReduction() == ScatterReduction::None)) &&
         isUpdate(op->getOperand(0), past);
}

bool StateNarrower::isCache(unsigned input, unsigned output) {
  BlockArgument argument = function.getArgument(input);
  Value returned = block.getTerminator()->getOperand(output);
  return names.arePaired(function, input, output) &&
         getElement(argument).isF32() && getElement(returned).isF32() &&
         getRank(argument) >= 3 && returned != argument &&
         returned.getDefiningOp() && isUpdate(returned, argument);
}

/// Rounds the rows of a tensor to the narrow type.
Narrow StateNarrower::round(OpBuilder &b, Value value) {
  Location loc = value.getLoc();
  if (isSplat(value, 0)) {
    auto zeros = [&](Type wanted) -> Value {
      Type element = cast<RankedTensorType>(wanted).getElementType();
      auto scalar = RankedTensorType::get({}, element);
      Value zero = ConstantOp::create(
          b, loc, DenseElementsAttr::get(scalar, b.getZeroAttr(element)));
      return BroadcastToOp::create(b, loc, wanted, zero);
    };
    return {zeros(withElement(value, type)),
            hasScales() ? zeros(getScales(value)) : Value()};
  }
  if (!hasScales())
    return {CastOp::create(b, loc, withElement(value, type), value), Value()};
  auto number = [&](float x) -> Value {
    auto scalar = RankedTensorType::get({}, b.getF32Type());
    return ConstantOp::create(
        b, loc, DenseElementsAttr::get(scalar, b.getF32FloatAttr(x)));
  };
  Value greatest = ReduceMaxOp::create(b, loc, AbsOp::create(b, loc, value),
                                       getRank(value) - 1, /*keepdims=*/true);
  constexpr float levels = 127.0f, least = 1e-30f;
  Value scales =
      ReshapeOp::create(b, loc, getScales(value),
                        MulOp::create(b, loc, greatest, number(1 / levels)));
  // A row of zeros has the scale 0.
  Value factors =
      DivOp::create(b, loc, number(levels),
                    MaximumOp::create(b, loc, greatest, number(least)));
  Value rounded =
      RoundOp::create(b, loc, MulOp::create(b, loc, value, factors));
  return {CastOp::create(b, loc, withElement(value, type), rounded), scales};
}

Value StateNarrower::widen(OpBuilder &b, Narrow value) {
  Location loc = value.elements.getLoc();
  Value wide = CastOp::create(
      b, loc, withElement(value.elements, b.getF32Type()), value.elements);
  if (!value.scales)
    return wide;
  Dims dims = getDims(value.scales);
  dims.push_back(b.getAffineConstantExpr(1));
  Value factors =
      ReshapeOp::create(b, loc, makeType(b.getF32Type(), dims), value.scales);
  return MulOp::create(b, loc, wide, factors);
}

/// Returns the update `value` of the past in the narrow type.
Narrow StateNarrower::convert(Value value, Value wide, Narrow past) {
  if (value == wide)
    return past;
  Operation *op = value.getDefiningOp();
  OpBuilder b(op);
  Narrow data = convert(op->getOperand(0), wide, past);
  auto copy = [&](ValueRange operands, Type result) {
    Operation *made = b.clone(*op);
    made->setOperands(operands);
    made->getResult(0).setType(result);
    return made->getResult(0);
  };
  SmallVector<Value> elements{data.elements}, scales{data.scales};
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    for (Value piece : concat.getInputs().drop_front()) {
      Narrow rounded = round(b, piece);
      elements.push_back(rounded.elements);
      scales.push_back(rounded.scales);
    }
  } else if (isa<ScatterElementsOp, ScatterNDOp>(op)) {
    Narrow rounded = round(b, op->getOperand(2));
    elements.append({op->getOperand(1), rounded.elements});
    if (data.scales) {
      Value indices = op->getOperand(1);
      Dims dims = getDims(indices);
      dims.pop_back();
      indices = ReshapeOp::create(b, op->getLoc(),
                                  makeType(getElement(indices), dims), indices);
      scales.append({indices, rounded.scales});
    }
  }
  return {copy(elements, withElement(value, type)),
          data.scales ? copy(scales, getScales(value)) : Value()};
}

void StateNarrower::narrow(unsigned input, unsigned output) {
  Builder builder(function.getContext());
  BlockArgument argument = function.getArgument(input);
  Operation *terminator = block.getTerminator();
  Value returned = terminator->getOperand(output);
  Type wideScales = getScales(argument);
  Narrow past;
  if (hasScales()) {
    unsigned number = function.getNumArguments();
    std::string name = getInputName(function, input).str() + ".scale";
    (void)function.insertArgument(
        number, wideScales,
        builder.getDictionaryAttr(builder.getNamedAttr(
            adze::host::nameAttr, builder.getStringAttr(name))),
        argument.getLoc());
    past.scales = function.getArgument(number);
  }
  argument.setType(cast<RankedTensorType>(withElement(argument, type)));
  past.elements = argument;
  SmallVector<OpOperand *> readers;
  for (OpOperand &use : argument.getUses())
    if (!isa<ShapeOp>(use.getOwner()))
      readers.push_back(&use);
  OpBuilder b = OpBuilder::atBlockBegin(&block);
  Value wide = widen(b, past);
  for (OpOperand *use : readers)
    use->set(wide);
  Narrow present = convert(returned, wide, past);
  OpBuilder after(returned.getContext());
  after.setInsertionPointAfterValue(present.scales ? present.scales
                                                   : present.elements);
  Value all = widen(after, present);
  returned.replaceAllUsesWith(all);
  terminator->setOperand(output, present.elements);
  if (present.scales) {
    unsigned number = function.getNumResults();
    std::string name = getOutputName(function, output).str() + ".scale";
    terminator->insertOperands(number, present.scales);
    (void)function.insertResult(
        number, present.scales.getType(),
        builder.getDictionaryAttr(builder.getNamedAttr(
            adze::host::nameAttr, builder.getStringAttr(name))));
  }
  function.setFunctionType(builder.getFunctionType(
      block.getArgumentTypes(), terminator->getOperandTypes()));
}

unsigned StateNarrower::run() {
  unsigned count = 0, numInputs = function.getNumArguments(),
           numOutputs = function.getNumResults();
  for (unsigned output = 0; output < numOutputs; ++output)
    for (unsigned input = 0; input < numInputs; ++input)
      if (isCache(input, output)) {
        narrow(input, output);
        ++count;
        break;
      }
  // The ops that computed the f32 states.
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && isMemoryEffectFree(op))
      op->erase();
  return count;
}

namespace {

class NarrowStatesPass final
    : public adze::graph::impl::NarrowStatesPassBase<NarrowStatesPass> {
public:
  using NarrowStatesPassBase::NarrowStatesPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate() ||
        !function.getBody().hasOneBlock() ||
        function->hasAttr(adze::host::kernelAttr))
      return;
    Builder b(&getContext());
    Type narrow = type == "int8"   ? Type(b.getI8Type())
                  : type == "bf16" ? Type(b.getBF16Type())
                                   : Type(b.getF16Type());
    llvm::Expected<StateNames> names = StateNames::parse(pairs);
    if (!names) {
      function.emitError(llvm::toString(names.takeError()));
      return signalPassFailure();
    }
    StringRef problem = whyNot(function, *names);
    if (problem.empty()) {
      unsigned count = StateNarrower(function, *names, narrow).run();
      numStates = count;
      if (count == 0)
        problem = "the model has no cache of f32 that grows by rows, whose "
                  "names say past and present or that --state names";
    }
    if (problem.empty())
      return;
    function.emitError("unsupported: --kv-precision=")
        << type << ": " << problem << "; leave the flag out";
    signalPassFailure();
  }

private:
  StringRef whyNot(func::FuncOp function, const StateNames &names) {
    if (names.isNone())
      return "--state=none excludes caches";
    for (unsigned i = 0; type == "int8" && i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, adze::host::defaultAttr))
        return "overridable weights are the last inputs, where the scales "
               "would be";
    return "";
  }
};

} // namespace
