// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits tiles on demand: the registers of a tile for the current slices.
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace adze::tile;

//===--- Layouts ----------------------------------------------------------===//

int64_t Layout::total() const {
  int64_t product = 1;
  for (int64_t count : counts)
    product *= count;
  return product;
}

SmallVector<int64_t> Layout::coordinates(int64_t index) const {
  SmallVector<int64_t> at(counts.size());
  for (int64_t dim = (int64_t)counts.size() - 1; dim >= 0; --dim) {
    at[dim] = index % counts[dim] * (dim == laneDim ? lanes : 1);
    index /= counts[dim];
  }
  return at;
}

int64_t Layout::indexOf(ArrayRef<int64_t> at) const {
  int64_t index = 0;
  for (size_t dim = 0; dim < counts.size(); ++dim)
    index =
        index * counts[dim] + at[dim] / ((int64_t)dim == laneDim ? lanes : 1);
  return index;
}

Layout KernelLowering::layoutOf(Value tile, bool scalars) {
  Layout layout;
  layout.classes = classes.of(tile);
  int64_t best = 0;
  for (auto [dim, c] : llvm::enumerate(layout.classes)) {
    Slice self = slice(c);
    layout.slices.push_back(self);
    layout.counts.push_back(self.size);
    int64_t lanes = classes.lanes(c);
    if (scalars || lanes == 1 || self.size % lanes != 0 ||
        c == alongDepth.columns || classes.laneScore(c) < best)
      continue;
    best = classes.laneScore(c);
    layout.laneDim = dim;
    layout.lanes = lanes;
  }
  if (layout.laneDim >= 0)
    layout.counts[layout.laneDim] /= layout.lanes;
  return layout;
}

Type KernelLowering::registerType(Value tile, const Layout &layout) {
  Type element = tileType(tile).getElementType();
  return layout.lanes == 1 ? element : VectorType::get(layout.lanes, element);
}

Value KernelLowering::splat(Value scalar, Type type) {
  if (scalar.getType() == type)
    return scalar;
  return vector::BroadcastOp::create(b, loc, type, scalar);
}

/// Returns the scalar at these coordinates (in elements of the slices).
Value KernelLowering::elementOf(const Registers &from, ArrayRef<int64_t> at) {
  Value value = from.values[from.layout.indexOf(at)];
  if (from.layout.lanes == 1)
    return value;
  return vector::ExtractOp::create(b, loc, value,
                                   at[from.layout.laneDim] % from.layout.lanes);
}

//===--- Available values -------------------------------------------------===//

/// Returns true if the registers of `whole` contain those of `part`.
static bool isWithin(const Layout &part, const Layout &whole) {
  for (auto [x, y] : llvm::zip_equal(part.slices, whole.slices)) {
    if (x.start != y.start || x.at < y.at || x.at + x.size > y.at + y.size)
      return false;
  }
  if (part.laneDim == whole.laneDim) {
    if (part.laneDim < 0)
      return true;
    int64_t shift =
        part.slices[part.laneDim].at - whole.slices[part.laneDim].at;
    return part.lanes == whole.lanes && shift % part.lanes == 0;
  }
  return part.laneDim < 0; // elements are extracted
}

std::optional<Registers> KernelLowering::lookup(Value tile,
                                                const Layout &layout) {
  for (Scope &scope : llvm::reverse(scopes)) {
    auto it = scope.find(tile);
    if (it == scope.end())
      continue;
    for (Kept &kept : llvm::reverse(it->second)) {
      if (kept.scratch)
        return reload(kept, tile, layout);
      if (!kept.matrices.empty() || kept.groups ||
          !isWithin(layout, kept.registers.layout))
        continue;
      Registers found{layout, {}}, source = kept.registers;
      for (int64_t i = 0, e = layout.total(); i < e; ++i) {
        SmallVector<int64_t> at = layout.coordinates(i);
        for (auto [position, x, y] :
             llvm::zip(at, layout.slices, source.layout.slices))
          position += x.at - y.at;
        found.values.push_back(layout.lanes == source.layout.lanes
                                   ? source.values[source.layout.indexOf(at)]
                                   : elementOf(source, at));
      }
      return found;
    }
  }
  return std::nullopt;
}

