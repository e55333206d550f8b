// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// ai.onnx.ml: features and linear models. Support vectors are in
// MlSupportVectors.cpp, trees in MlTrees.cpp.
#include "Ml.h"
#include "../IndexRange.h"
#include "../OpTable.h"
#include "Arithmetic.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

//===----------------------------------------------------------------------===//
// What all share
//===----------------------------------------------------------------------===//

template <typename T>
static Value makeConstant(Binder &b, mlir::Type elementType,
                          llvm::ArrayRef<double> values,
                          llvm::ArrayRef<int64_t> shape) {
  std::vector<T> numbers(values.begin(), values.end());
  auto elements = graph::makeElements(
      mlir::RankedTensorType::get(shape, elementType),
      llvm::ArrayRef(reinterpret_cast<const char *>(numbers.data()),
                     numbers.size() * sizeof(T)),
      [&] { return mlir::emitError(b.loc); });
  return mlir::succeeded(elements) ? b.constant(*elements) : Value();
}

Value adze::importer::makeTable(Binder &b, mlir::Type elementType,
                                llvm::ArrayRef<double> values,
                                llvm::ArrayRef<int64_t> shape) {
  if (b.hasFailed())
    return {};
  if (elementType.isF64())
    return makeConstant<double>(b, elementType, values, shape);
  if (elementType.isInteger(64)) {
    // Attributes become doubles, which are exact up to this value.
    constexpr double most = 0x1p53;
    for (double value : values)
      if (!(std::abs(value) < most)) {
        (void)b.unsupported("expected integers of less than 2^53, but got " +
                            llvm::formatv("{0:f0}", value).str());
        return {};
      }
    return makeConstant<int64_t>(b, elementType, values, shape);
  }
  return b.cast(makeConstant<float>(b, b.builder.getF32Type(), values, shape),
                elementType);
}

std::vector<double> adze::importer::getNumbers(Binder &b,
                                               llvm::StringRef name) {
  const Attribute *given = b.node.find(name);
  if (given && given->kind == Attribute::Kind::Floats)
    return given->floats;
  if (given && given->kind == Attribute::Kind::Ints)
    return std::vector<double>(given->ints.begin(), given->ints.end());
  const Attribute *wide = b.node.find((name + "_as_tensor").str());
  const Attribute *tensor =
      given && given->kind == Attribute::Kind::Tensor ? given : wide;
  if (!tensor || tensor->kind != Attribute::Kind::Tensor)
    return {};
  mlir::ElementsAttr elements = b.getElements(tensor->tensors.front());
  if (!elements)
    return {};
  std::vector<double> values;
  auto read = [&](auto range) {
    for (const auto &value : range)
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, llvm::APInt>)
        values.push_back(double(value.getSExtValue()));
      else
        values.push_back(llvm::APFloat(value).convertToDouble());
  };
  bool isFloat = llvm::isa<mlir::FloatType>(elements.getElementType());
  if (auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(elements)) {
    if (isFloat)
      read(dense.getValues<llvm::APFloat>());
    else
      read(dense.getValues<llvm::APInt>());
  } else if (auto blob = llvm::dyn_cast<graph::BlobElementsAttr>(elements)) {
    if (isFloat)
      read(blob.getValues<llvm::APFloat>());
    else
      read(blob.getValues<llvm::APInt>());
  }
  return values;
}

Value adze::importer::getFloatRows(Binder &b) {
  Value x = b.operand(0);
  if (!b.getElementType(x).isF64())
    x = b.cast(x, b.builder.getF32Type());
  if (x && b.getRank(x) == 1)
    x = b.unsqueeze(x, {0});
  if (x && b.getRank(x) != 2) {
    (void)b.fail("expected an input of 1 or 2 dims, but got " +
                 llvm::Twine(b.getRank(x)));
    return {};
  }
  return x;
}

