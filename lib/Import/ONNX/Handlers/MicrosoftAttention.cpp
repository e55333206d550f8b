// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The attention operators of com.microsoft, on heads [B, N, S, D].
#include "../IndexRange.h"
#include "../OpTable.h"
#include "../Sizes.h"
#include "Arithmetic.h"
#include "Dialect/Graph/IR/Clamp.h"
#include "Microsoft.h"
#include <cmath>

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// The terms of softmax(q k' * scale + bias) v, and further modifications of
/// the scores.
struct Scores {
  Value scale; // a scalar
  double softcap = 0;
  Value bias; // added, broadcasts to [B, N, S, T]
  Value kept; // bool, broadcasts likewise; other keys have the score `masked`
  double masked = -10000;
  /// A score [N], or one for all heads, that is added to the denominator only.
  Value sink;
};

class Heads {
public:
  explicit Heads(Binder &b) : b(b), a(b) {}

  /// Reshapes [B, S, N * D] to [B, N, S, D].
  Value split(Value x, int64_t heads) {
    if (!x)
      return {};
    if (b.getRank(x) != 3) {
      (void)b.fail("expected a 3-D input, but got " +
                   llvm::Twine(b.getRank(x)) + "-D");
      return {};
    }
    Dims dims = graph::getDims(x);
    AffineExpr size = heads < 1 ? AffineExpr() : a.quotient(dims[2], heads);
    if (!size) {
      (void)b.fail("expected a hidden size divisible by the heads, but "
                   "got " +
                   graph::toString(dims));
      return {};
    }
    return b.transpose(b.reshape(x, {dims[0], dims[1], b.expr(heads), size}),
                       {0, 2, 1, 3});
  }
  Value merge(Value x) { return a.flatten(b.transpose(x, {0, 2, 1, 3}), 2, 4); }
  /// Repeats each of `heads` heads `times` times.
  Value repeat(Value x, int64_t times) {
    if (times == 1 || !x)
      return x;
    Dims dims = graph::getDims(x);
    Dims wide{dims[0], dims[1], b.expr(times), dims[2], dims[3]};
    return a.flatten(b.broadcastTo(b.unsqueeze(x, {2}), wide), 1, 3);
  }
  Value attend(Value q, Value k, Value v, const Scores &scores);
  /// Returns the condition that query i (of S, the last of T keys) attends to
  /// key j.
  Value isCausal(Value q, Value k) {
    Value after = a.sub(a.size(k, 2), a.size(q, 2));
    return a.lessEqual(a.iota(k, 2),
                       b.unsqueeze(a.add(a.iota(q, 2), after), {1}));
  }
  /// Returns the attribute of the node, or a default from the size of a head.
  Value getScale(Value q) {
    double scale = b.getFloat("scale", 0.0);
    if (!q)
      return {};
    auto size = graph::getConstant(graph::getDims(q)[3]);
    if (scale != 0 || size)
      return a.like(q, scale != 0 ? scale : 1.0 / std::sqrt(double(*size)));
    Value wide = b.cast(a.size(q, 3), b.builder.getF32Type());
    return b.cast(a.reciprocal(a.sqrt(wide)), b.getElementType(q));
  }

  Binder &b;
  Arithmetic a;
};

Value Heads::attend(Value q, Value k, Value v, const Scores &scores) {
  Value s = a.mul(a.matmul(q, k, /*transposeY=*/true), scores.scale);
  if (scores.softcap != 0)
    s = a.mul(a.tanh(a.div(s, scores.softcap)), scores.softcap);
  if (scores.bias && s)
    s = a.add(s, b.cast(scores.bias, b.getElementType(s)));
  if (scores.kept && s) {
    double masked = scores.masked;
    if (b.getElementType(s).isF16())
      masked = std::max(masked, -65504.0);
    s = a.select(scores.kept, s, a.like(s, masked));
  }
  if (!scores.sink || !s)
    return a.matmul(b.create<graph::SoftmaxOp>(s, b.attr("axis", int64_t(3))),
                    v);
  Dims one = graph::getDims(s);
  AffineExpr keys = std::exchange(one[3], b.expr(1));
  Value sink = b.cast(scores.sink, b.getElementType(s));
  if (b.getRank(sink) == 1)
    sink = b.unsqueeze(sink, {1, 2});
  Value all = a.concat({b.broadcastTo(sink, one), s}, 3);
  Value weights = b.create<graph::SoftmaxOp>(all, b.attr("axis", int64_t(3)));
  return a.matmul(b.slice(weights, 3, 1, keys), v);
}

