// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles in scratch memory: those that are used again but do not fit into
// registers.
#include "KernelLowering.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace adze::tile;

/// The stacks of pool threads are small; block sizes are chosen to fit this
/// limit.
static constexpr int64_t maxScratchBytes = 512 * 1024;

/// Returns the buffer of a tile: row-major, with the dimension of the lanes
/// last, and of split classes only the current slice.
Kept KernelLowering::scratchFor(Value tile) {
  auto [it, fresh] = buffers.try_emplace(tile);
  if (fresh)
    it->second = makeBuffer(tile);
  return it->second;
}

Kept KernelLowering::makeBuffer(Value tile) {
  Kept kept;
  SmallVector<int> dims = classes.of(tile);
  int64_t rank = dims.size(), lane = -1, best = 0;
  for (int64_t i = 0; i < rank; ++i)
    if (classes.lanes(dims[i]) > 1 && classes.laneScore(dims[i]) >= best) {
      lane = i;
      best = classes.laneScore(dims[i]);
    }
  for (int64_t i = 0; i < rank; ++i)
    if (i != lane)
      kept.scratchOrder.push_back(i);
  if (lane >= 0)
    kept.scratchOrder.push_back(lane);
  Type element = tileType(tile).getElementType();
  if (element.isInteger(1))
    element = b.getI8Type();
  SmallVector<int64_t> shape;
  for (int64_t i : kept.scratchOrder) {
    int c = dims[i];
    shape.push_back(classes.isSplit(c) ? classes.step(c) : classes.padded(c));
  }
  auto type = MemRefType::get(shape, element);
  int64_t bytes =
      element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8;
  scratchBytes += type.getNumElements() * bytes;
  if (scratchBytes > maxScratchBytes)
    fail(tile.getDefiningOp() ? tile.getDefiningOp() : root,
         "expected tiles that fit 512 KB of scratch");
  OpBuilder atEntry = OpBuilder::atBlockBegin(entry);
  kept.scratch =
      memref::AllocaOp::create(atEntry, loc, type, b.getI64IntegerAttr(64));
  return kept;
}

SmallVector<Value> KernelLowering::scratchIndices(const Kept &kept,
                                                  const Layout &layout,
                                                  ArrayRef<int64_t> at) {
  SmallVector<Value> indices(kept.prefix.begin(), kept.prefix.end());
  for (int64_t dim : kept.scratchOrder) {
    const Slice &self = layout.slices[dim];
    if (!kept.isWhole && classes.isSplit(layout.classes[dim])) {
      Value part = parts.lookup(layout.classes[dim]);
      indices.push_back(part ? add(part, at[dim]) : index(at[dim]));
      continue;
    }
    Value position = index(self.at + at[dim]);
    indices.push_back(self.start ? add(self.start, position) : position);
  }
  return indices;
}

void KernelLowering::spill(const Kept &kept, const Registers &registers) {
  const Layout &layout = registers.layout;
  bool direct = layout.lanes == 1 || kept.scratchOrder.back() == layout.laneDim;
  for (auto [i, value] : llvm::enumerate(registers.values)) {
    SmallVector<int64_t> at = layout.coordinates(i);
    Value stored = toMemory(b, loc, value);
    if (direct && layout.lanes > 1) {
      vector::StoreOp::create(b, loc, stored, kept.scratch,
                              scratchIndices(kept, layout, at));
      continue;
    }
    for (int64_t lane = 0; lane < layout.lanes; ++lane) {
      Value element = layout.lanes == 1
                          ? stored
                          : vector::ExtractOp::create(b, loc, stored, lane);
      memref::StoreOp::create(b, loc, element, kept.scratch,
                              scratchIndices(kept, layout, at));
      if (layout.laneDim >= 0)
        ++at[layout.laneDim];
    }
  }
}

Registers KernelLowering::reload(const Kept &kept, Value tile,
                                 const Layout &layout) {
  Registers result{layout, {}};
  Type element = tileType(tile).getElementType();
  Type stored = element.isInteger(1) ? Type(b.getI8Type()) : element;
  bool direct = layout.lanes == 1 || kept.scratchOrder.back() == layout.laneDim;
  for (int64_t i = 0, e = layout.total(); i < e; ++i) {
    SmallVector<int64_t> at = layout.coordinates(i);
    SmallVector<Value> elements;
    Value value;
    if (direct && layout.lanes > 1) {
      value = vector::LoadOp::create(
          b, loc, VectorType::get(layout.lanes, stored), kept.scratch,
          scratchIndices(kept, layout, at));
    } else {
      for (int64_t lane = 0; lane < layout.lanes; ++lane) {
        elements.push_back(memref::LoadOp::create(
            b, loc, kept.scratch, scratchIndices(kept, layout, at)));
        if (layout.laneDim >= 0)
          ++at[layout.laneDim];
      }
      value = layout.lanes == 1
                  ? elements.front()
                  : vector::FromElementsOp::create(
                        b, loc, VectorType::get(layout.lanes, stored), elements)
                        .getResult();
    }
    result.values.push_back(fromMemory(b, loc, value, element));
  }
  return result;
}

