// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matrix products and convolutions.
#include "Contraction.h"
#include "../DataShapes.h"
#include "../OpTable.h"
#include "../Sizes.h"
#include "Arithmetic.h"
#include "Quantization.h"
#include "Windows.h"

#include <cmath>

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

/// Implements numpy.matmul: a vector is a row on the left and a column on the
/// right, and the result does not have its dim.
Value adze::importer::buildMatmul(Binder &b, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return {};
  bool leftVector = b.getRank(lhs) == 1, rightVector = b.getRank(rhs) == 1;
  if (b.getRank(lhs) == 0 || b.getRank(rhs) == 0) {
    (void)b.fail("expected operands of at least one dim");
    return {};
  }
  if (leftVector)
    lhs = b.unsqueeze(lhs, {0});
  if (rightVector)
    rhs = b.unsqueeze(rhs, {1});
  Value result = b.create<graph::MatmulOp>({lhs, rhs});
  if (!result || !(leftVector || rightVector))
    return result;
  Dims dims = graph::getDims(result);
  if (rightVector)
    dims.pop_back();
  if (leftVector)
    dims.erase(dims.end() - (rightVector ? 1 : 2));
  return b.reshape(result, dims);
}

static LogicalResult importMatMul(Binder &b) {
  return b.done(buildMatmul(b, b.operand(0), b.operand(1)));
}

/// Computes alpha * A' * B' + beta * C.
Value adze::importer::buildGemm(Binder &b) {
  auto refuse = [&](const llvm::Twine &message) {
    (void)b.fail(message);
    return Value();
  };
  Value lhs = b.operand(0), rhs = b.operand(1), bias = b.operand(2);
  if (b.getRank(lhs) != 2 || b.getRank(rhs) != 2)
    return refuse("expected 2-D operands, but got " +
                  llvm::Twine(b.getRank(lhs)) + "-D and " +
                  llvm::Twine(b.getRank(rhs)) + "-D");
  double alpha = b.getFloat("alpha", 1.0), beta = b.getFloat("beta", 1.0);
  Value result = b.create<graph::MatmulOp>(
      {lhs, rhs}, {b.attr("transpose_a", b.getInt("transA", 0) != 0),
                   b.attr("transpose_b", b.getInt("transB", 0) != 0)});
  mlir::Type given = b.getElementType(lhs), type = given;
  // Fractional factors of integers: the result is rounded once, at the end.
  if (llvm::isa<mlir::IntegerType>(given) &&
      (alpha != std::trunc(alpha) || beta != std::trunc(beta))) {
    type = b.builder.getF64Type();
    result = b.cast(result, type);
    bias = bias ? b.cast(bias, type) : bias;
  }
  if (alpha != 1.0)
    result = b.create<graph::MulOp>({result, b.scalar(type, alpha)});
  if (!bias || beta == 0.0)
    return b.cast(result, given);
  if (beta != 1.0)
    bias = b.create<graph::MulOp>({bias, b.scalar(type, beta)});
  Value sum = b.cast(b.create<graph::AddOp>({result, bias}), given);
  if (sum && b.getRank(sum) != 2)
    return refuse("expected C to broadcast to the product, but got " +
                  llvm::Twine(b.getRank(bias)) + "-D");
  return sum;
}

static LogicalResult importGemm(Binder &b) {
  Value y = buildGemm(b);
  return y ? b.done(y) : mlir::failure();
}

Value adze::importer::buildConv(Binder &b, Value x, Value filter, Value bias) {
  int64_t rank = b.getRank(filter);
  if (!x || !filter)
    return {};
  if (b.getRank(x) < 3) {
    (void)b.fail("expected an input of at least 3 dims, but got " +
                 llvm::Twine(b.getRank(x)) + "-D");
    return {};
  }
  if (rank != b.getRank(x)) {
    (void)b.fail("expected " + llvm::Twine(b.getRank(x)) +
                 "-D weights, but got " + llvm::Twine(rank) + "-D");
    return {};
  }
  Window window;
  if (mlir::failed(getFilterWindow(b, filter, window)) ||
      mlir::failed(addPads(b, x, window)))
    return {};
  llvm::SmallVector<Value> operands{x, filter};
  if (bias)
    operands.push_back(bias);
  return b.create<graph::ConvOp>(
      operands, {b.attr("strides", window.strides), b.attr("pads", window.pads),
                 b.attr("dilations", window.dilations),
                 b.attr("group", b.getInt("group", 1))});
}

