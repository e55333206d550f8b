// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// How elements become one, whatever the loops around them are.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_FOLDS_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_FOLDS_H

#include "Dialect/Graph/IR/Reduced.h"
#include "RowMath.h"

namespace adze {

enum FoldAxis { Row = 0, Lane = 1 };

/// Values that are carried over elements.
class Fold {
public:
  using Carried = KernelEmitter::Carried;
  /// The places of elements along the reduced dim, as numbers of a type.
  using Position = llvm::function_ref<mlir::Value(mlir::Type)>;

  Fold(KernelEmitter &e, const graph::Reduced &reduced)
      : e(e), b(e.builder()), reduced(reduced),
        graphType(mlir::getElementTypeOrSelf(reduced.input)),
        accType(graph::getAccumulatorType(graph::getSignlessType(graphType))),
        combineType(accType == graph::getSignlessType(graphType) ? graphType
                                                                 : accType) {}
  virtual ~Fold() = default;

  /// Before any element.
  virtual Carried begin(llvm::ArrayRef<int> axes) = 0;
  /// What a tile of elements carries alone.
  virtual Carried take(mlir::Value x, llvm::ArrayRef<int> axes,
                       Position position) = 0;
  /// Of elements and of later ones; `mask`: which of the later ones there are.
  virtual Carried merge(mlir::ValueRange first, mlir::ValueRange second,
                        mlir::Value mask, llvm::ArrayRef<int> axes) = 0;
  /// All along the lanes become one.
  virtual Carried foldLanes(mlir::ValueRange carried,
                            llvm::ArrayRef<int> axes) = 0;
  /// Whether several dims may go, and tiles may be folded one by one.
  virtual bool isPlain() const { return true; }
  /// Whether a walk of its own finds the maximum first.
  virtual bool needsMaximum() const { return false; }
  virtual void findMaximum() {}
  virtual void subtractMaximum(mlir::Value, llvm::ArrayRef<int>) {}
  /// The result; `count`: how many elements became one.
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

/// What the reduction does.
std::unique_ptr<Fold> makeFold(KernelEmitter &e, mlir::Operation *op);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_FOLDS_H
