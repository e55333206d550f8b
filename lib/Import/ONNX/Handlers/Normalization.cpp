// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Softmax and the normalisations.
#include "../OpTable.h"
#include "Arithmetic.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

static bool isOne(mlir::AffineExpr dim) {
  return dim && graph::getConstant(dim) == 1;
}

/// Applies along one axis (default -1) since version 13, and over all dims from
/// an axis (default 1) on together before.
template <typename Build>
static LogicalResult importAlongAxis(Binder &b, Build build) {
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  if (rank == 0)
    return b.fail("expected an input of at least one dim, but got a scalar");
  int64_t axis = b.getAxis("axis", b.version() < 13 ? 1 : -1, rank);
  if (b.hasFailed())
    return mlir::failure();
  Dims dims = graph::getDims(x);
  llvm::ArrayRef<mlir::AffineExpr> dimsRef = dims;
  if (b.version() >= 13 || llvm::all_of(dimsRef.drop_front(axis + 1), isOne))
    return b.done(build(x, axis));
  auto *context = b.builder.getContext();
  Dims flat{graph::product(context, dimsRef.take_front(axis)),
            graph::product(context, dimsRef.drop_front(axis))};
  if (!flat[0] || !flat[1])
    return b.unsupported("expected dims that are known");
  Value result = build(b.reshape(x, flat), 1);
  return b.done(b.reshape(result, dims));
}

template <typename OpT>
static LogicalResult importSoftmax(Binder &b) {
  return importAlongAxis(b, [&](Value x, int64_t axis) {
    return b.create<OpT>(x, b.attr("axis", axis));
  });
}

/// Returns 1 at the first greatest element, else 0.
static LogicalResult importHardmax(Binder &b) {
  return importAlongAxis(b, [&](Value x, int64_t axis) -> Value {
    Value index = b.create<graph::ArgMaxOp>(
        x, {b.attr("axis", axis), b.attr("keepdims", false)});
    if (!index)
      return {};
    Value zero = b.scalar(b.getElementType(x), 0);
    Value one = b.scalar(b.getElementType(x), 1);
    Value values = b.create<graph::ConcatOp>(
        {b.unsqueeze(zero, {0}), b.unsqueeze(one, {0})},
        b.attr("axis", int64_t(0)));
    return b.createAs<graph::OneHotOp>(x.getType(), {index, values},
                                       b.attr("axis", axis));
  });
}

/// Computes the mean and the (biased) variance of each channel of the input,
/// and updates the running ones.
static LogicalResult importBatchStatistics(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  mlir::Type type = b.getElementType(x), f32 = b.builder.getF32Type();
  Value wide = type.getIntOrFloatBitWidth() < 32 ? b.cast(x, f32) : x;
  llvm::SmallVector<int64_t> axes;
  for (int64_t i = 0; i < b.getRank(x); ++i)
    if (i != 1)
      axes.push_back(i);
  Value mean = a.reduce<graph::ReduceMeanOp>(wide, axes, /*keepdims=*/true);
  Value distance = a.sub(wide, mean);
  Value variance =
      a.reduce<graph::ReduceMeanOp>(a.mul(distance, distance), axes);
  if (!variance)
    return mlir::failure();
  mean = b.reshape(mean, graph::getDims(variance));
  double momentum = b.getFloat("momentum", double(0.9f));
  auto move = [&](unsigned i, Value current) {
    Value running = b.cast(b.operand(i), b.getElementType(current));
    Value next = a.add(a.mul(running, momentum), a.mul(current, 1 - momentum));
    return b.cast(next, b.getElementType(b.operand(i)));
  };
  llvm::SmallVector<Value> operands{x};
  for (Value value : {b.operand(1), b.operand(2), mean, variance})
    operands.push_back(b.cast(value, type));
  Value result = b.create<graph::BatchNormOp>(
      operands, b.attr("epsilon", b.getFloat("epsilon", 1e-5f)));
  return b.done({result, move(3, mean), move(4, variance), mean, variance});
}

/// Returns a vector with one element for each channel: `size` elements, though
/// its own dim may be unknown (which is checked at run time).
static Value perChannel(Binder &b, Value vector, mlir::AffineExpr size) {
  if (!vector || b.getRank(vector) != 1 || !size ||
      graph::areEqual(graph::getDims(vector)[0], size) ||
      graph::areDifferent(graph::getDims(vector)[0], size))
    return vector;
  return b.reshape(vector, {size});
}

/// Normalizes with a mean, a variance, a scale and a bias for each element of
/// an entry of the batch.
static LogicalResult importElementNormalization(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  Dims entry(llvm::drop_begin(graph::getDims(x)));
  llvm::SmallVector<Value> parts;
  for (unsigned i = 1; i < 5; ++i) {
    if (b.getRank(b.operand(i)) != int64_t(entry.size()))
      return b.fail("expected the dims of an entry of the batch with spatial "
                    "0");
    parts.push_back(b.refine(b.operand(i), entry));
  }
  Value deviation =
      a.sqrt(a.add(parts[3], b.getFloat("epsilon", double(1e-5f))));
  Value normal = a.div(a.sub(x, parts[2]), deviation);
  return b.done(a.add(a.mul(normal, parts[0]), parts[1]));
}

