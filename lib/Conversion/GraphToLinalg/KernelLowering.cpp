// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Memory of tensors, sizes from symbols, loops and scalar arithmetic.
#include "KernelLowering.h"
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Host/IR/Programs.h"
#include "Dialect/Tile/IR/Targets.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace adze::graph;

MemRefType adze::graph::getMemrefType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(),
                         getSignlessType(tensor.getElementType()));
}

KernelLowering::KernelLowering(func::FuncOp from, func::FuncOp to,
                               unsigned numSymbols)
    : builder(OpBuilder::atBlockEnd(&to.getBody().front())), loc(from.getLoc()),
      from(from), to(to), numSymbols(numSymbols) {
  for (auto [tensor, memref] :
       llvm::zip(from.getArguments(), to.getArguments()))
    places[tensor] = memref;
}

bool KernelLowering::isForDevices() const {
  return bool(tile::findCudaTarget(from));
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::assignPlaces() {
  if (failed(bindSymbols()))
    return failure();
  Operation *terminator = from.getBody().front().getTerminator();
  auto results = to.getArguments().drop_front(from.getNumArguments());
  for (auto [value, memref] :
       llvm::zip_equal(terminator->getOperands(), results)) {
    if (places.contains(value)) {
      copies.push_back({value, memref});
      continue;
    }
    places[value] = memref;
    // A reshape of a value without other uses is stored through a view.
    Value source = value, place = memref;
    while (auto reshape = source.getDefiningOp<ReshapeOp>()) {
      source = reshape.getInput();
      if (!source.hasOneUse() || places.contains(source))
        break;
      place = view(place, source);
      places[source] = place;
      aliases.insert(reshape);
    }
  }
  return success();
}

void KernelLowering::finish() {
  loc = from.getLoc();
  for (auto [value, memref] : copies)
    memref::CopyOp::create(builder, loc, places.lookup(value), memref);
  func::ReturnOp::create(builder, loc);
}

Value KernelLowering::get(Value tensor) {
  Value memref = places.lookup(tensor);
  assert(memref && "operands are lowered before their users");
  return memref;
}

Value KernelLowering::getOutput(Value tensor) {
  Value &place = places[tensor];
  if (!place)
    place = allocate(tensor);
  return place;
}

bool KernelLowering::isTied(Value result) {
  auto returned = from.getBody().front().getTerminator()->getOperands();
  return llvm::any_of(llvm::enumerate(returned), [&](auto entry) {
    return entry.value() == result &&
           from.getResultAttr(entry.index(), host::tiedAttr);
  });
}

Value KernelLowering::allocate(Value tensor) {
  MemRefType type = getMemrefType(tensor.getType());
  SmallVector<Value> dynamic;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      dynamic.push_back(getSize(tensor, i));
  return memref::AllocOp::create(builder, loc, type, dynamic,
                                 builder.getI64IntegerAttr(64));
}

Value KernelLowering::viewDynamic(Value memref, Value tensor) {
  // Collapse and expand are not used, as upstream lowers an expansion to
  // several dynamic sizes only if they come from one.
  MemRefType to = getMemrefType(tensor.getType());
  SmallVector<OpFoldResult> sizes, strides(to.getRank());
  for (auto [i, size] : llvm::enumerate(getSizes(tensor)))
    sizes.push_back(to.isDynamicDim(i)
                        ? OpFoldResult(size)
                        : builder.getIndexAttr(to.getDimSize(i)));
  OpFoldResult stride = builder.getIndexAttr(1);
  bool isStatic = true;
  for (int64_t i = to.getRank() - 1; i >= 0; --i) {
    strides[i] = stride;
    isStatic &= !to.isDynamicDim(i);
    Value product =
        mul(getValueOrCreateConstantIndexOp(builder, loc, stride),
            getValueOrCreateConstantIndexOp(builder, loc, sizes[i]));
    stride = isStatic ? getAsOpFoldResult(product) : OpFoldResult(product);
  }
  return memref::ReinterpretCastOp::create(
      builder, loc, to, memref, builder.getIndexAttr(0), sizes, strides);
}

Value KernelLowering::view(Value memref, Value tensor) {
  auto from = cast<MemRefType>(memref.getType());
  MemRefType to = getMemrefType(tensor.getType());
  if (from == to && to.hasStaticShape())
    return memref;
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return viewDynamic(memref, tensor);
  // The view goes through a 1-D shape that both forms have.
  auto all = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups;
    if (rank > 0)
      groups.push_back(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
    return groups;
  };
  Value flat = memref;
  if (from.getRank() == 0)
    flat = memref::ExpandShapeOp::create(
        builder, loc, MemRefType::get({1}, from.getElementType()), memref,
        ArrayRef<ReassociationIndices>());
  else if (from.getRank() > 1)
    flat = memref::CollapseShapeOp::create(builder, loc, memref,
                                           all(from.getRank()));
  if (to.getRank() == 1) {
    if (flat.getType() == to)
      return flat;
    return memref::CastOp::create(builder, loc, to, flat);
  }
  if (to.getRank() == 0)
    return memref::CollapseShapeOp::create(builder, loc, to, flat,
                                           ArrayRef<ReassociationIndices>());
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(builder.getContext(), to.getShape());
  return memref::ExpandShapeOp::create(builder, loc, to, flat,
                                       all(to.getRank()), sizes);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

void KernelLowering::bind(AffineExpr expr, Value memref, int64_t dim) {
  if (!expr || getConstant(expr))
    return;
  auto getDim = [&]() -> Value {
    Value &size = known[expr];
    if (!size)
      size = memref::DimOp::create(builder, loc, memref, dim);
    return size;
  };
  Value size = getDim();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    symbols.try_emplace(symbol.getPosition(), size);
    return;
  }
  // The expression is factor * symbol + offset.
  AffineExpr zero = getAffineConstantExpr(0, expr.getContext());
  AffineExpr one = getAffineConstantExpr(1, expr.getContext());
  if (countSymbols(expr) == 0)
    return;
  unsigned position = 0;
  forEachSymbol(expr, [&](unsigned last) { position = last; });
  AffineExpr symbol = getAffineSymbolExpr(position, expr.getContext());
  AffineExpr offset = normalize(expr.replace(symbol, zero));
  AffineExpr factor = subExprs(normalize(expr.replace(symbol, one)), offset);
  if (!getConstant(offset) || getConstant(factor).value_or(0) <= 0 ||
      !areEqual(expr, symbol * factor + offset))
    return;
  if (!symbols.contains(position))
    symbols[position] =
        floorDiv(add(size, -*getConstant(offset)), *getConstant(factor));
}

LogicalResult KernelLowering::bindSymbols() {
  Operation *terminator = from.getBody().front().getTerminator();
  SmallVector<Value> tensors(from.getArguments());
  llvm::append_range(tensors, terminator->getOperands());
  // Sizes that are symbols are bound first.
  for (bool symbolsOnly : {true, false})
    for (auto [tensor, memref] : llvm::zip_equal(tensors, to.getArguments()))
      for (auto [i, dim] : llvm::enumerate(getDims(tensor)))
        if (dim && isa<AffineSymbolExpr>(dim) == symbolsOnly)
          bind(dim, memref, i);
  LogicalResult result = success();
  from.walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      for (auto [i, dim] : llvm::enumerate(getDims(value))) {
        if (failed(result) || (dim && evaluate(dim)))
          continue;
        result = op->emitError("expected a size that the kernel's arguments "
                               "say for dim ")
                 << i << " of a result, but got " << toString(getDims(value));
      }
    }
  });
  return result;
}

