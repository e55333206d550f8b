// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Computes tiles at the positions that a thread requests.
#include "Conversion/TileToGPU/EntryTable.h"
#include "DeviceBuilder.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace adze::togpu {

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Returns the first position of the part of this thread.
Value KernelLowering::getPart(const Spread &spread) {
  Value part = arith::ShRUIOp::create(b, loc, frame.threadId,
                                      constant(spread.partShift));
  part = arith::AndIOp::create(b, loc, part, constant(spread.parts - 1));
  return multiplyBy(part, spread.size / spread.parts);
}

/// Returns the positions of `spread` in this thread, from `start` (null: 0) on.
/// Axes without a start are created at the body's entry and dominate all uses.
const Axis *KernelLowering::makeAxis(const Spread &spread, Value start) {
  OpBuilder::InsertionGuard guard(b);
  if (!start)
    b.setInsertionPointToStart(entry);
  auto axis = std::make_unique<Axis>();
  axis->spread = spread;
  axis->vec = spread.vec;
  Value digit = start ? start : constant(0);
  if (spread.threads > 1) {
    Value t = frame.threadId;
    if (spread.shift)
      t = arith::ShRUIOp::create(b, loc, t, constant(spread.shift));
    t = arith::AndIOp::create(b, loc, t, constant(spread.inPart() - 1));
    digit = start ? add(multiplyBy(t, spread.vec), start)
                  : multiplyBy(t, spread.vec);
    if (spread.parts > 1)
      digit = add(digit, getPart(spread));
  }
  for (int64_t r = 0; r < spread.regs; ++r) {
    axis->base.push_back(digit);
    axis->offset.push_back(r / spread.vec * spread.inPart() * spread.vec +
                           r % spread.vec);
    Value valid;
    // A group of adjacent positions is in bounds or out of bounds as a whole.
    if (spread.ragged() && r % spread.vec)
      valid = axis->valid.back();
    else if (spread.ragged() &&
             (start ||
              (axis->offset[r] + spread.threads * spread.vec > spread.size)))
      valid = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                    add(digit, constant(axis->offset[r])),
                                    constant(spread.size));
    axis->valid.push_back(valid);
  }
  axisPool.push_back(std::move(axis));
  return axisPool.back().get();
}

const Axis *KernelLowering::axisOf(int cls) {
  if (auto it = chunkAxes.find(cls); it != chunkAxes.end())
    return it->second;
  const Axis *&axis = homes[cls];
  if (!axis) {
    Spread spread = plan.spreadOf(cls);
    // Outside of the loops over its chunks, the whole dimension is held.
    spread.regs *= spread.chunks;
    spread.chunks = 1;
    axis = makeAxis(spread);
  }
  return axis;
}

const Axis *KernelLowering::pointAxis(const Axis *axis, int64_t reg) {
  auto point = std::make_unique<Axis>();
  point->spread = axis->spread;
  point->base = {axis->base[reg]};
  point->offset = {axis->offset[reg]};
  point->valid = {axis->valid[reg]};
  axisPool.push_back(std::move(point));
  return axisPool.back().get();
}

/// Returns one register at a position that is uniform, or computed for each
/// thread.
const Axis *KernelLowering::positionAxis(Value position, int64_t offset) {
  auto axis = std::make_unique<Axis>();
  axis->base = {position};
  axis->offset = {offset};
  axis->valid = {Value()};
  axisPool.push_back(std::move(axis));
  return axisPool.back().get();
}

Axes KernelLowering::makeAxes(ArrayRef<int64_t> sizes, ArrayRef<unsigned> order,
                              int64_t vec) {
  SmallVector<int64_t> key(sizes);
  key.append(order.begin(), order.end());
  key.push_back(vec);
  for (auto &[have, axes] : madeAxes)
    if (have == key)
      return axes;
  Axes axes;
  for (const Spread &spread : spreadDims(sizes, order, plan.getThreads(), vec))
    axes.push_back(makeAxis(spread));
  madeAxes.emplace_back(key, axes);
  return axes;
}

/// Returns the axes of the classes of a tile, which may share threads.
Axes KernelLowering::getClassAxes(Value tile) {
  return llvm::map_to_vector(plan.classesOf(tile),
                             [&](int cls) { return axisOf(cls); });
}

