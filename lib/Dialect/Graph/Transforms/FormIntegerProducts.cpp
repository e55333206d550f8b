// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-form-integer-products: products of dequantized bytes as products of the
// bytes, on targets that have a unit for them.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Targets.h"
#include "LinearFolds.h"
#include "Quantized.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze::graph {
#define GEN_PASS_DEF_FORMINTEGERPRODUCTSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// Returns the bytes with the other signedness, which differ by half their
/// range.
Value flipSign(OpBuilder &b, Location loc, Value bytes) {
  bool wasSigned = !getElement(bytes).isUnsignedInteger();
  Type type =
      wasSigned ? b.getIntegerType(8, /*isSigned=*/false) : Type(b.getI8Type());
  Value cast = CastOp::create(b, loc, makeType(type, getDims(bytes)), bytes);
  return BitwiseXorOp::create(b, loc, cast, createNumber(b, loc, type, 128));
}

/// Converts an activation to unsigned bytes. Users that convert the signed ones
/// to f32 read the unsigned ones instead, so that only these are stored.
void makeUnsigned(RewriterBase &b, Dequantized &activation) {
  if (!activation.isSigned())
    return;
  Value bytes = activation.bytes;
  b.setInsertionPointAfterValue(bytes);
  Value flipped = flipSign(b, bytes.getLoc(), bytes);
  activation.bytes = flipped;
  activation.zero += 128;
  for (Operation *user : llvm::make_early_inc_range(bytes.getUsers())) {
    auto cast = dyn_cast<CastOp>(user);
    if (!cast || !getElement(cast).isF32())
      continue;
    b.setInsertionPoint(cast);
    Value wide = CastOp::create(b, cast.getLoc(), cast.getType(), flipped);
    b.replaceOpWithNewOp<SubOp>(cast, wide, createF32(b, cast.getLoc(), 128));
  }
}

/// Returns true if the zero point of a weight is the middle of its range.
bool isSymmetric(const Dequantized &weight) {
  return weight.zero == (weight.isSigned() ? 0 : 128);
}

/// Converts a symmetric weight to signed bytes.
void makeSigned(OpBuilder &b, Dequantized &weight) {
  if (weight.isSigned())
    return;
  weight.bytes = flipSign(b, weight.bytes.getLoc(), weight.bytes);
  weight.zero = 0;
}

/// Emits sum * scale of the activation * scales of the weight, in f32.
Value dequantize(OpBuilder &b, Location loc, Value sum, Value scale,
                 Value scales, int64_t axis) {
  int64_t rank = getRank(sum);
  auto type = RankedTensorType::get({}, b.getF32Type());
  Value one = ReshapeOp::create(b, loc, type, scale);
  Value both = MulOp::create(b, loc, scales, one);
  if (!getElement(sum).isF32())
    sum = CastOp::create(b, loc, makeType(b.getF32Type(), getDims(sum)), sum);
  return MulOp::create(b, loc, sum, alongAxis(b, both, axis, rank));
}

/// Returns the required divisor of the contracted dim in bytes: a CPU unit sums
/// four at once, and a GPU copies segments of 16.
int64_t getGroup(Operation *op) {
  constexpr int64_t group = 4, piece = 16;
  return adze::tile::findCudaTarget(op) ? piece : group;
}

/// Returns the channels of the input of a convolution with padding: a multiple
/// of the group, or on GPUs what graph-space-to-depth makes such a multiple of.
int64_t padChannels(ConvOp op, int64_t channels) {
  bool hasSteps =
      llvm::any_of(op.getStrides(), [](int64_t stride) { return stride > 1; });
  int64_t shallow =
      tile::findCudaTarget(op) && hasSteps
          ? getShallowChannels(op, IntegerType::get(op.getContext(), 8))
          : 0;
  return shallow ? shallow : llvm::alignTo(channels, getGroup(op));
}

/// Sums of this many products of bytes fit into 32 bits.
constexpr int64_t greatestDepth = 1 << 16;

/// Pads the input of a convolution with `missing` channels of the zero point.
/// Also adds the pads if the zero point is not 0; `pads` are then set to 0.
Value padInput(OpBuilder &b, Location loc, const Dequantized &input,
               int64_t missing, MutableArrayRef<int64_t> pads) {
  int64_t rank = getRank(input.bytes);
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  high[1] = missing;
  if (input.zero != 0)
    for (int64_t i = 0; i < rank - 2; ++i) {
      std::swap(low[2 + i], pads[i]);
      std::swap(high[2 + i], pads[rank - 2 + i]);
    }
  auto isAny = [](int64_t pad) { return pad != 0; };
  if (llvm::none_of(low, isAny) && llvm::none_of(high, isAny))
    return input.bytes;
  Value fill = createNumber(b, loc, getElement(input.bytes), input.zero);
  return PadOp::create(b, loc, input.bytes, fill, low, high);
}