static LogicalResult importConv(Binder &b) {
  Value y = buildConv(b, b.operand(0), b.operand(1), b.operand(2));
  return y ? b.done(y) : mlir::failure();
}

/// Returns how many of `total` excess elements of the result of a transposed
/// convolution are cropped at each end; a negative total is padding at the end.
static std::pair<int64_t, int64_t> splitTotal(int64_t total, bool moreAtEnd) {
  if (total < 0)
    return {0, total};
  int64_t half = total / 2;
  return moreAtEnd ? std::pair(half, total - half)
                   : std::pair(total - half, half);
}

namespace {
/// A ConvTranspose node: computes sizes of the result from pads, or pads from
/// the wanted sizes (`output_shape`, or SAME: input * stride).
class TransposedConv {
public:
  explicit TransposedConv(Binder &b) : b(b) {}
  LogicalResult run();

private:
  LogicalResult addPadsOfSizes();
  Value build(llvm::ArrayRef<int64_t> pads, Value bias);
  Value cutByData();

  Binder &b;
  Value input, filter;
  Window window;
  llvm::SmallVector<int64_t> outputPadding;
  std::optional<llvm::SmallVector<int64_t>> wanted;
  bool moreAtEnd = true;
};
} // namespace

Value TransposedConv::build(llvm::ArrayRef<int64_t> pads, Value bias) {
  llvm::SmallVector<Value> operands{input, filter};
  if (bias)
    operands.push_back(bias);
  return b.create<graph::ConvTransposeOp>(
      operands, {b.attr("strides", window.strides), b.attr("pads", pads),
                 b.attr("dilations", window.dilations),
                 b.attr("output_padding", outputPadding),
                 b.attr("group", b.getInt("group", 1))});
}

/// Returns the whole result, cropped to sizes known at run time.
Value TransposedConv::cutByData() {
  Sizes s(b);
  int64_t spatial = window.kernel.size();
  Value all = build(llvm::SmallVector<int64_t>(2 * spatial, 0), Value());
  auto getSizes = [&](Value x) {
    return b.slice(s.shape(x), 0, 2, b.expr(spatial));
  };
  Value sizes = wanted ? s.vector(*wanted)
                       : s.mul(getSizes(input), s.vector(window.strides));
  Value total = s.sub(getSizes(all), sizes), zero = s.number(0);
  Value cut = s.max(total, zero), half = s.div(cut, s.number(2));
  Value before = moreAtEnd ? half : s.sub(cut, half);
  Value pads = s.concat({s.sub(zero, before), s.sub(before, total)});
  Value axes = s.vector(llvm::to_vector(llvm::seq<int64_t>(2, spatial + 2)));
  Value result =
      padByData(b, all, pads, axes, Value(), graph::PadMode::Constant);
  if (Value bias = b.operand(2))
    result =
        b.create<graph::AddOp>({result, b.alongAxis(bias, 1, spatial + 2)});
  return result;
}

LogicalResult TransposedConv::addPadsOfSizes() {
  size_t spatial = window.kernel.size();
  auto sizes = llvm::cast<mlir::RankedTensorType>(input.getType())
                   .getShape()
                   .drop_front(2);
  window.pads.assign(2 * spatial, 0);
  int64_t whole = 0;
  for (size_t i = 0; i < spatial; ++i) {
    int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    // Without pads the size is stride * (size - 1) + padding + reach.
    int64_t total = outputPadding[i] + reach - window.strides[i];
    if (wanted && (llvm::MulOverflow(window.strides[i], sizes[i], whole) ||
                   llvm::AddOverflow(whole - (*wanted)[i], total, total)))
      return b.fail("expected a result of less than 2^63 elements");
    auto [before, after] = splitTotal(total, moreAtEnd);
    window.pads[i] = before;
    window.pads[spatial + i] = std::max<int64_t>(after, 0);
    outputPadding[i] += std::max<int64_t>(-after, 0);
  }
  return mlir::success();
}

