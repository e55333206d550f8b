// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Proves that windows are in bounds, and emits the run-time conditions of all
// others.
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace adze::tile;

/// Returns the extent that accesses may touch; a packed dimension has whole
/// panels.
static int64_t staticExtent(MemRefType type, int64_t dim) {
  int64_t size = type.getDimSize(dim);
  if (ShapedType::isDynamic(size) || type.getLayout().isIdentity() ||
      isa<StridedLayoutAttr>(type.getLayout()))
    return size;
  AffineExpr self = getAffineDimExpr(dim, type.getContext());
  int64_t whole = 1;
  type.getLayout().getAffineMap().walkExprs([&](AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (binary && binary.getKind() == AffineExprKind::Mod &&
        binary.getLHS() == self)
      if (auto part = dyn_cast<AffineConstantExpr>(binary.getRHS()))
        whole = std::max(whole, part.getValue());
  });
  return llvm::alignTo(size, whole);
}

Value KernelLowering::extent(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (auto view = memref.getDefiningOp<ViewOp>())
    return mapped(view.getMixedSizes()[dim]);
  if (type.isDynamicDim(dim))
    return memref::DimOp::create(b, loc, mapped(memref), dim);
  return index(staticExtent(type, dim));
}

/// Returns how far a window extends beyond its offset along a memory dimension,
/// where `sizeOf` returns the size of each tile dimension.
static int64_t reach(const Window &window, int64_t memDim,
                     llvm::function_ref<int64_t(int64_t)> sizeOf) {
  int64_t last = 0;
  for (auto [i, digits] : llvm::enumerate(window.dims))
    for (const Digit &digit : digits)
      if (digit.dim == memDim)
        last +=
            ((digits.size() == 1 ? sizeOf(i) : digit.size) - 1) * digit.step;
  return last;
}

Proof KernelLowering::proof(const Window &window, int64_t memDim) {
  auto type = cast<MemRefType>(window.memref.getType());
  int64_t size = staticExtent(type, memDim), last = 0;
  std::optional<IndexRange> range = getIndexRange(window.offsets[memDim]);
  if (memDim == window.along || !range || range->min < 0)
    return Proof::none;
  if (ShapedType::isDynamic(size)) // one step of a loop over whole parts
    size = isClampedTo(window.offsets[memDim], window.memref, memDim)
               ? 1
               : getWholeStep(window.offsets[memDim], window.memref, memDim);
  else
    last = range->max;
  SmallVector<int> dims = classes.of(window.tile);
  auto fits = [&](bool padded) {
    return last + reach(window, memDim,
                        [&](int64_t i) {
                          return padded ? classes.padded(dims[i])
                                        : classes.size(dims[i]);
                        }) <
           size;
  };
  return fits(true)    ? Proof::whole
         : fits(false) ? Proof::exceptDeadLanes
                       : Proof::none;
}

/// Returns the memory dimension that a dot contracts, if the dot may stop at
/// its end: the only user of the window is one dot, and the pad is neutral.
int64_t KernelLowering::contractedDim(const Window &window) {
  if (!window.tile.hasOneUse() || window.indices || !window.pad)
    return -1;
  auto dot = dyn_cast<DotOp>(*window.tile.user_begin());
  if (!dot || dot.getAcc() == window.tile || dot.getLhs() == dot.getRhs())
    return -1;
  if (window.pad != b.getZeroAttr(window.pad.getType()))
    return -1;
  ArrayRef<Digit> digits = window.dims[dot.getLhs() == window.tile ? 1 : 0];
  if (digits.size() != 1 || digits.front().step != 1)
    return -1;
  std::optional<IndexRange> range =
      getIndexRange(window.offsets[digits.front().dim]);
  return range && range->min >= 0 ? digits.front().dim : -1;
}

/// Returns true if this window covers the remainder of a dimension that no
/// split class runs along. All versions of the body then check it.
bool KernelLowering::isTail(const Window &window, int64_t memDim) {
  if (!window.op->hasAttr(kTailAttribute))
    return false;
  SmallVector<int> dims = classes.of(window.tile);
  for (auto [i, digits] : llvm::enumerate(window.dims))
    for (const Digit &digit : digits)
      if (digit.dim == memDim)
        return !classes.isSplit(dims[i]);
  return false;
}

