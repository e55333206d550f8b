// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Both ends of Winograd's convolution: a tile is one element of many patches of
// a row, for some channels; a patch is multiplied by sparse constant matrices.
#include "Dialect/Graph/IR/Winograd.h"
#include "Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {
enum Axis { Patch = 0, Channel = 1 };

/// Sums of tiles with constant factors.
class Combination {
public:
  Combination(KernelEmitter &e, Type element, ArrayRef<int> axes)
      : e(e), element(element), axes(axes) {}

  /// `matrix * x`. Rows that differ in signs only share their parts, as do
  /// columns.
  SmallVector<Value> multiply(const Winograd::Matrix &matrix,
                              ArrayRef<Value> x) {
    Winograd::Matrix rest = matrix;
    SmallVector<Value> terms(x);
    shareColumns(rest, terms);
    SmallVector<Value> result;
    for (size_t row = 0; row < rest.size(); ++row) {
      ArrayRef<double> self = rest[row];
      if (row + 1 == rest.size() || !isMirrored(self, rest[row + 1])) {
        result.push_back(sum(self, terms));
        continue;
      }
      SmallVector<double> equal(self.size()), opposite(self.size());
      for (size_t i = 0; i < self.size(); ++i)
        (self[i] == rest[row + 1][i] ? equal : opposite)[i] = self[i];
      Value x = sum(equal, terms), y = sum(opposite, terms);
      result.push_back(arith::AddFOp::create(e.builder(), e.loc(), x, y));
      result.push_back(arith::SubFOp::create(e.builder(), e.loc(), x, y));
      ++row;
    }
    return result;
  }

private:
  /// Equal up to signs, of which some are equal and some are not.
  static bool isMirrored(ArrayRef<double> x, ArrayRef<double> y) {
    bool equal = false, opposite = false;
    for (auto [a, b] : llvm::zip_equal(x, y)) {
      if (a == 0 && b == 0)
        continue;
      if (a != b && a != -b)
        return false;
      (a == b ? equal : opposite) = true;
    }
    return equal && opposite;
  }

  /// Neighbouring columns that are equal up to signs: their terms become the
  /// sum and the difference.
  void shareColumns(Winograd::Matrix &matrix, SmallVectorImpl<Value> &terms) {
    for (size_t column = 0; column + 1 < terms.size(); ++column) {
      SmallVector<double> x, y;
      for (auto &row : matrix) {
        x.push_back(row[column]);
        y.push_back(row[column + 1]);
      }
      if (!isMirrored(x, y))
        continue;
      Value first = terms[column], second = terms[column + 1];
      terms[column] =
          arith::AddFOp::create(e.builder(), e.loc(), first, second);
      terms[column + 1] =
          arith::SubFOp::create(e.builder(), e.loc(), first, second);
      for (auto &row : matrix) {
        bool ofSum = row[column] == row[column + 1];
        row[column + 1] = ofSum ? 0 : row[column];
        row[column] = ofSum ? row[column] : 0;
      }
      ++column;
    }
  }

  Value sum(ArrayRef<double> factors, ArrayRef<Value> terms) {
    OpBuilder &b = e.builder();
    Location loc = e.loc();
    // Terms without factors, then those with a sign only, then multiply-adds.
    auto order = [](double factor) {
      return factor == 1 ? 0 : factor == -1 ? 1 : 2;
    };
    SmallVector<std::pair<double, Value>> sorted;
    for (int rank : {0, 1, 2})
      for (auto [factor, term] : llvm::zip_equal(factors, terms))
        if (factor != 0 && order(factor) == rank)
          sorted.push_back({factor, term});
    Value result;
    for (auto [factor, term] : sorted) {
      if (result && order(factor) == 0) {
        result = arith::AddFOp::create(b, loc, result, term);
      } else if (result && order(factor) == 1) {
        result = arith::SubFOp::create(b, loc, result, term);
      } else if (order(factor) == 0) {
        result = term;
      } else {
        Value number = e.constant(b.getFloatAttr(element, factor), axes);
        result =
            result
                ? math::FmaOp::create(b, loc, term, number, result).getResult()
                : arith::MulFOp::create(b, loc, term, number).getResult();
      }
    }
    return result ? result : e.constant(b.getFloatAttr(element, 0), axes);
  }

  KernelEmitter &e;
  Type element;
  Axes axes;
};

/// A program: patches of one row of patches, some channels.
struct Patches {
  Winograd winograd;
  Value image, row; // points
  Place column, channel;
  Axes axes{Patch, Channel};
};

} // namespace

