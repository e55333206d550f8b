// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// GreedySearch and BeamSearch of com.microsoft: the first run of the decoder,
// then a loop of the others until all sequences have ended.
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

/// Whether one of the conditions does not hold, as a scalar.
Value isAnyOpen(Binder &b, Value done) {
  Arithmetic a(b);
  Value open = b.cast(a.notOf(done), b.builder.getI32Type());
  return a.greater(a.reduce<graph::ReduceMaxOp>(open, {0}), 0.0);
}

//===----------------------------------------------------------------------===//
// Greedy search
//===----------------------------------------------------------------------===//

/// What a step of the greedy search needs and makes.
struct GreedyState {
  Value sequences, tokens, done; // [B, L], [B], [B]
};

/// The best token of the scores at place `length`; pads after the end.
GreedyState chooseBest(Search &s, const GreedyState &state, Value logits,
                       Value length, bool isFirst) {
  Value scores = s.process(logits, state.sequences, length, isFirst);
  Value best = s.b.create<graph::ArgMaxOp>(
      scores, {s.b.attr("axis", int64_t(1)), s.b.attr("keepdims", false)});
  Value token = s.b.cast(best, s.b.builder.getI32Type());
  GreedyState next;
  next.done = s.a.either(state.done, s.a.equal(token, double(s.end)));
  next.tokens = s.a.select(s.a.notOf(next.done), token, double(s.pad));
  next.sequences = s.append(state.sequences, next.tokens, length);
  return next;
}

LogicalResult importGreedySearch(Binder &b) {
  Search s(b,
           {/*repetitionPenalty=*/3, /*vocabMask=*/4, /*prefixMask=*/5,
            /*attentionMask=*/6},
           b.expr(1), b.scalar(b.builder.getI64Type(), 1));
  if (b.hasFailed() || mlir::failed(s.start()))
    return mlir::failure();
  GreedyState first{s.sequences,
                    {},
                    b.broadcastTo(b.scalar(b.builder.getI1Type(), 0), s.batch)};
  first = chooseBest(s, first, s.logits, s.startLength, /*isFirst=*/true);
  Values carried{first.sequences, first.tokens, first.done};
  llvm::append_range(carried, s.states);
  if (b.hasFailed() || llvm::is_contained(carried, Value()))
    return mlir::failure();
  Value rest = s.a.sub(s.a.sub(s.limitValue, s.startLength), 1.0);
  Values results = b.createLoop(
      rest, isAnyOpen(b, first.done), carried,
      [&](Value number, mlir::ValueRange values, Binder::LoopBody &body) {
        GreedyState state{values[0], values[1], values[2]};
        Values states(values.drop_front(3));
        Value length = s.a.add(s.a.add(number, s.startLength), 1.0);
        Value logits = s.next(state.tokens, states);
        state = chooseBest(s, state, logits, length, /*isFirst=*/false);
        if (b.hasFailed() || !state.sequences)
          return mlir::failure();
        body.condition = isAnyOpen(b, state.done);
        body.carried = {state.sequences, state.tokens, state.done};
        llvm::append_range(body.carried, states);
        return mlir::success();
      });
  return results.empty() ? mlir::failure() : b.done(results.front());
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
  std::pair<Value, Value> takeBest(Value x, AffineExpr count, bool largest);
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

/// The greatest (or least) elements of each row in order, and their places.
std::pair<Value, Value> BeamSearch::takeBest(Value x, AffineExpr count,
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

/// The score of a sequence by its length.
Value BeamSearch::normalize(Value scores, Value length) {
  return a.div(scores, a.pow(b.cast(length, f32), penalty));
}

Beams BeamSearch::makeFirst() {
  mlir::Type i64 = b.builder.getI64Type();
  Dims pairs{s.batch, s.beams};
  // The beams of an entry are equal at first: only one of them counts.
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

/// Keeps the best K of the ended sequences: of those that are kept and of the
/// new ones [B, K] with scores and sequences [B, K, L].
void BeamSearch::keepEnded(Beams &state, Value isNew, Value scores,
                           Value sequences) {
  Value none = b.scalar(f32, -std::numeric_limits<double>::infinity());
  Value all = a.concat({state.keptScores, a.select(isNew, scores, none)}, 1);
  auto [best, places] = takeBest(all, s.beams, /*largest=*/true);
  Value both = a.concat({state.kept, sequences}, 1);
  // Rows of [B * 2K, L].
  Value starts =
      a.mul(a.range(s.batch, s.batchValue), a.mul(s.beamsValue, 2.0));
  Value rows = a.add(places, b.unsqueeze(starts, {1}));
  state.kept = a.gather(a.flatten(both, 0, 2), rows, 0);
  state.keptScores = best;
  Value more = a.sum(b.cast(isNew, b.builder.getI64Type()), {1});
  state.count = a.min(a.add(state.count, more), s.beamsValue);
}

/// Chooses the next tokens and beams by the logits of the token at place
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
  auto [best, places] = takeBest(
      b.reshape(scores, {s.batch, graph::mulExprs(s.beams, vocabulary)}), two,
      /*largest=*/true);
  Value starts =
      b.unsqueeze(a.mul(a.range(s.batch, s.batchValue), s.beamsValue), {1});
  Value rows = a.add(a.div(places, vocabularyValue), starts);
  Value tokens = a.mod(places, vocabularyValue);
  Value isEnd = a.equal(tokens, double(s.end));
  Value isOpen = b.unsqueeze(a.notOf(state.done), {1});

  // Of the first K candidates the ended ones are results.
  Beams next = state;
  auto takeFirst = [&](Value x) { return b.slice(x, 1, 0, s.beams); };
  keepEnded(next, a.both(takeFirst(isEnd), isOpen),
            normalize(takeFirst(best), length),
            a.gather(state.sequences, takeFirst(rows), 0));

  // The first K others go on.
  Value order = a.range(two, twoValue);
  Value keys =
      a.add(order, a.mul(b.cast(isEnd, b.builder.getI64Type()), twoValue));
  Value chosen = takeBest(keys, s.beams, /*largest=*/false).second;
  Value nextRows = b.reshape(pick(rows, chosen), s.rows);
  auto asRows = [&](Value x, double otherwise) {
    return b.reshape(a.select(isOpen, pick(x, chosen), otherwise), s.rows);
  };
  next.tokens = b.cast(asRows(tokens, double(s.pad)), b.builder.getI32Type());
  next.scores = asRows(best, 0.0);
  next.sequences =
      s.append(a.gather(state.sequences, nextRows, 0), next.tokens, length);
  s.reorder(states, nextRows);

  // An entry is done if no sequence can become better than those kept. (The
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

/// Entries that are not done keep their beams as they are.
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
    return b.unsupported("expected output 'scores' not to be asked for");
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
    return b.fail("expected num_beams and num_return_sequences to be there");
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
}