/// Returns the axes of the classes of a tile; if two of them share threads, it
/// returns axes for this tile only.
Axes KernelLowering::axesFor(Value tile) {
  Axes axes;
  uint64_t used = 0;
  for (int cls : plan.classesOf(tile)) {
    const Axis *axis = axisOf(cls);
    if ((used & axis->spread.mask()) || llvm::is_contained(axes, axis))
      return makeAxes(tileType(tile).getShape(), memoryOrder(tile), 1);
    used |= axis->spread.mask();
    axes.push_back(axis);
  }
  return axes;
}

void KernelLowering::forChunks(Value tile, llvm::function_ref<void()> body) {
  SmallVector<int> looped;
  for (int cls : plan.classesOf(tile))
    if (plan.spreadOf(cls).chunks > 1 && !chunkAxes.contains(cls) &&
        !llvm::is_contained(looped, cls))
      looped.push_back(cls);
  OpBuilder::InsertionGuard guard(b);
  for (int cls : looped) {
    const Spread &spread = plan.spreadOf(cls);
    auto loop = scf::ForOp::create(b, loc, constant(0), constant(spread.chunks),
                                   constant(1));
    b.setInsertionPoint(loop.getBody()->getTerminator());
    chunkAxes[cls] = makeAxis(spread, multiplyBy(loop.getInductionVar(),
                                                 spread.threads * spread.regs));
    scopes.emplace_back();
  }
  body();
  for (int cls : looped) {
    chunkAxes.erase(cls);
    scopes.pop_back();
  }
}

//===----------------------------------------------------------------------===//
// Demand
//===----------------------------------------------------------------------===//

const KernelLowering::Entry *KernelLowering::find(Value tile,
                                                  const Axes &axes) {
  for (Scope &scope : llvm::reverse(scopes))
    if (auto it = scope.find(tile); it != scope.end())
      for (Entry &entry : it->second)
        if (entry.axes == axes)
          return &entry;
  return nullptr;
}

void KernelLowering::remember(Value tile, const Axes &axes, Fragment fragment) {
  auto &entries = scopes.back()[tile];
  entries.push_back({axes, std::move(fragment)});
}

Fragment KernelLowering::undefined(Type elementType, const Axes &axes) {
  Fragment f;
  Value zero = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(elementType)));
  forEachElement(axes, [&](Registers, int64_t) { f.push_back(zero); });
  return f;
}

Fragment KernelLowering::emit(Value tile, const Axes &axes) {
  if (const Entry *have = find(tile, axes))
    return have->fragment;
  // A pinned load is read from memory once.
  bool atHome = KernelPlan::isRoot(tile) ||
                (plan.isPinned(tile) && find(tile, axesFor(tile)));
  Fragment f = atHome ? throughShared(tile, axes) : compute(tile, axes);
  remember(tile, axes, f);
  return f;
}

/// A root is available at its own axes only; other positions are read from
/// shared memory.
Fragment KernelLowering::throughShared(Value root, const Axes &axes) {
  if (!find(root, axesFor(root))) {
    fail(root.getDefiningOp() ? root.getDefiningOp() : kernel.getOperation(),
         "tile is asked for outside the loop that computes it");
    return undefined(tileType(root).getElementType(), axes);
  }
  return readShared(materialise(root), axes);
}

Fragment KernelLowering::compute(Value tile, const Axes &axes) {
  Operation *op = tile.getDefiningOp();
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return loadTile(load, axes);
  if (auto gather = dyn_cast<tile::GatherOp>(op))
    return computeGather(gather, axes);
  if (auto iota = dyn_cast<tile::IotaOp>(op))
    return computeIota(iota, axes);
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return computeReshape(reshape, axes);
  if (auto bitcast = dyn_cast<tile::BitcastOp>(op))
    return computeBitcast(bitcast, axes);
  if (auto transpose = dyn_cast<tile::TransposeOp>(op))
    return computeTranspose(transpose, axes);
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op))
    return computeBroadcast(broadcast, axes);
  DenseElementsAttr splat;
  if (matchPattern(tile, m_Constant(&splat)) && splat.isSplat()) {
    Value c =
        arith::ConstantOp::create(b, loc, splat.getSplatValue<TypedAttr>());
    Fragment f;
    forEachElement(axes, [&](Registers, int64_t) { f.push_back(c); });
    return f;
  }
  if (op->hasTrait<OpTrait::Elementwise>())
    return computeElementwise(op, axes);
  fail(op, "no rule for this operation");
  return undefined(tileType(tile).getElementType(), axes);
}