/// `dims`: [products, images, rows, columns, channels] of patches.
static FailureOr<Patches> makePatches(KernelEmitter &e,
                                      ArrayRef<AffineExpr> dims, int64_t tile) {
  constexpr int64_t maxColumns = 64, maxChannels = 128;
  Patches patches{Winograd(tile), {}, {}, {}, {}};
  SmallVector<Value> sizes;
  for (AffineExpr dim : dims) {
    sizes.push_back(e.size(dim));
    if (!sizes.back())
      return failure();
  }
  // A whole row is a fact: its border is at constant places then.
  int64_t columns = getKnown(dims[3]);
  Value blockP = columns > 0 && columns <= maxColumns
                     ? e.index(columns)
                     : e.param("BLOCK_P", chooseBlock(columns, maxColumns));
  Value blockN =
      e.param("BLOCK_N", chooseLanes(getKnown(dims[4]), maxChannels));
  e.setAxis(Patch, blockP);
  e.setAxis(Channel, blockN);
  SmallVector<Value> ids =
      e.programIds({e.ceilDiv(sizes[4], blockN), e.ceilDiv(sizes[3], blockP),
                    sizes[2], sizes[1]});
  patches.channel = {e.mul(ids[0], blockN), Channel, 1, 1};
  patches.column = {e.mul(ids[1], blockP), Patch, 1, 1};
  patches.row = ids[2];
  patches.image = ids[3];
  return patches;
}

/// The places of product i of the patches.
static Places getProduct(KernelEmitter &e, const Patches &patches, int64_t i) {
  return {{e.index(i), -1, 1, 1},
          {patches.image, -1, 1, 1},
          {patches.row, -1, 1, 1},
          patches.column,
          patches.channel};
}

/// The places of pixel (i, j) of the patches, `shift` pixels before them.
static Places getPixel(KernelEmitter &e, const Patches &patches, int64_t i,
                       int64_t j, ArrayRef<int64_t> shift) {
  Value tile = e.index(patches.winograd.tile);
  Value row = e.add(e.mul(patches.row, tile), e.index(i - shift[0]));
  Value column =
      e.add(e.mul(patches.column.offset, tile), e.index(j - shift[1]));
  return {{patches.image, -1, 1, 1},
          {row, -1, 1, 1},
          {column, Patch, patches.winograd.tile, 1},
          patches.channel};
}

/// `matrix * x * transposed matrix`; x is square, row after row.
static SmallVector<Value> multiplyBoth(Combination &combination,
                                       const Winograd::Matrix &matrix,
                                       ArrayRef<Value> x) {
  size_t size = matrix.front().size(), count = matrix.size();
  SmallVector<SmallVector<Value>> rows; // [size][count]
  for (size_t i = 0; i < size; ++i)
    rows.push_back(combination.multiply(matrix, x.slice(i * size, size)));
  SmallVector<Value> result(count * count);
  for (size_t j = 0; j < count; ++j) {
    SmallVector<Value> column;
    for (size_t i = 0; i < size; ++i)
      column.push_back(rows[i][j]);
    for (auto [i, value] :
         llvm::enumerate(combination.multiply(matrix, column)))
      result[i * count + j] = value;
  }
  return result;
}

LogicalResult adze::emitWinogradInput(KernelEmitter &e, WinogradInputOp op,
                                      Cut cut) {
  if (cut != Cut::Dims)
    return e.fail("patches keep their dims");
  auto patches = makePatches(e, getDims(op.getResult()), op.getTile());
  if (failed(patches))
    return failure();
  const Winograd &winograd = patches->winograd;
  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  Type type = getAccumulatorType(element);
  SmallVector<Value> x;
  for (int64_t i = 0; i < winograd.size * winograd.size; ++i) {
    auto pixel =
        e.emit(op.getInput(), getPixel(e, *patches, i / winograd.size,
                                       i % winograd.size, op.getPads()));
    if (failed(pixel))
      return failure();
    x.push_back(e.broadcast(e.convert(*pixel, type), patches->axes));
  }
  Combination combination(e, type, patches->axes);
  for (auto [i, value] :
       llvm::enumerate(multiplyBoth(combination, winograd.input, x))) {
    Places places = getProduct(e, *patches, i);
    e.define(op.getResult(), places,
             e.convert({value, patches->axes}, element));
    if (failed(e.storeOutputs(op.getResult(), places)))
      return failure();
  }
  return success();
}

LogicalResult adze::emitWinogradOutput(KernelEmitter &e, WinogradOutputOp op,
                                       Cut cut) {
  if (cut != Cut::Dims)
    return e.fail("patches keep their dims");
  auto patches = makePatches(e, getDims(op.getInput()), op.getTile());
  if (failed(patches))
    return failure();
  const Winograd &winograd = patches->winograd;
  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  Type type = getAccumulatorType(element);
  SmallVector<Value> x;
  for (int64_t i = 0; i < winograd.size * winograd.size; ++i) {
    auto product = e.emit(op.getInput(), getProduct(e, *patches, i));
    if (failed(product))
      return failure();
    x.push_back(e.broadcast(e.convert(*product, type), patches->axes));
  }
  Combination combination(e, type, patches->axes);
  for (auto [i, value] :
       llvm::enumerate(multiplyBoth(combination, winograd.output, x))) {
    Places places =
        getPixel(e, *patches, i / winograd.tile, i % winograd.tile, {0, 0});
    e.define(op.getResult(), places,
             e.convert({value, patches->axes}, element));
    if (failed(e.storeOutputs(op.getResult(), places)))
      return failure();
  }
  return success();
}
