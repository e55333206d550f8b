// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of blockwise quantized operands: exact integer sums of each block
// are scaled and added to f32 accumulators in registers.
#include "Convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// Emits one kernel; the members are common to all of its programs.
class WordMatmul {
public:
  WordMatmul(KernelEmitter &e, WordMatmulOp op)
      : e(e), op(op), rank(getRank(op.getResult())), bits(op.getBits()),
        parts(8 / bits), words(op.getBlockWords()) {}

  LogicalResult emit();

private:
  using Carried = KernelEmitter::Carried;

  /// The program at `row` and `column`, with `blockRows` rows.
  LogicalResult emitProgram(Value row, Value column, int64_t blockRows);
  /// Adds the products of a block to `sums`; `planes`: the exact sums of each.
  FailureOr<Value> addBlock(Value block, Value row, Value column, Value sums,
                            ValueRange planes);
  /// What the sums of a plane of a block begin with: 0 without zero points.
  FailureOr<Value> emitZeros(Value block, Value column);
  FailureOr<Value> startPlane(int64_t plane, Value block, Value row,
                              Value column);
  /// The sums of plane `plane` of a block, exact; `columns`: the words of the
  /// right operand.
  FailureOr<Value> sumPlane(int64_t plane, Value block, Value row, Value column,
                            Value columns);
  /// The elements of part `part` of words, each in a byte of its own.
  Value takePart(Value columns, int64_t part);
  /// The words of plane `plane` of a block of the rows from `first` on.
  FailureOr<Value> emitRows(int64_t plane, int64_t first, int64_t stride,
                            Value block, Value row);

  // Products by the target's unit that multiplies matrices.
  bool findMatrixUnit();
  bool hasSignedBytes() { return bits < 8 || !op.getZeros(); }
  tile::ProductAttr getProduct(bool isSigned) {
    Builder b(op.getContext());
    return tile::ProductAttr::get(b.getContext(), b.getIntegerType(8, true),
                                  b.getIntegerType(8, isSigned),
                                  b.getIntegerType(32, true));
  }
  int64_t getSlice();
  LogicalResult emitMatrices(Value row, Value column, Value rows);
  LogicalResult unpack(Value block, Value first, Value column);
  FailureOr<Carried> multiplyBlock(Value own, Value block, Value row,
                                   Value column);
  LogicalResult multiply(Value from, Value row, Value column, Value slice);
  Value number(int64_t value, ArrayRef<int> axes) {
    return e.constant(e.builder().getI32IntegerAttr(value), axes);
  }
  /// Returns the rows of the left operand as one dim, followed by `more`.
  DimRanges ofRow(Value row, ArrayRef<DimRange> more) {
    DimRanges ranges{{row, M, 1, unsigned(rank - 1)}};
    ranges.append(more.begin(), more.end());
    return ranges;
  }
  static int64_t getRank(Value value) {
    return cast<RankedTensorType>(value.getType()).getRank();
  }

  KernelEmitter &e;
  WordMatmulOp op;
  int64_t rank, bits, parts, words;
  int64_t panel = 0;
  Value unpacked, sums; // of the unit's program: bytes as words, f32
};

Value WordMatmul::takePart(Value columns, int64_t part) {
  if (parts == 1)
    return columns;
  OpBuilder &b = e.builder();
  constexpr int64_t ones = 0x01010101;
  if (part > 0)
    columns = arith::ShRUIOp::create(b, e.loc(), columns,
                                     number(part * bits, {K, N}));
  return arith::AndIOp::create(b, e.loc(), columns,
                               number(((1 << bits) - 1) * ones, {K, N}));
}

FailureOr<Value> WordMatmul::emitRows(int64_t plane, int64_t first,
                                      int64_t stride, Value block, Value row) {
  Value start = e.index(plane * words * parts + first);
  return e.emitOn(op.getLhs(), ofRow(row, {{block, -1}, {start, K, stride}}),
                  {M, K});
}

/// Returns the zero points of a block as i32.
FailureOr<Value> WordMatmul::emitZeros(Value block, Value column) {
  auto bytes = e.emitOn(op.getZeros(), {{block, -1}, {column, N}}, {N});
  if (failed(bytes))
    return failure();
  return arith::ExtUIOp::create(e.builder(), e.loc(),
                                e.tileType({N}, e.builder().getI32Type()),
                                *bytes)
      .getResult();
}

