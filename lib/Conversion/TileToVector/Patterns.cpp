// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Registers whose lanes are at constant distances in memory, such as those of
// views by digits of an index.
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>
#include <tuple>

using namespace mlir;
using namespace adze::tile;

/// Returns the difference of an expression at `base + at` and at `base`, for
/// any multiple `base` of `divisor` (0: 0 only) as the value of dim `dim`.
static std::optional<int64_t> growth(AffineExpr expr, unsigned dim,
                                     int64_t divisor, int64_t at) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return at;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto lhs = growth(binary.getLHS(), dim, divisor, at);
  if (binary.getKind() == AffineExprKind::Add) {
    auto rhs = growth(binary.getRHS(), dim, divisor, at);
    return lhs && rhs ? std::optional(*lhs + *rhs) : std::nullopt;
  }
  auto rhs = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!lhs || !rhs)
    return std::nullopt;
  int64_t number = rhs.getValue();
  if (binary.getKind() == AffineExprKind::Mul)
    return *lhs * number;
  // The divisor of the left side at the base.
  int64_t multiple = divisor;
  if (!isa<AffineDimExpr>(binary.getLHS())) {
    auto inner = dyn_cast<AffineBinaryOpExpr>(binary.getLHS());
    auto by = inner ? dyn_cast<AffineConstantExpr>(inner.getRHS())
                    : AffineConstantExpr();
    if (!by || !isa<AffineDimExpr>(inner.getLHS()))
      return std::nullopt;
    if (inner.getKind() == AffineExprKind::Mod)
      multiple = std::gcd(divisor, by.getValue());
    else if (inner.getKind() == AffineExprKind::FloorDiv)
      multiple = divisor % by.getValue() == 0 ? divisor / by.getValue() : 1;
    else
      return std::nullopt;
  }
  int64_t unit = std::gcd(multiple, number); // every number divides 0
  bool isWhole = unit == number;
  if (!isWhole && *lhs >= unit)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Mod)
    return isWhole ? *lhs % number : *lhs;
  return isWhole ? *lhs / number : 0;
}

/// Returns the places of the lanes of the register whose first lane is `at`
/// positions after the start of the slice.
std::optional<LanePlaces> KernelLowering::lanesOf(const Window &window,
                                                  const Layout &layout,
                                                  int64_t at) {
  ArrayRef<Digit> digits = window.dims[layout.laneDim];
  if (!window.memref.getDefiningOp<ViewOp>() || window.indices ||
      digits.size() != 1)
    return std::nullopt;
  auto type = cast<MemRefType>(window.memref.getType());
  Digit digit = digits.front();
  const Slice &slice = layout.slices[layout.laneDim];
  int c = layout.classes[layout.laneDim];
  int64_t divisor = getKnownDivisor(window.offsets[digit.dim]), first = 0;
  if (auto constant = getConstantIntValue(window.offsets[digit.dim])) {
    divisor = 0;
    first = *constant;
  }
  if (slice.start)
    divisor =
        std::gcd(divisor, digit.step * (classes.isSplit(c) ? classes.step(c)
                                                           : classes.lanes(c)));
  first += (slice.at + at) * digit.step;
  // Whole vectors are covered by the divisor of the start.
  if (int64_t whole = first - first % layout.lanes; divisor != 0) {
    divisor = std::gcd(divisor, whole);
    first -= whole;
  }
  LanePlaces pattern;
  for (int64_t lane = 0; lane < layout.lanes; ++lane) {
    auto &lies = pattern.emplace_back();
    for (AffineExpr result : type.getLayout().getAffineMap().getResults()) {
      auto begin = growth(result, digit.dim, divisor, first),
           here = growth(result, digit.dim, divisor, first + lane * digit.step);
      if (!begin || !here)
        return std::nullopt;
      lies.push_back(*here - *begin);
    }
  }
  return pattern;
}

/// Returns true if the lanes of each register are adjacent in memory.
bool KernelLowering::isRun(const Window &window, const Layout &layout) {
  for (int64_t i = 0; i < layout.counts[layout.laneDim]; ++i) {
    auto pattern = lanesOf(window, layout, i * layout.lanes);
    if (!pattern)
      return false;
    for (auto [lane, lies] : llvm::enumerate(*pattern))
      for (auto [dim, place] : llvm::enumerate(lies))
        if (place != (dim + 1 == lies.size() ? int64_t(lane) : 0))
          return false;
  }
  return true;
}

namespace {
/// The lanes that are in one vector of memory, `places` elements after `begin`
/// along the last dimension.
struct Piece {
  SmallVector<int64_t, 4> begin;
  SmallVector<int64_t> lanes, places;
};
} // namespace

