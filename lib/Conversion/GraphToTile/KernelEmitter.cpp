// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The basic parts of a kernel: arguments, parameters, sizes, loops, program
// ids, and the loads and stores of tiles.
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Returns the memory type of an element of a graph type: a bool is a byte.
static Type getMemoryElement(Type type) {
  Type element = getSignlessType(getElementTypeOrSelf(type));
  return element.isInteger(1) ? IntegerType::get(type.getContext(), 8)
                              : element;
}

static MemRefType getMemoryType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), getMemoryElement(tensor));
}

KernelEmitter::KernelEmitter(func::FuncOp source,
                             function_ref<bool(unsigned)> packable)
    : source(source), location(source.getLoc()), b(source) {
  SmallVector<Type> types;
  SmallVector<Value> values(source.getArguments());
  llvm::append_range(values, getResults());
  SmallVector<Attribute> attributes;
  for (Value value : values) {
    types.push_back(getMemoryType(value.getType()));
    NamedAttrList list;
    if (Attribute dims = cast<RankedTensorType>(value.getType()).getEncoding())
      list.set("adze.dims", dims);
    attributes.push_back(list.getDictionary(b.getContext()));
  }
  OperationState state(location, tile::KernelOp::getOperationName());
  state.addAttribute("sym_name", source.getSymNameAttr());
  state.addAttribute("function_type",
                     TypeAttr::get(b.getFunctionType(types, {})));
  state.addAttribute("arg_attrs", b.getArrayAttr(attributes));
  state.addRegion();
  kernel = cast<tile::KernelOp>(b.create(state));
  Block *body = b.createBlock(&kernel.getBody(), {}, types,
                              SmallVector<Location>(types.size(), location));
  for (auto [value, argument] :
       llvm::zip(source.getArguments(), body->getArguments()))
    memory[value] = argument;
  unsigned inputs = source.getNumArguments();
  setOutputs(body->getArguments().drop_front(inputs));
  for (unsigned i = 0; i < inputs; ++i)
    packableArguments.push_back(packable(i));
  b.setInsertionPointToEnd(body);
  auto end = tile::ReturnOp::create(b, location);
  b.setInsertionPoint(end);
  scopes.emplace_back();
  setMoves();
}

int64_t KernelEmitter::getKnownRows(AffineExpr rows) const {
  return batchInvariant || !rows ? -1 : graph::getConstant(rows).value_or(-1);
}

LogicalResult KernelEmitter::fail(const Twine &reason) {
  why = reason.str();
  return failure();
}

void KernelEmitter::finish() {
  kernel.setFunctionType(b.getFunctionType(
      kernel.getBody().front().getArgumentTypes(), TypeRange()));
  if (!bindings.empty())
    kernel->setAttr("tile.params", b.getDictionaryAttr(bindings));
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Creates an index value at the top of the kernel.
Value KernelEmitter::atTop(function_ref<Value()> make) {
  OpBuilder::InsertionGuard guard(b);
  if (lastTop)
    b.setInsertionPointAfter(lastTop);
  else
    b.setInsertionPointToStart(&kernel.getBody().front());
  Value value = make();
  if (b.getInsertionPoint() != b.getInsertionBlock()->begin())
    lastTop = &*std::prev(b.getInsertionPoint());
  return value;
}

Value KernelEmitter::param(StringRef name, int64_t binding,
                           ArrayRef<int64_t> menu) {
  Value &value = params[name];
  if (value)
    return value;
  value = atTop([&]() -> Value {
    OperationState state(location, tile::ParamOp::getOperationName());
    state.addAttribute("name", b.getStringAttr(name));
    if (!menu.empty())
      state.addAttribute("choices", b.getDenseI64ArrayAttr(menu));
    state.addTypes(b.getIndexType());
    return b.create(state)->getResult(0);
  });
  bindings.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(binding)));
  return value;
}

std::optional<int64_t> KernelEmitter::getBinding(StringRef name) const {
  for (NamedAttribute binding : bindings)
    if (binding.getName() == name)
      return cast<IntegerAttr>(binding.getValue()).getInt();
  return std::nullopt;
}

Value KernelEmitter::index(int64_t value) {
  Value &constant = constants[value];
  if (!constant)
    constant = atTop([&]() -> Value {
      return arith::ConstantIndexOp::create(b, location, value);
    });
  return constant;
}

Value KernelEmitter::add(Value lhs, Value rhs) {
  auto l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return index(*l + *r);
  if (l == 0)
    return rhs;
  if (r == 0)
    return lhs;
  return arith::AddIOp::create(b, location, lhs, rhs);
}

