// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Windows of global memory: addresses, bounds and wide accesses.
#include "DeviceBuilder.h"
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "LoopStream.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace adze::togpu {

/// Returns the type of an element in memory.
static Type memoryType(Type elementType) {
  Builder b(elementType.getContext());
  if (elementType.isInteger(1))
    return b.getI8Type();
  return isa<IndexType>(elementType) ? b.getI64Type() : elementType;
}

Value KernelLowering::fromMemory(Value v, Type elementType) {
  if (elementType.isInteger(1))
    return arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::ne, v,
        arith::ConstantIntOp::create(b, loc, v.getType(), 0));
  if (isa<IndexType>(elementType))
    return arith::IndexCastOp::create(b, loc, elementType, v);
  return v;
}

Value KernelLowering::toMemory(Value v) {
  if (v.getType().isInteger(1))
    return arith::ExtUIOp::create(b, loc, b.getI8Type(), v);
  if (isa<IndexType>(v.getType()))
    return toI64(v);
  return v;
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

/// A window at the positions of a thread.
class Access {
public:
  Access(KernelLowering &k, Value memory, ArrayRef<OpFoldResult> offsets,
         ArrayRef<int64_t> dims, ArrayRef<int64_t> steps,
         ArrayRef<int64_t> sizes, const Axes &axes)
      : k(k), b(k.b), loc(k.loc), view(k.frame.views.find(memory)->second),
        axes(axes), dims(dims), steps(steps) {
    for (auto [d, offset] : llvm::enumerate(offsets)) {
      auto *it = llvm::find(dims, int64_t(d));
      axisOfDim.push_back(it == dims.end() ? -1 : it - dims.begin());
      start.push_back(k.scalar(offset));
      divisors.push_back(tile::getKnownDivisor(offset));
      int64_t span = axisOfDim[d] < 0
                         ? 0
                         : (sizes[axisOfDim[d]] - 1) * steps[axisOfDim[d]];
      auto range = tile::getIndexRange(offset);
      auto extent = getConstantIntValue(view.sizes[d]);
      inside.push_back(range && extent && range->min >= 0 &&
                       range->max + span < *extent);
    }
    chooseVector();
  }
  Access(KernelLowering &k, tile::LoadOp op, const Axes &axes)
      : Access(k, op.getMemref(), op.getMixedOffsets(), op.getMemDims(),
               op.getSteps(), tileType(op.getResult()).getShape(), axes) {}

  Type type() const { return memoryType(view.elementType); }
  /// Registers in groups of `width` along tile dimension `vectorDim` are one
  /// access.
  int64_t width = 1;
  unsigned vectorDim = 0;

  /// Returns the condition that the element is in bounds; null: always.
  Value guard(Registers regs) {
    Value all;
    for (unsigned d = 0; d < start.size(); ++d)
      if (!inside[d])
        all = both(all, guardOf(d, axisOfDim[d] < 0 ? 0 : regs[axisOfDim[d]]));
    for (auto [axis, r] : llvm::zip_equal(axes, regs))
      all = both(all, axis->valid[r]);
    return all;
  }

  Value pointer(Registers regs) {
    if (view.map)
      return mappedPointer(regs);
    Value dynamic;
    int64_t fixed = 0;
    for (unsigned d = 0; d < start.size(); ++d) {
      auto [base, offset] = coordinate(d, regs);
      auto stride = getConstantIntValue(view.strides[d]);
      if (stride) {
        dynamic = k.add(dynamic, scaled(base, *stride));
        fixed += offset * *stride;
        continue;
      }
      Value position = offset ? sum(base, k.constant(offset)) : base;
      Value &product = products[{d, position}];
      if (!product)
        product = arith::MulIOp::create(b, loc, position,
                                        cast<Value>(view.strides[d]));
      dynamic = sum(dynamic, product);
    }
    Value p = at(view.base, dynamic);
    if (fixed)
      p = LLVM::GEPOp::create(b, loc, p.getType(), type(), p,
                              LLVM::GEPArg(int32_t(fixed)));
    return p;
  }

  int64_t bytes() const { return width * bytesOf(type()); }
  /// Starts to copy an access to shared memory; zeros if it is out of bounds.
  void copy(Registers regs, Value to) {
    constexpr int64_t mostBytes = 16;
    Value inBounds = guard(regs), size;
    auto i32 = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
    };
    if (inBounds)
      size = arith::SelectOp::create(b, loc, inBounds, i32(bytes()), i32(0));
    // Nothing is read at an address out of bounds.
    NVVM::CpAsyncOp::create(b, loc, to, pointer(regs), bytes(),
                            bytes() == mostBytes
                                ? NVVM::LoadCacheModifierKind::CG
                                : NVVM::LoadCacheModifierKind::CA,
                            size);
  }

private:
  Value sum(Value x, Value y) { return k.add(x, y); }
  Value both(Value x, Value y) {
    if (!x || !y || x == y)
      return x ? x : y;
    Value &v = ands[{x, y}];
    return v ? v : v = arith::AndIOp::create(b, loc, x, y);
  }
  Value scaled(Value x, int64_t factor) {
    Value &v = factors[{x, factor}];
    return v ? v : v = k.multiplyBy(x, factor);
  }
  Value at(Value base, Value index) {
    Value &p = pointers[{base, index}];
    if (!p)
      p = LLVM::GEPOp::create(b, loc, base.getType(), type(), base,
                              LLVM::GEPArg(k.toI64(index)));
    return p;
  }

  /// Returns the coordinate along a memory dimension, as a value plus a
  /// constant.
  std::pair<Value, int64_t> coordinate(unsigned d, Registers regs) {
    int axis = axisOfDim[d];
    if (axis < 0)
      return {start[d], 0};
    int64_t r = regs[axis], step = steps[axis];
    Value &v = coordinates[{d, axes[axis]->base[r]}];
    if (!v)
      v = sum(start[d], scaled(axes[axis]->base[r], step));
    return {v, axes[axis]->offset[r] * step};
  }

  Value guardOf(unsigned d, int64_t r) {
    Value &v = guards[{d, r}];
    if (v)
      return v;
    SmallVector<int64_t> regs(axes.size(), 0);
    if (axisOfDim[d] >= 0)
      regs[axisOfDim[d]] = r;
    auto [base, offset] = coordinate(d, regs);
    Value position = offset ? sum(base, k.constant(offset)) : base;
    // The unsigned comparison also rejects negative coordinates.
    return v = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                     position, k.scalar(view.sizes[d]));
  }

  Value mappedPointer(Registers regs) {
    SmallVector<Value> logical;
    for (unsigned d = 0; d < start.size(); ++d) {
      auto [base, offset] = coordinate(d, regs);
      logical.push_back(offset ? sum(base, k.constant(offset)) : base);
    }
    return k.mappedPointer(view, logical);
  }

  bool mapAllows(unsigned d, int64_t v) const;
  bool stridesAllow(unsigned d, int64_t v, SmallVector<Condition> &needs) const;
  void chooseVector();

  KernelLowering &k;
  OpBuilder &b;
  Location loc;
  const MemView &view;
  const Axes &axes;
  SmallVector<int64_t> dims, steps;
  SmallVector<int> axisOfDim;
  SmallVector<Value> start;
  SmallVector<int64_t> divisors;
  SmallVector<bool> inside;
  // Common parts of addresses are built once.
  llvm::DenseMap<std::pair<Value, Value>, Value> ands, pointers;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> factors;
  llvm::DenseMap<std::pair<unsigned, Value>, Value> coordinates, products;
  llvm::DenseMap<std::pair<unsigned, int64_t>, Value> guards;
};

