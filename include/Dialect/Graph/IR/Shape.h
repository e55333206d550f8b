// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Symbolic dims: the sizes of tensors as affine expressions of the symbols of a
// function, and the contents of small integer tensors in the same terms.
#ifndef ADZE_DIALECT_GRAPH_IR_SHAPE_H
#define ADZE_DIALECT_GRAPH_IR_SHAPE_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/Support/RWMutex.h"
#include <optional>

namespace adze::graph {

/// One expression for each dim; null is unknown. Symbol k of the expressions is
/// symbol k of the function. Symbols are integers >= 0.
using Dims = llvm::SmallVector<mlir::AffineExpr, 4>;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// Returns the normal form: a sum of products of symbols, quotients and
/// remainders, in a fixed order. Expressions of equal polynomials have one
/// AffineExpr.
mlir::AffineExpr normalize(mlir::AffineExpr expr);

/// The normal forms that `normalize` computed in a context, since the dims of a
/// type are requested many times. Threads may use it at once.
class NormalForms {
public:
  /// Returns the form of an expression, which is null if it is too large, or
  /// nothing if it was not computed.
  std::optional<mlir::AffineExpr> find(mlir::AffineExpr expr);
  void insert(mlir::AffineExpr expr, mlir::AffineExpr form);

private:
  llvm::DenseMap<mlir::AffineExpr, mlir::AffineExpr> forms;
  llvm::sys::RWMutex mutex;
};

/// Normalised arithmetic; the result is null if an operand is.
mlir::AffineExpr addExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);
mlir::AffineExpr subExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);
mlir::AffineExpr mulExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);
mlir::AffineExpr floorDivExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);
mlir::AffineExpr modExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// Returns the product of all, 1 without factors, or null if one is null.
mlir::AffineExpr product(mlir::MLIRContext *context,
                         llvm::ArrayRef<mlir::AffineExpr> exprs);

/// Returns lhs / rhs if rhs is known to divide lhs, else null.
mlir::AffineExpr divideExactly(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// Returns the value of a constant expression.
std::optional<int64_t> getConstant(mlir::AffineExpr expr);

/// Returns true if both are known, and equal for all values of the symbols.
bool areEqual(mlir::AffineExpr lhs, mlir::AffineExpr rhs);
bool areEqual(llvm::ArrayRef<mlir::AffineExpr> lhs,
              llvm::ArrayRef<mlir::AffineExpr> rhs);

/// Returns true if both are known, and different for all values of the symbols.
bool areDifferent(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// Returns true if the expression is known to be >= 0 for all values of the
/// symbols.
bool isNonNegative(mlir::AffineExpr expr);

/// Calls the function for each occurrence of a symbol in an expression, which
/// may be null.
void forEachSymbol(mlir::AffineExpr expr,
                   llvm::function_ref<void(unsigned)> visit);
/// Calls the function for all dims of a type; types other than ranked tensors
/// have none.
void forEachSymbol(mlir::Type type, llvm::function_ref<void(unsigned)> visit);

/// Returns the number of symbols that a map of the expressions has to declare.
unsigned countSymbols(llvm::ArrayRef<mlir::AffineExpr> exprs);

/// Returns the number of summands of an expression in normal form.
unsigned countTerms(mlir::AffineExpr expr);

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns the dims of a ranked tensor: constants for static dims, else those
/// of the encoding, else null.
Dims getDims(mlir::Type type);
Dims getDims(mlir::Value value);

/// Returns the tensor type with these dims. They become its encoding if some
/// are dynamic and all are known.
mlir::RankedTensorType makeType(mlir::Type elementType,
                                llvm::ArrayRef<mlir::AffineExpr> dims);

/// Returns constant dims.
Dims makeDims(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> sizes);

/// Returns true for equal element types, equal ranks, and no two dims that are
/// known to differ.
bool areCompatible(mlir::TypeRange lhs, mlir::TypeRange rhs);

/// Returns the dims in the form of messages: "[2, s0 * 4, ?]".
std::string toString(llvm::ArrayRef<mlir::AffineExpr> dims);

//===----------------------------------------------------------------------===//
// Rules that several ops and the importer share
//===----------------------------------------------------------------------===//

/// Broadcasts all shapes by the rules of numpy; unknown dims are null. Fails,
/// with the reason in `error`, if sizes do not broadcast.
mlir::FailureOr<Dims> broadcastDims(llvm::ArrayRef<Dims> shapes,
                                    std::string &error);

/// Returns the dims of a reshape to `shape`, of which one may be -1 and, unless
/// `allowZero`, a 0 stands for the dim of the input. Fails, with the reason in
/// `error`, if the numbers of elements differ.
mlir::FailureOr<Dims> reshapeDims(llvm::ArrayRef<mlir::AffineExpr> input,
                                  llvm::ArrayRef<mlir::AffineExpr> shape,
                                  bool allowZero, std::string &error);

/// Returns the elements of an integer tensor (row-major), through constants,
/// shapes, gathers, concatenation, slices, casts, reshapes and arithmetic.
/// Returns nothing if one is not an expression of the symbols.
std::optional<llvm::SmallVector<mlir::AffineExpr>>
getElements(mlir::Value value);

/// Returns the elements with null for each that is not an expression. Returns
/// nothing if their number is unknown or large.
std::optional<llvm::SmallVector<mlir::AffineExpr>>
getPartialElements(mlir::Value value);

/// Returns the elements if all are constants.
std::optional<llvm::SmallVector<int64_t>>
getConstantElements(mlir::Value value);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_SHAPE_H