/// Computes the whole tile (of split classes: the current slice) into scratch
/// memory, where it stays until the end of the current scope.
void KernelLowering::materialise(Value tile) {
  Kept kept = scratchFor(tile);
  copyTo(tile, kept);
  scopes.back()[tile].push_back(kept);
}

void KernelLowering::copyTo(Value tile, const Kept &buffer) {
  bool outer = staging;
  staging = tile.getDefiningOp() && windowOf(tile.getDefiningOp());
  forAllChunks(loopedClasses(tile), [&] {
    scopes.emplace_back();
    spill(buffer, emit(tile));
    scopes.pop_back();
  });
  staging = outer;
}

/// Reads a computed reshape: each element of the result is at its row-major
/// position in the scratch memory of the source.
Registers KernelLowering::reshapeFromScratch(ReshapeOp op, const Kept &kept,
                                             const Layout &layout) {
  Layout from = layout;
  from.classes = classes.of(op.getSource());
  ArrayRef<int64_t> fromShape = op.getSource().getType().getShape();
  ArrayRef<int64_t> toShape = op.getType().getShape();
  // Trailing dimensions of one class are equal in both shapes.
  int64_t same = 0, fromRank = fromShape.size(), toRank = toShape.size();
  while (same < std::min(fromRank, toRank) &&
         from.classes[fromRank - 1 - same] == layout.classes[toRank - 1 - same])
    ++same;
  bool lanesKept =
      layout.lanes > 1 && layout.laneDim >= toRank - same &&
      kept.scratchOrder.back() == layout.laneDim - toRank + fromRank;
  Type element = op.getType().getElementType();
  Type stored = element.isInteger(1) ? Type(b.getI8Type()) : element;
  auto indicesAt = [&](ArrayRef<int64_t> at) {
    AffineExpr linear = b.getAffineConstantExpr(0);
    SmallVector<Value> starts, places(fromRank);
    for (const Slice &self : layout.slices)
      starts.push_back(self.start ? self.start : index(0));
    for (int64_t dim = 0; dim < toRank; ++dim) {
      const Slice &self = layout.slices[dim];
      AffineExpr position = b.getAffineDimExpr(dim) + (self.at + at[dim]);
      if (dim < toRank - same)
        linear = linear * toShape[dim] + position;
      else if (classes.isSplit(layout.classes[dim])) // the current slice only
        places[dim - toRank + fromRank] = index(at[dim]);
      else
        places[dim - toRank + fromRank] = affine::AffineApplyOp::create(
            b, loc, AffineMap::get(toRank, 0, position), starts);
    }
    for (int64_t dim = fromRank - same - 1; dim >= 0; --dim) {
      places[dim] = affine::AffineApplyOp::create(
          b, loc, AffineMap::get(toRank, 0, linear % fromShape[dim]), starts);
      linear = linear.floorDiv(fromShape[dim]);
    }
    SmallVector<Value> indices;
    for (int64_t dim : kept.scratchOrder)
      indices.push_back(places[dim]);
    return indices;
  };
  Registers result{layout, {}};
  for (int64_t i = 0, e = layout.total(); i < e; ++i) {
    SmallVector<int64_t> at = layout.coordinates(i);
    Value value;
    if (isDead(layout, i)) { // any value is correct
      result.values.push_back(result.values.front());
      continue;
    }
    if (lanesKept) {
      value =
          vector::LoadOp::create(b, loc, VectorType::get(layout.lanes, stored),
                                 kept.scratch, indicesAt(at));
    } else {
      SmallVector<Value> elements;
      for (int64_t lane = 0; lane < layout.lanes; ++lane) {
        bool live = layout.laneDim < 0 || layout.slices[layout.laneDim].start ||
                    layout.slices[layout.laneDim].at + at[layout.laneDim] <
                        toShape[layout.laneDim];
        elements.push_back(
            live ? memref::LoadOp::create(b, loc, kept.scratch, indicesAt(at))
                       .getResult()
                 : elements.front());
        if (layout.laneDim >= 0)
          ++at[layout.laneDim];
      }
      value = layout.lanes == 1
                  ? elements.front()
                  : vector::FromElementsOp::create(
                        b, loc, VectorType::get(layout.lanes, stored), elements)
                        .getResult();
    }
    result.values.push_back(fromMemory(b, loc, value, element));
  }
  return result;
}

std::optional<Kept> KernelLowering::scratchOf(Value tile) {
  for (Scope &scope : llvm::reverse(scopes))
    for (Kept &kept : scope.lookup(tile))
      if (kept.scratch)
        return kept;
  return std::nullopt;
}