FailureOr<Value> WordMatmul::startPlane(int64_t plane, Value block, Value row,
                                        Value column) {
  auto start = e.emitOn(op.getStarts(),
                        ofRow(row, {{block, -1}, {e.index(plane), -1}}), {M});
  if (failed(start))
    return failure();
  Value sum = e.broadcast({*start, {M}}, {M, N});
  if (!op.getZeros())
    return sum;
  auto zeros = emitZeros(block, column);
  if (failed(zeros))
    return failure();
  return arith::MulIOp::create(e.builder(), e.loc(), sum,
                               e.broadcast({*zeros, {N}}, {M, N}))
      .getResult();
}

FailureOr<Value> WordMatmul::sumPlane(int64_t plane, Value block, Value row,
                                      Value column, Value columns) {
  auto sum = startPlane(plane, block, row, column);
  for (int64_t part = 0; part < parts && succeeded(sum); ++part) {
    auto rows = emitRows(plane, part, parts, block, row);
    if (failed(rows))
      return failure();
    sum = createDot(e, *rows, takePart(columns, part), *sum,
                    getProduct(/*isSigned=*/false));
  }
  return sum;
}

FailureOr<Value> WordMatmul::addBlock(Value block, Value row, Value column,
                                      Value sums, ValueRange planes) {
  OpBuilder &b = e.builder();
  Type f32 = b.getF32Type();
  auto bits = e.emitOn(op.getRhs(),
                       {{block, -1}, {e.index(words), -1}, {column, N}}, {N});
  auto scales = e.emitOn(op.getScales(), ofRow(row, {{block, -1}}), {M});
  if (failed(bits) || failed(scales))
    return failure();
  // From the plane of the highest bits on.
  Value sum;
  for (Value exact : llvm::reverse(planes)) {
    Value more =
        arith::SIToFPOp::create(b, e.loc(), e.tileType({M, N}, f32), exact);
    constexpr float base = 256;
    sum = sum ? math::FmaOp::create(b, e.loc(), sum,
                                    e.constant(b.getF32FloatAttr(base), {M, N}),
                                    more)
                    .getResult()
              : more;
  }
  Value columnScales =
      arith::BitcastOp::create(b, e.loc(), e.tileType({N}, f32), *bits);
  Value both = arith::MulFOp::create(b, e.loc(),
                                     e.broadcast({columnScales, {N}}, {M, N}),
                                     e.broadcast({*scales, {M}}, {M, N}));
  return math::FmaOp::create(b, e.loc(), sum, both, sums).getResult();
}

LogicalResult WordMatmul::emitProgram(Value row, Value column,
                                      int64_t blockRows) {
  e.setAxis(M, e.index(blockRows));
  e.setAxis(K, e.index(words));
  Value none = e.constant(e.builder().getF32FloatAttr(0), {M, N});
  auto total = e.loop(
      e.size(op.getRhs(), 0), e.index(1), none,
      [&](Value block, ValueRange sums) -> FailureOr<Carried> {
        auto columns = e.emitOn(
            op.getRhs(), {{block, -1}, {e.index(0), K}, {column, N}}, {K, N});
        if (failed(columns))
          return failure();
        SmallVector<Value> planes(op.getPlanes());
        for (int64_t plane = op.getPlanes(); plane-- > 0;) {
          auto exact = sumPlane(plane, block, row, column, *columns);
          if (failed(exact))
            return failure();
          planes[plane] = *exact;
        }
        auto next = addBlock(block, row, column, sums[0], planes);
        if (failed(next))
          return failure();
        return Carried{*next};
      });
  if (failed(total))
    return failure();
  DimRanges ranges{{row, M, 1, unsigned(rank - 1)}, {column, N}};
  e.define(op.getResult(), ranges, {(*total)[0], {M, N}});
  return e.storeOutputs(op.getResult(), ranges);
}

//===----------------------------------------------------------------------===//
// By a unit that multiplies matrices
//===----------------------------------------------------------------------===//

/// Rows of the unit, those from which on it is worth to unpack weights, and
/// rows of a program at most, for which it does so once.
constexpr int64_t unitRows = 16, leastRows = 32, mostRows = 256;

