// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// GreedySearch, Sampling and BeamSearch of com.microsoft: the first run of the
// decoder, then a loop of the others until all sequences have ended.
#include "../OpTable.h"
#include "../Sizes.h"
#include "MicrosoftSearch.h"
#include <limits>

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;
using Values = Binder::Values;

namespace {

/// Returns true (a scalar) if one of the sequences has not ended.
Value isAnyOpen(Binder &b, Value done) {
  Arithmetic a(b);
  Value open = b.cast(a.notOf(done), b.builder.getI32Type());
  return a.greater(a.reduce<graph::ReduceMaxOp>(open, {0}), 0.0);
}

//===----------------------------------------------------------------------===//
// One sequence of each prompt
//===----------------------------------------------------------------------===//

/// The state of a search with one sequence for each of B prompts.
struct Sequences {
  Value sequences, tokens, done; // [B, L], [B], [B]
  Value generator;               // of random numbers, or null

  Values pack() const {
    Values all{sequences, tokens, done};
    if (generator)
      all.push_back(generator);
    return all;
  }
  static Sequences unpack(mlir::ValueRange values, bool hasGenerator) {
    return {values[0], values[1], values[2],
            hasGenerator ? values[3] : Value()};
  }
};

/// GreedySearch selects the best token; Sampling draws one.
class SingleSearch {
public:
  explicit SingleSearch(Binder &b)
      : b(b), s(b,
                {/*repetitionPenalty=*/3, /*vocabMask=*/4, /*prefixMask=*/5,
                 /*attentionMask=*/6},
                b.expr(1), b.scalar(b.builder.getI64Type(), 1)),
        a(b), f32(b.builder.getF32Type()), f64(b.builder.getF64Type()) {}

  /// Imports the node. With a generator (an i64 scalar), tokens are drawn.
  LogicalResult build(Value generator);

private:
  Sequences step(const Sequences &state, Value logits, Value length,
                 bool isFirst);
  Value takeBest(Value scores);
  Value draw(Value scores, Value &generator);
  Value adjust(Value scores);
  Value filter(Value scores);
  Value drawUniform(Value &generator);

