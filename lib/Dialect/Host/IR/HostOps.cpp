// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Verifiers and memory effects of the host ops.
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Host/IR/LastRows.h"
#include "Support/PackedLayout.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace adze::host;

AffineExpr adze::host::getBytesExpr(Attribute attr, MLIRContext *context) {
  if (auto map = dyn_cast_if_present<AffineMapAttr>(attr))
    return map.getValue().getResult(0);
  auto integer = dyn_cast_if_present<IntegerAttr>(attr);
  return getAffineConstantExpr(integer ? integer.getInt() : 0, context);
}

Attribute adze::host::getBytesAttr(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Builder(expr.getContext()).getI64IntegerAttr(constant.getValue());
  return AffineMapAttr::get(getSymbolMap(expr, expr.getContext()));
}

unsigned adze::host::getNumInputSymbols(Operation *program) {
  auto function = cast<FunctionOpInterface>(program);
  auto numInputs = program->getAttrOfType<IntegerAttr>(numInputsAttr);
  unsigned count = 0;
  for (int64_t i = 0; numInputs && i < numInputs.getInt(); ++i)
    if (auto map = function.getArgAttrOfType<AffineMapAttr>(i, dimsAttr))
      count = std::max(count, getNumSymbolsUsed(map.getValue()));
  for (LastRows rows : getLastRows(program))
    count = std::max(count, rows.symbol + 1);
  return count;
}

unsigned adze::host::getNumSymbolsUsed(AffineMap map) {
  unsigned count = 0;
  for (AffineExpr result : map.getResults())
    count = std::max(count, getNumSymbolsUsed(result));
  return count;
}

unsigned adze::host::getNumSymbolsUsed(AffineExpr expr) {
  unsigned count = 0;
  expr.walk([&](AffineExpr inner) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(inner))
      count = std::max(count, symbol.getPosition() + 1);
  });
  return count;
}

static AffineMap getMap(ArrayRef<AffineExpr> results, MLIRContext *context,
                        unsigned numSymbols) {
  for (AffineExpr result : results)
    numSymbols = std::max(numSymbols, getNumSymbolsUsed(result));
  return AffineMap::get(0, numSymbols, results, context);
}

AffineMap adze::host::getSymbolMap(ArrayRef<AffineExpr> results,
                                   MLIRContext *context) {
  return getMap(results, context, /*numSymbols=*/0);
}

AffineMap adze::host::getSymbolMap(ArrayRef<AffineExpr> results,
                                   Operation *program) {
  auto names = program->getAttrOfType<ArrayAttr>(symbolsAttr);
  return getMap(results, program->getContext(), names ? names.size() : 0);
}

AffineExpr adze::host::getPlaceBytes(Value place) {
  MLIRContext *context = place.getContext();
  Operation *op = place.getDefiningOp();
  if (auto slot = dyn_cast_if_present<SlotOp>(op))
    return getBytesExpr(slot.getSizeAttr(), context);
  if (auto constant = dyn_cast_if_present<ConstantOp>(op))
    return getAffineConstantExpr(constant.getStoredBytes(), context);
  if (auto transform = dyn_cast_if_present<TransformOp>(op))
    return getAffineConstantExpr(transform.getStoredBytes(), context);
  if (auto view = dyn_cast_if_present<ViewOp>(op))
    return getPlaceBytes(view.getSource());
  if (auto output = dyn_cast_if_present<OutputOp>(op))
    return getPlaceBytes(output.getArgument());
  if (isa_and_present<StateOp>(op))
    return getAffineConstantExpr(0, context);
  auto argument = cast<BlockArgument>(place);
  auto program = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto type = cast<MemRefType>(place.getType());
  auto map = program.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(),
                                                     dimsAttr);
  if (!map && !type.hasStaticShape())
    return getAffineConstantExpr(0, context);
  AffineExpr bytes = getAffineConstantExpr(
      llvm::divideCeil(type.getElementTypeBitWidth(), 8), context);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    bytes = type.isDynamicDim(dim) ? map.getValue().getResult(dim) * bytes
                                   : bytes * type.getDimSize(dim);
  return bytes;
}

AffineExpr adze::host::getBytesToEnd(Value place) {
  if (place.getDefiningOp<StateOp>())
    return {};
  auto view = place.getDefiningOp<ViewOp>();
  if (!view)
    return getPlaceBytes(place);
  AffineExpr bytes = getBytesToEnd(view.getSource());
  if (!bytes)
    return {};
  if (Attribute offset = view.getOffsetAttr())
    bytes = bytes - getBytesExpr(offset, place.getContext());
  return bytes;
}

