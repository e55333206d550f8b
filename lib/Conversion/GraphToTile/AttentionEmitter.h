// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The emitter of attention: its axes, forms and state.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_ATTENTIONEMITTER_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_ATTENTIONEMITTER_H

#include "AttentionParts.h"
#include "Dialect/Graph/IR/Attention.h"
#include "Dialect/Graph/IR/Precision.h"
#include "FewRows.h"

namespace adze {

/// The axes of the tile space: queries, keys, the elements of a key, and those
/// of a value. If the keys of a step have parts, `keys` are those of a part,
/// and `step` those of all parts.
struct AttentionAxes {
  int queries, keys, depth, columns, step, parts = -1;
  Axes on(std::initializer_list<int> list) const {
    Axes axes(list);
    llvm::sort(axes);
    return axes;
  }
  /// Returns these axes and that of the parts.
  Axes onParts(std::initializer_list<int> list) const {
    Axes axes(list);
    if (parts >= 0)
      axes.push_back(parts);
    llvm::sort(axes);
    return axes;
  }
};

class AttentionEmitter {
public:
  AttentionEmitter(KernelEmitter &e, graph::AttentionOp op)
      : e(e), op(op), b(e.builder()), loc(e.loc()),
        element(
            graph::getSignlessType(mlir::getElementTypeOrSelf(op.getResult()))),
        type(graph::getAccumulatorType(element)) {}

  mlir::LogicalResult run();

private:
  mlir::LogicalResult setTiling();
  void setAxes(bool few, mlir::Value count);
  void chooseSharing();
  std::optional<int64_t> getSharing(mlir::Value operand);
  mlir::FailureOr<DimRanges> inGroup(mlir::Value operand);
  DimRanges getQueryRanges();
  mlir::LogicalResult prepareQuery();
  mlir::FailureOr<mlir::Value> scale(mlir::Value tile, mlir::Value scales,
                                     DimRanges batch, mlir::Value first);
  mlir::FailureOr<KernelEmitter::Carried> step(mlir::Value first,
                                               mlir::ValueRange carried);
  mlir::FailureOr<mlir::Value> emitScores(mlir::Value first);
  mlir::FailureOr<Emitted> emitAtScores(mlir::Value operand, mlir::Value first);
  mlir::FailureOr<Emitted> emitKeys(mlir::Value operand, DimRanges batch,
                                    mlir::Value first, int axis);
  Emitted divide(const Emitted &tile);
  mlir::Value keyPositions(mlir::Value first);
  mlir::Value hideKeys(mlir::Value scores, mlir::Value first);
  std::pair<mlir::Value, mlir::Value>
  subtract(mlir::Value scores, mlir::Value before, mlir::Value base);
  mlir::Value getBase(mlir::Value most);
  mlir::Value createDot(const Emitted &lhs, const Emitted &rhs, mlir::Value acc,
                        int common);
  Emitted round(Emitted operand);
  mlir::Value position(int axis, mlir::Value offset, llvm::ArrayRef<int> axes);
  void joinParts(KernelEmitter::Carried &carried);
  mlir::LogicalResult finish(mlir::ValueRange carried);

  mlir::Type getFactor() { return graph::getPrecision(op).value_or(element); }
  double getScale() { return op.getScale().convertToDouble(); }
  double getFill() { return op.getFill().convertToDouble(); }
  double getSoftcap() { return op.getSoftcap().convertToDouble(); }
  /// Whether the scores of a block are scaled where the maximum is subtracted,
  /// by one fused multiply-add. What is added to scores or replaces them is of
  /// the same scale then: nothing, or -infinity.
  bool scalesDifferences() {
    bool isHidden = op.getMask() || op.getCausal() != graph::Causal::None;
    return element != type && !op.getBias() && getSoftcap() == 0 &&
           getScale() > 0 && (!isHidden || getFill() == -INFINITY);
  }
  mlir::Value number(double value, llvm::ArrayRef<int> on) {
    return e.constant(b.getFloatAttr(type, value), on);
  }
  mlir::Value spread(mlir::Value perQuery, llvm::ArrayRef<int> on) {
    return e.broadcast({perQuery, queryAxes}, on);
  }
  /// Returns true if a block of keys may have only keys that are masked for a
  /// query.
  bool mayHideAll() {
    return axes.parts >= 0 || op.getMask() || op.getBias() ||
           op.getCausal() != graph::Causal::None;
  }

  /// Returns true if the number of queries is dynamic and may be small, as in
  /// the steps of a decoder. Programs for few queries then have one query each.
  bool asksWhetherFew() { return knownQueries < 0 && e.tilesEvenly; }

  /// Returns true for the version for few queries of a kernel for GPUs, whose
  /// programs have one query and parts of the keys.
  bool isFew() const { return e.version.isFew(); }

  /// Programs of `count` queries, which run if the condition holds. With `few`,
  /// keys are along the vectors or in parts; with `shares`, a program has one
  /// query, and the heads that share keys.
  struct Form {
    mlir::Value condition; // null: always
    bool few;
    mlir::Value count;
    bool shares = false;
  };
  mlir::LogicalResult emit(const Form &form);
  mlir::LogicalResult emitForms(llvm::ArrayRef<Form> forms);

  /// The numbers of queries from which a vector for each key pays off. If the
  /// number is dynamic, a single query has programs of its own, and less than
  /// `fewBlocked` queries also have blocks of keys along the vectors.
  static constexpr int64_t fewQueries = 8, fewBlocked = 21, blockedQueries = 4;
  /// The number of accumulators of a head that fit in registers next to its
  /// keys.
  static constexpr int64_t mostShared = 8;
  KernelEmitter &e;
  graph::AttentionOp op;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type element, type;
  AttentionAxes axes;
  Axes queryAxes, scoreAxes, resultAxes;
  unsigned rank;
  int64_t depth, columns, knownQueries;
  int64_t sharing = 1; // heads with the same keys that a program may share
  int64_t heads = 1;   // of a program of this form
  int64_t keyBlock = 0;
  int64_t keysAhead = 0;                // prefetch distance
  mlir::Value queries, keys;            // their numbers
  llvm::SmallVector<Form, 3> forms;     // the first whose condition holds runs
  mlir::Value blockQueries, blockKeys;  // queries of a program, keys of a step
  mlir::Value parts, keysOfPart;        // of the keys of a step, of few queries
  mlir::Value rowId, row;               // of the queries; the first one
  llvm::SmallVector<mlir::Value> batch; // ids
  DimRanges keyBatch, valueBatch;       // of the batch dims
  mlir::Value key, value;               // without the scales of rows
  mlir::Value keyScales, valueScales;   // of each key and value, or null
  Emitted query;
};

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_ATTENTIONEMITTER_H
