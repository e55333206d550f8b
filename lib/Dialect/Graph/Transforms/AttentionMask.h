// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What hides keys from queries, gathered from sums and selections of scores.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONMASK_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONMASK_H

#include "Matching.h"

namespace adze::graph {

/// Whether a number in the place of a score leaves it no weight.
inline bool hidesScores(double number) { return number <= -1e30; }

class AttentionMask {
public:
  explicit AttentionMask(mlir::OpBuilder &builder) : b(builder) {}

  /// The dims of the scores that masks broadcast to; before any mask.
  void setScores(const Dims &dims) { scores = dims; }
  bool isEmpty() const {
    return !mask && !bias && causal == Causal::None && !hidden;
  }

  /// select(condition, scores, number) or the other way round. Fails where it
  /// does not go together with what is there.
  bool hide(mlir::Value condition, bool visibleIfTrue, double number);
  /// scores + term.
  bool add(mlir::Value term);
  /// Takes over what another one, made from this one, has found.
  void take(const AttentionMask &other);

  std::pair<mlir::Value, mlir::Value> getOperands() const {
    return {bias, mask};
  }
  double getFill() const { return hidden.value_or(-INFINITY); }
  Causal getCausal() const { return causal; }

private:
  bool setFill(double number);
  bool hideAlone(mlir::Value condition, bool visibleIfTrue, double number);
  bool hideWhereFalse(mlir::Value condition);
  bool isCausal(mlir::Value condition) const;
  bool isCausalBias(mlir::Value term, double &number) const;
  bool fits(mlir::Value value) const;

  mlir::OpBuilder &b;
  Dims scores;
  mlir::Value mask, bias;
  std::optional<double> hidden;
  Causal causal = Causal::None;
};

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONMASK_H
