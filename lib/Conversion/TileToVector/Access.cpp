// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits loads and stores of windows of memory, one register at a time.
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "KernelLowering.h"
#include "Nearby.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace adze::tile;

//===--- Physical memory --------------------------------------------------===//

static bool isMapped(MemRefType type) {
  return !type.getLayout().isIdentity() &&
         !isa<StridedLayoutAttr>(type.getLayout());
}

static SmallVector<Value> physicalIndices(OpBuilder &b, Location loc,
                                          const Window &window,
                                          ValueRange logical) {
  auto type = cast<MemRefType>(window.memref.getType());
  if (!isMapped(type))
    return SmallVector<Value>(logical);
  AffineMap layout = type.getLayout().getAffineMap();
  SmallVector<Value> indices;
  for (AffineExpr result : layout.getResults())
    indices.push_back(affine::AffineApplyOp::create(
        b, loc, AffineMap::get(layout.getNumDims(), 0, result), logical));
  return indices;
}

Value adze::tile::fromMemory(OpBuilder &b, Location loc, Value value,
                             Type element) {
  if (!element.isInteger(1))
    return value;
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
}

Value adze::tile::toMemory(OpBuilder &b, Location loc, Value value) {
  if (!getElementTypeOrSelf(value.getType()).isInteger(1))
    return value;
  Type byte = b.getI8Type();
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    byte = VectorType::get(vector.getShape(), byte);
  return arith::ExtUIOp::create(b, loc, byte, value);
}

//===--- Accesses
//-----------------------------------------------------------===//

/// Returns the part of a memory index that one digit of a tile dimension adds.
Value KernelLowering::digitPosition(const Window &window, int64_t tileDim,
                                    size_t digit, const Slice &slice,
                                    int64_t at) {
  ArrayRef<Digit> digits = window.dims[tileDim];
  int64_t below = 1;
  for (const Digit &d : digits.drop_front(digit + 1))
    below *= d.size;
  Digit self = digits[digit];
  int64_t offset = slice.at + at;
  if (!slice.start)
    return index(offset / below % self.size * self.step);
  bool single = digits.size() == 1;
  AffineExpr place = b.getAffineDimExpr(0) + offset;
  if (!single)
    place = place.floorDiv(below) % self.size;
  else if (self.step == 1)
    return add(slice.start, offset);
  return affine::AffineApplyOp::create(
      b, loc, AffineMap::get(1, 0, place * self.step), slice.start);
}

/// Returns the logical index along memory dimension `dim` of the element at
/// `coordinates`.
Value KernelLowering::position(const Window &window, const Layout &layout,
                               int64_t dim, ArrayRef<int64_t> coordinates) {
  Value place = mapped(window.offsets[dim]);
  if (dim == window.along)
    place = add(place, gatherShift);
  // Constants are added last, so that all registers of a block, and windows at
  // constant distances, share the rest of the address whatever loops enclose
  // them.
  int64_t constant = 0;
  while (Operation *op = place.getDefiningOp()) {
    std::optional<int64_t> summand =
        isa<arith::AddIOp, arith::SubIOp>(op)
            ? getConstantIntValue(op->getOperand(1))
            : std::nullopt;
    if (!summand)
      break;
    constant += isa<arith::AddIOp>(op) ? *summand : -*summand;
    place = op->getOperand(0);
  }
  for (auto [tileDim, digits] : llvm::enumerate(window.dims))
    for (size_t i = 0; i < digits.size(); ++i) {
      if (digits[i].dim != dim)
        continue;
      Slice slice = layout.slices[tileDim];
      int64_t at = coordinates[tileDim];
      if (digits.size() == 1) {
        constant += (slice.at + at) * digits[i].step;
        slice.at = at = 0;
      }
      if (slice.start || digits.size() > 1)
        place = add(place, digitPosition(window, tileDim, i, slice, at));
    }
  place = add(place, constant);
  if (fast || !isClamped(window, dim, &layout))
    return place;
  Value last =
      b.createOrFold<arith::SubIOp>(loc, extent(window.memref, dim), index(1));
  return b.createOrFold<arith::MinSIOp>(loc, place, last);
}

