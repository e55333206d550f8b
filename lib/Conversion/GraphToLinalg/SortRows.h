// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sorts rows by their elements.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOLINALG_SORTROWS_H
#define ADZE_LIB_CONVERSION_GRAPHTOLINALG_SORTROWS_H

#include "KernelLowering.h"

namespace adze::graph {

/// Returns true if rows of these elements can be sorted.
bool isSortable(mlir::Type element);

/// Sorts rows of `size` elements, one after the other.
class RowSort {
public:
  RowSort(KernelLowering &k, mlir::Type declared, bool largest,
          mlir::Value size);
  /// Calls `store(i, place)` for the first `count` elements of the sorted row:
  /// the element at index `place` is the i-th.
  void run(llvm::function_ref<mlir::Value(mlir::Value)> elementAt,
           mlir::Value count,
           llvm::function_ref<void(mlir::Value, mlir::Value)> store);

private:
  mlir::Value number(mlir::Type type, int64_t value);
  mlir::Value getKey(mlir::Value element);
  mlir::Value getDigit(mlir::Value item, int64_t digit);
  void fill(llvm::function_ref<mlir::Value(mlir::Value)> elementAt);
  void pass(int64_t digit);

  KernelLowering &k;
  mlir::Type declared;
  bool largest;
  mlir::Value size, items[2], counts;
};

} // namespace adze::graph

#endif // ADZE_LIB_CONVERSION_GRAPHTOLINALG_SORTROWS_H
