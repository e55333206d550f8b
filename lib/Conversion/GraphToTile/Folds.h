// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The steps of a reduction, independent of the loops around them.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_FOLDS_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_FOLDS_H

#include "Dialect/Graph/IR/Reduced.h"
#include "RowMath.h"

namespace adze {

enum FoldAxis { Row = 0, Lane = 1 };

/// A reduction with values that are carried over the elements.
class Fold {
public:
  using Carried = KernelEmitter::Carried;
  /// Emits the positions of elements along the reduced dim, in a given type.
  using Position = llvm::function_ref<mlir::Value(mlir::Type)>;

  Fold(KernelEmitter &e, const graph::Reduced &reduced)
      : e(e), b(e.builder()), reduced(reduced),
        graphType(mlir::getElementTypeOrSelf(reduced.input)),
        accType(graph::getAccumulatorType(graph::getSignlessType(graphType))),
        combineType(accType == graph::getSignlessType(graphType) ? graphType
                                                                 : accType) {}
  virtual ~Fold() = default;

  /// Returns the carried values before the first element.
  virtual Carried begin(llvm::ArrayRef<int> axes) = 0;
  /// Returns the carried values of one tile of elements.
  virtual Carried take(mlir::Value x, llvm::ArrayRef<int> axes,
                       Position position) = 0;
  /// Combines the carried values of elements and of later ones; `mask` marks
  /// the later ones that are valid.
  virtual Carried merge(mlir::ValueRange first, mlir::ValueRange second,
                        mlir::Value mask, llvm::ArrayRef<int> axes) = 0;
  /// Reduces the lanes.
  virtual Carried foldLanes(mlir::ValueRange carried,
                            llvm::ArrayRef<int> axes) = 0;
  /// Returns true if several dims may be reduced, and tiles combined one by
  /// one.
  virtual bool isPlain() const { return true; }
  /// Returns true if a separate pass computes the maximum first.
  virtual bool needsMaximum() const { return false; }
  virtual void findMaximum() {}
  virtual void subtractMaximum(mlir::Value, llvm::ArrayRef<int>) {}
  /// Returns the result; `count` is the number of reduced elements.
  virtual mlir::Value finish(mlir::ValueRange carried,
                             llvm::function_ref<mlir::Value()> count,
                             llvm::ArrayRef<int> axes) = 0;

  const graph::Reduced &getReduced() const { return reduced; }
  mlir::Type getAccumulator() const { return accType; }

protected:
  KernelEmitter &e;
  mlir::OpBuilder &b;
  graph::Reduced reduced;
  mlir::Type graphType, accType, combineType;
};

/// Returns the steps of a reduction op.
std::unique_ptr<Fold> makeFold(KernelEmitter &e, mlir::Operation *op);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_FOLDS_H