/// Returns true if a divisor may be 0.
static bool mayDivideByZero(AffineExpr expr) {
  bool may = false;
  expr.walk([&](AffineExpr part) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    if (!binary || part.getKind() == AffineExprKind::Add ||
        part.getKind() == AffineExprKind::Mul)
      return;
    AffineExpr one = getAffineConstantExpr(1, expr.getContext());
    may |= getBroadcastSizes(part).empty() &&
           !isNonNegative(subExprs(binary.getRHS(), one));
  });
  return may;
}

bool KernelLowering::isModuleSize(AffineExpr expr) const {
  return countSymbols(expr) <= numSymbols;
}

Value KernelLowering::evaluate(AffineExpr expr) {
  if (auto constant = getConstant(expr))
    return index(*constant);
  if (Value size = known.lookup(expr))
    return size;
  bool complete = true;
  unsigned count = countSymbols(expr);
  forEachSymbol(expr,
                [&](unsigned symbol) { complete &= symbols.contains(symbol); });
  if (isModuleSize(expr) && (!complete || mayDivideByZero(expr)))
    return known[expr] =
               host::SizeOp::create(builder, loc, builder.getIndexType(),
                                    AffineMap::get(0, count, expr));
  if (!complete)
    return {};
  SmallVector<Value> operands;
  for (unsigned i = 0; i < count; ++i) {
    Value symbol = symbols.lookup(i);
    operands.push_back(symbol ? symbol : index(0));
  }
  // bindSymbols has emitted all existing sizes before any loop.
  return known[expr] = affine::expandAffineExpr(builder, loc, expr,
                                                /*dimValues=*/{}, operands);
}

