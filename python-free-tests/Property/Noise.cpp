// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The effect of one rounding after each op on the results (docs/accuracy.md).
#include "Check.h"
#include "Dialect/Graph/IR/Graph.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <random>

using namespace mlir;
using namespace adze::graph;

namespace property {

/// Ops that do not change elements, so nothing is rounded.
static bool isMovement(Operation *op) {
  return isa<ConstantOp, EmptyOp, ReshapeOp, TransposeOp, SliceOp, ConcatOp,
             BroadcastToOp, InsertSliceOp, GatherOp, GatherElementsOp,
             GatherNDOp, ReverseOp>(op);
}

/// Returns half of the distance between 1 and the next number; 0 for other
/// types than floats.
static double getRounding(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element ? std::ldexp(1.0, -int(element.getFPMantissaWidth())) : 0.0;
}

/// Ops whose elements depend on many, so partial sums are rounded as well.
static bool isCombination(Operation *op) {
  return !isMovement(op) && !isa<ElementwiseOpInterface>(op) &&
         op->getNumRegions() == 0;
}

/// Returns the rounding error of sums of such elements: types narrower than f32
/// are summed in f32.
static double getSumRounding(Type type) {
  return std::min(getRounding(type), std::ldexp(1.0, -24));
}

namespace {
/// Adds noise to the ops of a module in f64.
class Perturbation {
public:
  /// Rounding errors of the results of an op, and of sums of its operands.
  struct Roundings {
    SmallVector<double> results;
    double sums = 0;
  };
  Perturbation(MLIRContext *context, double part, uint64_t seed, bool byPlace)
      : builder(context), part(part), random(seed), byPlace(byPlace) {}

  void run(Block &block, IRMapping clean);

  llvm::DenseMap<Operation *, Roundings> roundings;

private:
  Value number(Value like, double value);
  Value countPlaces(Value x);
  Value perturb(Value x, Value clean, double d, bool places);
  void perturbResults(Operation *op, const Roundings &own, IRMapping &clean);
  void rereadInput(Operation *op, double d, IRMapping &clean);
  void replaceAfter(Value value, Value other, IRMapping &clean);
  Value getDeviation(Value difference, Value x, ArrayRef<int64_t> axes,
                     const APFloat &epsilon);

  OpBuilder builder;
  double part;
  std::mt19937_64 random;
  bool byPlace;
};
} // namespace

Value Perturbation::number(Value like, double value) {
  auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(like));
  return ConstantOp::create(builder, like.getLoc(),
                            DenseElementsAttr::get(scalar, value));
}

/// Returns a different number for each element of a tensor.
Value Perturbation::countPlaces(Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  Location loc = x.getLoc();
  Value isNaN = IsNanOp::create(builder, loc, x);
  Value ones = MaximumOp::create(builder, loc, type,
                                 CastOp::create(builder, loc, type, isNaN),
                                 number(x, 1.0));
  Value places = number(x, 0.0);
  for (int64_t dim = 0, rank = type.getRank(); dim < rank; ++dim) {
    Value count = CumsumOp::create(builder, loc, ones, dim);
    count = MulOp::create(builder, loc, type, count,
                          number(x, std::sqrt(7.0 + 4.0 * double(dim))));
    places = AddOp::create(builder, loc, type, places, count);
  }
  return places;
}

/// Returns x (1 + d sin(k x)), where `clean` is the x in the sine: elements
/// have errors of up to d, which depend on their last digits, as rounding does.
/// One factor for all of them would pass through sums as if none was rounded.
/// With `places`, equal elements have different errors, too. Infinity stays.
Value Perturbation::perturb(Value x, Value clean, double d, bool places) {
  Location loc = x.getLoc();
  auto type = cast<RankedTensorType>(x.getType());
  constexpr double finite = 1e30;
  // Several periods between adjacent f32 numbers near 1.
  double k = std::uniform_real_distribution<double>(1e8, 2e8)(random);
  Value phase = MinimumOp::create(builder, loc, type, clean, number(x, finite));
  phase = MaximumOp::create(builder, loc, type, phase, number(x, -finite));
  phase = MulOp::create(builder, loc, type, phase, number(x, k));
  if (places)
    phase = AddOp::create(builder, loc, type, phase, countPlaces(clean));
  Value wave = SinOp::create(builder, loc, type, phase);
  wave = MulOp::create(builder, loc, type, wave, number(x, d));
  Value factor = AddOp::create(builder, loc, type, wave, number(x, 1.0));
  return MulOp::create(builder, loc, type, x, factor);
}

/// Replaces later uses by `other`, which is computed from `value`.
void Perturbation::replaceAfter(Value value, Value other, IRMapping &clean) {
  Operation *last = other.getDefiningOp();
  value.replaceUsesWithIf(other, [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user->getBlock() != last->getBlock() || last->isBeforeInBlock(user);
  });
  clean.map(other, clean.lookupOrDefault(value));
}