void KernelLowering::remember(Value tile, const Registers &registers) {
  Kept kept;
  kept.registers = registers;
  scopes.back()[tile].push_back(kept);
}

Registers KernelLowering::emit(Value tile, bool scalars) {
  Layout layout = layoutOf(tile, scalars);
  if (std::optional<Registers> found = lookup(tile, layout))
    return *found;
  Location before = loc;
  if (Operation *op = tile.getDefiningOp())
    loc = op->getLoc();
  Registers result = compute(tile, layout);
  loc = before;
  remember(tile, result);
  if (wanted.contains(tile) && isWalkedNow(tile)) {
    prefetchStores(layout);
    if (!classes.storesApart())
      prefetchRows(layout, RowsAhead());
    spill(scratchFor(tile), result);
    if (!llvm::is_contained(pending, tile))
      pending.push_back(tile);
  }
  return result;
}

/// Returns true if there is an enclosing loop over this tile, and the enclosing
/// loops iterate over all of it.
bool KernelLowering::isWalkedNow(Value tile) {
  bool any = false;
  for (int c : classes.of(tile)) {
    bool walked = llvm::is_contained(looping, c);
    if (classes.isLooped(c) && !walked)
      return false;
    any |= walked;
  }
  return any;
}

Registers KernelLowering::compute(Value tile, const Layout &layout) {
  Operation *op = tile.getDefiningOp();
  if (!op) {
    fail(root, "expected a carried tile to be used in the slices that it is "
               "carried in");
    return constant(root, layout);
  }
  if (auto reshapeOp = dyn_cast<ReshapeOp>(op))
    return reshape(reshapeOp, layout);
  if (std::optional<Window> window = windowOf(op))
    return read(*window, layout);
  return llvm::TypeSwitch<Operation *, Registers>(op)
      .Case([&](DotOp dotOp) { return dot(dotOp, layout); })
      .Case([&](ReduceOp reduceOp) { return reduce(reduceOp, layout); })
      .Case([&](BroadcastOp broadcastOp) {
        return broadcast(broadcastOp, layout);
      })
      .Case([&](IotaOp iotaOp) { return iota(iotaOp, layout); })
      .Case([&](TransposeOp transposeOp) {
        return transpose(transposeOp, layout);
      })
      .Default([&](Operation *other) {
        if (other->hasTrait<OpTrait::ConstantLike>())
          return constant(other, layout);
        return elementwise(other, layout);
      });
}

//===--- Ops --------------------------------------------------------------===//

/// Returns lanes [first, first + lanes) of a row, with its last element
/// repeated beyond its end.
static Value takeLanes(OpBuilder &b, Location loc, DenseElementsAttr row,
                       int64_t first, int64_t lanes) {
  Type element = row.getElementType();
  auto values = row.getValues<Attribute>();
  SmallVector<Attribute> taken;
  for (int64_t lane = 0; lane < lanes; ++lane)
    taken.push_back(values[std::min(first + lane, row.getNumElements() - 1)]);
  if (lanes == 1)
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(taken.front()));
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(VectorType::get(lanes, element), taken));
}