LogicalResult TransposedConv::run() {
  input = b.operand(0);
  filter = b.operand(1);
  auto type = llvm::cast<mlir::RankedTensorType>(input.getType());
  if (type.getRank() < 3 || b.getRank(filter) != type.getRank())
    return b.fail("expected input and weights of one rank of at least 3, but "
                  "got " +
                  llvm::Twine(type.getRank()) + "-D and " +
                  llvm::Twine(b.getRank(filter)) + "-D");
  auto channels = graph::getConstant(graph::getDims(input)[1]);
  int64_t group = b.getInt("group", 1);
  if (group < 1 || (channels && group > *channels))
    return b.fail("expected a group for channels, but got " +
                  llvm::Twine(group));
  if (mlir::failed(getFilterWindow(b, filter, window)))
    return mlir::failure();
  size_t spatial = window.kernel.size();
  outputPadding = b.getInts("output_padding", spatial, 0);
  llvm::StringRef mode = b.getString("auto_pad", "NOTSET");
  moreAtEnd = mode != "SAME_LOWER";
  wanted = b.getInts("output_shape");
  if (wanted && wanted->size() != spatial)
    return b.fail("expected " + llvm::Twine(spatial) +
                  " numbers in attribute 'output_shape', but got " +
                  llvm::Twine(wanted->size()));
  if (!wanted && !mode.starts_with("SAME")) {
    if (mlir::failed(addPads(b, input, window)))
      return mlir::failure();
    return b.done(build(window.pads, b.operand(2)));
  }
  if (llvm::is_contained(type.getShape().drop_front(2),
                         mlir::ShapedType::kDynamic) ||
      !window.hasKnownKernel())
    return b.done(cutByData());
  if (mlir::failed(addPadsOfSizes()))
    return mlir::failure();
  return b.done(build(window.pads, b.operand(2)));
}

static LogicalResult importConvTranspose(Binder &b) {
  return TransposedConv(b).run();
}

/// Convolves each channel with a separate filter; windows end at each position.
static Value convolveChannels(Binder &b, Value padded, Value filter,
                              Value bias) {
  Arithmetic a(b);
  Dims dims = graph::getDims(filter);
  auto channels = graph::getConstant(dims[0]),
       width = graph::getConstant(dims[2]);
  if (channels && width) {
    llvm::SmallVector<Value> operands{padded, filter};
    if (bias)
      operands.push_back(bias);
    return b.create<graph::ConvOp>(
        operands, {b.attr("strides", llvm::ArrayRef<int64_t>{1}),
                   b.attr("pads", llvm::ArrayRef<int64_t>{0, 0}),
                   b.attr("dilations", llvm::ArrayRef<int64_t>{1}),
                   b.attr("group", *channels)});
  }
  // The number of groups of a convolution is static, so windows are gathered,
  // and summed in f32 or f64.
  mlir::Type type = b.getElementType(padded);
  if (type.getIntOrFloatBitWidth() < 32)
    for (Value *value : {&padded, &filter, &bias})
      *value = *value ? b.cast(*value, b.builder.getF32Type()) : Value();
  Value x = b.operand(0);
  Value at = a.add(b.unsqueeze(a.iota(x, 2), {1}), a.iota(filter, 2));
  Value windows = a.gather(padded, at, 2); // [batch, channels, length, width]
  Value result = a.sum(a.mul(windows, filter), {3});
  if (bias)
    result = a.add(result, b.unsqueeze(bias, {1}));
  return b.cast(result, type);
}

static LogicalResult importCausalConvWithState(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0), filter = b.operand(1), state = b.operand(3);
  if (b.getRank(x) != 3 || b.getRank(filter) != 3 ||
      (state && b.getRank(state) != 3))
    return b.fail("expected input, weight and past_state of 3 dims");
  llvm::StringRef activation = b.getString("activation", "none");
  bool isSilu = activation == "silu" || activation == "swish";
  if (!isSilu && activation != "none")
    return b.fail("expected activation to be silu, swish or none, but got '" +
                  activation + "'");
  Dims dims = graph::getDims(x);
  filter = b.refine(filter, {dims[1], b.expr(1), AffineExpr()});
  if (!filter)
    return mlir::failure();
  Dims wanted{dims[0], dims[1],
              graph::subExprs(graph::getDims(filter)[2], b.expr(1))};
  if (state)
    state = b.refine(state, wanted);
  else
    state = b.broadcastTo(a.like(x, 0), wanted);
  if (!state)
    return mlir::failure();
  Value padded = a.concat({state, x}, 2);
  if (!padded)
    return mlir::failure();
  Value result = convolveChannels(b, padded, filter, b.operand(2));
  if (isSilu && result) {
    mlir::Type type = b.getElementType(result);
    Value wide = type.getIntOrFloatBitWidth() < 32
                     ? b.cast(result, b.builder.getF32Type())
                     : result;
    result = b.cast(a.mul(wide, a.sigmoid(wide)), type);
  }
  // The next input sees the end of the sequence.
  Value behind = a.add(a.iota(state, 2), a.size(x, 2));
  return b.done({result, a.gather(padded, behind, 2)});
}

