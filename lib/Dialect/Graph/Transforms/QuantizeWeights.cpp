// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-quantize-weights: quantizes constant weights of f32 products blockwise
// to 4 or 8 bits.
#include "Dialect/Graph/IR/Blob.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Quantized.h"
#include "Refusals.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Threading.h"
#include <cmath>

namespace adze::graph {
#define GEN_PASS_DEF_QUANTIZEWEIGHTSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

constexpr StringRef passName = "quantize-weights";

/// A constant f32 matrix. Row n is column n of the product.
struct Matrix {
  ConstantOp constant;
  bool isTransposed; // elements of a column are contiguous
  int64_t rows, depth;
};

/// Returns the matrix that a product reads, through transposes.
std::optional<Matrix> matchMatrix(MatmulOp op) {
  Value rhs = op.getRhs();
  bool isTransposed = !op.getTransposeB();
  while (auto transpose = rhs.getDefiningOp<TransposeOp>()) {
    if (getRank(rhs) != 2)
      return std::nullopt;
    if (transpose.getPerm()[0] == 1)
      isTransposed = !isTransposed;
    rhs = transpose.getInput();
  }
  auto constant = rhs.getDefiningOp<ConstantOp>();
  if (!constant || getRank(rhs) != 2)
    return std::nullopt;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(rhs.getType()).getShape();
  return Matrix{constant, isTransposed, shape[isTransposed ? 1 : 0],
                shape[isTransposed ? 0 : 1]};
}

/// A packed weight, and its quantization error.
struct Rounded {
  Value weight;
  double error = 0;
};

/// Quantizes the rows of a matrix by blocks.
class Rounding {
public:
  Rounding(const Matrix &matrix, ArrayRef<float> elements, int64_t bits,
           int64_t block)
      : matrix(matrix), elements(elements), bits(bits), block(block),
        blocks(llvm::divideCeil(matrix.depth, block)),
        packed(matrix.rows * blocks * block * bits / 8),
        scales(matrix.rows * blocks), signal(getGroups()), noise(getGroups()) {}

  void run(MLIRContext *context) {
    parallelFor(context, 0, getGroups(), [&](size_t group) {
      std::vector<float> values(block);
      int64_t first = int64_t(group) * groupRows,
              end = std::min(first + groupRows, matrix.rows);
      for (int64_t b = 0; b < blocks; ++b)
        for (int64_t n = first; n < end; ++n) {
          gather(n, b, values);
          roundBlock(n, b, values);
        }
    });
  }

  bool isFinite() const {
    return llvm::all_of(signal, [](double s) { return std::isfinite(s); });
  }

  /// Returns the L2 norm of the quantization error, relative to that of the
  /// matrix.
  double getError() const {
    double sum = 0, changed = 0;
    for (auto [s, n] : llvm::zip_equal(signal, noise)) {
      sum += s;
      changed += n;
    }
    return sum > 0 ? std::sqrt(changed / sum) : 0;
  }

  int64_t getBlocks() const { return blocks; }
  ArrayRef<uint8_t> getPacked() const { return packed; }
  ArrayRef<float> getScales() const { return scales; }

private:
  /// Rows whose elements share cache lines if columns are contiguous.
  static constexpr int64_t groupRows = 16;

  int64_t getGroups() const { return llvm::divideCeil(matrix.rows, groupRows); }

  /// Reads block b of row n; missing elements are 0.
  void gather(int64_t n, int64_t b, MutableArrayRef<float> values) const {
    for (int64_t i = 0; i < block; ++i) {
      int64_t k = b * block + i;
      int64_t at =
          matrix.isTransposed ? k * matrix.rows + n : n * matrix.depth + k;
      values[i] = k < matrix.depth ? elements[at] : 0;
    }
  }

  double half() const { return double(int64_t(1) << (bits - 1)); }

  double round(double value, double scale) const {
    // Bytes are symmetric; with 4 bits, the least integer is used, too.
    double least = bits == 8 ? 1 - half() : -half();
    return std::clamp(std::nearbyint(value / scale), least, half() - 1);
  }

  double getNoise(ArrayRef<float> values, double scale) const {
    double sum = 0;
    for (double value : values) {
      double difference = value - round(value, scale) * scale;
      sum += difference * difference;
    }
    return sum;
  }

  /// Returns the scale of the whole range or, with 4 bits, of the part of it
  /// with the least squared error.
  float chooseScale(ArrayRef<float> values) const {
    float most = *llvm::max_element(values), least = *llvm::min_element(values);
    double below = bits == 8 ? half() - 1 : half();
    auto full = float(std::max(most / (half() - 1), -least / below));
    if (!(full > 0) || bits == 8)
      return full > 0 ? full : 1;
    float best = full;
    double noise = getNoise(values, full);
    constexpr int attempts = 10;
    for (int i = 1; i <= attempts; ++i) {
      float scale = full * (1 - 0.04f * float(i));
      if (double other = getNoise(values, scale); other < noise) {
        noise = other;
        best = scale;
      }
    }
    return best;
  }

  void roundBlock(int64_t n, int64_t b, ArrayRef<float> values) {
    int64_t index = n * blocks + b, group = n / groupRows, parts = 8 / bits;
    float scale = scales[index] = chooseScale(values);
    uint8_t *bytes = packed.data() + index * block / parts;
    for (auto [i, value] : llvm::enumerate(values)) {
      double rounded = round(value, scale);
      auto element = uint8_t(rounded + half());
      bytes[int64_t(i) / parts] |= element << (int64_t(i) % parts * bits);
      double difference = value - rounded * scale;
      signal[group] += double(value) * value;
      noise[group] += difference * difference;
    }
  }

