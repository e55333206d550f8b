// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles in shared memory, vectors, and the order of memory accesses.
#include "DeviceBuilder.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace adze::togpu {

/// Waits for all threads that share tiles.
void KernelLowering::barrier() {
  if (plan.getBlocks() > 1 && !plan.sharesDepth())
    return clusterBarrier();
  gpu::BarrierOp::create(b, loc);
}

/// Waits for all threads of the cluster.
void KernelLowering::clusterBarrier() {
  NVVM::ClusterArriveOp::create(b, loc, /*aligned=*/UnitAttr());
  NVVM::ClusterWaitOp::create(b, loc, /*aligned=*/UnitAttr());
}

Value KernelLowering::getThreadInBlock() {
  if (plan.getBlocks() == 1)
    return frame.threadId;
  return arith::AndIOp::create(b, loc, frame.threadId,
                               constant(plan.getBlockThreads() - 1));
}

/// Bools take a byte, and indices eight.
static Type sharedType(Type elementType) {
  Builder b(elementType.getContext());
  if (elementType.isInteger(1))
    return b.getI8Type();
  return isa<IndexType>(elementType) ? b.getI64Type() : elementType;
}

SharedTile KernelLowering::allocateShared(Type elementType,
                                          ArrayRef<int64_t> sizes,
                                          int64_t pad) {
  SharedTile tile;
  tile.elementType = elementType;
  tile.offset = llvm::alignTo(sharedBytes, 16);
  int64_t elements = 1;
  tile.strides.resize(sizes.size());
  for (int64_t i = sizes.size() - 1; i >= 0; --i) {
    tile.strides[i] = elements;
    elements *= sizes[i] + (i + 1 == int64_t(sizes.size()) ? pad : 0);
  }
  sharedBytes = tile.offset + elements * bytesOf(elementType);
  return tile;
}

Value KernelLowering::sharedPointer(const SharedTile &tile, const Axes &axes,
                                    Registers regs) {
  Type type = sharedType(tile.elementType);
  Value dynamic = tile.start;
  int64_t fixed = tile.offset / bytesOf(tile.elementType);
  for (auto [axis, r, stride] : llvm::zip_equal(axes, regs, tile.strides)) {
    Value position = axis->base[r];
    if (Value valid = axis->valid[r]) // positions past the end read the first
      position = arith::SelectOp::create(
          b, loc, valid, add(position, constant(axis->offset[r])), constant(0));
    else
      fixed += axis->offset[r] * stride;
    dynamic = add(dynamic, multiplyBy(position, stride));
  }
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext(), 3);
  Value p = LLVM::AddressOfOp::create(b, loc, pointerType, frame.sharedSymbol);
  if (dynamic)
    p = LLVM::GEPOp::create(b, loc, pointerType, type, p,
                            LLVM::GEPArg(toI64(dynamic)));
  return LLVM::GEPOp::create(b, loc, pointerType, type, p,
                             LLVM::GEPArg(int32_t(fixed)));
}

/// Returns the axes with all positions in bounds, as memory is padded for those
/// that are not.
Axes KernelLowering::withoutBounds(const Axes &axes) {
  Axes all;
  for (const Axis *axis : axes) {
    auto own = std::make_unique<Axis>(*axis);
    llvm::fill(own->valid, Value());
    axisPool.push_back(std::move(own));
    all.push_back(axisPool.back().get());
  }
  return all;
}

/// Returns the number of adjacent elements along `dim` that form one access.
int64_t KernelLowering::sharedVector(const SharedTile &tile, const Axes &axes,
                                     unsigned &dim) {
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (tile.strides[i] != 1 || axis->vec == 1)
      continue;
    int64_t v = std::min<int64_t>(axis->vec, 16 / bytesOf(tile.elementType));
    for (auto [j, stride] : llvm::enumerate(tile.strides))
      while (j != i && stride % v)
        v /= 2;
    dim = i;
    return v;
  }
  return 1;
}

/// Returns the elements as vectors, in the order of `writePacked`.
Fragment KernelLowering::packShared(const SharedTile &tile, const Axes &axes,
                                    const Fragment &fragment) {
  unsigned dim = 0;
  int64_t width = sharedVector(tile, axes, dim),
          stride = countElements(axes, dim + 1);
  Fragment packed;
  forEachElement(axes, [&](Registers regs, int64_t i) {
    if (width > 1 && regs[dim] % width)
      return;
    SmallVector<Value> values;
    for (int64_t j = 0; j < width; ++j)
      values.push_back(toMemory(fragment[i + j * stride]));
    packed.push_back(makeVector(values));
  });
  return packed;
}

/// Writes every position that a thread holds, including those past the end of
/// the tile, whose memory is padded for them.
void KernelLowering::writePacked(const SharedTile &tile, const Axes &axes,
                                 ArrayRef<Value> packed) {
  unsigned dim = 0;
  int64_t width = sharedVector(tile, axes, dim);
  for (const Axis *axis : axes)
    if (axis->spread.mask() >= uint64_t(plan.getBlockThreads()))
      return fail(kernel, "the blocks of a cluster have different parts of a "
                          "tile in shared memory");
  Axes all = withoutBounds(axes);
  forEachElement(axes, [&](Registers regs, int64_t) {
    if (width > 1 && regs[dim] % width)
      return;
    LLVM::StoreOp::create(b, loc, packed.front(),
                          sharedPointer(tile, all, regs),
                          width * bytesOf(tile.elementType));
    packed = packed.drop_front();
  });
}

void KernelLowering::writeShared(const SharedTile &tile, const Axes &axes,
                                 const Fragment &fragment) {
  writePacked(tile, axes, packShared(tile, axes, fragment));
}

