// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Random numbers. With a seed they are those of ONNX's reference
// implementation, drawn by the run time one after the other. Without one,
// element i of stream k is SplitMix64's output for the state `graph.entropy +
// (4 * i + k + 1) * 0x9e3779b97f4a7c15`.
#include "Random.h"
#include "../OpTable.h"
#include "../Sizes.h"
#include "Arithmetic.h"
#include <cmath>

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

static mlir::Type getWord(Binder &b) {
  return b.builder.getIntegerType(64, /*isSigned=*/false);
}

static Value word(Binder &b, uint64_t value) {
  auto type = mlir::RankedTensorType::get({}, getWord(b));
  return b.constant(mlir::DenseElementsAttr::get(type, llvm::APInt(64, value)));
}

/// Returns the seed truncated to an integer. A seed out of the range of 64-bit
/// integers is used by its bits; NaN is no seed.
static std::optional<int64_t> getSeed(Binder &b) {
  const Attribute *given = b.node.find("seed");
  // The seed is an integer for Dropout, and a float for all others.
  if (given && given->kind == Attribute::Kind::Int)
    return given->i;
  double value = b.getFloat("seed", NAN);
  if (std::isnan(value))
    return std::nullopt;
  return std::abs(value) < 0x1p63 ? int64_t(value)
                                  : llvm::bit_cast<int64_t>(value);
}

Random::Random(Binder &b) : b(b) {
  mlir::Type i64 = b.builder.getI64Type();
  auto scalar = mlir::RankedTensorType::get({}, i64);
  if (std::optional<int64_t> given = getSeed(b)) {
    seed = b.constant(mlir::DenseElementsAttr::get(scalar, *given));
  } else if (!b.hasFailed()) {
    entropy = b.cast(b.createAs<graph::EntropyOp>(mlir::Type(scalar), {}),
                     getWord(b));
  }
}

/// Returns true if the number of elements is small enough to draw each.
static bool canDraw(Binder &b, const Dims &dims) {
  if (graph::product(b.builder.getContext(), dims))
    return true;
  if (llvm::is_contained(dims, mlir::AffineExpr()))
    (void)b.unsupported("expected dims that are known");
  else
    (void)b.fail("expected fewer elements than 2^63");
  return false;
}

/// Returns a random word for each element.
static Value draw(Binder &b, Value entropy, const Dims &dims, unsigned stream) {
  Arithmetic a(b);
  // The type of a range determines its number of elements.
  mlir::Type i64 = b.builder.getI64Type();
  Value index =
      a.range(graph::product(b.builder.getContext(), dims), b.scalar(i64, 0));
  Value place =
      a.add(a.mul(b.cast(index, getWord(b)), word(b, 4)), word(b, stream + 1));
  Value z = a.add(a.mul(place, word(b, 0x9e3779b97f4a7c15)), entropy);
  auto mix = [&](unsigned shift, uint64_t factor) {
    z = a.mul(a.bitXor(z, a.shiftRight(z, word(b, shift))), word(b, factor));
  };
  mix(30, 0xbf58476d1ce4e5b9);
  mix(27, 0x94d049bb133111eb);
  return a.bitXor(z, a.shiftRight(z, word(b, 31)));
}

/// Returns as many bits as the type holds, so that rounding never results in 1.
static unsigned getBits(mlir::Type type) {
  return type.isF64() ? 53 : type.isBF16() ? 8 : type.isF16() ? 11 : 24;
}

mlir::Type Random::getExactType() const {
  return seed ? mlir::Type(b.builder.getF64Type())
              : mlir::Type(b.builder.getF32Type());
}

Value Random::uniform(mlir::Type type, const Dims &dims, unsigned stream) {
  Arithmetic a(b);
  if (b.hasFailed() || !canDraw(b, dims))
    return {};
  unsigned bits = getBits(type);
  if (seed) {
    Value x =
        b.callForOne("random_uniform", {seed}, {b.builder.getF64Type(), dims});
    return b.cast(type.isF64() ? x : a.min(x, 1 - std::ldexp(1.0, -int(bits))),
                  type);
  }
  mlir::Type wide = type.isF64() ? type : mlir::Type(b.builder.getF32Type());
  Value z = a.shiftRight(draw(b, entropy, dims, stream), word(b, 64 - bits));
  Value x = a.mul(b.cast(b.cast(z, b.builder.getI64Type()), wide),
                  std::ldexp(1.0, -int(bits)));
  return b.reshape(b.cast(x, type), dims);
}