/// Returns true if v adjacent positions along dimension d, from a multiple of v
/// on, have consecutive values (`follow`) or one value, and the rest of the
/// expression is a multiple of v.
static bool keepsRuns(AffineExpr e, unsigned d, int64_t v, bool follow) {
  if (!e.isFunctionOfDim(d))
    return !follow || e.getLargestKnownDivisor() % v == 0;
  if (isa<AffineDimExpr>(e))
    return follow;
  auto bin = cast<AffineBinaryOpExpr>(e);
  if (bin.getKind() == AffineExprKind::Add) {
    bool isLeft = follow && keepsRuns(bin.getLHS(), d, v, true) &&
                  bin.getLHS().isFunctionOfDim(d);
    auto other = isLeft ? bin.getRHS() : bin.getLHS();
    auto self = isLeft ? bin.getLHS() : bin.getRHS();
    return keepsRuns(self, d, v, follow) && keepsRuns(other, d, v, false) &&
           (!follow || other.getLargestKnownDivisor() % v == 0);
  }
  auto rhs = dyn_cast<AffineConstantExpr>(bin.getRHS());
  if (!rhs)
    return false;
  if (bin.getKind() == AffineExprKind::FloorDiv)
    return !follow && bin.getLHS() == getAffineDimExpr(d, e.getContext()) &&
           rhs.getValue() % v == 0;
  if (bin.getKind() == AffineExprKind::Mod)
    return keepsRuns(bin.getLHS(), d, v, follow) &&
           (!follow || rhs.getValue() % v == 0);
  return bin.getKind() == AffineExprKind::Mul && !follow &&
         keepsRuns(bin.getLHS(), d, v, false);
}

