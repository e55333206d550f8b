// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Fourier transforms, as products with the matrix of their factors: O(n^2),
// but any length, and as fast as matrix products are. Complex numbers are a
// last dim of two.
#include "../OpTable.h"
#include "Arithmetic.h"
#include <cmath>

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// A signal as [outer.., length, 1 or 2], transformed along `length`.
class Transform {
public:
  Transform(Binder &b, bool inverse, bool onesided)
      : b(b), a(b), inverse(inverse), onesided(onesided) {}

  /// `count`: the length as an i64 scalar, `length` the same as a dim.
  Value run(Value signal, AffineExpr length, Value count);

private:
  Value fit(Value signal, AffineExpr length);
  Value component(Value signal, int64_t i);
  std::pair<Value, Value> getFactors(mlir::Type type, AffineExpr rows,
                                     Value numRows, AffineExpr columns,
                                     Value numColumns, Value count);

  Binder &b;
  Arithmetic a;
  bool inverse, onesided;
};

/// Cut, or filled up with zeros.
Value Transform::fit(Value signal, AffineExpr length) {
  int64_t axis = b.getRank(signal) - 2;
  AffineExpr size = graph::getDims(signal)[axis];
  if (graph::areEqual(size, length))
    return signal;
  auto missing = graph::getConstant(graph::subExprs(length, size));
  if (!missing) {
    (void)b.unsupported("expected a dft_length that is known beside the "
                        "signal's length");
    return {};
  }
  llvm::SmallVector<int64_t> low(axis + 2, 0), high(axis + 2, 0);
  high[axis] = *missing;
  return b.create<graph::PadOp>(signal,
                                {b.attr("low", low), b.attr("high", high)});
}

/// Real or imaginary part, without the last dim.
Value Transform::component(Value signal, int64_t i) {
  Value part = b.slice(signal, b.getRank(signal) - 1, i, b.expr(1));
  if (!part)
    return {};
  Dims dims = graph::getDims(part);
  dims.pop_back();
  return b.reshape(part, dims);
}

/// cos and sin of 2 pi r c / count for all rows r and columns c. Angles are
/// reduced as integers, so that they are exact for any length.
std::pair<Value, Value> Transform::getFactors(mlir::Type type, AffineExpr rows,
                                              Value numRows, AffineExpr columns,
                                              Value numColumns, Value count) {
  Value product = a.mul(b.unsqueeze(a.range(rows, numRows), {1}),
                        a.range(columns, numColumns));
  mlir::Type f64 = b.builder.getF64Type();
  Value turns = a.div(b.cast(a.mod(product, count), f64), b.cast(count, f64));
  Value angle = a.mul(turns, 2 * M_PI);
  return {b.cast(a.cos(angle), type), b.cast(a.sin(angle), type)};
}

Value Transform::run(Value signal, AffineExpr length, Value count) {
  if (!signal || !length || !count)
    return {};
  // Half of the spectrum is in or out.
  AffineExpr half =
      graph::addExprs(graph::floorDivExprs(length, b.expr(2)), b.expr(1));
  Value numHalf = a.add(a.div(count, 2.0), 1.0);
  AffineExpr rows = inverse && onesided ? half : length;
  AffineExpr columns = !inverse && onesided ? half : length;
  Value numRows = inverse && onesided ? numHalf : count;
  Value numColumns = !inverse && onesided ? numHalf : count;
  signal = fit(signal, rows);
  if (!signal)
    return {};
  mlir::Type type = b.getElementType(signal);
  // Long sums lose what fast algorithms do not: so they are in f64.
  mlir::Type wide = b.builder.getF64Type();
  signal = b.cast(signal, wide);
  bool isComplex =
      graph::getConstant(graph::getDims(signal).back()).value_or(1) == 2;
  auto [cos, sin] = getFactors(wide, rows, numRows, columns, numColumns, count);
  Value real = component(signal, 0);
  Value imaginary = isComplex ? component(signal, 1) : Value();
  if (inverse && onesided) {
    // The other half of the spectrum mirrors this one: all but the first row,
    // and the middle one of an even length, count twice.
    Value index = a.range(rows, numRows);
    Value mirrored = a.sub(count, index);
    Value alone = a.either(a.equal(index, 0.0), a.equal(index, mirrored));
    Value weight =
        b.cast(a.select(alone, a.like(index, 1), a.like(index, 2)), wide);
    real = a.mul(real, weight);
    imaginary = imaginary ? a.mul(imaginary, weight) : Value();
  }
  // e^(-+ i angle) * (re + i im)
  Value resultReal = a.matmul(real, cos), resultImaginary = a.matmul(real, sin);
  if (!inverse)
    resultImaginary = a.neg(resultImaginary);
  if (imaginary) {
    Value crossed = a.matmul(imaginary, sin);
    resultReal =
        inverse ? a.sub(resultReal, crossed) : a.add(resultReal, crossed);
    resultImaginary = a.add(resultImaginary, a.matmul(imaginary, cos));
  }
  auto finish = [&](Value part) {
    if (inverse)
      part = a.div(part, b.cast(count, wide));
    return b.cast(a.withTail(part, 1), type);
  };
  if (inverse && onesided)
    return finish(resultReal);
  return a.concat({finish(resultReal), finish(resultImaginary)},
                  b.getRank(signal) - 1);
}