static LogicalResult verifyBytes(Operation *op, StringRef name,
                                 Attribute attr) {
  if (auto map = dyn_cast_if_present<AffineMapAttr>(attr))
    if (map.getValue().getNumDims() || map.getValue().getNumResults() != 1)
      return op->emitOpError("expected '")
             << name << "' to be a map from symbols to one result, but got "
             << attr;
  return success();
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  bool anyTensor =
      llvm::any_of(getOperandTypes(), llvm::IsaPred<RankedTensorType>);
  bool anyMemRef = llvm::any_of(getOperandTypes(), llvm::IsaPred<MemRefType>);
  if (anyTensor && anyMemRef)
    return emitOpError("expected all operands to be tensors or all to be "
                       "memrefs, but got both"); // C1
  if (anyMemRef && getNumResults())
    return emitOpError("expected no results of a launch on memrefs, but got ")
           << getNumResults(); // C1
  if (anyMemRef && getNumOutputs() > getNumOperands())
    return emitOpError("expected at most ")
           << getNumOperands() << " outputs, but got " << getNumOutputs();
  if (getGroupsAttr() && !getStepsAttr())
    return emitOpError("expected groups of a launch in steps"); // C6
  if (failed(verifyBytes(*this, "groups", getGroupsAttr())))
    return failure();
  return verifyBytes(*this, "steps", getStepsAttr()); // C5
}

/// Returns true if a place of type `given` may be passed to an argument of type
/// `wanted`.
static bool areCompatible(Type given, Type wanted) {
  auto a = dyn_cast<ShapedType>(given), b = dyn_cast<ShapedType>(wanted);
  if (!a || !b || !a.hasRank() || !b.hasRank())
    return given == wanted;
  auto width = [](Type type) -> unsigned {
    if (!type.isIntOrFloat())
      return 0;
    // A bool is a byte in memory.
    return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth();
  };
  if (width(a.getElementType()) != width(b.getElementType()))
    return false;
  return succeeded(verifyCompatibleShape(a.getShape(), b.getShape()));
}

static LogicalResult verifyTypes(LaunchOp op, TypeRange given, TypeRange wanted,
                                 StringRef what) {
  if (given.size() != wanted.size())
    return op.emitOpError("expected ")
           << wanted.size() << " " << what << " for '" << op.getCallee()
           << "', but got " << given.size(); // C3
  for (auto [index, pair] : llvm::enumerate(llvm::zip(given, wanted)))
    if (!areCompatible(std::get<0>(pair), std::get<1>(pair)))
      return op.emitOpError("expected ")
             << what << " " << index << " to fit " << std::get<1>(pair)
             << ", but got " << std::get<0>(pair); // C4
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  auto callee = dyn_cast_if_present<FunctionOpInterface>(symbol);
  if (!callee)
    return emitOpError("expected '")
           << getCallee() << "' to be a function or kernel"; // C2
  // The signature of code of another level does not have tensor types.
  if (!isa<FunctionType>(callee.getFunctionType()))
    return success();
  if (callee.getNumResults()) {
    if (failed(verifyTypes(*this, getOperandTypes(), callee.getArgumentTypes(),
                           "operands")))
      return failure();
    return verifyTypes(*this, getResultTypes(), callee.getResultTypes(),
                       "results");
  }
  SmallVector<Type> places(getOperandTypes());
  llvm::append_range(places, getResultTypes());
  SmallVector<Type> wanted;
  for (Type type : callee.getArgumentTypes())
    if (isa<ShapedType>(type)) // not the range of programs
      wanted.push_back(type);
  // A constant with a layout is packed by it after the kernel is specialized.
  for (auto [operand, type] : llvm::zip(getOperands(), wanted))
    if (auto constant = operand.getDefiningOp<ConstantOp>();
        constant && constant.getLayoutAttr())
      type = operand.getType();
  return verifyTypes(*this, places, wanted, "arguments");
}

void LaunchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (getNumResults())
    return; // on tensors: a pure function of its operands
  size_t numInputs = getNumOperands() - getNumOutputs();
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (operand.getOperandNumber() < numInputs)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

LogicalResult SlotOp::verify() {
  if (getOffsetAttr() && !getAfter().empty())
    return emitOpError("expected an offset or preceding slots, but got "
                       "both"); // C1
  for (Value other : getAfter())
    if (!other.getDefiningOp<SlotOp>())
      return emitOpError("expected preceding slots, but got ") << other; // C2
  if (failed(verifyBytes(*this, "size", getSize())))
    return failure();
  if (getBox() && (getOffsetAttr() || !getAfter().empty()))
    return emitOpError("expected an offset or a box, but got both"); // C1
  if (failed(verifyBytes(*this, "keep", getKeepAttr())))
    return failure();
  return verifyBytes(*this, "offset", getOffsetAttr());
}

LogicalResult OutputOp::verify() {
  auto argument = dyn_cast<BlockArgument>(getArgument());
  auto program =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  if (program && argument.getOwner()->isEntryBlock())
    return success();
  return emitOpError("expected an argument of the host program");
}

LogicalResult AssignOp::verify() {
  if (getValues().getNumDims() == 0 &&
      getValues().getNumResults() == getSymbols().size())
    return success();
  return emitOpError("expected a map from symbols to ")
         << getSymbols().size() << " results, but got " << getValuesAttr();
}

