// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of assign-destinations: places for the tensors of one host
// program.
#ifndef ADZE_LIB_TRANSFORMS_ASSIGNMENT_H
#define ADZE_LIB_TRANSFORMS_ASSIGNMENT_H

#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Host/IR/Host.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze {

struct AssignmentCounts {
  unsigned slots = 0, inOutputs = 0, views = 0, copies = 0;
};

/// Rewrites one host program.
class Assignment {
public:
  Assignment(mlir::func::FuncOp program, mlir::SymbolTable &symbols,
             AssignmentCounts &counts)
      : program(program), symbols(symbols), counts(counts),
        builder(program.getContext()) {}

  mlir::LogicalResult run();

private:
  /// The destination of a value: an output, an existing place, or a box of
  /// variable size.
  struct Destination {
    std::optional<unsigned> output;
    mlir::Value place;
    std::optional<int64_t> box;
  };

  mlir::LogicalResult checkTypes();
  mlir::LogicalResult checkStates();
  void convertArguments();
  void chooseOutputs();
  mlir::LogicalResult assign(mlir::Block &block);
  mlir::LogicalResult assign(mlir::Operation *op);
  mlir::LogicalResult assign(host::LaunchOp op);
  mlir::LogicalResult assign(graph::ReshapeOp op);
  mlir::LogicalResult assign(graph::OpenStateOp op);
  mlir::LogicalResult assign(graph::AssignOp op);
  mlir::LogicalResult assign(graph::AssumeOp op);
  mlir::LogicalResult assign(graph::BindOp op);
  mlir::LogicalResult assign(graph::CallOp op);
  mlir::LogicalResult assign(graph::CheckOp op);
  mlir::LogicalResult assign(graph::CheckRangeOp op);
  void finish();
  void placeDefaults();

  // Branches and loops (AssignControlFlow.cpp).
  struct Loop;
  mlir::LogicalResult assign(graph::IfOp op);
  mlir::LogicalResult assign(graph::LoopOp op);
  mlir::LogicalResult assignBranch(graph::IfOp op, mlir::Region &from,
                                   mlir::Region &to,
                                   llvm::MutableArrayRef<Destination> results);
  void enterLoop(Loop &loop);
  void createWhile(Loop &loop);
  mlir::LogicalResult assignBody(Loop &loop);
  void deliverSlices(Loop &loop);
  void deliverCarried(Loop &loop);
  void bindTotals(Loop &loop);
  void bindDims(mlir::Location loc, llvm::ArrayRef<int64_t> bound,
                mlir::TypeRange results, mlir::ValueRange values,
                llvm::SmallVectorImpl<int64_t> &symbols,
                llvm::SmallVectorImpl<mlir::AffineExpr> &exprs);
  void createAssign(mlir::Location loc, llvm::ArrayRef<int64_t> symbols,
                    llvm::ArrayRef<mlir::AffineExpr> exprs);
  Destination makeDestination(mlir::Location loc, mlir::Type type);

  mlir::Value getPlace(mlir::Value value);
  mlir::Value getOperandPlace(host::LaunchOp launch, unsigned index);
  mlir::Value createConstant(mlir::Location loc, mlir::ElementsAttr value,
                             mlir::AffineMapAttr layout);
  /// Creates weights that the run time computes, or returns null after an
  /// error.
  mlir::Value createTransform(graph::TransformFilterOp op,
                              mlir::AffineMapAttr layout);
  mlir::Value createView(mlir::Location loc, mlir::Value place,
                         mlir::MemRefType type,
                         mlir::Attribute offset = mlir::Attribute());
  mlir::Value createSlot(mlir::Location loc, mlir::RankedTensorType type);
  /// Returns the memory of the destination, large enough for a value of `type`.
  /// With `keep`, the first bytes of a box keep their contents.
  mlir::Value open(mlir::Location loc, const Destination &destination,
                   mlir::RankedTensorType type,
                   mlir::Attribute keep = mlir::Attribute());
  /// Copies the value to the destination, unless it was computed there.
  void deliver(mlir::Location loc, mlir::Value value, Destination &destination);
  /// Makes ops of the block compute values directly in their destinations.
  void chooseDestinations(mlir::Block &block, mlir::ValueRange values,
                          llvm::MutableArrayRef<Destination> destinations);
  bool isSizedBy(mlir::Value value, mlir::Value root);
  mlir::Value getTied(mlir::OpResult result);
  /// Returns true if the sizes are known before the program runs.
  bool isKnownEarly(mlir::RankedTensorType type);

  mlir::func::FuncOp program;
  mlir::SymbolTable &symbols;
  AssignmentCounts &counts;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, mlir::Value> places;
  /// For results of launches.
  llvm::DenseMap<mlir::Value, Destination *> destinationOf;
  std::vector<Destination> outputs;
  llvm::SmallVector<mlir::Value> outputArguments, returned;
  llvm::SmallVector<mlir::Operation *> replaced;
  unsigned numInputSymbols = 0;
  int64_t numBoxes = 0;
};

/// Returns the type of the place of a tensor: signless, with a bool as a byte
/// that LLVM knows to be 0 or 1.
mlir::MemRefType getPlaceType(mlir::RankedTensorType type);

/// Returns the bytes of a tensor as one expression with its constant factor
/// last, so that plan-memory recognizes multiples.
mlir::AffineExpr getTensorBytes(mlir::RankedTensorType type);

/// Returns the value that `value` is a reshape of.
mlir::Value getReshapeRoot(mlir::Value value);

} // namespace adze

#endif // ADZE_LIB_TRANSFORMS_ASSIGNMENT_H
