// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Shapes as tensors, and tensors from shapes.
#include "../OpTable.h"
#include "../Sizes.h"
#include "Dialect/Graph/IR/Clamp.h"
#include "Dialect/Graph/IR/Elements.h"
#include "mlir/IR/Matchers.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

/// Since version 15 this is a slice of the shape.
static LogicalResult importShape(Binder &b) {
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  int64_t start = clamp(b.getInt("start", 0)),
          end = clamp(b.getInt("end", rank));
  Value shape = b.create<graph::ShapeOp>(x);
  if (start == 0 && end == rank)
    return b.done(shape);
  return b.done(
      b.slice(shape, 0, start, b.expr(std::max<int64_t>(end - start, 0))));
}

static LogicalResult importSize(Binder &b) {
  Value shape = b.create<graph::ShapeOp>(b.operand(0));
  return b.done(b.create<graph::ReduceProdOp>(
      shape,
      {b.attr("axes", llvm::ArrayRef<int64_t>{0}), b.attr("keepdims", false)}));
}

static LogicalResult importConstantOfShape(Binder &b) {
  mlir::TypedAttr value = b.builder.getF32FloatAttr(0.0f);
  if (const TensorData *tensor = b.getTensor("value")) {
    mlir::ElementsAttr elements = b.getElements(*tensor);
    if (!elements)
      return mlir::failure();
    if (elements.getNumElements() != 1)
      return b.fail("expected attribute 'value' to have one element, but got " +
                    llvm::Twine(elements.getNumElements()));
    value = llvm::cast<mlir::TypedAttr>(
        *llvm::cast<mlir::DenseElementsAttr>(elements)
             .getValues<mlir::Attribute>()
             .begin());
  }
  Dims dims = b.getSizes(b.withDeclaredRank(b.operand(0)));
  if (b.hasFailed())
    return mlir::failure();
  for (AffineExpr dim : dims)
    if (!b.assumeNonNegative(dim))
      return b.fail("expected dims >= 0, but got " + graph::toString(dims));
  auto type = llvm::cast<mlir::RankedTensorType>(
      mlir::Type(graph::makeType(value.getType(), dims)));
  if (type.hasStaticShape())
    return b.done(
        b.constant(mlir::DenseElementsAttr::get(type, mlir::Attribute(value))));
  auto scalarType = mlir::RankedTensorType::get({}, value.getType());
  return b.done(b.broadcastTo(b.constant(mlir::DenseElementsAttr::get(
                                  scalarType, mlir::Attribute(value))),
                              dims));
}

/// The limit of the number of elements.
constexpr double kMostElements = 0x1p63;

/// Returns the number of elements of a range of floats, or nothing if it is
/// unknown.
static std::optional<int64_t> countFloats(Binder &b) {
  double values[3];
  for (unsigned i = 0; i < 3; ++i) {
    mlir::DenseElementsAttr elements;
    if (!matchPattern(b.operand(i), mlir::m_Constant(&elements)) ||
        elements.getNumElements() != 1)
      return std::nullopt;
    values[i] = elements.getSplatValue<llvm::APFloat>().convertToDouble();
  }
  double count = std::ceil((values[1] - values[0]) / values[2]);
  if (values[2] == 0 || !(count < kMostElements)) // also false for NaN
    // `countByData` reports the error.
    return std::nullopt;
  return int64_t(std::max(count, 0.0));
}

/// Returns the number of elements of a range of integers, or null if it is
/// unknown.
static AffineExpr countInts(Binder &b) {
  AffineExpr values[3];
  for (unsigned i = 0; i < 3; ++i) {
    auto elements = graph::getCutElements(b.operand(i));
    if (!elements || elements->size() != 1)
      return {};
    values[i] = elements->front();
  }
  auto delta = graph::getConstant(values[2]);
  if (!delta || *delta == 0 || *delta == INT64_MIN)
    return {};
  AffineExpr distance = *delta > 0 ? graph::subExprs(values[1], values[0])
                                   : graph::subExprs(values[0], values[1]);
  int64_t step = std::abs(*delta);
  if (auto constant = graph::getConstant(distance))
    return b.expr(*constant <= 0 ? 0 : (*constant - 1) / step + 1);
  distance = graph::clampExpr(distance);
  return graph::floorDivExprs(graph::addExprs(distance, b.expr(step - 1)),
                              b.expr(step));
}

