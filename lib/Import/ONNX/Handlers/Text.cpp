// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// TfIdfVectorizer: all n-grams of a length are compared with all
// windows of that length, and counted.
#include "../OpTable.h"
#include "Arithmetic.h"
#include "Ml.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// The limit of distances between items, each of which adds ops.
constexpr int64_t kMostSkips = 1024;

/// Counts the occurrences of each of `grams` [P, length] in rows x [N, C],
/// whose items may be up to `skips` apart: [N, P], in f32. The width C may be
/// unknown.
Value countGrams(Binder &b, Value x, Value grams, int64_t length,
                 std::optional<int64_t> width, int64_t skips) {
  Arithmetic a(b);
  Value total;
  // Returns item `behind` of the windows; with a dynamic width there are as
  // many windows as columns, of which the last ones do not count.
  auto getItems = [&](int64_t behind, int64_t windows) {
    if (width)
      return b.slice(x, 1, behind, b.expr(windows));
    Value at = a.add(a.iota(x, 1), double(behind));
    return a.gather(x, a.min(at, a.sub(a.size(x, 1), 1.0)), 1);
  };
  // A single item has no gaps.
  for (int64_t distance = 1; distance <= (length == 1 ? 1 : skips + 1);
       ++distance) {
    int64_t reach = (length - 1) * distance,
            windows = width.value_or(0) - reach;
    if (width && windows < 1)
      break;
    Value same;
    if (!width)
      same = a.withTail(
          a.less(a.add(a.iota(x, 1), double(reach)), a.size(x, 1)), 1);
    for (int64_t i = 0; i < length; ++i) {
      Value item = a.withTail(getItems(i * distance, windows), 1);
      Value wanted = b.slice(grams, 1, i, b.expr(1)); // [P, 1]
      if (!wanted)
        return {};
      Value equal = a.equal(item, b.reshape(wanted, graph::getDims(wanted)[0]));
      same = same ? a.both(same, equal) : equal;
    }
    Value count = a.sum(b.cast(same, b.builder.getF32Type()), {1});
    total = total ? a.add(total, count) : count;
  }
  return total;
}

LogicalResult importTfIdfVectorizer(Binder &b) {
  Arithmetic a(b);
  auto pool = b.getInts("pool_int64s"), starts = b.getInts("ngram_counts"),
       places = b.getInts("ngram_indexes");
  auto texts = b.getStrings("pool_strings");
  bool byText = texts && !texts->empty();
  if ((!byText && !pool) || byText != Binder::isString(b.operand(0)))
    return b.fail("expected n-grams of the input's type");
  size_t poolSize = byText ? texts->size() : pool->size();
  int64_t shortest = b.getInt("min_gram_length", 1),
          longest = b.getInt("max_gram_length", 1),
          skips = b.getInt("max_skip_count", 0);
  llvm::StringRef mode = b.getString("mode", "TF");
  if (!starts || !places || shortest < 1 || longest < shortest ||
      longest > 64 || int64_t(starts->size()) < longest || skips < 0 ||
      (mode != "TF" && mode != "IDF" && mode != "TFIDF"))
    return b.fail("expected ngram_counts and ngram_indexes of the required "
                  "lengths, and mode TF, IDF or TFIDF");
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  if (rank == 1)
    x = b.unsqueeze(x, {0});
  if (!x || b.getRank(x) != 2)
    return b.fail("expected an input of 1 or 2 dims");
  auto width = graph::getConstant(graph::getDims(x)[1]);
  skips = std::min(skips, width.value_or(INT64_MAX));
  if (skips > kMostSkips)
    return b.unsupported("expected max_skip_count of at most " +
                         llvm::Twine(kMostSkips) + ", but got " +
                         llvm::Twine(skips));
  if (!byText)
    x = b.cast(x, b.builder.getI64Type());
  std::vector<double> weights = getNumbers(b, "weights");
  weights.resize(places->size(), 1.0);
  int64_t columns = 0, gram = 0;
  for (int64_t place : *places) {
    if (place < 0 || place > 1 << 24)
      return b.fail("expected ngram_indexes of at least 0");
    columns = std::max(columns, place + 1);
  }
  mlir::Type f32 = b.builder.getF32Type();
  Value result;
  for (int64_t length = 1; length <= int64_t(starts->size()); ++length) {
    int64_t start = (*starts)[length - 1],
            end = length < int64_t(starts->size()) ? (*starts)[length]
                                                   : int64_t(poolSize);
    int64_t count = (end - start) / length;
    if (start < 0 || end < start || end > int64_t(poolSize) ||
        gram + count > int64_t(places->size()))
      return b.fail("expected ngram_counts that divide the pool");
    if (count > 0 && length >= shortest && length <= longest) {
      Value grams =
          byText ? b.strings(texts->slice(start, count * length))
                 : b.ints(llvm::ArrayRef(*pool).slice(start, count * length));
      grams = b.reshape(grams, {b.expr(count), b.expr(length)});
      std::vector<double> columnsOf(count * columns, 0.0);
      for (int64_t i = 0; i < count; ++i)
        columnsOf[i * columns + (*places)[gram + i]] =
            mode == "TF" ? 1.0 : weights[gram + i];
      Value counts = countGrams(b, x, grams, length, width, skips);
      if (mode == "IDF" && counts)
        counts = b.cast(a.greater(counts, 0.0), f32);
      Value part =
          counts
              ? a.matmul(counts, makeTable(b, f32, columnsOf, {count, columns}))
              : Value();
      result = result && part ? a.add(result, part) : part ? part : result;
    }
    gram += count;
  }
  if (b.hasFailed())
    return mlir::failure();
  if (!result)
    result = b.broadcastTo(b.scalar(f32, 0),
                           {graph::getDims(x)[0], b.expr(columns)});
  return b.done(rank == 1 ? b.reshape(result, b.expr(columns)) : result);
}

} // namespace

void adze::importer::addTextOps(std::vector<OpRow> &rows) {
  rows.push_back({"TfIdfVectorizer", 9, 1, importTfIdfVectorizer});
}
