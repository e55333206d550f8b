// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles at the positions where a warpgroup's matrix instruction returns its
// sums.
#include "Fragments.h"
#include "Conversion/TileToGPU/EntryTable.h"
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "Dialect/Tile/IR/Reduction.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace adze::togpu {

constexpr int64_t kGroupColumns = 8; ///< columns of a core matrix, and its rows

void Fragments::setPlace(Value newRow, Value newColumn) {
  row = newRow;
  column = newColumn;
  known.clear();
  roots.clear();
  rowRoots.clear();
}

void Fragments::setRoot(Value tile, ArrayRef<Value> elements) {
  roots[tile].assign(elements.begin(), elements.end());
}

Fragments::TileAxes Fragments::getSourceAxes(tile::BroadcastOp op,
                                             const TileAxes &axes) {
  TileAxes from;
  for (int64_t dim : op.getDimsAttr().asArrayRef())
    from.push_back(axes[dim]);
  return from;
}

std::optional<Fragments::Pair> Fragments::getBounds(Value tile,
                                                    const TileAxes &axes) {
  if (!llvm::is_contained(axes, Axis::Column)) {
    Value rows[] = {evaluate(tile, axes, 0, 0)[0],
                    evaluate(tile, axes, 1, 0)[0]};
    return Pair{d.fold<arith::MinSIOp>(rows[0], rows[1]),
                d.fold<arith::MaxSIOp>(rows[0], rows[1])};
  }
  Operation *op = tile.getDefiningOp();
  Type type = tileType(tile).getElementType();
  if (auto broadcast = dyn_cast_or_null<tile::BroadcastOp>(op)) {
    if (!isTile(broadcast.getSource())) {
      Value value = scalar(broadcast.getSource());
      return Pair{value, value};
    }
    return getBounds(broadcast.getSource(), getSourceAxes(broadcast, axes));
  }
  if (auto iota = dyn_cast_or_null<tile::IotaOp>(op);
      iota && axes[iota.getDim()] == Axis::Column) {
    Pair ends = {d.index(0),
                 d.index(tileType(tile).getDimSize(iota.getDim()) - 1)};
    if (!type.isIndex())
      for (Value &end : ends)
        end = d.create<arith::IndexCastOp>(type, end);
    return ends;
  }
  auto add = dyn_cast_or_null<arith::AddIOp>(op);
  if (!add)
    return std::nullopt;
  auto lhs = getBounds(add.getLhs(), axes), rhs = getBounds(add.getRhs(), axes);
  if (!lhs || !rhs)
    return std::nullopt;
  return Pair{d.add((*lhs)[0], (*rhs)[0]), d.add((*lhs)[1], (*rhs)[1])};
}

Value Fragments::getUniform(Value condition, const TileAxes &axes) {
  if (auto broadcast = condition.getDefiningOp<tile::BroadcastOp>();
      broadcast && isTile(broadcast.getSource()))
    return getUniform(broadcast.getSource(), getSourceAxes(broadcast, axes));
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !llvm::is_contained(
                      {arith::CmpIPredicate::sle, arith::CmpIPredicate::slt},
                      compare.getPredicate()))
    return {};
  auto lhs = getBounds(compare.getLhs(), axes),
       rhs = getBounds(compare.getRhs(), axes);
  if (!lhs || !rhs)
    return {};
  Value holds =
      d.create<arith::CmpIOp>(compare.getPredicate(), (*lhs)[1], (*rhs)[0]);
  return d.create<NVVM::VoteSyncOp>(d.b.getI1Type(), d.i32(-1), holds,
                                    NVVM::VoteSyncKind::all);
}

void Fragments::select(arith::SelectOp op, unsigned groups) {
  Value condition = op.getCondition();
  Value uniform =
      form.transposed ? getUniform(condition, getAxes(condition)) : Value();
  if (!uniform)
    return;
  auto evaluateAll = [&](Value tile) {
    SmallVector<Value> elements;
    for (unsigned group = 0; group < groups; ++group)
      for (unsigned half = 0; half < 2; ++half)
        llvm::append_range(elements, evaluate(tile, half, group));
    return elements;
  };
  // Values of the branches are unknown after them.
  SmallVector<Value> kept = evaluateAll(op.getTrueValue());
  auto outside = known;
  auto branch = scf::IfOp::create(d.b, d.loc, ValueRange(kept).getTypes(),
                                  uniform, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(d.b);
    d.b.setInsertionPointToStart(branch.thenBlock());
    d.create<scf::YieldOp>(kept);
    d.b.setInsertionPointToStart(branch.elseBlock());
    d.create<scf::YieldOp>(evaluateAll(op.getResult()));
  }
  known = std::move(outside);
  setRoot(op.getResult(), llvm::to_vector_of<Value>(branch.getResults()));
}

