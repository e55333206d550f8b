// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The graphs and the scores of GreedySearch, Sampling and BeamSearch of
// com.microsoft.
#include "MicrosoftSearch.h"
#include "../IndexRange.h"
#include "../Sizes.h"
#include "../Types.h"
#include <limits>

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

constexpr double kLowest = std::numeric_limits<float>::lowest();

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Value Search::scalar(unsigned operand, mlir::Type type, double otherwise) {
  Value given = b.operand(operand);
  return given ? b.cast(b.reshape(given, {}), type) : b.scalar(type, otherwise);
}

Search::Search(Binder &b, const OperandIndices &indices, AffineExpr beams,
               Value beamsValue)
    : b(b), a(b), beams(beams), beamsValue(beamsValue),
      end(b.getInt("eos_token_id", -1)), pad(b.getInt("pad_token_id", -1)),
      indices(indices) {
  Value ids = b.operand(0);
  if (b.getRank(ids) != 2) {
    (void)b.fail("expected input_ids of 2 dims");
    return;
  }
  if (end < 0 || pad < 0) {
    (void)b.fail("expected eos_token_id and pad_token_id of at least 0");
    return;
  }
  Sizes sizes(b);
  Value length = b.withLength(sizes.toVector(b.operand(1)), 1);
  Dims bound = b.getSizes(length);
  if (b.hasFailed())
    return;
  limit = bound.front();
  limitValue = sizes.pickScalar(length, 0);
  batch = graph::getDims(ids)[0];
  rows = graph::mulExprs(batch, beams);
  batchValue = a.size(ids, 0);
}

Value Search::repeat(Value x) {
  if (!x || graph::getConstant(beams) == 1)
    return x;
  Dims dims = graph::getDims(x);
  dims.insert(dims.begin() + 1, beams);
  Value wide = b.broadcastTo(b.unsqueeze(x, {1}), dims);
  dims.erase(dims.begin());
  dims.front() = rows;
  return b.reshape(wide, dims);
}

//===----------------------------------------------------------------------===//
// The graphs
//===----------------------------------------------------------------------===//

LogicalResult Search::start() {
  decoder = b.getGraph("decoder");
  if (b.hasFailed() || !decoder)
    return b.fail("expected attribute 'decoder' to be a graph");
  int64_t kind = b.getInt("model_type", 0);
  if (kind != 0 && kind != 1)
    return b.unsupported("expected model_type 0 (a decoder) or 1 (an encoder "
                         "and a decoder), but got " +
                         llvm::Twine(kind));
  isEncoderDecoder = kind == 1;
  if (mlir::failed(isEncoderDecoder ? startEncoder() : startDecoder()))
    return mlir::failure();
  b.check(a.less(startLength, limitValue),
          "expected max_length to be greater than the length of the prompt");
  return mlir::failure(b.hasFailed());
}

Value Search::getMask(Value ids) {
  mlir::Type i32 = b.builder.getI32Type();
  if (Value mask = b.operand(indices.attentionMask))
    return b.cast(b.refine(mask, graph::getDims(ids)), i32);
  Value isToken = a.notOf(a.equal(ids, double(pad)));
  if (isEncoderDecoder && isToken)
    // Pads are counted from the first token on.
    isToken = a.greater(b.create<graph::CumsumOp>(b.cast(isToken, i32),
                                                  b.attr("axis", int64_t(1))),
                        0.0);
  return b.cast(isToken, i32);
}

Value Search::takeLast(Value all) {
  if (!all || b.getRank(all) != 3) {
    if (all)
      (void)b.fail("expected logits of 3 dims");
    return {};
  }
  Dims dims = graph::getDims(all);
  Value last = b.slice(all, 1, graph::subExprs(dims[1], b.expr(1)), b.expr(1));
  last = b.cast(b.reshape(last, {dims[0], dims[2]}), b.builder.getF32Type());
  int64_t vocabulary = b.getInt("vocab_size", -1);
  if (vocabulary <= 0)
    return last;
  auto known = graph::getConstant(dims[2]);
  if (known && *known < vocabulary) {
    (void)b.fail("expected logits of at least vocab_size tokens");
    return {};
  }
  return b.slice(last, 1, 0, b.expr(vocabulary));
}

