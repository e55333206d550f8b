// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Gathers and scatters: accesses to global memory at computed positions, one
// for each element.
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace adze::togpu {

/// The positions of a gather or a scatter at the registers of a thread.
class ComputedPositions {
public:
  template <typename OpT>
  ComputedPositions(KernelLowering &k, OpT op, ArrayRef<int64_t> steps,
                    const Axes &axes)
      : view(k.frame.views.find(op.getMemref())->second), k(k), axes(axes),
        offsets(op.getMixedOffsets()), indices(k.emit(op.getIndices(), axes)),
        dims(op.getDims()), steps(steps), along(op.getAlong()) {}

  /// Returns true if the memory is an argument with elements of whole bytes.
  static bool mayAccess(KernelLowering &k, Value memory) {
    return k.frame.views.contains(memory) &&
           bytesOf(cast<MemRefType>(memory.getType()).getElementType());
  }

  /// Calls `body` for element i of the registers, with its position in memory
  /// and the condition that this is in bounds.
  void forEach(function_ref<void(ValueRange at, Value guard, int64_t i)> body);

  const MemView view;

private:
  Value isBelow(Value position, OpFoldResult size) {
    return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult,
                                 position, k.scalar(size));
  }

  KernelLowering &k;
  const Axes &axes;
  SmallVector<OpFoldResult> offsets;
  Fragment indices;
  ArrayRef<int64_t> dims, steps;
  int64_t along;
};

void ComputedPositions::forEach(
    function_ref<void(ValueRange at, Value guard, int64_t i)> body) {
  forEachElement(axes, [&](Registers regs, int64_t i) {
    SmallVector<Value> at;
    for (OpFoldResult offset : offsets)
      at.push_back(k.scalar(offset));
    at[along] = k.add(at[along], k.convert(indices[i], k.b.getIndexType()));
    Value guard;
    for (auto [axis, r, d, step] : llvm::zip_equal(axes, regs, dims, steps)) {
      guard = k.both(guard, axis->valid[r]);
      if (d < 0)
        continue;
      Value place = k.add(axis->base[r], k.constant(axis->offset[r]));
      if (step != 1)
        place = arith::MulIOp::create(k.b, k.loc, place, k.constant(step));
      at[d] = k.add(at[d], place);
    }
    for (auto [position, size] : llvm::zip_equal(at, view.sizes))
      guard = k.both(guard, isBelow(position, size));
    body(at, guard, i);
  });
}

Fragment KernelLowering::computeGather(tile::GatherOp op, const Axes &axes) {
  Type elementType = tileType(op.getResult()).getElementType();
  if (!ComputedPositions::mayAccess(*this, op.getMemref())) {
    fail(op, "expected whole bytes of a kernel argument");
    return undefined(elementType, axes);
  }
  SmallVector<int64_t> steps = op.getSteps();
  ComputedPositions positions(*this, op, steps, axes);
  Fragment f;
  Value pad;
  if (auto attr = op.getPad(); attr && *attr != b.getZeroAttr(elementType))
    pad = arith::ConstantOp::create(b, loc, *attr);
  positions.forEach([&](ValueRange at, Value guard, int64_t) {
    Value v = loadGuarded(positions.view, at, guard);
    f.push_back(pad ? Value(arith::SelectOp::create(b, loc, guard, v, pad))
                    : v);
  });
  return f;
}

/// Returns the atomic operation of a kind.
static LLVM::AtomicBinOp getAtomic(tile::ReduceKind kind, bool isFloat) {
  using K = LLVM::AtomicBinOp;
  switch (kind) {
  case tile::ReduceKind::add:
    return K::add;
  case tile::ReduceKind::max:
    return isFloat ? K::fmaximum : K::max;
  case tile::ReduceKind::min:
    return isFloat ? K::fminimum : K::min;
  case tile::ReduceKind::umax:
    return K::umax;
  case tile::ReduceKind::umin:
    return K::umin;
  case tile::ReduceKind::and_:
    return K::_and;
  case tile::ReduceKind::or_:
    return K::_or;
  case tile::ReduceKind::mul:
    break;
  }
  llvm_unreachable("the verifier rejects other kinds");
}

void KernelLowering::scatterTile(tile::ScatterOp op) {
  if (!ComputedPositions::mayAccess(*this, op.getMemref()))
    return fail(op, "expected whole bytes of a kernel argument");
  if (plan.isOrdered(op))
    barrier();
  forChunks(op.getValue(), [&] {
    Axes axes = axesFor(op.getValue());
    Fragment values = emit(op.getValue(), axes);
    SmallVector<int64_t> steps(axes.size(), 1);
    ComputedPositions positions(*this, op, steps, axes);
    Value writer = isWriter(axes);
    positions.forEach([&](ValueRange at, Value guard, int64_t i) {
      auto branch = scf::IfOp::create(b, loc, both(writer, guard),
                                      /*withElseRegion=*/false);
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(branch.thenBlock());
      Value value = toMemory(values[i]),
            pointer = scalarPointer(positions.view, at);
      if (auto kind = op.getCombine())
        LLVM::AtomicRMWOp::create(
            b, loc, getAtomic(*kind, isa<FloatType>(value.getType())), pointer,
            value, LLVM::AtomicOrdering::monotonic, "device");
      else
        storeVector(value, pointer);
    });
  });
  if (plan.isOrdered(op))
    barrier();
}

} // namespace adze::togpu