/// Returns the negated contribution of the zero point to the sums of each
/// output channel, or null if it is 0. The channels are dim `own` of the
/// weight.
Value makeBias(OpBuilder &b, Location loc, Value weight, int64_t own, Type type,
               int64_t zero) {
  if (zero == 0)
    return {};
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, getRank(weight)));
  axes.erase(axes.begin() + own);
  if (getElement(weight) != type)
    weight = CastOp::create(b, loc, makeType(type, getDims(weight)), weight);
  Value sums = ReduceSumOp::create(b, loc, weight, axes, /*keepdims=*/false);
  Value factor = createNumber(b, loc, b.getI32Type(), -zero);
  if (!type.isInteger(32))
    factor = CastOp::create(b, loc, RankedTensorType::get({}, type), factor);
  return MulOp::create(b, loc, sums, factor);
}

/// Returns the elements of a constant, also through reshapes; none if their
/// type is not T.
template <typename T>
SmallVector<T> getNumbers(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return {};
  auto elements = constant.getValue().tryGetValues<T>();
  return elements ? SmallVector<T>(elements->begin(), elements->end())
                  : SmallVector<T>();
}

/// Returns true if the scales of a bias are those of the sums, within the
/// rounding of their product to f32.
bool areScalesOfSums(Value scales, double input, Value filter) {
  constexpr double tolerance = 0x1p-22;
  SmallVector<float> own = getNumbers<float>(scales),
                     factors = getNumbers<float>(filter);
  size_t count = std::max(own.size(), factors.size());
  auto fits = [&](size_t size) { return size == 1 || size == count; };
  if (own.empty() || factors.empty() || !fits(own.size()) ||
      !fits(factors.size()))
    return false;
  for (size_t i = 0; i < count; ++i) {
    double wanted = input * factors[factors.size() == 1 ? 0 : i],
           got = own[own.size() == 1 ? 0 : i];
    if (!(std::fabs(got - wanted) <= tolerance * std::fabs(wanted)))
      return false;
  }
  return true;
}

/// Returns the integers of a bias that is quantized by the scales of the sums
/// of `taps` products, or null if it is not, or if 32 bits are too few for the
/// sums with it.
Value matchBiasOfSums(ConvOp op, double input, Value filter, int64_t taps) {
  auto mul = op.getBias() ? op.getBias().getDefiningOp<MulOp>() : MulOp();
  if (!mul || !areScalesOfSums(mul.getRhs(), input, filter))
    return {};
  Value x = mul.getLhs();
  if (auto sub = x.getDefiningOp<SubOp>();
      sub && getZeroPoint(sub.getRhs()) == 0)
    x = sub.getLhs();
  auto cast = x.getDefiningOp<CastOp>();
  if (!cast || !getElement(cast.getInput()).isSignlessInteger(32) ||
      getDims(cast.getInput()) != getDims(op.getBias()))
    return {};
  SmallVector<int32_t> numbers = getNumbers<int32_t>(cast.getInput());
  constexpr int64_t greatest = std::numeric_limits<int32_t>::max();
  auto fits = [&](int64_t number) {
    return std::abs(number) <= greatest - taps * 255 * 128;
  };
  return !numbers.empty() && llvm::all_of(numbers, fits) ? cast.getInput()
                                                         : Value();
}

/// Returns the sum of two tensors, of which either may be null.
Value addOptional(OpBuilder &b, Location loc, Value x, Value y) {
  return x && y ? AddOp::create(b, loc, x, y).getResult() : x ? x : y;
}

/// Rewrites conv(x, w) of (p - z) * s and q * t to (conv(p, q) - z * sum(q)) *
/// (s * t), with z as padding. A depthwise convolution, whose lanes are
/// channels, sums the integers in f32, which is exact for sums of few products.
/// A bias that is quantized like the sums is added to them, without rounding.
LogicalResult rewriteConv(ConvOp op, RewriterBase &b) {
  auto input = matchDequantized(op.getInput()),
       filter = matchDequantized(op.getFilter());
  if (!input || !filter || op.getLayout() != Layout::NCHW ||
      !getSplatNumber(input->scale) || !isConstant(filter->bytes))
    return failure();
  auto shape = cast<RankedTensorType>(filter->bytes.getType());
  if (!shape.hasStaticShape())
    return failure();
  int64_t rank = shape.getRank(), depth = shape.getDimSize(1),
          taps = shape.getNumElements() / shape.getDimSize(0);
  constexpr int64_t greatestTaps = 256;
  bool isDepthwise = op.getGroup() > 1 && depth == 1 && taps <= greatestTaps &&
                     shape.getDimSize(0) == int64_t(op.getGroup());
  AffineExpr channels = getDims(shape)[0];
  if ((op.getGroup() > 1 && !isDepthwise) || taps > greatestDepth ||
      !isSymmetric(*filter) ||
      !isChannelVector(filter->scale, 0, rank, channels))
    return failure();
  makeUnsigned(b, *input);
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  makeSigned(b, *filter);
  SmallVector<int64_t> pads(op.getPads());
  int64_t missing = isDepthwise ? 0 : padChannels(op, depth) - depth;
  Value x = padInput(b, loc, *input, missing, pads), w = filter->bytes;
  Type sumType = isDepthwise ? Type(b.getF32Type()) : b.getI32Type();
  if (isDepthwise)
    w = CastOp::create(b, loc, makeType(sumType, getDims(w)), w);
  Value own = isDepthwise ? Value()
                          : matchBiasOfSums(op, *getSplatNumber(input->scale),
                                            filter->scale, taps);
  Value bias = addOptional(
      b, loc, makeBias(b, loc, w, /*own=*/0, sumType, input->zero), own);
  if (missing > 0) {
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    high[1] = missing;
    w = PadOp::create(b, loc, w, Value(), low, high);
  }
  Value sum = ConvOp::create(b, loc, makeType(sumType, getDims(op)), x, w, bias,
                             op.getStrides(), pads, op.getDilations(),
                             op.getGroup(), op.getLayout(),
                             /*wide_result=*/false, /*band=*/IntegerAttr());
  Value scales = getChannelVector(b, filter->scale, 0, rank, channels);
  Value y = dequantize(b, loc, sum, input->scale, scales, /*axis=*/1);
  if (op.getBias() && !own)
    y = AddOp::create(b, loc, y, alongAxis(b, op.getBias(), 1, rank));
  b.replaceOp(op, y);
  return success();
}

