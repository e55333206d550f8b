// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of folds into the weights of linear ops: constants, and vectors
// of channels.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_LINEARFOLDS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_LINEARFOLDS_H

#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace adze::graph {

/// Returns true for a constant, or a function of constants that an earlier fold
/// made.
bool isConstant(mlir::Value value, unsigned depth = 0);

/// Returns the vector as dim `axis` of a tensor of rank `rank`, whose other
/// dims are 1.
mlir::Value alongAxis(mlir::OpBuilder &builder, mlir::Value vector,
                      int64_t axis, int64_t rank);

/// Multiplies a filter by one number for each index of its second dim; the
/// groups that divide the first dim use consecutive parts of the numbers.
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
  int64_t own, depth; // its dims: that of the result, and the contracted one
  int64_t axis;       // of the result: the position of its own dim
  int64_t inner;      // of the other operand: the contracted dim
};

/// Returns the left and right operand of a product as weights.
std::array<ProductWeight, 2> getProductWeights(MatmulOp matmul);

/// Returns true for a constant with one element for each channel of a result of
/// rank `rank` (all other dims are 1), or with one element.
bool isChannelVector(mlir::Value constant, int64_t axis, int64_t rank,
                     mlir::AffineExpr channels);

/// Returns this constant as a vector. Returns null, and creates no op, for
/// other constants.
mlir::Value getChannelVector(mlir::OpBuilder &builder, mlir::Value constant,
                             int64_t axis, int64_t rank,
                             mlir::AffineExpr channels);

/// Creates the product with `scale`, a vector along the own dim of the weight,
/// folded into the weight, plus `summand`, such a vector, if there is one.
mlir::Value scaleProduct(mlir::OpBuilder &builder, mlir::Location loc,
                         MatmulOp matmul, const ProductWeight &place,
                         mlir::Value scale, mlir::Value summand);

/// Returns the parts of transpose(matmul(x, w) + b), with a constant b or
/// without b, if they have no other uses, or null.
std::pair<TransposeOp, MatmulOp> getTransposedProduct(mlir::Value value);

/// Adds patterns that fold factors, divisors, summands and differences of
/// channels into weights.
void addScaleFolds(mlir::RewritePatternSet &patterns,
                   mlir::Pass::Statistic &folded);

/// Adds patterns that merge sums of convolutions of one input (FoldSums.cpp).
void addSumFolds(mlir::RewritePatternSet &patterns,
                 mlir::Pass::Statistic &folded);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_LINEARFOLDS_H