/// Orders those of the first `live` lanes that may be elements of the view by
/// their address. No two elements have one address, but beyond the last one the
/// digits of an index of the view wrap to addresses of other elements. All
/// indices are at least 0, so only the first of several lanes at one address
/// can be an element.
static SmallVector<int64_t> orderLanes(const LanePlaces &pattern,
                                       int64_t live) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, live));
  llvm::sort(order, [&](int64_t x, int64_t y) {
    return std::tie(pattern[x], x) < std::tie(pattern[y], y);
  });
  auto end = llvm::unique(
      order, [&](int64_t x, int64_t y) { return pattern[x] == pattern[y]; });
  order.truncate(end - order.begin());
  return order;
}

/// Collects as many lanes as one store covers.
static SmallVector<Piece> getPieces(const LanePlaces &pattern, int64_t live) {
  int64_t lanes = pattern.size();
  SmallVector<int64_t> order = orderLanes(pattern, live);
  SmallVector<Piece> pieces;
  for (int64_t lane : order) {
    ArrayRef<int64_t> lies = pattern[lane];
    Piece *last = pieces.empty() ? nullptr : &pieces.back();
    int64_t place =
        last && ArrayRef<int64_t>(last->begin).drop_back() == lies.drop_back()
            ? lies.back() - last->begin.back()
            : lanes;
    if (place >= lanes) {
      last = &pieces.emplace_back();
      last->begin.assign(lies.begin(), lies.end());
      place = 0;
    }
    last->lanes.push_back(lane);
    last->places.push_back(place);
  }
  return pieces;
}

/// Stores lanes that are adjacent in memory as a shorter vector, and others
/// with a mask.
static void writePiece(OpBuilder &b, Location loc, const Piece &piece,
                       Value memref, ValueRange indices, Value value,
                       Value mask) {
  int64_t lanes = cast<VectorType>(value.getType()).getNumElements(),
          count = piece.lanes.size();
  if (count == 1 && !mask) {
    Value element =
        vector::ExtractOp::create(b, loc, value, piece.lanes.front());
    memref::StoreOp::create(b, loc, element, memref, indices);
    return;
  }
  if (piece.places.back() + 1 == count && !mask) {
    Value part = vector::ShuffleOp::create(b, loc, value, value, piece.lanes);
    vector::StoreOp::create(b, loc, part, memref, indices);
    return;
  }
  SmallVector<int64_t> order(lanes, 0);
  SmallVector<bool> bits(lanes, false);
  for (auto [lane, place] : llvm::zip_equal(piece.lanes, piece.places)) {
    order[place] = lane;
    bits[place] = true;
  }
  Value spread = vector::ShuffleOp::create(b, loc, value, value, order);
  auto type = VectorType::get(lanes, b.getI1Type());
  Value there =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, bits));
  if (mask)
    there = bothMasks(b, loc, there,
                      vector::ShuffleOp::create(b, loc, mask, mask, order));
  vector::MaskedStoreOp::create(b, loc, memref, indices, there, spread);
}

/// Stores registers whose lanes have constant places, piece by piece.
bool KernelLowering::writePieces(const Window &window,
                                 const Registers &registers) {
  const Layout &layout = registers.layout;
  SmallVector<LanePlaces> known; // by vector along the lanes
  for (int64_t i = 0; i < layout.counts[layout.laneDim]; ++i) {
    auto lanes = lanesOf(window, layout, i * layout.lanes);
    if (!lanes)
      return false;
    known.push_back(*lanes);
  }
  // This is the precondition of orderLanes().
  auto range =
      getIndexRange(window.offsets[window.dims[layout.laneDim].front().dim]);
  if (!range || range->min < 0)
    return false;
  Value memref = mapped(window.memref);
  for (auto [i, value] : llvm::enumerate(registers.values)) {
    int64_t first = layout.coordinates(i)[layout.laneDim];
    int64_t live = liveLanes(classes, layout, first);
    if (live == 0 || isDead(layout, i))
      continue;
    Access at = getAccess(window, layout, i);
    if (at.never)
      continue;
    OpBuilder::InsertionGuard guard(b);
    if (at.exists) {
      auto branch = scf::IfOp::create(b, loc, at.exists, false);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    Value stored = toMemory(b, loc, value);
    for (const Piece &piece : getPieces(known[first / layout.lanes], live)) {
      SmallVector<Value> indices;
      for (auto [begin, further] : llvm::zip_equal(at.indices, piece.begin))
        indices.push_back(add(begin, further));
      writePiece(b, loc, piece, memref, indices, stored, at.mask);
    }
  }
  return true;
}
