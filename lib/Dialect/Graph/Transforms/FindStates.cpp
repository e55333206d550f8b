// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-find-states: finds results that update states held by arguments, in
// buffers of the caller.
#include "Dialect/Graph/IR/Insertions.h"
#include "Dialect/Graph/IR/IntegerBounds.h"
#include "Dialect/Graph/IR/States.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Graph/Transforms/StateNames.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Tile.h"
#include "Matching.h"
#include "Refusals.h"
#include "Symbols.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace adze::graph {
#define GEN_PASS_DEF_FINDSTATESPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// The update of a state.
struct Update {
  BlockArgument input;
  Value past;              // the input, after sizes were solved
  Operation *op = nullptr; // a concat or a scatter with all rows as result
  SliceOp last;            // selects the last of them, or null
  unsigned output = 0;
  int64_t axis = 0;
  AffineExpr drop;     // rows before those that `last` selects
  bool zeroed = false; // rows after the past are 0 before the update
};

class StateFinder {
public:
  StateFinder(func::FuncOp function, const StateNames &names)
      : function(function), block(function.front()), names(names),
        inputs(names, function), sizes(function) {}

  LogicalResult run();

  unsigned numUpdated = 0, numWhole = 0, numKept = 0;

private:
  std::optional<Update> match(unsigned output);
  StringRef whyNot(Update &update, int64_t sliced);
  void refuseNamed(unsigned output);
  bool matchAppend(ConcatOp op, Update &update);
  bool matchWrite(Operation *op, Update &update);
  bool haveBuffer(const Update &update);
  bool areReadersAfter(const Update &update);
  unsigned getPitch(const Update &update);
  Value insert(OpBuilder &b, ConcatOp op, const Update &update, Value buffer);
  void apply(Update update, unsigned output);
  bool findWhole(unsigned output);
  LogicalResult checkNamed();

  /// Sets the past if it is an input that no other output updates.
  bool setPast(Value value, Update &update);
  bool arePaired(unsigned input, unsigned output) {
    return names.arePaired(function, input, output);
  }
  Value getReturned(unsigned output) {
    return block.getTerminator()->getOperand(output);
  }

  func::FuncOp function;
  Block &block;
  const StateNames &names;
  const InputNames inputs;
  TypicalSizes sizes;
  SmallVector<Attribute> states;
  /// The inputs that outputs update, and these outputs.
  DenseMap<unsigned, unsigned> continued;
  DenseSet<unsigned> outputs;
  /// The reason why an output cannot be updated in place.
  DenseMap<unsigned, StringRef> reasons;
  /// Buffers with equal dims have one pitch.
  llvm::MapVector<std::tuple<Type, AffineExpr, int64_t>, unsigned> pitches;
};

} // namespace

/// Returns true if a reshape only changes the expressions of sizes: one dim has
/// another form, or each dim that differs was a symbol that has been solved.
static bool isSolved(Value general, Value solved) {
  Dims from = getDims(general), to = getDims(solved);
  if (from.size() != to.size())
    return false;
  unsigned differing = 0, unsolved = 0;
  for (auto [size, other] : llvm::zip_equal(from, to)) {
    if (areEqual(size, other))
      continue;
    ++differing;
    auto symbol = dyn_cast_if_present<AffineSymbolExpr>(size);
    if (!symbol || llvm::any_of(to, [&](AffineExpr expr) {
          return !expr || expr.isFunctionOfSymbol(symbol.getPosition());
        }))
      ++unsolved;
  }
  return differing == 1 || unsolved == 0;
}

/// Looks through reshapes that only change the expressions of sizes.
static Value skipSolved(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  bool isView = reshape && !reshape.getShape() &&
                (isSolved(reshape.getInput(), value) ||
                 isSolved(value, reshape.getInput()));
  return isView ? reshape.getInput() : value;
}

bool StateFinder::setPast(Value value, Update &update) {
  update.past = value;
  update.input = dyn_cast<BlockArgument>(skipSolved(value));
  return update.input && update.input.getOwner() == &block &&
         !continued.contains(update.input.getArgNumber());
}