LogicalResult CheckRangeOp::verify() {
  if (getRange().getNumDims() == 0 && getRange().getNumResults() == 2)
    return success();
  return emitOpError("expected a map from symbols to two bounds, but got ")
         << getRangeAttr();
}

LogicalResult SizeOp::verify() {
  if (getValue().getNumDims() == 0 && getValue().getNumResults() == 1)
    return success();
  return emitOpError("expected a map from symbols to one result, but got ")
         << getValueAttr();
}

LogicalResult CallOp::verify() {
  size_t numDims = 0;
  for (int64_t rank : getRanks()) {
    if (rank < 0)
      return emitOpError("expected ranks of at least 0, but got ") << rank;
    numDims += rank;
  }
  if (getTypes().size() != getRanks().size() ||
      getInputs().size() > getRanks().size())
    return emitOpError("expected a type and a rank of each value, but got ")
           << getTypes().size() << " and " << getRanks().size();
  if (getDims().getNumDims() != 0 || getDims().getNumResults() != numDims ||
      getSymbols().size() != numDims)
    return emitOpError("expected ")
           << numDims << " dims and symbols, but got "
           << getDims().getNumResults() << " and " << getSymbols().size();
  return success();
}

LogicalResult ConstantOp::verify() {
  auto type = cast<MemRefType>(getResult().getType());
  ShapedType value = getValue().getShapedType();
  if (type.getShape() != value.getShape())
    return emitOpError("expected a memref of shape ")
           << value << ", but got " << type;
  if (AffineMapAttr layout = getLayoutAttr())
    if (layout.getValue().getNumDims() != type.getRank())
      return emitOpError("expected a layout of ")
             << type.getRank() << " dims, but got " << layout;
  return success();
}

/// Returns the bytes of a dense array, packed by `layout`, if there is one.
static int64_t getPackedBytes(ArrayRef<int64_t> shape, Type element,
                              AffineMapAttr layout) {
  SmallVector<int64_t> sizes(shape);
  if (layout)
    sizes = adze::getPackedShape(shape, layout.getValue());
  unsigned bits = element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
  return llvm::divideCeil(llvm::product_of(sizes) * bits, 8);
}

int64_t ConstantOp::getStoredBytes() {
  ShapedType type = getValue().getShapedType();
  return getPackedBytes(type.getShape(), type.getElementType(),
                        getLayoutAttr());
}

//===----------------------------------------------------------------------===//
// TransformOp
//===----------------------------------------------------------------------===//

int64_t TransformOp::getStoredBytes() {
  auto type = cast<MemRefType>(getResult().getType());
  return getPackedBytes(type.getShape(), type.getElementType(),
                        getLayoutAttr());
}

AffineMap adze::host::getTransformLayout(MLIRContext *context, int64_t panel,
                                         int64_t group) {
  AffineExpr row, input, output;
  bindDims(context, row, input, output);
  SmallVector<AffineExpr> exprs{output.floorDiv(panel), row,
                                input.floorDiv(group), output % panel};
  if (group > 1)
    exprs.push_back(input % group);
  return AffineMap::get(3, 0, exprs, context);
}

/// Returns the divisor of a result `d floordiv c`, or 1.
static int64_t getDivisor(AffineMap map, unsigned result) {
  if (result >= map.getNumResults() ||
      map.getResult(result).getKind() != AffineExprKind::FloorDiv)
    return 1;
  auto division = cast<AffineBinaryOpExpr>(map.getResult(result));
  auto by = dyn_cast<AffineConstantExpr>(division.getRHS());
  return by ? by.getValue() : 1;
}

std::pair<int64_t, int64_t> TransformOp::getPanelAndGroup() {
  auto type = cast<MemRefType>(getResult().getType());
  if (!getLayout())
    return {type.getDimSize(2), 1};
  return {getDivisor(*getLayout(), 0), getDivisor(*getLayout(), 2)};
}

LogicalResult TransformOp::verify() {
  for (Value operand : getOperands()) {
    auto constant = operand.getDefiningOp<ConstantOp>();
    if (!constant || constant.getLayout())
      return emitOpError("expected operands that are constants without a "
                         "layout"); // C1
  }
  auto filter = cast<MemRefType>(getFilter().getType()),
       matrix = cast<MemRefType>(getMatrix().getType()),
       result = cast<MemRefType>(getResult().getType());
  if (filter.getRank() < 3 || matrix.getRank() != 2 || result.getRank() != 3)
    return emitOpError(
               "expected a filter [O, C, kernel..], a matrix [P, K] and "
               "a result [P, C, O], but got ")
           << filter << ", " << matrix << " and " << result;
  auto [panel, group] = getPanelAndGroup();
  if (getLayout() &&
      *getLayout() != getTransformLayout(getContext(), panel, group))
    return emitOpError("expected a layout of panels of outputs and groups of "
                       "inputs, but got ")
           << getLayoutAttr(); // C2
  return success();
}