Value Search::makeEmpty(const ValueInfo &input, int64_t rowAxis, int64_t axis) {
  Dims dims;
  for (const Dim &dim : input.dims.value_or(std::vector<Dim>()))
    dims.push_back(dim.size ? b.expr(*dim.size) : AffineExpr());
  if (int64_t(dims.size()) > axis) {
    dims[rowAxis] = rows;
    dims[axis] = b.expr(0);
  }
  mlir::Type type = getElementType(b.builder.getContext(), input.elementType);
  if (!llvm::isa_and_nonnull<mlir::FloatType>(type) ||
      int64_t(dims.size()) <= axis || llvm::is_contained(dims, AffineExpr())) {
    (void)b.fail("expected input '" + input.name +
                 "' of the decoder to declare floats, heads and head size");
    return {};
  }
  return b.broadcastTo(b.scalar(type, 0), dims);
}

/// Inputs input_ids, position_ids, attention_mask and past states [2, R, H, P,
/// D]; outputs logits and present states.
LogicalResult Search::startDecoder() {
  size_t count = decoder->outputs.size();
  if (count < 2 || decoder->inputs.size() != count + 2)
    return b.unsupported("expected a decoder of input_ids, position_ids, "
                         "attention_mask and a past state for each present "
                         "one, but got one of " +
                         llvm::Twine(decoder->inputs.size()) + " inputs and " +
                         llvm::Twine(count) + " outputs");
  const Graph *first =
      b.hasAttribute("init_decoder") ? b.getGraph("init_decoder") : decoder;
  Value ids = b.operand(0), mask = getMask(ids);
  if (b.hasFailed() || !first || !mask)
    return mlir::failure();
  mlir::Type i32 = b.builder.getI32Type();
  // Positions count tokens that are not pads, whatever the mask is.
  Value isToken = a.notOf(a.equal(ids, double(pad)));
  Value before = b.create<graph::CumsumOp>(b.cast(isToken, i32),
                                           b.attr("axis", int64_t(1)));
  Value positions = a.select(isToken, a.sub(before, 1.0), 0.0);
  Value lengths = a.sum(b.cast(isToken, i32), {1}, /*keepdims=*/true);
  startLength = a.size(ids, 1);
  Value allIds = repeat(ids), allMasks = repeat(mask);
  Values inputs{allIds, repeat(positions), allMasks}, outputs;
  for (const ValueInfo &input : llvm::ArrayRef(decoder->inputs).drop_front(3))
    inputs.push_back(makeEmpty(input, /*rowAxis=*/1, /*axis=*/3));
  if (b.hasFailed() || llvm::is_contained(inputs, Value()) ||
      mlir::failed(b.inlineGraph(*first, inputs, outputs)))
    return mlir::failure();
  logits = takeLast(outputs.front());
  states = {repeat(lengths), allMasks};
  rowAxes = {-1, -1};
  for (Value present : llvm::ArrayRef(outputs).drop_front()) {
    states.push_back(present);
    rowAxes.push_back(1);
  }
  Value filler =
      b.broadcastTo(a.like(ids, double(pad)),
                    {rows, graph::subExprs(limit, graph::getDims(ids)[1])});
  sequences = a.concat({allIds, filler}, 1);
  sequences = b.reshape(sequences, {rows, limit});
  return mlir::failure(!logits || !sequences);
}

/// The encoder also runs the decoder on its first token: the outputs are
/// logits, encoder_hidden_states and the caches of the decoder. Newer encoders
/// only return the caches of cross attention.
LogicalResult Search::startEncoder() {
  const Graph *encoder = b.getGraph("encoder");
  int64_t first = b.getInt("decoder_start_token_id", -1);
  if (b.hasFailed() || !encoder || first < 0)
    return b.fail("expected attributes 'encoder' and 'decoder_start_token_id'");
  if (decoder->inputs.empty() || !decoder->inputs[0].dims ||
      decoder->inputs[0].dims->size() != 2 ||
      (*decoder->inputs[0].dims)[1].size != 1)
    return b.unsupported("expected a decoder whose input_ids are declared as "
                         "one token a row");
  Value ids = b.operand(0), mask = getMask(ids);
  startLength = b.scalar(b.builder.getI64Type(), 1);
  mlir::Type i32 = b.builder.getI32Type();
  Value start = b.broadcastTo(b.scalar(i32, double(first)), {rows, b.expr(1)});
  Value filler = b.broadcastTo(b.scalar(i32, double(pad)),
                               {rows, graph::subExprs(limit, b.expr(1))});
  sequences = b.reshape(a.concat({start, filler}, 1), {rows, limit});
  if (!sequences || !mask)
    return mlir::failure();
  return startFromEncoder(*encoder, ids, mask);
}