/// Returns true if the target multiplies matrices of the bytes, and blocks fill
/// half of the unit's depth at least.
bool WordMatmul::findMatrixUnit() {
  if (e.gpu)
    return false;
  tile::ProductAttr product = getProduct(hasSignedBytes());
  tile::TargetUnitAttr unit = e.target.findMatrixUnit(
      product.getLhs(), product.getRhs(), product.getAcc());
  constexpr int64_t wordBytes = 4;
  return unit && unit.getShape()[0] == unitRows &&
         2 * wordBytes * words * parts >= unit.getShape()[2] &&
         panel % unit.getShape()[1] == 0;
}

/// Returns how many blocks are unpacked at once: a divisor of their number, so
/// that the bytes of a panel stay in the first level.
int64_t WordMatmul::getSlice() {
  constexpr int64_t usualWords = 128;
  int64_t blocks = getKnown(getDims(op.getRhs())[0]), best = 1;
  int64_t want = std::max<int64_t>(1, usualWords / (words * parts));
  auto distance = [&](int64_t count) {
    return std::max(count, want) * want / std::min(count, want);
  };
  for (int64_t count = 1; count <= blocks; ++count)
    if (blocks % count == 0 && distance(count) < distance(best))
      best = count;
  return best;
}

/// Stores the elements of a block to bytes, `first` words on. Bytes with a sign
/// have their zero point taken off.
LogicalResult WordMatmul::unpack(Value block, Value first, Value column) {
  OpBuilder &b = e.builder();
  constexpr int64_t ones = 0x01010101, signs = 0x80808080;
  e.setAxis(K, e.index(words));
  return e.phase([&]() -> LogicalResult {
    auto columns = e.emitOn(
        op.getRhs(), {{block, -1}, {e.index(0), K}, {column, N}}, {K, N});
    if (failed(columns))
      return failure();
    Value zeros;
    if (op.getZeros() && hasSignedBytes()) {
      auto bytes = emitZeros(block, column);
      if (failed(bytes))
        return failure();
      zeros = e.broadcast(
          {arith::MulIOp::create(b, e.loc(), *bytes, number(ones, {N})), {N}},
          {K, N});
    }
    for (int64_t part = 0; part < parts; ++part) {
      Value bytes = takePart(*columns, part);
      if (hasSignedBytes()) { // no byte borrows from its neighbour
        if (bits < 8) {
          bytes =
              arith::OrIOp::create(b, e.loc(), bytes, number(signs, {K, N}));
          Value zero = zeros ? zeros : number(ones << (bits - 1), {K, N});
          bytes = arith::SubIOp::create(b, e.loc(), bytes, zero);
        }
        bytes = arith::XOrIOp::create(b, e.loc(), bytes, number(signs, {K, N}));
      }
      if (failed(e.store(
              {bytes, {K, N}}, unpacked,
              {{e.add(first, e.index(part)), K, parts}, {e.index(0), N}})))
        return failure();
    }
    return success();
  });
}

/// The exact sums of a block that is at `own` in the unpacked slice, and at
/// `block` in the operands, plane by plane.
FailureOr<WordMatmul::Carried>
WordMatmul::multiplyBlock(Value own, Value block, Value row, Value column) {
  int64_t blockWords = words * parts;
  Carried planes;
  auto bytes =
      e.load(unpacked, {{e.mul(own, e.index(blockWords)), K}, {e.index(0), N}});
  if (failed(bytes))
    return failure();
  for (int64_t plane : llvm::seq<int64_t>(0, op.getPlanes())) {
    auto start = hasSignedBytes() ? FailureOr<Value>(number(0, {M, N}))
                                  : startPlane(plane, block, row, column);
    auto rows = emitRows(plane, 0, 1, block, row);
    if (failed(start) || failed(rows))
      return failure();
    planes.push_back(createDot(e, *rows, bytes->value, *start,
                               getProduct(hasSignedBytes())));
  }
  return planes;
}

