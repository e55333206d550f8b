// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operators.
#include "../IndexRange.h"
#include "../OpTable.h"
#include "Arithmetic.h"
#include <cfloat>

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

//===----------------------------------------------------------------------===//
// One to one
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult importUnary(Binder &b) {
  return b.done(b.create<OpT>(b.operand(0)));
}

/// Before version 7, the right operand broadcasts only with `broadcast`, and
/// `axis` is the position of its dims.
static Value getRight(Binder &b) {
  Value lhs = b.operand(0), rhs = b.operand(1);
  if (b.version() >= 7 || b.getInt("broadcast", 0) == 0 ||
      !b.hasAttribute("axis"))
    return rhs;
  int64_t axis = b.getAxis("axis", 0, b.getRank(lhs));
  int64_t after = b.getRank(lhs) - axis - b.getRank(rhs);
  if (after < 0) {
    (void)b.fail("expected operand 1 to fit after axis " + llvm::Twine(axis));
    return {};
  }
  Dims dims = graph::getDims(rhs);
  dims.append(after, b.expr(1));
  return b.reshape(rhs, dims);
}

template <typename OpT>
static LogicalResult importBinary(Binder &b) {
  return b.done(b.create<OpT>({b.operand(0), getRight(b)}));
}

/// Imports a quotient or remainder; integer division by 0 is checked.
template <typename OpT>
static LogicalResult importQuotient(Binder &b) {
  Value divisors = getRight(b);
  if (!divisors || (!llvm::isa<mlir::FloatType>(b.getElementType(divisors)) &&
                    mlir::failed(checkDivisors(b, divisors))))
    return mlir::failure();
  return b.done(b.create<OpT>({b.operand(0), divisors}));
}

/// Imports an operator with any number of operands as a chain.
template <typename OpT>
static LogicalResult importVariadic(Binder &b) {
  Value result = b.operand(0);
  for (Value operand : b.getOperands().drop_front())
    result = b.create<OpT>({result, operand});
  return b.done(result);
}

static LogicalResult importMean(Binder &b) {
  Value sum = b.operand(0);
  for (Value operand : b.getOperands().drop_front())
    sum = b.create<graph::AddOp>({sum, operand});
  if (!sum)
    return mlir::failure();
  Value count = b.scalar(b.getElementType(sum), b.getNumOperands());
  return b.done(b.create<graph::DivOp>({sum, count}));
}

/// Imports an operator with a float attribute alpha.
template <typename OpT, int percent>
static LogicalResult importWithAlpha(Binder &b) {
  double alpha = b.getFloat("alpha", float(percent) / 100.0f);
  return b.done(b.create<OpT>(b.operand(0), b.attr("alpha", alpha)));
}

static LogicalResult importHardSigmoid(Binder &b) {
  return b.done(b.create<graph::HardSigmoidOp>(
      b.operand(0), {b.attr("alpha", b.getFloat("alpha", 0.2f)),
                     b.attr("beta", b.getFloat("beta", 0.5))}));
}

static LogicalResult importSelu(Binder &b) {
  double alpha = b.getFloat("alpha", 1.67326319217681884765625);
  double gamma = b.getFloat("gamma", 1.05070102214813232421875);
  return b.done(b.create<graph::SeluOp>(
      b.operand(0), {b.attr("alpha", alpha), b.attr("gamma", gamma)}));
}

static LogicalResult importGelu(Binder &b) {
  llvm::StringRef approximate = b.getString("approximate", "none");
  auto mode = graph::symbolizeGeluMode(approximate);
  if (!mode)
    return b.fail("expected approximate to be none or tanh, but got '" +
                  approximate + "'");
  auto attribute = graph::GeluModeAttr::get(b.builder.getContext(), *mode);
  return b.done(b.create<graph::GeluOp>(
      b.operand(0), b.attr("approximate", mlir::Attribute(attribute))));
}