/// Computes sqrt(2) * erf^-1(2 x - 1), by the approximation of Winitzki.
static Value probit(Binder &b, Value x) {
  Arithmetic a(b);
  constexpr double k = 0.147;
  Value y = a.sub(a.mul(x, 2.0), 1.0);
  Value log = a.log(a.mul(a.sub(1.0, y), a.add(y, 1.0)));
  Value half = a.add(a.mul(log, 0.5), 2 / (M_PI * k));
  Value root =
      a.sqrt(a.sub(a.sqrt(a.sub(a.mul(half, half), a.mul(log, 1 / k))), half));
  return a.mul(a.mul(b.create<graph::SignOp>(y), root), 1.41421356);
}

/// Computes softmax of nonzero scores; zeros stay.
static Value softmaxZero(Binder &b, Value x) {
  Arithmetic a(b);
  if (!x)
    return {};
  Value greatest = a.reduce<graph::ReduceMaxOp>(x, {1}, /*keepdims=*/true);
  Value isZero = a.lessEqual(a.abs(x), 1e-7);
  Value powers = a.select(isZero, a.mul(x, a.exp(a.neg(greatest))),
                          a.exp(a.sub(x, greatest)));
  Value sum = a.sum(powers, {1}, /*keepdims=*/true);
  return a.select(a.equal(sum, 0.0), a.like(x, 0.5), a.div(powers, sum));
}

Value adze::importer::transformScores(Binder &b, Value scores,
                                      llvm::StringRef transform) {
  Arithmetic a(b);
  if (transform == "NONE")
    return scores;
  if (transform == "LOGISTIC")
    return a.sigmoid(scores);
  if (transform == "SOFTMAX")
    return b.create<graph::SoftmaxOp>(scores, b.attr("axis", int64_t(1)));
  if (transform == "SOFTMAX_ZERO")
    return softmaxZero(b, scores);
  if (transform == "PROBIT")
    return probit(b, scores);
  (void)b.fail("expected post_transform to be NONE, LOGISTIC, SOFTMAX, "
               "SOFTMAX_ZERO or PROBIT, but got '" +
               transform + "'");
  return {};
}

Value adze::importer::makeBinaryScores(Binder &b, Value scores, bool share,
                                       llvm::StringRef transform) {
  Arithmetic a(b);
  Value mirrored = a.neg(scores);
  if (transform == "PROBIT") {
    (void)b.unsupported("expected post_transform other than PROBIT of one "
                        "score for two classes");
    return {};
  }
  if (transform == "LOGISTIC")
    return a.sigmoid(a.concat({mirrored, scores}, 1));
  // Both scores of a pair are not transformed further.
  return a.concat({share ? a.sub(1.0, scores) : mirrored, scores}, 1);
}

Value adze::importer::getLabels(Binder &b, Value index,
                                llvm::StringRef integers,
                                llvm::StringRef strings) {
  if (auto names = b.getStrings(strings); names && !names->empty())
    return Arithmetic(b).gather(b.strings(*names), index, 0);
  auto labels = b.getInts(integers);
  if (!labels || labels->empty())
    return index;
  return Arithmetic(b).gather(b.ints(*labels), index, 0);
}

Value adze::importer::getGreatest(Binder &b, Value scores) {
  return b.create<graph::ArgMaxOp>(
      scores, {b.attr("axis", int64_t(1)), b.attr("keepdims", false)});
}

Value adze::importer::getRow(Binder &b, llvm::StringRef name, Value like) {
  std::vector<double> numbers = getNumbers(b, name);
  if (!like)
    return {};
  return makeTable(b, b.getElementType(like), numbers,
                   {int64_t(numbers.size())});
}