/// Rewrites a matrix product by a constant matrix in the same way.
LogicalResult rewriteMatmul(MatmulOp op, RewriterBase &b) {
  auto lhs = matchDequantized(op.getLhs()), rhs = matchDequantized(op.getRhs());
  if (!lhs || !rhs || op.getTransposeA() || !getSplatNumber(lhs->scale) ||
      !isConstant(rhs->bytes))
    return failure();
  auto shape = cast<RankedTensorType>(rhs->bytes.getType());
  if (!shape.hasStaticShape() || shape.getRank() != 2)
    return failure();
  int64_t column = op.getTransposeB() ? 0 : 1;
  AffineExpr columns = getDims(shape)[column];
  int64_t depth = shape.getDimSize(1 - column);
  if (depth % getGroup(op) != 0 || depth > greatestDepth ||
      !isSymmetric(*rhs) || !isChannelVector(rhs->scale, column, 2, columns))
    return failure();
  makeUnsigned(b, *lhs);
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  makeSigned(b, *rhs);
  Value w = rhs->bytes;
  if (op.getTransposeB())
    w = TransposeOp::create(b, loc, w, ArrayRef<int64_t>{1, 0});
  Type i32 = b.getI32Type();
  Value sum = MatmulOp::create(b, loc, makeType(i32, getDims(op)), lhs->bytes,
                               w, false, false);
  if (Value bias = makeBias(b, loc, rhs->bytes, column, i32, lhs->zero))
    sum = AddOp::create(b, loc, sum, bias);
  Value scales = getChannelVector(b, rhs->scale, column, 2, columns);
  b.replaceOp(op, dequantize(b, loc, sum, lhs->scale, scales,
                             getRank(op.getResult()) - 1));
  return success();
}

/// Rewrites a product of two activations for a GPU: differences of bytes and
/// zero points are integers that f16 holds, so that tensor cores multiply them,
/// and sums in f32 are exact up to 2^24.
LogicalResult rewriteActivations(MatmulOp op, RewriterBase &b) {
  Type f16 = b.getF16Type(), f32 = b.getF32Type();
  tile::CudaTargetAttr gpu = tile::findCudaTarget(op);
  auto lhs = matchDequantized(op.getLhs()), rhs = matchDequantized(op.getRhs());
  if (!gpu || !gpu.findUnit(f16, f16, f32) || !lhs || !rhs)
    return failure();
  auto left = getSplatNumber(lhs->scale), right = getSplatNumber(rhs->scale);
  if (!left || !right || isConstant(lhs->bytes) || isConstant(rhs->bytes))
    return failure();
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  auto convert = [&](const Dequantized &x) -> Value {
    Value integers =
        CastOp::create(b, loc, makeType(f16, getDims(x.bytes)), x.bytes);
    if (x.zero == 0)
      return integers;
    return SubOp::create(b, loc, integers, createNumber(b, loc, f16, x.zero));
  };
  Value product = MatmulOp::create(
      b, loc, makeType(f32, getDims(op)), convert(*lhs), convert(*rhs),
      op.getTransposeA(), op.getTransposeB(), /*wide_result=*/true);
  b.replaceOpWithNewOp<MulOp>(op, product, createF32(b, loc, *left * *right));
  return success();
}

class FormIntegerProductsPass final
    : public adze::graph::impl::FormIntegerProductsPassBase<
          FormIntegerProductsPass> {
public:
  using FormIntegerProductsPassBase::FormIntegerProductsPassBase;

  void runOnOperation() override {
    if (!haveUnit(getOperation()))
      return;
    IRRewriter b(&getContext());
    getOperation().walk([&](Operation *op) {
      LogicalResult result = failure();
      if (auto conv = dyn_cast<ConvOp>(op))
        result = rewriteConv(conv, b);
      else if (auto matmul = dyn_cast<MatmulOp>(op))
        result = succeeded(rewriteMatmul(matmul, b))
                     ? success()
                     : rewriteActivations(matmul, b);
      if (succeeded(result))
        ++formed;
    });
  }
};

} // namespace