Value KernelLowering::getSize(Value tensor, int64_t dim) {
  return evaluate(getDims(tensor)[dim]);
}

SmallVector<Value> KernelLowering::getSizes(Value tensor) {
  return llvm::map_to_vector(getDims(tensor),
                             [&](AffineExpr dim) { return evaluate(dim); });
}

Value KernelLowering::multiply(ValueRange sizes) {
  Value product;
  for (Value size : sizes)
    product = product ? mul(product, size) : size;
  return product ? product : index(1);
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

Value KernelLowering::index(int64_t value) {
  // The constant is created once for each kernel, before its uses.
  Value &constant = constants[value];
  if (!constant) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&to.getBody().front());
    constant = arith::ConstantIndexOp::create(builder, from.getLoc(), value);
  }
  return constant;
}
Value KernelLowering::add(Value lhs, Value rhs) {
  return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}
Value KernelLowering::add(Value lhs, int64_t rhs) {
  return rhs == 0 ? lhs : add(lhs, index(rhs));
}
Value KernelLowering::sub(Value lhs, Value rhs) {
  return builder.createOrFold<arith::SubIOp>(loc, lhs, rhs);
}
Value KernelLowering::mul(Value lhs, Value rhs) {
  return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
}
Value KernelLowering::mul(Value lhs, int64_t rhs) {
  return rhs == 1 ? lhs : mul(lhs, index(rhs));
}
Value KernelLowering::min(Value lhs, Value rhs) {
  return builder.createOrFold<arith::MinSIOp>(loc, lhs, rhs);
}
Value KernelLowering::max(Value lhs, Value rhs) {
  return builder.createOrFold<arith::MaxSIOp>(loc, lhs, rhs);
}
Value KernelLowering::floorDiv(Value lhs, int64_t rhs) {
  if (rhs == 1)
    return lhs;
  return builder.createOrFold<arith::FloorDivSIOp>(loc, lhs, index(rhs));
}
Value KernelLowering::compare(arith::CmpIPredicate predicate, Value lhs,
                              Value rhs) {
  return builder.createOrFold<arith::CmpIOp>(loc, predicate, lhs, rhs);
}
Value KernelLowering::conjunction(Value lhs, Value rhs) {
  return builder.createOrFold<arith::AndIOp>(loc, lhs, rhs);
}
Value KernelLowering::select(Value condition, Value lhs, Value rhs) {
  return builder.createOrFold<arith::SelectOp>(loc, condition, lhs, rhs);
}