/// All dims in order, but these two at the end.
llvm::SmallVector<int64_t> moveToEnd(int64_t rank, int64_t axis) {
  llvm::SmallVector<int64_t> perm;
  for (int64_t i = 0; i + 1 < rank; ++i)
    if (i != axis)
      perm.push_back(i);
  perm.append({axis, rank - 1});
  return perm;
}

/// The transform along one axis; null after an error.
Value buildDFT(Binder &b, int64_t axis) {
  Arithmetic a(b);
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  if (axis == rank - 1) {
    (void)b.fail("expected an axis before the last dim of real and imaginary "
                 "parts");
    return {};
  }
  bool inverse = b.getInt("inverse", 0) != 0,
       onesided = b.getInt("onesided", 0) != 0;
  AffineExpr length = graph::getDims(x)[axis];
  Value count = a.size(x, axis);
  if (Value given = b.operand(1)) {
    auto elements = graph::getElements(given);
    if (!elements || elements->size() != 1) {
      (void)b.unsupported("expected a dft_length that the symbolic dims "
                          "determine");
      return {};
    }
    length = elements->front();
    if (!b.assumeNonNegative(graph::subExprs(length, b.expr(1)))) {
      (void)b.fail("expected a dft_length of at least 1");
      return {};
    }
    count = b.reshape(b.cast(given, b.builder.getI64Type()), {});
  } else if (inverse && onesided) {
    length = graph::mulExprs(graph::subExprs(length, b.expr(1)), b.expr(2));
    count = a.mul(a.sub(count, 1.0), 2.0);
  }
  // A vector is a matrix of one row.
  auto perm = moveToEnd(rank, axis);
  Value moved = b.transpose(x, perm);
  if (rank == 2)
    moved = b.unsqueeze(moved, {0});
  Value result = Transform(b, inverse, onesided).run(moved, length, count);
  if (result && rank == 2) {
    Dims dims = graph::getDims(result);
    dims.erase(dims.begin());
    result = b.reshape(result, dims);
  }
  llvm::SmallVector<int64_t> back(rank);
  for (auto [i, dim] : llvm::enumerate(perm))
    back[dim] = i;
  return result ? b.transpose(result, back) : Value();
}

LogicalResult importDFT(Binder &b) {
  int64_t rank = b.getRank(b.operand(0));
  if (rank < 2)
    return b.fail("expected an input of at least 2 dims, but got " +
                  llvm::Twine(rank) + "-D");
  Value result;
  if (b.version() >= 20 && b.operand(2)) {
    // Which axis may be known to the run only, where all give one shape.
    bool changes = b.operand(1) || b.getInt("onesided", 0) != 0;
    if (changes && !b.getConstantInt(2))
      return mlir::failure();
    result = Arithmetic(b).alongOperand(
        2, rank, rank - 1, [&](int64_t axis) { return buildDFT(b, axis); });
  } else {
    int64_t axis = b.version() < 20 ? b.getInt("axis", 1) : -2;
    axis = b.normalizeAxis(axis, rank);
    if (!b.hasFailed())
      result = buildDFT(b, axis);
  }
  if (!result && !b.hasFailed())
    return b.unsupported("expected dims that are known");
  return b.done(result);
}

