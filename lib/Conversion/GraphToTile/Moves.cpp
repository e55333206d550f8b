// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Data movement after the computation of a kernel: the kernel stores to a view
// of its memory, whose indices are those of the computed value. Elementwise ops
// after the movement are moved before it.
#include "Families.h"
#include "mlir/Dialect/Affine/Utils.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

//===----------------------------------------------------------------------===//
// Arithmetic before movement
//===----------------------------------------------------------------------===//

/// Returns the reshapes and transposes from `start` to `end`, in order.
static SmallVector<Operation *> getSteps(Value start, Value end) {
  SmallVector<Operation *> steps;
  for (; end != start; end = end.getDefiningOp()->getOperand(0))
    steps.push_back(end.getDefiningOp());
  std::reverse(steps.begin(), steps.end());
  return steps;
}

static Value redo(OpBuilder &b, Value value, ArrayRef<Operation *> steps) {
  for (Operation *step : steps) {
    if (auto transpose = dyn_cast<TransposeOp>(step)) {
      value =
          TransposeOp::create(b, step->getLoc(), value, transpose.getPerm());
      continue;
    }
    auto type =
        makeType(getElementTypeOrSelf(value), getDims(step->getResult(0)));
    value = ReshapeOp::create(b, step->getLoc(), type, value);
  }
  return value;
}

/// Applies the inverse of the steps to `value`.
static Value undo(OpBuilder &b, Value value, ArrayRef<Operation *> steps) {
  for (Operation *step : llvm::reverse(steps)) {
    Operation *op = value.getDefiningOp();
    Dims before = getDims(step->getOperand(0));
    bool isSame = op && op->getName() == step->getName() &&
                  op->getNumOperands() == 1 &&
                  areEqual(getDims(op->getOperand(0)), before);
    if (auto transpose = dyn_cast<TransposeOp>(step)) {
      ArrayRef<int64_t> perm = transpose.getPerm();
      if (isSame && cast<TransposeOp>(op).getPerm() == perm) {
        value = op->getOperand(0);
        continue;
      }
      SmallVector<int64_t> inverse(perm.size());
      for (auto [dim, source] : llvm::enumerate(perm))
        inverse[source] = dim;
      value = TransposeOp::create(b, step->getLoc(), value, inverse);
    } else if (isSame) {
      value = op->getOperand(0);
    } else {
      value = ReshapeOp::create(b, step->getLoc(),
                                makeType(getElementTypeOrSelf(value), before),
                                value);
    }
  }
  return value;
}

/// Returns the value that a movement to `value` starts from, if the kernel
/// computes it and the movement splits dims, or transposes and adds or drops
/// dims of size 1. Returns null otherwise. The emitter follows other movements,
/// transposes alone and reshapes that only add or drop dims, range by range.
static Value findMoved(Value value) {
  Value start = Move::findStart(value);
  if (start == value || !start.getDefiningOp())
    return {};
  SmallVector<Operation *> steps = getSteps(start, value);
  bool isBoth = llvm::any_of(steps, llvm::IsaPred<ReshapeOp>) &&
                llvm::any_of(steps, llvm::IsaPred<TransposeOp>);
  return isBoth || Move::takesDimsApart(value) ? start : Value();
}

/// Rewrites f(move(x), others) to move(f(x, others moved back)).
static bool sink(Operation *op) {
  Value result = op->getResult(0), moved;
  for (Value operand : op->getOperands())
    if (!moved && findMoved(operand) &&
        areEqual(getDims(operand), getDims(result)))
      moved = operand;
  if (!moved)
    return false;
  Value start = findMoved(moved);
  if (!canPrecedeMove(op))
    return false;
  auto isSingle = [](Value value) { return getRealDims(value).empty(); };
  OpBuilder b(op);
  SmallVector<Operation *> steps = getSteps(start, moved);
  Operation *copy = b.clone(*op);
  OpBuilder before(copy);
  for (OpOperand &operand : copy->getOpOperands()) {
    Value value = operand.get();
    if (!isSingle(value) && !areEqual(getDims(value), getDims(result)))
      value = ReshapeOp::create(
          before, op->getLoc(),
          makeType(getElementTypeOrSelf(value), getDims(result)), value);
    if (!isSingle(value))
      operand.set(undo(before, value, steps));
    else if (!getDims(value).empty())
      operand.set(ReshapeOp::create(before, op->getLoc(),
                                    makeType(getElementTypeOrSelf(value), {}),
                                    value));
  }
  copy->getResult(0).setType(
      makeType(getElementTypeOrSelf(result), getDims(start)));
  b.setInsertionPointAfter(copy);
  result.replaceAllUsesWith(redo(b, copy->getResult(0), steps));
  op->erase();
  return true;
}