Value KernelEmitter::sub(Value lhs, Value rhs) {
  auto l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return index(*l - *r);
  if (r == 0)
    return lhs;
  return arith::SubIOp::create(b, location, lhs, rhs);
}

Value KernelEmitter::mul(Value lhs, Value rhs) {
  auto l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return index(*l * *r);
  if (l == 1 || r == 0)
    return rhs;
  if (r == 1 || l == 0)
    return lhs;
  return arith::MulIOp::create(b, location, lhs, rhs);
}

Value KernelEmitter::div(Value lhs, Value rhs) {
  auto l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r && *r > 0 && *l >= 0)
    return index(*l / *r);
  if (r == 1 || l == 0)
    return lhs;
  return arith::DivUIOp::create(b, location, lhs, rhs);
}

Value KernelEmitter::rem(Value lhs, Value rhs) {
  auto l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r && *r > 0 && *l >= 0)
    return index(*l % *r);
  if (r == 1 || l == 0)
    return index(0);
  return arith::RemUIOp::create(b, location, lhs, rhs);
}

Value KernelEmitter::ceilDiv(Value lhs, Value rhs) {
  auto l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r && *r > 0 && *l >= 0)
    return index((*l + *r - 1) / *r);
  if (r == 1)
    return lhs;
  return arith::CeilDivUIOp::create(b, location, lhs, rhs);
}

Value KernelEmitter::max(Value lhs, Value rhs) {
  auto l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return index(std::max(*l, *r));
  return arith::MaxSIOp::create(b, location, lhs, rhs);
}

Value KernelEmitter::min(Value lhs, Value rhs) {
  auto l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return index(std::min(*l, *r));
  return arith::MinSIOp::create(b, location, lhs, rhs);
}

Value KernelEmitter::size(AffineExpr expr) {
  if (!expr) {
    (void)fail("a size is not an expression of symbols");
    return {};
  }
  if (auto constant = getConstant(expr))
    return index(*constant);
  if (Value known = sizes.lookup(expr))
    return known;
  SmallVector<std::pair<Value, Value>> ranges;
  for (Value argument : source.getArguments())
    ranges.push_back({argument, memory.lookup(argument)});
  Block::BlockArgListType arguments = kernel.getBody().getArguments();
  for (auto [result, range] : llvm::zip_equal(
           getResults(), arguments.drop_front(source.getNumArguments())))
    ranges.push_back({result, range});
  for (auto [value, range] : ranges)
    for (auto [dim, size] : llvm::enumerate(getDims(value)))
      if (areEqual(size, expr))
        return sizes[expr] = atTop([&, range = range, dim = dim]() -> Value {
                 return memref::DimOp::create(b, location, range, dim);
               });
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  bool divides = binary && binary.getKind() != AffineExprKind::Add &&
                 binary.getKind() != AffineExprKind::Mul;
  // host.size handles divisors of 0.
  if (!binary || (divides && !getConstant(binary.getRHS())))
    return sizes[expr] = atTop([&]() -> Value {
             unsigned count = host::getNumSymbolsUsed(expr);
             return host::SizeOp::create(b, location, b.getIndexType(),
                                         AffineMap::get(0, count, expr));
           });
  Value lhs = size(binary.getLHS()), rhs = size(binary.getRHS());
  return sizes[expr] = atTop([&]() -> Value {
           switch (binary.getKind()) {
           case AffineExprKind::Add:
             return add(lhs, rhs);
           case AffineExprKind::Mul:
             return mul(lhs, rhs);
           case AffineExprKind::FloorDiv:
             return arith::FloorDivSIOp::create(b, location, lhs, rhs);
           case AffineExprKind::CeilDiv:
             return arith::CeilDivSIOp::create(b, location, lhs, rhs);
           default:
             return arith::RemSIOp::create(b, location, lhs, rhs);
           }
         });
}