void Fragments::reduce(tile::ReduceOp op, unsigned groups) {
  Pair rows;
  for (unsigned half = 0; half < 2; ++half) {
    // There are two dependency chains; with one, each instruction would wait
    // for the previous one.
    Pair sums = evaluate(op.getSource(), half, 0);
    for (unsigned group = 1; group < groups; ++group)
      for (auto [sum, v] :
           llvm::zip(sums, evaluate(op.getSource(), half, group)))
        sum = tile::createCombine(d.b, d.loc, op.getKind(), sum, v);
    Value all = tile::createCombine(d.b, d.loc, op.getKind(), sums[0], sums[1]);
    for (int64_t lane : {1, 2}) {
      Value other = d.create<NVVM::ShflOp>(
          all.getType(), d.i32(-1), all, d.i32(lane), d.i32(31),
          NVVM::ShflKind::bfly, /*return_value_and_is_valid=*/UnitAttr());
      all = tile::createCombine(d.b, d.loc, op.getKind(), all, other);
    }
    rows[half] = all;
  }
  setRows(op.getResult(), rows);
}

Fragments::Pair Fragments::evaluateRows(Value tile) {
  return {evaluate(tile, {Axis::Row}, 0, 0)[0],
          evaluate(tile, {Axis::Row}, 1, 0)[0]};
}

/// Returns a scalar of the kernel, or of a view, at the insertion point.
Value Fragments::scalar(OpFoldResult value) {
  auto v = dyn_cast<Value>(value);
  if (!v || v.getType().isIndex())
    if (auto c = getConstantIntValue(value))
      return d.index(*c);
  if (Value known = frame.map.lookupOrNull(v))
    return known;
  // The prologue omits loads of elements, and scalars computed from them.
  Operation *op = v.getDefiningOp();
  if (!op || !op->getParentOfType<tile::KernelOp>())
    return v;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    const MemView &view = frame.views.find(load.getMemRef())->second;
    Access access;
    for (Value index : load.getIndices())
      access.indices.push_back(scalar(index));
    bool isBool = view.elementType.isInteger(1);
    Value element = d.create<LLVM::LoadOp>(
        isBool ? d.b.getI8Type() : view.elementType, getPointer(view, access));
    return isBool ? d.create<arith::TruncIOp>(view.elementType, element)
                  : element;
  }
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, scalar(operand));
  return d.b.clone(*op, operands)
      ->getResult(cast<OpResult>(v).getResultNumber());
}

Fragments::TileAxes Fragments::getAxes(Value result) const {
  if (form.transposed)
    return {Axis::Column, Axis::Row};
  if (tileType(result).getRank() == 2)
    return {Axis::Row, Axis::Column};
  return {Axis::ImageRow, Axis::ImageColumn, Axis::Column};
}

Value Fragments::getPosition(Axis axis, unsigned half, unsigned group,
                             unsigned lane) {
  if (axis == Axis::Column)
    return d.add(column, kGroupColumns * group + lane);
  Value at = d.add(row, kGroupColumns * half);
  if (axis == Axis::ImageRow)
    return d.fold<arith::DivUIOp>(at, d.index(form.imageColumns));
  if (axis == Axis::ImageColumn)
    return d.fold<arith::RemUIOp>(at, d.index(form.imageColumns));
  return at;
}

Fragments::Pair Fragments::evaluate(Value tile, TileAxes axes, unsigned half,
                                    unsigned group) {
  bool hasRow =
           llvm::any_of(axes, [](Axis axis) { return axis != Axis::Column; }),
       hasColumn = llvm::is_contained(axes, Axis::Column);
  std::pair<Value, std::pair<int, int>> key{
      tile, {hasRow ? int(half) : -1, hasColumn ? int(group) : -1}};
  if (auto it = known.find(key); it != known.end())
    return it->second;
  Pair pair = compute(tile, axes, half, group);
  known[key] = pair;
  return pair;
}

