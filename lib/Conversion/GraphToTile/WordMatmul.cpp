// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of operands that are quantized by blocks of the depth: exact sums of
// a block in integers, scaled into f32 sums that a program keeps in registers.
#include "Convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// One kernel: what all of its programs share.
class WordMatmul {
public:
  WordMatmul(KernelEmitter &e, WordMatmulOp op)
      : e(e), op(op), rank(getRank(op.getResult())), bits(op.getBits()),
        parts(8 / bits), words(op.getBlockWords()) {}

  LogicalResult emit();

private:
  /// The program at `row` and `column`, with `blockRows` rows.
  LogicalResult emitProgram(Value row, Value column, int64_t blockRows);
  /// The sums of plane `plane` of a block, exact; `columns`: the words of the
  /// right operand.
  FailureOr<Value> sumPlane(int64_t plane, Value block, Value row,
                            Value columns, Value zeros);
  /// The elements of part `part` of words, each in a byte of its own.
  Value takePart(Value columns, int64_t part);
  Value number(int64_t value, ArrayRef<int> axes) {
    return e.constant(e.builder().getI32IntegerAttr(value), axes);
  }
  /// The rows of the left operand as one dim, then `more`.
  Places ofRow(Value row, ArrayRef<Place> more) {
    Places places{{row, M, 1, unsigned(rank - 1)}};
    places.append(more.begin(), more.end());
    return places;
  }
  static int64_t getRank(Value value) {
    return cast<RankedTensorType>(value.getType()).getRank();
  }

