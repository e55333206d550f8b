// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What goes into the weights of linear ops: constants, and vectors of channels.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_LINEARFOLDS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_LINEARFOLDS_H

#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace adze::graph {

/// A constant, or what an earlier fold makes of constants.
bool isConstant(mlir::Value value, unsigned depth = 0);

/// The vector along dim `axis` of a tensor of `rank` dims, all others 1.
mlir::Value alongAxis(mlir::OpBuilder &builder, mlir::Value vector,
                      int64_t axis, int64_t rank);

/// A filter times a number for each place of its second dim, which the groups
/// that the first one is cut into go on with.
mlir::Value scaleSecond(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value filter, mlir::Value vector, int64_t groups);

template <typename ConvT>
int64_t getChannelAxis(ConvT conv) {
  return conv.getLayout() == Layout::NCHW
             ? 1
             : llvm::cast<mlir::RankedTensorType>(conv.getType()).getRank() - 1;
}

/// A constant operand of a product.
struct ProductWeight {
  unsigned operand;   // left or right
  int64_t own, depth; // its dims: the result's, and the one that is summed
  int64_t axis;       // of the result: where its own dim is
  int64_t inner;      // of the other operand: the dim that is summed
};

/// The left and right operand of a product, as weights.
std::array<ProductWeight, 2> getProductWeights(MatmulOp matmul);

/// Numbers of the channels of a result of `rank` dims (all others are 1), or
/// one for all?
bool isChannelVector(mlir::Value constant, int64_t axis, int64_t rank,
                     mlir::AffineExpr channels);

/// The same as a vector; null, and no op is made, for other constants.
mlir::Value getChannelVector(mlir::OpBuilder &builder, mlir::Value constant,
                             int64_t axis, int64_t rank,
                             mlir::AffineExpr channels);

/// The product with `scale`, a vector of its weight's own dim, in the weight;
/// and `summand`, such a vector, if there is one, beside it.
mlir::Value scaleProduct(mlir::OpBuilder &builder, mlir::Location loc,
                         MatmulOp matmul, const ProductWeight &place,
                         mlir::Value scale, mlir::Value summand);

/// The parts of transpose(matmul(x, w) + b), b constant or missing, that nobody
/// else reads; null: it is none.
std::pair<TransposeOp, MatmulOp> getTransposedProduct(mlir::Value value);

/// Factors, divisors, summands and differences of channels into the weights.
void addScaleFolds(mlir::RewritePatternSet &patterns,
                   mlir::Pass::Statistic &folded);

/// Summands that are convolutions of one input, into one filter (FoldSums.cpp).
void addSumFolds(mlir::RewritePatternSet &patterns,
                 mlir::Pass::Statistic &folded);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_LINEARFOLDS_H