void adze::sinkMoves(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(
           function.getBody().front().without_terminator()))
    if (isa<ElementwiseOpInterface>(op) && op.getNumResults() == 1)
      sink(&op);
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Returns a view of the memory with the indices of `value`, in which `spans`
/// states how many dims each merged dim has. Returns null if the map is not a
/// sum of digits of indices.
Value KernelEmitter::moved(Value source, const Move &move,
                           ArrayRef<unsigned> spans, Value value) {
  Dims dims = getDims(value);
  auto type = cast<MemRefType>(source.getType());
  // Adjacent dims of the memory are merged, as one run of elements may cover
  // several of them.
  DimRanges whole;
  unsigned merged = type.getLayout().isIdentity() ? move.countMerged()
                    : type.getRank()              ? 1
                                                  : 0;
  SmallVector<unsigned> targets(type.getRank() - merged, 1);
  if (merged > 0)
    targets.push_back(merged);
  for (unsigned span : targets)
    whole.push_back({index(0), -1, 1, span});
  auto map = move.getMap(spans, targets);
  if (!map) {
    (void)fail("elements are moved by dynamic offsets");
    return {};
  }
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  unsigned dim = 0;
  for (unsigned span : spans) {
    Value extent = size(
        product(b.getContext(), ArrayRef<AffineExpr>(dims).slice(dim, span)));
    if (!extent)
      return {};
    auto known = getConstantIntValue(extent);
    shape.push_back(known.value_or(ShapedType::kDynamic));
    if (!known)
      sizes.push_back(extent);
    dim += span;
  }
  Value plain = view(source, whole);
  auto result = MemRefType::get(shape, type.getElementType(), *map);
  return atTop([&]() -> Value {
    return tile::ViewOp::create(b, location, result, plain, sizes, shape);
  });
}

/// Sets the values that are stored before their movement, and those that are
/// loaded in this way for arithmetic.
void KernelEmitter::setMoves() {
  auto see = [&](Value memory, const Move &move, Value value) {
    SmallVector<unsigned> spans(getDims(value).size(), 1);
    Value view = moved(memory, move, spans, value);
    if (view)
      movedMemory.try_emplace(view, MovedMemory{memory, value, move});
    return view;
  };
  for (auto [value, output] : llvm::zip(outputValues, outputs)) {
    Value start = findMoved(value);
    auto move = start ? Move::get(start, value) : std::nullopt;
    Value target = output.memory;
    if (move && output.axis >= 0) {
      DimRanges whole(getDims(value).size(), DimRange{index(0), -1, 1, 1});
      auto own = part(&output - outputs.begin(), whole);
      target = failed(own) ? Value() : *own;
    }
    if (Value view = move && target ? see(target, *move, start) : Value()) {
      value = start;
      output = Output{view, -1, {}};
    }
  }
  for (Operation &op : source.getBody().front().without_terminator())
    for (Value operand : op.getOperands()) {
      auto argument = dyn_cast<BlockArgument>(Move::findStart(operand));
      if (!isa<ElementwiseOpInterface>(op) || operand == argument ||
          !argument || !Move::takesDimsApart(operand) ||
          memory.contains(operand))
        continue;
      if (auto move = Move::get(argument, operand))
        if (Value view =
                see(memory.lookup(argument), move->getInverse(), operand))
          memory[operand] = view;
    }
}

//===----------------------------------------------------------------------===//
// Lone elements
//===----------------------------------------------------------------------===//

/// Resolves indices of a view to those of the memory that it is a view of,
/// which `memory` is set to.
static SmallVector<Value> resolve(OpBuilder &b, Location loc, Value &memory,
                                  ValueRange at) {
  auto view = memory.getDefiningOp<tile::ViewOp>();
  if (!view)
    return SmallVector<Value>(at);
  AffineMap map = cast<MemRefType>(memory.getType()).getLayout().getAffineMap();
  memory = view.getSource();
  return *affine::expandAffineMap(b, loc, map, at);
}

Value adze::loadElement(OpBuilder &b, Location loc, Value memory,
                        ValueRange at) {
  SmallVector<Value> indices = resolve(b, loc, memory, at);
  return memref::LoadOp::create(b, loc, memory, indices);
}

void adze::storeElement(OpBuilder &b, Location loc, Value element, Value memory,
                        ValueRange at) {
  SmallVector<Value> indices = resolve(b, loc, memory, at);
  memref::StoreOp::create(b, loc, element, memory, indices);
}

bool KernelEmitter::isPackable(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner()->getParentOp() == source &&
         packableArguments[argument.getArgNumber()] && argument.hasOneUse();
}

bool KernelEmitter::pack(Value value, AffineMap map) {
  if (!isPackable(value))
    return false;
  Value memref = memory.lookup(value);
  memref.setType(MemRefType::Builder(cast<MemRefType>(memref.getType()))
                     .setLayout(AffineMapAttr::get(map)));
  return true;
}