Value Random::normal(mlir::Type type, const Dims &dims) {
  Arithmetic a(b);
  if (b.hasFailed() || !canDraw(b, dims))
    return {};
  if (seed) {
    // Marsaglia's polar method: scaled coordinates of points in the unit disc.
    mlir::Type f64 = b.builder.getF64Type();
    Binder::Values disc =
        b.call("random_disc", {seed}, {{f64, dims}, {f64, dims}});
    Value factor = a.sqrt(a.div(a.mul(a.log(disc[1]), -2.0), disc[1]));
    return b.cast(a.mul(disc[0], factor), type);
  }
  // The Box-Muller transform: 1 - u is never 0.
  mlir::Type wide = type.isF64() ? type : mlir::Type(b.builder.getF32Type());
  Value radius = a.sqrt(a.mul(a.log(a.sub(1.0, uniform(wide, dims, 0))), -2.0));
  Value angle = a.mul(uniform(wide, dims, 1), 2 * M_PI);
  return b.cast(a.mul(radius, a.cos(angle)), type);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Returns type and dims: attributes, or those of operand 0.
static LogicalResult getShape(Binder &b, mlir::Type &type, Dims &dims) {
  if (Value like = b.operand(0)) {
    dims = graph::getDims(like);
    type = b.getElementType(like);
  } else {
    auto shape = b.getInts("shape");
    if (!shape)
      return b.fail("expected attribute 'shape', but got none");
    for (int64_t size : *shape)
      if (size < 0)
        return b.fail("expected dims >= 0, but got " + llvm::Twine(size));
    dims = graph::makeDims(b.builder.getContext(), *shape);
    type = b.builder.getF32Type();
  }
  if (b.hasAttribute("dtype"))
    type = getElementType(b.builder.getContext(), b.getInt("dtype", 1));
  if (!llvm::isa_and_nonnull<mlir::FloatType>(type))
    return b.unsupported("expected a float type that Adze supports");
  return mlir::success();
}

static LogicalResult importRandomUniform(Binder &b) {
  Arithmetic a(b);
  mlir::Type type;
  Dims dims;
  if (mlir::failed(getShape(b, type, dims)))
    return mlir::failure();
  double low = b.getFloat("low", 0.0), high = b.getFloat("high", 1.0);
  Value x = Random(b).uniform(type, dims, 0);
  return b.done(a.add(a.mul(x, high - low), low));
}

static LogicalResult importRandomNormal(Binder &b) {
  Arithmetic a(b);
  mlir::Type type;
  Dims dims;
  if (mlir::failed(getShape(b, type, dims)))
    return mlir::failure();
  double mean = b.getFloat("mean", 0.0), scale = b.getFloat("scale", 1.0);
  Value x = Random(b).normal(type, dims);
  return b.done(a.add(a.mul(x, scale), mean));
}

static LogicalResult importBernoulli(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  Value isShare = a.both(a.lessEqual(a.like(x, 0), x), a.lessEqual(x, 1.0));
  b.check(Sizes(b).all(isShare), "expected probabilities in [0, 1]");
  mlir::Type type = b.getElementType(x);
  if (b.hasAttribute("dtype"))
    type = getElementType(b.builder.getContext(), b.getInt("dtype", 1));
  if (!type)
    return b.unsupported("expected a type that Adze supports");
  Random random(b);
  Value share = b.cast(x, random.getExactType());
  Value drawn = random.uniform(random.getExactType(), graph::getDims(x), 0);
  if (!random.isSeeded())
    return b.done(b.cast(a.less(drawn, share), type));
  // Each half of the range is compared from its end, as in the reference
  // implementation of ONNX.
  Value isRare = a.greater(drawn, a.sub(1.0, share));
  Value isUsual = a.lessEqual(drawn, share);
  return b.done(
      b.cast(a.select(a.lessEqual(share, 0.5), isRare, isUsual), type));
}

/// Returns the first class whose cumulative probability exceeds the drawn
/// number.
static LogicalResult importMultinomial(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  int64_t samples = b.getInt("sample_size", 1);
  mlir::Type type =
      getElementType(b.builder.getContext(), b.getInt("dtype", 6));
  if (b.getRank(x) != 2 || samples < 1 || !type)
    return b.fail("expected a 2-D input, and a sample_size of at least 1");
  AffineExpr classes = graph::getDims(x)[1];
  if (classes && !b.assumeNonNegative(graph::subExprs(classes, b.expr(1))))
    return b.fail("expected classes, but got none");
  mlir::Type f32 = b.builder.getF32Type();
  Value share =
      b.create<graph::SoftmaxOp>(b.cast(x, f32), b.attr("axis", int64_t(1)));
  Value reach = b.unsqueeze(
      b.create<graph::CumsumOp>(share, b.attr("axis", int64_t(1))), {1});
  Value drawn =
      Random(b).uniform(f32, {graph::getDims(x)[0], b.expr(samples)}, 0);
  mlir::Type i64 = b.builder.getI64Type();
  Value passed = b.cast(a.greaterEqual(b.unsqueeze(drawn, {2}), reach), i64);
  // Rounding may leave the cumulative probability of the last class below 1.
  Value index = a.min(a.sum(passed, {2}), a.sub(a.size(x, 1), 1.0));
  return b.done(b.cast(index, type));
}

/// At inference this is the identity, with a mask of ones. In training,
/// elements are dropped randomly and the others are scaled; whether it is
/// training may be dynamic.
static LogicalResult importDropout(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0), ratio = b.operand(1), training = b.operand(2);
  Dims dims = graph::getDims(x);
  mlir::Type i1 = b.builder.getI1Type();
  auto known = training ? graph::getConstantElements(training)
                        : std::make_optional(llvm::SmallVector<int64_t>{0});
  if (b.version() < 12 || (known && known->size() == 1 && !known->front())) {
    Value mask;
    if (b.wants(1))
      mask = b.broadcastTo(
          b.scalar(b.version() < 10 ? b.getElementType(x) : i1, 1), dims);
    return b.done({x, mask});
  }
  mlir::Type f32 = b.builder.getF32Type();
  ratio = ratio ? b.reshape(ratio, {}) : b.scalar(f32, 0.5);
  if (ratio && !b.getElementType(ratio).isF64())
    ratio = b.cast(ratio, f32);
  Value isRatio =
      a.both(a.lessEqual(a.like(ratio, 0), ratio), a.less(ratio, 1.0));
  if (!known) // not read at inference
    isRatio = a.either(isRatio, a.notOf(b.reshape(b.cast(training, i1), {})));
  b.check(isRatio, "expected a ratio in [0, 1)");
  Random random(b);
  mlir::Type exact = random.getExactType();
  Value mask =
      a.greaterEqual(random.uniform(exact, dims, 0), b.cast(ratio, exact));
  Value grown =
      a.mul(x, b.cast(a.reciprocal(a.sub(1.0, ratio)), b.getElementType(x)));
  Value result = a.select(mask, grown, a.like(x, 0));
  if (!known) {
    training = b.reshape(b.cast(training, i1), {});
    result = a.select(training, result, x);
    mask = a.either(mask, a.notOf(training));
  }
  return b.done({result, mask});
}

void adze::importer::addRandomOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(), {
                              {"Bernoulli", 15, 1, importBernoulli},
                              {"Dropout", 6, 1, importDropout},
                              {"Multinomial", 7, 1, importMultinomial},
                              {"RandomNormal", 1, 0, importRandomNormal},
                              {"RandomNormalLike", 1, 1, importRandomNormal},
                              {"RandomUniform", 1, 0, importRandomUniform},
                              {"RandomUniformLike", 1, 1, importRandomUniform},
                          });
}