/// Returns true if the lanes of each register are adjacent in memory, or `step`
/// elements apart.
bool KernelLowering::isContiguous(const Window &window, const Layout &layout,
                                  int64_t step) {
  if (layout.laneDim < 0 || window.indices)
    return false;
  ArrayRef<Digit> digits = window.dims[layout.laneDim];
  if (digits.empty() || digits.back().step != step)
    return false;
  const Digit &digit = digits.back();
  if (digits.size() > 1 && digit.size % layout.lanes != 0)
    return false;
  auto type = cast<MemRefType>(window.memref.getType());
  if (auto strided = dyn_cast<StridedLayoutAttr>(type.getLayout()))
    return digit.dim == type.getRank() - 1 && strided.getStrides().back() == 1;
  if (!isMapped(type))
    return digit.dim == type.getRank() - 1;
  if (step != 1)
    return false;
  if (window.memref.getDefiningOp<ViewOp>())
    return isRun(window, layout);
  // In a packed layout, the last result of the map iterates over this
  // dimension, inside of one panel.
  ArrayRef<AffineExpr> results = type.getLayout().getAffineMap().getResults();
  AffineExpr self = b.getAffineDimExpr(digit.dim);
  int64_t panel = 0;
  auto last = dyn_cast<AffineBinaryOpExpr>(results.back());
  if (last && last.getKind() == AffineExprKind::Mod && last.getLHS() == self)
    panel = cast<AffineConstantExpr>(last.getRHS()).getValue();
  else if (results.back() != self)
    return false;
  if (panel == 0)
    return true;
  const Slice &slice = layout.slices[layout.laneDim];
  int64_t divisor = getKnownDivisor(window.offsets[digit.dim]);
  bool isOnePanel = divisor % panel == 0 && digits.size() == 1 &&
                    classes.size(layout.classes[layout.laneDim]) <= panel;
  return isOnePanel ||
         (panel % layout.lanes == 0 && slice.at % layout.lanes == 0 &&
          divisor % layout.lanes == 0);
}

/// Returns a mask of lanes [from, to).
static Value laneMask(OpBuilder &b, Location loc, int64_t from, int64_t to,
                      int64_t lanes) {
  SmallVector<bool> bits;
  for (int64_t lane = 0; lane < lanes; ++lane)
    bits.push_back(lane >= from && lane < to);
  auto type = VectorType::get(lanes, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, bits));
}

Access KernelLowering::getAccess(const Window &window, const Layout &layout,
                                 int64_t registerIndex, int64_t shift) {
  Access result;
  SmallVector<int64_t> at = layout.coordinates(registerIndex);
  bool wide = layout.lanes > 1, picked = picksRows(window, layout);
  int64_t laneMem = wide ? window.dims[layout.laneDim].back().dim : -1;
  SmallVector<Value> logical;
  auto require = [&](Value condition) {
    result.exists =
        result.exists ? arith::AndIOp::create(b, loc, result.exists, condition)
                            .getResult()
                      : condition;
  };
  for (int64_t dim = 0, e = window.offsets.size(); dim < e; ++dim) {
    Value self = position(window, layout, dim, at);
    if (dim == laneMem)
      self = add(self, shift);
    logical.push_back(self);
    if (!isChecked(window, dim, &layout))
      continue;
    if (isOutside(window, dim)) {
      result.never = true;
      continue;
    }
    Value end = extent(window.memref, dim);
    if (isDecided(window, dim)) {
      int64_t first = *getConstantIntValue(self),
              size = *getConstantIntValue(end);
      int64_t from = std::max<int64_t>(0, -first), to = size - first;
      int64_t length = dim == laneMem ? layout.lanes : 1;
      result.never |= from >= std::min(length, to);
      if (!result.never && (from > 0 || to < length))
        result.mask = laneMask(b, loc, from, to, length);
      continue;
    }
    if (dim != laneMem) {
      // The comparison is unsigned, so that negative indices are out of bounds.
      require(
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, self, end));
      // Masked loads with no active lane are slow if the address is not mapped.
      if (wide && !picked && !isa<StoreOp>(window.op)) {
        Value last = b.createOrFold<arith::SubIOp>(loc, end, index(1));
        last = b.createOrFold<arith::MinSIOp>(loc, self, last);
        logical.back() = b.createOrFold<arith::MaxSIOp>(loc, last, index(0));
      }
      continue;
    }
    auto type = VectorType::get(layout.lanes, b.getIndexType());
    Value lanes =
        arith::AddIOp::create(b, loc, vector::StepOp::create(b, loc, type),
                              vector::BroadcastOp::create(b, loc, type, self));
    result.mask =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, lanes,
                              vector::BroadcastOp::create(b, loc, type, end));
  }
  if (!result.never)
    result.indices = physicalIndices(b, loc, window, logical);
  return result;
}