/// Returns registers of a constant row: constants if the position is constant,
/// else loads from a table on the stack.
Carried KernelLowering::tabled(DenseElementsAttr row, const Layout &layout) {
  Carried values;
  const Slice &self = layout.slices[0];
  auto position = [&](int64_t i) { return self.at + layout.coordinates(i)[0]; };
  if (!self.start) {
    for (int64_t i = 0, e = layout.total(); i < e; ++i)
      values.push_back(takeLanes(b, loc, row, position(i), layout.lanes));
    return values;
  }
  Type element = row.getElementType();
  Type stored = element.isInteger(1) ? Type(b.getI8Type()) : element;
  constexpr int64_t width = 16; // of the stores that fill the table
  OpBuilder atEntry = OpBuilder::atBlockBegin(entry);
  int64_t size =
      llvm::alignTo(row.getNumElements(), std::max(layout.lanes, width));
  Value table = memref::AllocaOp::create(
      atEntry, loc, MemRefType::get({size}, stored), b.getI64IntegerAttr(64));
  for (int64_t at = 0; at < size; at += width) {
    Value part = takeLanes(atEntry, loc, row, at, width);
    Value where = arith::ConstantIndexOp::create(atEntry, loc, at);
    vector::StoreOp::create(atEntry, loc, toMemory(atEntry, loc, part), table,
                            where);
  }
  for (int64_t i = 0, e = layout.total(); i < e; ++i) {
    Value where = add(self.start, position(i)), value;
    if (layout.lanes == 1)
      value = memref::LoadOp::create(b, loc, table, where);
    else
      value = vector::LoadOp::create(
          b, loc, VectorType::get(layout.lanes, stored), table, where);
    values.push_back(fromMemory(b, loc, value, element));
  }
  return values;
}

Registers KernelLowering::constant(Operation *op, const Layout &layout) {
  Registers result{layout, {}};
  auto constantOp = dyn_cast<arith::ConstantOp>(op);
  if (auto elements = constantOp
                          ? dyn_cast<DenseElementsAttr>(constantOp.getValue())
                          : DenseElementsAttr();
      elements && !elements.isSplat() && layout.counts.size() == 1)
    return {layout, tabled(elements, layout)};
  auto dense =
      constantOp ? dyn_cast<SplatElementsAttr>(constantOp.getValue()) : nullptr;
  if (!dense) {
    fail(op, "expected a computation on tiles or a splat constant");
    result.values.assign(layout.total(), index(0));
    return result;
  }
  Value scalar = arith::ConstantOp::create(b, loc, dense.getElementType(),
                                           dense.getSplatValue<TypedAttr>());
  Value value = splat(scalar, registerType(op->getResult(0), layout));
  result.values.assign(layout.total(), value);
  return result;
}

/// Replaces the divisor of dead lanes, as a division must not trap.
static Value guardDivisor(OpBuilder &b, Location loc, Operation *op,
                          Value divisor) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
           arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return divisor;
  Type type = divisor.getType();
  TypedAttr one = b.getOneAttr(getElementTypeOrSelf(type));
  if (auto vector = dyn_cast<VectorType>(type))
    one = SplatElementsAttr::get(vector, one);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value isZero =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, divisor, zero);
  Value ones = arith::ConstantOp::create(b, loc, one);
  return arith::SelectOp::create(b, loc, isZero, ones, divisor);
}

Registers KernelLowering::elementwise(Operation *op, const Layout &layout) {
  Registers result{layout, {}};
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1) {
    fail(op, "expected an elementwise op on tiles");
    return constant(op, layout);
  }
  SmallVector<Registers> operands;
  bool scalars = layout.lanes == 1;
  for (Value operand : op->getOperands())
    operands.push_back(isTile(operand) ? emit(operand, scalars) : Registers());
  Type type = registerType(op->getResult(0), layout);
  DenseMap<Value, Value> done; // equal operands (splats) have equal registers
  bool unary = op->getNumOperands() == 1;
  for (int64_t i = 0, e = layout.total(); i < e; ++i) {
    SmallVector<Value> values;
    for (auto [j, operand] : llvm::enumerate(op->getOperands()))
      values.push_back(isTile(operand) ? operands[j].values[i]
                                       : mapped(operand));
    if (unary && done.contains(values[0])) {
      result.values.push_back(done.lookup(values[0]));
      continue;
    }
    if (values.size() == 2)
      values[1] = guardDivisor(b, loc, op, values[1]);
    OperationState state(loc, op->getName(), values, {type}, op->getAttrs());
    result.values.push_back(b.create(state)->getResult(0));
    if (unary)
      done[values[0]] = result.values.back();
  }
  return result;
}