Fragment KernelLowering::readShared(const SharedTile &tile, const Axes &axes) {
  unsigned dim = 0;
  int64_t width = sharedVector(tile, axes, dim),
          stride = countElements(axes, dim + 1);
  Fragment f(countElements(axes));
  forEachElement(axes, [&](Registers regs, int64_t i) {
    if (width > 1 && regs[dim] % width)
      return;
    Value loaded = loadVector(sharedType(tile.elementType),
                              sharedPointer(tile, axes, regs), width);
    for (int64_t j = 0; j < width; ++j)
      f[i + j * stride] =
          fromMemory(element(loaded, j, width), tile.elementType);
  });
  return f;
}

//===----------------------------------------------------------------------===//
// Turned tiles
//===----------------------------------------------------------------------===//

/// Returns the dims of the tile of a store, by their place in memory, the
/// innermost first.
static SmallVector<unsigned> getStoreOrder(tile::StoreOp op) {
  SmallVector<int64_t> dims = op.getMemDims();
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, dims.size()));
  llvm::sort(order, [&](unsigned x, unsigned y) { return dims[x] > dims[y]; });
  return order;
}

/// Returns axes by which adjacent threads store adjacent elements, if those of
/// the tile are along another dim, as after a load of a transposed operand:
/// each thread would store to a sector of its own.
Axes KernelLowering::getTurnedAxes(tile::StoreOp op) {
  constexpr int64_t sectorBytes = 32, mostBytes = 65536;
  Value value = op.getValue();
  RankedTensorType type = tileType(value);
  const MemView &view = frame.views.find(op.getMemref())->second;
  if (plan.getBlocks() > 1 || view.map || type.getRank() < 2)
    return {};
  SmallVector<unsigned> order = getStoreOrder(op);
  unsigned inner = order.front();
  int64_t bytes = bytesOf(type.getElementType());
  const Spread &own = axesFor(value)[inner]->spread;
  bool isTogether =
      (own.threads > 1 && own.shift == 0) ||
      std::min(own.vec, type.getDimSize(inner)) * bytes >= sectorBytes;
  bool isLoop = llvm::any_of(plan.classesOf(value), [&](int cls) {
    return plan.spreadOf(cls).chunks > 1;
  });
  if (isTogether || isLoop ||
      op.getMemDims()[inner] + 1 != int64_t(view.sizes.size()) ||
      op.getSteps()[inner] != 1 ||
      type.getDimSize(inner) * bytes < sectorBytes ||
      type.getNumElements() * bytes > mostBytes)
    return {};
  int64_t each =
      std::max<int64_t>(1, type.getNumElements() / plan.getThreads());
  return makeAxes(
      type.getShape(), order,
      std::min<int64_t>(16 / bytes, llvm::bit_floor(uint64_t(each))));
}

/// Stores a tile by way of shared memory.
void KernelLowering::storeTurned(tile::StoreOp op, const Axes &turned) {
  Value value = op.getValue();
  Axes axes = axesFor(value);
  Fragment elements = emit(value, axes);
  // The rows of the store are an odd number of banks apart, since threads write
  // across them.
  SharedTile tile;
  tile.elementType = tileType(value).getElementType();
  tile.strides.resize(axes.size());
  int64_t bytes = bytesOf(tile.elementType), size = 1;
  constexpr int64_t bankBytes = 4;
  for (unsigned dim : getStoreOrder(op)) {
    if (axes[dim]->spread.shift == 0 && axes[dim]->spread.threads > 1) {
      size = llvm::alignTo(size * bytes, bankBytes) / bankBytes;
      size = (size | 1) * bankBytes / bytes;
    }
    tile.strides[dim] = size;
    const Spread &spread = axes[dim]->spread;
    size *= std::max({spread.threads * spread.regs,
                      turned[dim]->spread.threads * turned[dim]->spread.regs});
  }
  // The memory of operands of products is free at the end of a kernel, and all
  // memory is before its last operation.
  Operation *terminator = kernel.getBody().front().getTerminator();
  bool isLast = op->getNextNode() == terminator,
       isFree = op->getParentOp() == kernel.getOperation() &&
                (isLast || (spills.empty() && moved.empty()));
  if (!isFree)
    tile.offset = llvm::alignTo(sharedBytes, 16);
  if (tile.offset < sharedBytes)
    barrier();
  sharedBytes = std::max(sharedBytes, tile.offset + size * bytes);
  writeShared(tile, axes, elements);
  barrier();
  storeFragment(op, turned, readShared(tile, turned));
  if (!isLast)
    barrier();
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value KernelLowering::element(Value loaded, int64_t i, int64_t width) {
  if (width == 1)
    return loaded;
  Value at = LLVM::ConstantOp::create(b, loc, b.getI32Type(), i);
  return LLVM::ExtractElementOp::create(b, loc, loaded, at);
}

Value KernelLowering::loadVector(Type type, Value pointer, int64_t width) {
  unsigned align = width * bytesOf(type);
  if (width == 1)
    return LLVM::LoadOp::create(b, loc, type, pointer, align);
  Value whole = LLVM::LoadOp::create(b, loc, VectorType::get(width, type),
                                     pointer, align);
  // LLVM would make one load of each element, and move those that another
  // version of the kernel shares before the choice between the versions.
  return LLVM::FreezeOp::create(b, loc, whole);
}

/// Returns the values as a vector, or a single value as a scalar.
Value KernelLowering::makeVector(ArrayRef<Value> values) {
  return values.size() == 1 ? values[0]
                            : DeviceBuilder(b, loc).makeVector(values);
}

void KernelLowering::storeVector(ArrayRef<Value> values, Value pointer) {
  LLVM::StoreOp::create(b, loc, makeVector(values), pointer,
                        values.size() * bytesOf(values[0].getType()));
}

} // namespace adze::togpu