/// Adds the products of a slice of blocks to the sums of the unit's rows, from
/// `from` on in the program and from `row` on in the left operand. While the
/// unit multiplies some blocks, the sums of those before them are scaled.
LogicalResult WordMatmul::multiply(Value from, Value row, Value column,
                                   Value slice) {
  int64_t count = getSlice(), planes = op.getPlanes(),
          together = largestDivisor(count, planes > 1 ? 1 : 2);
  e.setAxis(M, e.index(unitRows));
  e.setAxis(K, e.index(words * parts));
  DimRanges ranges{{from, M}, {e.index(0), N}};
  // The exact sums of the blocks from `at` on, and those of blocks added.
  auto multiplyBlocks = [&](Value at, Carried &all) -> LogicalResult {
    for (int64_t i = 0; i < together; ++i) {
      Value own = e.add(at, e.index(i));
      auto exact = multiplyBlock(own, e.add(slice, own), row, column);
      if (failed(exact))
        return failure();
      llvm::append_range(all, *exact);
    }
    return success();
  };
  auto addBlocks = [&](Value at, ValueRange carried) {
    FailureOr<Value> total(carried[0]);
    for (int64_t i = 0; i < together && succeeded(total); ++i)
      total = addBlock(e.add(slice, e.add(at, e.index(i))), row, column, *total,
                       carried.slice(1 + i * planes, planes));
    return total;
  };
  return e.phase([&]() -> LogicalResult {
    auto before = e.load(sums, ranges);
    if (failed(before))
      return failure();
    Carried first{before->value};
    if (failed(multiplyBlocks(e.index(0), first)))
      return failure();
    auto carried =
        e.loop(e.index(count - together), e.index(together), first,
               [&](Value at, ValueRange carried) -> FailureOr<Carried> {
                 Carried next(1);
                 if (failed(multiplyBlocks(e.add(at, e.index(together)), next)))
                   return failure();
                 auto total = addBlocks(at, carried);
                 if (failed(total))
                   return failure();
                 next[0] = *total;
                 return next;
               });
    if (failed(carried))
      return failure();
    auto total = addBlocks(e.index(count - together), *carried);
    return failed(total) ? failure() : e.store({*total, {M, N}}, sums, ranges);
  });
}

/// A program of `rows` rows: weights are unpacked to bytes a slice of the depth
/// at a time, once for all of them.
LogicalResult WordMatmul::emitMatrices(Value row, Value column, Value rows) {
  int64_t count = getSlice(), blockWords = words * parts;
  unpacked = e.scratch({e.index(count * blockWords), e.index(panel)},
                       e.builder().getI32Type());
  sums = e.scratch({e.index(mostRows + unitRows), e.index(panel)},
                   e.builder().getF32Type());
  // Rows that do not fill a register are multiplied with those before them.
  auto whole = getConstantIntValue(rows);
  bool isWhole = whole && *whole % unitRows == 0;
  auto atMost = [&](Value x, Value most) -> Value {
    return arith::MinUIOp::create(e.builder(), e.loc(), x, most);
  };
  auto getStart = [&](Value from) {
    return isWhole ? from : atMost(from, e.sub(rows, e.index(unitRows)));
  };
  auto forRows = [&](function_ref<LogicalResult(Value from)> body) {
    return e.loop(rows, e.index(unitRows), {},
                  [&](Value from, ValueRange) -> FailureOr<Carried> {
                    if (failed(body(from)))
                      return failure();
                    return Carried();
                  });
  };
  auto cleared = forRows([&](Value from) {
    e.setAxis(M, e.index(unitRows));
    return e.phase([&] {
      Value none = e.constant(e.builder().getF32FloatAttr(0), {M, N});
      return e.store({none, {M, N}}, sums, {{from, M}, {e.index(0), N}});
    });
  });
  if (failed(cleared))
    return failure();
  auto multiplied = e.loop(
      e.size(op.getRhs(), 0), e.index(count), {},
      [&](Value slice, ValueRange) -> FailureOr<Carried> {
        auto ready = e.loop(
            e.index(count), e.index(1), {},
            [&](Value own, ValueRange) -> FailureOr<Carried> {
              if (failed(unpack(e.add(slice, own),
                                e.mul(own, e.index(blockWords)), column)))
                return failure();
              return Carried();
            });
        if (failed(ready))
          return failure();
        return forRows([&](Value from) {
          return multiply(from, e.add(row, getStart(from)), column, slice);
        });
      });
  if (failed(multiplied))
    return failure();
  auto stored = forRows([&](Value from) {
    Value start = from;
    if (!isWhole)
      start = e.add(from,
                    atMost(e.sub(from, getStart(from)), e.index(unitRows - 1)));
    e.setAxis(M, e.index(unitRows));
    return e.phase([&]() -> LogicalResult {
      auto total = e.load(sums, {{start, M}, {e.index(0), N}});
      if (failed(total))
        return failure();
      DimRanges ranges{{e.add(row, from), M, 1, unsigned(rank - 1)},
                       {column, N}};
      e.define(op.getResult(), ranges, *total);
      return e.storeOutputs(op.getResult(), ranges);
    });
  });
  return success(succeeded(stored));
}