Registers KernelLowering::broadcast(BroadcastOp op, const Layout &layout) {
  Registers result{layout, {}};
  Type type = registerType(op.getResult(), layout);
  if (!isTile(op.getSource())) {
    result.values.assign(layout.total(), splat(mapped(op.getSource()), type));
    return result;
  }
  Registers source = emit(op.getSource(), layout.lanes == 1);
  ArrayRef<int64_t> dims = *op.getDims();
  bool sameLanes = source.layout.laneDim >= 0 &&
                   dims[source.layout.laneDim] == layout.laneDim;
  DenseMap<std::pair<int64_t, int64_t>, Value> done;
  for (int64_t i = 0, e = layout.total(); i < e; ++i) {
    SmallVector<int64_t> at = layout.coordinates(i), from;
    for (int64_t dim : dims)
      from.push_back(at[dim]);
    int64_t lane = source.layout.lanes > 1 && !sameLanes
                       ? from[source.layout.laneDim] % source.layout.lanes
                       : 0;
    Value &value = done[{source.layout.indexOf(from), lane}];
    if (!value)
      value = sameLanes || layout.lanes == 1
                  ? source.values[source.layout.indexOf(from)]
                  : splat(elementOf(source, from), type);
    result.values.push_back(value);
  }
  return result;
}

Registers KernelLowering::iota(IotaOp op, const Layout &layout) {
  Registers result{layout, {}};
  int64_t dim = op.getDim();
  Type element = op.getType().getElementType();
  const Slice &self = layout.slices[dim];
  Type indexType = b.getIndexType();
  for (int64_t i = 0, e = layout.total(); i < e; ++i) {
    Value position = index(self.at + layout.coordinates(i)[dim]);
    if (self.start)
      position = add(self.start, position);
    if (layout.lanes > 1) {
      auto type = VectorType::get(layout.lanes, indexType);
      position = splat(position, type);
      if (layout.laneDim == dim)
        position = arith::AddIOp::create(b, loc, position,
                                         vector::StepOp::create(b, loc, type));
    }
    if (!element.isIndex())
      position = arith::IndexCastOp::create(
          b, loc, registerType(op.getResult(), layout), position);
    result.values.push_back(position);
  }
  return result;
}

Registers KernelLowering::transpose(TransposeOp op, const Layout &layout) {
  Registers source = emit(op.getSource(), layout.lanes == 1);
  Registers result{layout, {}};
  ArrayRef<int64_t> perm = op.getPerm();
  bool sameLanes =
      source.layout.lanes == layout.lanes &&
      (layout.laneDim < 0 || perm[layout.laneDim] == source.layout.laneDim);
  if (!sameLanes) {
    fail(op, "expected the lanes of a transposed tile to stay its lanes");
    return constant(op, layout);
  }
  for (int64_t i = 0, e = layout.total(); i < e; ++i) {
    SmallVector<int64_t> at = layout.coordinates(i), from(at.size());
    for (auto [dim, sourceDim] : llvm::enumerate(perm))
      from[sourceDim] = at[dim];
    result.values.push_back(source.values[source.layout.indexOf(from)]);
  }
  return result;
}

Registers KernelLowering::reshape(ReshapeOp op, const Layout &layout) {
  SmallVector<int64_t> unitMap;
  if (isUnitReshape(op, unitMap)) {
    Registers source = emit(op.getSource(), layout.lanes == 1);
    return {layout, source.values};
  }
  if (op.getSource().getDefiningOp<LoadOp>())
    return read(window(op), layout);
  std::optional<Kept> source = scratchOf(op.getSource());
  if (source)
    return reshapeFromScratch(op, *source, layout);
  fail(op, "expected the source of a reshape to be in scratch");
  return constant(op, layout);
}
