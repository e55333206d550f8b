// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// assign-destinations: converts tensors of the host program to memory.
#include "Assignment.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Host/IR/External.h"
#include "Dialect/Tile/IR/Faults.h"
#include "Transforms/Passes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_ASSIGNDESTINATIONS
#include "Transforms/Passes.h.inc"

namespace {
class AssignDestinationsPass final
    : public impl::AssignDestinationsBase<AssignDestinationsPass> {
public:
  void runOnOperation() override;
};
} // namespace

using graph::getDims;

MemRefType getPlaceType(RankedTensorType type) {
  Type element = type.getElementType();
  if (graph::isContainer(element)) // its index in the table of the run
    element = IntegerType::get(type.getContext(), 64);
  else if (element.isInteger() || element.getIntOrFloatBitWidth() <= 8)
    element =
        IntegerType::get(type.getContext(), element.getIntOrFloatBitWidth());
  return MemRefType::get(type.getShape(), element);
}

/// Splits a product into its constant factor and the other factors.
static void collectFactors(AffineExpr expr, int64_t &constant,
                           SmallVectorImpl<AffineExpr> &factors) {
  if (auto literal = dyn_cast<AffineConstantExpr>(expr)) {
    constant *= literal.getValue();
  } else if (expr.getKind() == AffineExprKind::Mul) {
    auto product = cast<AffineBinaryOpExpr>(expr);
    collectFactors(product.getLHS(), constant, factors);
    collectFactors(product.getRHS(), constant, factors);
  } else {
    factors.push_back(expr);
  }
}

AffineExpr getTensorBytes(RankedTensorType type) {
  int64_t constant = 1;
  SmallVector<AffineExpr> factors;
  for (AffineExpr dim : getDims(type))
    collectFactors(dim, constant, factors);
  auto spelling = [](AffineExpr expr) {
    std::string text;
    llvm::raw_string_ostream(text) << expr;
    return text;
  };
  llvm::sort(factors, [&](AffineExpr a, AffineExpr b) {
    return spelling(a) < spelling(b);
  });
  AffineExpr count = getAffineConstantExpr(1, type.getContext());
  for (AffineExpr factor : factors)
    count = count * factor;
  Type element = getPlaceType(type).getElementType();
  unsigned bits = element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
  return bits % 8 ? (count * (constant * bits)).ceilDiv(8)
                  : count * (constant * (bits / 8));
}

Value getReshapeRoot(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getInput();
  return value;
}

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