static LogicalResult importIsInf(Binder &b) {
  return b.done(b.create<graph::IsInfOp>(
      b.operand(0),
      {b.attr("detect_negative", b.getInt("detect_negative", 1) != 0),
       b.attr("detect_positive", b.getInt("detect_positive", 1) != 0)}));
}

static LogicalResult importWhere(Binder &b) {
  return b.done(
      b.create<graph::SelectOp>({b.operand(0), b.operand(1), b.operand(2)}));
}

//===----------------------------------------------------------------------===//
// With a twist
//===----------------------------------------------------------------------===//

/// Computes x * sigmoid(alpha * x).
static LogicalResult importSwish(Binder &b) {
  double alpha = b.getFloat("alpha", 1.0);
  Value x = b.operand(0);
  if (alpha == 1.0)
    return b.done(b.create<graph::SiluOp>(x));
  Value scaled =
      b.create<graph::MulOp>({x, b.scalar(b.getElementType(x), alpha)});
  return b.done(
      b.create<graph::MulOp>({x, b.create<graph::SigmoidOp>(scaled)}));
}

static LogicalResult importMod(Binder &b) {
  if (b.getInt("fmod", 0) != 0)
    return importQuotient<graph::FmodOp>(b);
  return importQuotient<graph::ModOp>(b);
}

/// The types of base and exponent may differ; the result has that of the base.
/// The power is computed in the float type of both, or in the wider one.
static LogicalResult importPow(Binder &b) {
  Value x = b.operand(0), y = getRight(b);
  if (!y)
    return mlir::failure();
  mlir::Type type = b.getElementType(x), exponent = b.getElementType(y);
  bool isWhole = !llvm::isa<mlir::FloatType>(type);
  if (llvm::isa<mlir::FloatType>(exponent) &&
      (isWhole ||
       exponent.getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth()))
    x = b.cast(x, exponent);
  else
    y = b.cast(y, type);
  return b.done(b.cast(b.create<graph::PowOp>({x, y}), type));
}

/// Before version 7, a vector of slopes is along the channels.
static LogicalResult importPRelu(Binder &b) {
  Value x = b.operand(0), slope = b.operand(1);
  if (b.version() < 7 && b.getRank(slope) == 1 && b.getRank(x) > 1)
    slope = b.alongAxis(slope, 1, b.getRank(x));
  return b.done(b.create<graph::PreluOp>({x, slope}));
}

static LogicalResult importBitShift(Binder &b) {
  llvm::StringRef direction = b.getString("direction", "");
  if (direction == "LEFT")
    return importBinary<graph::ShiftLeftOp>(b);
  if (direction == "RIGHT")
    return importBinary<graph::ShiftRightOp>(b);
  return b.fail("expected direction to be LEFT or RIGHT, but got '" +
                direction + "'");
}

/// Bounds are attributes before version 11, and operands since.
static LogicalResult importClip(Binder &b) {
  Value x = b.operand(0), low = b.operand(1), high = b.operand(2);
  if (b.version() < 11) {
    mlir::Type type = b.getElementType(x);
    double min = b.getFloat("min", -FLT_MAX), max = b.getFloat("max", FLT_MAX);
    low = min > -FLT_MAX ? b.scalar(type, min) : Value();
    high = max < FLT_MAX ? b.scalar(type, max) : Value();
  }
  if (low)
    x = b.create<graph::MaximumOp>({x, low});
  if (high)
    x = b.create<graph::MinimumOp>({x, high});
  return b.done(x);
}