Value both(Arithmetic &a, Value x, Value y) {
  return !x ? y : !y ? x : a.both(x, y);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Returns the mask of keys from mask_index: [B] lengths, or [B, T], [B, S, T]
/// of 0 and 1.
Value getKept(Heads &h, Value mask, Value keys) {
  Binder &b = h.b;
  if (!mask || !keys)
    return {};
  mlir::Type i64 = b.builder.getI64Type();
  switch (b.getRank(mask)) {
  case 1:
    // mask_index holds lengths; with start positions after them (2 * B) it has
    // another form.
    if (!graph::areEqual(graph::getDims(mask)[0], graph::getDims(keys)[0]))
      break;
    return b.unsqueeze(
        h.a.less(h.a.iota(keys, 2), b.unsqueeze(b.cast(mask, i64), {1})),
        {1, 2});
  case 2:
    return b.unsqueeze(b.cast(mask, b.builder.getI1Type()), {1, 2});
  case 3:
    return b.unsqueeze(b.cast(mask, b.builder.getI1Type()), {1});
  default:
    break;
  }
  (void)b.unsupported("expected a mask of [batch], [batch, keys] or [batch, "
                      "queries, keys], but got " +
                      graph::toString(graph::getDims(mask)));
  return {};
}

/// Returns queries, keys and values: parts of one product, as heads.
LogicalResult project(Heads &h, int64_t heads, Value (&parts)[3]) {
  Binder &b = h.b;
  Value product = h.a.matmul(b.operand(0), b.operand(1));
  if (Value bias = b.operand(2))
    product = h.a.add(product, bias);
  if (!product)
    return mlir::failure();
  Dims dims = graph::getDims(product);
  auto all = graph::getConstant(dims[2]);
  auto given = b.getInts("qkv_hidden_sizes");
  if (!all && (!given || given->empty())) {
    AffineExpr third = h.a.quotient(dims[2], 3);
    Value apart = b.reshape(product, {dims[0], dims[1], b.expr(3), third});
    for (int i = 0; i < 3; ++i)
      parts[i] = h.split(
          b.reshape(b.slice(apart, 2, i, b.expr(1)), {dims[0], dims[1], third}),
          heads);
    return mlir::failure(b.hasFailed());
  }
  llvm::SmallVector<int64_t> sizes(3, all.value_or(0) / 3);
  if (given && !given->empty())
    sizes = *given;
  bool isSplit = sizes.size() == 3 && llvm::all_of(sizes, [](int64_t size) {
                   return size > 0 && size <= INT32_MAX;
                 });
  if (!isSplit || (all && sizes[0] + sizes[1] + sizes[2] != *all))
    return b.fail("expected qkv_hidden_sizes that sum up to the weights'");
  product = b.refine(product, {AffineExpr(), AffineExpr(),
                               b.expr(sizes[0] + sizes[1] + sizes[2])});
  int64_t start = 0;
  for (int i = 0; i < 3; ++i) {
    parts[i] = h.split(b.slice(product, 2, start, b.expr(sizes[i])), heads);
    start += sizes[i];
  }
  return mlir::failure(b.hasFailed());
}

/// Imports attention with one product for queries, keys and values, and past
/// keys and values.
LogicalResult importAttention(Binder &b) {
  Heads h(b);
  Value x = b.operand(0), weights = b.operand(1), past = b.operand(4);
  int64_t heads = b.getInt("num_heads", 0);
  if (b.operand(6))
    return b.unsupported("expected no past_sequence_length");
  if (mlir::failed(
          expectInts(b, {{"do_rotary", 0}, {"past_present_share_buffer", 0}})))
    return mlir::failure();
  if (b.getRank(x) != 3 || b.getRank(weights) != 2)
    return b.fail("expected an input of 3 dims and weights of 2");
  Value parts[3];
  if (mlir::failed(project(h, heads, parts)))
    return mlir::failure();
  Value present;
  if (past) {
    // [2, B, N, P, D]
    for (int i = 0; i < 2; ++i) {
      Dims dims = graph::getDims(past);
      dims.erase(dims.begin());
      Value old = b.reshape(b.slice(past, 0, i, b.expr(1)), dims);
      parts[i + 1] = h.a.concat({old, parts[i + 1]}, 2);
    }
  }
  if (b.wants(1))
    present =
        h.a.concat({b.unsqueeze(parts[1], {0}), b.unsqueeze(parts[2], {0})}, 0);
  Scores scores;
  scores.scale = h.getScale(parts[0]);
  scores.masked = b.getFloat("mask_filter_value", -10000.0);
  scores.bias = b.operand(5);
  scores.kept = getKept(h, b.operand(3), parts[1]);
  if (b.getInt("unidirectional", 0) != 0)
    scores.kept = both(h.a, scores.kept, h.isCausal(parts[0], parts[1]));
  Value y = h.attend(parts[0], parts[1], parts[2], scores);
  return b.done({h.merge(y), present});
}

//===----------------------------------------------------------------------===//
// MultiHeadAttention
//===----------------------------------------------------------------------===//

/// Returns the three inputs as heads: separate, keys and values packed [B, T,
/// N, 2, D], or all packed [B, S, N, 3, D].
LogicalResult getInputs(Heads &h, int64_t heads, Value (&parts)[3]) {
  Binder &b = h.b;
  Value q = b.operand(0), k = b.operand(1), v = b.operand(2);
  Value packed = b.getRank(q) == 5 ? q : k && b.getRank(k) == 5 ? k : Value();
  if (packed) {
    Dims dims = graph::getDims(packed);
    Dims one{dims[0], dims[1], dims[2], dims[4]};
    int64_t first = packed == q ? 0 : 1;
    for (int64_t i = first; i < 3; ++i)
      parts[i] =
          b.transpose(b.reshape(b.slice(packed, 3, i - first, b.expr(1)), one),
                      {0, 2, 1, 3});
    if (first == 1)
      parts[0] = h.split(q, heads);
    return mlir::success();
  }
  if (!k || !v || b.getRank(q) != 3)
    return b.fail("expected query, key and value, or packed ones of 5 dims");
  parts[0] = q;
  parts[1] = k;
  parts[2] = v;
  if (Value bias = b.operand(3)) {
    int64_t start = 0;
    for (Value &part : parts) {
      // Keys of cross attention have 4 dims, and no bias.
      if (b.getRank(part) != 3)
        continue;
      auto size = graph::getConstant(graph::getDims(part)[2]);
      if (!size)
        return b.unsupported("expected hidden sizes that are static");
      part = h.a.add(part, b.slice(bias, 0, start, b.expr(*size)));
      start += *size;
      if (!part)
        return mlir::failure();
    }
  }
  for (Value &part : parts)
    if (b.getRank(part) == 3)
      part = h.split(part, heads);
  return mlir::failure(b.hasFailed());
}

LogicalResult importMultiHeadAttention(Binder &b) {
  Heads h(b);
  Value parts[3];
  if (b.operand(8) || b.operand(9))
    return b.unsupported("expected no past_sequence_length and no "
                         "cache_indirection");
  if (mlir::failed(getInputs(h, b.getInt("num_heads", 0), parts)))
    return mlir::failure();
  for (int i = 0; i < 2; ++i)
    if (Value past = b.operand(6 + i))
      parts[i + 1] = h.a.concat({past, parts[i + 1]}, 2);
  Scores scores;
  scores.scale = h.getScale(parts[0]);
  scores.masked = b.getFloat("mask_filter_value", -10000.0);
  scores.bias = b.operand(5);
  scores.kept = getKept(h, b.operand(4), parts[1]);
  if (b.getInt("unidirectional", 0) != 0)
    scores.kept = both(h.a, scores.kept, h.isCausal(parts[0], parts[1]));
  Value y = h.attend(parts[0], parts[1], parts[2], scores);
  return b.done({h.merge(y), parts[1], parts[2]});
}

//===----------------------------------------------------------------------===//
// GroupQueryAttention
//===----------------------------------------------------------------------===//

/// Attention of a decoder: new keys and values are appended to the cache after
/// those of each row.
class GroupQuery {
public:
  explicit GroupQuery(Binder &b) : h(b), b(b) {}
  LogicalResult run();

private:
  LogicalResult checkForm();
  LogicalResult getInputs();
  LogicalResult getPositions();
  Value update(Value past, Value fresh);

  Heads h;
  Binder &b;
  int64_t heads = 0, groups = 0;
  Value q, k, v; // [B, N, S, D]
  Value pastKeys, pastValues;
  Value positions;  // [B, S] of the new keys in the cache
  AffineExpr total; // keys that queries attend to
  AffineExpr held;  // rows of the cache afterwards
};

LogicalResult GroupQuery::getInputs() {
  heads = b.getInt("num_heads", 0);
  groups = b.getInt("kv_num_heads", 0);
  q = b.operand(0);
  k = b.operand(1);
  v = b.operand(2);
  if (heads < 1 || groups < 1 || heads % groups != 0 || b.getRank(q) != 3)
    return b.fail("expected a query of 3 dims, and num_heads divisible by "
                  "kv_num_heads");
  if (!k) {
    // One tensor has all heads: queries, keys, values.
    auto size = graph::getConstant(graph::getDims(q)[2]);
    if (!size || *size % (heads + 2 * groups) != 0)
      return b.fail("expected packed heads of static size");
    int64_t each = *size / (heads + 2 * groups);
    Value packed = q;
    q = b.slice(packed, 2, 0, b.expr(each * heads));
    k = b.slice(packed, 2, each * heads, b.expr(each * groups));
    v = b.slice(packed, 2, each * (heads + groups), b.expr(each * groups));
  }
  q = h.split(q, heads);
  k = h.split(k, groups);
  v = h.split(v, groups);
  if (b.hasFailed() || !q || !k || !v)
    return mlir::failure();
  // All have the same new tokens, and both caches have the same length.
  Dims tokens(4);
  tokens[2] = graph::getDims(q)[2];
  k = b.refine(k, tokens);
  v = b.refine(v, tokens);
  pastKeys = b.operand(3);
  pastValues = b.operand(4);
  if (pastKeys && pastValues) {
    tokens[2] = graph::getDims(pastKeys)[2];
    pastValues = b.refine(pastValues, tokens);
  }
  return mlir::failure(b.hasFailed());
}

/// Row b has `seqlens_k[b] + 1` keys including the new ones, which are the
/// last; prompts (without past) are padded at the end.
LogicalResult GroupQuery::getPositions() {
  mlir::Type i64 = b.builder.getI64Type();
  Value past = pastKeys, lengths = b.operand(5), sum = b.operand(6);
  AffineExpr fresh = graph::getDims(q)[2];
  AffineExpr before = past ? graph::getDims(past)[2] : b.expr(0);
  total = graph::addExprs(before, fresh);
  if (auto elements = graph::getElements(sum);
      elements && elements->size() == 1 && past)
    total = elements->front();
  // A cache whose buffer is longer than its contents keeps its length.
  held = past ? graph::maxExprs(before, total) : total;
  if (!held)
    return b.unsupported("expected a cache of a known size");
  // The last key is at `lengths`.
  if (mlir::failed(checkIndices(b, lengths, total, NegativeIndex::OutOfRange)))
    return mlir::failure();
  Value size = h.a.size(q, 2);
  Value isPrompt = h.a.equal(b.reshape(b.cast(sum, i64), {}), size);
  Value keys = h.a.add(b.cast(lengths, i64), 1.0);
  Value start = h.a.max(h.a.sub(keys, size), 0.0);
  start = h.a.select(isPrompt, h.a.like(start, 0), start);
  Dims batch{graph::getDims(q)[0]};
  positions =
      h.a.add(b.unsqueeze(b.reshape(start, batch), {1}), h.a.iota(q, 2));
  return mlir::failure(!positions);
}

/// Returns the cache [B, N, P, D] with the new keys or values at their
/// positions.
Value GroupQuery::update(Value past, Value fresh) {
  Dims dims = graph::getDims(fresh);
  if (!past && graph::areEqual(total, dims[2]))
    return fresh;
  Dims all = dims;
  all[2] = held;
  Value cache;
  AffineExpr before = past ? graph::getDims(past)[2] : b.expr(0);
  AffineExpr missing = graph::subExprs(held, before);
  if (graph::getConstant(missing) == 0) {
    cache = past;
  } else {
    Dims rest = dims;
    rest[2] = missing;
    Value zeros = b.broadcastTo(h.a.like(fresh, 0), rest);
    cache = past ? h.a.concat({past, zeros}, 2) : zeros;
    cache = b.reshape(cache, all);
  }
  // The shape is [B, 1, S, 1].
  Value index = b.unsqueeze(positions, {1, 3});
  return b.create<graph::ScatterElementsOp>({cache, index, fresh},
                                            b.attr("axis", int64_t(2)));
}

LogicalResult GroupQuery::checkForm() {
  for (unsigned i : {12u, 13u, 14u, 15u, 16u})
    if (b.operand(i))
      return b.unsupported("expected operand " + llvm::Twine(i) +
                           " to be absent");
  if (!b.operand(5) || !b.operand(6))
    return b.fail("expected seqlens_k and total_sequence_length");
  if (Value sink = b.operand(11); sink && b.getRank(sink) != 1)
    return b.fail("expected a head_sink of 1 dim, but got " +
                  llvm::Twine(b.getRank(sink)));
  return expectInts(b, {{"causal", 1},
                        {"kv_cache_bit_width", 0},
                        {"qk_output", 0},
                        {"sliding_window_cache", 0}});
}

LogicalResult GroupQuery::run() {
  if (mlir::failed(checkForm()) || mlir::failed(getInputs()) ||
      mlir::failed(getPositions()))
    return mlir::failure();
  if (b.getInt("do_rotary", 0) != 0) {
    Value places = b.operand(9) ? b.operand(9) : positions;
    bool interleaved = b.getInt("rotary_interleaved", 0) != 0;
    auto turn = [&](Value x) {
      Value rows = b.transpose(x, {0, 2, 1, 3});
      return b.transpose(
          rotate(b, rows, places, b.operand(7), b.operand(8), interleaved),
          {0, 2, 1, 3});
    };
    q = turn(q);
    k = turn(k);
  }
  if (!q || !k)
    return mlir::failure();
  k = update(pastKeys, k);
  v = update(pastValues, v);
  if (!k || !v)
    return mlir::failure();
  Value presentKeys = k, presentValues = v;
  if (!graph::areEqual(held, total)) {
    k = b.slice(k, 2, 0, total);
    v = b.slice(v, 2, 0, total);
  }
  Scores scores;
  scores.scale = h.getScale(q);
  scores.softcap = b.getFloat("softcap", 0.0);
  scores.masked = -std::numeric_limits<float>::infinity();
  scores.bias = b.operand(10);
  // [B, 1, S, 1] is compared with [T].
  Value query = b.unsqueeze(positions, {1, 3}), key = h.a.iota(k, 2);
  scores.kept = h.a.lessEqual(key, query);
  // Positions are at most those of the last tokens. So a triangle masks no
  // more, but bounds the keys that a block of queries has to read.
  scores.kept = h.a.both(h.isCausal(q, k), scores.kept);
  if (int64_t window = b.getInt("local_window_size", -1); window > 0)
    scores.kept =
        h.a.both(scores.kept, h.a.greater(key, h.a.sub(query, double(window))));
  if (Value sink = b.operand(11))
    scores.sink = b.refine(sink, b.expr(heads));
  else if (b.getInt("smooth_softmax", 0) > 0)
    scores.sink = h.a.like(q, 0);
  int64_t times = heads / groups;
  Value y = h.attend(q, h.repeat(k, times), h.repeat(v, times), scores);
  return b.done({h.merge(y), presentKeys, presentValues});
}

LogicalResult importGroupQueryAttention(Binder &b) {
  return GroupQuery(b).run();
}

//===----------------------------------------------------------------------===//
// Biases of attention
//===----------------------------------------------------------------------===//

/// Returns the bucket of each distance between a key and a query, as in T5:
/// half of the buckets hold one distance each, the others grow logarithmically.
Value getBuckets(Binder &b, Value distances, int64_t buckets) {
  Arithmetic a(b);
  Value upper;
  if (b.getInt("is_bidirectional", 0)) {
    buckets /= 2;
    upper = a.mul(b.cast(a.greater(distances, 0.0), b.builder.getI64Type()),
                  double(buckets));
    distances = a.abs(distances);
  } else {
    distances = a.max(a.neg(distances), 0.0);
  }
  int64_t exact = buckets / 2;
  double farthest = double(b.getInt("max_distance", 0));
  if (exact < 1 || farthest <= double(exact)) {
    (void)b.fail("expected a max_distance that is greater than half of the "
                 "buckets of a direction, but got " +
                 llvm::Twine(int64_t(farthest)));
    return {};
  }
  float scale = float(buckets - exact);
  Value share = a.div(b.cast(a.max(distances, 1.0), b.builder.getF32Type()),
                      double(exact));
  share = a.div(a.log(share), double(std::log(float(farthest / exact))));
  Value far = a.add(b.cast(a.mul(share, double(scale)), b.builder.getI64Type()),
                    double(exact));
  Value bucket = a.select(a.less(distances, double(exact)), distances,
                          a.min(far, double(buckets - 1)));
  return upper ? a.add(bucket, upper) : bucket;
}

/// The data of the table is [heads, buckets], whatever its shape is.
LogicalResult importRelativePositionBias(Binder &b) {
  Arithmetic a(b);
  Value table = b.operand(0);
  if (b.getRank(table) != 2)
    return b.fail("expected a bias_table of 2 dims");
  Dims dims = graph::getDims(table);
  auto buckets = graph::getConstant(dims[0]);
  if (!buckets)
    return b.unsupported("expected a known number of buckets");
  Sizes sizes(b);
  Value queries = b.withLength(sizes.toVector(b.operand(1)), 1),
        keys = b.withLength(sizes.toVector(b.operand(2)), 1);
  Dims rows = b.getSizes(queries), columns = b.getSizes(keys);
  if (b.hasFailed())
    return mlir::failure();
  Value row = a.range(rows.front(), sizes.pickScalar(queries, 0)),
        column = a.range(columns.front(), sizes.pickScalar(keys, 0));
  Value bucket = getBuckets(b, a.sub(column, b.unsqueeze(row, {1})), *buckets);
  Value heads = b.reshape(table, {dims[1], dims[0]});
  return b.done(b.unsqueeze(a.gather(heads, bucket, 1), {0}));
}

} // namespace

void adze::importer::addMicrosoftAttentionOps(std::vector<OpRow> &rows) {
  constexpr llvm::StringRef domain = "com.microsoft";
  rows.insert(rows.end(),
              {
                  {"Attention", 0, 2, importAttention,
                   "shared buffers, rotation, masks with start positions",
                   INT32_MAX, domain},
                  {"GroupQueryAttention", 0, 1, importGroupQueryAttention,
                   "quantised and sliding caches, normalised heads, attention "
                   "to later tokens",
                   INT32_MAX, domain, /*takesContainers=*/false,
                   "float8e4m3fn int8 uint8"},
                  {"MultiHeadAttention", 0, 1, importMultiHeadAttention,
                   "shared buffers", INT32_MAX, domain},
                  {"RelativePositionBias", 0, 3, importRelativePositionBias, "",
                   INT32_MAX, domain},
              });
}
