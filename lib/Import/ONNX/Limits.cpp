// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Limits of attributes and operands that no handler checks: a value beyond them
// would be misinterpreted, or ignored by a function body.
#include "Limits.h"
#include "llvm/ADT/StringExtras.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;

namespace {

/// The range of an integer, or of each of several. Operators of ai.onnx are
/// given by name, others with their domain.
struct Range {
  llvm::StringRef op, attribute;
  int64_t least, most;
};

struct Words {
  llvm::StringRef op, attribute, words;
};

/// A parameter that is a vector or a scalar.
struct Vector {
  llvm::StringRef op;
  unsigned operand;
  int64_t least = INT64_MIN; // of its elements
};

} // namespace

/// The limit of sizes, so that shape arithmetic does not overflow.
static constexpr int64_t kMost = int64_t(1) << 31;

/// Attributes that are 0 or 1 in all operators.
static constexpr llvm::StringLiteral kFlags[] = {
    "align_corners",
    "allowzero",
    "antialias",
    "broadcast",
    "ceil_mode",
    "center_point_box",
    "count_include_pad",
    "detect_negative",
    "detect_positive",
    "do_rotary",
    "exclude_outside",
    "exclusive",
    "fmod",
    "input_forget",
    "interleaved",
    "inverse",
    "is_case_sensitive",
    "is_causal",
    "is_packed_batching",
    "is_test",
    "keepdims",
    "largest",
    "layout",
    "linear_before_reset",
    "new_axis",
    "noop_with_empty_axes",
    "onesided",
    "output_sequence",
    "past_present_share_buffer",
    "periodic",
    "reverse",
    "rotary_interleaved",
    "saturate",
    "select_last_index",
    "sorted",
    "spatial",
    "storage_order",
    "training_mode",
    "transA",
    "transB",
    "transBatchA",
    "transBatchB",
    "unidirectional",
    "upper",
    "zeros",
};

static constexpr Range kRanges[] = {
    {"Attention", "qk_matmul_output_mode", 0, 3},
    {"Col2Im", "dilations", 1, kMost},
    {"Col2Im", "pads", 0, kMost},
    {"Col2Im", "strides", 1, kMost},
    {"ConvTranspose", "output_padding", 0, kMost},
    {"ConvTranspose", "output_shape", 0, kMost},
    {"DequantizeLinear", "block_size", 0, kMost},
    {"DequantizeLinear", "output_dtype", 0, 32},
    {"GlobalLpPool", "p", 1, kMost},
    {"LinearAttention", "chunk_size", 1, INT64_MAX},
    {"LpPool", "p", 1, kMost},
    {"QuantizeLinear", "block_size", 0, kMost},
    {"QuantizeLinear", "output_dtype", 0, 32},
    {"RotaryEmbedding", "num_heads", 0, kMost},
    {"RotaryEmbedding", "rotary_embedding_dim", 0, kMost},
    {"Scan", "directions", 0, 1},
    {"Scan", "scan_input_directions", 0, 1},
    {"Scan", "scan_output_directions", 0, 1},
    {"TfIdfVectorizer", "ngram_counts", 0, kMost},
    {"TopK", "k", 1, INT64_MAX},
    {"com.microsoft.Attention", "num_heads", 1, kMost},
    {"com.microsoft.GroupQueryAttention", "kv_num_heads", 1, kMost},
    {"com.microsoft.GroupQueryAttention", "num_heads", 1, kMost},
    {"com.microsoft.MatMulNBits", "K", 1, kMost},
    {"com.microsoft.MatMulNBits", "N", 1, kMost},
    {"com.microsoft.MatMulNBits", "block_size", 1, kMost},
    {"com.microsoft.MultiHeadAttention", "num_heads", 1, kMost},
    {"com.microsoft.RotaryEmbedding", "num_heads", 0, kMost},
    {"com.microsoft.RotaryEmbedding", "rotary_embedding_dim", 0, kMost},
};

static constexpr Words kWords[] = {
    {"Cast", "round_mode", "up down nearest"},
    {"CastLike", "round_mode", "up down nearest"},
    {"NegativeLogLikelihoodLoss", "reduction", "none sum mean"},
    {"Resize", "keep_aspect_ratio_policy", "stretch not_larger not_smaller"},
    {"SoftmaxCrossEntropyLoss", "reduction", "none sum mean"},
};