bool KernelLowering::isProven(const Window &window, int64_t memDim) {
  return settled.contains({window.op, memDim}) ||
         proof(window, memDim) != Proof::none;
}

/// Returns true if the offset, the size and the slices of all tile dimensions
/// along this memory dimension are constants, so that its mask is constant.
bool KernelLowering::isDecided(const Window &window, int64_t memDim) {
  auto type = cast<MemRefType>(window.memref.getType());
  if (memDim == window.along || type.isDynamicDim(memDim) ||
      !getConstantIntValue(window.offsets[memDim]))
    return false;
  SmallVector<int> dims = classes.of(window.tile);
  for (auto [i, digits] : llvm::enumerate(window.dims))
    for (const Digit &digit : digits) {
      if (digit.dim != memDim)
        continue;
      int c = dims[i];
      bool walked = !classes.isSplit(c) && classes.isLooped(c);
      if (digits.size() != 1 || walked || slice(c).start ||
          (classes.lanes(c) > 1 && !classes.isSplit(c)))
        return false;
    }
  return true;
}

/// Returns the only class that runs along a memory dimension, in steps of 1, or
/// -1.
int KernelLowering::classAlong(const Window &window, int64_t memDim) {
  int found = -1;
  SmallVector<int> dims = classes.of(window.tile);
  for (auto [i, digits] : llvm::enumerate(window.dims))
    for (const Digit &digit : digits) {
      if (digit.dim != memDim)
        continue;
      if (found >= 0 || digits.size() != 1 || digit.step != 1)
        return -1;
      found = dims[i];
    }
  return found;
}

bool Window::endsAlike(int64_t dim, const Window &other,
                       int64_t otherDim) const {
  return offsets[dim] == other.offsets[otherDim] &&
         haveOneSize(memref, dim, other.memref, otherDim);
}