/// Frames of the signal times a window, each transformed.
LogicalResult importSTFT(Binder &b) {
  Arithmetic a(b);
  Value signal = b.operand(0), window = b.operand(2);
  if (b.getRank(signal) != 3)
    return b.fail("expected a signal of 3 dims, but got " +
                  llvm::Twine(b.getRank(signal)));
  auto step = b.getConstantInt(1);
  if (!step)
    return mlir::failure();
  std::optional<int64_t> length;
  if (b.operand(3))
    length = b.getConstantInt(3);
  else if (window)
    length = graph::getConstant(graph::getDims(window)[0]);
  if (!length)
    return b.unsupported("expected a frame length that is constant");
  if (*step < 1 || *length < 1)
    return b.fail("expected a frame_step and a frame length of at least 1");
  AffineExpr samples = graph::getDims(signal)[1];
  AffineExpr rest = graph::subExprs(samples, b.expr(*length));
  if (!rest || !b.assumeNonNegative(rest))
    return b.fail("expected a signal of at least one frame");
  AffineExpr frames =
      graph::addExprs(graph::floorDivExprs(rest, b.expr(*step)), b.expr(1));
  Value count = a.add(
      a.div(a.sub(a.size(signal, 1), double(*length)), double(*step)), 1.0);
  Value places =
      a.add(b.unsqueeze(a.mul(a.range(frames, count), double(*step)), {1}),
            a.iota(*length));
  Value framed = a.gather(signal, places, 1); // [B, frames, length, parts]
  if (window)
    framed = a.mul(framed, b.unsqueeze(window, {1}));
  return b.done(Transform(b, /*inverse=*/false, b.getInt("onesided", 1) != 0)
                    .run(framed, b.expr(*length),
                         b.scalar(b.builder.getI64Type(), double(*length))));
}

/// Triangles between points that are equally far apart on the mel scale.
LogicalResult importMelWeightMatrix(Binder &b) {
  auto bins = b.getConstantInt(0), length = b.getConstantInt(1),
       rate = b.getConstantInt(2);
  auto low = b.getConstantFloat(3), high = b.getConstantFloat(4);
  if (!bins || !length || !rate || !low || !high)
    return mlir::failure();
  mlir::Type type =
      getElementType(b.builder.getContext(), b.getInt("output_datatype", 1));
  if (!type || *bins < 1 || *length < 1 || *bins > 65536 || *length > 1 << 24)
    return b.fail("expected num_mel_bins and dft_length of at least 1, and an "
                  "output_datatype that Adze supports");
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double start = mel(*low), step = (mel(*high) - start) / double(*bins + 2);
  llvm::SmallVector<int64_t> points;
  for (int64_t i = 0; i < *bins + 2; ++i) {
    double hertz =
        700 * (std::pow(10.0, (start + double(i) * step) / 2595) - 1);
    points.push_back(
        int64_t(std::floor(double(*length + 1) * hertz / double(*rate))));
  }
  int64_t rows = *length / 2 + 1;
  std::vector<float> weights(rows * *bins, 0.0f);
  for (int64_t bin = 0; bin < *bins; ++bin) {
    int64_t left = points[bin], centre = points[bin + 1],
            right = points[bin + 2];
    auto at = [&](int64_t row) -> float & {
      return weights[row * *bins + bin];
    };
    if (centre == left && centre >= 0 && centre < rows)
      at(centre) = 1;
    for (int64_t i = std::max<int64_t>(left, 0);
         i <= std::min(centre, rows - 1) && centre != left; ++i)
      at(i) = float(double(i - left) / double(centre - left));
    for (int64_t i = std::max<int64_t>(centre, 0); i < std::min(right, rows);
         ++i)
      at(i) = float(double(right - i) / double(right - centre));
  }
  auto f32 = mlir::RankedTensorType::get({rows, *bins}, b.builder.getF32Type());
  auto bytes = llvm::ArrayRef(reinterpret_cast<const char *>(weights.data()),
                              weights.size() * sizeof(float));
  auto elements =
      graph::makeElements(f32, bytes, [&] { return mlir::emitError(b.loc); });
  if (mlir::failed(elements))
    return mlir::failure();
  return b.done(b.cast(b.constant(*elements), type));
}

} // namespace

void adze::importer::addSignalOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(), {
                              {"DFT", 17, 1, importDFT},
                              {"MelWeightMatrix", 17, 5, importMelWeightMatrix,
                               "parameters that are not constant"},
                              {"STFT", 17, 2, importSTFT},
                          });
}