  Binder &b;
  Search s;
  Arithmetic a;
  mlir::Type f32, f64;
};

Value SingleSearch::takeBest(Value scores) {
  return b.create<graph::ArgMaxOp>(
      scores, {b.attr("axis", int64_t(1)), b.attr("keepdims", false)});
}

/// Appends a token at position `length`; pads follow the end token.
Sequences SingleSearch::step(const Sequences &state, Value logits, Value length,
                             bool isFirst) {
  Sequences next = state;
  Value scores = s.process(logits, state.sequences, length, isFirst);
  Value chosen =
      state.generator ? draw(scores, next.generator) : takeBest(scores);
  Value token = b.cast(chosen, b.builder.getI32Type());
  next.done = a.either(state.done, a.equal(token, double(s.end)));
  next.tokens = a.select(a.notOf(next.done), token, double(s.pad));
  next.sequences = s.append(state.sequences, next.tokens, length);
  return next;
}

LogicalResult SingleSearch::build(Value generator) {
  if (b.hasFailed() || mlir::failed(s.start()))
    return mlir::failure();
  Value open = b.scalar(b.builder.getI1Type(), 0);
  Sequences first{s.sequences, {}, b.broadcastTo(open, s.batch), generator};
  first = step(first, s.logits, s.startLength, /*isFirst=*/true);
  Values carried = first.pack();
  size_t own = carried.size();
  llvm::append_range(carried, s.states);
  if (b.hasFailed() || llvm::is_contained(carried, Value()))
    return mlir::failure();
  Value rest = a.sub(a.sub(s.limitValue, s.startLength), 1.0);
  Values results = b.createLoop(
      rest, isAnyOpen(b, first.done), carried,
      [&](Value number, mlir::ValueRange values, Binder::LoopBody &body) {
        Sequences state = Sequences::unpack(values, bool(generator));
        Values states(values.drop_front(own));
        Value length = a.add(a.add(number, s.startLength), 1.0);
        Value logits = s.next(state.tokens, states);
        state = step(state, logits, length, /*isFirst=*/false);
        if (b.hasFailed() || !state.sequences)
          return mlir::failure();
        body.condition = isAnyOpen(b, state.done);
        body.carried = state.pack();
        llvm::append_range(body.carried, states);
        return mlir::success();
      });
  return results.empty() ? mlir::failure() : b.done(results.front());
}

LogicalResult importGreedySearch(Binder &b) {
  return SingleSearch(b).build(/*generator=*/{});
}

//===----------------------------------------------------------------------===//
// Sampling
//===----------------------------------------------------------------------===//

/// The modulus of the generator minstd_rand0 of ONNX Runtime: each number is
/// 16807 times the previous one.
constexpr double kModulus = 2147483647.0;

/// Divides by the temperature, and subtracts the penalty of marked tokens.
/// (Each token has its own; ONNX Runtime 1.32 subtracts all from the first
/// score.)
Value SingleSearch::adjust(Value scores) {
  if (double temperature = b.getFloat("temperature", 1.0); temperature > 0)
    scores = a.div(scores, temperature);
  if (Value mask = b.operand(7))
    scores = a.sub(scores,
                   a.mul(b.cast(mask, f32), b.getFloat("presence_penalty", 0)));
  return scores;
}

/// Replaces the scores of tokens beyond the cumulative probability `top_p`. The
/// custom method sums probabilities from the largest on, and keeps the token
/// that reaches top_p; the other one sums from the smallest on.
Value SingleSearch::filter(Value scores) {
  if (!scores)
    return {};
  bool fromLargest = b.getInt("custom", 0) != 0;
  double share = double(float(b.getFloat("top_p", 0.0)));
  auto [sorted, tokens] =
      s.takeBest(scores, graph::getDims(scores)[1], fromLargest);
  Value shares = b.create<graph::SoftmaxOp>(sorted, b.attr("axis", int64_t(1)));
  Value sums = b.create<graph::CumsumOp>(
      shares, {b.attr("axis", int64_t(1)), b.attr("exclusive", fromLargest)});
  Value place = a.iota(scores, 1), isBeyond;
  if (fromLargest) {
    isBeyond = a.both(a.greater(sums, share), a.greater(place, 0.0));
  } else {
    Value kept =
        a.sub(a.size(scores, 1), double(b.getInt("min_tokens_to_keep", 0)));
    isBeyond = a.both(a.lessEqual(sums, double(1.0f - float(share))),
                      a.less(place, a.max(kept, 1.0)));
  }
  isBeyond = b.broadcastTo(isBeyond, graph::getDims(scores));
  return a.select(a.notOf(s.mark(scores, tokens, isBeyond)), scores,
                  b.getFloat("filter_value", -1e20));
}

/// Returns a number in [0, 1) for each row, from two numbers of the generator,
/// as std::uniform_real_distribution<double> computes it.
Value SingleSearch::drawUniform(Value &generator) {
  auto next = [&](Value x) { return a.mod(a.mul(x, 16807.0), kModulus); };
  constexpr double kRange = kModulus - 1;
  Values results =
      b.createLoop(s.batchValue, /*condition=*/{}, generator,
                   [&](Value, mlir::ValueRange values, Binder::LoopBody &body) {
                     Value low = next(values[0]), high = next(low);
                     body.carried = {high};
                     Value sum =
                         a.add(b.cast(a.sub(low, 1.0), f64),
                               a.mul(b.cast(a.sub(high, 1.0), f64), kRange));
                     body.slices = {a.div(sum, kRange * kRange)};
                     return mlir::failure(b.hasFailed());
                   });
  if (results.size() != 2)
    return {};
  generator = results[0];
  return b.refine(results[1], s.batch);
}

/// Returns the first token whose cumulative probability is greater than the
/// drawn number, as Multinomial of ONNX Runtime does.
Value SingleSearch::draw(Value scores, Value &generator) {
  scores = filter(adjust(scores));
  Value best = a.max(a.reduce<graph::ReduceMaxOp>(scores, {1}, true),
                     double(std::numeric_limits<float>::lowest()));
  Value shares = a.exp(a.sub(b.cast(scores, f64), b.cast(best, f64)));
  Value sums = b.create<graph::CumsumOp>(shares, b.attr("axis", int64_t(1)));
  Value drawn =
      a.mul(drawUniform(generator), a.reduce<graph::ReduceMaxOp>(sums, {1}));
  Value isPassed = a.lessEqual(sums, b.unsqueeze(drawn, {1}));
  Value token = a.sum(b.cast(isPassed, b.builder.getI64Type()), {1});
  return a.min(token, a.sub(a.size(scores, 1), 1.0));
}

LogicalResult importSampling(Binder &b) {
  if (b.wants(1))
    return b.unsupported("expected output 'filtered_logits' not to be used");
  Arithmetic a(b);
  mlir::Type i64 = b.builder.getI64Type();
  Value seed = b.operand(8) ? b.cast(b.reshape(b.operand(8), {}), i64)
                            : b.scalar(i64, 0);
  b.check(a.greaterEqual(seed, 0.0), "expected a seed of at least 0");
  seed = a.mod(seed, kModulus);
  return SingleSearch(b).build(
      a.select(a.equal(seed, 0.0), b.scalar(i64, 1), seed));
}

//===----------------------------------------------------------------------===//
// Beam search
//===----------------------------------------------------------------------===//

/// The state of a beam search over B entries with K beams each.
struct Beams {
  Value sequences, tokens, scores; // [R, L], [R], [R]
  Value kept, keptScores, count;   // [B, K, L], [B, K] sorted, [B]
  Value done;                      // [B]