Fragment KernelLowering::computeElementwise(Operation *op, const Axes &axes) {
  SmallVector<Fragment> operands;
  for (Value v : op->getOperands())
    operands.push_back(isTile(v) ? emit(v, axes)
                                 : Fragment{map.lookupOrDefault(v)});
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  Fragment f;
  forEachElement(axes, [&](Registers, int64_t i) {
    OperationState state(op->getLoc(), op->getName());
    for (Fragment &operand : operands)
      state.addOperands(operand.size() == 1 ? operand[0] : operand[i]);
    state.addTypes(type);
    state.attributes = op->getDiscardableAttrDictionary();
    if (Attribute properties = op->getPropertiesAsAttribute())
      state.propertiesAttr = properties;
    Operation *made = b.create(state);
    setAccuracy(made, plan.isNarrow());
    f.push_back(made->getResult(0));
  });
  return f;
}

Fragment KernelLowering::computeBroadcast(tile::BroadcastOp op,
                                          const Axes &axes) {
  Fragment f;
  if (!isTile(op.getSource())) {
    Value v = map.lookupOrDefault(op.getSource());
    forEachElement(axes, [&](Registers, int64_t) { f.push_back(v); });
    return f;
  }
  ArrayRef<int64_t> dims = op.getDimsAttr().asArrayRef();
  Axes from;
  for (int64_t dim : dims)
    from.push_back(axes[dim]);
  Fragment source = emit(op.getSource(), from);
  forEachElement(axes, [&](Registers regs, int64_t) {
    int64_t at = 0;
    for (int64_t dim : dims)
      at = at * axes[dim]->regs() + regs[dim];
    f.push_back(source[at]);
  });
  return f;
}

Fragment KernelLowering::computeIota(tile::IotaOp op, const Axes &axes) {
  const Axis *axis = axes[op.getDim()];
  Fragment line, f;
  for (int64_t r = 0; r < axis->regs(); ++r)
    line.push_back(convert(add(axis->base[r], constant(axis->offset[r])),
                           tileType(op.getResult()).getElementType()));
  forEachElement(axes, [&](Registers regs, int64_t) {
    f.push_back(line[regs[op.getDim()]]);
  });
  return f;
}

Fragment KernelLowering::computeBitcast(tile::BitcastOp op, const Axes &axes) {
  RankedTensorType type = tileType(op.getResult());
  auto vector = VectorType::get(type.getShape().back(), type.getElementType());
  const Axis *last = axes.back();
  Fragment f;
  for (Value word : emit(op.getSource(), Axes(ArrayRef(axes).drop_back()))) {
    Value parts = LLVM::BitcastOp::create(b, loc, vector, word);
    for (auto [base, offset] : llvm::zip_equal(last->base, last->offset)) {
      Value position = convert(add(base, constant(offset)), b.getI32Type());
      f.push_back(LLVM::ExtractElementOp::create(b, loc, parts, position));
    }
  }
  return f;
}

Fragment KernelLowering::computeTranspose(tile::TransposeOp op,
                                          const Axes &axes) {
  ArrayRef<int64_t> perm = op.getPerm();
  Axes from(axes.size());
  for (auto [i, p] : llvm::enumerate(perm))
    from[p] = axes[i];
  Fragment source = emit(op.getSource(), from), f;
  forEachElement(axes, [&](Registers regs, int64_t) {
    SmallVector<int64_t> at(regs.size());
    for (auto [i, p] : llvm::enumerate(perm))
      at[p] = regs[i];
    int64_t linear = 0;
    for (auto [axis, r] : llvm::zip_equal(from, at))
      linear = linear * axis->regs() + r;
    f.push_back(source[linear]);
  });
  return f;
}

/// Delinearizes the position of one register along the result dimensions
/// `toDims` of a reshape into positions along the source dimensions `fromDims`.
void KernelLowering::splitPosition(ArrayRef<unsigned> fromDims,
                                   ArrayRef<int64_t> from,
                                   ArrayRef<unsigned> toDims,
                                   ArrayRef<int64_t> to, const Axes &point,
                                   Axes &at) {
  Value linear, valid;
  for (unsigned dim : toDims) {
    const Axis *axis = point[dim];
    linear = add(multiplyBy(linear, to[dim]),
                 add(axis->base[0], constant(axis->offset[0])));
    valid = both(valid, axis->valid[0]);
  }
  for (unsigned dim : llvm::reverse(fromDims)) {
    Value position = linear;
    if (dim != fromDims.front()) {
      position =
          b.createOrFold<arith::RemUIOp>(loc, linear, constant(from[dim]));
      linear = b.createOrFold<arith::DivUIOp>(loc, linear, constant(from[dim]));
    }
    at[dim] = positionAxis(position);
    axisPool.back()->valid = {valid};
  }
}

