// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What GreedySearch, Sampling and BeamSearch share: the graphs that they run in
// a loop, and the scores of the next token.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_MICROSOFTSEARCH_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_MICROSOFTSEARCH_H

#include "Arithmetic.h"

namespace adze::importer {

/// One search as the node describes it, over `rows` sequences at once. After an
/// error all values are null.
class Search {
public:
  using Value = mlir::Value;
  using Values = Binder::Values;

  /// The operands that all operators have, at different places.
  struct Places {
    unsigned repetitionPenalty, vocabMask, prefixMask, attentionMask;
  };

  /// `beams`: number of sequences of each entry of the batch, and its value.
  Search(Binder &b, const Places &places, mlir::AffineExpr beams,
         Value beamsValue);

  /// Imports the first run of the decoder. Fails if the graphs do not have the
  /// form that ONNX Runtime requires.
  mlir::LogicalResult start();
  /// Imports a run with one token a row [R] and the states of the run before,
  /// which it replaces: the logits of the next token, [R, V] in f32.
  Value next(Value tokens, Values &states);
  /// Processes the scores [R, V] of the token at place `length` (a scalar).
  Value process(Value scores, Value sequences, Value length, bool isFirst);
  /// Writes tokens [R] at place `length` of the sequences [R, L].
  Value append(Value sequences, Value tokens, Value length);
  /// The states with row `order`[i] instead of row i.
  void reorder(Values &states, Value order);
  /// x [B, ...] with each entry `beams` times: [R, ...].
  Value repeat(Value x);
  /// An operand as a scalar of that type, or `otherwise` if it is left out.
  Value scalar(unsigned operand, mlir::Type type, double otherwise);
  /// The greatest (or least) `count` elements of each row in order, and their
  /// places.
  std::pair<Value, Value> takeBest(Value x, mlir::AffineExpr count,
                                   bool largest);
  /// For each row and token whether a place of `tokens` [R, N] that `counts`
  /// (the same shape) has it: [R, V].
  Value mark(Value scores, Value tokens, Value counts);

  Binder &b;
  Arithmetic a;
  const mlir::AffineExpr beams;
  const Value beamsValue;
  mlir::AffineExpr batch, rows, limit;
  /// Of the batch, of each sequence at last, and at first.
  Value batchValue, limitValue, startLength;
  const int64_t end, pad;

  // What the first run makes.
  Value logits, sequences;
  Values states;

private:
  mlir::LogicalResult startDecoder();
  mlir::LogicalResult startEncoder();
  mlir::LogicalResult startFromEncoder(const Graph &encoder, Value ids,
                                       Value mask);
  /// The mask of the prompt [B, S], in i32.
  Value getMask(Value ids);
  /// The last row of the logits [R, S, V'] that a graph makes.
  Value takeLast(Value all);
  /// An empty cache for the input of a graph whose dim `axis` grows.
  Value makeEmpty(const ValueInfo &input, int64_t rowAxis, int64_t axis);
  Value penalizeRepeated(Value scores, Value sequences, Value length);
  Value banRepeated(Value scores, Value sequences, Value length);

  const Places places;
  const Graph *decoder = nullptr;
  bool isEncoderDecoder = false;
  /// What each run gets beside tokens and states: of the encoder.
  Values fixedInputs, crossCaches;
  /// Of all states: the dim of rows; -1 if it stays as it is.
  llvm::SmallVector<int64_t> rowAxes;
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_MICROSOFTSEARCH_H
