// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Dots with lanes along the contracted dimension: few rows by a matrix that is
// contiguous along it. Each column has a vector of sums, whose lanes are added
// at the end. The matrix is read once, in place.
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "Dialect/Tile/IR/Reduction.h"
#include "KernelLowering.h"
#include "Reader.h"
#include "Support/LoopAnnotation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace adze::tile;

//===--- Across lanes -----------------------------------------------------===//

static Value addUp(OpBuilder &b, Location loc, Value x, Value y) {
  return createCombine(b, loc, ReduceKind::add, x, y);
}

namespace {
/// Sums the lanes of each of several vectors, a power of two of them, into one
/// vector in the order of the vectors. Two vectors are added as soon as both
/// exist, so that few are live.
///
/// Lanes are organized in units (elements, or the sums of adjacent ones) and
/// groups of four units, as in the fast shuffles of x86. The even and the odd
/// units of two vectors are added: (x0 x1 x2 x3), (y0 y1 y2 y3) become (x01 x23
/// y01 y23), and so on.
class LaneSums {
public:
  LaneSums(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  void push(Value sums) {
    size_t level = 0;
    for (; !parts.empty() && parts.back().first == level; ++level)
      sums = addPairs(parts.pop_back_val().second, sums, level);
    parts.push_back({level, sums});
  }

  /// Returns all sums in one vector, and clears the accumulators.
  Value take() {
    assert(parts.size() == 1 && "not a power of two of vectors");
    size_t level = parts.back().first;
    Value sums = parts.pop_back_val().second;
    if (isWithinGroup(level, lanesOf(sums)))
      sums = addPairs(sums, Value(), level);
    for (int64_t lanes = lanesOf(sums); lanes > int64_t(1) << level;
         lanes /= 2) {
      auto half = [&](int64_t from) -> Value {
        return vector::ExtractStridedSliceOp::create(b, loc, sums, {from},
                                                     {lanes / 2}, {1});
      };
      sums = addUp(b, loc, half(0), half(lanes / 2));
    }
    return sums;
  }

private:
  static int64_t lanesOf(Value x) {
    return cast<VectorType>(x.getType()).getNumElements();
  }
  static int64_t unitOf(size_t level) { return int64_t(1) << level / 2 * 2; }
  static int64_t groupOf(size_t level, int64_t lanes) {
    return std::min<int64_t>(4, lanes / unitOf(level));
  }
  /// Returns true if the units of a group are half added.
  static bool isWithinGroup(size_t level, int64_t lanes) {
    return level % 2 == 1 && groupOf(level, lanes) == 4;
  }

  /// Without y, a group has half as many units afterwards.
  Value addPairs(Value x, Value y, size_t level) {
    int64_t lanes = lanesOf(x), unit = unitOf(level);
    int64_t group = groupOf(level, lanes);
    SmallVector<int64_t> even, odd;
    for (int64_t base = 0; base < lanes; base += group * unit)
      for (int64_t from = base; from < (y ? 2 * lanes : lanes); from += lanes)
        for (int64_t lane = from; lane < from + group * unit; ++lane)
          (lane / unit % 2 ? odd : even).push_back(lane);
    if (!y)
      y = x;
    return addUp(b, loc, vector::ShuffleOp::create(b, loc, x, y, even),
                 vector::ShuffleOp::create(b, loc, x, y, odd));
  }

  OpBuilder &b;
  Location loc;
  // Partial sums with log2 of the number of added vectors.
  SmallVector<std::pair<size_t, Value>> parts;
};
} // namespace

//===--- Along the depth --------------------------------------------------===//

namespace {
/// The number of columns that are summed at once, and of vectors of each.
struct ColumnSums {
  int64_t columns, vectors;