/// Returns the difference divided by the deviation of x over the axes.
Value Perturbation::getDeviation(Value difference, Value x,
                                 ArrayRef<int64_t> axes,
                                 const APFloat &epsilon) {
  Location loc = x.getLoc();
  Type type = x.getType();
  Value mean = ReduceMeanOp::create(builder, loc, x, axes, /*keepdims=*/true);
  Value centred = SubOp::create(builder, loc, type, x, mean);
  Value square = MulOp::create(builder, loc, type, centred, centred);
  Value variance =
      ReduceMeanOp::create(builder, loc, square, axes, /*keepdims=*/true);
  Type small = variance.getType();
  variance = AddOp::create(builder, loc, small, variance,
                           number(x, epsilon.convertToDouble()));
  return DivOp::create(builder, loc, type, difference,
                       SqrtOp::create(builder, loc, small, variance));
}

/// x - max(x) - ln(sum), or x - mean(x): code computes x again for each of
/// these (several loops over a row), and if it is contracted with the
/// subtraction, it is not rounded as before. In f64 the op reads x once, and
/// for one element its result is 0 for any error of x. So a second x has
/// another error.
void Perturbation::rereadInput(Operation *op, double d, IRMapping &clean) {
  if (!isa<LogSoftmaxOp, LayerNormOp, InstanceNormOp>(op))
    return;
  builder.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  Value x = op->getOperand(0), y = op->getResult(0);
  auto type = cast<RankedTensorType>(y.getType());
  Value again = perturb(x, clean.lookupOrDefault(x), d, /*places=*/false);
  Value apart = SubOp::create(builder, loc, type, again, x);
  if (auto norm = dyn_cast<LayerNormOp>(op)) {
    auto axes = llvm::to_vector(
        llvm::seq<int64_t>(int64_t(norm.getAxis()), type.getRank()));
    apart = getDeviation(apart, x, axes, norm.getEpsilon());
    if (Value scale = norm.getScale())
      apart = MulOp::create(builder, loc, type, apart, scale);
  } else if (auto norm = dyn_cast<InstanceNormOp>(op)) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(1, type.getRank()));
    llvm::erase(axes, int64_t(norm.getAxis()));
    apart = getDeviation(apart, x, axes, norm.getEpsilon());
    Type channels = norm.getScale().getType();
    Value zero =
        SubOp::create(builder, loc, channels, norm.getScale(), norm.getScale());
    Value one = AddOp::create(builder, loc, channels, zero, number(x, 1.0));
    apart = BatchNormOp::create(builder, loc, apart, norm.getScale(), zero,
                                zero, one, APFloat(0.0), norm.getAxis());
  }
  replaceAfter(y, AddOp::create(builder, loc, type, y, apart), clean);
}

void Perturbation::perturbResults(Operation *op, const Roundings &own,
                                  IRMapping &clean) {
  for (auto [result, rounding] : llvm::zip_equal(op->getResults(), own.results))
    if (rounding != 0.0 && isa<RankedTensorType>(result.getType())) {
      builder.setInsertionPointAfterValue(result);
      Value off = perturb(result, clean.lookupOrDefault(result),
                          part * rounding, byPlace && isCombination(op));
      replaceAfter(result, off, clean);
    }
}

/// The ops of a block. `clean` has each value without noise, so that a smaller
/// noise has the same waves: for few or equal numbers, other waves would have
/// arbitrary results.
void Perturbation::run(Block &block, IRMapping clean) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    const Roundings &own = roundings.find(&op)->second;
    if (op.getNumResults() && isMemoryEffectFree(&op)) {
      builder.setInsertionPoint(&op);
      IRMapping inner = clean; // regions do not belong to the op
      Operation *copy = builder.clone(op, inner);
      clean.map(op.getResults(), copy->getResults());
    }
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        run(nested, clean);
    if (own.sums != 0.0) {
      builder.setInsertionPoint(&op);
      for (OpOperand &operand : op.getOpOperands()) {
        Value value = operand.get();
        if (!isa<FloatType>(getElementTypeOrSelf(value)))
          continue;
        Value plain = clean.lookupOrDefault(value);
        operand.set(perturb(value, plain, part * own.sums, byPlace));
        clean.map(operand.get(), plain);
      }
    }
    perturbResults(&op, own, clean);
    rereadInput(&op, part * own.sums, clean);
  }
}

OwningOpRef<ModuleOp> perturb(ModuleOp module, double part, uint64_t seed,
                              bool byPlace) {
  OwningOpRef<ModuleOp> wide = widen(module);
  Perturbation perturbation(module.getContext(), part, seed, byPlace);
  SmallVector<Operation *> ops;
  wide->walk([&](Operation *op) { ops.push_back(op); });
  auto next = ops.begin();
  module.walk([&](Operation *op) { // their original types
    Perturbation::Roundings &own = perturbation.roundings[*next++];
    for (Type type : op->getResultTypes())
      own.results.push_back(isMovement(op) ? 0.0 : getRounding(type));
    if (isCombination(op))
      for (Type type : op->getOperandTypes())
        own.sums = std::max(own.sums, getSumRounding(type));
  });
  for (auto function : wide->getOps<func::FuncOp>())
    perturbation.run(function.getBody().front(), {});
  return wide;
}

} // namespace property
