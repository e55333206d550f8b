// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// From tensors to places: the host program's destinations.
#include "Dialect/Host/IR/Host.h"
#include "Transforms/Passes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

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

struct Counts {
  unsigned slots = 0, inOutputs = 0, views = 0, copies = 0;
};

/// Rewrites one host program.
class Assignment {
public:
  Assignment(func::FuncOp program, SymbolTable &symbols, Counts &counts)
      : program(program), symbols(symbols), counts(counts),
        builder(program.getContext()) {}

  LogicalResult run();

private:
  LogicalResult checkTypes();
  void convertArguments();
  void chooseOutputs();
  LogicalResult assign(Operation *op);
  LogicalResult assign(host::LaunchOp op);
  void finish();

  Value getPlace(Value value);
  Value getOperandPlace(host::LaunchOp launch, unsigned index);
  Value createView(Location loc, Value place, MemRefType type);

  func::FuncOp program;
  SymbolTable &symbols;
  Counts &counts;
  OpBuilder builder;
  llvm::DenseMap<Value, Value> places;
  llvm::DenseMap<Value, unsigned> outputOf; // a launch's result -> output
  SmallVector<Value> outputs;
  SmallVector<Value> returned;
};
} // namespace

static bool isReshape(Operation *op) {
  return op && op->getName().getStringRef() == "graph.reshape";
}

/// The dims of a tensor as expressions of the symbols; null entries where the
/// type does not say.
static SmallVector<AffineExpr> getDims(RankedTensorType type) {
  auto encoding = dyn_cast_if_present<AffineMapAttr>(type.getEncoding());
  SmallVector<AffineExpr> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      dims.push_back(
          getAffineConstantExpr(type.getDimSize(dim), type.getContext()));
    else if (encoding)
      dims.push_back(encoding.getValue().getResult(dim));
    else
      dims.push_back(AffineExpr());
  }
  return dims;
}

/// Places are signless; a bool is a byte that LLVM knows to be 0 or 1.
static MemRefType getPlaceType(RankedTensorType type) {
  Type element = type.getElementType();
  if (element.isInteger() || element.getIntOrFloatBitWidth() <= 8)
    element =
        IntegerType::get(type.getContext(), element.getIntOrFloatBitWidth());
  return MemRefType::get(type.getShape(), element);
}

/// Splits a product into its constant factor and the others.
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

/// The bytes of a tensor, as one expression with its constant factor last, so
/// that plan-memory sees which sizes are multiples of which.
static AffineExpr getBytes(RankedTensorType type) {
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
  Type element = type.getElementType();
  unsigned bits = element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
  return bits % 8 ? (count * (constant * bits)).ceilDiv(8)
                  : count * (constant * (bits / 8));
}

