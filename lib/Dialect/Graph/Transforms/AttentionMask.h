// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What hides keys from queries, gathered from sums and selections of scores.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONMASK_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONMASK_H

#include "Matching.h"

namespace adze::graph {

/// Whether a number in the place of a score leaves it no weight.
inline bool hidesScores(double number) { return number <= -1e30; }

/// c where a value is of the form c ? 1 : 0, as a condition; null for others.
/// Makes a cast of numbers that are known to be 0 and 1.
mlir::Value getIndicated(mlir::OpBuilder &builder, mlir::Value value);

/// a and b of a value that is a * x + b, where x is 0 or 1.
bool matchLinear(mlir::Value value, mlir::Value x, double &a, double &b,
                 unsigned depth = 0);

class AttentionMask {
public:
  explicit AttentionMask(mlir::OpBuilder &builder) : b(builder) {}

  /// The dims of the scores that masks broadcast to; before any mask.
  void setScores(const Dims &dims) { scores = place = dims; }
  /// The dims that they have where what follows hides some, behind a view.
  void setPlace(const Dims &dims) { place = dims; }
  bool isEmpty() const {
    return !mask && !bias && causal == Causal::None && !hidden;
  }

  /// select(condition, scores, number) or the other way round. Fails where it
  /// does not go together with what is there.
  bool hide(mlir::Value condition, bool visibleIfTrue, double number);
  /// scores + term.
  bool add(mlir::Value term);
  /// max(scores, number) of all that follows; what is hidden before anything
  /// else is bounded, too.
  bool bound(double number);
  /// Whether just this condition hides scores, so that they have no weight.
  bool hidesJust(mlir::Value condition, bool visibleIfTrue) const;
  /// Whether a condition is known to be false: it asks which queries a triangle
  /// shows no key, and all see one.
  bool isOfNoQuery(mlir::Value condition) const;
  /// Takes over what another one, made from this one, has found.
  void take(const AttentionMask &other);

  /// Bias and mask, either may be null.
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
  double least = -INFINITY; // that a score may be
  Causal causal = Causal::None;
  /// What hides where it is false (or true), as given; null: a causal bias.
  llvm::SmallVector<std::pair<mlir::Value, bool>, 2> conditions;
};

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONMASK_H