/// Returns true if this register of a static slice is out of the bounds of the
/// tile in a dimension other than that of the lanes.
bool KernelLowering::isDead(const Layout &layout, int64_t registerIndex) {
  SmallVector<int64_t> at = layout.coordinates(registerIndex);
  for (int64_t dim = 0, e = at.size(); dim < e; ++dim) {
    const Slice &slice = layout.slices[dim];
    if (dim != layout.laneDim && !slice.start &&
        slice.at + at[dim] >= classes.size(layout.classes[dim]))
      return true;
  }
  return false;
}

Value adze::tile::bothMasks(OpBuilder &b, Location loc, Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

//===--- Registers --------------------------------------------------------===//

/// Reads one element if it exists, and returns the pad otherwise.
static Value readScalar(OpBuilder &b, Location loc, Value memref,
                        ValueRange indices, Value exists, Value pad) {
  if (!exists)
    return memref::LoadOp::create(b, loc, memref, indices);
  auto branch = scf::IfOp::create(b, loc, pad.getType(), exists, true);
  OpBuilder inside = branch.getThenBodyBuilder();
  Value value = memref::LoadOp::create(inside, loc, memref, indices);
  scf::YieldOp::create(inside, loc, value);
  inside = branch.getElseBodyBuilder();
  scf::YieldOp::create(inside, loc, pad);
  return branch.getResult(0);
}

Value KernelLowering::readRegister(const Window &window, const Layout &layout,
                                   int64_t registerIndex, Value pad) {
  Value memref = mapped(window.memref);
  int64_t lanes = layout.lanes;
  if (lanes == 1) {
    if (isDead(layout, registerIndex))
      return pad;
    Access at = getAccess(window, layout, registerIndex);
    if (at.never)
      return pad;
    return readScalar(b, loc, memref, at.indices, at.exists, pad);
  }
  SmallVector<int64_t> coordinates = layout.coordinates(registerIndex);
  int64_t live = liveLanes(classes, layout, coordinates[layout.laneDim]);
  auto type = VectorType::get(lanes, pad.getType());
  if (live == 0 || isDead(layout, registerIndex))
    return vector::BroadcastOp::create(b, loc, type, pad);
  Access at = getAccess(window, layout, registerIndex);
  if (at.never)
    return vector::BroadcastOp::create(b, loc, type, pad);
  int64_t laneMem = window.dims[layout.laneDim].back().dim;
  Value mask = at.mask;
  if (live < lanes && proof(window, laneMem) != Proof::whole)
    mask = bothMasks(b, loc, mask, laneMask(b, loc, 0, live, lanes));
  if (layout.classes[layout.laneDim] == alongDepth.depth)
    mask = bothMasks(b, loc, mask, alongDepth.mask);
  if (at.exists && picksRows(window, layout)) {
    memref = rowOrPad(window, layout, registerIndex);
    at.indices = {index(coordinates[layout.laneDim])};
  } else if (at.exists) {
    mask = bothMasks(
        b, loc, mask,
        vector::BroadcastOp::create(
            b, loc, VectorType::get(lanes, b.getI1Type()), at.exists));
  }
  if (!mask)
    return vector::LoadOp::create(b, loc, type, memref, at.indices);
  Value pads = vector::BroadcastOp::create(b, loc, type, pad);
  return vector::MaskedLoadOp::create(b, loc, type, memref, at.indices, mask,
                                      pads);
}

/// Returns the layout of the same slices without lanes.
static Layout withoutLanes(Layout layout) {
  if (layout.laneDim >= 0)
    layout.counts[layout.laneDim] *= layout.lanes;
  layout.laneDim = -1;
  layout.lanes = 1;
  return layout;
}

/// Returns a register gathered by one instruction, if the indices of its
/// elements differ along the last dimension only. Returns null otherwise.
Value KernelLowering::gatherRegister(const Window &window, const Layout &layout,
                                     int64_t index, Value indices, Value pad) {
  auto type = cast<MemRefType>(window.memref.getType());
  bool isLast =
      window.along + 1 == type.getRank() && type.getLayout().isIdentity();
  auto moved = dyn_cast<VectorType>(indices.getType());
  constexpr unsigned leastBits = 32; // narrower elements are extracted anyway
  if (layout.lanes == 1 || !isLast || !moved ||
      moved.getNumElements() != layout.lanes ||
      pad.getType().getIntOrFloatBitWidth() < leastBits ||
      !window.dims[layout.laneDim].empty())
    return {};
  Layout scalars = withoutLanes(layout);
  std::pair<Operation *, int64_t> self(window.op, window.along);
  bool isNew = settled.insert(self).second; // guaranteed by the mask
  gatherShift = this->index(0);
  Access at =
      getAccess(window, scalars, scalars.indexOf(layout.coordinates(index)));
  gatherShift = {};
  if (isNew)
    settled.erase(self);
  auto result = VectorType::get(layout.lanes, pad.getType());
  Value pads = vector::BroadcastOp::create(b, loc, result, pad);
  if (at.never)
    return pads;
  auto wide = VectorType::get(layout.lanes, b.getIndexType());
  if (indices.getType() != wide)
    indices = arith::IndexCastOp::create(b, loc, wide, indices);
  auto spread = [&](Value scalar, VectorType to) -> Value {
    return vector::BroadcastOp::create(b, loc, to, scalar);
  };
  Value position = arith::AddIOp::create(
      b, loc, indices, spread(mapped(window.offsets[window.along]), wide));
  Value mask =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, position,
                            spread(extent(window.memref, window.along), wide));
  if (at.exists)
    mask = bothMasks(
        b, loc, mask,
        spread(at.exists, VectorType::get(layout.lanes, b.getI1Type())));
  Value memref = mapped(window.memref);
  auto gather = [&]() -> Value {
    return vector::GatherOp::create(b, loc, result, memref, at.indices, indices,
                                    mask, pads);
  };
  if (!canPermute(result, target) || !followsFromPositions(window.indices))
    return gather();
  Value end = extent(window.memref, window.along);
  NearbyGather nearby{memref, at.indices, position, end, at.exists, pad};
  return gatherNearby(b, loc, nearby, result, gather);
}