/// Computes x + bias for x < -lambd, x - bias for x > lambd, else 0. Both
/// attributes are also fractions for integers.
static LogicalResult importShrink(Binder &b) {
  Value x = b.operand(0);
  mlir::Type given = b.getElementType(x), type = given;
  if (!llvm::isa<mlir::FloatType>(type))
    type = b.builder.getF64Type();
  x = b.cast(x, type);
  double lambda = b.getFloat("lambd", 0.5), bias = b.getFloat("bias", 0.0);
  Value isLow = b.create<graph::LessOp>({x, b.scalar(type, -lambda)});
  Value isHigh = b.create<graph::GreaterOp>({x, b.scalar(type, lambda)});
  Value low = b.create<graph::AddOp>({x, b.scalar(type, bias)});
  Value high = b.create<graph::SubOp>({x, b.scalar(type, bias)});
  Value rest = b.create<graph::SelectOp>({isHigh, high, b.scalar(type, 0)});
  return b.done(b.cast(b.create<graph::SelectOp>({isLow, low, rest}), given));
}

/// The run time converts between strings and numbers.
static Value castAny(Binder &b, Value x, mlir::Type type) {
  bool isString = Binder::isString(x), toString = graph::isString(type);
  if (isString == toString)
    return isString ? x : b.cast(x, type);
  return b.callForOne("cast", x, {type, graph::getDims(x)});
}

static LogicalResult importCast(Binder &b) {
  int64_t to = b.getInt("to", 0);
  mlir::Type type = getElementType(b.builder.getContext(), to);
  if (!type)
    return b.unsupported("expected a type that Adze supports, but got " +
                         describeDataType(to));
  return b.done(castAny(b, b.operand(0), type));
}

static LogicalResult importCastLike(Binder &b) {
  return b.done(castAny(b, b.operand(0), b.getElementType(b.operand(1))));
}

static LogicalResult importIdentity(Binder &b) { return b.done(b.operand(0)); }

static LogicalResult importBitCast(Binder &b) {
  int64_t to = b.getInt("to", 0);
  mlir::Type type = getElementType(b.builder.getContext(), to);
  if (!type)
    return b.unsupported("expected a type that Adze supports, but got " +
                         describeDataType(to));
  Value x = b.operand(0);
  auto from = llvm::cast<mlir::RankedTensorType>(x.getType());
  // A bool is a byte of 0 or 1.
  mlir::Type i1 = b.builder.getI1Type();
  if (b.getElementType(x) == i1 || type == i1)
    return b.done(b.cast(x, type));
  return b.done(b.createAs<graph::BitcastOp>(mlir::Type(from.clone(type)), x));
}

//===----------------------------------------------------------------------===//
// The rows
//===----------------------------------------------------------------------===//

static void addUnaryOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(),
              {
                  {"Abs", 6, 1, importUnary<graph::AbsOp>},
                  {"Acos", 7, 1, importUnary<graph::AcosOp>},
                  {"Acosh", 9, 1, importUnary<graph::AcoshOp>},
                  {"Asin", 7, 1, importUnary<graph::AsinOp>},
                  {"Asinh", 9, 1, importUnary<graph::AsinhOp>},
                  {"Atan", 7, 1, importUnary<graph::AtanOp>},
                  {"Atanh", 9, 1, importUnary<graph::AtanhOp>},
                  {"BitwiseNot", 18, 1, importUnary<graph::BitwiseNotOp>},
                  {"Ceil", 6, 1, importUnary<graph::CeilOp>},
                  {"Celu", 12, 1, importWithAlpha<graph::CeluOp, 100>},
                  {"Cos", 7, 1, importUnary<graph::CosOp>},
                  {"Cosh", 9, 1, importUnary<graph::CoshOp>},
                  {"Elu", 6, 1, importWithAlpha<graph::EluOp, 100>},
                  {"Erf", 9, 1, importUnary<graph::ErfOp>},
                  {"Exp", 6, 1, importUnary<graph::ExpOp>},
                  {"Floor", 6, 1, importUnary<graph::FloorOp>},
                  {"Gelu", 20, 1, importGelu},
                  {"HardSigmoid", 6, 1, importHardSigmoid},
                  {"HardSwish", 14, 1, importUnary<graph::HardSwishOp>},
                  {"Identity", 1, 1, importIdentity, "", INT32_MAX, "",
                   /*takesContainers=*/true},
                  {"IsInf", 10, 1, importIsInf},
                  {"IsNaN", 9, 1, importUnary<graph::IsNanOp>},
                  {"LeakyRelu", 6, 1, importWithAlpha<graph::LeakyReluOp, 1>},
                  {"Log", 6, 1, importUnary<graph::LogOp>},
                  {"Mish", 18, 1, importUnary<graph::MishOp>},
                  {"Neg", 6, 1, importUnary<graph::NegOp>},
                  {"Not", 1, 1, importUnary<graph::NotOp>},
                  {"Reciprocal", 6, 1, importUnary<graph::ReciprocalOp>},
                  {"Relu", 6, 1, importUnary<graph::ReluOp>},
                  {"Round", 11, 1, importUnary<graph::RoundOp>},
                  {"Selu", 6, 1, importSelu},
                  {"Shrink", 9, 1, importShrink},
                  {"Sigmoid", 6, 1, importUnary<graph::SigmoidOp>},
                  {"Sign", 9, 1, importUnary<graph::SignOp>},
                  {"Sin", 7, 1, importUnary<graph::SinOp>},
                  {"Sinh", 9, 1, importUnary<graph::SinhOp>},
                  {"Softplus", 1, 1, importUnary<graph::SoftplusOp>},
                  {"Softsign", 1, 1, importUnary<graph::SoftsignOp>},
                  {"Sqrt", 6, 1, importUnary<graph::SqrtOp>},
                  {"Swish", 24, 1, importSwish},
                  {"Tan", 7, 1, importUnary<graph::TanOp>},
                  {"Tanh", 6, 1, importUnary<graph::TanhOp>},
                  {"ThresholdedRelu", 10, 1,
                   importWithAlpha<graph::ThresholdedReluOp, 100>},
              });
}

