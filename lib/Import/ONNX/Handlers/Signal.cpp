// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Fourier transforms as products with matrices of their factors. A known length
// that is a product of two takes two steps with small matrices (Cooley and
// Tukey, "An algorithm for the machine calculation of complex Fourier series",
// 1965); others take one with the whole matrix, O(n^2). Complex numbers are a
// last dim of two.
#include "../OpTable.h"
#include "../Sizes.h"
#include "Arithmetic.h"
#include "Ml.h"
#include <cmath>

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// A signal [outer.., length, 1 or 2], transformed along `length`.
class Transform {
public:
  Transform(Binder &b, bool inverse, bool onesided)
      : b(b), a(b), inverse(inverse), onesided(onesided) {}

  /// `count` is the length as an i64 scalar, `length` the same as a dim.
  Value run(Value signal, AffineExpr length, Value count);

private:
  /// `outer` times `inner` elements.
  struct Split {
    int64_t outer, inner, columns; // columns: of the second matrix, complex
  };
  std::optional<Split> chooseSplit(AffineExpr length);
  Value runSplit(Value signal, const Split &split);
  Value getFirstFactors(const Split &split, bool ofImaginary, mlir::Type type);
  Value getTwiddles(const Split &split, bool ofOther, mlir::Type type);
  Value getSecondFactors(const Split &split, mlir::Type type);
  double cosOf(int64_t i, int64_t count) {
    return std::cos(2 * M_PI * double(i % count) / double(count));
  }
  /// Returns the imaginary part of a factor whose real part is cosOf.
  double sinOf(int64_t i, int64_t count) {
    double sin = std::sin(2 * M_PI * double(i % count) / double(count));
    return inverse ? sin : -sin;
  }

  Value fit(Value signal, AffineExpr length, Value count);
  Value getImaginary(Value signal);
  Value component(Value signal, int64_t i);
  std::pair<Value, Value> getFactors(mlir::Type type, AffineExpr rows,
                                     Value numRows, AffineExpr columns,
                                     Value numColumns, Value count);

  Binder &b;
  Arithmetic a;
  bool inverse, onesided;
};

/// Crops, or pads with zeros.
Value Transform::fit(Value signal, AffineExpr length, Value count) {
  int64_t axis = b.getRank(signal) - 2;
  AffineExpr size = graph::getDims(signal)[axis];
  if (graph::areEqual(size, length))
    return signal;
  if (auto missing = graph::getConstant(graph::subExprs(length, size))) {
    llvm::SmallVector<int64_t> low(axis + 2, 0), high(axis + 2, 0);
    high[axis] = *missing;
    return b.create<graph::PadOp>(signal,
                                  {b.attr("low", low), b.attr("high", high)});
  }
  Value last = a.sub(a.size(signal, axis), 1.0), at = a.range(length, count);
  Value found = a.gather(signal, a.max(a.min(at, last), 0.0), axis);
  return a.select(a.withTail(a.lessEqual(at, last), 1), found, 0.0);
}

/// Returns null if there is no imaginary part, and zeros if there is none at
/// run time.
Value Transform::getImaginary(Value signal) {
  int64_t last = b.getRank(signal) - 1;
  if (auto parts = graph::getConstant(graph::getDims(signal)[last]))
    return *parts == 2 ? component(signal, 1) : Value();
  Value after = a.sub(a.size(signal, last), 1.0);
  Value part = a.gather(signal, a.max(a.min(after, 1.0), 0.0), last);
  return a.select(a.equal(after, 1.0), part, 0.0);
}

/// Returns the real or imaginary part, without the last dim.
Value Transform::component(Value signal, int64_t i) {
  Value part = b.slice(signal, b.getRank(signal) - 1, i, b.expr(1));
  if (!part)
    return {};
  Dims dims = graph::getDims(part);
  dims.pop_back();
  return b.reshape(part, dims);
}

/// Returns cos and sin of 2 pi r c / count for all rows r and columns c. Angles
/// are reduced as integers, so that they are exact for any length.
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

