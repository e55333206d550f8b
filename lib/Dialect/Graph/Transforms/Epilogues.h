// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What branches of one input do next, made one: each step with a number a column.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_EPILOGUES_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_EPILOGUES_H

#include "Matching.h"

namespace adze::graph {

/// Elementwise ops one after the other, whose other operands are constants of
/// one number a column.
using Epilogue = llvm::SmallVector<mlir::Operation *>;

/// Whether `op` does to its branch what `first` does to the first one, but for
/// constants and the number of columns, which run along `axis`.
bool doesTheSame(mlir::Operation *first, mlir::Operation *op, int64_t axis);

/// The ops that follow `value`, where each is the only reader of the one before:
/// what the kernel of a branch would do before it stores anything.
Epilogue getEpilogue(mlir::Value value, int64_t axis);

/// One op on all branches. A branch that lacks it (null) takes the number that
/// changes nothing; a relu is a bound of 0 then.
struct EpilogueStep {
  std::optional<mlir::OperationName> name;
  mlir::DictionaryAttr attributes; // null: some branches lack it
  unsigned operand = 0;            // that is the branches' value
  llvm::SmallVector<mlir::Operation *> ops;
  mlir::Type element; // of its result
};

/// The steps that do to each branch what its own epilogue does; none where one
/// has an op that the others can neither do nor be left alone by.
std::optional<llvm::SmallVector<EpilogueStep>>
alignEpilogues(llvm::ArrayRef<Epilogue> branches, int64_t axis);

/// What branch `i` has in the place of operand `operand` of a step: its constant,
/// or the number that changes nothing.
mlir::Value getStepNumber(mlir::OpBuilder &builder, const EpilogueStep &step,
                          unsigned i, unsigned operand);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_EPILOGUES_H