SmallVector<Value> KernelEmitter::programIds(ArrayRef<Value> given,
                                             bool swapped) {
  SmallVector<Value> counts(given);
  if (swapped)
    std::swap(counts[0], counts[1]);
  SmallVector<unsigned> real;
  for (auto [i, count] : llvm::enumerate(counts))
    if (getConstantIntValue(count) != 1)
      real.push_back(i);
  SmallVector<Value> grid;
  for (auto [i, dim] : llvm::enumerate(real)) {
    if (i < 3)
      grid.push_back(counts[dim]);
    else
      grid.back() = mul(grid.back(), counts[dim]);
  }
  if (grid.empty())
    grid.push_back(index(1));
  OperationState state(location, tile::ProgramIdOp::getOperationName());
  state.addOperands(grid);
  state.addTypes(SmallVector<Type>(grid.size(), b.getIndexType()));
  Operation *program = b.create(state);
  SmallVector<Value> ids(counts.size());
  for (Value &id : ids)
    id = index(0);
  for (auto [i, dim] : llvm::enumerate(real)) {
    if (i < 2 || real.size() <= 3) {
      ids[dim] = program->getResult(i);
      continue;
    }
    Value rest = program->getResult(2);
    for (unsigned inner = 2; inner < i; ++inner)
      rest = div(rest, counts[real[inner]]);
    ids[dim] = i + 1 == real.size() ? rest : rem(rest, counts[dim]);
  }
  if (swapped)
    std::swap(ids[0], ids[1]);
  return ids;
}

FailureOr<KernelEmitter::Carried>
KernelEmitter::loop(Value end, Value step, ValueRange init,
                    function_ref<FailureOr<Carried>(Value, ValueRange)> body) {
  auto knownEnd = getConstantIntValue(end),
       knownStep = getConstantIntValue(step);
  if (knownEnd && *knownEnd <= 0) // as of a window that is only padding
    return Carried(init);
  if (knownEnd && knownStep && *knownEnd <= *knownStep)
    return body(index(0), init);
  auto loop = scf::ForOp::create(b, location, index(0), end, step, init);
  OpBuilder::InsertionGuard guard(b);
  if (init.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b.setInsertionPointToEnd(loop.getBody());
  scopes.emplace_back();
  FailureOr<Carried> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  scopes.pop_back();
  if (failed(next))
    return failure();
  if (!init.empty())
    scf::YieldOp::create(b, location, *next);
  return Carried(loop.getResults());
}

LogicalResult KernelEmitter::phase(function_ref<LogicalResult()> body) {
  auto phase = tile::PhaseOp::create(b, location);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&phase.getBody());
  b.setInsertionPoint(tile::ReturnOp::create(b, location));
  scopes.emplace_back();
  LogicalResult result = body();
  scopes.pop_back();
  return result;
}

//===----------------------------------------------------------------------===//
// Axes and tiles
//===----------------------------------------------------------------------===//

void KernelEmitter::setAxis(int axis, Value size) {
  if ((int)axisSizes.size() <= axis)
    axisSizes.resize(axis + 1);
  axisSizes[axis] = size;
}

/// Splits a mixed list as in `[%bm, 32]` into dynamic and static values.
static void getMixed(ArrayRef<Value> values, SmallVectorImpl<Value> &dynamic,
                     SmallVectorImpl<int64_t> &fixed) {
  for (Value value : values) {
    auto constant = getConstantIntValue(value);
    fixed.push_back(constant.value_or(ShapedType::kDynamic));
    if (!constant)
      dynamic.push_back(value);
  }
}

RankedTensorType KernelEmitter::tileType(ArrayRef<int> axes, Type element) {
  SmallVector<int64_t> shape;
  for (int axis : axes)
    shape.push_back(
        getConstantIntValue(axisSizes[axis]).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, element);
}

Value KernelEmitter::broadcast(const Emitted &tile, ArrayRef<int> axes) {
  if (ArrayRef<int>(tile.axes) == axes)
    return tile.value;
  SmallVector<Value> sizes, dynamic;
  SmallVector<int64_t> fixed, dims;
  for (auto [dim, axis] : llvm::enumerate(axes)) {
    sizes.push_back(axisSizes[axis]);
    if (llvm::is_contained(tile.axes, axis))
      dims.push_back(dim);
  }
  getMixed(sizes, dynamic, fixed);
  OperationState state(location, tile::BroadcastOp::getOperationName());
  state.addOperands(tile.value);
  state.addOperands(dynamic);
  state.addAttribute("static_sizes", b.getDenseI64ArrayAttr(fixed));
  if (isa<RankedTensorType>(tile.value.getType()))
    state.addAttribute("dims", b.getDenseI64ArrayAttr(dims));
  state.addTypes(tileType(axes, getElementTypeOrSelf(tile.value.getType())));
  return b.create(state)->getResult(0);
}

Value KernelEmitter::constant(TypedAttr value, ArrayRef<int> axes) {
  Value scalar = arith::ConstantOp::create(b, location, value);
  return axes.empty() ? scalar : broadcast({scalar, {}}, axes);
}