/// Returns a data-dependent size.
static AffineExpr countByData(Binder &b) {
  Sizes sizes(b);
  mlir::Type type = b.getElementType(b.operand(0));
  llvm::SmallVector<Value> values;
  bool isFloat = llvm::isa<mlir::FloatType>(type);
  for (Value operand : b.getOperands())
    values.push_back(b.reshape(isFloat
                                   ? b.cast(operand, b.builder.getF64Type())
                                   : b.cast(operand, b.builder.getI64Type()),
                               b.expr(1)));
  if (b.hasFailed())
    return {};
  mlir::Type wide = b.getElementType(values[0]);
  Value zero = b.scalar(wide, 0), step = values[2];
  Value stands = sizes.equal(step, zero);
  b.check(b.create<graph::NotOp>(stands), "expected a step other than 0");
  step = sizes.select(stands, b.scalar(wide, 1), step);
  Value distance = sizes.sub(values[1], values[0]);
  mlir::Type f64 = b.builder.getF64Type();
  // Infinities and NaN are not less.
  auto isCounted = [&](Value number) {
    Value isLess = sizes.less(number, b.scalar(f64, kMostElements));
    b.check(isLess, "expected fewer than 2^63 elements");
    return isLess;
  };
  Value count;
  if (isFloat) {
    Value number = b.create<graph::CeilOp>(sizes.div(distance, step));
    count = sizes.select(isCounted(number), number, zero);
  } else {
    (void)isCounted(b.create<graph::AbsOp>(
        sizes.sub(b.cast(values[1], f64), b.cast(values[0], f64))));
    // The count is one more than the whole steps before the last element, if
    // the signs agree.
    Value sign = b.create<graph::SignOp>(step);
    Value agrees = sizes.less(zero, sizes.mul(distance, sign));
    Value whole = sizes.div(sizes.sub(distance, sign), step);
    count = sizes.select(agrees, sizes.add(whole, b.scalar(wide, 1)), zero);
  }
  Dims dims = b.getSizes(
      sizes.max(b.cast(count, b.builder.getI64Type()), sizes.number(0)));
  return dims.empty() ? AffineExpr() : dims.front();
}

static LogicalResult importRange(Binder &b) {
  mlir::Type type = b.getElementType(b.operand(0));
  AffineExpr count;
  if (llvm::isa<mlir::IntegerType>(type))
    count = countInts(b);
  else if (auto number = countFloats(b))
    count = b.expr(*number);
  if (!count)
    count = countByData(b);
  if (b.hasFailed())
    return mlir::failure();
  // Older exporters write vectors of one element.
  llvm::SmallVector<Value> operands;
  for (Value operand : b.getOperands())
    operands.push_back(b.reshape(operand, {}));
  return b.done(
      b.createAs<graph::RangeOp>(graph::makeType(type, count), operands));
}

/// Returns ones where the upper and lower triangle overlap.
static LogicalResult importEyeLike(Binder &b) {
  Value x = b.operand(0);
  mlir::Type type = b.getElementType(x);
  if (b.getRank(x) != 2)
    return b.fail("expected a 2-D input, but got " + llvm::Twine(b.getRank(x)) +
                  "-D");
  if (b.hasAttribute("dtype"))
    type = getElementType(b.builder.getContext(), b.getInt("dtype", 1));
  if (!type)
    return b.unsupported("expected a type that Adze supports, but got " +
                         describeDataType(b.getInt("dtype", 1)));
  mlir::NamedAttribute k = b.attr("k", b.getInt("k", 0));
  Value ones = b.broadcastTo(b.scalar(type, 1), graph::getDims(x));
  Value upper = b.create<graph::TriluOp>(ones, {b.attr("upper", true), k});
  return b.done(b.create<graph::TriluOp>(upper, {b.attr("upper", false), k}));
}

void adze::importer::addShapeOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(), {
                              {"ConstantOfShape", 9, 1, importConstantOfShape},
                              {"EyeLike", 9, 1, importEyeLike},
                              {"Range", 11, 3, importRange},
                              {"Shape", 1, 1, importShape},
                              {"Size", 1, 1, importSize},
                          });
}