/// Returns true if no stored value depends on what this load reads past the end
/// of a dimension. This holds if a split class runs along the dimension, its
/// elements are not combined, and no store goes beyond the same end. Any value
/// is then correct, so the last element is read again: the operands of a dot
/// need neither conditions nor a copy. If the class has lanes, this holds for
/// registers (of `layout`) that run along another dimension, as those of rows
/// that are transposed afterwards.
bool KernelLowering::isClamped(const Window &window, int64_t memDim,
                               const Layout *layout) {
  std::optional<IndexRange> range = getIndexRange(window.offsets[memDim]);
  if (!isa<LoadOp>(window.op) || memDim == window.along || !range ||
      range->min < 0 || isProven(window, memDim) || isDecided(window, memDim))
    return false;
  int c = classAlong(window, memDim);
  // Rows at a border are read one by one, as other windows share them.
  if (c < 0 || c == overBorder || !classes.isSplit(c))
    return false;
  bool runsElsewhere =
      layout && (layout->lanes == 1 || layout->classes[layout->laneDim] != c);
  if (classes.lanes(c) > 1 && !runsElsewhere)
    return false;
  auto endsAlike = [&](const Window &store) {
    for (int64_t dim = 0, e = store.offsets.size(); dim < e; ++dim)
      if (classAlong(store, dim) == c)
        return store.endsAlike(dim, window, memDim);
    return false;
  };
  return !root->walk([&](StoreOp store) {
                return endsAlike(this->window(store)) ? WalkResult::advance()
                                                      : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Returns true if the end of this dimension limits a class that inner loops
/// iterate over. Returns false if the window may begin before the memory.
bool KernelLowering::limited(const Window &window, int64_t memDim) {
  std::optional<IndexRange> range = getIndexRange(window.offsets[memDim]);
  if (!range || range->min < 0)
    return false;
  SmallVector<int> dims = classes.of(window.tile);
  for (auto [i, digits] : llvm::enumerate(window.dims))
    if (digits.size() == 1 && digits.front().dim == memDim)
      return limits.contains(dims[i]);
  return false;
}

/// Returns true if the current position is beyond the end of this dimension, as
/// of all memory that limits the class.
bool KernelLowering::isOutside(const Window &window, int64_t memDim) {
  int c = classAlong(window, memDim);
  return outside.contains(c) &&
         llvm::any_of(limits[c], [&](const std::pair<Window, int64_t> &limit) {
           return limit.first.op == window.op && limit.second == memDim;
         });
}

bool KernelLowering::isChecked(const Window &window, int64_t memDim,
                               const Layout *layout) {
  if (isProven(window, memDim))
    return false;
  if (memDim == window.along)
    return true;
  if (memDim == contractedDim(window))
    return staging;
  if (isDecided(window, memDim) || isTail(window, memDim))
    return true; // in both versions
  if (isClamped(window, memDim, layout))
    return false;
  if (!limited(window, memDim))
    return !fast;
  SmallVector<int> dims = classes.of(window.tile);
  for (auto [i, digits] : llvm::enumerate(window.dims))
    if (digits.size() == 1 && digits.front().dim == memDim)
      return !inside.contains(dims[i]);
  return true;
}

/// Returns true if accesses of this window require a run-time check at the
/// current position.
bool KernelLowering::isBorder(const Window &window) {
  for (int64_t dim = 0, e = window.offsets.size(); dim < e; ++dim)
    if (isChecked(window, dim) && !isDecided(window, dim))
      return true;
  return false;
}

/// Returns true if a run-time condition has to hold for unchecked accesses of
/// this window.
bool KernelLowering::isUnproven(const Window &window, int64_t dim) {
  return !isProven(window, dim) && dim != window.along &&
         dim != contractedDim(window) && !limited(window, dim) &&
         !isDecided(window, dim) && !isTail(window, dim);
}

bool KernelLowering::hasUnproven(const Window &window) {
  return llvm::any_of(llvm::seq<int64_t>(0, window.offsets.size()),
                      [&](int64_t dim) { return isUnproven(window, dim); });
}

/// Returns true if loops access memory that may be out of bounds. Returns false
/// if checks are needed only before and after the loops that contain all dots
/// and all reductions: these checks are cheap, and a version of the body
/// without them would duplicate long loops. (Loops of dots alone are short, and
/// so is their code.) Clamped rows (isClamped) cost nothing, either, unless a
/// dot reads them in place.
bool KernelLowering::checksInLoops() {
  auto isInLoop = [&](Operation *op) {
    auto loop = op->getParentOfType<scf::ForOp>();
    return loop && root->isProperAncestor(loop);
  };
  Layout rows; // in memory order, whatever the layout of the tile
  rows.lanes = 1;
  auto isFree = [&](const Window &window) {
    int64_t last = window.offsets.size() - 1;
    bool byRows = llvm::none_of(window.tile.getUsers(), llvm::IsaPred<DotOp>) &&
                  classAlong(window, last) >= 0;
    for (int64_t dim = 0; dim <= last; ++dim)
      if (isUnproven(window, dim) &&
          !(byRows && dim < last && isClamped(window, dim, &rows)))
        return false;
    return true;
  };
  bool hasDots = false, hasReduces = false, outside = true;
  root->walk([&](Operation *op) {
    hasDots |= isa<DotOp>(op);
    hasReduces |= isa<ReduceOp>(op);
    outside &= !isa<DotOp, ReduceOp>(op) || isInLoop(op);
  });
  forEachWindow([&](const Window &window) {
    outside &= !isInLoop(window.op) || isFree(window);
  });
  return !hasDots || !hasReduces || !outside;
}

/// Returns the steps of split class `c` whose windows are in bounds for all
/// iterations of the inner loops. This is the same interval each time if the
/// ranges of all offsets are known. Otherwise, or if too many steps are out of
/// bounds, all steps count as interior, and no window as bounded.
Interior KernelLowering::interior(int c, int64_t full) {
  constexpr int64_t maxPeeled = 4; // each has its own code
  int64_t step = classes.step(c);
  Interior all{0, full, {}}, result = all;
  bool fixed = true, takesMasks = classes.lanes(c) > 1;
  forEachWindow([&](const Window &window) {
    SmallVector<int> dims = classes.of(window.tile);
    for (auto [i, digits] : llvm::enumerate(window.dims)) {
      if (dims[i] != c || digits.size() != 1)
        continue;
      Digit digit = digits.front();
      auto type = cast<MemRefType>(window.memref.getType());
      std::optional<IndexRange> range =
          getIndexRange(window.offsets[digit.dim]);
      bool alone = llvm::count_if(window.dims, [&](ArrayRef<Digit> other) {
                     return llvm::any_of(other, [&](const Digit &d) {
                       return d.dim == digit.dim;
                     });
                   }) == 1;
      if (proof(window, digit.dim) != Proof::none || !alone || !range ||
          !range->isBounded() || type.isDynamicDim(digit.dim))
        continue;
      // The condition is 0 <= range + p * digit.step for p from the first to
      // the last position of the step.
      int64_t size = staticExtent(type, digit.dim);
      int64_t first =
          llvm::divideCeil(std::max<int64_t>(0, -range->min), digit.step);
      int64_t space = size - 1 - range->max;
      int64_t end = space < 0 ? 0 : space / digit.step + 1;
      result.begin =
          std::max<int64_t>(result.begin, llvm::alignTo(first, step));
      result.end = std::min(result.end, end / step * step);
      result.bounded.push_back({window.op, digit.dim});
      fixed &= range->min == range->max;
    }
  });
  if (result.bounded.empty() || (result.begin == 0 && result.end == full))
    return result;
  result.begin = std::min(result.begin, full);
  result.end = std::max(result.end, result.begin);
  int64_t peeled = (full - (result.end - result.begin)) / step;
  bool worthwhile = fixed || (result.end > result.begin && !takesMasks);
  return worthwhile && peeled <= maxPeeled ? result : all;
}

/// Returns the run-time interval of positions before `end` in which the windows
/// over memory of dynamic size, and those in `settled`, need no checks. Returns
/// nothing if no other window needs checks, or if the interval cannot be
/// computed.
std::optional<RunInterior> KernelLowering::runInterior(int c, Value end,
                                                       SettledRef settled) {
  RunInterior result{index(0), end, {}};
  // For a dot, single rows would load the right operand once for each row.
  bool isKnown = classes.lanes(c) == 1 && !classes.multiplies();
  forEachWindow([&](const Window &window) {
    SmallVector<int> dims = classes.of(window.tile);
    for (auto [i, digits] : llvm::enumerate(window.dims)) {
      if (dims[i] != c || !isKnown)
        continue;
      Digit digit = digits.front();
      Settled self{window.op, digit.dim};
      if (isProven(window, digit.dim) || llvm::is_contained(settled, self))
        continue;
      bool alone = digits.size() == 1 && digit.dim != window.along &&
                   llvm::count_if(window.dims, [&](ArrayRef<Digit> other) {
                     return llvm::any_of(other, [&](const Digit &d) {
                       return d.dim == digit.dim;
                     });
                   }) == 1;
      Value least = runtimeBound(window.offsets[digit.dim], /*upper=*/false);
      Value most = runtimeBound(window.offsets[digit.dim], /*upper=*/true);
      isKnown &= alone && least && most && map.contains(window.memref);
      if (!isKnown)
        continue;
      // The condition is 0 <= offset + p * digit.step < extent.
      Value step = index(digit.step);
      Value before = b.createOrFold<arith::SubIOp>(loc, index(0), least);
      Value first = b.createOrFold<arith::CeilDivSIOp>(loc, before, step);
      Value space = b.createOrFold<arith::SubIOp>(
          loc, extent(window.memref, digit.dim), most);
      Value last = b.createOrFold<arith::CeilDivSIOp>(loc, space, step);
      result.begin = b.createOrFold<arith::MaxSIOp>(loc, result.begin, first);
      result.end = b.createOrFold<arith::MinSIOp>(loc, result.end, last);
      result.bounded.push_back(self);
    }
  });
  if (!isKnown || result.bounded.empty())
    return std::nullopt;
  result.begin = b.createOrFold<arith::MinSIOp>(loc, result.begin, end);
  result.end = b.createOrFold<arith::MaxSIOp>(loc, result.end, result.begin);
  return result;
}

/// Returns the accesses that need no checks in whole steps of class `c` that
/// end before a dimension of `target` ends.
SmallVector<Settled> KernelLowering::boundedWith(const Window &target,
                                                 int64_t memDim, int c) {
  SmallVector<Settled> result;
  std::optional<IndexRange> range = getIndexRange(target.offsets[memDim]);
  bool isFixed = getConstantIntValue(target.offsets[memDim]) ||
                 map.contains(cast<Value>(target.offsets[memDim]));
  if (!isFixed || !range || range->min < 0)
    return result;
  forEachWindow([&](const Window &window) {
    for (int64_t dim = 0, e = window.offsets.size(); dim < e; ++dim)
      if (dim != window.along && classAlong(window, dim) == c &&
          window.endsAlike(dim, target, memDim))
        result.push_back({window.op, dim});
  });
  return result;
}

/// Returns true if `c` is a class of rows and all windows that run along it are
/// in bounds there, or are in `bounded`, or are rows that a dot reads one by
/// one if they may be out of bounds (BorderRows.cpp).
bool KernelLowering::endsWith(int c, SettledRef bounded) {
  bool all = !classes.isColumn(c) && classes.lanes(c) == 1;
  auto isDotRow = [&](const Window &window) {
    auto dot = window.tile.hasOneUse()
                   ? dyn_cast<DotOp>(*window.tile.user_begin())
                   : DotOp();
    return isa<LoadOp>(window.op) && dot && dot.getLhs() == window.tile &&
           !bounded.empty();
  };
  forEachWindow([&](const Window &window) {
    SmallVector<int> dims = classes.of(window.tile);
    for (auto [i, digits] : llvm::enumerate(window.dims))
      for (const Digit &digit : digits)
        all &= dims[i] != c || isProven(window, digit.dim) ||
               llvm::is_contained(bounded, Settled{window.op, digit.dim}) ||
               isDotRow(window);
  });
  return all;
}

int64_t adze::tile::liveLanes(const DimClasses &classes, const Layout &layout,
                              int64_t coordinate) {
  const Slice &slice = layout.slices[layout.laneDim];
  if (slice.start) // loops run over whole vectors; the tail is static
    return layout.lanes;
  int64_t left =
      classes.size(layout.classes[layout.laneDim]) - slice.at - coordinate;
  return std::clamp<int64_t>(left, 0, layout.lanes);
}

//===--- Run-time bounds --------------------------------------------------===//

Value KernelLowering::runtimeBoundOf(Operation *op, bool upper) {
  if (op->getNumOperands() != 2)
    return {};
  bool isSub = isa<arith::SubIOp>(op);
  Value x = runtimeBound(op->getOperand(0), upper);
  Value y = runtimeBound(op->getOperand(1), upper != isSub);
  bool isMin = isa<arith::MinSIOp>(op), isMax = isa<arith::MaxSIOp>(op);
  if (!x || !y) // one of two bounds suffices if the other one only tightens it
    return (isMin && upper) || (isMax && !upper) ? (x ? x : y) : Value();
  if (isMin)
    return b.createOrFold<arith::MinSIOp>(loc, x, y);
  if (isMax)
    return b.createOrFold<arith::MaxSIOp>(loc, x, y);
  if (isa<arith::AddIOp>(op))
    return add(x, y);
  if (isSub)
    return b.createOrFold<arith::SubIOp>(loc, x, y);
  std::optional<int64_t> factor = getConstantIntValue(op->getOperand(1));
  if (isa<arith::MulIOp>(op) && factor && *factor >= 0)
    return b.createOrFold<arith::MulIOp>(loc, x, y);
  return {};
}

/// Returns the least or greatest value of an index over the loops of the body
/// that are not emitted yet, or null if it is unknown.
Value KernelLowering::runtimeBound(OpFoldResult value, bool upper) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return index(*constant);
  Value self = cast<Value>(value);
  if (map.contains(self))
    return map.lookup(self);
  auto argument = dyn_cast<BlockArgument>(self);
  if (!argument)
    return runtimeBoundOf(self.getDefiningOp(), upper);
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument != loop.getInductionVar())
    return {};
  Value lower = runtimeBound(loop.getLowerBound(), false);
  if (!lower || !upper)
    return lower;
  Value end = runtimeBound(loop.getUpperBound(), true);
  Value step = runtimeBound(loop.getStep(), false);
  if (!end || !step)
    return {};
  // The result is lower + (end - 1 - lower) / step * step.
  Value span = b.createOrFold<arith::SubIOp>(
      loc, b.createOrFold<arith::SubIOp>(loc, end, index(1)), lower);
  Value trips = b.createOrFold<arith::DivSIOp>(loc, span, step);
  return add(lower, b.createOrFold<arith::MulIOp>(loc, trips, step));
}

/// Returns the condition under which the current slices of a window are in
/// bounds in all iterations of inner loops, or null if it cannot be computed in
/// advance.
Value KernelLowering::inBounds(const Window &window) {
  Value all;
  auto require = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    Value holds = arith::CmpIOp::create(b, loc, predicate, x, y);
    all = all ? arith::AndIOp::create(b, loc, all, holds).getResult() : holds;
  };
  Layout layout = layoutOf(window.tile);
  for (int64_t dim = 0, e = window.offsets.size(); dim < e; ++dim) {
    if (!isUnproven(window, dim))
      continue;
    Value lower = runtimeBound(window.offsets[dim], false);
    Value upper = runtimeBound(window.offsets[dim], true);
    if (!lower || !upper)
      return {};
    int64_t last = 0;
    for (auto [i, digits] : llvm::enumerate(window.dims))
      for (size_t j = 0; j < digits.size(); ++j) {
        if (digits[j].dim != dim)
          continue;
        if (digits.size() > 1) { // whole, whatever the slice
          last += (digits[j].size - 1) * digits[j].step;
          continue;
        }
        Value begin = digitPosition(window, i, j, layout.slices[i], 0);
        lower = add(lower, begin);
        upper = add(upper, begin);
        last += (layout.slices[i].size - 1) * digits[j].step;
      }
    require(arith::CmpIPredicate::sge, lower, index(0));
    require(arith::CmpIPredicate::slt, add(upper, last),
            extent(window.memref, dim));
  }
  return all;
}

