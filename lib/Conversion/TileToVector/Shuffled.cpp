// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Gathers of nearby elements with constant relative indices: one load and one
// shuffle for each register.
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace adze::tile;

using Indices = std::optional<SmallVector<int64_t>>;

static Indices knownIndices(Value tile, int64_t dim);

static Indices combine(Operation *op, int64_t dim) {
  if (op->getNumOperands() != 2)
    return std::nullopt;
  Indices x = knownIndices(op->getOperand(0), dim);
  Indices y = x ? knownIndices(op->getOperand(1), dim) : std::nullopt;
  if (!y)
    return std::nullopt;
  for (auto [a, b] : llvm::zip_equal(*x, *y)) {
    bool divides = a >= 0 && b > 0; // then signs do not matter
    if (isa<arith::AddIOp>(op))
      a += b;
    else if (isa<arith::SubIOp>(op))
      a -= b;
    else if (isa<arith::MulIOp>(op))
      a *= b;
    else if (divides && isa<arith::DivUIOp, arith::DivSIOp>(op))
      a /= b;
    else if (divides && isa<arith::RemUIOp, arith::RemSIOp>(op))
      a %= b;
    else
      return std::nullopt;
  }
  return x;
}

/// Returns the value of a constant, or of the remainder of a known multiple of
/// the divisor.
static std::optional<int64_t> knownScalar(Value scalar) {
  if (auto rem = scalar.getDefiningOp<arith::RemUIOp>()) {
    auto divisor = getConstantIntValue(rem.getRhs());
    if (divisor && *divisor > 0 &&
        getKnownDivisor(rem.getLhs()) % *divisor == 0)
      return 0;
  }
  return getConstantIntValue(scalar);
}

/// Returns the elements of an index tile along `dim`, if they are constants
/// that depend on `dim` only.
static Indices knownIndices(Value tile, int64_t dim) {
  Operation *op = tile.getDefiningOp();
  if (!op || !isTile(tile))
    return std::nullopt;
  int64_t size = tileType(tile).getDimSize(dim);
  SmallVector<int64_t> result;
  if (auto iota = dyn_cast<IotaOp>(op)) {
    if ((int64_t)iota.getDim() != dim)
      return std::nullopt;
    for (int64_t i = 0; i < size; ++i)
      result.push_back(i);
    return result;
  }
  DenseElementsAttr dense;
  if (matchPattern(tile, m_Constant(&dense))) {
    if ((!dense.isSplat() && dense.getType().getRank() != 1) ||
        !dense.getElementType().isIntOrIndex())
      return std::nullopt;
    if (dense.isSplat())
      result.assign(size, dense.getSplatValue<APInt>().getSExtValue());
    else
      for (const APInt &index : dense.getValues<APInt>())
        result.push_back(index.getSExtValue());
    return result;
  }
  auto broadcast = dyn_cast<BroadcastOp>(op);
  if (!broadcast)
    return combine(op, dim);
  if (!isTile(broadcast.getSource())) {
    auto scalar = knownScalar(broadcast.getSource());
    if (!scalar)
      return std::nullopt;
    result.assign(size, *scalar);
    return result;
  }
  ArrayRef<int64_t> dims = *broadcast.getDims();
  auto it = llvm::find(dims, dim);
  if (it == dims.end())
    return std::nullopt;
  return knownIndices(broadcast.getSource(), it - dims.begin());
}

/// The load of a register: `width` elements from `base` on, of which the lanes
/// select `picked`.
struct adze::tile::ShuffledLoad {
  int64_t base, width, end;
  bool isRun;          // adjacent, in order
  int64_t advance = 0; // per step of the enclosing loop
  SmallVector<int64_t> picked;

  ShuffledLoad(ArrayRef<int64_t> indices, int64_t first, int64_t lanes) {
    int64_t last = indices.size() - 1;
    for (int64_t lane = 0; lane < lanes; ++lane)
      picked.push_back(indices[std::min(first + lane, last)]);
    int64_t least = *llvm::min_element(picked);
    end = *llvm::max_element(picked) + 1;
    isRun = llvm::equal(picked, llvm::seq(least, end));
    // Registers that select from the same whole vectors share the load.
    base = isRun ? least : llvm::divideFloorSigned(least, lanes) * lanes;
    width = lanes;
    if (end > base + lanes) {
      base = least;
      width = llvm::PowerOf2Ceil(end - base);
    }
    for (int64_t &index : picked)
      index -= base;
  }

  /// Returns the mask of the elements from `position` on that may be loaded, or
  /// null for all. `space` is a lower bound of the elements after the offset of
  /// the window.
  Value mask(OpBuilder &b, Location loc, Value position, Value extent,
             int64_t space) const {
    if (base >= 0 && base + width <= space)
      return {};
    if (base >= 0 && end <= space) { // all selected elements exist
      SmallVector<bool> bits(width, false);
      for (int64_t index : picked)
        bits[index] = true;
      auto type = VectorType::get(width, b.getI1Type());
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(type, bits));
    }
    auto type = VectorType::get(width, b.getIndexType());
    auto spread = [&](Value value) {
      return vector::BroadcastOp::create(b, loc, type, value);
    };
    Value lanes = arith::AddIOp::create(
        b, loc, vector::StepOp::create(b, loc, type), spread(position));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, lanes,
                                 spread(extent));
  }
};