  Values pack() const {
    return {sequences, tokens, scores, kept, keptScores, count, done};
  }
  static Beams unpack(mlir::ValueRange values) {
    return {values[0], values[1], values[2], values[3],
            values[4], values[5], values[6]};
  }
  static constexpr size_t size = 7;
};

class BeamSearch {
public:
  BeamSearch(Binder &b, AffineExpr beams, Value beamsValue, AffineExpr count)
      : b(b), s(b,
                {/*repetitionPenalty=*/6, /*vocabMask=*/7, /*prefixMask=*/8,
                 /*attentionMask=*/9},
                beams, beamsValue),
        a(b), f32(b.builder.getF32Type()),
        penalty(s.scalar(5, b.builder.getF32Type(), 1.0)), count(count) {}

  LogicalResult build();

private:
  Beams makeFirst();
  Beams step(const Beams &state, Value logits, Value length, bool isFirst,
             Values &states);
  void keepEnded(Beams &state, Value isNew, Value scores, Value sequences);
  Value normalize(Value scores, Value length);
  Value pick(Value x, Value indices) {
    return b.create<graph::GatherElementsOp>({x, indices},
                                             b.attr("axis", int64_t(1)));
  }
  LogicalResult finish(Beams state);

  Binder &b;
  Search s;
  Arithmetic a;
  mlir::Type f32;
  Value penalty;
  AffineExpr count; // of sequences to return
};

/// Returns the score of a sequence, normalized by its length.
Value BeamSearch::normalize(Value scores, Value length) {
  return a.div(scores, a.pow(b.cast(length, f32), penalty));
}

Beams BeamSearch::makeFirst() {
  mlir::Type i64 = b.builder.getI64Type();
  Dims pairs{s.batch, s.beams};
  // The beams of an entry are equal at first, so only one of them counts.
  Value isFirst = a.equal(a.range(s.beams, s.beamsValue), 0.0);
  Value scores = a.select(isFirst, b.scalar(f32, 0.0), b.scalar(f32, -1e9));
  Beams first;
  first.sequences = s.sequences;
  first.scores = b.reshape(b.broadcastTo(scores, pairs), s.rows);
  first.kept = b.reshape(s.sequences, {s.batch, s.beams, s.limit});
  first.keptScores = b.broadcastTo(
      b.scalar(f32, -std::numeric_limits<double>::infinity()), pairs);
  first.count = b.broadcastTo(b.scalar(i64, 0), s.batch);
  first.done = b.broadcastTo(b.scalar(b.builder.getI1Type(), 0), s.batch);
  return first;
}

/// Keeps the best K of the ended sequences: the kept ones and the new ones [B,
/// K] with scores and sequences [B, K, L].
void BeamSearch::keepEnded(Beams &state, Value isNew, Value scores,
                           Value sequences) {
  Value none = b.scalar(f32, -std::numeric_limits<double>::infinity());
  Value all = a.concat({state.keptScores, a.select(isNew, scores, none)}, 1);
  auto [best, places] = s.takeBest(all, s.beams, /*largest=*/true);
  Value both = a.concat({state.kept, sequences}, 1);
  // The result has rows of [B * 2K, L].
  Value starts =
      a.mul(a.range(s.batch, s.batchValue), a.mul(s.beamsValue, 2.0));
  Value rows = a.add(places, b.unsqueeze(starts, {1}));
  state.kept = a.gather(a.flatten(both, 0, 2), rows, 0);
  state.keptScores = best;
  Value more = a.sum(b.cast(isNew, b.builder.getI64Type()), {1});
  state.count = a.min(a.add(state.count, more), s.beamsValue);
}

/// Selects the next tokens and beams by the logits of the token at position
/// `length`, and reorders the states of the decoder.
Beams BeamSearch::step(const Beams &state, Value logits, Value length,
                       bool isFirst, Values &states) {
  if (!logits)
    return {};
  AffineExpr two = graph::mulExprs(s.beams, b.expr(2));
  Value twoValue = a.mul(s.beamsValue, 2.0);
  AffineExpr vocabulary = graph::getDims(logits)[1];
  Value vocabularyValue = a.size(logits, 1);
  Value scores =
      b.create<graph::LogSoftmaxOp>(logits, b.attr("axis", int64_t(1)));
  scores = s.process(scores, state.sequences, length, isFirst);
  scores = a.add(scores, b.unsqueeze(state.scores, {1}));
  auto [best, places] = s.takeBest(
      b.reshape(scores, {s.batch, graph::mulExprs(s.beams, vocabulary)}), two,
      /*largest=*/true);
  Value starts =
      b.unsqueeze(a.mul(a.range(s.batch, s.batchValue), s.beamsValue), {1});
  Value rows = a.add(a.div(places, vocabularyValue), starts);
  Value tokens = a.mod(places, vocabularyValue);
  Value isEnd = a.equal(tokens, double(s.end));
  Value isOpen = b.unsqueeze(a.notOf(state.done), {1});

  // The ended ones of the first K candidates are results.
  Beams next = state;
  auto takeFirst = [&](Value x) { return b.slice(x, 1, 0, s.beams); };
  keepEnded(next, a.both(takeFirst(isEnd), isOpen),
            normalize(takeFirst(best), length),
            a.gather(state.sequences, takeFirst(rows), 0));

  // The first K others continue.
  Value order = a.range(two, twoValue);
  Value keys =
      a.add(order, a.mul(b.cast(isEnd, b.builder.getI64Type()), twoValue));
  Value chosen = s.takeBest(keys, s.beams, /*largest=*/false).second;
  Value nextRows = b.reshape(pick(rows, chosen), s.rows);
  auto asRows = [&](Value x, double otherwise) {
    return b.reshape(a.select(isOpen, pick(x, chosen), otherwise), s.rows);
  };
  next.tokens = b.cast(asRows(tokens, double(s.pad)), b.builder.getI32Type());
  next.scores = asRows(best, 0.0);
  next.sequences =
      s.append(a.gather(state.sequences, nextRows, 0), next.tokens, length);
  s.reorder(states, nextRows);

  // An entry is done if no sequence can become better than the kept ones. (The
  // best score is its own; ONNX Runtime 1.32 reads those of other entries.)
  Value isFull = a.greaterEqual(next.count, s.beamsValue);
  if (b.getInt("early_stopping", 0) != 1) {
    Value hope = normalize(a.reduce<graph::ReduceMaxOp>(best, {1}), length);
    Value worst = a.reduce<graph::ReduceMinOp>(next.keptScores, {1});
    isFull = a.both(isFull, a.greaterEqual(worst, hope));
  }
  next.done = a.either(state.done, isFull);
  return next;
}

/// Entries that are not done keep their beams unchanged.
LogicalResult BeamSearch::finish(Beams state) {
  mlir::Type i32 = b.builder.getI32Type();
  Dims pairs{s.batch, s.beams};
  Value scores = b.reshape(normalize(state.scores, s.limitValue), pairs);
  Value isOpen = b.broadcastTo(b.unsqueeze(a.notOf(state.done), {1}), pairs);
  keepEnded(state, isOpen, scores,
            b.reshape(state.sequences, {s.batch, s.beams, s.limit}));
  Value sequences = b.cast(b.slice(state.kept, 1, 0, count), i32);
  Value best = b.slice(state.keptScores, 1, 0, count);
  return b.done({sequences, best});
}

LogicalResult BeamSearch::build() {
  if (b.wants(2))
    return b.unsupported("expected output 'scores' not to be used");
  if (b.operand(10) || b.operand(11))
    return b.unsupported("expected no decoder_input_ids and logits_processor");
  if (b.hasFailed() || mlir::failed(s.start()))
    return mlir::failure();
  Values states = s.states;
  Beams first =
      step(makeFirst(), s.logits, s.startLength, /*isFirst=*/true, states);
  Values carried = first.pack();
  llvm::append_range(carried, states);
  if (b.hasFailed() || llvm::is_contained(carried, Value()))
    return mlir::failure();
  Value rest = a.sub(a.sub(s.limitValue, s.startLength), 1.0);
  Values results = b.createLoop(
      rest, isAnyOpen(b, first.done), carried,
      [&](Value number, mlir::ValueRange values, Binder::LoopBody &body) {
        Beams state = Beams::unpack(values);
        Values states(values.drop_front(Beams::size));
        Value length = a.add(a.add(number, s.startLength), 1.0);
        Value logits = s.next(state.tokens, states);
        state = step(state, logits, length, /*isFirst=*/false, states);
        if (b.hasFailed() || !state.sequences)
          return mlir::failure();
        body.condition = isAnyOpen(b, state.done);
        body.carried = state.pack();
        llvm::append_range(body.carried, states);
        return mlir::success();
      });
  return results.empty() ? mlir::failure() : finish(Beams::unpack(results));
}

LogicalResult importBeamSearch(Binder &b) {
  if (!b.operand(3) || !b.operand(4))
    return b.fail("expected num_beams and num_return_sequences to be present");
  Sizes sizes(b);
  Value beams = b.withLength(sizes.toVector(b.operand(3)), 1),
        wanted = b.withLength(sizes.toVector(b.operand(4)), 1);
  b.check(b.create<graph::LessEqualOp>({wanted, beams}),
          "expected num_return_sequences of at most num_beams");
  Dims size = b.getSizes(beams), count = b.getSizes(wanted);
  if (b.hasFailed())
    return mlir::failure();
  return BeamSearch(b, size.front(), sizes.pickScalar(beams, 0), count.front())
      .build();
}

} // namespace

void adze::importer::addMicrosoftGenerationOps(std::vector<OpRow> &rows) {
  auto add = [&](llvm::StringRef name, unsigned required, Handler handler,
                 llvm::StringRef note) {
    rows.push_back(
        {name, 0, required, handler, note, INT32_MAX, "com.microsoft"});
  };
  add("BeamSearch", 2, importBeamSearch,
      "output scores, decoder_input_ids, logits_processor; model_type 2");
  add("GreedySearch", 2, importGreedySearch, "");
  add("Sampling", 2, importSampling, "output filtered_logits");
}