LogicalResult Assignment::checkTypes() {
  auto check = [&](Value value) -> LogicalResult {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return emitError(value.getLoc())
             << "unsupported: expected a ranked tensor in the host program, "
                "but got "
             << value.getType();
    if (llvm::is_contained(getDims(type), AffineExpr()))
      return emitError(value.getLoc())
             << "unsupported: expected sizes known from the inputs' shapes, "
                "but got "
             << type;
    return success();
  };
  for (BlockArgument argument : program.getArguments())
    if (failed(check(argument)))
      return failure();
  WalkResult result = program.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (!value.use_empty() && failed(check(value)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        if (failed(check(argument)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static void setPlaceAttrs(func::FuncOp program, unsigned index,
                          RankedTensorType type, DictionaryAttr attrs) {
  Builder builder(program.getContext());
  NamedAttrList list(attrs);
  if (!type.hasStaticShape()) {
    SmallVector<AffineExpr> dims(getDims(type));
    list.set(host::dimsAttr,
             AffineMapAttr::get(host::getSymbolMap(dims, program)));
  }
  if (getPlaceType(type).getElementType() != type.getElementType())
    list.set(host::dtypeAttr, TypeAttr::get(type.getElementType()));
  program.setArgAttrs(index, list);
}

/// Collects the sizes that may be negative for some inputs. Those in branches
/// and loop bodies only count if these run.
static void collectSizes(func::FuncOp program) {
  llvm::SetVector<AffineExpr> sizes;
  auto collect = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (AffineExpr dim : getDims(tensor))
        if (dim && !graph::isNonNegative(dim))
          sizes.insert(dim);
  };
  for (Operation &op : program.front())
    llvm::for_each(op.getResultTypes(), collect);
  if (sizes.empty())
    return;
  program->setAttr(host::sizesAttr,
                   AffineMapAttr::get(host::getSymbolMap(
                       sizes.getArrayRef(), program.getContext())));
}

void Assignment::convertArguments() {
  collectSizes(program);
  unsigned numInputs = program.getNumArguments();
  Block &entry = program.front();
  SmallVector<RankedTensorType> types;
  SmallVector<DictionaryAttr> attrs;
  auto dictionary = [&](DictionaryAttr given) {
    return given ? given : builder.getDictionaryAttr({});
  };
  for (BlockArgument argument : program.getArguments()) {
    types.push_back(cast<RankedTensorType>(argument.getType()));
    attrs.push_back(
        dictionary(program.getArgAttrDict(argument.getArgNumber())));
  }
  for (auto [index, type] : llvm::enumerate(program.getResultTypes())) {
    types.push_back(cast<RankedTensorType>(type));
    attrs.push_back(dictionary(program.getResultAttrDict(index)));
  }
  Operation *terminator = entry.getTerminator();
  returned.assign(terminator->operand_begin(), terminator->operand_end());

  // Arguments keep their tensor type until the ops on them are erased.
  SmallVector<Type> placeTypes;
  for (RankedTensorType type : types)
    placeTypes.push_back(getPlaceType(type));
  for (unsigned index = 0; index < numInputs; ++index) {
    BlockArgument old = entry.getArgument(2 * index);
    Value place =
        entry.insertArgument(2 * index + 1, placeTypes[index], old.getLoc());
    places[old] = place;
  }
  for (unsigned index = numInputs; index < types.size(); ++index)
    outputArguments.push_back(
        entry.addArgument(placeTypes[index], terminator->getLoc()));
  program.removeResAttrsAttr();
  program.removeArgAttrsAttr();
  program.setType(builder.getFunctionType(placeTypes, {}));
  for (auto [index, type] : llvm::enumerate(types))
    setPlaceAttrs(program, index, type, attrs[index]);
  program->setAttr(host::numInputsAttr, builder.getI64IntegerAttr(numInputs));
  numInputSymbols = host::getNumInputSymbols(program);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

bool Assignment::isKnownEarly(RankedTensorType type) {
  return llvm::all_of(getDims(type), [&](AffineExpr dim) {
    return host::getNumSymbolsUsed(dim) <= numInputSymbols;
  });
}

/// Returns true if the sizes of `value` are known when `root` is computed.
bool Assignment::isSizedBy(Value value, Value root) {
  auto collect = [&](Value of) {
    llvm::SmallDenseSet<unsigned> found;
    graph::forEachSymbol(of.getType(), [&](unsigned symbol) {
      if (symbol >= numInputSymbols)
        found.insert(symbol);
    });
    return found;
  };
  auto known = collect(root);
  return llvm::all_of(collect(value),
                      [&](unsigned symbol) { return known.contains(symbol); });
}

/// Returns the operand of which a result of a launch replaces a part.
Value Assignment::getTied(OpResult result) {
  auto launch = cast<host::LaunchOp>(result.getOwner());
  auto kernel = symbols.lookup<FunctionOpInterface>(launch.getCallee());
  unsigned argument = launch.getNumOperands() + result.getResultNumber();
  if (!kernel || argument >= kernel.getNumArguments())
    return Value();
  auto tied = kernel.getArgAttrOfType<IntegerAttr>(argument, host::tiedAttr);
  return tied ? launch.getOperand(tied.getInt()) : Value();
}

void Assignment::chooseDestinations(Block &block, ValueRange values,
                                    MutableArrayRef<Destination> destinations) {
  for (auto [value, destination] : llvm::zip_equal(values, destinations)) {
    Value root = getReshapeRoot(value);
    Operation *maker = root.getDefiningOp();
    if (!isa_and_nonnull<host::LaunchOp, graph::CallOp>(maker) ||
        maker->getBlock() != &block ||
        (destination.output && !isSizedBy(value, root)))
      continue;
    // The values that this value is computed from in place are in that memory
    // from the beginning.
    while (maker && maker->getBlock() == &block &&
           destinationOf.try_emplace(root, &destination).second) {
      bool isLaunch = isa<host::LaunchOp>(maker);
      root = isLaunch ? getTied(cast<OpResult>(root)) : Value();
      maker = root ? root.getDefiningOp<host::LaunchOp>() : nullptr;
    }
  }
}

void Assignment::chooseOutputs() {
  outputs.resize(returned.size());
  for (unsigned index = 0; index < returned.size(); ++index)
    outputs[index].output = index;
  chooseDestinations(program.front(), returned, outputs);
}

Value Assignment::createView(Location loc, Value place, MemRefType type,
                             Attribute offset) {
  if (place.getType() == type && !offset)
    return place;
  ++counts.views;
  return host::ViewOp::create(builder, loc, type, place, offset);
}

Value Assignment::createSlot(Location loc, RankedTensorType type) {
  ++counts.slots;
  return host::SlotOp::create(builder, loc, getPlaceType(type),
                              host::getBytesAttr(getTensorBytes(type)));
}

Value Assignment::open(Location loc, const Destination &destination,
                       RankedTensorType type, Attribute keep) {
  MemRefType placeType = getPlaceType(type);
  if (destination.box)
    return host::SlotOp::create(
        builder, loc, placeType, host::getBytesAttr(getTensorBytes(type)),
        builder.getI64IntegerAttr(*destination.box), keep);
  if (!destination.output)
    return createView(loc, destination.place, placeType);
  Value argument = outputArguments[*destination.output];
  // The block still has the inputs as tensors next to their places.
  unsigned index =
      program.getNumArguments() - outputs.size() + *destination.output;
  auto map = program.getArgAttrOfType<AffineMapAttr>(index, host::dimsAttr);
  if (map && host::getNumSymbolsUsed(map.getValue()) > numInputSymbols)
    argument = host::OutputOp::create(builder, loc, argument);
  return createView(loc, argument, placeType);
}

void Assignment::deliver(Location loc, Value value, Destination &destination) {
  // The run time copies the buffer of a state to its destination.
  if (value.getDefiningOp<graph::CloseStateOp>())
    return;
  if (destinationOf.lookup(getReshapeRoot(value)) == &destination)
    return;
  ++counts.copies;
  auto type = cast<RankedTensorType>(value.getType());
  Value from = getPlace(value), to = open(loc, destination, type);
  host::CopyOp::create(builder, loc, from, to,
                       host::getBytesAttr(getTensorBytes(type)));
}

Value Assignment::getPlace(Value value) {
  if (Value place = places.lookup(value))
    return place;
  if (value.getDefiningOp<graph::EmptyOp>())
    return createSlot(value.getLoc(), cast<RankedTensorType>(value.getType()));
  // A constant becomes a place in the weights of the module.
  ElementsAttr data;
  if (matchPattern(value, m_Constant(&data))) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(value.getDefiningOp());
    return places[value] =
               createConstant(value.getLoc(), data, AffineMapAttr());
  }
  if (auto transform = value.getDefiningOp<graph::TransformFilterOp>()) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(transform);
    return places[value] = createTransform(transform, AffineMapAttr());
  }
  return Value();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult Assignment::assign(host::LaunchOp op) {
  auto kernel = symbols.lookup<FunctionOpInterface>(op.getCallee());
  if (kernel &&
      kernel.getNumArguments() != op.getNumOperands() + op.getNumResults())
    return op.emitOpError("expected '")
           << op.getCallee()
           << "' to be converted: by convert-graph-to-tile or "
              "convert-graph-to-linalg";
  SmallVector<Value> operands(op.getNumOperands());
  for (OpResult result : op.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    Value place, tied = getTied(result);
    if (tied && !tied.getDefiningOp<graph::EmptyOp>()) {
      place = createView(op.getLoc(), getPlace(tied), getPlaceType(type));
    } else if (Destination *destination = destinationOf.lookup(result)) {
      counts.inOutputs += destination->output.has_value();
      place = open(op.getLoc(), *destination, type);
    } else {
      place = createSlot(op.getLoc(), type);
    }
    places[result] = place;
    for (OpOperand &operand : op->getOpOperands())
      if (tied && operand.get() == tied)
        operands[operand.getOperandNumber()] = place;
    operands.push_back(place);
  }
  for (unsigned index = 0; index < op.getNumOperands(); ++index)
    if (!operands[index] && !(operands[index] = getOperandPlace(op, index)))
      return failure();
  auto launch = host::LaunchOp::create(
      builder, op.getLoc(), TypeRange(), op.getCalleeAttr(), operands,
      builder.getI64IntegerAttr(op.getNumResults()), op.getStepsAttr(),
      op.getGroupsAttr());
  launch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (kernel && tile::hasPrints(kernel))
    launch->setAttr(tile::printsAttr, builder.getUnitAttr());
  return success();
}

LogicalResult Assignment::assign(graph::ReshapeOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  places[op.getResult()] =
      createView(op.getLoc(), getPlace(op.getInput()), getPlaceType(type));
  return success();
}

LogicalResult Assignment::assign(graph::AssignOp op) {
  host::AssignOp::create(builder, op.getLoc(), op.getSymbolsAttr(),
                         op.getValuesAttr());
  return success();
}

/// Creates one check for each kind of relation, with its own message.
LogicalResult Assignment::assign(graph::AssumeOp op) {
  auto check = [&](StringRef message, ArrayAttr broadcasts,
                   ArrayAttr equalities, ArrayAttr bounds) {
    if (!broadcasts && !equalities && !bounds)
      return;
    Value holds =
        host::HoldsOp::create(builder, op.getLoc(), builder.getI1Type(),
                              broadcasts, equalities, bounds);
    host::CheckOp::create(builder, op.getLoc(), holds,
                          builder.getStringAttr(message));
  };
  check("expected shapes that broadcast", op.getBroadcastsAttr(), {}, {});
  check("expected sizes that are equal", {}, op.getEqualitiesAttr(), {});
  check("expected larger sizes", {}, {}, op.getBoundsAttr());
  return success();
}

LogicalResult Assignment::assign(graph::BindOp op) {
  host::BindOp::create(builder, op.getLoc(), getPlace(op.getInput()),
                       op.getSymbolsAttr());
  return success();
}

LogicalResult Assignment::assign(graph::CallOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> inputs;
  SmallVector<Attribute> types;
  SmallVector<int64_t> ranks, symbols;
  SmallVector<AffineExpr> dims;
  auto describe = [&](Type type, ArrayRef<int64_t> bound) {
    auto tensor = cast<RankedTensorType>(type);
    types.push_back(TypeAttr::get(tensor.getElementType()));
    ranks.push_back(tensor.getRank());
    for (AffineExpr dim : getDims(tensor)) {
      auto symbol = dyn_cast<AffineSymbolExpr>(dim);
      bool isBound = symbol && llvm::is_contained(bound, symbol.getPosition());
      symbols.push_back(isBound ? int64_t(symbol.getPosition()) : -1);
      dims.push_back(dim);
    }
  };
  for (Value input : op.getInputs()) {
    inputs.push_back(getPlace(input));
    describe(input.getType(), {});
  }
  for (Type type : op.getResultTypes())
    describe(type, op.getSymbols());
  auto call = host::CallOp::create(
      builder, loc, op.getFunctionAttr(), inputs, builder.getArrayAttr(types),
      builder.getDenseI64ArrayAttr(ranks),
      AffineMapAttr::get(host::getSymbolMap(dims, builder.getContext())),
      builder.getDenseI64ArrayAttr(symbols));
  if (Attribute own = op->getAttr(host::operatorAttr))
    call->setAttr(host::operatorAttr, own);
  for (OpResult result : op.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    Destination *destination = destinationOf.lookup(result);
    Value place =
        destination ? open(loc, *destination, type) : createSlot(loc, type);
    places[result] = place;
    host::FetchOp::create(builder, loc,
                          builder.getI64IntegerAttr(result.getResultNumber()),
                          place, host::getBytesAttr(getTensorBytes(type)));
  }
  return success();
}

LogicalResult Assignment::assign(graph::CheckOp op) {
  Value holds = host::ReadOp::create(builder, op.getLoc(), builder.getI1Type(),
                                     getPlace(op.getCondition()));
  host::CheckOp::create(builder, op.getLoc(), holds, op.getMessageAttr());
  return success();
}

LogicalResult Assignment::assign(graph::CheckRangeOp op) {
  host::CheckRangeOp::create(builder, op.getLoc(), getPlace(op.getLeast()),
                             getPlace(op.getGreatest()), op.getMessageAttr(),
                             op.getRangeAttr());
  return success();
}

/// Returns true if an op of the host program reads the elements of the operand.
static bool needsPlace(OpOperand &use) {
  if (isa<graph::ReshapeOp>(use.getOwner()))
    return use.getOperandNumber() == 0;
  return isa<host::LaunchOp, graph::CallOp, func::ReturnOp, graph::BindOp,
             graph::CheckOp, graph::CheckRangeOp, graph::IfOp, graph::LoopOp,
             graph::YieldOp>(use.getOwner());
}

LogicalResult Assignment::assign(Operation *op) {
  builder.setInsertionPoint(op);
  replaced.push_back(op);
  if (op->hasTrait<OpTrait::ConstantLike>() ||
      isa<func::ReturnOp, graph::CloseStateOp, graph::EmptyOp,
          graph::TransformFilterOp, graph::YieldOp>(op))
    return success(); // placed at its uses
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<host::LaunchOp, graph::AssignOp, graph::AssumeOp, graph::BindOp,
            graph::CallOp, graph::CheckOp, graph::CheckRangeOp, graph::IfOp,
            graph::LoopOp, graph::OpenStateOp, graph::ReshapeOp>(
          [&](auto op) { return assign(op); })
      .Default([](Operation *op) -> LogicalResult {
        // Ops that compute shapes are dead, as types have these values.
        if (!llvm::any_of(op->getUses(), needsPlace) && isMemoryEffectFree(op))
          return success();
        return op->emitOpError("expected a launch, a constant or a reshape in "
                               "the host program");
      });
}

LogicalResult Assignment::assign(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops)
    if (failed(assign(op)))
      return failure();
  return success();
}

/// Creates copies for outputs that no launch wrote, and erases the ops on
/// tensors.
void Assignment::finish() {
  Operation *terminator = program.front().getTerminator();
  builder.setInsertionPoint(terminator);
  for (auto [value, output] : llvm::zip_equal(returned, outputs))
    deliver(program.getLoc(), value, output);
  func::ReturnOp::create(builder, terminator->getLoc());
  for (Operation *op : replaced)
    op->dropAllReferences();
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  llvm::BitVector tensors(program.front().getNumArguments());
  for (BlockArgument argument : program.front().getArguments())
    if (isa<TensorType>(argument.getType()))
      tensors.set(argument.getArgNumber());
  program.front().eraseArguments(tensors);
  if (numBoxes)
    program->setAttr(host::numBoxesAttr, builder.getI64IntegerAttr(numBoxes));
}

LogicalResult Assignment::run() {
  if (!program.getBody().hasOneBlock())
    return program.emitError("expected a host program of one block");
  if (failed(checkTypes()) || failed(checkStates()))
    return failure();
  convertArguments();
  chooseOutputs();
  if (failed(assign(program.front())))
    return failure();
  finish();
  placeDefaults();
  return success();
}

void AssignDestinationsPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isDeclaration() || function.isPrivate() ||
        function->hasAttr(host::kernelAttr) ||
        function->hasAttr(host::numInputsAttr))
      continue;
    AssignmentCounts counts;
    if (failed(Assignment(function, symbols, counts).run()))
      return signalPassFailure();
    numSlots += counts.slots;
    numInOutputs += counts.inOutputs;
    numViews += counts.views;
    numCopies += counts.copies;
  }
}

} // namespace adze