/// Returns the cheapest split of a known length, if it is cheaper than one
/// step, which multiplies doubles at twice the cost.
std::optional<Transform::Split> Transform::chooseSplit(AffineExpr length) {
  auto known = graph::getConstant(length);
  if (!known || (inverse && onesided))
    return std::nullopt;
  int64_t count = *known, wanted = onesided ? count / 2 + 1 : count;
  // The matrices of the longest length take some megabytes.
  constexpr int64_t shortest = 64, longest = int64_t(1) << 20;
  if (count < shortest || count > longest)
    return std::nullopt;
  int64_t least = 2 * count * wanted;
  std::optional<Split> best;
  for (int64_t outer = 2; outer * 2 <= count; ++outer) {
    if (count % outer != 0)
      continue;
    int64_t inner = count / outer, columns = (wanted - 1) / outer + 1;
    int64_t cost = 2 * outer * count + 4 * count * columns;
    if (cost < least) {
      least = cost;
      best = Split{outer, inner, columns};
    }
  }
  return best;
}

/// Rows are the outer frequencies, real and imaginary; columns are the outer
/// positions of a part of the signal.
Value Transform::getFirstFactors(const Split &split, bool ofImaginary,
                                 mlir::Type type) {
  std::vector<double> factors;
  for (int64_t frequency = 0; frequency < split.outer; ++frequency)
    for (bool imaginary : {false, true})
      for (int64_t at = 0; at < split.outer; ++at) {
        double cos = cosOf(frequency * at, split.outer),
               sin = sinOf(frequency * at, split.outer);
        factors.push_back(ofImaginary ? (imaginary ? cos : -sin)
                                      : (imaginary ? sin : cos));
      }
  return makeTable(b, type, factors, {2 * split.outer, split.outer});
}

/// Returns the factors between the two steps for a part of a number and, with
/// `ofOther`, for its other part: [outer frequencies, part, positions].
Value Transform::getTwiddles(const Split &split, bool ofOther,
                             mlir::Type type) {
  int64_t count = split.outer * split.inner;
  std::vector<double> factors;
  for (int64_t frequency = 0; frequency < split.outer; ++frequency)
    for (bool imaginary : {false, true})
      for (int64_t at = 0; at < split.inner; ++at) {
        double cos = cosOf(frequency * at, count),
               sin = sinOf(frequency * at, count);
        factors.push_back(!ofOther ? cos : imaginary ? sin : -sin);
      }
  return makeTable(b, type, factors, {split.outer, 2, split.inner});
}

/// Rows are the parts of the inner positions; columns are the inner
/// frequencies, real and imaginary.
Value Transform::getSecondFactors(const Split &split, mlir::Type type) {
  double scale = inverse ? 1.0 / double(split.outer * split.inner) : 1.0;
  std::vector<double> factors;
  for (bool ofImaginary : {false, true})
    for (int64_t at = 0; at < split.inner; ++at)
      for (int64_t frequency = 0; frequency < split.columns; ++frequency) {
        double cos = scale * cosOf(frequency * at, split.inner),
               sin = scale * sinOf(frequency * at, split.inner);
        factors.push_back(ofImaginary ? -sin : cos);
        factors.push_back(ofImaginary ? cos : sin);
      }
  return makeTable(b, type, factors, {2 * split.inner, 2 * split.columns});
}

/// Element n is at outer position n / inner and inner position n % inner;
/// frequency k is at outer frequency k % outer and inner frequency k / outer.
Value Transform::runSplit(Value signal, const Split &split) {
  mlir::Type type = b.getElementType(signal);
  mlir::Type wide = type.isF64() ? type : mlir::Type(b.builder.getF32Type());
  signal = b.cast(signal, wide);
  int64_t batch = b.getRank(signal) - 2;
  auto shaped = [&](Value value, llvm::ArrayRef<int64_t> sizes) {
    Dims dims = graph::getDims(signal);
    dims.resize(batch);
    for (int64_t size : sizes)
      dims.push_back(b.expr(size));
    return b.reshape(value, dims);
  };
  auto transformFirst = [&](Value part, bool isImaginary) {
    return a.matmul(getFirstFactors(split, isImaginary, wide),
                    shaped(part, {split.outer, split.inner}));
  };
  Value first = transformFirst(component(signal, 0), false);
  if (Value imaginary = getImaginary(signal))
    first = a.add(first, transformFirst(imaginary, true));
  Value parts = shaped(first, {split.outer, 2, split.inner});
  Value others = b.create<graph::ReverseOp>(
      parts, b.attr("axes", llvm::ArrayRef<int64_t>(batch + 1)));
  parts = a.add(a.mul(parts, getTwiddles(split, false, wide)),
                a.mul(others, getTwiddles(split, true, wide)));
  Value second = a.matmul(shaped(parts, {split.outer, 2 * split.inner}),
                          getSecondFactors(split, wide));
  second = shaped(second, {split.outer, split.columns, 2});
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, batch + 3));
  std::swap(perm[batch], perm[batch + 1]);
  Value all =
      shaped(b.transpose(second, perm), {split.columns * split.outer, 2});
  int64_t count = split.outer * split.inner;
  Value wanted =
      b.slice(all, batch, 0, b.expr(onesided ? count / 2 + 1 : count));
  return b.cast(wanted, type);
}