static LogicalResult importBatchNormalization(Binder &b) {
  bool isSpatial = b.version() >= 9 || b.getInt("spatial", 1) == 1;
  Value x = b.operand(0);
  Dims dims = graph::getDims(x);
  if (b.version() >= 9 && dims.size() == 1)
    x = b.unsqueeze(x, {1}); // one channel
  if (b.getRank(x) < 2)
    return b.fail("expected an input of at least 2 dims, but got " +
                  llvm::Twine(b.getRank(x)) + "-D");
  // Before version 14, more outputs indicate training, unless is_test is set.
  bool isTraining = b.getInt("training_mode", 0) != 0;
  if (b.version() < 14 && (b.version() >= 7 || b.getInt("is_test", 0) == 0))
    isTraining = b.wants(1) || b.wants(2) || b.wants(3) || b.wants(4);
  if (isTraining && dims.size() < 2)
    return b.unsupported("expected an input of at least 2 dims in training");
  if (isTraining && !isSpatial)
    return b.unsupported("expected spatial to be 1 in training");
  if (isTraining)
    return importBatchStatistics(b);
  if (!isSpatial)
    return importElementNormalization(b);
  llvm::SmallVector<Value> operands{x};
  // Parameters may have another type than the input: the widest one is used.
  mlir::Type type = b.getElementType(x), wide = type;
  for (unsigned i = 1; i < 5; ++i) {
    mlir::Type other = b.getElementType(b.operand(i));
    if (other.getIntOrFloatBitWidth() > wide.getIntOrFloatBitWidth())
      wide = other;
  }
  operands.front() = b.cast(x, wide);
  for (unsigned i = 1; i < 5; ++i)
    operands.push_back(
        perChannel(b, b.cast(b.operand(i), wide), graph::getDims(x)[1]));
  Value result = b.create<graph::BatchNormOp>(
      operands, b.attr("epsilon", b.getFloat("epsilon", 1e-5f)));
  return b.done(b.reshape(b.cast(result, type), dims));
}

/// Computes (x - mean) / deviation over axes, in f32 or f64. The function body
/// of ONNX is for f32 only.
static LogicalResult importMeanVarianceNormalization(Binder &b) {
  Arithmetic a(b);
  mlir::Type type = b.getElementType(b.operand(0));
  Value x = type.getIntOrFloatBitWidth() < 32
                ? b.cast(b.operand(0), b.builder.getF32Type())
                : b.operand(0);
  auto axes = b.normalizeAxes(
      b.getInts("axes").value_or(llvm::SmallVector<int64_t>{0, 2, 3}),
      b.getRank(b.operand(0)));
  if (b.hasFailed())
    return mlir::failure();
  Value mean = a.reduce<graph::ReduceMeanOp>(x, axes, /*keepdims=*/true);
  Value distance = a.sub(x, mean);
  Value variance = a.reduce<graph::ReduceMeanOp>(a.mul(distance, distance),
                                                 axes, /*keepdims=*/true);
  return b.done(b.cast(a.div(distance, a.add(a.sqrt(variance), 1e-9)), type));
}

static LogicalResult importInstanceNormalization(Binder &b) {
  return b.done(b.create<graph::InstanceNormOp>(
      {b.operand(0), b.operand(1), b.operand(2)},
      b.attr("epsilon", b.getFloat("epsilon", 1e-5f))));
}

static LogicalResult importGroupNormalization(Binder &b) {
  Value x = b.operand(0), scale = b.operand(1), bias = b.operand(2);
  int64_t groups = b.getInt("num_groups", 0);
  if (b.getRank(x) < 2)
    return b.fail("expected an input of at least 2 dims");
  if (b.version() < 21) {
    // Scale and bias have one element for each group.
    Dims dims = graph::getDims(x);
    mlir::AffineExpr size = graph::divideExactly(dims[1], b.expr(groups));
    if (groups < 1 || !size)
      return b.fail("expected num_groups to divide the channels, but got " +
                    llvm::Twine(groups));
    auto repeat = [&](Value value) {
      Value wide =
          b.broadcastTo(b.unsqueeze(value, {1}), {b.expr(groups), size});
      return b.reshape(wide, dims[1]);
    };
    scale = repeat(scale);
    bias = repeat(bias);
  }
  return b.done(b.create<graph::GroupNormOp>(
      {x, scale, bias}, {b.attr("groups", groups),
                         b.attr("epsilon", b.getFloat("epsilon", 1e-5f))}));
}