Registers KernelLowering::read(const Window &window, const Layout &layout) {
  Registers result{layout, {}};
  Type element = tileType(window.tile).getElementType();
  Type stored = element.isInteger(1) ? Type(b.getI8Type()) : element;
  TypedAttr padAttr = window.pad;
  if (element.isInteger(1))
    padAttr = b.getI8IntegerAttr(
        cast<IntegerAttr>(padAttr).getValue().getBoolValue());
  Value pad = arith::ConstantOp::create(b, loc, stored, padAttr);
  bool direct = layout.lanes == 1 || isContiguous(window, layout);
  if (direct && !window.indices) {
    for (int64_t i = 0, e = layout.total(); i < e; ++i)
      result.values.push_back(
          fromMemory(b, loc, readRegister(window, layout, i, pad), element));
    return result;
  }
  std::optional<Registers> together = readShuffled(window, layout, pad);
  if (!together)
    together = readTransposed(window, layout, pad);
  if (together) {
    for (Value &value : together->values)
      value = fromMemory(b, loc, value, element);
    return *together;
  }
  // Elements are read one by one and then combined to a vector.
  Layout scalars = withoutLanes(layout);
  Registers indices = window.indices ? emit(window.indices) : Registers();
  for (int64_t i = 0, e = layout.total(); i < e; ++i) {
    Value gathered = window.indices ? gatherRegister(window, layout, i,
                                                     indices.values[i], pad)
                                    : Value();
    if (gathered) {
      result.values.push_back(fromMemory(b, loc, gathered, element));
      continue;
    }
    SmallVector<int64_t> at = layout.coordinates(i);
    int64_t live =
        layout.lanes == 1 ? 1 : liveLanes(classes, layout, at[layout.laneDim]);
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < layout.lanes; ++lane) {
      if (lane >= live) {
        elements.push_back(pad);
        continue;
      }
      if (window.indices) {
        Value moved = elementOf(indices, at);
        if (!moved.getType().isIndex())
          moved = arith::IndexCastOp::create(b, loc, b.getIndexType(), moved);
        gatherShift = moved;
      }
      elements.push_back(
          readRegister(window, scalars, scalars.indexOf(at), pad));
      gatherShift = {};
      if (layout.laneDim >= 0)
        ++at[layout.laneDim];
    }
    Value value = elements.front();
    if (layout.lanes > 1)
      value = vector::FromElementsOp::create(
          b, loc, VectorType::get(layout.lanes, stored), elements);
    result.values.push_back(fromMemory(b, loc, value, element));
  }
  return result;
}

