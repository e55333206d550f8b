// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The graph dialect's classes.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPH_H
#define ADZE_DIALECT_GRAPH_IR_GRAPH_H

#include "Dialect/Graph/IR/Blob.h"
#include "Dialect/Graph/IR/ElementBuilder.h"
#include "Dialect/Graph/IR/Shape.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Sequence.h"

namespace adze::graph {
class YieldOp;

// What the generated code of the op families calls.
namespace op_detail {
using Where = std::optional<mlir::Location>;
using Types = llvm::SmallVectorImpl<mlir::Type>;

mlir::LogicalResult inferSameType(Where where, llvm::StringRef name,
                                  mlir::ValueRange operands, Types &types);
mlir::LogicalResult inferPredicate(Where where, llvm::StringRef name,
                                   mlir::ValueRange operands, Types &types);
mlir::LogicalResult inferBroadcast(Where where, llvm::StringRef name,
                                   mlir::ValueRange operands, Types &types);
mlir::LogicalResult inferCompare(Where where, llvm::StringRef name,
                                 mlir::ValueRange operands, Types &types);
mlir::LogicalResult inferSelect(Where where, llvm::StringRef name,
                                mlir::ValueRange operands, Types &types);
mlir::LogicalResult inferReduce(Where where, llvm::StringRef name,
                                mlir::Value input, llvm::ArrayRef<int64_t> axes,
                                bool keepdims, Types &types);

/// `perElement` operations for each element of the type.
mlir::AffineExpr getElementCost(mlir::MLIRContext *context, mlir::Type type,
                                int64_t perElement);
mlir::AffineExpr getElementwiseFlops(mlir::Operation *op, int64_t perElement);
mlir::AffineExpr getBytes(mlir::MLIRContext *context, mlir::TypeRange types);
} // namespace op_detail
} // namespace adze::graph

#include "Dialect/Graph/IR/GraphDialect.h.inc"
#include "Dialect/Graph/IR/GraphEnums.h.inc"
#include "Dialect/Graph/IR/GraphInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "Dialect/Graph/IR/GraphAttrs.h.inc"
#define GET_OP_CLASSES
#include "Dialect/Graph/IR/GraphOps.h.inc"

namespace adze::graph {

/// Adds an op with its result types inferred and verifies it; where something
/// does not fit, says what at `loc` and fails (the generated `create` would end
/// the process). The arguments are those of `create`.
template <typename OpT, typename... Args>
mlir::FailureOr<OpT> createChecked(mlir::OpBuilder &builder, mlir::Location loc,
                                   Args &&...args) {
  mlir::OperationState state(loc, OpT::getOperationName());
  OpT::build(builder, state, mlir::Type(builder.getNoneType()),
             std::forward<Args>(args)...);
  state.types.clear();
  mlir::MLIRContext *context = builder.getContext();
  if (mlir::failed(OpT::inferReturnTypes(
          context, loc, state.operands, state.attributes.getDictionary(context),
          state.getRawProperties(), {}, state.types)))
    return mlir::failure();
  mlir::Operation *op = builder.create(state);
  if (mlir::succeeded(mlir::verify(op, /*verifyRecursively=*/false)))
    return llvm::cast<OpT>(op);
  op->erase();
  return mlir::failure();
}

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_GRAPH_H