Value KernelLowering::toIndex(Value integer, Value size) {
  Value i = builder.createOrFold<arith::IndexCastOp>(
      loc, builder.getIndexType(), integer);
  Value zero = index(0);
  Value negative = compare(arith::CmpIPredicate::slt, i, zero);
  Value wrapped = select(negative, add(i, size), i);
  // The index is 0 for an empty dim, from which nothing is read.
  return max(min(wrapped, sub(size, index(1))), zero);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<KernelLowering::Range> KernelLowering::getRanges(ValueRange sizes) {
  return llvm::map_to_vector(sizes,
                             [&](Value size) { return Range{index(0), size}; });
}

SmallVector<Value> KernelLowering::fold(
    ArrayRef<Range> ranges, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(Indices, Indices)> body) {
  SmallVector<Value> indices;
  SmallVector<scf::ForOp> loops;
  SmallVector<Value> carried(inits);
  OpBuilder::InsertionGuard guard(builder);
  for (Range range : ranges) {
    auto loop = scf::ForOp::create(builder, loc, range.low, range.high,
                                   index(1), carried);
    loops.push_back(loop);
    indices.push_back(loop.getInductionVar());
    carried.assign(loop.getRegionIterArgs().begin(),
                   loop.getRegionIterArgs().end());
    // Without carried values, the builder has created the terminator.
    builder.setInsertionPointToStart(loop.getBody());
  }
  SmallVector<Value> results = body(indices, carried);
  for (scf::ForOp loop : llvm::reverse(loops)) {
    if (!inits.empty()) {
      builder.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(builder, loc, results);
      results.assign(loop.getResults().begin(), loop.getResults().end());
    }
  }
  return results;
}

Value KernelLowering::fold(ArrayRef<Range> ranges, Value init,
                           llvm::function_ref<Value(Indices, Value)> body) {
  return fold(ranges, ValueRange(init),
              [&](Indices indices, Indices carried) {
                return SmallVector<Value>{body(indices, carried[0])};
              })
      .front();
}

void KernelLowering::forEach(ValueRange sizes,
                             llvm::function_ref<void(Indices)> body) {
  fold(getRanges(sizes), ValueRange(), [&](Indices indices, Indices) {
    body(indices);
    return SmallVector<Value>();
  });
}

void KernelLowering::forEachProgram(ValueRange sizes,
                                    llvm::function_ref<void(Indices)> body) {
  auto several = llvm::find_if(
      sizes, [](Value size) { return getConstantIntValue(size) != 1; });
  if (several == sizes.end())
    return forEach(sizes, body);
  unsigned outer = several - sizes.begin();
  SmallVector<Value> inner(sizes);
  inner.erase(inner.begin() + outer);
  OpBuilder::InsertionGuard guard(builder);
  auto loop = scf::ForOp::create(builder, loc, index(0), *several, index(1));
  loop->setAttr(host::programsAttr, builder.getUnitAttr());
  builder.setInsertionPointToStart(loop.getBody());
  forEach(inner, [&](Indices at) {
    SmallVector<Value> point(at);
    point.insert(point.begin() + outer, loop.getInductionVar());
    body(point);
  });
}

void KernelLowering::forEachUpdate(ValueRange sizes, ArrayRef<int64_t> ordered,
                                   llvm::function_ref<void(Indices)> body) {
  if (!isForDevices())
    return forEach(sizes, body);
  SmallVector<Value> indices(sizes.size());
  OpBuilder::InsertionGuard guard(builder);
  for (bool isOrdered : {false, true})
    for (auto [dim, size] : llvm::enumerate(sizes)) {
      if (llvm::is_contained(ordered, dim) != isOrdered)
        continue;
      auto loop = scf::ForOp::create(builder, loc, index(0), size, index(1));
      if (!isOrdered)
        loop->setAttr(host::independentAttr, builder.getUnitAttr());
      indices[dim] = loop.getInductionVar();
      builder.setInsertionPointToStart(loop.getBody());
    }
  body(indices);
}

Value KernelLowering::ifThenElse(Value condition,
                                 llvm::function_ref<Value()> body,
                                 Value otherwise) {
  auto ifOp = scf::IfOp::create(builder, loc, TypeRange(otherwise.getType()),
                                condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(ifOp.thenBlock());
  Value value = body();
  scf::YieldOp::create(builder, loc, value);
  builder.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(builder, loc, otherwise);
  return ifOp.getResult(0);
}

void KernelLowering::fill(Value tensor,
                          llvm::function_ref<Value(Indices)> body) {
  Value memref = getOutput(tensor);
  forEach(getSizes(tensor),
          [&](Indices indices) { store(body(indices), memref, indices); });
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value KernelLowering::load(Value memref, Indices indices) {
  return memref::LoadOp::create(builder, loc, memref, indices);
}

void KernelLowering::store(Value value, Value memref, Indices indices) {
  memref::StoreOp::create(builder, loc, value, memref, indices);
}

Value KernelLowering::loadWide(Value memref, Indices indices) {
  Value value = load(memref, indices);
  ElementBuilder b = elements();
  return buildCast(b, value, value.getType(),
                   getAccumulatorType(value.getType()));
}

void KernelLowering::storeWide(Value value, Value memref, Indices indices) {
  ElementBuilder b = elements();
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  store(buildCast(b, value, value.getType(), type), memref, indices);
}

Value KernelLowering::number(Type type, double value) {
  return elements().number(type, value);
}

Value KernelLowering::toNumber(Value index, Type type) {
  Type i64 = builder.getI64Type();
  Value integer = arith::IndexCastOp::create(builder, loc, i64, index);
  ElementBuilder b = elements();
  return buildCast(b, integer, i64, type);
}

Value KernelLowering::addNum(Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  return arith::AddIOp::create(builder, loc, lhs, rhs);
}
Value KernelLowering::subNum(Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::SubFOp::create(builder, loc, lhs, rhs);
  return arith::SubIOp::create(builder, loc, lhs, rhs);
}
Value KernelLowering::mulNum(Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::MulFOp::create(builder, loc, lhs, rhs);
  return arith::MulIOp::create(builder, loc, lhs, rhs);
}
Value KernelLowering::divNum(Value lhs, Value rhs) {
  return arith::DivFOp::create(builder, loc, lhs, rhs);
}
