// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of GreedySearch, Sampling and BeamSearch: the graphs that run in
// a loop, and the scores of the next token.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_MICROSOFTSEARCH_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_MICROSOFTSEARCH_H

#include "Arithmetic.h"

namespace adze::importer {

/// A search as the node defines it, over `rows` sequences at once. After an
/// error all values are null.
class Search {
public:
  using Value = mlir::Value;
  using Values = Binder::Values;

  /// The operands of all operators, whose positions differ.
  struct OperandIndices {
    unsigned repetitionPenalty, vocabMask, prefixMask, attentionMask;
  };

  /// `beams` is the number of sequences of each entry of the batch.
  Search(Binder &b, const OperandIndices &indices, mlir::AffineExpr beams,
         Value beamsValue);

  /// Imports the first run of the decoder. Fails if the graphs do not have the
  /// form that ONNX Runtime requires.
  mlir::LogicalResult start();
  /// Imports a run with one token for each row [R] and the states of the
  /// previous run, which it replaces. Returns the logits of the next token, [R,
  /// V] in f32.
  Value next(Value tokens, Values &states);
  /// Processes the scores [R, V] of the token at position `length` (a scalar).
  Value process(Value scores, Value sequences, Value length, bool isFirst);
  /// Writes tokens [R] to position `length` of the sequences [R, L].
  Value append(Value sequences, Value tokens, Value length);
  /// Replaces row i of the states by row `order`[i].
  void reorder(Values &states, Value order);
  /// Repeats each entry of x [B, ...] `beams` times: [R, ...].
  Value repeat(Value x);
  /// Returns an operand as a scalar of the type, or `otherwise` if it is
  /// absent.
  Value scalar(unsigned operand, mlir::Type type, double otherwise);
  /// Returns the greatest (or least) `count` elements of each row in order, and
  /// their indices.
  std::pair<Value, Value> takeBest(Value x, mlir::AffineExpr count,
                                   bool largest);
  /// Returns, for each row and token, whether `tokens` [R, N] has it at a
  /// position where `counts` (the same shape) is true: [R, V].
  Value mark(Value scores, Value tokens, Value counts);

  Binder &b;
  Arithmetic a;
  const mlir::AffineExpr beams;
  const Value beamsValue;
  mlir::AffineExpr batch, rows, limit;
  /// Of the batch, and of each sequence at the end and at the beginning.
  Value batchValue, limitValue, startLength;
  const int64_t end, pad;

  // The results of the first run.
  Value logits, sequences;
  Values states;

private:
  mlir::LogicalResult startDecoder();
  mlir::LogicalResult startEncoder();
  mlir::LogicalResult startFromEncoder(const Graph &encoder, Value ids,
                                       Value mask);
  /// Returns the mask of the prompt [B, S], in i32.
  Value getMask(Value ids);
  /// Returns the last row of the logits [R, S, V'] of a graph.
  Value takeLast(Value all);
  /// Returns an empty cache for an input whose dim `axis` grows.
  Value makeEmpty(const ValueInfo &input, int64_t rowAxis, int64_t axis);
  Value penalizeRepeated(Value scores, Value sequences, Value length);
  Value banRepeated(Value scores, Value sequences, Value length);

  const OperandIndices indices;
  const Graph *decoder = nullptr;
  bool isEncoderDecoder = false;
  /// Inputs of each run other than tokens and states: those of the encoder.
  Values fixedInputs, crossCaches;
  /// For all states, the dim of rows; -1 if it does not change.
  llvm::SmallVector<int64_t> rowAxes;
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_MICROSOFTSEARCH_H