static constexpr Vector kVectors[] = {
    {"AffineGrid", 1},
    {"BlackmanWindow", 0, 1},
    {"CenterCropPad", 1},
    {"CenterCropPad", 2},
    {"Col2Im", 1},
    {"Col2Im", 2},
    {"ConstantOfShape", 0},
    {"CumProd", 1},
    {"CumSum", 1},
    {"DFT", 1},
    {"DFT", 2},
    {"Expand", 1},
    {"HammingWindow", 0, 1},
    {"HannWindow", 0, 1},
    {"MaxUnpool", 2},
    {"MelWeightMatrix", 0, 1},
    {"MelWeightMatrix", 1, 1},
    {"MelWeightMatrix", 2, 1},
    {"Pad", 1},
    {"Pad", 3},
    {"Reshape", 1},
    {"Resize", 1},
    {"Resize", 2},
    {"Resize", 3},
    {"ReverseSequence", 1, 0},
    {"RoiAlign", 2, 0},
    {"STFT", 1, 1},
    {"STFT", 3, 1},
    {"Slice", 1},
    {"Slice", 2},
    {"Slice", 3},
    {"Slice", 4},
    {"Split", 1, 0},
    {"SplitToSequence", 1, 0},
    {"Squeeze", 1},
    {"TensorScatter", 2, 0},
    {"Tile", 1, 0},
    {"TopK", 1, 0},
    {"Unsqueeze", 1},
};

static LogicalResult checkRange(Binder &b, const Range &range) {
  const Attribute *attribute = b.node.find(range.attribute);
  if (!attribute)
    return mlir::success();
  llvm::SmallVector<int64_t> values(attribute->ints.begin(),
                                    attribute->ints.end());
  if (attribute->kind == Attribute::Kind::Int)
    values.push_back(attribute->i);
  for (int64_t value : values)
    if (value < range.least || value > range.most)
      return b.fail("expected attribute '" + range.attribute + "' in [" +
                    llvm::Twine(range.least) + ", " + llvm::Twine(range.most) +
                    "], but got " + llvm::Twine(value));
  return mlir::success();
}

static LogicalResult checkWords(Binder &b, const Words &words) {
  const Attribute *attribute = b.node.find(words.attribute);
  if (!attribute || attribute->kind != Attribute::Kind::String)
    return mlir::success();
  llvm::SmallVector<llvm::StringRef> known;
  words.words.split(known, ' ');
  if (llvm::is_contained(known, attribute->s))
    return mlir::success();
  return b.fail("expected attribute '" + words.attribute + "' to be one of " +
                llvm::join(known, ", ") + ", but got '" + attribute->s + "'");
}

static LogicalResult checkVector(Binder &b, const Vector &vector) {
  mlir::Value operand = b.operand(vector.operand);
  if (!operand || graph::isHandle(operand.getType()))
    return mlir::success();
  if (b.getRank(operand) > 1)
    return b.fail("expected operand " + llvm::Twine(vector.operand) +
                  " to be a vector, but got " +
                  llvm::Twine(b.getRank(operand)) + "-D");
  return vector.least == INT64_MIN
             ? mlir::success()
             : checkElements(b, vector.operand, vector.least);
}

LogicalResult adze::importer::checkElements(Binder &b, unsigned operand,
                                            int64_t least) {
  mlir::DenseIntElementsAttr elements;
  if (!matchPattern(b.operand(operand), mlir::m_Constant(&elements)))
    return mlir::success();
  for (const llvm::APInt &element : elements.getValues<llvm::APInt>())
    if (int64_t value = element.getSExtValue(); value < least)
      return b.fail("expected elements of operand " + llvm::Twine(operand) +
                    " of at least " + llvm::Twine(least) + ", but got " +
                    llvm::Twine(value));
  return mlir::success();
}

LogicalResult adze::importer::checkLimits(Binder &b) {
  for (llvm::StringRef flag : kFlags)
    if (mlir::failed(checkRange(b, {b.node.opType, flag, 0, 1})))
      return mlir::failure();
  std::string name = b.node.domain.empty()
                         ? b.node.opType
                         : b.node.domain + "." + b.node.opType;
  LogicalResult result = mlir::success();
  auto apply = [&](const auto &rows, auto check) {
    for (const auto &row : rows)
      if (row.op == name && mlir::succeeded(result))
        result = check(b, row);
  };
  apply(kRanges, checkRange);
  apply(kWords, checkWords);
  apply(kVectors, checkVector);
  return result;
}