static void addBinaryOps(std::vector<OpRow> &rows) {
  rows.insert(
      rows.end(),
      {
          {"Add", 6, 2, importBinary<graph::AddOp>},
          {"And", 1, 2, importBinary<graph::AndOp>},
          {"BitShift", 11, 2, importBitShift},
          {"BitwiseAnd", 18, 2, importBinary<graph::BitwiseAndOp>},
          {"BitwiseOr", 18, 2, importBinary<graph::BitwiseOrOp>},
          {"BitwiseXor", 18, 2, importBinary<graph::BitwiseXorOp>},
          {"Div", 6, 2, importQuotient<graph::DivOp>},
          {"Equal", 1, 2, importBinary<graph::EqualOp>},
          {"Greater", 1, 2, importBinary<graph::GreaterOp>},
          {"GreaterOrEqual", 12, 2, importBinary<graph::GreaterEqualOp>},
          {"Less", 1, 2, importBinary<graph::LessOp>},
          {"LessOrEqual", 12, 2, importBinary<graph::LessEqualOp>},
          {"Max", 6, 1, importVariadic<graph::MaximumOp>},
          {"Mean", 6, 1, importMean},
          {"Min", 6, 1, importVariadic<graph::MinimumOp>},
          {"Mod", 10, 2, importMod},
          {"Mul", 6, 2, importBinary<graph::MulOp>},
          {"Or", 1, 2, importBinary<graph::OrOp>},
          {"PRelu", 6, 2, importPRelu},
          {"Pow", 1, 2, importPow},
          {"Sub", 6, 2, importBinary<graph::SubOp>},
          {"Sum", 6, 1, importVariadic<graph::AddOp>},
          {"Xor", 1, 2, importBinary<graph::XorOp>},
      });
}

void adze::importer::addElementwiseOps(std::vector<OpRow> &rows) {
  addUnaryOps(rows);
  addBinaryOps(rows);
  rows.insert(rows.end(),
              {
                  {"Cast", 6, 1, importCast, "strings and f8 or less"},
                  {"BitCast", 26, 1, importBitCast},
                  {"CastLike", 15, 2, importCastLike},
                  {"Clip", 6, 1, importClip},
                  {"Where", 9, 3, importWhere},
              });
}
