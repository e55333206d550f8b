// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Dots that run along their depth: few rows by a matrix whose neighbours are
// neighbours along what is contracted. Each column has a vector of sums, whose
// lanes are added up at the end; the matrix is read once, as it lies.
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "Dialect/Tile/IR/Reduction.h"
#include "KernelLowering.h"
#include "Reader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace adze::tile;

//===--- Across lanes -----------------------------------------------------===//

static Value addUp(OpBuilder &b, Location loc, Value x, Value y) {
  return createCombine(b, loc, ReduceKind::add, x, y);
}

namespace {
/// Sums of the lanes of vectors, a power of two of them, as one vector in their
/// order. Two are added as soon as both are there, so that few are live.
///
/// Lanes are thought of in units (elements, then what four of them became) and
/// these in groups of four, as the fast shuffles of x86 have them. What is even
/// of the groups of two vectors, and what is odd, are added:
/// (x0 x1 x2 x3), (y0 y1 y2 y3) become (x01 x23 y01 y23), and so on.
class LaneSums {
public:
  LaneSums(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  void push(Value sums) {
    size_t level = 0;
    for (; !parts.empty() && parts.back().first == level; ++level)
      sums = addPairs(parts.pop_back_val().second, sums, level);
    parts.push_back({level, sums});
  }

  /// All of them in one vector, and none left.
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
  /// Are the units of a group half added up?
  static bool isWithinGroup(size_t level, int64_t lanes) {
    return level % 2 == 1 && groupOf(level, lanes) == 4;
  }

  /// Without y a group has half as many units afterwards.
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
  SmallVector<std::pair<size_t, Value>> parts; // levels: of how many, log2
};
} // namespace

//===--- Along the depth --------------------------------------------------===//

namespace {
/// How many columns are summed at once, and with how many vectors each.
struct ColumnSums {
  int64_t columns, vectors;

  ColumnSums(CpuTargetAttr target, int64_t rows, int64_t widest, int64_t depth,
             int64_t lanes, int64_t bytes) {
    int64_t registersEach =
        std::max<int64_t>(1, lanes * bytes / target.getVectorBytes());
    int64_t room =
        std::max<int64_t>(1, getAccumulators(target) / registersEach /
                                 std::max<int64_t>(rows, 1));
    columns = llvm::bit_floor(uint64_t(std::min({room, lanes, widest})));
    // Few columns: more sums, so that none waits for itself.
    int64_t most = std::min({room / columns, depth / lanes, int64_t(4)});
    vectors = llvm::bit_floor(uint64_t(std::max<int64_t>(1, most)));
  }
};
} // namespace

/// Runs `body` for steps of the depth, then for single vectors up to its end,
/// under a mask.
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

/// Keeps the loads of a short loop in order: unrolled with the columns behind
/// it, they would be scheduled in any order, and the hardware's prefetchers
/// would lose the stream.
static void disableUnrolling(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, BoolAttr::get(context, true), /*count=*/nullptr,
      /*runtimeDisable=*/nullptr, /*full=*/nullptr,
      /*followupUnrolled=*/nullptr, /*followupRemainder=*/nullptr,
      /*followupAll=*/nullptr);
  // The conversions carry attributes of LLVM to the branch back, of which this
  // is the name there.
  auto annotation = LLVM::LoopAnnotationAttr::get(
      context, nullptr, nullptr, nullptr, unroll, nullptr, nullptr, nullptr,
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, {});
  loop->setAttr("loop_annotation", annotation);
}

/// The sums of the current rows and columns: for each row, for each column,
/// `vectors` of them.
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
      if (alongDepth.mask) // what is computed of nothing need not be 0
        value = arith::SelectOp::create(b, loc, alongDepth.mask, value, zero);
    }
    return registers.values;
  };
  // Column by column, as they lie: the hardware goes on with what it sees in
  // order, and has more requests under way than a core has.
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
  if (comesFromMemory && loop)
    disableUnrolling(loop);
  return sums;
}

/// Adds to the accumulators: as many columns at once as there are registers
/// for, with all rows.
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
  // Columns of one vector of sums.
  int64_t together =
      std::max(shape.columns, std::min(layout.lanes, classes.lanes(k)));
  std::vector<LaneSums> lanes(rows, LaneSums(b, loc));
  SmallVector<SmallVector<Value>> pieces(rows); // by row: of the columns
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