//===--- Limits -----------------------------------------------------------===//

/// Returns a lower bound of the number of positions of a class that are in
/// bounds of all memory it runs along: null if the class has no limit, zero if
/// the number is unknown. With `most`, returns an upper bound of the positions
/// that are in bounds of any memory; with `of`, of that window.
Value KernelLowering::limitOf(int c, bool most, const Window *of) {
  auto it = limits.find(c);
  if (it == limits.end())
    return {};
  Value none = index(most ? classes.size(c) : 0);
  Value limit = index(most ? 0 : classes.size(c));
  bool isLimited = !of;
  for (auto &[window, dim] : it->second) {
    if (of && window.op != of->op)
      continue;
    isLimited = true;
    Value offset = runtimeBound(window.offsets[dim], /*upper=*/!most);
    if (!offset || !map.contains(window.memref))
      return none;
    Value left =
        b.createOrFold<arith::SubIOp>(loc, extent(window.memref, dim), offset);
    int64_t step = 1;
    for (const SmallVector<Digit, 1> &digits : window.dims)
      if (digits.size() == 1 && digits.front().dim == dim)
        step = digits.front().step;
    left = arith::MaxSIOp::create(b, loc, index(0), left);
    if (step != 1) // positions p with p * step < left
      left = b.createOrFold<arith::CeilDivSIOp>(loc, left, index(step));
    limit = most ? b.createOrFold<arith::MaxSIOp>(loc, limit, left)
                 : b.createOrFold<arith::MinSIOp>(loc, limit, left);
  }
  return isLimited ? limit : none;
}