namespace {

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

LogicalResult importScaler(Binder &b) {
  Arithmetic a(b);
  Value x = b.cast(b.operand(0), b.builder.getF32Type());
  if (b.hasAttribute("offset"))
    x = a.sub(x, getRow(b, "offset", x));
  if (b.hasAttribute("scale"))
    x = a.mul(x, getRow(b, "scale", x));
  return b.done(x);
}

LogicalResult importNormalizer(Binder &b) {
  Arithmetic a(b);
  Value x = b.cast(b.operand(0), b.builder.getF32Type());
  llvm::StringRef norm = b.getString("norm", "MAX");
  if (!x || b.getRank(x) == 0)
    return b.fail("expected an input of at least one dim");
  int64_t last = b.getRank(x) - 1;
  Value size;
  if (norm == "MAX")
    size = a.reduce<graph::ReduceMaxOp>(x, {last}, true);
  else if (norm == "L1")
    size = a.reduce<graph::ReduceL1Op>(x, {last}, true);
  else if (norm == "L2")
    size = a.reduce<graph::ReduceL2Op>(x, {last}, true);
  else
    return b.fail("expected norm to be MAX, L1 or L2, but got '" + norm + "'");
  return b.done(a.select(a.equal(size, 0.0), x, a.div(x, size)));
}

LogicalResult importBinarizer(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  return b.done(
      b.cast(a.greater(x, b.getFloat("threshold", 0.0)), b.getElementType(x)));
}

LogicalResult importImputer(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  bool isFloat = llvm::isa<mlir::FloatType>(b.getElementType(x));
  Value imputed =
      getRow(b, isFloat ? "imputed_value_floats" : "imputed_value_int64s", x);
  if (!isFloat)
    return b.done(a.select(
        a.equal(x, double(b.getInt("replaced_value_int64", 0))), imputed, x));
  double replaced = b.getFloat("replaced_value_float", 0.0);
  Value isMissing =
      std::isnan(replaced) ? b.create<graph::IsNanOp>(x) : a.equal(x, replaced);
  return b.done(a.select(isMissing, imputed, x));
}

/// Returns 1 where a number is the category. With `zeros` = 0 each number has
/// to have one, which is not checked.
LogicalResult importOneHotEncoder(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  auto categories = b.getInts("cats_int64s");
  auto texts = b.getStrings("cats_strings");
  bool byText = texts && !texts->empty();
  if (byText != Binder::isString(x) ||
      (!byText && (!categories || categories->empty())))
    return b.fail("expected categories of the input's type");
  if (!byText)
    x = b.cast(x, b.builder.getI64Type());
  Value isIt = a.equal(a.withTail(x, 1),
                       byText ? b.strings(*texts) : b.ints(*categories));
  return b.done(b.cast(isIt, b.builder.getF32Type()));
}

LogicalResult importArrayFeatureExtractor(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0), indices = b.operand(1);
  if (b.getRank(x) == 0)
    return b.fail("expected an input of at least one dim");
  indices = a.flatten(indices, 0, b.getRank(indices));
  if (mlir::failed(checkIndices(b, indices, graph::getDims(x).back(),
                                NegativeIndex::OutOfRange)))
    return mlir::failure();
  Value result = a.gather(x, indices, b.getRank(x) - 1);
  if (b.getRank(x) == 1)
    result = b.unsqueeze(result, {0});
  return b.done(result);
}

/// Concatenates features, each cropped or padded to its size.
LogicalResult importFeatureVectorizer(Binder &b) {
  Arithmetic a(b);
  auto sizes = b.getInts("inputdimensions", b.getNumOperands(), 1);
  llvm::SmallVector<Value> parts;
  for (auto [operand, size] : llvm::zip_equal(b.getOperands(), sizes)) {
    Value x = b.cast(operand, b.builder.getF32Type());
    if (x && b.getRank(x) == 1)
      x = b.unsqueeze(x, {1});
    if (!x || b.getRank(x) != 2)
      return b.fail("expected inputs of 1 or 2 dims");
    auto width = graph::getConstant(graph::getDims(x)[1]);
    if (size < 0)
      return b.fail("expected inputdimensions of at least 0, but got " +
                    llvm::Twine(size));
    // An unknown width may be 0.
    int64_t missing = size - width.value_or(0);
    if (missing > 0)
      x = b.create<graph::PadOp>(
          x, {b.attr("low", llvm::ArrayRef<int64_t>{0, 0}),
              b.attr("high", llvm::ArrayRef<int64_t>{0, missing})});
    parts.push_back(b.slice(x, 1, 0, b.expr(size)));
  }
  return b.done(a.concat(parts, 1));
}