/// Returns the registers [first, first + count) of an axis.
const Axis *KernelLowering::partOf(const Axis *axis, int64_t first,
                                   int64_t count) {
  auto part = std::make_unique<Axis>();
  part->spread = axis->spread;
  part->vec = count;
  for (int64_t r = first; r < first + count; ++r) {
    part->base.push_back(axis->base[r]);
    part->offset.push_back(axis->offset[r]);
    part->valid.push_back(axis->valid[r]);
  }
  axisPool.push_back(std::move(part));
  return axisPool.back().get();
}

/// Returns true if a thread holds a dimension of this size as it is.
static bool isWhole(const Axis *axis, int64_t size) {
  for (int64_t r = 0; r < axis->regs(); ++r)
    if (axis->offset[r] != r || axis->valid[r] ||
        getConstantIntValue(axis->base[r]) != 0)
      return false;
  return axis->regs() == size;
}

/// Returns true if a run of elements, which starts at a multiple of its length,
/// consists of whole inner dimensions and a part of the next one.
static bool isRunOf(ArrayRef<unsigned> dims, ArrayRef<int64_t> sizes,
                    int64_t length) {
  for (unsigned dim : llvm::reverse(dims)) {
    int64_t part = std::min(length, sizes[dim]);
    if (length % part || sizes[dim] % part)
      return false;
    length /= part;
  }
  return length == 1;
}

/// Sets how many adjacent registers of the dimensions of a reshape's group are
/// adjacent in the source, too. Their first position is a multiple of their
/// number, which is returned.
static int64_t setTogether(const ReshapeGroup &group, ArrayRef<int64_t> from,
                           ArrayRef<int64_t> to, const Axes &axes,
                           MutableArrayRef<int64_t> step) {
  int64_t together = 1;
  for (unsigned dim : llvm::reverse(group.to)) {
    // Wide accesses have powers of two elements.
    bool isRun = llvm::isPowerOf2_64(to[dim]) && isWhole(axes[dim], to[dim]);
    int64_t vec = isRun ? to[dim] : axes[dim]->vec;
    if (group.from.size() > 1 && !isRunOf(group.from, from, together * vec))
      break;
    step[dim] = vec;
    together *= vec;
    if (vec != to[dim])
      break;
  }
  return together;
}

/// Calls `body` for parts of the registers of a reshape: with the positions in
/// the source, those in the result, and the first register of each dimension.
/// Dimensions that the reshape preserves keep their axes; for the others,
/// adjacent registers are a part, which have the same order on both sides.
void KernelLowering::forParts(
    tile::ReshapeOp op, const Axes &axes,
    llvm::function_ref<void(const Axes &, const Axes &, Registers)> body) {
  ArrayRef<int64_t> to = tileType(op.getResult()).getShape(),
                    from = tileType(op.getSource()).getShape();
  auto groups = reshapeGroups(from, to);
  Axes visited; // only the registers of split dimensions, in steps
  SmallVector<int64_t> step(axes.size(), 1), together;
  for (const Axis *axis : axes)
    visited.push_back(pointAxis(axis, 0));
  for (const ReshapeGroup &group : groups) {
    together.push_back(group.kept() ? 1
                                    : setTogether(group, from, to, axes, step));
    if (!group.kept())
      for (unsigned dim : group.to)
        visited[dim] = partOf(axes[dim], 0, axes[dim]->regs() / step[dim]);
  }
  forEachElement(visited, [&](Registers number, int64_t) {
    Axes at(from.size(), positionAxis(constant(0))), kept = axes, points = axes;
    SmallVector<int64_t> first(axes.size(), 0);
    for (auto [group, count] : llvm::zip_equal(groups, together)) {
      if (group.kept()) {
        at[group.from[0]] = axes[group.to[0]];
        continue;
      }
      for (unsigned dim : group.to) {
        first[dim] = number[dim] * step[dim];
        kept[dim] = partOf(axes[dim], first[dim], step[dim]);
        points[dim] = pointAxis(axes[dim], first[dim]);
      }
      splitPosition(group.from, from, group.to, to, points, at);
      int64_t left = count;
      for (unsigned dim : llvm::reverse(group.from)) {
        int64_t part = std::min(left, from[dim]);
        left /= part;
        if (part == 1)
          continue;
        SmallVector<Value> valid = at[dim]->valid;
        if (part == from[dim]) {
          at[dim] = positionAxis(constant(0));
          axisPool.back()->valid = valid;
        }
        at[dim] = extend(at[dim], part);
      }
    }
    body(at, kept, first);
  });
}