  const Matrix &matrix;
  ArrayRef<float> elements;
  int64_t bits, block, blocks;
  std::vector<uint8_t> packed;
  std::vector<float> scales;
  std::vector<double> signal, noise; // by groups of rows
};

class QuantizeWeightsPass final
    : public adze::graph::impl::QuantizeWeightsPassBase<QuantizeWeightsPass> {
public:
  using QuantizeWeightsPassBase::QuantizeWeightsPassBase;

  void runOnOperation() override {
    if ((bits != 4 && bits != 8) || block < 16 || block % 16 != 0) {
      getOperation().emitError("expected 4 or 8 bits and a block of a multiple "
                               "of 16, but got ")
          << int64_t(bits) << " and " << int64_t(block);
      return signalPassFailure();
    }
    if (failed(checkUnit()))
      return signalPassFailure();
    SmallVector<MatmulOp> products;
    getOperation().walk([&](MatmulOp op) { products.push_back(op); });
    IRRewriter b(&getContext());
    for (MatmulOp op : products) {
      std::optional<Matrix> matrix = matchMatrix(op);
      if (!matrix || !getElement(matrix->constant).isF32())
        continue;
      if (StringRef reason = findReason(op, *matrix); !reason.empty()) {
        refuse(op, passName, reason);
        continue;
      }
      Rounded rounded = quantize(*matrix, b);
      if (!rounded.weight) {
        refuse(op, passName, "the weight has numbers that are not finite");
        continue;
      }
      b.modifyOpInPlace(op, [&] {
        op.getRhsMutable().assign(rounded.weight);
        op.setTransposeB(true);
      });
      report(op, rounded.error);
      ++quantized;
    }
  }

private:
  /// Fails unless every target has a unit for bytes: on others, packed weights
  /// would be expanded again.
  LogicalResult checkUnit() {
    if (areCpusWithUnit(getOperation()))
      return success();
    InFlightDiagnostic error = emitError(UnknownLoc::get(&getContext()),
                                         "unsupported: --weights-precision=int")
                               << int64_t(bits) << ": ";
    for (Attribute target : tile::getTargets(getOperation()))
      error << cast<tile::CodegenTargetAttrInterface>(target).getChip() << " ";
    return error << "has no instruction for products of 'ui8' by 'si8'; leave "
                    "the flag out, or name another CPU by --mcpu";
  }

  /// Returns the reason why a product by a constant is not changed, or an empty
  /// string.
  StringRef findReason(MatmulOp op, const Matrix &matrix) {
    if (op.getTransposeA())
      return "the left operand is transposed";
    if (!getElement(op.getLhs()).isF32() || !getElement(op.getResult()).isF32())
      return "it is not a product of f32";
    if (matrix.depth < block)
      return "its depth is less than a block";
    ConstantOp constant = matrix.constant;
    if (constant.getValue().isSplat())
      return "all elements of the weight are equal";
    return "";
  }

  /// Returns the packed weight and its error, or null if it has elements that
  /// are not finite. Products by one constant share it.
  Rounded quantize(const Matrix &matrix, OpBuilder &b) {
    ConstantOp constant = matrix.constant;
    std::pair<Value, unsigned> key(constant, matrix.isTransposed);
    if (auto known = weights.find(key); known != weights.end())
      return known->second;
    auto emitError = [&] { return constant.emitError(); };
    std::vector<char> storage;
    auto bytes = readElements(constant.getValue(), storage, emitError);
    if (failed(bytes))
      return {};
    ArrayRef elements(reinterpret_cast<const float *>(bytes->data()),
                      matrix.rows * matrix.depth);
    Rounding rounding(matrix, elements, bits, block);
    rounding.run(&getContext());
    if (!rounding.isFinite())
      return weights[key] = {};
    int64_t rows = matrix.rows, blocks = rounding.getBlocks();
    auto makeConstant = [&](ArrayRef<int64_t> shape, Type type,
                            const void *data) -> Value {
      auto tensor = RankedTensorType::get(shape, type);
      ArrayRef raw(static_cast<const char *>(data), getNumBytes(tensor));
      auto made = makeElements(tensor, raw, emitError);
      if (failed(made))
        return {};
      return ConstantOp::create(b, constant.getLoc(), *made);
    };
    b.setInsertionPointAfter(constant);
    Value packed = makeConstant({rows, blocks, block * bits / 8},
                                b.getIntegerType(8, /*isSigned=*/false),
                                rounding.getPacked().data());
    Value scales = makeConstant({rows, blocks}, b.getF32Type(),
                                rounding.getScales().data());
    if (!packed || !scales)
      return {};
    Value weight = DequantizeBlocksOp::create(
        b, constant.getLoc(),
        RankedTensorType::get({rows, matrix.depth}, b.getF32Type()), packed,
        scales, Value(), bits, block, /*int8_products=*/false);
    return weights[key] = {weight, rounding.getError()};
  }

  /// Emits an analysis remark, which --report shows.
  void report(MatmulOp op, double error) {
    using Arg = remark::detail::Remark::Arg;
    auto options = remark::RemarkOpts::name(passName).category(
        op->getName().getStringRef());
    if (auto remark = remark::analysis(op.getLoc(), options))
      remark << Arg("Bits", int64_t(bits)) << Arg("Block", int64_t(block))
             << Arg("RelativeError", error);
  }

  DenseMap<std::pair<Value, unsigned>, Rounded> weights;
};

} // namespace