/// Returns the statistics of layer normalisation, in f32 or f64: the mean, and
/// the reciprocal of the deviation.
static std::pair<Value, Value> buildStatistics(Binder &b, int64_t axis,
                                               double epsilon) {
  Value x = b.operand(0);
  mlir::Type type = b.getElementType(x);
  if (type.getIntOrFloatBitWidth() < 32 && b.getInt("stash_type", 1) == 1)
    x = b.cast(x, b.builder.getF32Type());
  if (!x)
    return {};
  type = b.getElementType(x);
  auto axes = llvm::to_vector(llvm::seq<int64_t>(axis, b.getRank(x)));
  llvm::SmallVector<mlir::NamedAttribute> attrs{b.attr("axes", axes),
                                                b.attr("keepdims", true)};
  Value mean = b.create<graph::ReduceMeanOp>(x, attrs);
  Value distance = b.create<graph::SubOp>({x, mean});
  Value variance = b.create<graph::ReduceMeanOp>(
      b.create<graph::MulOp>({distance, distance}), attrs);
  Value shifted = b.create<graph::AddOp>({variance, b.scalar(type, epsilon)});
  return {mean,
          b.create<graph::ReciprocalOp>(b.create<graph::SqrtOp>(shifted))};
}

static LogicalResult importLayerNormalization(Binder &b) {
  Value x = b.operand(0);
  int64_t axis = b.getAxis("axis", -1, b.getRank(x));
  double epsilon = b.getFloat("epsilon", 1e-5f);
  llvm::SmallVector<Value> operands{x, b.operand(1)};
  if (Value bias = b.operand(2))
    operands.push_back(bias);
  // The operands are the input and two optional ones.
  mlir::Attribute segments =
      b.builder.getDenseI32ArrayAttr({1, 1, int32_t(operands.size()) - 2});
  Value result = b.create<graph::LayerNormOp>(
      operands, {b.attr("operandSegmentSizes", segments), b.attr("axis", axis),
                 b.attr("epsilon", epsilon)});
  if (!b.wants(1) && !b.wants(2))
    return b.done(result);
  auto [mean, inverse] = buildStatistics(b, axis, epsilon);
  mlir::Type stash =
      getElementType(b.builder.getContext(), int(b.getInt("stash_type", 1)));
  if (!llvm::isa_and_nonnull<mlir::FloatType>(stash))
    return b.fail("expected stash_type to be a type of floats");
  return b.done({result, b.cast(mean, stash), b.cast(inverse, stash)});
}

static LogicalResult importRMSNormalization(Binder &b) {
  Value x = b.operand(0);
  int64_t axis = b.getAxis("axis", -1, b.getRank(x));
  return b.done(b.create<graph::RMSNormOp>(
      {x, b.operand(1)},
      {b.attr("axis", axis), b.attr("epsilon", b.getFloat("epsilon", 1e-5f))}));
}

/// Computes x / norm, and 0 where the norm is.
static LogicalResult importLpNormalization(Binder &b) {
  Value x = b.operand(0);
  int64_t axis = b.getAxis("axis", -1, b.getRank(x)), p = b.getInt("p", 2);
  if (p != 1 && p != 2)
    return b.fail("expected p to be 1 or 2, but got " + llvm::Twine(p));
  llvm::SmallVector<mlir::NamedAttribute> attrs{
      b.attr("axes", llvm::ArrayRef<int64_t>(axis)), b.attr("keepdims", true)};
  Value norm = p == 1 ? b.create<graph::ReduceL1Op>(x, attrs)
                      : b.create<graph::ReduceL2Op>(x, attrs);
  Value zero = b.scalar(b.getElementType(x), 0);
  Value isZero = b.create<graph::EqualOp>({norm, zero});
  Value quotient = b.create<graph::DivOp>({x, norm});
  return b.done(b.create<graph::SelectOp>({isZero, zero, quotient}));
}

void adze::importer::addNormalizationOps(std::vector<OpRow> &rows) {
  rows.insert(
      rows.end(),
      {
          {"BatchNormalization", 1, 5, importBatchNormalization},
          {"GroupNormalization", 18, 3, importGroupNormalization},
          {"Hardmax", 1, 1, importHardmax},
          {"InstanceNormalization", 6, 3, importInstanceNormalization},
          {"LayerNormalization", 17, 2, importLayerNormalization},
          // ONNX Runtime writes it into models of older operator sets.
          {"LayerNormalization", 0, 2, importLayerNormalization, "", 0},
          {"LogSoftmax", 1, 1, importSoftmax<graph::LogSoftmaxOp>},
          {"LpNormalization", 1, 1, importLpNormalization},
          {"MeanVarianceNormalization", 9, 1, importMeanVarianceNormalization},
          {"RMSNormalization", 23, 2, importRMSNormalization},
          {"Softmax", 1, 1, importSoftmax<graph::SoftmaxOp>},
      });
}