/// The function body of ONNX rounds scores, weights and intermediate values to
/// the type of the operands. Small floats are computed in f32 and rounded once,
/// except with a cache, which would be copied for this.
static mlir::Type getAttentionType(Binder &b) {
  mlir::Type keys = b.getElementType(b.operand(0)),
             values = b.getElementType(b.operand(2));
  bool isSmall = keys.getIntOrFloatBitWidth() < 32 && !b.operand(4);
  if (keys == values && !isSmall)
    return keys;
  return keys.isF64() || values.isF64() ? mlir::Type(b.builder.getF64Type())
                                        : b.builder.getF32Type();
}

/// Replaces columns of a value by `columns` zeros or other columns.
static Value withColumns(Binder &b, Value value, int64_t columns) {
  if (!value)
    return {};
  Dims dims = graph::getDims(value);
  dims.back() = b.expr(columns);
  return b.broadcastTo(Arithmetic(b).like(value, 0), dims);
}

/// Query, keys, values and caches have one batch size, and keys and values one
/// length. The function body of ONNX assumes this where it splits heads, whose
/// sizes could not be inferred for an empty batch.
static void shareSizes(Binder &b, llvm::MutableArrayRef<Value> operands) {
  auto share = [&](unsigned i, unsigned from, bool isLength) {
    if (i >= operands.size() || !operands[i] || !operands[from])
      return;
    Dims sizes = graph::getDims(operands[from]), wanted(b.getRank(operands[i]));
    if (sizes.size() < 3 || wanted.size() < 3)
      return;
    if (isLength)
      wanted[wanted.size() - 2] = sizes[sizes.size() - 2];
    else
      wanted[0] = sizes[0];
    operands[i] = b.refine(operands[i], wanted);
  };
  for (unsigned i : {1u, 2u, 4u, 5u})
    share(i, 0, /*isLength=*/false);
  share(2, 1, /*isLength=*/true);
  share(5, 4, /*isLength=*/true);
}

/// The function body of ONNX adds minus infinity to the mask in its own type,
/// which integers do not have, and multiplies weights and values of one type;
/// other types are computed in a type that holds both. A 0 in its sizes stands
/// for another dim, so values without columns get one, which is removed again.
static LogicalResult importAttention(Binder &b) {
  llvm::SmallVector<Value> operands(b.getOperands());
  mlir::Type keys = b.getElementType(b.operand(0)),
             values = b.getElementType(b.operand(2)),
             wide = getAttentionType(b);
  Dims last = graph::getDims(operands[2]);
  bool hasNone = last.size() == 4 && graph::getConstant(last.back()) == 0;
  shareSizes(b, operands);
  for (unsigned i : {2u, 5u})
    if (hasNone && i < operands.size())
      operands[i] = withColumns(b, operands[i], 1);
  for (auto [i, operand] : llvm::enumerate(operands))
    if (operand && i != 3 && i != 6)
      operand = b.cast(operand, wide);
  if (Value mask = b.operand(3))
    if (auto type = llvm::dyn_cast<mlir::IntegerType>(b.getElementType(mask));
        type && type.getWidth() > 1)
      operands[3] = b.cast(mask, wide);
  if (mlir::failed(b.expand(operands)))
    return mlir::failure();
  if (wide == keys && !hasNone)
    return mlir::success();
  llvm::SmallVector<Value> results(b.getResults());
  for (auto [i, result] : llvm::enumerate(results)) {
    if (result && hasNone && i % 2 == 0)
      result = withColumns(b, result, 0);
    if (result)
      result = b.cast(result, i == 2 ? values : keys);
  }
  return b.done(results);
}

void adze::importer::addContractionOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(),
              {
                  {"CausalConvWithState", 27, 2, importCausalConvWithState},
                  {"Conv", 1, 2, importConv},
                  {"ConvTranspose", 1, 2, importConvTranspose},
                  {"Attention", 23, 3, importAttention},
                  {"Gemm", 1, 2, importGemm},
                  {"MatMul", 1, 2, importMatMul},
              });
}