Emitted KernelEmitter::emitPositions(int axis, Type elementType) {
  SmallVector<Value> dynamic;
  SmallVector<int64_t> fixed;
  getMixed({axisSizes[axis]}, dynamic, fixed);
  OperationState state(location, tile::IotaOp::getOperationName());
  state.addOperands(dynamic);
  state.addAttribute("dim", b.getI64IntegerAttr(0));
  state.addAttribute("static_sizes", b.getDenseI64ArrayAttr(fixed));
  state.addTypes(tileType({axis}, elementType));
  return {b.create(state)->getResult(0), {axis}};
}

Emitted KernelEmitter::emitInside(int axis, Value offset, Value end) {
  Emitted position = emitPositions(axis, b.getIndexType());
  Value limit = broadcast({sub(end, offset), {}}, {axis});
  return {arith::CmpIOp::create(b, location, arith::CmpIPredicate::slt,
                                position.value, limit),
          {axis}};
}

tile::ReduceKind adze::getReduceKind(Combiner combiner, Type elementType) {
  bool isUnsigned = elementType.isUnsignedInteger();
  bool isBool = elementType.isInteger(1);
  switch (combiner) {
  case Combiner::Add:
    return tile::ReduceKind::add;
  case Combiner::Mul:
    return tile::ReduceKind::mul;
  case Combiner::Max:
    return isBool       ? tile::ReduceKind::or_
           : isUnsigned ? tile::ReduceKind::umax
                        : tile::ReduceKind::max;
  case Combiner::Min:
    return isBool       ? tile::ReduceKind::and_
           : isUnsigned ? tile::ReduceKind::umin
                        : tile::ReduceKind::min;
  }
  llvm_unreachable("all combiners are handled");
}

Emitted KernelEmitter::reduce(Combiner combiner, Type elementType,
                              const Emitted &tile, int axis, bool nnan) {
  tile::ReduceKind kind = getReduceKind(combiner, elementType);
  Emitted result;
  int64_t dim = 0;
  for (auto [i, current] : llvm::enumerate(tile.axes)) {
    if (current == axis)
      dim = i;
    else
      result.axes.push_back(current);
  }
  OperationState state(location, tile::ReduceOp::getOperationName());
  state.addOperands(tile.value);
  state.addAttribute("kind", tile::ReduceKindAttr::get(b.getContext(), kind));
  state.addAttribute("dim", b.getI64IntegerAttr(dim));
  if (nnan)
    state.addAttribute("nnan", b.getUnitAttr());
  state.addTypes(
      tileType(result.axes, getElementTypeOrSelf(tile.value.getType())));
  result.value = b.create(state)->getResult(0);
  return result;
}

