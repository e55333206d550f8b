// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Packs constants by layout maps.
#include "Support/PackedLayout.h"
#include "Support/AffineEvaluate.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace adze {

/// Returns the greatest value of `expr` over the array.
static int64_t getMaximum(AffineExpr expr, ArrayRef<int64_t> shape) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return shape[dim.getPosition()] - 1;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = getMaximum(binary.getLHS(), shape);
  int64_t rhs = getMaximum(binary.getRHS(), shape);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return lhs / rhs;
  case AffineExprKind::CeilDiv:
    return llvm::divideCeil(lhs, rhs);
  default: // Mod
    return rhs - 1;
  }
}

SmallVector<int64_t> getPackedShape(ArrayRef<int64_t> shape, AffineMap layout) {
  SmallVector<int64_t> result;
  for (AffineExpr expr : layout.getResults())
    result.push_back(getMaximum(expr, shape) + 1);
  return result;
}

/// Returns the value of `expr` at `point`.
static int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> point) {
  return evaluateAffine(expr, [&](AffineExpr leaf) {
    return point[cast<AffineDimExpr>(leaf).getPosition()];
  });
}

namespace {
/// The linear position in the packed array, as a sum of functions of one dim
/// each; all layouts of floordiv and mod of single dims have this form.
class Positions {
public:
  Positions(ArrayRef<int64_t> shape, AffineMap layout)
      : shape(shape), layout(layout) {
    SmallVector<int64_t> packed = getPackedShape(shape, layout);
    strides.assign(packed.size(), 1);
    for (int64_t i = int64_t(packed.size()) - 2; i >= 0; --i)
      strides[i] = strides[i + 1] * packed[i + 1];
    separable = llvm::all_of(layout.getResults(), [&](AffineExpr expr) {
      unsigned used = 0;
      for (unsigned dim = 0; dim < shape.size(); ++dim)
        used += expr.isFunctionOfDim(dim);
      return used <= 1;
    });
    if (!separable)
      return;
    SmallVector<int64_t> point(shape.size(), 0);
    origin = linear(point);
    for (unsigned dim = 0; dim < shape.size(); ++dim) {
      parts.emplace_back();
      for (int64_t i = 0; i < shape[dim]; ++i) {
        point[dim] = i;
        parts.back().push_back(linear(point) - origin);
      }
      point[dim] = 0;
    }
  }

  /// Returns true if the position of a point is the sum of that of the origin
  /// and of the parts of all coordinates.
  bool isSum() const { return separable; }

  int64_t getOrigin() const { return origin; }
  int64_t getPart(unsigned dim, int64_t coordinate) const {
    return parts[dim][coordinate];
  }

  int64_t linear(ArrayRef<int64_t> point) const {
    int64_t result = 0;
    for (auto [expr, stride] : llvm::zip(layout.getResults(), strides))
      result += evaluate(expr, point) * stride;
    return result;
  }

private:
  ArrayRef<int64_t> shape;
  AffineMap layout;
  SmallVector<int64_t> strides;
  bool separable = false;
  int64_t origin = 0;
  SmallVector<std::vector<int64_t>> parts;
};
} // namespace

namespace {
/// A part of an array: all points whose coordinate along `dim` is in `chosen`.
struct Part {
  unsigned dim;
  SmallVector<int64_t> chosen;
};
} // namespace

namespace {
/// The points of a part, as outer points times a block of points of the inner
/// dims, whose offsets in the array are the same for each outer point.
class PartPoints {
public:
  PartPoints(ArrayRef<int64_t> shape, const Positions &positions,
             const Part &part);

  bool empty() const { return llvm::is_contained(counts, 0); }

  /// Calls `copy(from, to, count)` for runs of elements that are consecutive in
  /// the array, from the element `from`, and in the memory, from `to`.
  template <typename Copy>
  void forEachRun(Copy copy) const;

private:
  void addBlock();
  void findRuns();

  int64_t getCoordinate(size_t dim, int64_t i) const {
    return dim == part.dim ? part.chosen[i] : i;
  }

  ArrayRef<int64_t> shape;
  const Positions &positions;
  const Part &part;
  SmallVector<int64_t> counts;
  size_t numOuter;
  int64_t outerStride = 1;              // elements of all inner dims
  std::vector<int64_t> sources, places; // of the points of a block
  size_t run = 1;
};
} // namespace

PartPoints::PartPoints(ArrayRef<int64_t> shape, const Positions &positions,
                       const Part &part)
    : shape(shape), positions(positions), part(part), counts(shape),
      numOuter(shape.size()) {
  constexpr int64_t longest = 4096; // points whose offsets stay in the cache
  counts[part.dim] = part.chosen.size();
  if (empty())
    return;
  sources = {0};
  places = {0};
  while (positions.isSum() && numOuter > 0 &&
         (numOuter == shape.size() ||
          int64_t(places.size()) * counts[numOuter - 1] <= longest))
    addBlock();
  findRuns();
}