Value Transform::run(Value signal, AffineExpr length, Value count) {
  if (!signal || !length || !count)
    return {};
  if (auto split = chooseSplit(length)) {
    Value fitted = fit(signal, length, count);
    return fitted ? runSplit(fitted, *split) : Value();
  }
  // Half of the spectrum is the input or the result.
  AffineExpr half =
      graph::addExprs(graph::floorDivExprs(length, b.expr(2)), b.expr(1));
  Value numHalf = a.add(a.div(count, 2.0), 1.0);
  AffineExpr rows = inverse && onesided ? half : length;
  AffineExpr columns = !inverse && onesided ? half : length;
  Value numRows = inverse && onesided ? numHalf : count;
  Value numColumns = !inverse && onesided ? numHalf : count;
  signal = fit(signal, rows, numRows);
  if (!signal)
    return {};
  mlir::Type type = b.getElementType(signal);
  // Long sums lose precision, unlike fast algorithms, so they are computed in
  // f64.
  mlir::Type wide = b.builder.getF64Type();
  signal = b.cast(signal, wide);
  auto [cos, sin] = getFactors(wide, rows, numRows, columns, numColumns, count);
  Value real = component(signal, 0);
  Value imaginary = getImaginary(signal);
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
  // The result is e^(-+ i angle) * (re + i im).
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

/// Returns a permutation that moves these two dims to the end.
llvm::SmallVector<int64_t> moveToEnd(int64_t rank, int64_t axis) {
  llvm::SmallVector<int64_t> perm;
  for (int64_t i = 0; i + 1 < rank; ++i)
    if (i != axis)
      perm.push_back(i);
  perm.append({axis, rank - 1});
  return perm;
}

/// Creates the transform along one axis, with the given dft_length. Returns
/// null after an error.
Value buildDFT(Binder &b, int64_t axis, AffineExpr length, Value count) {
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
  if (!count) {
    length = graph::getDims(x)[axis];
    count = a.size(x, axis);
    if (inverse && onesided) {
      length = graph::mulExprs(graph::subExprs(length, b.expr(1)), b.expr(2));
      count = a.mul(a.sub(count, 1.0), 2.0);
    }
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

/// For a dynamic axis there is a branch for each axis, whose results may have
/// different shapes.
LogicalResult buildDFTByData(Binder &b, AffineExpr length, Value count) {
  Sizes s(b);
  int64_t rank = b.getRank(b.operand(0));
  Value axis = s.normalizeAxes(b.withLength(s.toVector(b.operand(2)), 1), rank);
  b.check(b.reshape(s.less(axis, s.number(rank - 1)), {}),
          "expected an axis before the last dim of real and imaginary parts");
  auto keys = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
  return b.done(b.choose(
      b.reshape(axis, {}), keys, [&](size_t i, Binder::Values &results) {
        results.push_back(buildDFT(b, keys[i], length, count));
        return mlir::failure(b.hasFailed());
      }));
}

LogicalResult importDFT(Binder &b) {
  int64_t rank = b.getRank(b.operand(0));
  if (rank < 2)
    return b.fail("expected an input of at least 2 dims, but got " +
                  llvm::Twine(rank) + "-D");
  AffineExpr length;
  Value count = Sizes(b).toVector(b.operand(1));
  if (count) {
    count = b.withLength(count, 1);
    Dims sizes = b.getSizes(count);
    if (b.hasFailed() ||
        !b.assumeNonNegative(graph::subExprs(sizes[0], b.expr(1))))
      return b.fail("expected a dft_length of at least 1");
    length = sizes[0];
    count = b.reshape(count, {});
  }
  bool isOperand = b.version() >= 20 && b.operand(2);
  if (isOperand && !graph::getConstantElements(b.operand(2)))
    return buildDFTByData(b, length, count);
  auto axis = isOperand           ? b.getConstantInt(2)
              : b.version() >= 20 ? -2
                                  : std::make_optional(b.getInt("axis", 1));
  if (!axis)
    return mlir::failure();
  int64_t place = b.normalizeAxis(*axis, rank);
  Value result = b.hasFailed() ? Value() : buildDFT(b, place, length, count);
  if (!result && !b.hasFailed())
    return b.unsupported("expected dims that are known");
  return b.done(result);
}

/// Returns the number of frames of a length, also as a scalar, or null after an
/// error.
std::pair<AffineExpr, Value> countFrames(Binder &b, AffineExpr length,
                                         Value lengthValue) {
  Arithmetic a(b);
  Value signal = b.operand(0),
        step = b.reshape(b.cast(b.operand(1), b.builder.getI64Type()), {});
  Value count = a.add(a.div(a.sub(a.size(signal, 1), lengthValue), step), 1.0);
  AffineExpr rest = graph::subExprs(graph::getDims(signal)[1], length);
  auto known = graph::getConstantElements(b.operand(1));
  if (!known || !rest) {
    Sizes s(b);
    b.check(s.less(s.number(0), step), "expected a frame_step of at least 1");
    b.check(b.create<graph::LessEqualOp>({lengthValue, a.size(signal, 1)}),
            "expected a signal of at least one frame");
    Dims frames = b.getSizes(b.reshape(count, b.expr(1)));
    return {b.hasFailed() ? AffineExpr() : frames[0], count};
  }
  if (known->size() != 1 || known->front() < 1 || !b.assumeNonNegative(rest)) {
    (void)b.fail("expected a frame_step of at least 1 and a signal of at least "
                 "one frame");
    return {};
  }
  return {graph::addExprs(graph::floorDivExprs(rest, b.expr(known->front())),
                          b.expr(1)),
          count};
}

/// Multiplies frames of the signal by a window, and transforms each.
LogicalResult importSTFT(Binder &b) {
  Arithmetic a(b);
  Value signal = b.operand(0), window = b.operand(2), count;
  // PyTorch exports a 2-D signal.
  if (b.getRank(signal) == 2) {
    b.warn("the signal has 2 dims instead of 3; it is treated as real");
    signal = b.unsqueeze(signal, {2});
  }
  if (b.getRank(signal) != 3)
    return b.fail("expected a signal of 3 dims, or of 2 if it is real, but "
                  "got " +
                  llvm::Twine(b.getRank(signal)));
  if (window && b.getRank(window) != 1)
    return b.fail("expected a window of 1 dim, but got " +
                  llvm::Twine(b.getRank(window)));
  AffineExpr length;
  if (b.operand(3)) {
    count = b.withLength(Sizes(b).toVector(b.operand(3)), 1);
    Dims sizes = b.getSizes(count);
    if (b.hasFailed())
      return mlir::failure();
    length = sizes[0];
    count = b.reshape(count, {});
    if (window)
      window = b.refine(window, length);
  } else if (window) {
    length = graph::getDims(window)[0];
    count = a.size(window, 0);
  }
  if (!length || !b.assumeNonNegative(graph::subExprs(length, b.expr(1))))
    return b.fail("expected a frame length of at least 1");
  auto [frames, number] = countFrames(b, length, count);
  if (b.hasFailed())
    return mlir::failure();
  Value step = b.reshape(b.cast(b.operand(1), b.builder.getI64Type()), {});
  Value places = a.add(b.unsqueeze(a.mul(a.range(frames, number), step), {1}),
                       a.range(length, count));
  Value framed = a.gather(signal, places, 1); // [B, frames, length, parts]
  if (window)
    framed = a.mul(framed, b.unsqueeze(window, {1}));
  return b.done(Transform(b, /*inverse=*/false, b.getInt("onesided", 1) != 0)
                    .run(framed, length, count));
}

/// The function body of ONNX does not support negative sizes.
LogicalResult importWindow(Binder &b) {
  Sizes s(b);
  b.check(s.all(s.less(s.number(-1), s.toVector(b.operand(0)))),
          "expected a size of at least 0");
  return b.expand(b.getOperands());
}

/// Creates triangles between points at equal distances on the mel scale.
LogicalResult importMelWeightMatrix(Binder &b) {
  Arithmetic a(b);
  Sizes s(b);
  mlir::Type i64 = b.builder.getI64Type(), f64 = b.builder.getF64Type();
  mlir::Type type =
      getElementType(b.builder.getContext(), b.getInt("output_datatype", 1));
  if (!type)
    return b.fail("expected an output_datatype that Adze supports");
  auto scalar = [&](unsigned i, mlir::Type wanted) {
    return b.reshape(b.cast(b.operand(i), wanted), {});
  };
  Value bins = scalar(0, i64), length = scalar(1, i64), rate = scalar(2, f64);
  Value rows = a.add(a.div(length, 2.0), 1.0), ends = a.add(bins, 2.0);
  Value counts =
      s.concat({b.reshape(rows, b.expr(1)), b.reshape(bins, b.expr(1)),
                b.reshape(ends, b.expr(1))});
  Dims sizes = b.getSizes(counts);
  if (b.hasFailed())
    return mlir::failure();
  Value lowest = scalar(3, f64), highest = scalar(4, f64);
  Value isOrdered = a.both(a.lessEqual(a.like(lowest, 0), lowest),
                           a.lessEqual(lowest, highest));
  Value isBelow = a.both(a.less(a.like(rate, 0), rate),
                         a.lessEqual(highest, a.mul(rate, 0.5)));
  b.check(a.both(isOrdered, isBelow),
          "expected 0 <= lower_edge_hertz <= upper_edge_hertz <= half of "
          "sample_rate");
  // The conversion is mel = 2595 log10(1 + hertz / 700), and its inverse.
  const double factor = 2595 / std::log(10.0);
  auto mel = [&](Value hertz) {
    return a.mul(a.log(a.add(a.div(hertz, 700.0), 1.0)), factor);
  };
  Value start = mel(lowest);
  Value step = a.div(a.sub(mel(highest), start), b.cast(ends, f64));
  Value mels = a.add(start, a.mul(b.cast(a.range(sizes[2], ends), f64), step));
  Value hertz = a.mul(a.sub(a.exp(a.div(mels, factor)), 1.0), 700.0);
  Value points =
      a.floor(a.div(a.mul(hertz, b.cast(a.add(length, 1.0), f64)), rate));
  auto pointsFrom = [&](int64_t first) {
    return b.slice(points, 0, first, sizes[1]);
  };
  Value left = pointsFrom(0), centre = pointsFrom(1), right = pointsFrom(2);
  Value at = b.unsqueeze(b.cast(a.range(sizes[0], rows), f64), {1});
  Value rise = a.sub(centre, left), fall = a.sub(right, centre);
  Value up = a.select(a.equal(rise, 0.0), a.like(rise, 1),
                      a.div(a.sub(at, left), rise));
  Value down = a.div(a.sub(right, at), fall);
  Value isDown = a.both(a.lessEqual(centre, at), a.less(at, right));
  Value isUp = a.both(a.lessEqual(left, at), a.lessEqual(at, centre));
  return b.done(b.cast(a.select(isDown, down, a.select(isUp, up, 0.0)), type));
}

} // namespace

void adze::importer::addSignalOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(), {
                              {"BlackmanWindow", 17, 1, importWindow},
                              {"DFT", 17, 1, importDFT},
                              {"HammingWindow", 17, 1, importWindow},
                              {"HannWindow", 17, 1, importWindow},
                              {"MelWeightMatrix", 17, 5, importMelWeightMatrix},
                              {"STFT", 17, 2, importSTFT},
                          });
}