Emitted KernelEmitter::convert(const Emitted &tile, Type to) {
  Type from = getElementTypeOrSelf(tile.value.getType());
  if (from == to)
    return tile;
  TileElementBuilder builder(*this, tile.axes);
  return {buildCast(builder, tile.value, from, to), tile.axes};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A window of memory: offsets by memory dim, and dim and stride by axis.
namespace {
struct Window {
  SmallVector<Value> offsets;
  Axes axes;
  SmallVector<int64_t> dims, strides;
};
} // namespace

static FailureOr<Window> getWindow(ArrayRef<DimRange> ranges) {
  Window window;
  SmallVector<std::tuple<int, int64_t, int64_t>> order;
  for (auto [dim, range] : llvm::enumerate(ranges)) {
    window.offsets.push_back(range.offset);
    if (range.axis >= 0)
      order.push_back({range.axis, dim, range.stride});
  }
  llvm::sort(order);
  for (auto [axis, dim, stride] : order) {
    if (llvm::is_contained(window.axes, axis))
      return failure();
    window.axes.push_back(axis);
    window.dims.push_back(dim);
    window.strides.push_back(stride);
  }
  return window;
}

/// Adds `dims` and `strides` if they are not the defaults.
static void addWindow(OperationState &state, OpBuilder &b,
                      const Window &window) {
  unsigned rank = window.offsets.size(), tileRank = window.dims.size();
  bool trailing = true;
  for (auto [i, dim] : llvm::enumerate(window.dims))
    trailing &= dim == static_cast<int64_t>(rank - tileRank + i);
  if (!trailing)
    state.addAttribute("dims", b.getDenseI64ArrayAttr(window.dims));
  if (llvm::any_of(window.strides, [](int64_t stride) { return stride != 1; }))
    state.addAttribute("strides", b.getDenseI64ArrayAttr(window.strides));
}

FailureOr<Emitted> KernelEmitter::load(Value source, ArrayRef<DimRange> given) {
  DimRanges ranges(given);
  endAxes(ranges); // elements beyond the end are never stored
  Value whole = view(source, ranges);
  auto window = getWindow(ranges);
  if (!whole || failed(window))
    return fail("a tile axis runs along two dims of one operand");
  Value memref = clampAtEnds(whole, ranges);
  if (window->strides.empty()) {
    Value scalar = loadElement(b, location, memref, window->offsets);
    return Emitted{scalar, {}};
  }
  SmallVector<Value> offsets, sizes, axisSize;
  SmallVector<int64_t> fixedOffsets, fixedSizes;
  for (int axis : window->axes)
    axisSize.push_back(axisSizes[axis]);
  getMixed(window->offsets, offsets, fixedOffsets);
  getMixed(axisSize, sizes, fixedSizes);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  OperationState state(location, tile::LoadOp::getOperationName());
  state.addOperands(memref);
  state.addOperands(offsets);
  state.addOperands(sizes);
  state.addAttribute("operandSegmentSizes",
                     b.getDenseI32ArrayAttr(
                         {1, (int32_t)offsets.size(), (int32_t)sizes.size()}));
  state.addAttribute("static_offsets", b.getDenseI64ArrayAttr(fixedOffsets));
  state.addAttribute("static_sizes", b.getDenseI64ArrayAttr(fixedSizes));
  addWindow(state, b, *window);
  if (pad && pad.getType() == element)
    state.addAttribute("pad", pad);
  if (tail)
    state.addAttribute(tile::kTailAttribute, b.getUnitAttr());
  SmallVector<int64_t> ahead;
  for (const DimRange &range : ranges)
    ahead.push_back(range.ahead);
  if (llvm::any_of(ahead, [](int64_t distance) { return distance != 0; }))
    state.addAttribute(tile::kAheadAttribute, b.getDenseI64ArrayAttr(ahead));
  state.addTypes(tileType(window->axes, element));
  Value tile = b.create(state)->getResult(0);
  return Emitted{tile, window->axes};
}

LogicalResult KernelEmitter::store(const Emitted &tile, Value target,
                                   ArrayRef<DimRange> given, Value places) {
  DimRanges ranges(given);
  if (!endAxes(ranges))
    return fail("the rows of a block are not adjacent in a result");
  Value whole = view(target, ranges);
  auto window = getWindow(ranges);
  if (!whole || failed(window))
    return fail("a tile axis runs along two dims of one result");
  Value memref = clampAtEnds(whole, ranges);
  Emitted value = tile;
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  if (getElementTypeOrSelf(value.value.getType()).isInteger(1)) {
    Type type = value.axes.empty() ? element : tileType(value.axes, element);
    value.value = arith::ExtUIOp::create(b, location, type, value.value);
  }
  if (window->axes.empty()) {
    storeElement(b, location, value.value, memref, window->offsets);
    return success();
  }
  SmallVector<Value> offsets;
  SmallVector<int64_t> fixedOffsets;
  getMixed(window->offsets, offsets, fixedOffsets);
  if (places) {
    auto isPlaced = [](const DimRange &range) { return range.axis >= 0; };
    int64_t along = llvm::find_if(ranges, isPlaced) - ranges.begin();
    tile::ScatterOp::create(b, location, broadcast(value, window->axes), memref,
                            offsets, places, fixedOffsets, along,
                            ArrayRef<int64_t>{-1}, /*combine=*/nullptr);
    return success();
  }
  OperationState state(location, tile::StoreOp::getOperationName());
  state.addOperands(broadcast(value, window->axes));
  state.addOperands(memref);
  state.addOperands(offsets);
  state.addAttribute("static_offsets", b.getDenseI64ArrayAttr(fixedOffsets));
  addWindow(state, b, *window);
  if (tail)
    state.addAttribute(tile::kTailAttribute, b.getUnitAttr());
  b.create(state);
  return success();
}

Value KernelEmitter::scratch(ArrayRef<Value> sizes, Type elementType) {
  SmallVector<Value> dynamic;
  SmallVector<int64_t> fixed;
  getMixed(sizes, dynamic, fixed);
  auto make = [&, type = MemRefType::get(fixed, elementType)]() -> Value {
    return tile::ScratchOp::create(b, location, type, dynamic, fixed);
  };
  return dynamic.empty() ? atTop(make) : make(); // where its views are
}