/// Adds the last outer dim to the inner ones.
void PartPoints::addBlock() {
  size_t dim = --numOuter;
  std::vector<int64_t> innerSources = std::move(sources),
                       innerPlaces = std::move(places);
  sources.clear();
  places.clear();
  sources.reserve(innerSources.size() * counts[dim]);
  places.reserve(innerPlaces.size() * counts[dim]);
  for (int64_t i = 0; i < counts[dim]; ++i) {
    int64_t coordinate = getCoordinate(dim, i);
    for (int64_t source : innerSources)
      sources.push_back(source + coordinate * outerStride);
    for (int64_t place : innerPlaces)
      places.push_back(place + positions.getPart(dim, coordinate));
  }
  outerStride *= shape[dim];
}

/// Finds the longest runs of equal length that a block consists of.
void PartPoints::findRuns() {
  run = places.size();
  for (size_t i = 1; i < places.size(); ++i)
    if (places[i] != places[i - 1] + 1 || sources[i] != sources[i - 1] + 1)
      run = std::gcd(run, i);
}

template <typename Copy>
void PartPoints::forEachRun(Copy copy) const {
  SmallVector<int64_t> index(shape.size(), 0), point(shape.size(), 0);
  for (bool more = true; more;) {
    int64_t source = 0, place = positions.getOrigin();
    for (size_t dim = 0; dim < numOuter; ++dim) {
      point[dim] = getCoordinate(dim, index[dim]);
      source = source * shape[dim] + point[dim];
      if (positions.isSum())
        place += positions.getPart(dim, point[dim]);
    }
    source *= outerStride;
    if (!positions.isSum())
      place = positions.linear(point);
    for (size_t i = 0, e = places.size(); i < e; i += run)
      copy(source + sources[i], place + places[i], run);
    size_t dim = numOuter;
    while (dim > 0 && ++index[dim - 1] == counts[dim - 1])
      index[--dim] = 0;
    more = dim > 0;
  }
}

/// Writes the elements of a part to `to`, which begins at position `first`.
template <unsigned elementBytes>
static void packPart(ArrayRef<char> from, ArrayRef<int64_t> shape,
                     const Positions &positions, const Part &part,
                     int64_t first, MutableArrayRef<char> to) {
  PartPoints points(shape, positions, part);
  if (points.empty())
    return;
  points.forEachRun([&](int64_t source, int64_t place, size_t count) {
    const char *begin = from.data() + source * elementBytes;
    char *end = to.data() + (place - first) * elementBytes;
    if (count == 1) // of a constant size
      memcpy(end, begin, elementBytes);
    else
      memcpy(end, begin, count * elementBytes);
  });
}

using PackFunction = void (*)(ArrayRef<char>, ArrayRef<int64_t>,
                              const Positions &, const Part &, int64_t,
                              MutableArrayRef<char>);

static PackFunction getPackFunction(unsigned elementBytes) {
  switch (elementBytes) {
  case 1:
    return packPart<1>;
  case 2:
    return packPart<2>;
  case 4:
    return packPart<4>;
  case 8:
    return packPart<8>;
  default:
    return packPart<16>;
  }
}

void packInPieces(ArrayRef<char> from, ArrayRef<int64_t> shape,
                  AffineMap layout, unsigned elementBytes, uint64_t pieceBytes,
                  llvm::function_ref<void(ArrayRef<char>)> write) {
  if (shape.empty()) // a scalar has one position
    return write(from);
  SmallVector<int64_t> packed = getPackedShape(shape, layout);
  // The outermost dim of the memory with several positions, and the dim of the
  // array that it depends on: if it is one, pieces are ranges of it.
  size_t outer = 0;
  while (outer < packed.size() && packed[outer] == 1)
    ++outer;
  int64_t count = outer < packed.size() ? packed[outer] : 1, inner = 1;
  for (size_t i = outer + 1; i < packed.size(); ++i)
    inner *= packed[i];
  SmallVector<unsigned> used;
  for (unsigned dim = 0; outer < packed.size() && dim < shape.size(); ++dim)
    if (layout.getResult(outer).isFunctionOfDim(dim))
      used.push_back(dim);
  uint64_t bytes = uint64_t(inner) * elementBytes;
  int64_t step = used.size() != 1
                     ? count
                     : std::clamp<int64_t>(pieceBytes / bytes, 1, count);
  Positions positions(shape, layout);
  PackFunction pack = getPackFunction(elementBytes);
  unsigned along = used.size() == 1 ? used[0] : 0;
  SmallVector<int64_t> point(shape.size(), 0);
  std::vector<char> piece;
  for (int64_t begin = 0; begin < count; begin += step) {
    int64_t end = std::min(begin + step, count);
    Part part{along, {}};
    for (int64_t i = 0; i < shape[along]; ++i) {
      point[along] = i;
      int64_t at =
          step == count ? begin : evaluate(layout.getResult(outer), point);
      if (at >= begin && at < end)
        part.chosen.push_back(i);
    }
    piece.assign((end - begin) * bytes, 0);
    pack(from, shape, positions, part, begin * inner, piece);
    write(piece);
  }
}

void packElements(ArrayRef<char> from, ArrayRef<int64_t> shape,
                  AffineMap layout, unsigned elementBytes,
                  MutableArrayRef<char> to) {
  std::fill(to.begin(), to.end(), 0);
  packInPieces(from, shape, layout, elementBytes, UINT64_MAX,
               [&](ArrayRef<char> bytes) { llvm::copy(bytes, to.begin()); });
}

} // namespace adze
