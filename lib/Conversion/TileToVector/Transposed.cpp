// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Windows that are contiguous along a dimension other than that of the lanes:
// vectors are loaded or stored along the contiguous dimension, and blocks are
// transposed in registers.
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace adze::tile;

void adze::tile::transposeBlocks(OpBuilder &b, Location loc,
                                 MutableArrayRef<Value> rows) {
  int64_t size = rows.size();
  int64_t lanes = cast<VectorType>(rows.front().getType()).getNumElements();
  for (int64_t half = 1; half < size; half *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool upper = lane & half;
      low.push_back(upper ? lanes + lane - half : lane);
      high.push_back(upper ? lanes + lane : lane + half);
    }
    for (int64_t i = 0; i < size; ++i) {
      if (i & half)
        continue;
      Value x = rows[i], y = rows[i + half];
      rows[i] = vector::ShuffleOp::create(b, loc, x, y, low);
      rows[i + half] = vector::ShuffleOp::create(b, loc, x, y, high);
    }
  }
}

Value adze::tile::concatenate(OpBuilder &b, Location loc,
                              ArrayRef<Value> parts) {
  SmallVector<Value> values(parts);
  while (values.size() > 1) {
    int64_t lanes = cast<VectorType>(values.front().getType()).getNumElements();
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes));
    SmallVector<Value> pairs;
    for (size_t i = 0; i < values.size(); i += 2)
      pairs.push_back(
          vector::ShuffleOp::create(b, loc, values[i], values[i + 1], order));
    values = pairs;
  }
  return values.front();
}

/// Returns the layout of the same slices in vectors along the dimension whose
/// elements are adjacent in memory, or at most `farthest` apart. The vectors
/// are as long as the lanes, or a part of them. Returns nothing if there is no
/// such dimension.
std::optional<Layout> KernelLowering::alongMemory(const Window &window,
                                                  const Layout &layout,
                                                  int64_t farthest) {
  constexpr int64_t fewest = 4;
  if (layout.lanes == 1 || window.indices)
    return std::nullopt;
  for (int64_t dim = 0, e = layout.counts.size(); dim < e; ++dim) {
    int64_t size = layout.lanes;
    while (layout.counts[dim] % size != 0)
      size /= 2;
    if (dim == layout.laneDim || size < std::min(fewest, layout.lanes))
      continue;
    Layout along = layout;
    along.counts[layout.laneDim] *= layout.lanes;
    along.counts[dim] /= size;
    along.laneDim = dim;
    along.lanes = size;
    int64_t step = window.dims[dim].empty() ? 0 : window.dims[dim].back().step;
    if (step > 0 && step <= farthest && isContiguous(window, along, step))
      return along;
  }
  return std::nullopt;
}

/// Returns the shuffle mask of lanes that are `step` apart: from the lanes
/// selected before `first` (or from memory, if the second operand is a vector
/// of it) and from a vector there.
static SmallVector<int64_t> takeSpread(int64_t lanes, int64_t step,
                                       int64_t first) {
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t at = lane * step;
    if (at < first)
      order.push_back(first == lanes ? at : lane);
    else
      order.push_back(at < first + lanes ? lanes + at - first : 0);
  }
  return order;
}

/// Reads registers whose lanes are a constant distance apart in memory: loads
/// of the whole range, from which shuffles select the lanes. Returns nothing
/// for other registers.
std::optional<Registers> KernelLowering::readSpread(const Window &window,
                                                    const Layout &layout,
                                                    Value pad) {
  constexpr int64_t farthest = 4;
  if (layout.lanes == 1 || window.indices ||
      window.dims[layout.laneDim].size() != 1 ||
      layout.classes[layout.laneDim] == alongDepth.depth)
    return std::nullopt;
  int64_t lanes = layout.lanes, step = window.dims[layout.laneDim][0].step;
  if (step < 2 || step > farthest || !isContiguous(window, layout, step))
    return std::nullopt;
  auto type = VectorType::get(lanes, pad.getType());
  auto bools = VectorType::get(lanes, b.getI1Type());
  Value pads = vector::BroadcastOp::create(b, loc, type, pad);
  auto part = [&](int64_t index, int64_t first, int64_t end) -> Value {
    Access at = getAccess(window, layout, index, /*shift=*/first);
    if (at.never)
      return pads;
    SmallVector<bool> bits(lanes, false);
    std::fill_n(bits.begin(), std::clamp<int64_t>(end - first, 0, lanes), true);
    Value mask = at.mask;
    if (end < first + lanes) // elements after the last lane may not exist
      mask = bothMasks(b, loc, mask,
                       arith::ConstantOp::create(
                           b, loc, DenseElementsAttr::get(bools, bits)));
    if (at.exists)
      mask = bothMasks(b, loc, mask,
                       vector::BroadcastOp::create(b, loc, bools, at.exists));
    Value memref = mapped(window.memref);
    if (!mask)
      return vector::LoadOp::create(b, loc, type, memref, at.indices);
    return vector::MaskedLoadOp::create(b, loc, type, memref, at.indices, mask,
                                        pads);
  };
  Registers result{layout, {}};
  for (int64_t i = 0, e = layout.total(); i < e; ++i) {
    int64_t live =
        liveLanes(classes, layout, layout.coordinates(i)[layout.laneDim]);
    if (isDead(layout, i))
      live = 0;
    int64_t end = (live - 1) * step + 1; // of the selected elements
    Value value = live > 0 ? part(i, 0, end) : pads;
    for (int64_t first = lanes; first < end; first += lanes)
      value = vector::ShuffleOp::create(b, loc, value, part(i, first, end),
                                        takeSpread(lanes, step, first));
    if (end > 0 && end <= lanes) // of one load
      value = vector::ShuffleOp::create(b, loc, value, value,
                                        takeSpread(lanes, step, lanes));
    result.values.push_back(value);
  }
  return result;
}