/// Returns the elements of a reshape in the order of the registers of its
/// result, from those of its source in the same thread.
Fragment KernelLowering::splitRegisters(tile::ReshapeOp op, const Axes &axes) {
  Value source = op.getSource();
  Axes own = axesFor(source);
  Fragment elements = emit(source, own), result;
  ArrayRef<int64_t> from = tileType(source).getShape(),
                    to = tileType(op.getResult()).getShape();
  auto groups = reshapeGroups(from, to);
  forEachElement(axes, [&](Registers regs, int64_t) {
    SmallVector<int64_t> at(own.size(), 0);
    for (const ReshapeGroup &group : groups) {
      int64_t position = 0;
      for (unsigned dim : group.to)
        position = position * to[dim] + axes[dim]->offset[regs[dim]];
      ArrayRef<int64_t> offsets = own[group.from[0]]->offset;
      at[group.from[0]] = llvm::find(offsets, position) - offsets.begin();
    }
    int64_t linear = 0;
    for (auto [axis, number] : llvm::zip_equal(own, at))
      linear = linear * axis->regs() + number;
    result.push_back(elements[linear]);
  });
  return result;
}

Fragment KernelLowering::computeReshape(tile::ReshapeOp op, const Axes &axes) {
  Value source = op.getSource();
  if (plan.dependsOnRoot(source) && plan.keepsThreads(op) &&
      axes == axesFor(op.getResult()))
    return splitRegisters(op, axes);
  std::optional<SharedTile> shared;
  if (plan.dependsOnRoot(source))
    shared = materialise(source);
  Fragment result(countElements(axes));
  forParts(op, axes, [&](const Axes &at, const Axes &kept, Registers first) {
    Fragment part = shared ? readShared(*shared, at) : emit(source, at);
    forEachElement(kept, [&](Registers inner, int64_t i) {
      int64_t linear = 0;
      for (auto [d, axis] : llvm::enumerate(axes))
        linear = linear * axis->regs() + first[d] + inner[d];
      result[linear] = part[i];
    });
  });
  return result;
}

/// Returns `count` adjacent positions from that of an axis with one register.
const Axis *KernelLowering::extend(const Axis *point, int64_t count) {
  auto axis = std::make_unique<Axis>(*point);
  axis->base.assign(count, point->base[0]);
  axis->valid.assign(count, point->valid[0]);
  axis->vec = count;
  for (int64_t i = 1; i < count; ++i)
    axis->offset.push_back(point->offset[0] + i);
  axisPool.push_back(std::move(axis));
  return axisPool.back().get();
}

/// Returns the whole tile in shared memory, computed at its own axes.
SharedTile KernelLowering::materialise(Value tile) {
  SmallVector<int64_t> sizes;
  for (const Axis *axis : axesFor(tile))
    sizes.push_back(axis->spread.threads * axis->spread.regs *
                    axis->spread.chunks);
  // The memory of operands is free, unless other blocks of a cluster may read
  // it.
  bool isFree = spills.empty() && moved.empty() && exchanges.empty() &&
                plan.getBlocks() == 1 && followsProducts(tile.getDefiningOp());
  auto [it, fresh] = spills.try_emplace(tile);
  if (fresh) {
    int64_t ofOperands = isFree ? std::exchange(sharedBytes, 0) : 0;
    it->second = allocateShared(tileType(tile).getElementType(), sizes);
    sharedBytes = std::max(sharedBytes, ofOperands);
  }
  SharedTile shared = it->second;
  barrier();
  forChunks(tile, [&] {
    Axes axes = axesFor(tile);
    writeShared(shared, axes, emit(tile, axes));
  });
  barrier();
  return shared;
}

} // namespace adze::togpu
