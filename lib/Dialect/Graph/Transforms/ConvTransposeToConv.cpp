// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-conv-transpose-to-conv: converts transposed convolutions to
// convolutions, which compute all phases of a stride at once.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Targets.h"
#include "LinearFolds.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

namespace adze::graph {
#define GEN_PASS_DEF_CONVTRANSPOSETOCONVPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// A spatial dim: outputs `stride * q + r - pad` use taps `stride * j + r` of
/// input q - j. Phase r is a channel of a convolution over q.
struct Dim {
  int64_t stride, taps;  // of a phase
  int64_t before, after; // pads of the convolution
  int64_t low, high;     // padding of its results, cropping if negative
};

struct Shape {
  SmallVector<Dim> dims;
  int64_t groups, inputs, outputs; // of a group
  int64_t phases = 1, taps = 1;    // of all dims
};

/// Computes sizes and pads such that no zeros are multiplied that the
/// transposed convolution does not multiply (0 * inf), and every result has its
/// bias.
std::optional<Shape> getShape(ConvTransposeOp op) {
  if (op.getLayout() != Layout::NCHW || !isConstant(op.getFilter()) ||
      (op.getBias() && !isConstant(op.getBias())))
    return std::nullopt;
  Dims filter = getDims(op.getFilter()), input = getDims(op.getInput());
  Shape shape{
      {}, int64_t(op.getGroup()), 0, getConstant(filter[1]).value_or(0)};
  shape.inputs = getConstant(filter[0]).value_or(0) / shape.groups;
  unsigned rank = filter.size() - 2;
  for (unsigned d = 0; d < rank; ++d) {
    int64_t kernel = getConstant(filter[d + 2]).value_or(0);
    int64_t stride = op.getStrides()[d], dilation = op.getDilations()[d];
    int64_t low = op.getPads()[d],
            high = op.getPads()[d + rank] - op.getOutputPadding()[d];
    if (kernel == 0 || low < 0 || kernel % stride != 0 ||
        (stride > 1 && dilation != 1))
      return std::nullopt;
    int64_t taps = kernel / stride, reach = (taps - 1) * dilation;
    Dim dim{stride, taps, reach, reach, 0, 0};
    if (stride == 1 && reach >= low && reach >= high) {
      dim.before -= low;
      dim.after -= high;
    } else if (high >= 0) {
      dim.low = -low;
      dim.high = -high;
    } else {
      return std::nullopt;
    }
    // Windows that are mostly out of bounds would multiply zeros; for empty
    // inputs or results they do not fit.
    if (auto size = getConstant(input[d + 2])) {
      int64_t windows = *size + dim.before + dim.after - reach;
      if (windows < 1 || 2 * windows >= 3 * *size)
        return std::nullopt;
    }
    shape.phases *= stride;
    shape.taps *= taps;
    shape.dims.push_back(dim);
  }
  if (shape.inputs == 0 || shape.outputs == 0 ||
      (shape.phases > 1 && shape.groups > 1))
    return std::nullopt;
  return shape;
}

/// Returns true if vectors of channels have so many unused lanes that computing
/// all phases at once pays off the movement of the results. A GPU multiplies
/// blocks of several rows of an image in convolutions only.
bool isWorthIt(ConvTransposeOp op, const Shape &shape) {
  if (shape.phases == 1 || adze::tile::findCudaTarget(op))
    return true;
  constexpr int64_t lanes = 16;
  constexpr int64_t moved = 64; // cost of moving an element, in multiply-adds
  int64_t now = shape.phases * llvm::alignTo(shape.outputs, lanes);
  int64_t together = llvm::alignTo(shape.phases * shape.outputs, lanes);
  return (now - together) * shape.taps * shape.inputs >=
         moved * shape.phases * shape.outputs;
}

/// Returns the filter [C, O / group, kernel..] as that of a convolution,
/// [phases * O, C / group, taps..]: taps in reverse order, phases outermost.
Value turnFilter(OpBuilder &b, ConvTransposeOp op, const Shape &shape) {
  Location loc = op.getLoc();
  Type element = getElementTypeOrSelf(op.getFilter());
  SmallVector<int64_t> apart{shape.groups, shape.inputs, shape.outputs};
  SmallVector<int64_t> turned{shape.groups * shape.phases * shape.outputs,
                              shape.inputs};
  SmallVector<int64_t> order{0}, taps, along; // the dims of both
  for (const Dim &dim : shape.dims) {
    taps.push_back(apart.size());
    apart.push_back(dim.taps);
    order.push_back(apart.size());
    apart.push_back(dim.stride);
    turned.push_back(dim.taps);
  }
  order.append({2, 1});
  order.append(taps);
  Value value = ReshapeOp::create(b, loc, RankedTensorType::get(apart, element),
                                  op.getFilter());
  value = ReverseOp::create(b, loc, value, taps);
  value = TransposeOp::create(b, loc, value, order);
  return ReshapeOp::create(b, loc, RankedTensorType::get(turned, element),
                           value);
}

/// Repeats the bias of each channel for all phases.
Value repeatBias(OpBuilder &b, ConvTransposeOp op, const Shape &shape) {
  Value bias = op.getBias();
  if (!bias || shape.phases == 1)
    return bias;
  Location loc = op.getLoc();
  Type element = getElementTypeOrSelf(bias);
  auto both = RankedTensorType::get({shape.phases, shape.outputs}, element);
  Value repeated = BroadcastToOp::create(b, loc, both, bias);
  auto flat = RankedTensorType::get({shape.phases * shape.outputs}, element);
  return ReshapeOp::create(b, loc, flat, repeated);
}

/// Rearranges [N, phases * O, Q..] to [N, O, Q * stride..]: each phase to its
/// positions.
Value spreadPhases(OpBuilder &b, Location loc, Value value,
                   const Shape &shape) {
  auto constant = [&](int64_t n) { return b.getAffineConstantExpr(n); };
  Dims image = getDims(value);
  unsigned rank = shape.dims.size();
  Dims apart{image[0]}, merged{image[0], constant(shape.outputs)};
  SmallVector<int64_t> order{0, int64_t(rank) + 1};
  for (auto [d, dim] : llvm::enumerate(shape.dims)) {
    apart.push_back(constant(dim.stride));
    order.append({int64_t(rank + 2 + d), int64_t(1 + d)});
    merged.push_back(mulExprs(image[d + 2], constant(dim.stride)));
  }
  apart.push_back(constant(shape.outputs));
  apart.append(image.begin() + 2, image.end());
  Type element = getElementTypeOrSelf(value);
  value = ReshapeOp::create(b, loc, makeType(element, apart), value);
  value = TransposeOp::create(b, loc, value, order);
  return ReshapeOp::create(b, loc, makeType(element, merged), value);
}

void rewrite(ConvTransposeOp op, const Shape &shape) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<int64_t> ones(shape.dims.size(), 1), before, after;
  SmallVector<int64_t> dilations(op.getDilations());
  SmallVector<int64_t> low{0, 0}, high{0, 0};
  for (const Dim &dim : shape.dims) {
    before.push_back(dim.before);
    after.push_back(dim.after);
    low.push_back(dim.low);
    high.push_back(dim.high);
  }
  before.append(after);
  Value value = ConvOp::create(b, loc, op.getInput(), turnFilter(b, op, shape),
                               repeatBias(b, op, shape), ones, before,
                               dilations, shape.groups, Layout::NCHW,
                               /*wide_result=*/false, /*band=*/IntegerAttr());
  if (shape.phases > 1)
    value = spreadPhases(b, loc, value, shape);
  auto isZero = [](int64_t n) { return n == 0; };
  if (!llvm::all_of(low, isZero) || !llvm::all_of(high, isZero))
    value = PadOp::create(b, loc, value, Value(), low, high);
  // Equal sizes may have different expressions.
  if (value.getType() != op.getType())
    value = ReshapeOp::create(b, loc, op.getType(), value);
  op.replaceAllUsesWith(value);
  op.erase();
}

class ConvTransposeToConvPass final
    : public adze::graph::impl::ConvTransposeToConvPassBase<
          ConvTransposeToConvPass> {
public:
  void runOnOperation() override {
    SmallVector<ConvTransposeOp> ops;
    getOperation().walk([&](ConvTransposeOp op) { ops.push_back(op); });
    for (ConvTransposeOp op : ops) {
      std::optional<Shape> shape = getShape(op);
      if (!shape || !isWorthIt(op, *shape))
        continue;
      ++(shape->phases == 1 ? turned : merged);
      rewrite(op, *shape);
    }
  }
};

} // namespace