/// Emits one register: the load, and the shuffle that selects the lanes.
Value KernelLowering::shuffled(const Window &window, const Layout &layout,
                               const ShuffledLoad &load, int64_t index,
                               Value pad) {
  auto type = cast<MemRefType>(window.memref.getType());
  int64_t c = layout.classes[layout.laneDim], size = type.getShape().back();
  Value start = layout.slices[layout.laneDim].start;
  Layout scalars = layout;
  scalars.counts[layout.laneDim] *= layout.lanes;
  scalars.laneDim = -1;
  scalars.lanes = 1;
  std::pair<Operation *, int64_t> along(window.op, window.along);
  bool isNew = settled.insert(along).second; // guaranteed by the mask
  gatherShift = this->index(load.base);
  if (start) {
    Value number = b.createOrFold<arith::DivUIOp>(loc, start,
                                                  this->index(classes.step(c)));
    Value shift =
        b.createOrFold<arith::MulIOp>(loc, number, this->index(load.advance));
    gatherShift =
        add(load.advance == classes.step(c) ? start : shift, load.base);
  }
  Access at =
      getAccess(window, scalars, scalars.indexOf(layout.coordinates(index)));
  gatherShift = {};
  if (isNew)
    settled.erase(along);
  if (at.never)
    return vector::BroadcastOp::create(
        b, loc, VectorType::get(layout.lanes, pad.getType()), pad);
  auto range = getIndexRange(window.offsets[window.along]);
  int64_t space = 0;
  if (range && range->min >= 0 && !ShapedType::isDynamic(size))
    space =
        size - range->max -
        (start ? (classes.padded(c) / classes.step(c) - 1) * load.advance : 0);
  Value mask = load.mask(b, loc, at.indices.back(),
                         extent(window.memref, window.along), space);
  auto wide = VectorType::get(load.width, pad.getType());
  Value memref = mapped(window.memref), value;
  if (at.exists && overBorder >= 0 && load.base >= 0 && load.end <= space) {
    memref = rowOrPad(window, at,
                      std::min(space, load.base + load.width) - load.base);
    at.indices = {this->index(0)};
  } else if (at.exists) {
    auto bools = VectorType::get(load.width, b.getI1Type());
    Value exists = vector::BroadcastOp::create(b, loc, bools, at.exists);
    mask = bothMasks(b, loc, mask, exists);
  }
  if (mask)
    value = vector::MaskedLoadOp::create(
        b, loc, wide, memref, at.indices, mask,
        vector::BroadcastOp::create(b, loc, wide, pad));
  else
    value = vector::LoadOp::create(b, loc, wide, memref, at.indices);
  if (load.isRun)
    return value;
  return vector::ShuffleOp::create(b, loc, value, value, load.picked);
}

/// Returns the distance between the indices of consecutive steps of a loop, if
/// all steps select as the first one does; with one step, the step itself.
static std::optional<int64_t> getAdvance(ArrayRef<int64_t> indices,
                                         int64_t step) {
  int64_t size = indices.size();
  if (size <= step)
    return step;
  int64_t advance = indices[step] - indices[0];
  for (int64_t i = step; i < size; ++i)
    if (indices[i] != indices[i - step] + advance)
      return std::nullopt;
  return advance >= 0 ? std::optional(advance) : std::nullopt;
}

/// Returns true if gathers along class `c` become shuffles when each step has
/// its own code, and the steps need few enough registers.
bool KernelLowering::picksByStep(int c) {
  constexpr int64_t mostRegisters = 64;
  bool found = false;
  if (classes.lanes(c) == 1 ||
      classes.padded(c) / classes.lanes(c) > mostRegisters)
    return false;
  forEachWindow([&](const Window &window) {
    if (!window.indices)
      return;
    SmallVector<int> own = classes.of(window.tile);
    auto it = llvm::find(own, c);
    if (it == own.end())
      return;
    Indices indices = knownIndices(window.indices, it - own.begin());
    found |=
        indices && getAdvance(*indices, classes.step(c)) != classes.step(c);
  });
  return found;
}

/// Emits a gather along the last dimension whose indices are constants near
/// each other. Returns nothing if they are not.
std::optional<Registers> KernelLowering::readShuffled(const Window &window,
                                                      const Layout &layout,
                                                      Value pad) {
  constexpr int64_t mostVectors = 4;
  auto type = cast<MemRefType>(window.memref.getType());
  if (!window.indices || layout.lanes == 1 ||
      window.along + 1 != type.getRank() || !type.getLayout().isIdentity() ||
      !window.dims[layout.laneDim].empty() ||
      layout.classes[layout.laneDim] == alongDepth.depth)
    return std::nullopt;
  Slice self = layout.slices[layout.laneDim];
  Indices indices = knownIndices(window.indices, layout.laneDim);
  if (!indices)
    return std::nullopt;
  int64_t step = classes.step(layout.classes[layout.laneDim]);
  auto advance = getAdvance(*indices, step);
  // Copies have steps of their own.
  if (self.start && (!advance || (staging && *advance != step)))
    return std::nullopt;
  Registers result{layout, {}};
  for (int64_t i = 0, e = layout.total(); i < e; ++i) {
    int64_t first = self.at + layout.coordinates(i)[layout.laneDim];
    ShuffledLoad load(*indices, first, layout.lanes);
    load.advance = advance.value_or(0);
    if (load.width > mostVectors * layout.lanes)
      return std::nullopt;
    bool isDead = this->isDead(layout, i) || first >= (int64_t)indices->size();
    result.values.push_back(
        isDead ? vector::BroadcastOp::create(
                     b, loc, VectorType::get(layout.lanes, pad.getType()), pad)
                     .getResult()
               : shuffled(window, layout, load, i, pad));
  }
  return result;
}
