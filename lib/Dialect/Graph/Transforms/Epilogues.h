// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Merged epilogues of branches of one input: each step has one number for each
// column.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_EPILOGUES_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_EPILOGUES_H

#include "Matching.h"

namespace adze::graph {

/// Consecutive elementwise ops, whose other operands are constants with one
/// element for each column.
using Epilogue = llvm::SmallVector<mlir::Operation *>;

/// Returns true if `op` applies the same operation to its branch as `first` to
/// the first one, up to constants and the number of columns, which are along
/// `axis`.
bool doesTheSame(mlir::Operation *first, mlir::Operation *op, int64_t axis);

/// Returns the ops that follow `value`, each of which is the only user of the
/// previous one: the kernel of a branch would fuse them.
Epilogue getEpilogue(mlir::Value value, int64_t axis);

/// One op on all branches. A branch without it (null) has the neutral element;
/// a relu then becomes a maximum with 0.
struct EpilogueStep {
  std::optional<mlir::OperationName> name;
  mlir::DictionaryAttr attributes; // null: some branches lack it
  unsigned operand = 0;            // index of the value of the branches
  llvm::SmallVector<mlir::Operation *> ops;
  mlir::Type element; // of its result
};

/// Returns the steps that apply the epilogue of each branch, or nothing if an
/// op neither applies to the others nor has a neutral element.
std::optional<llvm::SmallVector<EpilogueStep>>
alignEpilogues(llvm::ArrayRef<Epilogue> branches, int64_t axis);

/// Returns operand `operand` of a step for branch `i`: its constant, or the
/// neutral element.
mlir::Value getStepNumber(mlir::OpBuilder &builder, const EpilogueStep &step,
                          unsigned i, unsigned operand);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_EPILOGUES_H
