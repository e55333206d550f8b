// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The normal form of symbolic dims, and the rules on it.
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Graph/IR/Clamp.h"
#include "Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace adze::graph;

namespace {

class ShapeTest : public ::testing::Test {
protected:
  ShapeTest() {
    context.loadDialect<GraphDialect, func::FuncDialect>();
    s0 = getAffineSymbolExpr(0, &context);
    s1 = getAffineSymbolExpr(1, &context);
  }
  AffineExpr num(int64_t value) {
    return getAffineConstantExpr(value, &context);
  }
  /// Returns the dims of a tensor as integers, with -1 for a null dim.
  Dims dims(std::initializer_list<AffineExpr> exprs) { return Dims(exprs); }

  MLIRContext context;
  AffineExpr s0, s1;
};

TEST_F(ShapeTest, EqualPolynomialsAreOneExpression) {
  EXPECT_EQ(normalize(s0 * s1), normalize(s1 * s0));
  EXPECT_EQ(normalize((s0 + 1) * (s0 - 1)), normalize(s0 * s0 - 1));
  EXPECT_EQ(normalize(s0 + s1 + s0), normalize(s0 * 2 + s1));
  EXPECT_EQ(normalize(s0 - s0), num(0));
  EXPECT_NE(normalize(s0 * 2), normalize(s0));
}

TEST_F(ShapeTest, NormalFormIsStable) {
  for (AffineExpr expr :
       {s0.floorDiv(2) * 2 + s0 % 2, (s0 * 3 + 7).floorDiv(4), s0.ceilDiv(3),
        (s1 * s0 + 5) % 3, s0 - s0.floorDiv(4) * 4}) {
    AffineExpr once = normalize(expr);
    EXPECT_EQ(normalize(once), once);
  }
}

/// For sizes that are equal or 1, in any order.
TEST_F(ShapeTest, BroadcastsHaveTheSizeThatIsNotOne) {
  auto evaluate = [&](AffineExpr expr, ArrayRef<int64_t> values) {
    SmallVector<AffineExpr> symbols;
    for (int64_t value : values)
      symbols.push_back(num(value));
    return getConstant(normalize(expr.replaceSymbols(symbols)));
  };
  AffineExpr s2 = getAffineSymbolExpr(2, &context);
  AffineExpr two = broadcastExprs(s0, s1), three = broadcastExprs(two, s2);
  for (int64_t size : {0, 1, 2, 3, 7, 3000000})
    for (int64_t a : {int64_t(1), size})
      for (int64_t b : {int64_t(1), size}) {
        int64_t ab = a == 1 ? b : a;
        EXPECT_EQ(evaluate(two, {a, b}), ab) << a << " " << b;
        for (int64_t c : {int64_t(1), size})
          EXPECT_EQ(evaluate(three, {a, b, c}), ab == 1 ? c : ab)
              << a << " " << b << " " << c;
      }
}

TEST_F(ShapeTest, BroadcastsOfTheSameSizesAreOneExpression) {
  AffineExpr s2 = getAffineSymbolExpr(2, &context);
  AffineExpr two = broadcastExprs(s0, s1), three = broadcastExprs(two, s2);
  EXPECT_EQ(two, broadcastExprs(s1, s0));
  EXPECT_EQ(two, broadcastExprs(two, s1));
  EXPECT_EQ(broadcastExprs(s0, s0), s0);
  EXPECT_EQ(three, broadcastExprs(broadcastExprs(s2, s1), s0));
  EXPECT_EQ(three, broadcastExprs(three, two));
  EXPECT_EQ(normalize(three), three);
  EXPECT_NE(two, three);
  EXPECT_EQ(getBroadcastSizes(three), (SmallVector<AffineExpr>{s0, s1, s2}));
  AffineExpr larger = broadcastExprs(s0 * 2 + 1, s1 * s2);
  EXPECT_EQ(getBroadcastSizes(larger).size(), 2u);
  EXPECT_TRUE(isNonNegative(two));
  for (AffineExpr other :
       {s0, s0.floorDiv(2), s0.floorDiv(s1 + 1), (s0 + 1).floorDiv(s1 % 2 + 1)})
    EXPECT_TRUE(getBroadcastSizes(other).empty());
}

/// Twice a size is never 1, so it is the size of anything that broadcasts to
/// it.
TEST_F(ShapeTest, BroadcastsToWhatIsNeverOneAreThat) {
  AffineExpr twice = s0.floorDiv(2) * 2, four = s1 * 4;
  EXPECT_EQ(broadcastExprs(s0, twice), twice);
  EXPECT_EQ(broadcastExprs(twice, broadcastExprs(s0, s1)), twice);
  EXPECT_EQ(broadcastExprs(twice, four), broadcastExprs(four, twice));
  EXPECT_EQ(broadcastExprs(broadcastExprs(s0, twice), four),
            broadcastExprs(twice, four));
  EXPECT_FALSE(getBroadcastSizes(broadcastExprs(s0, s0 * 2 + 1)).empty());
}

/// A slice of the last element is repeated for any prefix.
TEST_F(ShapeTest, FirstsAndLastsSpread) {
  AffineExpr last = subExprs(s0, maxExprs(s0 - 1, num(0)));
  EXPECT_EQ(spreadFirst(s0, last), s0);
  EXPECT_EQ(spreadFirst(last, s0), s0);
  EXPECT_FALSE(spreadFirst(s1, last));
  EXPECT_FALSE(spreadFirst(s0, num(1)));
  EXPECT_FALSE(spreadFirst(s0, minExprs(num(2), s0)));
}

/// The normal form has the value of the expression for many values of symbols.
TEST_F(ShapeTest, NormalFormKeepsTheValue) {
  auto evaluate = [&](AffineExpr expr, int64_t a, int64_t b) {
    AffineExpr value = expr.replaceSymbols({num(a), num(b)});
    return getConstant(normalize(value));
  };
  SmallVector<AffineExpr> exprs = {(s0 * 5 + 7).floorDiv(4),
                                   ((s0 - 1).floorDiv(2) - 3).floorDiv(3),
                                   (s0 * 4 - s1).floorDiv(4),
                                   s0.ceilDiv(3) + (s1 * 2).ceilDiv(4),
                                   (s0 * 7 + s1 * 3 + 11) % 5,
                                   ((s0 + 3).floorDiv(2) + 1) % 2,
                                   (s0 - s1 * 6 - 1).floorDiv(3) * s1,
                                   s0 - s0.floorDiv(4) * 4};
  for (AffineExpr expr : exprs)
    for (int64_t a = 0; a < 12; ++a)
      for (int64_t b = 0; b < 5; ++b)
        EXPECT_EQ(evaluate(normalize(expr), a, b), evaluate(expr, a, b));
}

TEST_F(ShapeTest, QuotientsOfQuotientsMerge) {
  AffineExpr once = floorDivExprs(subExprs(s0, num(1)), num(2));
  AffineExpr twice =
      floorDivExprs(subExprs(addExprs(once, num(1)), num(1)), num(2));
  EXPECT_EQ(twice, floorDivExprs(subExprs(s0, num(1)), num(4)));
}

TEST_F(ShapeTest, Division) {
  EXPECT_EQ(divideExactly(mulExprs(s0 * 6, s1), s1 * 2), normalize(s0 * 3));
  EXPECT_EQ(divideExactly(normalize(s0 * s0 - 1), s0 + 1), normalize(s0 - 1));
  EXPECT_FALSE(divideExactly(s0 + 1, num(2)));
  EXPECT_FALSE(divideExactly(s0, s1));
  EXPECT_FALSE(divideExactly(s0, num(0)));
}

/// So a size is known if the other sizes are 0.
TEST_F(ShapeTest, QuotientsCancel) {
  AffineExpr s2 = getAffineSymbolExpr(2, &context);
  EXPECT_EQ(floorDivExprs(mulExprs(s0 * s1, s2), s0 * s1 * 2),
            floorDivExprs(s2, num(2)));
  EXPECT_EQ(floorDivExprs(s0 * s1 + s0 * s2, s2 * s0),
            floorDivExprs(s1 + s2, s2));
  EXPECT_EQ(floorDivExprs(s0 * s0 * s1, s0 * s0 * s2), floorDivExprs(s1, s2));
  // No rule applies if only some terms have the factor.
  AffineExpr kept = floorDivExprs(s0 * s1 + 1, s0 * s2);
  EXPECT_EQ(kept.getKind(), AffineExprKind::FloorDiv);
  EXPECT_EQ(kept, normalize((s0 * s1 + 1).floorDiv(s0 * s2)));
}

TEST_F(ShapeTest, Comparison) {
  EXPECT_TRUE(areEqual(s0 + s1, s1 + s0));
  EXPECT_FALSE(areEqual(s0, s1));
  EXPECT_FALSE(areDifferent(s0, s1));
  EXPECT_TRUE(areDifferent(s0 + 1, s0));
  EXPECT_TRUE(areDifferent(s0, num(-1)));
  EXPECT_FALSE(areDifferent(s0, num(1)));
  EXPECT_FALSE(areEqual(AffineExpr(), s0));
  EXPECT_FALSE(areDifferent(AffineExpr(), s0));
  EXPECT_TRUE(isNonNegative(s0 * s1 + 3));
  EXPECT_FALSE(isNonNegative(s0 - 1));
}

/// Relations of quotients and remainders to their operands; each answer is
/// checked with numbers.
TEST_F(ShapeTest, SignsOfQuotients) {
  SmallVector<AffineExpr> exprs;
  for (AffineExpr x : {s0, s0 + 1, s0 * 3, s0 + s1, s0 * s1})
    for (int64_t c : {1, 2, 3})
      for (AffineExpr part : {x.floorDiv(c), x.ceilDiv(c), x % c,
                              x.floorDiv(c).floorDiv(2), x.floorDiv(c) * 2}) {
        exprs.append({x - part, x * 2 - part, (x - part).floorDiv(2),
                      part * c - x, part * c - x + c - 1, x - part - 1,
                      (x - part) * s1, part - x % c, s1 - part});
      }
  unsigned known = 0;
  for (AffineExpr expr : exprs) {
    int64_t least = INT64_MAX;
    for (int64_t a = 0; a < 14; ++a)
      for (int64_t b = 0; b < 6; ++b) {
        AffineExpr value = expr.replaceSymbols({num(a), num(b)});
        least = std::min(least, *getConstant(normalize(value)));
      }
    bool is = isNonNegative(expr);
    known += is;
    EXPECT_FALSE(is && least < 0) << toString({expr});
  }
  EXPECT_GT(known, 300u);
  EXPECT_TRUE(isNonNegative(s0 - s0.floorDiv(2)));
  EXPECT_TRUE(isNonNegative(s0 - s0.ceilDiv(2)));
  EXPECT_TRUE(isNonNegative(s0.ceilDiv(2) - s0.floorDiv(2)));
  EXPECT_TRUE(isNonNegative(s0 * s1 - s1 * s0.floorDiv(2)));
  EXPECT_TRUE(isNonNegative(s0 - (s0 - s0.floorDiv(3)).floorDiv(2)));
  EXPECT_FALSE(isNonNegative(s0.floorDiv(2) - s0.floorDiv(3) - 1));
  EXPECT_FALSE(isNonNegative(s0 - s1.floorDiv(2)));
}

TEST_F(ShapeTest, TypesCarryTheirDims) {
  Type f32 = Float32Type::get(&context);
  RankedTensorType type = makeType(f32, {s0, num(3), s1 * 2});
  EXPECT_TRUE(areEqual(getDims(type), {s0, num(3), s1 * 2}));
  EXPECT_EQ(type.getShape()[1], 3);
  EXPECT_EQ(makeType(f32, {num(2), num(3)}),
            RankedTensorType::get({2, 3}, f32));
  // A single unknown dim cannot be expressed.
  RankedTensorType unknown = makeType(f32, {s0, AffineExpr()});
  EXPECT_FALSE(unknown.getEncoding());
  EXPECT_FALSE(getDims(unknown)[0]);
}

TEST_F(ShapeTest, Broadcast) {
  std::string error;
  auto both = broadcastDims({dims({s0, num(1)}), dims({s1})}, error);
  ASSERT_TRUE(succeeded(both));
  EXPECT_TRUE(areEqual(*both, {s0, s1}));
  auto wins = broadcastDims({dims({s0}), dims({num(4)})}, error);
  ASSERT_TRUE(succeeded(wins));
  EXPECT_TRUE(areEqual(*wins, {num(4)}));
  auto unknown = broadcastDims({dims({s0}), dims({s1})}, error);
  ASSERT_TRUE(succeeded(unknown));
  EXPECT_TRUE(areEqual(*unknown, {broadcastExprs(s0, s1)}));
  EXPECT_TRUE(failed(broadcastDims({dims({num(3)}), dims({num(4)})}, error)));
  EXPECT_EQ(error, "expected shapes that broadcast, but got [3] and [4]");
}

TEST_F(ShapeTest, Reshape) {
  std::string error;
  auto split = reshapeDims(dims({s0, s1, num(768)}),
                           {num(0), num(0), num(12), num(64)}, false, error);
  ASSERT_TRUE(succeeded(split));
  EXPECT_TRUE(areEqual(*split, {s0, s1, num(12), num(64)}));
  auto merged = reshapeDims(*split, {num(-1), num(768)}, false, error);
  ASSERT_TRUE(succeeded(merged));
  EXPECT_TRUE(areEqual(*merged, {s0 * s1, num(768)}));
  EXPECT_TRUE(failed(reshapeDims(dims({num(6)}), {num(4)}, false, error)));
  EXPECT_TRUE(
      failed(reshapeDims(dims({num(6)}), {num(-1), num(-1)}, false, error)));
  auto empty =
      reshapeDims(dims({num(0), num(3)}), {num(3), num(0)}, true, error);
  ASSERT_TRUE(succeeded(empty));
  EXPECT_TRUE(areEqual(*empty, {num(3), num(0)}));
  // Beside a size of 0 that is kept, -1 is the product of the others.
  auto heads = reshapeDims(dims({num(0), num(5), num(8)}),
                           {num(0), num(0), num(2), num(-1)}, false, error);
  ASSERT_TRUE(succeeded(heads));
  EXPECT_TRUE(areEqual(*heads, {num(0), num(5), num(2), num(4)}));
  auto none = reshapeDims(dims({num(0), num(0), num(8)}), {num(0), num(-1)},
                          false, error);
  ASSERT_TRUE(succeeded(none));
  EXPECT_TRUE(areEqual(*none, {num(0), num(0)}));
}

/// The exported form of view(x.size(0), -1, x.size(2) / 2).
TEST_F(ShapeTest, ElementsThroughShapeArithmetic) {
  auto module = parseSourceString<ModuleOp>(R"mlir(
    #d = affine_map<()[s0, s1] -> (s0, 4, s1 * 8)>
    func.func @f(%x: tensor<?x4x?xf32, #d>) -> tensor<3xi64> {
      %shape = graph.shape %x : (tensor<?x4x?xf32, #d>) -> tensor<3xi64>
      %c0 = graph.constant dense<0> : tensor<i64>
      %c2 = graph.constant dense<-1> : tensor<i64>
      %two = graph.constant dense<2> : tensor<i64>
      %minus = graph.constant dense<-1> : tensor<1xi64>
      %b = graph.gather %shape, %c0 : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
      %w = graph.gather %shape, %c2 : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
      %h = graph.div %w, %two : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %b1 = graph.reshape %b : (tensor<i64>) -> tensor<1xi64>
      %h1 = graph.reshape %h : (tensor<i64>) -> tensor<1xi64>
      %r = graph.concat %b1, %minus, %h1 {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
      return %r : tensor<3xi64>
    })mlir",
                                            &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  auto elements =
      getElements(function.getBody().front().getTerminator()->getOperand(0));
  ASSERT_TRUE(elements);
  EXPECT_TRUE(areEqual(*elements, {s0, num(-1), s1 * 4}));
  EXPECT_FALSE(getElements(function.getArgument(0)));
}

/// Pads as exported: pairs from the last dim on are converted to begins, then
/// ends.
TEST_F(ShapeTest, ElementsAtOtherPlaces) {
  auto module = parseSourceString<ModuleOp>(R"mlir(
    #d = affine_map<()[s0] -> (s0, 4)>
    func.func @f(%x: tensor<?x4xf32, #d>) -> tensor<4xi64> {
      %shape = graph.shape %x : (tensor<?x4xf32, #d>) -> tensor<2xi64>
      %more = graph.constant dense<[1, 2, 3, 5]> : tensor<4xi64>
      %all = graph.concat %shape, %more {axis = 0 : i64} : (tensor<2xi64>, tensor<4xi64>) -> tensor<6xi64>
      %pairs = graph.reshape %all : (tensor<6xi64>) -> tensor<3x2xi64>
      %back = graph.reverse %pairs {axes = array<i64: 0>} : (tensor<3x2xi64>) -> tensor<3x2xi64>
      %t = graph.transpose %back {perm = array<i64: 1, 0>} : (tensor<3x2xi64>) -> tensor<2x3xi64>
      %part = graph.slice %t {starts = array<i64: 0, 2>, steps = array<i64: 1, -2>} : (tensor<2x3xi64>) -> tensor<2x2xi64>
      %r = graph.reshape %part : (tensor<2x2xi64>) -> tensor<4xi64>
      return %r : tensor<4xi64>
    })mlir",
                                            &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  auto elements =
      getElements(function.getBody().front().getTerminator()->getOperand(0));
  ASSERT_TRUE(elements);
  // [[3, 1, s0], [5, 2, 4]], its last column and its first.
  EXPECT_TRUE(areEqual(*elements, {s0, num(3), num(4), num(5)}));
}

/// Expand as exported: where(shape == -1, 1, shape).
TEST_F(ShapeTest, ElementsThroughComparison) {
  auto module = parseSourceString<ModuleOp>(R"mlir(
    #d = affine_map<()[s0] -> (s0, 4)>
    func.func @f(%x: tensor<?x4xf32, #d>) -> tensor<2xi64> {
      %shape = graph.shape %x : (tensor<?x4xf32, #d>) -> tensor<2xi64>
      %minus = graph.constant dense<-1> : tensor<2xi64>
      %ones = graph.constant dense<1> : tensor<2xi64>
      %c = graph.equal %shape, %minus : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
      %r = graph.select %c, %ones, %shape : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
      return %r : tensor<2xi64>
    })mlir",
                                            &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  auto elements =
      getElements(function.getBody().front().getTerminator()->getOperand(0));
  ASSERT_TRUE(elements);
  EXPECT_TRUE(areEqual(*elements, {s0, num(4)}));
}

TEST_F(ShapeTest, CreateCheckedReportsAndFails) {
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToStart(module->getBody());
  auto constant = [&](ArrayRef<int64_t> shape) -> Value {
    auto type = RankedTensorType::get(shape, builder.getF32Type());
    return ConstantOp::create(builder, builder.getUnknownLoc(), type,
                              cast<ElementsAttr>(builder.getZeroAttr(type)));
  };
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  Location loc = builder.getUnknownLoc();
  EXPECT_TRUE(failed(createChecked<MatmulOp>(builder, loc, constant({4, 8}),
                                             constant({7, 4}), false, false)));
  EXPECT_EQ(message, "'graph.matmul' op expected equal inner sizes, but got "
                     "[4, 8] x [7, 4]");
  auto good = createChecked<MatmulOp>(builder, loc, constant({4, 8}),
                                      constant({8, 3}), false, false);
  ASSERT_TRUE(succeeded(good));
  EXPECT_EQ(cast<RankedTensorType>(good->getResult().getType()).getShape(),
            ArrayRef<int64_t>({4, 3}));
  EXPECT_EQ(getConstant(good->getFlops()), 2 * 4 * 8 * 3);
  EXPECT_EQ(getConstant(good->getBytesRead()), 4 * (4 * 8 + 8 * 3));
}

} // namespace