/// Blocks of four rows by four vectors of columns keep as many sums as there
/// are registers for, and few rows read each word once. Of an unknown number of
/// rows the run finds out whether it is one, which is a step of a decoder: it
/// is computed alone. Many rows are computed by the unit that multiplies
/// matrices, if there is one.
LogicalResult WordMatmul::emit() {
  const int64_t vectors = 4, byteBits = 8;
  int64_t rowsAtOnce = op.getPlanes() > 1 ? 2 : 4;
  Dims result = getDims(op.getResult());
  MLIRContext *context = op.getContext();
  AffineExpr m = product(context, ArrayRef<AffineExpr>(result).drop_back());
  int64_t columns = getKnown(result.back()), rows = e.getKnownRows(m),
          lanes = e.target.getVectorBytes() * byteBits / 32;
  panel = std::min<int64_t>(vectors * lanes, llvm::alignTo(columns, lanes));
  AffineExpr b, r, n;
  bindDims(context, b, r, n);
  e.pack(op.getRhs(),
         AffineMap::get(3, 0, {n.floorDiv(panel), b, r, n % panel}, context));
  bindDims(context, b, n);
  if (op.getZeros())
    e.pack(op.getZeros(),
           AffineMap::get(2, 0, {n.floorDiv(panel), b, n % panel}, context));
  e.setAxis(N, e.index(panel));
  Value count = e.size(m);
  if (!count)
    return failure();
  // Steps of rows: of a few programs, or of the unit's.
  bool hasUnit = findMatrixUnit();
  Value few = e.index(rows < 0 ? rowsAtOnce : std::min(rows, rowsAtOnce)),
        step = few, many;
  if (hasUnit && (rows < 0 || rows >= leastRows)) {
    Value parts = e.max(e.ceilDiv(count, e.index(mostRows)), e.index(1));
    many = e.mul(e.ceilDiv(e.ceilDiv(count, parts), e.index(unitRows)),
                 e.index(unitRows));
    Value areMany = e.min(e.div(count, e.index(leastRows)), e.index(1)); // or 0
    step = e.max(few, e.mul(many, areMany));
  }
  SmallVector<Value> ids = e.programIds(
      {e.ceilDiv(count, step), e.ceilDiv(e.index(columns), e.index(panel))});
  Value row = e.mul(ids[0], step), column = e.mul(ids[1], e.index(panel));
  // `from`: how many rows at least.
  auto emitBranches = [&](auto self, int64_t from) -> LogicalResult {
    OpBuilder &builder = e.builder();
    bool isLast = rows >= 0 || from > (many ? leastRows - 1 : 1);
    if (isLast && many) {
      auto whole = getConstantIntValue(step);
      Value own =
          whole && rows >= 0 && rows % *whole == 0
              ? step
              : arith::MinUIOp::create(builder, e.loc(), e.sub(count, row),
                                       whole ? step : e.index(mostRows));
      return emitMatrices(row, column, own);
    }
    auto emitFew = [&](Value blockRows) {
      return emitProgram(row, column, *getConstantIntValue(blockRows));
    };
    if (rows >= 0)
      return emitFew(few);
    if (isLast)
      return e.phase([&] { return emitFew(few); });
    bool single = from == 1;
    int64_t next = single ? 2 : leastRows;
    Value isFewer = arith::CmpIOp::create(
        builder, e.loc(), arith::CmpIPredicate::ult, count, e.index(next));
    auto branch = scf::IfOp::create(builder, e.loc(), isFewer,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    if (failed(e.phase(
            [&] { return emitProgram(row, column, single ? 1 : rowsAtOnce); })))
      return failure();
    builder.setInsertionPoint(branch.elseBlock()->getTerminator());
    return self(self, next);
  };
  return emitBranches(emitBranches, 1);
}

} // namespace

LogicalResult adze::emitWordMatmul(KernelEmitter &e, WordMatmulOp op,
                                   Tiling tiling) {
  if (tiling != Tiling::Flat)
    return e.fail("a product of words has a flat tiling only");
  return WordMatmul(e, op).emit();
}