std::optional<Registers> KernelLowering::readTransposed(const Window &window,
                                                        const Layout &layout,
                                                        Value pad) {
  if (std::optional<Registers> spread = readSpread(window, layout, pad))
    return spread;
  std::optional<Layout> along = alongMemory(window, layout, /*farthest=*/1);
  if (!along)
    return std::nullopt;
  int64_t lanes = layout.lanes, size = along->lanes;
  Registers result{layout, {}};
  result.values.resize(layout.total());
  for (int64_t i = 0, total = along->total(); i < total; ++i) {
    SmallVector<int64_t> at = along->coordinates(i);
    if (at[layout.laneDim] % lanes != 0)
      continue; // not the first row of a block
    SmallVector<Value> parts, rows;
    for (int64_t row = 0; row < lanes; ++row, ++at[layout.laneDim]) {
      parts.push_back(readRegister(window, *along, along->indexOf(at), pad));
      prefetchAhead(window, *along, along->indexOf(at));
    }
    at[layout.laneDim] -= lanes;
    for (int64_t row = 0; row < size; ++row) {
      SmallVector<Value> together;
      for (int64_t part = row; part < lanes; part += size)
        together.push_back(parts[part]);
      rows.push_back(concatenate(b, loc, together));
    }
    transposeBlocks(b, loc, rows);
    for (int64_t column = 0; column < size; ++column, ++at[along->laneDim])
      result.values[layout.indexOf(at)] = rows[column];
  }
  return result;
}

/// Writes a register whose lanes are a constant distance apart in memory:
/// masked stores of all vectors in its range.
void KernelLowering::writeSpread(const Window &window, const Layout &layout,
                                 int64_t registerIndex, Value value,
                                 int64_t live) {
  int64_t lanes = layout.lanes;
  int64_t step = window.dims[layout.laneDim].back().step;
  OpBuilder::InsertionGuard guard(b);
  for (int64_t first = 0; first < live * step; first += lanes) {
    Access at = getAccess(window, layout, registerIndex, /*shift=*/first);
    if (at.never)
      return;
    if (at.exists && first == 0) { // true for all vectors, or for none
      auto branch = scf::IfOp::create(b, loc, at.exists, false);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    SmallVector<int64_t> order(lanes, 0);
    SmallVector<bool> bits(lanes, false);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t position = first + lane;
      bits[lane] = position % step == 0 && position / step < live;
      if (bits[lane])
        order[lane] = position / step;
    }
    Value spread = vector::ShuffleOp::create(b, loc, value, value, order);
    auto type = VectorType::get(lanes, b.getI1Type());
    Value mask = bothMasks(
        b, loc, at.mask,
        arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, bits)));
    vector::MaskedStoreOp::create(b, loc, mapped(window.memref), at.indices,
                                  mask, spread);
  }
}

bool KernelLowering::writeTransposed(const Window &window,
                                     const Registers &registers) {
  const Layout &layout = registers.layout;
  // The pixels of a phase of a transposed convolution are a stride apart.
  constexpr int64_t farthest = 4;
  std::optional<Layout> along = alongMemory(window, layout, farthest);
  if (!along)
    return false;
  int64_t lanes = layout.lanes, size = along->lanes;
  for (int64_t i = 0, total = along->total(); i < total; ++i) {
    SmallVector<int64_t> at = along->coordinates(i);
    if (at[layout.laneDim] % lanes != 0)
      continue;
    SmallVector<Value> rows;
    for (int64_t row = 0; row < size; ++row, ++at[along->laneDim])
      rows.push_back(toMemory(b, loc, registers.values[layout.indexOf(at)]));
    at[along->laneDim] -= size;
    transposeBlocks(b, loc, rows);
    // Register j now holds columns j, size + j, 2 size + j, ...
    for (int64_t lane = 0; lane < lanes; ++lane, ++at[layout.laneDim]) {
      Value value = rows[lane % size];
      if (size < lanes)
        value = vector::ExtractStridedSliceOp::create(
            b, loc, value, {lane / size * size}, {size}, {1});
      writeRegister(window, *along, along->indexOf(at), value);
    }
  }
  return true;
}
