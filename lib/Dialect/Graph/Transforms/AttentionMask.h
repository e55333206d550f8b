// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The mask and bias of attention, collected from sums and selections of scores.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONMASK_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONMASK_H

#include "Matching.h"

namespace adze::graph {

/// Returns true if a score of this value has weight 0.
inline bool hidesScores(double number) { return number <= -1e30; }

/// Returns the condition c of a value of the form c ? 1 : 0, or null. Creates a
/// cast for numbers that are known to be 0 and 1.
mlir::Value getIndicated(mlir::OpBuilder &builder, mlir::Value value);

/// Matches a value a * x + b, where x is 0 or 1, and returns a and b.
bool matchLinear(mlir::Value value, mlir::Value x, double &a, double &b,
                 unsigned depth = 0);

class AttentionMask {
public:
  explicit AttentionMask(mlir::OpBuilder &builder) : b(builder) {}

  /// Sets the dims of the scores, which masks broadcast to; called first.
  void setScores(const Dims &dims) { scores = place = dims; }
  /// Sets the dims of the scores after a reshape, for later masks.
  void setPlace(const Dims &dims) { place = dims; }
  bool isEmpty() const {
    return !mask && !bias && causal == Causal::None && !hidden;
  }

  /// Adds select(condition, scores, number), or with swapped operands. Fails if
  /// it cannot be combined with the present mask.
  bool hide(mlir::Value condition, bool visibleIfTrue, double number);
  /// Adds scores + term.
  bool add(mlir::Value term);
  /// Adds max(scores, number) to all later scores; scores that were masked
  /// first are bounded, too.
  bool bound(double number);
  /// Returns true if this condition alone masks scores, so that they have
  /// weight 0.
  bool hidesJust(mlir::Value condition, bool visibleIfTrue) const;
  /// Returns true if a condition selects the queries of which all scores are
  /// -infinity, and sets `exist` to false if there are none: a triangle alone
  /// does not mask all keys of a query.
  bool isOfMaskedQueries(mlir::Value condition, bool &exist) const;
  /// Copies the results of another mask that was made from this one.
  void take(const AttentionMask &other);

  /// Returns bias and mask; either may be null.
  std::pair<mlir::Value, mlir::Value> getOperands();
  double getFill() const { return std::max(hidden.value_or(-INFINITY), least); }
  Causal getCausal() const { return causal; }

private:
  bool isBounded() const { return least != -INFINITY; }
  bool setFill(double number);
  bool hideAlone(mlir::Value condition, bool visibleIfTrue, double number);
  bool hideWhereFalse(mlir::Value condition);
  bool hasPairs(mlir::Value value) const;
  Causal getTriangle(mlir::AffineExpr distance) const;
  Causal matchTriangle(mlir::Value condition) const;
  Causal matchTriangleBias(mlir::Value term, double &number) const;
  bool addParts(AddOp sum);
  bool fits(mlir::Value value) const;

  mlir::OpBuilder &b;
  Dims scores, place;
  mlir::Value mask, bias;
  std::optional<double> hidden;
  double least = -INFINITY; // lower bound of scores
  Causal causal = Causal::None;
  /// The conditions that mask where they are false (or true); null: a causal
  /// bias.
  llvm::SmallVector<std::pair<mlir::Value, bool>, 2> conditions;
};

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONMASK_H
