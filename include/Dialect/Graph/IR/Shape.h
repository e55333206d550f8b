// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Symbolic dims: the sizes of tensors as affine expressions of the symbols of a
// function, and the contents of small integer tensors in the same terms.
#ifndef ADZE_DIALECT_GRAPH_IR_SHAPE_H
#define ADZE_DIALECT_GRAPH_IR_SHAPE_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace adze::graph {

/// One expression a dim; a null one is not known. Symbol k of the function is
/// the symbol k of the expressions. Symbols stand for integers >= 0.
using Dims = llvm::SmallVector<mlir::AffineExpr, 4>;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// The normal form: a sum of products of symbols, quotients and remainders, in
/// a fixed order. Expressions of one polynomial are one AffineExpr.
mlir::AffineExpr normalize(mlir::AffineExpr expr);

/// Normalised arithmetic; null if an operand is.
mlir::AffineExpr addExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);
mlir::AffineExpr subExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);
mlir::AffineExpr mulExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);
mlir::AffineExpr floorDivExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);
mlir::AffineExpr modExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// The product of all; 1 if there are none, null if one is null.
mlir::AffineExpr product(mlir::MLIRContext *context,
                         llvm::ArrayRef<mlir::AffineExpr> exprs);

/// lhs / rhs if rhs is known to divide lhs, else null.
mlir::AffineExpr divideExactly(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// The value of a constant expression.
std::optional<int64_t> getConstant(mlir::AffineExpr expr);

/// Both known, and equal for all values of the symbols.
bool areEqual(mlir::AffineExpr lhs, mlir::AffineExpr rhs);
bool areEqual(llvm::ArrayRef<mlir::AffineExpr> lhs,
              llvm::ArrayRef<mlir::AffineExpr> rhs);

/// Both known, and different for all values of the symbols.
bool areDifferent(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// Known to be >= 0 for all values of the symbols.
bool isNonNegative(mlir::AffineExpr expr);

/// The position of each symbol of an expression, as often as it is there; null
/// has none.
void forEachSymbol(mlir::AffineExpr expr,
                   llvm::function_ref<void(unsigned)> visit);
/// The same for all dims of a type; one that is no ranked tensor has none.
void forEachSymbol(mlir::Type type, llvm::function_ref<void(unsigned)> visit);

/// As many as a map of the expressions has to declare.
unsigned countSymbols(llvm::ArrayRef<mlir::AffineExpr> exprs);

/// The summands of an expression in normal form.
unsigned countTerms(mlir::AffineExpr expr);

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The dims of a ranked tensor: constants where static, else from the encoding,
/// else null.
Dims getDims(mlir::Type type);
Dims getDims(mlir::Value value);

/// The tensor type with these dims. It has the dims as its encoding if some are
/// dynamic and all are known.
mlir::RankedTensorType makeType(mlir::Type elementType,
                                llvm::ArrayRef<mlir::AffineExpr> dims);

/// Constants.
Dims makeDims(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> sizes);

/// Equal element types and ranks, and no two dims that are known to differ.
bool areCompatible(mlir::TypeRange lhs, mlir::TypeRange rhs);

/// Dims for messages: "[2, s0 * 4, ?]".
std::string toString(llvm::ArrayRef<mlir::AffineExpr> dims);

//===----------------------------------------------------------------------===//
// Rules that several ops and the importer share
//===----------------------------------------------------------------------===//

/// Numpy broadcasting of all shapes; null dims where nothing is known. Fails,
/// with the reason in `error`, where sizes cannot match.
mlir::FailureOr<Dims>
broadcastDims(llvm::ArrayRef<Dims> shapes, std::string &error);

/// The dims of a reshape to `shape`, of which one may be -1 and, unless
/// `allowZero`, a 0 means the input's dim. Fails, with the reason in `error`,
/// where the numbers of elements cannot match.
mlir::FailureOr<Dims> reshapeDims(llvm::ArrayRef<mlir::AffineExpr> input,
                                  llvm::ArrayRef<mlir::AffineExpr> shape,
                                  bool allowZero, std::string &error);

/// The elements of an integer tensor (row-major), seen through constants,
/// shapes, look-ups, concatenation, slices, casts, reshapes and arithmetic.
/// None if one is not an expression of the symbols.
std::optional<llvm::SmallVector<mlir::AffineExpr>>
getElements(mlir::Value value);

/// The same with null for each element that is none. None where their number is
/// not known, or large.
std::optional<llvm::SmallVector<mlir::AffineExpr>>
getPartialElements(mlir::Value value);

/// The same where all elements are constants.
std::optional<llvm::SmallVector<int64_t>>
getConstantElements(mlir::Value value);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_SHAPE_H