static AffineExpr getRows(const Update &update) {
  return getDims(update.op->getResult(0))[update.axis];
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// Returns the concat or scatter of which the slice selects the last rows up to
/// the end, or null.
static Operation *getSliced(SliceOp slice, int64_t &axis, AffineExpr &drop) {
  if (slice.getBegin() ||
      !llvm::all_of(slice.getSteps(), [](int64_t step) { return step == 1; }))
    return nullptr;
  Dims from = getDims(slice.getInput()), to = getDims(slice.getResult());
  axis = -1;
  for (auto [dim, start] : llvm::enumerate(slice.getStartExprs())) {
    if (!from[dim] || !to[dim] ||
        !areEqual(addExprs(start, to[dim]), from[dim]))
      return nullptr;
    if (getConstant(start) == 0)
      continue;
    if (axis >= 0)
      return nullptr;
    axis = dim;
    drop = start;
  }
  return axis < 0 ? nullptr : slice.getInput().getDefiningOp<ConcatOp>();
}

/// Returns true if all elements of an integer tensor are known to be >= 0.
static bool isNeverNegative(Value value, unsigned depth = 0) {
  constexpr unsigned deepest = 16;
  SmallVector<IntegerBounds> bounds = getIntegerBounds(value);
  if (!bounds.empty())
    return llvm::all_of(bounds, [](const IntegerBounds &pair) {
      return isNonNegative(pair.least);
    });
  Operation *op = value.getDefiningOp();
  if (!op || depth > deepest)
    return false;
  auto holds = [&](Value operand) {
    return isNeverNegative(operand, depth + 1);
  };
  if (isa<MaximumOp>(op))
    return llvm::any_of(op->getOperands(), holds);
  if (isa<AddOp, MulOp>(op))
    return llvm::all_of(op->getOperands(), holds);
  if (isa<SelectOp>(op))
    return llvm::all_of(op->getOperands().drop_front(), holds);
  return isa<BroadcastToOp, ReshapeOp, SliceOp, TransposeOp>(op) &&
         holds(op->getOperand(0));
}

bool StateFinder::matchAppend(ConcatOp op, Update &update) {
  OperandRange pieces = op.getInputs();
  if (pieces.size() < 2 || !setPast(pieces.front(), update))
    return false;
  update.axis = op.getAxis();
  // A value computed from arguments only is not a cache, unless its name
  // matches.
  return arePaired(update.input.getArgNumber(), update.output) ||
         llvm::none_of(pieces.drop_front(), [](Value piece) {
           return isa<BlockArgument>(skipSolved(piece));
         });
}

bool StateFinder::matchWrite(Operation *op, Update &update) {
  Value data = op->getOperand(0), indices = op->getOperand(1);
  if (auto scatter = dyn_cast<ScatterElementsOp>(op)) {
    update.axis = scatter.getAxis();
  } else {
    // The rows are the last of the indexed dims and all later ones.
    auto count = getConstant(getDims(indices).back());
    update.axis = count.value_or(0) - 1;
  }
  if (auto concat = data.getDefiningOp<ConcatOp>()) {
    if (int64_t(concat.getAxis()) != update.axis || !data.hasOneUse() ||
        concat.getInputs().size() != 2 || !isSplat(concat.getInputs()[1], 0))
      return false;
    data = concat.getInputs().front();
    update.zeroed = true;
  }
  if (getCombiner(op) || update.axis < 0 || !setPast(data, update))
    return false;
  // A negative index would count from the end of the buffer.
  return isNeverNegative(indices) || getConstant(getRows(update));
}

/// Replaces a scatter of rows by their first dim, between a transpose and its
/// inverse, by a scatter along their original dim.
static void scatterInPlace(TransposeOp back) {
  auto scatter = back.getInput().getDefiningOp<ScatterNDOp>();
  auto there =
      scatter ? scatter.getData().getDefiningOp<TransposeOp>() : TransposeOp();
  if (!there || !back.getInput().hasOneUse() ||
      scatter.getReduction() != ScatterReduction::None ||
      getRank(scatter.getIndices()) != 2 ||
      getConstant(getDims(scatter.getIndices())[1]) != 1)
    return;
  ArrayRef<int64_t> order = there.getPerm(), inverse = back.getPerm();
  for (auto [i, dim] : llvm::enumerate(inverse))
    if (order[dim] != int64_t(i))
      return;
  OpBuilder b(back);
  Location loc = scatter.getLoc();
  int64_t axis = order[0], rank = order.size();
  Value updates =
      TransposeOp::create(b, loc, scatter.getUpdates(), back.getPermAttr());
  Dims dims(rank, b.getAffineConstantExpr(1));
  dims[axis] = getDims(scatter.getIndices())[0];
  Type element = getElement(scatter.getIndices());
  Value indices =
      ReshapeOp::create(b, loc, makeType(element, dims), scatter.getIndices());
  Value rows =
      ScatterElementsOp::create(b, loc, back.getType(), there.getInput(),
                                indices, updates, axis, ScatterReduction::None);
  back.getResult().replaceAllUsesWith(rows);
  back.erase();
  scatter.erase();
  if (there->use_empty())
    there.erase();
}

/// Returns true if the result may be in a buffer of the caller.
bool StateFinder::haveBuffer(const Update &update) {
  Type element = getElement(update.past);
  Dims before = getDims(update.past), after = getDims(update.op->getResult(0));
  if (isContainer(element) || isPacked(element) || isSmallFloat(element) ||
      !sizes.areKnown(update.past.getType()) ||
      !sizes.areKnown(update.op->getResult(0).getType()))
    return false;
  for (auto [dim, size] : llvm::enumerate(before))
    if (int64_t(dim) != update.axis && !areEqual(size, after[dim]))
      return false;
  return true;
}

/// Returns true if the users of the past can read it in the buffer: they come
/// after the update, which does not change the rows that they read.
bool StateFinder::areReadersAfter(const Update &update) {
  Operation *data = update.op->getOperand(0).getDefiningOp();
  bool appends = isa<ConcatOp>(update.op);
  auto suits = [&](OpOperand &use) {
    Operation *reader = block.findAncestorOpInBlock(*use.getOwner());
    if (isa<ShapeOp>(use.getOwner()) || reader == update.past.getDefiningOp())
      return true;
    if (reader == update.op || reader == data)
      return use.getOperandNumber() == 0;
    return appends && reader && update.op->isBeforeInBlock(reader);
  };
  return llvm::all_of(update.past.getUses(), suits) &&
         (update.past == update.input ||
          llvm::all_of(update.input.getUses(), [&](OpOperand &use) {
            return isa<ShapeOp>(use.getOwner()) ||
                   use.getOwner() == update.past.getDefiningOp();
          }));
}

/// Returns the reason why the op is not an in-place update of an input, or an
/// empty string.
StringRef StateFinder::whyNot(Update &update, int64_t sliced) {
  bool isUpdate = false, appends = false;
  if (auto concat = dyn_cast<ConcatOp>(update.op))
    isUpdate = appends = matchAppend(concat, update);
  else if (isa<ScatterElementsOp, ScatterNDOp>(update.op))
    isUpdate = matchWrite(update.op, update);
  if (!isUpdate)
    return "it is not an input with rows appended or replaced";
  if (update.last && sliced != update.axis)
    return "it is a slice of dims other than the rows";
  if (!haveBuffer(update))
    return "its sizes or element type do not fit a buffer";
  if (!areReadersAfter(update))
    return "the input is read before the update, or replaced where it is read";
  // A dynamic number of rows indicates a cache; with fixed sizes only names do.
  bool grows = appends && !getConstant(getDims(update.past)[update.axis]);
  return grows || update.zeroed ||
                 arePaired(update.input.getArgNumber(), update.output)
             ? ""
             : "no name says that it continues the input";
}

std::optional<Update> StateFinder::match(unsigned output) {
  Update update;
  update.output = output;
  Value result = skipSolved(getReturned(output));
  Operation *op = result.getDefiningOp();
  int64_t sliced = -1;
  update.drop = getAffineConstantExpr(0, function.getContext());
  if (auto slice = dyn_cast_or_null<SliceOp>(op)) {
    op = getSliced(slice, sliced, update.drop);
    update.last = slice;
  }
  StringRef &reason = reasons[output];
  reason = "it is not computed by an update";
  if (!op || op->getBlock() != &block)
    return std::nullopt;
  update.op = op;
  reason = whyNot(update, sliced);
  return reason.empty() ? std::optional(update) : std::nullopt;
}

/// Emits a remark on why an output does not update the input with the matching
/// name.
void StateFinder::refuseNamed(unsigned output) {
  Operation *op = getReturned(output).getDefiningOp();
  if (op && llvm::any_of(inputs.findPaired(output), [&](unsigned input) {
        return !continued.contains(input);
      }))
    refuse(op, "find-states", reasons[output]);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

unsigned StateFinder::getPitch(const Update &update) {
  auto [entry, isNew] = pitches.insert(
      {{update.past.getType(), getRows(update), update.axis}, 0});
  if (isNew)
    entry->second = addSymbol(function);
  return entry->second;
}

/// Returns the rows of `type` in a buffer, from `start` on.
static Value createRows(OpBuilder &b, Location loc, Type type, Value buffer,
                        int64_t axis, AffineExpr start) {
  int64_t rank = getRank(buffer);
  SmallVector<AffineExpr> starts(rank, b.getAffineConstantExpr(0));
  starts[axis] = start;
  return SliceOp::create(b, loc, type, buffer, starts,
                         SmallVector<int64_t>(rank, 1));
}

/// Inserts the operands of a concat after the first one.
Value StateFinder::insert(OpBuilder &b, ConcatOp op, const Update &update,
                          Value buffer) {
  AffineExpr offset = getDims(update.past)[update.axis];
  for (Value piece : op.getInputs().drop_front()) {
    buffer = InsertSliceOp::create(b, op.getLoc(), piece, buffer, update.axis,
                                   offset);
    offset = addExprs(offset, getDims(piece)[update.axis]);
  }
  return buffer;
}

/// Scatters into the buffer instead of the past.
static Value replaceRows(OpBuilder &b, const Update &update, Value buffer) {
  Location loc = update.op->getLoc();
  Value indices = update.op->getOperand(1);
  if (!isNeverNegative(indices)) {
    // Indices count from the end of the rows. Indices of other dims do not
    // change.
    SmallVector<int64_t> sizes{*getConstant(getRows(update))};
    SmallVector<int64_t> shape;
    if (isa<ScatterNDOp>(update.op)) {
      sizes.insert(sizes.begin(), update.axis, 0);
      shape.push_back(sizes.size());
    }
    auto type = RankedTensorType::get(shape, getElement(indices));
    auto number = [&](ArrayRef<int64_t> values) -> Value {
      SmallVector<Attribute> elements;
      for (int64_t value : values)
        elements.push_back(b.getIntegerAttr(type.getElementType(), value));
      return ConstantOp::create(b, loc, DenseElementsAttr::get(type, elements));
    };
    SmallVector<int64_t> none(sizes.size(), 0);
    Value isAfter = LessOp::create(b, loc, indices, number(none));
    Value fromEnd = AddOp::create(b, loc, indices, number(sizes));
    indices = SelectOp::create(b, loc, isAfter, fromEnd, indices);
  }
  OperationState state(loc, update.op->getName(),
                       {buffer, indices, update.op->getOperand(2)},
                       buffer.getType(), update.op->getAttrs());
  return b.create(state)->getResult(0);
}

void StateFinder::apply(Update update, unsigned output) {
  MLIRContext *context = function.getContext();
  int64_t state = states.size(), axis = update.axis;
  unsigned pitch = getPitch(update);
  Dims dims = getDims(update.past);
  AffineExpr zero = getAffineConstantExpr(0, context),
             numRows = getRows(update);
  dims[axis] = getAffineSymbolExpr(pitch, context);
  Location loc = update.op->getLoc();
  // Copied rows are read next, so the buffer is opened as late as possible.
  OpBuilder b(update.op);
  Value buffer = OpenStateOp::create(
      b, loc, makeType(getElement(update.past), dims), update.past, state);
  if (auto concat = dyn_cast<ConcatOp>(update.op)) {
    buffer = insert(b, concat, update, buffer);
  } else {
    buffer = replaceRows(b, update, buffer);
  }

  // All users of the past and of all rows read the buffer.
  Value rows = update.op->getResult(0), returned = getReturned(output);
  block.getTerminator()->setOperand(
      output, CloseStateOp::create(b, loc, returned.getType(), buffer, state));
  if (update.last && !update.last.use_empty()) {
    update.last.getResult().replaceAllUsesWith(
        createRows(b, loc, update.last.getType(), buffer, axis, update.drop));
  }
  if (update.last)
    update.last.erase();
  if (!rows.use_empty())
    rows.replaceAllUsesWith(
        createRows(b, loc, rows.getType(), buffer, axis, zero));
  auto data = update.op->getOperand(0).getDefiningOp<ConcatOp>();
  auto isReader = [&](OpOperand &use) {
    Operation *reader = use.getOwner();
    return !isa<OpenStateOp, ShapeOp>(reader) && reader != update.op &&
           reader != data;
  };
  if (llvm::any_of(update.past.getUses(), isReader)) {
    Value past = createRows(b, loc, update.past.getType(), buffer, axis, zero);
    update.past.replaceUsesWithIf(past, isReader);
  }
  update.op->erase();
  if (data)
    data->erase(); // the concat with zeros

  auto map = [&](AffineExpr expr) {
    return AffineMapAttr::get(
        AffineMap::get(0, countSymbols(expr), {expr}, context));
  };
  states.push_back(StateAttr::get(context, update.input.getArgNumber(), output,
                                  StateKind::Rows, axis, pitch, map(numRows),
                                  map(update.drop), update.zeroed));
  continued[update.input.getArgNumber()] = output;
  outputs.insert(output);
  ++numUpdated;
}

//===----------------------------------------------------------------------===//
// States that are replaced or kept
//===----------------------------------------------------------------------===//

/// Returns true if the output is an input, or replaces one of its type with a
/// matching name.
bool StateFinder::findWhole(unsigned output) {
  Value value = getReturned(output);
  Type type = function.getResultTypes()[output];
  auto add = [&](unsigned input, StateKind kind) {
    states.push_back(StateAttr::get(function.getContext(), input, output, kind,
                                    0, -1, AffineMapAttr(), AffineMapAttr(),
                                    false));
    continued[input] = output;
    outputs.insert(output);
    ++(kind == StateKind::Keep ? numKept : numWhole);
    return true;
  };
  for (unsigned input : inputs.findPaired(output)) {
    Value argument = function.getArgument(input);
    if (continued.contains(input) || argument.getType() != type ||
        isContainer(getElement(argument)) || isPacked(getElement(argument)))
      continue;
    return add(input, value == argument ? StateKind::Keep : StateKind::Whole);
  }
  return false;
}

/// Fails if --state names a pair that is not an update.
LogicalResult StateFinder::checkNamed() {
  if (!names.areGiven())
    return success();
  for (unsigned output = 0; output < function.getNumResults(); ++output)
    for (unsigned input = 0; input < function.getNumArguments(); ++input) {
      auto pair = names.findGiven(getInputName(function, input),
                                  getOutputName(function, output));
      auto found = continued.find(input);
      if (!pair || (found != continued.end() && found->second == output))
        continue;
      Operation *op = getReturned(output).getDefiningOp();
      InFlightDiagnostic error =
          emitError(op ? op->getLoc() : function.getLoc());
      error << "--state: '" << *pair << "': expected an update of '"
            << getInputName(function, input) << "', but got ";
      if (op)
        return error << op->getName();
      return error << "another input";
    }
  return success();
}

LogicalResult StateFinder::run() {
  unsigned numOutputs = function.getNumResults();
  for (unsigned output = 0; output < numOutputs; ++output)
    if (auto back =
            skipSolved(getReturned(output)).getDefiningOp<TransposeOp>())
      scatterInPlace(back);
  // Matching names have priority if several results depend on one argument.
  for (bool paired : {true, false})
    for (unsigned output = 0; output < numOutputs; ++output) {
      if (outputs.contains(output))
        continue;
      std::optional<Update> update = match(output);
      if (update &&
          (!paired || arePaired(update->input.getArgNumber(), output)))
        apply(*update, output);
    }
  for (unsigned output = 0; output < numOutputs; ++output)
    if (!outputs.contains(output) && !findWhole(output))
      refuseNamed(output);
  if (!states.empty())
    function->setAttr(statesAttr,
                      ArrayAttr::get(function.getContext(), states));
  return checkNamed();
}

namespace {

class FindStatesPass final
    : public adze::graph::impl::FindStatesPassBase<FindStatesPass> {
public:
  using FindStatesPassBase::FindStatesPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate() ||
        function->hasAttr(statesAttr) ||
        function->hasAttr(adze::host::kernelAttr))
      return;
    llvm::Expected<StateNames> names = StateNames::parse(pairs);
    if (!names) {
      function.emitError(llvm::toString(names.takeError()));
      return signalPassFailure();
    }
    if (names->isNone())
      return;
    StateFinder finder(function, *names);
    if (failed(finder.run()))
      signalPassFailure();
    numRows = finder.numUpdated;
    numWhole = finder.numWhole;
    numKept = finder.numKept;
  }
};

} // namespace