/// Returns true if v adjacent positions along logical dimension d, from a
/// multiple of v on, are adjacent under the layout map.
bool Access::mapAllows(unsigned d, int64_t v) const {
  for (auto [i, e] : llvm::enumerate(view.map.getResults())) {
    bool last = i + 1 == view.map.getNumResults();
    auto stride = getConstantIntValue(view.physicalStrides[i]);
    if (!last && (!stride || *stride % v))
      return false;
    if (!keepsRuns(e, d, v, last))
      return false;
  }
  return true;
}

bool Access::stridesAllow(unsigned d, int64_t v,
                          SmallVector<Condition> &needs) const {
  for (unsigned other = 0; other < start.size(); ++other) {
    auto stride = getConstantIntValue(view.strides[other]);
    if (other == d) {
      if (stride != 1)
        return false;
    } else if (!stride) {
      needs.push_back({cast<Value>(view.strides[other]), v});
    } else if (*stride % v) {
      return false;
    }
  }
  return true;
}

void Access::chooseVector() {
  unsigned bytes = bytesOf(view.elementType);
  for (auto [i, d] : llvm::enumerate(dims)) {
    if (axes[i]->vec == 1 || steps[i] != 1)
      continue;
    for (int64_t v = std::min<int64_t>(axes[i]->vec, 16 / bytes); v > 1;
         v /= 2) {
      SmallVector<Condition> needs;
      auto extent = getConstantIntValue(view.sizes[d]);
      if (divisors[d] % v || (!inside[d] && extent && *extent % v))
        continue;
      if (view.map ? !mapAllows(d, v) : !stridesAllow(d, v, needs))
        continue;
      if (!inside[d] && !extent)
        needs.push_back({cast<Value>(view.sizes[d]), v});
      if (view.divisor % v)
        continue;
      if (view.align < v * bytes)
        needs.push_back({view.origin, int64_t(v * bytes)});
      if (!needs.empty() && !k.fast)
        continue;
      if (llvm::any_of(needs,
                       [&](Condition &c) { return !k.isAtEntry(c.value); }))
        continue;
      k.conditions.append(needs);
      width = v;
      vectorDim = i;
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// Returns the address of logical indices of memory with a layout map.
Value KernelLowering::mappedPointer(const MemView &view,
                                    ArrayRef<Value> logical) {
  Value linear;
  for (auto [e, stride] :
       llvm::zip_equal(view.map.getResults(), view.physicalStrides)) {
    Value place = expandAffine(b, loc, e, logical, {});
    auto known = getConstantIntValue(stride);
    linear = add(linear, known ? multiplyBy(place, *known)
                               : b.createOrFold<arith::MulIOp>(loc, place,
                                                               scalar(stride)));
  }
  if (!linear)
    return view.base;
  return LLVM::GEPOp::create(b, loc, view.base.getType(),
                             memoryType(view.elementType), view.base,
                             LLVM::GEPArg(toI64(linear)));
}

/// Returns memory that a thread may read in place of an out-of-bounds element.
Value KernelLowering::guardedPointer(Value pointer, Value guard) {
  if (!guard)
    return pointer;
  Value zeros =
      LLVM::AddressOfOp::create(b, loc, pointer.getType(), frame.zeroSymbol);
  return arith::SelectOp::create(b, loc, guard, pointer, zeros);
}

Fragment KernelLowering::loadTile(tile::LoadOp op, const Axes &axes) {
  Type elementType = tileType(op.getResult()).getElementType();
  Fragment f;
  if (!frame.views.contains(op.getMemref()) || !bytesOf(elementType)) {
    fail(op, "expected whole bytes of a kernel argument");
    return undefined(elementType, axes);
  }
  if (streamed && streamed->contains(op))
    return streamTile(op, axes);
  if (held.contains(op))
    return takeHeld(op, axes);
  Access access(*this, op, axes);
  Value pad;
  if (auto attr = op.getPad(); attr && *attr != b.getZeroAttr(elementType))
    pad = arith::ConstantOp::create(b, loc, *attr);
  int64_t stride = countElements(axes, access.vectorDim + 1);
  f.resize(countElements(axes));
  forEachElement(axes, [&](Registers regs, int64_t i) {
    if (access.width > 1 && regs[access.vectorDim] % access.width)
      return;
    Value guard = access.guard(regs);
    Value pointer = guardedPointer(access.pointer(regs), guard);
    Value loaded = loadVector(access.type(), pointer, access.width);
    for (int64_t j = 0; j < access.width; ++j) {
      Value v = fromMemory(element(loaded, j, access.width), elementType);
      if (guard && pad)
        v = arith::SelectOp::create(b, loc, guard, v, pad);
      f[i + j * stride] = v;
    }
  });
  return f;
}

/// Emits a step of a stream for a tile: copies to shared memory, where a thread
/// has one place for each access, or reads from there.
Fragment KernelLowering::streamTile(tile::LoadOp op, const Axes &axes) {
  Type elementType = tileType(op.getResult()).getElementType();
  Access access(*this, op, axes);
  int64_t stride = countElements(axes, access.vectorDim + 1);
  Fragment f = undefined(elementType, axes);
  forEachElement(axes, [&](Registers regs, int64_t i) {
    if (access.width > 1 && regs[access.vectorDim] % access.width)
      return;
    Value own = streamed->takePlace(access.bytes());
    if (!own)
      return;
    if (streamed->copies())
      return access.copy(regs, own);
    Value loaded = loadVector(access.type(), own, access.width);
    for (int64_t j = 0; j < access.width; ++j)
      f[i + j * stride] =
          fromMemory(element(loaded, j, access.width), elementType);
  });
  return f;
}

/// Returns the bytes of an access to a window.
int64_t KernelLowering::getAccessBytes(tile::LoadOp op, const Axes &axes) {
  return Access(*this, op, axes).bytes();
}

/// Starts to copy the window at the positions `from` to those `to` in shared
/// memory, whose registers have the same order; zeros where `from` is out of
/// bounds.
void KernelLowering::copyTile(tile::LoadOp op, const Axes &from,
                              const SharedTile &tile, const Axes &to) {
  Access access(*this, op, from);
  Axes all = withoutBounds(to);
  SmallVector<SmallVector<int64_t>> targets;
  forEachElement(all, [&](Registers regs, int64_t) {
    targets.push_back(llvm::to_vector(regs));
  });
  forEachElement(from, [&](Registers regs, int64_t i) {
    if (access.width > 1 && regs[access.vectorDim] % access.width)
      return;
    access.copy(regs, sharedPointer(tile, all, targets[i]));
  });
}

void KernelLowering::storeTile(tile::StoreOp op) {
  Value value = op.getValue();
  if (!frame.views.contains(op.getMemref()) ||
      !bytesOf(tileType(value).getElementType()))
    return fail(op, "expected whole bytes of a kernel argument");
  if (plan.isOrdered(op))
    barrier();
  if (Axes turned = getTurnedAxes(op); !turned.empty())
    storeTurned(op, turned);
  else
    forChunks(value, [&] {
      Axes axes = axesFor(value);
      storeFragment(op, axes, emit(value, axes));
    });
  if (plan.isOrdered(op))
    barrier();
}

/// Returns true if what a thread stores has more operands in registers than
/// results: the factors of sums outside of loops, or a tile that is added to
/// sums. In the branch of its store, each result would need its operands until
/// then.
static bool joinsRegisters(tile::KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        auto loop = op->getParentOfType<scf::ForOp>();
        auto load = dyn_cast<tile::LoadOp>(op);
        bool joins =
            isa<tile::DotOp>(op)
                ? !loop || runsOnce(loop)
                : load && load.getType().getRank() > 1 && followsProducts(load);
        return joins ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns the condition that a thread writes its elements, which others may
/// hold, too; null: always.
Value KernelLowering::isWriter(const Axes &axes) {
  uint64_t used = 0;
  for (const Axis *axis : axes)
    used |= axis->spread.mask();
  uint64_t rest = uint64_t(plan.getProgramThreads() - 1) & ~used;
  if (!rest)
    return {};
  return arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq,
      arith::AndIOp::create(b, loc, frame.threadId, constant(rest)),
      constant(0));
}

void KernelLowering::storeFragment(tile::StoreOp op, const Axes &axes,
                                   const Fragment &f) {
  SmallVector<int64_t> dims = op.getMemDims(), steps = op.getSteps();
  Access access(*this, op.getMemref(), op.getMixedOffsets(), dims, steps,
                tileType(op.getValue()).getShape(), axes);
  Value single = isWriter(axes);
  int64_t stride = countElements(axes, access.vectorDim + 1);
  struct Write {
    Value guard, pointer;
    SmallVector<Value> values;
  };
  SmallVector<Write> writes;
  llvm::DenseMap<Value, Value> singles;
  // What only some threads write only they compute.
  DeviceBuilder d(b, loc);
  bool hasSums = !single && joinsRegisters(kernel);
  auto keep = [&](Value value, Value guard) {
    return hasSums && guard && value.getType().isF32() ? d.keepHere(value)
                                                       : value;
  };
  forEachElement(axes, [&](Registers regs, int64_t i) {
    if (access.width > 1 && regs[access.vectorDim] % access.width)
      return;
    Write &write = writes.emplace_back();
    Value guard = access.guard(regs);
    auto [it, fresh] = singles.try_emplace(guard);
    if (fresh)
      it->second = both(single, guard);
    write.guard = it->second;
    write.pointer = access.pointer(regs);
    for (int64_t j = 0; j < access.width; ++j)
      write.values.push_back(toMemory(keep(f[i + j * stride], write.guard)));
  });
  // Writes with the same condition share a branch.
  for (auto *it = writes.begin(); it != writes.end();) {
    auto *end = std::find_if(it, writes.end(),
                             [&](Write &w) { return w.guard != it->guard; });
    OpBuilder::InsertionGuard guard(b);
    if (it->guard)
      b.setInsertionPointToStart(
          scf::IfOp::create(b, loc, it->guard, /*withElseRegion=*/false)
              .thenBlock());
    for (; it != end; ++it)
      storeVector(it->values, it->pointer);
  }
}

/// Returns the address of one element.
Value KernelLowering::scalarPointer(const MemView &view, ValueRange indices) {
  if (view.map)
    return mappedPointer(view, SmallVector<Value>(indices));
  Value linear = constant(0);
  for (auto [index, stride] : llvm::zip_equal(indices, view.strides))
    linear =
        add(linear, b.createOrFold<arith::MulIOp>(loc, index, scalar(stride)));
  return LLVM::GEPOp::create(b, loc, view.base.getType(),
                             memoryType(view.elementType), view.base,
                             LLVM::GEPArg(toI64(linear)));
}

/// Loads one element, or returns zero if `guard` (null: true) is false.
Value KernelLowering::loadGuarded(const MemView &view, ValueRange indices,
                                  Value guard) {
  Value pointer = guardedPointer(scalarPointer(view, indices), guard);
  return fromMemory(loadVector(memoryType(view.elementType), pointer, 1),
                    view.elementType);
}

} // namespace adze::togpu