LogicalResult Search::startFromEncoder(const Graph &encoder, Value ids,
                                       Value mask) {
  bool isOld = encoder.inputs.size() == 3;
  size_t layers = (decoder->outputs.size() - 1) / 2, numOwn = 2 * layers;
  bool hasHidden = decoder->inputs.size() > 2 &&
                   decoder->inputs[2].name == "encoder_hidden_states";
  if (decoder->outputs.size() != numOwn + 1 ||
      decoder->inputs.size() != 2 + hasHidden + 2 * numOwn ||
      encoder.outputs.size() != (isOld ? 2 + 2 * numOwn : numOwn) ||
      (hasHidden && !isOld))
    return b.unsupported(
        "expected an encoder and a decoder with caches of "
        "self and cross attention for each layer, but got " +
        llvm::Twine(encoder.outputs.size()) + " outputs of the encoder, " +
        llvm::Twine(decoder->inputs.size()) + " inputs and " +
        llvm::Twine(decoder->outputs.size()) + " outputs of the decoder");
  Values inputs{ids, mask}, outputs;
  if (isOld)
    inputs.push_back(
        b.broadcastTo(b.scalar(b.builder.getI32Type(),
                               double(b.getInt("decoder_start_token_id", 0))),
                      {batch, b.expr(1)}));
  if (mlir::failed(b.inlineGraph(encoder, inputs, outputs)))
    return mlir::failure();
  llvm::transform(outputs, outputs.begin(),
                  [&](Value output) { return repeat(output); });
  fixedInputs = {repeat(mask)};
  if (hasHidden)
    fixedInputs.push_back(outputs[1]);
  crossCaches.assign(outputs.end() - numOwn, outputs.end());
  rowAxes.assign(numOwn, 0);
  if (isOld) {
    logits = takeLast(outputs.front());
    states.assign(outputs.begin() + 2, outputs.begin() + 2 + numOwn);
    return mlir::failure(!logits || llvm::is_contained(outputs, Value()));
  }
  for (const ValueInfo &input :
       llvm::ArrayRef(decoder->inputs).slice(2, numOwn))
    states.push_back(makeEmpty(input, /*rowAxis=*/0, /*axis=*/2));
  if (b.hasFailed())
    return mlir::failure();
  logits = next(b.reshape(b.slice(sequences, 1, 0, b.expr(1)), rows), states);
  return mlir::failure(!logits);
}

Value Search::next(Value tokens, Values &states) {
  if (!tokens || llvm::is_contained(states, Value()))
    return {};
  mlir::Type i32 = b.builder.getI32Type();
  Dims column{rows, b.expr(1)};
  Values inputs{b.reshape(tokens, column)}, outputs;
  llvm::append_range(inputs, fixedInputs);
  Values caches(states);
  AffineExpr past;
  Value positions, mask;
  if (!isEncoderDecoder) {
    positions = states[0];
    mask = a.concat({states[1], b.broadcastTo(b.scalar(i32, 1), column)}, 1);
    inputs.append({positions, mask});
    past = graph::getDims(states[1])[1];
    caches.erase(caches.begin(), caches.begin() + 2);
  }
  // All caches have one length, which a loop does not state for carried values.
  for (auto [cache, axis] : llvm::zip_equal(
           caches, llvm::ArrayRef(rowAxes).take_back(caches.size()))) {
    Dims dims = graph::getDims(cache);
    AffineExpr &length = dims[axis + 2];
    if (!past)
      past = length;
    length = past;
    inputs.push_back(b.reshape(cache, dims));
  }
  llvm::append_range(inputs, crossCaches);
  if (b.hasFailed() || llvm::is_contained(inputs, Value()) ||
      mlir::failed(b.inlineGraph(*decoder, inputs, outputs)))
    return {};
  Values presents(llvm::drop_begin(outputs));
  if (!isEncoderDecoder)
    presents.insert(presents.begin(), {a.add(positions, 1.0), mask});
  states = presents;
  return takeLast(outputs.front());
}