//===----------------------------------------------------------------------===//
// Linear models
//===----------------------------------------------------------------------===//

/// Computes x * C' + intercepts for `rows` rows of coefficients.
Value buildLinear(Binder &b, Value x, int64_t rows) {
  Arithmetic a(b);
  std::vector<double> numbers = getNumbers(b, "coefficients");
  if (!x || rows < 1 || numbers.size() % rows != 0) {
    (void)b.fail("expected coefficients of " + llvm::Twine(rows) +
                 " equal rows, but got " + llvm::Twine(numbers.size()));
    return {};
  }
  Value table = makeTable(b, b.getElementType(x), numbers,
                          {rows, int64_t(numbers.size()) / rows});
  Value result = a.matmul(x, table, /*transposeY=*/true);
  if (!getNumbers(b, "intercepts").empty())
    result = a.add(result, getRow(b, "intercepts", x));
  return result;
}

LogicalResult importLinearRegressor(Binder &b) {
  Value scores = buildLinear(b, getFloatRows(b), b.getInt("targets", 1));
  scores = transformScores(b, scores, b.getString("post_transform", "NONE"));
  return b.done(b.cast(scores, b.builder.getF32Type()));
}

LogicalResult importLinearClassifier(Binder &b) {
  Arithmetic a(b);
  auto labels = b.getInts("classlabels_ints");
  const Attribute *names = b.node.find("classlabels_strings");
  size_t classes = labels && !labels->empty() ? labels->size()
                   : names                    ? names->strings.size()
                                              : 0;
  size_t rows = std::max<size_t>(getNumbers(b, "intercepts").size(), 1);
  llvm::StringRef transform = b.getString("post_transform", "NONE");
  Value scores = buildLinear(b, getFloatRows(b), rows);
  if (!scores)
    return mlir::failure();
  mlir::Type i64 = b.builder.getI64Type();
  Value index;
  if (rows == 1) {
    Value isPositive = a.greater(a.flatten(scores, 0, 2), 0.0);
    index = b.cast(isPositive, i64);
    if (classes == 2)
      scores = makeBinaryScores(b, scores, /*share=*/true, transform);
    else
      scores = transformScores(b, scores, transform);
    if (classes == 1)
      return b.done({a.mul(index, double(labels ? labels->front() : 1)),
                     b.cast(scores, b.builder.getF32Type())});
  } else {
    index = getGreatest(b, scores);
    scores = transformScores(b, scores, transform);
  }
  return b.done({getLabels(b, index, "classlabels_ints", "classlabels_strings"),
                 b.cast(scores, b.builder.getF32Type())});
}

} // namespace

void adze::importer::addMlOps(std::vector<OpRow> &rows) {
  auto add = [&](llvm::StringRef name, Handler handler,
                 llvm::StringRef note = "") {
    rows.push_back({name, 1, 1, handler, note, INT32_MAX, "ai.onnx.ml"});
  };
  add("ArrayFeatureExtractor", importArrayFeatureExtractor);
  add("Binarizer", importBinarizer);
  add("FeatureVectorizer", importFeatureVectorizer);
  add("Imputer", importImputer);
  add("LinearClassifier", importLinearClassifier, "string labels of one class");
  add("LinearRegressor", importLinearRegressor);
  add("Normalizer", importNormalizer);
  add("OneHotEncoder", importOneHotEncoder);
  add("Scaler", importScaler);
}
