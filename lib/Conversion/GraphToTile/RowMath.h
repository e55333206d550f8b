// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of kernels on rows: the ranges of the rows, and arithmetic on
// tiles of them.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_ROWMATH_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_ROWMATH_H

#include "Families.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace adze {

/// The ranges of the reduced dims, and the blocks around them.
struct Rows {
  mlir::Value result;
  unsigned first, end; // the reduced dims
  DimRanges ranges;
  int reduced; // its axis
  Axes axes, kept;
  mlir::AffineExpr length;   // of the range of the row
  mlir::AffineExpr elements; // of the row
  bool chunked = false;      // longer than a tile, or of dynamic length
  bool inner = false;        // dims follow the row: lanes are along these
  unsigned rowPart = 0;      // index of the range of the row
  /// The range of the first reduced dim, if the row is a line of the others for
  /// each of its positions.
  std::optional<unsigned> linePart = std::nullopt;
};

/// One of the two loops over a row in chunks: whole chunks, which need no mask,
/// or the remainder.
struct RowWalk {
  mlir::Value chunk, begin, length, end; // no end: all elements are valid
  bool isTail = false;

  mlir::Value range(KernelEmitter &e, mlir::Value iv) const {
    bool fromStart = mlir::getConstantIntValue(begin) == 0;
    return fromStart ? iv : e.add(begin, iv);
  }
};
/// Returns loops over `chunk` elements at once, and then over `least`.
llvm::SmallVector<RowWalk> walkRow(KernelEmitter &e, mlir::AffineExpr length,
                                   mlir::Value chunk, mlir::Value least);
/// The same, where the first number is a parameter.
llvm::SmallVector<RowWalk> walkRow(KernelEmitter &e, mlir::AffineExpr length,
                                   int64_t chunk, int64_t least);

/// Arithmetic on whole tiles, and on tiles without the reduced axis.
class RowMath {
public:
  RowMath(KernelEmitter &e, Rows &rows, mlir::Type type)
      : e(e), rows(rows), type(type), b(e.builder()), loc(e.loc()) {}

  mlir::Value reduce(graph::Combiner combiner, mlir::Value tile,
                     bool nnan = false) {
    return e.reduce(combiner, type, {tile, rows.axes}, rows.reduced, nnan)
        .value;
  }
  mlir::Value spread(mlir::Value kept) {
    return e.broadcast({kept, rows.kept}, rows.axes);
  }
  mlir::Value number(double value) {
    return e.constant(b.getFloatAttr(type, value), rows.kept);
  }
  /// Returns the mean of each row.
  mlir::Value mean(mlir::Value tile) {
    return divideByLength(reduce(graph::Combiner::Add, tile));
  }
  mlir::Value divideByLength(mlir::Value sum) {
    int64_t known = getKnown(rows.elements);
    if (known > 0)
      return mlir::arith::DivFOp::create(b, loc, sum, number(double(known)));
    mlir::Value integer = mlir::arith::IndexCastOp::create(
        b, loc, b.getI64Type(), e.size(rows.elements));
    mlir::Value count = mlir::arith::SIToFPOp::create(b, loc, type, integer);
    return mlir::arith::DivFOp::create(b, loc, sum,
                                       e.broadcast({count, {}}, rows.kept));
  }
  /// Returns 1 / sqrt(x + epsilon).
  mlir::Value inverseRoot(mlir::Value x, double epsilon) {
    mlir::Value sum = mlir::arith::AddFOp::create(b, loc, x, number(epsilon));
    mlir::Value root = mlir::math::SqrtOp::create(b, loc, sum);
    return mlir::arith::DivFOp::create(b, loc, number(1.0), root);
  }

  KernelEmitter &e;
  Rows &rows;
  mlir::Type type;
  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Multiplies by or adds an operand that is broadcast to the rows, if there is
/// one.
template <typename OpT>
mlir::FailureOr<mlir::Value> applyOperand(RowMath &m, mlir::Value tile,
                                          mlir::Value operand) {
  if (!operand)
    return tile;
  auto where = m.e.mapRanges(
      m.rows.ranges, m.rows.result, operand,
      KernelEmitter::alignRight(graph::getDims(operand).size(),
                                graph::getDims(m.rows.result).size()));
  if (failed(where))
    return mlir::failure();
  auto other = m.e.emit(operand, *where);
  if (failed(other))
    return mlir::failure();
  mlir::Value wide = m.e.broadcast(m.e.convert(*other, m.type), m.rows.axes);
  return mlir::Value(OpT::create(m.b, m.loc, tile, wide));
}

/// Emits rows that are longer than a tile, or of dynamic length.
mlir::LogicalResult emitChunkedRows(RowMath &m, mlir::Operation *op);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_ROWMATH_H
