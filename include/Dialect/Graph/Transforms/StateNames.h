// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Pairs of names of inputs and outputs that are one state.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_STATENAMES_H
#define ADZE_DIALECT_GRAPH_TRANSFORMS_STATENAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace adze::graph {

/// Returns the name of an argument or a result, or an empty string.
llvm::StringRef getInputName(mlir::func::FuncOp function, unsigned input);
llvm::StringRef getOutputName(mlir::func::FuncOp function, unsigned output);

/// The pairs that the user gave, and those of the naming conventions of
/// exporters.
class StateNames {
public:
  /// Parses pairs INPUT=OUTPUT with at most one * on each side, or "none".
  /// Several pairs in one text are separated by commas.
  static llvm::Expected<StateNames> parse(llvm::ArrayRef<std::string> pairs);

  /// Returns true if states are disabled.
  bool isNone() const { return none; }
  /// Returns true if the user gave pairs.
  bool areGiven() const { return !given.empty(); }

  /// Returns the given pair that matches these names, as the user wrote it.
  std::optional<std::string> findGiven(llvm::StringRef input,
                                       llvm::StringRef output) const;

  /// Returns true if the names of input and output are those of a state.
  bool arePaired(llvm::StringRef input, llvm::StringRef output) const;
  /// Returns true if the names of these values of a function are those of a
  /// state.
  bool arePaired(mlir::func::FuncOp function, unsigned input,
                 unsigned output) const;

private:
  struct Pair {
    std::string text, input, output;
  };
  llvm::SmallVector<Pair> given;
  bool none = false;
};

/// The inputs of a function, by the names that they are paired by.
class InputNames {
public:
  InputNames(const StateNames &names, mlir::func::FuncOp function);

  /// Returns the inputs whose names match that of the output, in order.
  llvm::SmallVector<unsigned> findPaired(unsigned output) const;

private:
  const StateNames &names;
  mlir::func::FuncOp function;
  llvm::StringMap<llvm::SmallVector<unsigned>> byName, byStem;
};

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_STATENAMES_H