Fragments::Pair Fragments::compute(Value tile, const TileAxes &axes,
                                   unsigned half, unsigned group) {
  if (auto it = roots.find(tile); it != roots.end()) {
    unsigned first = 4 * group + 2 * half;
    return {it->second[first], it->second[first + 1]};
  }
  if (auto it = rowRoots.find(tile); it != rowRoots.end())
    return {it->second[half], it->second[half]};
  Operation *op = tile.getDefiningOp();
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) // of the accumulators
    return evaluate(reshape.getSource(), {Axis::Row, Axis::Column}, half,
                    group);
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    Value source = broadcast.getSource();
    if (!isTile(source)) {
      Value value = scalar(source);
      return {value, value};
    }
    return evaluate(source, getSourceAxes(broadcast, axes), half, group);
  }
  if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    TileAxes from(axes.size(), Axis::Row);
    for (auto [i, dim] : llvm::enumerate(transpose.getPerm()))
      from[dim] = axes[i];
    return evaluate(transpose.getSource(), from, half, group);
  }
  if (auto iota = dyn_cast<tile::IotaOp>(op)) {
    Pair pair;
    Type type = tileType(tile).getElementType();
    for (unsigned lane = 0; lane < 2; ++lane) {
      Value at = getPosition(axes[iota.getDim()], half, group, lane);
      pair[lane] = type.isIndex()
                       ? at
                       : d.create<arith::IndexCastOp>(type, at).getResult();
    }
    return pair;
  }
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return this->load(load, axes, half, group);
  return computeElementwise(op, axes, half, group);
}

Fragments::Pair Fragments::computeElementwise(Operation *op,
                                              const TileAxes &axes,
                                              unsigned half, unsigned group) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    Value value = d.create<arith::ConstantOp>(splat.getSplatValue<TypedAttr>());
    return {value, value};
  }
  SmallVector<Pair> operands;
  for (Value v : op->getOperands()) {
    if (isTile(v)) {
      operands.push_back(evaluate(v, axes, half, group));
      continue;
    }
    Value value = scalar(v);
    operands.push_back({value, value});
  }
  Pair result;
  bool oneValue = !llvm::is_contained(axes, Axis::Column);
  for (unsigned lane = 0; lane < 2; ++lane) {
    if (lane == 1 && oneValue) {
      result[1] = result[0];
      break;
    }
    OperationState state(op->getLoc(), op->getName());
    for (Pair &operand : operands)
      state.addOperands(operand[lane]);
    state.addTypes(type);
    state.attributes = op->getDiscardableAttrDictionary();
    if (Attribute properties = op->getPropertiesAsAttribute())
      state.propertiesAttr = properties;
    Operation *made = d.b.create(state);
    setAccuracy(made, form.narrow);
    result[lane] = made->getResult(0);
  }
  return result;
}

//===--- memory -----------------------------------------------------------===//

template <typename Op>
Fragments::Access Fragments::getAccess(Op op, const TileAxes &axes,
                                       RankedTensorType type, unsigned half,
                                       unsigned group, unsigned lane) {
  const MemView &view = frame.views.find(op.getMemref())->second;
  Access access;
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  SmallVector<int64_t> dims = op.getMemDims(), steps = op.getSteps();
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    Value index = scalar(offset);
    int64_t reach = 0;
    for (auto [axis, memDim, step, size] :
         llvm::zip_equal(axes, dims, steps, type.getShape())) {
      if (memDim != int64_t(dim))
        continue;
      index = d.add(index, d.mul(getPosition(axis, half, group, lane), step));
      reach = (size - 1) * step;
    }
    auto range = tile::getIndexRange(offset);
    auto size = getConstantIntValue(view.sizes[dim]);
    if (!range || range->min < 0 || !range->isBounded() || !size ||
        range->max + reach >= *size) {
      Value good = d.create<arith::CmpIOp>(arith::CmpIPredicate::ult, index,
                                           scalar(view.sizes[dim]));
      access.inBounds =
          access.inBounds ? d.fold<arith::AndIOp>(access.inBounds, good) : good;
    }
    access.indices.push_back(index);
  }
  return access;
}

Value Fragments::getPointer(const MemView &view, const Access &access) {
  SmallVector<Value> indices = access.indices;
  SmallVector<OpFoldResult> strides = view.strides;
  if (view.map) {
    indices.clear();
    strides = view.physicalStrides;
    for (AffineExpr expr : view.map.getResults())
      indices.push_back(expandAffine(d.b, d.loc, expr, access.indices, {}));
  }
  Value linear = d.index(0);
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    linear = d.add(linear, d.fold<arith::MulIOp>(index, scalar(stride)));
  // Out-of-bounds positions read the first element instead.
  if (access.inBounds)
    linear = d.select(access.inBounds, linear, d.index(0));
  Type type =
      view.elementType.isInteger(1) ? d.b.getI8Type() : view.elementType;
  Value offset = d.create<arith::IndexCastOp>(d.b.getI64Type(), linear);
  return d.create<LLVM::GEPOp>(view.base.getType(), type, view.base,
                               LLVM::GEPArg(offset));
}