  ColumnSums(CpuTargetAttr target, int64_t rows, int64_t widest, int64_t depth,
             int64_t lanes, int64_t bytes) {
    int64_t registersEach =
        std::max<int64_t>(1, lanes * bytes / target.getVectorBytes());
    int64_t space =
        std::max<int64_t>(1, getAccumulators(target) / registersEach /
                                 std::max<int64_t>(rows, 1));
    columns = llvm::bit_floor(uint64_t(std::min({space, lanes, widest})));
    // With few columns, more sums hide the latency of the additions.
    int64_t most = std::min({space / columns, depth / lanes, int64_t(4)});
    vectors = llvm::bit_floor(uint64_t(std::max<int64_t>(1, most)));
  }
};
} // namespace

/// Emits `body` for steps of the contracted dimension, and then for single
/// vectors up to its end, under a mask.
Carried KernelLowering::forDepth(DotOp op, int64_t step, Carried sums,
                                 ChunkBody body) {
  int k = classes.of(op.getRhs())[0];
  int64_t lanes = classes.lanes(k);
  Value end = contractedEnd(op, {op.getLhs(), op.getRhs()}), limit = limitOf(k);
  if (!end)
    end = index(classes.size(k));
  Value whole = limit ? b.createOrFold<arith::MinSIOp>(loc, end, limit) : end;
  Value rest = b.createOrFold<arith::RemSIOp>(loc, whole, index(step));
  Value cut = b.createOrFold<arith::SubIOp>(loc, whole, rest);
  SliceScope scope(context, k);
  looping.push_back(k);
  if (limit)
    inside.insert(k);
  if (getConstantIntValue(cut) != 0)
    sums = chunkLoop(k, step, index(0), cut, sums, body);
  inside.erase(k);
  bool hasRest = getConstantIntValue(rest) != 0 || limit;
  if (hasRest)
    sums = chunkLoop(k, lanes, cut, end, sums, [&](ArrayRef<Value> before) {
      auto type = VectorType::get(lanes, b.getIndexType());
      Value left = arith::SubIOp::create(b, loc, end, context[k].start);
      alongDepth.mask = arith::CmpIOp::create(
          b, loc, arith::CmpIPredicate::slt,
          vector::StepOp::create(b, loc, type), splat(left, type));
      Carried next = body(before);
      alongDepth.mask = {};
      return next;
    });
  looping.pop_back();
  return sums;
}

/// Computes the sums of the current rows and columns: `vectors` of them for
/// each row and each column.
Carried KernelLowering::sumColumns(DotOp op, int64_t vectors, int64_t columns) {
  Type element = op.getType().getElementType();
  int k = classes.of(op.getRhs())[0];
  int64_t lanes = classes.lanes(k);
  int64_t rows = slice(classes.of(op.getResult())[0]).size;
  Value zero = arith::ConstantOp::create(
      b, loc, b.getZeroAttr(VectorType::get(lanes, element)));
  auto operand = [&](Value tile) {
    Registers registers = emit(tile);
    Type type = tile == op.getLhs() ? op.getProduct().getLhs()
                                    : op.getProduct().getRhs();
    bool isUnsigned = type.isUnsignedInteger();
    for (Value &value : registers.values) {
      value = widen(value, element, isUnsigned);
      if (alongDepth.mask) // dead lanes need not be 0
        value = arith::SelectOp::create(b, loc, alongDepth.mask, value, zero);
    }
    return registers.values;
  };
  // Columns are read one after the other in memory order: the hardware
  // prefetches sequential accesses, with more outstanding requests than a core
  // has.
  auto load = dyn_cast_if_present<LoadOp>(getReader(op.getRhs()));
  bool comesFromMemory =
      load && load->hasAttr(kAheadAttribute) && !scratchOf(op.getRhs());
  if (comesFromMemory) {
    Layout all = layoutOf(op.getRhs());
    for (int64_t column = 0; column < columns; ++column)
      for (int64_t i = 0, e = all.total(); i < e; ++i)
        if (all.coordinates(i)[1] == column)
          prefetchAhead(window(load), all, i);
  }
  Carried sums(rows * columns * vectors, zero);
  auto body = [&](ArrayRef<Value> before) {
    Carried next(before);
    auto rhs = operand(op.getRhs()), lhs = operand(op.getLhs());
    int64_t now = slice(k).size / lanes;
    for (int64_t v = 0; v < now; ++v)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          Value &sum = next[(i * columns + j) * vectors + v];
          sum = multiplyAdd(lhs[i * now + v], rhs[v * columns + j], sum);
        }
    return next;
  };
  sums = forDepth(op, vectors * lanes, sums, body);
  auto loop = sums.front().getDefiningOp<scf::ForOp>();
  // The loads of a short loop stay in order. If it were unrolled together with
  // the following columns, they would be scheduled in any order, and the
  // hardware prefetchers would lose the stream.
  if (comesFromMemory && loop)
    disableUnrolling(loop);
  return sums;
}

/// Adds the product to the accumulators: all rows, and as many columns at once
/// as there are registers.
Registers KernelLowering::dotAlongDepth(DotOp op, Registers acc) {
  const Layout &layout = acc.layout;
  Type element = op.getType().getElementType();
  int k = classes.of(op.getRhs())[0], c = layout.classes[1];
  Slice all = layout.slices[1];
  int64_t rows = layout.slices[0].size;
  ColumnSums shape(target, rows, classes.lanes(c), classes.size(k),
                   classes.lanes(k),
                   llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
  SliceScope scope(context, c);
  // The columns of one vector of sums.
  int64_t together =
      std::max(shape.columns, std::min(layout.lanes, classes.lanes(k)));
  std::vector<LaneSums> lanes(rows, LaneSums(b, loc));
  SmallVector<SmallVector<Value>> pieces(rows); // for each row, the columns
  for (int64_t at = 0; at < all.size; at += shape.columns) {
    context[c] = {all.start, all.at + at, shape.columns};
    alongDepth = {c, k, {}};
    scopes.emplace_back();
    Carried sums = sumColumns(op, shape.vectors, shape.columns);
    scopes.pop_back();
    alongDepth = {};
    ArrayRef<Value> rest = sums;
    for (auto [row, own] : llvm::zip_equal(pieces, lanes)) {
      for (int64_t j = 0; j < shape.columns; ++j) {
        Value sum = rest.front();
        for (Value part : rest.slice(1, shape.vectors - 1))
          sum = addUp(b, loc, sum, part);
        own.push(sum);
        rest = rest.drop_front(shape.vectors);
      }
      if ((at + shape.columns) % together == 0)
        row.push_back(own.take());
    }
  }
  for (auto [i, value] : llvm::enumerate(acc.values)) {
    SmallVector<int64_t> at = layout.coordinates(i);
    ArrayRef<Value> row = pieces[at[0]];
    int64_t first = at[1] / together;
    Value sum =
        layout.lanes == 1
            ? vector::ExtractOp::create(b, loc, row[first], at[1] % together)
                  .getResult()
            : concatenate(b, loc, row.slice(first, layout.lanes / together));
    value = addUp(b, loc, value, sum);
  }
  return acc;
}
