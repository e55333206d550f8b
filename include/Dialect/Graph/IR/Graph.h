// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The classes of the graph dialect.
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

/// Returns true for the element type of strings, si64.
bool isString(mlir::Type elementType);
/// Returns true for !graph.sequence, !graph.optional and !graph.map.
bool isContainer(mlir::Type elementType);
/// Returns true if a value of this type is a sequence, optional or map.
bool isHandle(mlir::Type type);
/// Returns the tensor of rank 0 that holds a container.
mlir::RankedTensorType makeHandleType(mlir::Type container);
/// Returns the element type of a container of values of these types: element
/// type and rank (if equal) of tensors, recursively for containers. An optional
/// and a value of its type are joined to an optional. Returns null if the types
/// are incompatible.
mlir::TensorType joinElements(mlir::TensorType lhs, mlir::TensorType rhs);
/// Returns the element type of a container of values of this type.
mlir::TensorType getElementOf(mlir::Type type);
/// Returns the element type of a sequence without elements, whose first element
/// determines the rank.
mlir::TensorType getNoElement(mlir::Type elementType);

/// The names of types in the run time: the code and bits of DLPack (those of
/// the index for strings and containers), the adze_kind, and the ONNX name
/// ("seq(tensor(float))"). Types without a Dtype are not part of a signature.
struct Dtype {
  uint8_t code, bits;
};
std::optional<Dtype> getDtype(mlir::Type elementType);
unsigned getKind(mlir::Type elementType);
std::string getTypeName(mlir::TensorType type);

/// Returns true for an elementwise op that computes an exponential, a logarithm
/// or a function of these.
bool isFunction(mlir::Operation *op);

// Functions that the generated code of the op families calls.
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

/// Returns `perElement` operations for each element of the type.
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
#define GET_TYPEDEF_CLASSES
#include "Dialect/Graph/IR/GraphTypes.h.inc"
#define GET_OP_CLASSES
#include "Dialect/Graph/IR/GraphOps.h.inc"

namespace adze::graph {

/// Creates an op with inferred result types and verifies it; emits an error at
/// `loc` and fails if the operands are invalid (the generated `create` would
/// end the process). The arguments are those of `create`.
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
