// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Dots that run along their depth: few rows by a matrix whose neighbours are
// neighbours along what is contracted. Each column has a vector of sums, whose
// lanes are added up at the end; the matrix is read once, as it lies.
#include "Dialect/Tile/IR/Reduction.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace adze::tile;

//===--- Across lanes -----------------------------------------------------===//

static Value addUp(OpBuilder &b, Location loc, Value x, Value y) {
  return createCombine(b, loc, ReduceKind::add, x, y);
}

/// The sum of the lanes whose number has bit `bit` and of those without it:
/// blocks of `bit` lanes of x and y in turn.
static Value addBlocks(OpBuilder &b, Location loc, Value x, Value y,
                       int64_t bit) {
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements();
  SmallVector<int64_t> low, high;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t from = lane & bit ? lanes + lane - bit : lane;
    low.push_back(from);
    high.push_back(from + bit);
  }
  return addUp(b, loc, vector::ShuffleOp::create(b, loc, x, y, low),
               vector::ShuffleOp::create(b, loc, x, y, high));
}

/// One vector of the sums of the lanes of each vector.
static Value addLanes(OpBuilder &b, Location loc, SmallVector<Value> parts) {
  int64_t count = parts.size();
  for (Value &part : parts) {
    int64_t lanes = cast<VectorType>(part.getType()).getNumElements();
    for (; lanes > count; lanes /= 2) {
      auto half = [&](int64_t from) -> Value {
        return vector::ExtractStridedSliceOp::create(b, loc, part, {from},
                                                     {lanes / 2}, {1});
      };
      part = addUp(b, loc, half(0), half(lanes / 2));
    }
  }
  for (int64_t bit = 1; bit < count; bit *= 2) {
    SmallVector<Value> pairs;
    for (size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(addBlocks(b, loc, parts[i], parts[i + 1], bit));
    parts = pairs;
  }
  return parts.front();
}

//===--- Along the depth --------------------------------------------------===//

namespace {
/// Puts the slice of a class back at the end.
class SliceScope {
public:
  SliceScope(DenseMap<int, Slice> &context, int c) : context(context), c(c) {
    if (auto it = context.find(c); it != context.end())
      outer = it->second;
  }
  ~SliceScope() {
    if (outer)
      context[c] = *outer;
    else
      context.erase(c);
  }

private:
  DenseMap<int, Slice> &context;
  int c;
  std::optional<Slice> outer;
};

/// How many columns are summed at once, and with how many vectors each.
struct ColumnSums {
  int64_t columns, vectors;

  ColumnSums(const VectorUnit &unit, int64_t rows, int64_t widest,
             int64_t depth, int64_t lanes, int64_t bytes) {
    int64_t registersEach = std::max<int64_t>(1, lanes * bytes / unit.bytes);
    int64_t room = std::max<int64_t>(1, unit.accumulators() / registersEach /
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
    bool isUnsigned = op.getUnsignedLhs() && tile == op.getLhs();
    for (Value &value : registers.values) {
      value = widen(value, element, isUnsigned);
      if (alongDepth.mask) // what is computed of nothing need not be 0
        value = arith::SelectOp::create(b, loc, alongDepth.mask, value, zero);
    }
    return registers.values;
  };
  Carried sums(rows * columns * vectors, zero);
  return forDepth(op, vectors * lanes, sums, [&](ArrayRef<Value> before) {
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
  });
}

/// Adds to the accumulators: as many columns at once as there are registers
/// for, with all rows.
Registers KernelLowering::dotAlongDepth(DotOp op, Registers acc) {
  const Layout &layout = acc.layout;
  Type element = op.getType().getElementType();
  int k = classes.of(op.getRhs())[0], c = layout.classes[1];
  Slice all = layout.slices[1];
  int64_t rows = layout.slices[0].size;
  ColumnSums shape(unit, rows, classes.lanes(c), classes.size(k),
                   classes.lanes(k),
                   llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
  SliceScope scope(context, c);
  SmallVector<SmallVector<Value>> pieces(rows); // by row: of the columns
  for (int64_t at = 0; at < all.size; at += shape.columns) {
    context[c] = {all.start, all.at + at, shape.columns};
    alongDepth = {c, k, {}};
    scopes.emplace_back();
    Carried sums = sumColumns(op, shape.vectors, shape.columns);
    scopes.pop_back();
    alongDepth = {};
    ArrayRef<Value> rest = sums;
    for (SmallVector<Value> &row : pieces) {
      SmallVector<Value> each;
      for (int64_t j = 0; j < shape.columns; ++j) {
        Value sum = rest.front();
        for (Value part : rest.slice(1, shape.vectors - 1))
          sum = addUp(b, loc, sum, part);
        each.push_back(sum);
        rest = rest.drop_front(shape.vectors);
      }
      row.push_back(addLanes(b, loc, each));
    }
  }
  for (auto [i, value] : llvm::enumerate(acc.values)) {
    SmallVector<int64_t> at = layout.coordinates(i);
    ArrayRef<Value> row = pieces[at[0]];
    int64_t first = at[1] / shape.columns;
    Value sum =
        layout.lanes == 1
            ? vector::ExtractOp::create(b, loc, row[first],
                                        at[1] % shape.columns)
                  .getResult()
            : concatenate(b, loc,
                          row.slice(first, layout.lanes / shape.columns));
    value = addUp(b, loc, value, sum);
  }
  return acc;
}