/// The value that `value` is a reshape of.
static Value getRoot(Value value) {
  while (isReshape(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

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
  for (Operation &op : program.front())
    for (Value result : op.getResults())
      if (!result.use_empty() && failed(check(result)))
        return failure();
  return success();
}

static void setPlaceAttrs(func::FuncOp program, unsigned index,
                          RankedTensorType type, DictionaryAttr attrs) {
  Builder builder(program.getContext());
  NamedAttrList list(attrs);
  if (!type.hasStaticShape()) {
    unsigned numSymbols = 0;
    if (auto names = program->getAttrOfType<ArrayAttr>(host::symbolsAttr))
      numSymbols = names.size();
    list.set(host::dimsAttr,
             AffineMapAttr::get(AffineMap::get(0, numSymbols, getDims(type),
                                               program.getContext())));
  }
  if (getPlaceType(type).getElementType() != type.getElementType())
    list.set(host::dtypeAttr, TypeAttr::get(type.getElementType()));
  program.setArgAttrs(index, list);
}

void Assignment::convertArguments() {
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

  // The arguments keep their tensor type until the ops on them are gone.
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
    outputs.push_back(
        entry.addArgument(placeTypes[index], terminator->getLoc()));
  program.removeResAttrsAttr();
  program.removeArgAttrsAttr();
  program.setType(builder.getFunctionType(placeTypes, {}));
  for (auto [index, type] : llvm::enumerate(types))
    setPlaceAttrs(program, index, type, attrs[index]);
  program->setAttr(host::numInputsAttr, builder.getI64IntegerAttr(numInputs));
}

void Assignment::chooseOutputs() {
  for (auto [index, value] : llvm::enumerate(returned)) {
    Value root = getRoot(value);
    if (root.getDefiningOp<host::LaunchOp>())
      outputOf.try_emplace(root, index);
  }
}

Value Assignment::createView(Location loc, Value place, MemRefType type) {
  if (place.getType() == type)
    return place;
  ++counts.views;
  return host::ViewOp::create(builder, loc, type, place, Attribute());
}

Value Assignment::getPlace(Value value) {
  if (Value place = places.lookup(value))
    return place;
  // A constant: a place of the module's weights.
  ElementsAttr data;
  if (matchPattern(value, m_Constant(&data))) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(value.getDefiningOp());
    return places[value] = host::ConstantOp::create(
               builder, value.getLoc(),
               getPlaceType(cast<RankedTensorType>(value.getType())), data,
               AffineMapAttr(), IntegerAttr());
  }
  return Value();
}

/// The place of an operand: packed by the layout of the kernel's argument.
Value Assignment::getOperandPlace(host::LaunchOp launch, unsigned index) {
  Value operand = launch.getOperand(index);
  auto kernel = symbols.lookup<FunctionOpInterface>(launch.getCallee());
  MemRefType wanted;
  if (kernel && index < kernel.getNumArguments())
    wanted = dyn_cast<MemRefType>(kernel.getArgumentTypes()[index]);
  if (!wanted || wanted.getLayout().isIdentity() ||
      isa<StridedLayoutAttr>(wanted.getLayout()))
    return getPlace(operand);
  ElementsAttr data;
  if (!matchPattern(operand, m_Constant(&data))) {
    launch.emitOpError("expected operand ")
        << index << " to be a constant, because the kernel takes it packed";
    return Value();
  }
  return host::ConstantOp::create(
      builder, operand.getLoc(),
      getPlaceType(cast<RankedTensorType>(operand.getType())), data,
      AffineMapAttr::get(wanted.getLayout().getAffineMap()), IntegerAttr());
}

LogicalResult Assignment::assign(host::LaunchOp op) {
  builder.setInsertionPoint(op);
  SmallVector<Value> operands;
  for (unsigned index = 0; index < op.getNumOperands(); ++index) {
    Value place = getOperandPlace(op, index);
    if (!place)
      return failure();
    operands.push_back(place);
  }
  for (OpResult result : op.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    Value place;
    if (auto output = outputOf.find(result); output != outputOf.end()) {
      ++counts.inOutputs;
      place =
          createView(op.getLoc(), outputs[output->second], getPlaceType(type));
    } else {
      ++counts.slots;
      place =
          host::SlotOp::create(builder, op.getLoc(), getPlaceType(type),
                               host::getBytesAttr(getBytes(type)), Attribute());
    }
    places[result] = place;
    operands.push_back(place);
  }
  auto launch = host::LaunchOp::create(
      builder, op.getLoc(), TypeRange(), op.getCalleeAttr(), operands,
      builder.getI64IntegerAttr(op.getNumResults()));
  launch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return success();
}

LogicalResult Assignment::assign(Operation *op) {
  if (auto launch = dyn_cast<host::LaunchOp>(op))
    return assign(launch);
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<func::ReturnOp>(op))
    return success(); // placed where it is used
  if (isReshape(op)) {
    builder.setInsertionPoint(op);
    Value source = getPlace(op->getOperand(0));
    auto type =
        getPlaceType(cast<RankedTensorType>(op->getResult(0).getType()));
    places[op->getResult(0)] = createView(op->getLoc(), source, type);
    return success();
  }
  // What computed the shape of a reshape: its values are in the types now.
  if (llvm::all_of(op->getUsers(),
                   [](Operation *user) {
                     return isReshape(user) ||
                            !isa<host::LaunchOp, func::ReturnOp>(user);
                   }) &&
      isMemoryEffectFree(op))
    return success();
  return op->emitOpError("expected a launch, a constant or a reshape in the "
                         "host program");
}

/// Copies for outputs that nothing wrote; then the tensors go.
void Assignment::finish() {
  Operation *terminator = program.front().getTerminator();
  builder.setInsertionPoint(terminator);
  for (auto [index, value] : llvm::enumerate(returned)) {
    Value root = getRoot(value);
    auto output = outputOf.find(root);
    if (output != outputOf.end() && output->second == index)
      continue;
    ++counts.copies;
    auto type = cast<RankedTensorType>(value.getType());
    host::CopyOp::create(builder, program.getLoc(), getPlace(value),
                         outputs[index], host::getBytesAttr(getBytes(type)));
  }
  func::ReturnOp::create(builder, terminator->getLoc());
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(program.front())))
    if (&op == terminator ||
        llvm::any_of(op.getResultTypes(), llvm::IsaPred<TensorType>))
      op.erase();
  llvm::BitVector tensors(program.front().getNumArguments());
  for (BlockArgument argument : program.front().getArguments())
    if (isa<TensorType>(argument.getType()))
      tensors.set(argument.getArgNumber());
  program.front().eraseArguments(tensors);
}

LogicalResult Assignment::run() {
  if (!program.getBody().hasOneBlock())
    return program.emitError("expected a host program of one block");
  if (failed(checkTypes()))
    return failure();
  convertArguments();
  chooseOutputs();
  SmallVector<Operation *> ops;
  for (Operation &op : program.front())
    ops.push_back(&op);
  for (Operation *op : ops)
    if (failed(assign(op)))
      return failure();
  finish();
  return success();
}

void AssignDestinationsPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isDeclaration() || function.isPrivate() ||
        function->hasAttr(host::kernelAttr) ||
        function->hasAttr(host::numInputsAttr))
      continue;
    Counts counts;
    if (failed(Assignment(function, symbols, counts).run()))
      return signalPassFailure();
    numSlots += counts.slots;
    numInOutputs += counts.inOutputs;
    numViews += counts.views;
    numCopies += counts.copies;
  }
}

} // namespace adze
