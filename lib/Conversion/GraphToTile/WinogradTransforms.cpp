// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The transforms of Winograd's algorithm: sums of tiles with constant factors,
// and kernels of one transform.
#include "WinogradTransforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// Sums of tiles with constant factors.
class Combination {
public:
  Combination(KernelEmitter &e, Type element, ArrayRef<int> axes)
      : e(e), element(element), axes(axes) {}

  /// Computes `matrix * x`. Rows that differ only in signs share their terms,
  /// as do columns.
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
  /// Returns true if the rows are equal up to signs, of which some are equal
  /// and some are not.
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

  /// Merges adjacent columns that are equal up to signs: their terms become the
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
    // Orders terms without factors first, then those with a sign only, then
    // multiply-adds.
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

} // namespace

SmallVector<Value> adze::multiplyBoth(KernelEmitter &e, Type element,
                                      ArrayRef<int> axes,
                                      const Winograd::Matrix &matrix,
                                      ArrayRef<Value> x) {
  Combination combination(e, element, axes);
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

namespace {

/// Patches of a row, and channels; or the input and output channels of a
/// filter.
enum Axis { Patch = 0, Channel = 1 };

/// Emits kernels whose programs transform a block of patches of one row of an
/// image, and a block of their channels. Each thread has all elements of a
/// patch.
class TransformEmitter {
public:
  TransformEmitter(KernelEmitter &e, Operation *op, int64_t tile)
      : e(e), winograd(tile),
        element(getSignlessType(getElementTypeOrSelf(op->getResult(0)))),
        type(getAccumulatorType(element)) {}

  LogicalResult emitInput(WinogradInputOp op) {
    if (failed(setUp(op.getResult())))
      return failure();
    SmallVector<Value> x;
    for (int64_t i = 0; i < winograd.size * winograd.size; ++i)
      if (failed(add(
              x, op.getInput(),
              getPixel(i / winograd.size, i % winograd.size, op.getPads()))))
        return failure();
    return store(op.getResult(), winograd.input, x,
                 [&](int64_t i) { return getPlace(i); });
  }

  LogicalResult emitOutput(WinogradOutputOp op) {
    if (failed(setUp(op.getProducts())))
      return failure();
    SmallVector<Value> x;
    for (int64_t i = 0; i < winograd.size * winograd.size; ++i)
      if (failed(add(x, op.getProducts(), getPlace(i))))
        return failure();
    return store(op.getResult(), winograd.output, x, [&](int64_t i) {
      return getPixel(i / winograd.tile, i % winograd.tile, {0, 0});
    });
  }

  LogicalResult emitFilter(WinogradFilterOp op) {
    constexpr int64_t rows = 4, columns = 64;
    Dims filter = getDims(op.getFilter());
    Value outputs = e.size(filter[0]), inputs = e.size(filter[1]);
    if (!outputs || !inputs)
      return failure();
    Value blockI = e.param("INPUTS", rows),
          blockO =
              e.param("OUTPUTS", chooseLanes(getKnown(filter[0]), columns));
    e.setAxis(Patch, blockI);
    e.setAxis(Channel, blockO);
    MLIRContext *context = op.getContext();
    // [window, inputs, outputs]
    e.pack(op.getFilter(), AffineMap::getPermutationMap(
                               ArrayRef<unsigned>{2, 3, 1, 0}, context));
    SmallVector<Value> ids =
        e.programIds({e.ceilDiv(outputs, blockO), e.ceilDiv(inputs, blockI)});
    DimRange output{e.mul(ids[0], blockO), Channel, 1, 1},
        input{e.mul(ids[1], blockI), Patch, 1, 1};
    SmallVector<Value> x;
    for (int64_t i = 0; i < Winograd::window; ++i)
      if (failed(add(x, op.getFilter(),
                     {output,
                      input,
                      {e.index(i / Winograd::taps), -1, 1, 1},
                      {e.index(i % Winograd::taps), -1, 1, 1}})))
        return failure();
    return store(op.getResult(), winograd.filter, x, [&](int64_t i) {
      return DimRanges{{e.index(i), -1, 1, 1}, input, output};
    });
  }

private:
  /// Chooses the blocks of patches, which are [places, images, rows, columns,
  /// channels], and sets the position of the program.
  LogicalResult setUp(Value patches) {
    constexpr int64_t lanes = 64, elements = 256;
    Dims dims = getDims(patches);
    Value images = e.size(dims[1]), rows = e.size(dims[2]),
          columns = e.size(dims[3]), channels = e.size(dims[4]);
    if (!images || !rows || !columns || !channels)
      return failure();
    int64_t blockSize = chooseLanes(getKnown(dims[4]), lanes),
            inRow = getConstant(dims[3]).value_or(elements);
    Value blockP = e.param("PATCHES",
                           std::clamp<int64_t>(elements / blockSize, 1,
                                               std::max<int64_t>(inRow, 1))),
          blockC = e.param("CHANNELS", blockSize);
    e.setAxis(Patch, blockP);
    e.setAxis(Channel, blockC);
    SmallVector<Value> ids =
        e.programIds({e.ceilDiv(channels, blockC), e.ceilDiv(columns, blockP),
                      e.mul(rows, images)});
    channel = {e.mul(ids[0], blockC), Channel, 1, 1};
    column = e.mul(ids[1], blockP);
    image = e.div(ids[2], rows);
    row = e.rem(ids[2], rows);
    return success();
  }

  /// Returns the ranges of pixel (i, j) of the patches, `shift` pixels before
  /// them.
  DimRanges getPixel(int64_t i, int64_t j, ArrayRef<int64_t> shift) {
    Value tile = e.index(winograd.tile),
          y = e.add(e.mul(row, tile), e.index(i - shift[0])),
          x = e.add(e.mul(column, tile), e.index(j - shift[1]));
    return {{image, -1, 1, 1},
            {y, -1, 1, 1},
            {x, Patch, winograd.tile, 1},
            channel};
  }

  /// Returns the ranges of place i of the patches.
  DimRanges getPlace(int64_t i) {
    return {{e.index(i), -1, 1, 1},
            {image, -1, 1, 1},
            {row, -1, 1, 1},
            {column, Patch, 1, 1},
            channel};
  }

  LogicalResult add(SmallVectorImpl<Value> &x, Value from,
                    const DimRanges &ranges) {
    auto tile = e.emit(from, ranges);
    if (failed(tile))
      return failure();
    x.push_back(e.broadcast(e.convert(*tile, type), {Patch, Channel}));
    return success();
  }

  /// Transforms the tiles and stores them to the ranges of each.
  LogicalResult store(Value result, const Winograd::Matrix &matrix,
                      ArrayRef<Value> x,
                      function_ref<DimRanges(int64_t)> getRanges) {
    for (auto [i, value] :
         llvm::enumerate(multiplyBoth(e, type, {Patch, Channel}, matrix, x))) {
      DimRanges ranges = getRanges(i);
      e.define(result, ranges, e.convert({value, {Patch, Channel}}, element));
      if (failed(e.storeOutputs(result, ranges)))
        return failure();
    }
    return success();
  }

  KernelEmitter &e;
  Winograd winograd;
  Type element, type;
  DimRange channel;
  Value image, row, column; ///< of the first patch
};

} // namespace

LogicalResult adze::emitWinogradTransform(KernelEmitter &e, Operation *op,
                                          Tiling tiling) {
  if (tiling != Tiling::Dims)
    return e.fail("a Winograd transform has a tiling by dims only");
  if (auto input = dyn_cast<WinogradInputOp>(op))
    return TransformEmitter(e, op, input.getTile()).emitInput(input);
  if (auto filter = dyn_cast<WinogradFilterOp>(op))
    return TransformEmitter(e, op, filter.getTile()).emitFilter(filter);
  auto output = cast<WinogradOutputOp>(op);
  return TransformEmitter(e, op, output.getTile()).emitOutput(output);
}