void Search::reorder(Values &states, Value order) {
  for (auto [state, axis] : llvm::zip_equal(states, rowAxes))
    if (axis >= 0)
      state = a.gather(state, order, axis);
}

Value Search::append(Value sequences, Value tokens, Value length) {
  Value isPlace = a.equal(a.range(limit, limitValue), length);
  return a.select(isPlace, b.unsqueeze(tokens, {1}), sequences);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

std::pair<Value, Value> Search::takeBest(Value x, AffineExpr count,
                                         bool largest) {
  if (!x)
    return {};
  Dims dims{graph::getDims(x)[0], count};
  Value values = b.createAs<graph::TopKOp>(
      mlir::TypeRange{graph::makeType(b.getElementType(x), dims),
                      graph::makeType(b.builder.getI64Type(), dims)},
      x, {b.attr("axis", int64_t(1)), b.attr("largest", largest)});
  return values ? std::pair(values, values.getDefiningOp()->getResult(1))
                : std::pair<Value, Value>();
}

Value Search::mark(Value scores, Value tokens, Value counts) {
  if (!scores || !tokens || !counts)
    return {};
  mlir::Type f32 = b.builder.getF32Type();
  mlir::Attribute max = graph::ScatterReductionAttr::get(
      b.builder.getContext(), graph::ScatterReduction::Max);
  Value none = b.broadcastTo(b.scalar(f32, 0), graph::getDims(scores));
  Value marks = b.create<graph::ScatterElementsOp>(
      {none, tokens, b.cast(counts, f32)},
      {b.attr("axis", int64_t(1)), b.attr("reduction", max)});
  return a.greater(marks, 0.0);
}

Value Search::penalizeRepeated(Value scores, Value sequences, Value length) {
  Value given = b.operand(indices.repetitionPenalty);
  if (!given)
    return scores;
  Value penalty = scalar(indices.repetitionPenalty, b.builder.getF32Type(), 1);
  Value isWritten = a.less(a.range(limit, limitValue), length);
  Value isIn = mark(scores, sequences, b.broadcastTo(isWritten, {rows, limit}));
  Value penalized = a.select(a.less(scores, 0.0), a.mul(scores, penalty),
                             a.div(scores, penalty));
  return a.select(isIn, penalized, scores);
}

Value Search::banRepeated(Value scores, Value sequences, Value length) {
  int64_t size = b.getInt("no_repeat_ngram_size", 0);
  if (size <= 0)
    return scores;
  Value positions = a.range(limit, limitValue), last = a.sub(limitValue, 1.0);
  // True if the tokens from each position on are the last ones, followed by
  // one.
  Value isRepeated = b.broadcastTo(
      a.lessEqual(a.add(positions, double(size)), length), {rows, limit});
  for (int64_t i = 0; i + 1 < size; ++i) {
    Value at = a.min(a.add(positions, double(i)), last);
    Value own = a.max(a.sub(length, double(size - 1 - i)), 0.0);
    isRepeated = a.both(isRepeated,
                        a.equal(a.gather(sequences, at, 1),
                                b.unsqueeze(a.gather(sequences, own, 1), {1})));
  }
  Value follow = a.min(a.add(positions, double(size - 1)), last);
  Value isBanned = mark(scores, a.gather(sequences, follow, 1), isRepeated);
  return a.select(a.notOf(isBanned), scores, kLowest);
}

Value Search::process(Value scores, Value sequences, Value length,
                      bool isFirst) {
  scores = penalizeRepeated(scores, sequences, length);
  scores = banRepeated(scores, sequences, length);
  if (Value mask = b.operand(indices.vocabMask))
    scores = a.select(a.notOf(a.equal(mask, 0.0)), scores, kLowest);
  if (Value mask = b.operand(indices.prefixMask); mask && isFirst)
    scores = a.select(a.notOf(a.equal(repeat(mask), 0.0)), scores, kLowest);
  if (!b.operand(2) || !scores)
    return scores;
  // The end token is not allowed before the least length.
  Value least = scalar(2, b.builder.getI64Type(), 0);
  Value tokens = a.iota(scores, 1);
  Value isEnd = a.both(a.equal(tokens, double(end)), a.less(length, least));
  return a.select(a.notOf(isEnd), scores, kLowest);
}
