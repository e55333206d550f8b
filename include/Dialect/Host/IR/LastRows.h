// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Outputs of which a caller may request the last rows only.
#ifndef ADZE_DIALECT_HOST_IR_LASTROWS_H
#define ADZE_DIALECT_HOST_IR_LASTROWS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace adze::host {

/// An attribute of a function: a list of `array<i64: output, dim, all,
/// symbol>`. Dim `dim` of the output is `symbol`, which the caller chooses; it
/// is at most symbol `all`.
inline constexpr llvm::StringLiteral lastRowsAttr = "graph.last_rows";

struct LastRows {
  unsigned output, dim, all, symbol;
};

/// Returns the outputs of a function that have such a dim.
inline llvm::SmallVector<LastRows> getLastRows(mlir::Operation *function) {
  llvm::SmallVector<LastRows> outputs;
  if (auto list = function->getAttrOfType<mlir::ArrayAttr>(lastRowsAttr))
    for (auto row : list.getAsRange<mlir::DenseI64ArrayAttr>())
      outputs.push_back({unsigned(row[0]), unsigned(row[1]), unsigned(row[2]),
                         unsigned(row[3])});
  return outputs;
}

} // namespace adze::host

#endif // ADZE_DIALECT_HOST_IR_LASTROWS_H