  KernelEmitter &e;
  WordMatmulOp op;
  int64_t rank, bits, parts, words;
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

FailureOr<Value> WordMatmul::sumPlane(int64_t plane, Value block, Value row,
                                      Value columns, Value zeros) {
  OpBuilder &b = e.builder();
  auto start = e.emitOn(op.getStarts(),
                        ofRow(row, {{block, -1}, {e.index(plane), -1}}), {M});
  if (failed(start))
    return failure();
  Value sum = e.broadcast({*start, {M}}, {M, N});
  if (zeros)
    sum = arith::MulIOp::create(b, e.loc(), sum, zeros);
  auto product = tile::ProductAttr::get(
      b.getContext(), b.getIntegerType(8, true), b.getIntegerType(8, false),
      b.getIntegerType(32, true));
  for (int64_t part = 0; part < parts; ++part) {
    Value first = e.index(plane * words * parts + part);
    auto rows = e.emitOn(op.getLhs(),
                         ofRow(row, {{block, -1}, {first, K, parts}}), {M, K});
    if (failed(rows))
      return failure();
    sum = createDot(e, *rows, takePart(columns, part), sum, product);
  }
  return sum;
}

LogicalResult WordMatmul::emitProgram(Value row, Value column,
                                      int64_t blockRows) {
  OpBuilder &b = e.builder();
  e.setAxis(M, e.index(blockRows));
  Type f32 = b.getF32Type();
  Value none = e.constant(b.getF32FloatAttr(0), {M, N});
  auto total = e.loop(
      e.size(op.getRhs(), 0), e.index(1), none,
      [&](Value block, ValueRange sums) -> FailureOr<KernelEmitter::Carried> {
        Place at{block, -1}, columnPlace{column, N};
        auto columns =
            e.emitOn(op.getRhs(), {at, {e.index(0), K}, columnPlace}, {K, N});
        auto bits =
            e.emitOn(op.getRhs(), {at, {e.index(words), -1}, columnPlace}, {N});
        auto scales = e.emitOn(op.getScales(), ofRow(row, {at}), {M});
        if (failed(columns) || failed(bits) || failed(scales))
          return failure();
        Value zeros;
        if (op.getZeros()) {
          auto bytes = e.emitOn(op.getZeros(), {at, columnPlace}, {N});
          if (failed(bytes))
            return failure();
          Value wide = arith::ExtUIOp::create(
              b, e.loc(), e.tileType({N}, b.getI32Type()), *bytes);
          zeros = e.broadcast({wide, {N}}, {M, N});
        }
        // From the plane of the highest bits on.
        Value sum;
        for (int64_t plane = op.getPlanes(); plane-- > 0;) {
          auto exact = sumPlane(plane, block, row, *columns, zeros);
          if (failed(exact))
            return failure();
          Value more = arith::SIToFPOp::create(b, e.loc(),
                                               e.tileType({M, N}, f32), *exact);
          constexpr float base = 256;
          sum = sum ? math::FmaOp::create(
                          b, e.loc(), sum,
                          e.constant(b.getF32FloatAttr(base), {M, N}), more)
                          .getResult()
                    : more;
        }
        Value columnScales =
            arith::BitcastOp::create(b, e.loc(), e.tileType({N}, f32), *bits);
        Value both = arith::MulFOp::create(
            b, e.loc(), e.broadcast({columnScales, {N}}, {M, N}),
            e.broadcast({*scales, {M}}, {M, N}));
        return KernelEmitter::Carried{
            math::FmaOp::create(b, e.loc(), sum, both, sums[0])};
      });
  if (failed(total))
    return failure();
  Places places{{row, M, 1, unsigned(rank - 1)}, {column, N}};
  e.define(op.getResult(), places, {(*total)[0], {M, N}});
  return e.storeOutputs(op.getResult(), places);
}

/// Blocks of four rows by four vectors of columns keep as many sums as there
/// are registers for, and few rows read each word once. Of an unknown number of
/// rows the run finds out whether it is one, which is a step of a decoder: it
/// is computed alone.
LogicalResult WordMatmul::emit() {
  const int64_t vectors = 4, byteBits = 8;
  int64_t rowsAtOnce = op.getPlanes() > 1 ? 2 : 4;
  Dims result = getDims(op.getResult());
  MLIRContext *context = op.getContext();
  AffineExpr m = product(context, ArrayRef<AffineExpr>(result).drop_back());
  int64_t columns = getKnown(result.back()), rows = e.getKnownRows(m),
          lanes = e.target.getVectorBytes() * byteBits / 32,
          panel =
              std::min<int64_t>(vectors * lanes, llvm::alignTo(columns, lanes)),
          blockRows = rows < 0 ? rowsAtOnce : std::min(rows, rowsAtOnce);
  AffineExpr b, r, n;
  bindDims(context, b, r, n);
  e.pack(op.getRhs(),
         AffineMap::get(3, 0, {n.floorDiv(panel), b, r, n % panel}, context));
  bindDims(context, b, n);
  if (op.getZeros())
    e.pack(op.getZeros(),
           AffineMap::get(2, 0, {n.floorDiv(panel), b, n % panel}, context));
  e.setAxis(M, e.index(blockRows));
  e.setAxis(K, e.index(words));
  e.setAxis(N, e.index(panel));
  Value count = e.size(m);
  if (!count)
    return failure();
  SmallVector<Value> ids =
      e.programIds({e.ceilDiv(count, e.index(blockRows)),
                    e.ceilDiv(e.index(columns), e.index(panel))});
  Value row = e.mul(ids[0], e.index(blockRows)),
        column = e.mul(ids[1], e.index(panel));
  if (rows >= 0)
    return emitProgram(row, column, blockRows);
  Value isOne = arith::CmpIOp::create(
      e.builder(), e.loc(), arith::CmpIPredicate::eq, count, e.index(1));
  auto branch = scf::IfOp::create(e.builder(), e.loc(), isOne,
                                  /*withElseRegion=*/true);
  for (bool single : {true, false}) {
    OpBuilder::InsertionGuard guard(e.builder());
    e.builder().setInsertionPoint(
        (single ? branch.thenBlock() : branch.elseBlock())->getTerminator());
    if (failed(e.phase(
            [&] { return emitProgram(row, column, single ? 1 : blockRows); })))
      return failure();
  }
  return success();
}

} // namespace

LogicalResult adze::emitWordMatmul(KernelEmitter &e, WordMatmulOp op, Cut cut) {
  if (cut != Cut::Flat)
    return e.fail("no other tiling of a product of words");
  return WordMatmul(e, op).emit();
}