void KernelLowering::writeRegister(const Window &window, const Layout &layout,
                                   int64_t registerIndex, Value value,
                                   bool streams) {
  Value memref = mapped(window.memref);
  int64_t lanes = layout.lanes, live = 1;
  if (lanes > 1) {
    SmallVector<int64_t> at = layout.coordinates(registerIndex);
    live = liveLanes(classes, layout, at[layout.laneDim]);
  }
  if (live == 0 || isDead(layout, registerIndex))
    return;
  if (lanes > 1 && window.dims[layout.laneDim].back().step != 1)
    return writeSpread(window, layout, registerIndex, value, live);
  Access at = getAccess(window, layout, registerIndex);
  if (at.never)
    return;
  OpBuilder::InsertionGuard guard(b);
  if (at.exists) {
    auto branch = scf::IfOp::create(b, loc, at.exists, false);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  if (lanes == 1) {
    memref::StoreOp::create(b, loc, value, memref, at.indices);
    return;
  }
  Value mask = at.mask;
  if (live < lanes)
    mask = bothMasks(b, loc, mask, laneMask(b, loc, 0, live, lanes));
  if (mask)
    vector::MaskedStoreOp::create(b, loc, memref, at.indices, mask, value);
  else if (streams)
    vector::StoreOp::create(b, loc, value, memref, at.indices,
                            /*nontemporal=*/true,
                            llvm::Align(target.getVectorBytes()));
  else
    vector::StoreOp::create(b, loc, value, memref, at.indices);
}

void KernelLowering::writeRegisters(const Window &window,
                                    const Registers &registers, bool streams) {
  for (auto [i, value] : llvm::enumerate(registers.values))
    writeRegister(window, registers.layout, i, toMemory(b, loc, value),
                  streams);
}

void KernelLowering::write(const Window &window, const Registers &registers) {
  const Layout &layout = registers.layout;
  if (layout.lanes == 1 || isContiguous(window, layout)) {
    Value streams = streamsTo(window, layout);
    SmallVector<RowsAhead, 2> asked = rowsAsked(window.op);
    if (isReadBack(window.memref))
      prefetchRows(layout, asked);
    if (!streams)
      return writeRegisters(window, registers, /*streams=*/false);
    auto branch = scf::IfOp::create(b, loc, streams, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    prefetchRows(layout, asked);
    prefetchElements(layout);
    writeRegisters(window, registers, /*streams=*/true);
    b.setInsertionPointToStart(branch.elseBlock());
    return writeRegisters(window, registers, /*streams=*/false);
  }
  if (writePieces(window, registers) || writeTransposed(window, registers))
    return;
  Layout scalars = withoutLanes(layout);
  for (auto [i, value] : llvm::enumerate(registers.values)) {
    SmallVector<int64_t> at = layout.coordinates(i);
    Value stored = toMemory(b, loc, value);
    int64_t live = liveLanes(classes, layout, at[layout.laneDim]);
    for (int64_t lane = 0; lane < live; ++lane, ++at[layout.laneDim])
      writeRegister(window, scalars, scalars.indexOf(at),
                    vector::ExtractOp::create(b, loc, stored, lane));
  }
}