/// Returns true if a pair of adjacent elements of a row is one access: both are
/// in bounds or both are not, and the address is aligned to the pair.
template <typename Op>
bool Fragments::isPairInMemory(Op op, const TileAxes &axes) {
  const MemView &view = frame.views.find(op.getMemref())->second;
  int64_t last = view.sizes.size() - 1;
  if (view.map || last < 0 || view.elementType.getIntOrFloatBitWidth() < 8)
    return false;
  SmallVector<int64_t> dims = op.getMemDims(), steps = op.getSteps();
  bool along = false;
  for (auto [axis, dim, step] : llvm::zip_equal(axes, dims, steps))
    along |= axis == Axis::Column && dim == last && step == 1;
  auto isEven = [](OpFoldResult value) {
    return tile::getKnownDivisor(value) % 2 == 0;
  };
  auto size = getConstantIntValue(view.sizes[last]),
       stride = getConstantIntValue(view.strides[last]);
  if (!along || view.base != view.origin || !size || *size % 2 || stride != 1)
    return false;
  for (OpFoldResult outer : ArrayRef(view.strides).drop_back()) {
    auto step = getConstantIntValue(outer);
    // Rows are contiguous: their length divides all outer steps.
    if (step && *step % 2)
      return false;
  }
  return isEven(op.getMixedOffsets()[last]);
}

Fragments::Pair Fragments::load(tile::LoadOp op, const TileAxes &axes,
                                unsigned half, unsigned group) {
  const MemView &view = frame.views.find(op.getMemref())->second;
  RankedTensorType type = tileType(op.getResult());
  Type element = type.getElementType(),
       memory = element.isInteger(1) ? d.b.getI8Type() : element;
  TypedAttr padAttr = op.getPadAttr() ? cast<TypedAttr>(op.getPadAttr())
                                      : d.b.getZeroAttr(element);
  auto finish = [&](Value v, Value inBounds) {
    if (memory != element)
      v = d.create<arith::TruncIOp>(element, v);
    return inBounds
               ? d.select(inBounds, v, d.create<arith::ConstantOp>(padAttr))
               : v;
  };
  bool oneValue = !llvm::is_contained(axes, Axis::Column);
  Access access = getAccess(op, axes, type, half, group, 0);
  Value pointer = getPointer(view, access);
  if (!oneValue && isPairInMemory(op, axes)) {
    unsigned align = 2 * element.getIntOrFloatBitWidth() / 8;
    Value both =
        d.create<LLVM::LoadOp>(VectorType::get({2}, memory), pointer, align);
    Pair pair;
    for (unsigned lane = 0; lane < 2; ++lane)
      pair[lane] = finish(d.create<LLVM::ExtractElementOp>(both, d.i32(lane)),
                          access.inBounds);
    return pair;
  }
  Value first =
      finish(d.create<LLVM::LoadOp>(memory, pointer), access.inBounds);
  if (oneValue)
    return {first, first};
  Access next = getAccess(op, axes, type, half, group, 1);
  Value second = d.create<LLVM::LoadOp>(memory, getPointer(view, next));
  return {first, finish(second, next.inBounds)};
}

void Fragments::store(tile::StoreOp op, unsigned half, unsigned group) {
  TileAxes axes = getAxes(op.getValue());
  const MemView &view = frame.views.find(op.getMemref())->second;
  RankedTensorType type = op.getValue().getType();
  Type element = type.getElementType();
  Pair values = evaluate(op.getValue(), axes, half, group);
  if (element.isInteger(1))
    for (Value &v : values)
      v = d.create<arith::ExtUIOp>(d.b.getI8Type(), v);
  auto write = [&](Value value, const Access &access, unsigned align) {
    auto emit = [&] {
      d.create<LLVM::StoreOp>(value, getPointer(view, {access.indices, {}}),
                              align);
    };
    if (access.inBounds)
      d.when(access.inBounds, emit);
    else
      emit();
  };
  unsigned bytes = std::max(8u, element.getIntOrFloatBitWidth()) / 8;
  Access access = getAccess(op, axes, type, half, group, 0);
  if (isPairInMemory(op, axes))
    return write(d.makeVector(values), access, 2 * bytes);
  write(values[0], access, bytes);
  write(values[1], getAccess(op, axes, type, half, group, 1), bytes);
}

} // namespace adze::togpu
