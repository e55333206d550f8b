// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// ai.onnx.ml: support vector machines.
#include "../OpTable.h"
#include "Arithmetic.h"
#include "Ml.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// Returns the kernel of each row of x [N, F] with each of the vectors [V, F].
Value buildKernel(Binder &b, Value x, Value vectors, llvm::StringRef kernel) {
  Arithmetic a(b);
  std::vector<double> params = getNumbers(b, "kernel_params");
  params.resize(3, 0.0);
  double gamma = params[0], shift = params[1], degree = params[2];
  Value product = a.matmul(x, vectors, /*transposeY=*/true);
  if (kernel == "LINEAR")
    return product;
  if (kernel == "POLY")
    return a.pow(a.add(a.mul(product, gamma), shift), degree);
  if (kernel == "SIGMOID")
    return a.tanh(a.add(a.mul(product, gamma), shift));
  if (kernel != "RBF") {
    (void)b.fail("expected kernel_type to be LINEAR, POLY, RBF or SIGMOID, "
                 "but got '" +
                 kernel + "'");
    return {};
  }
  // |x - v|^2 is computed from differences, without cancellation.
  Value difference = a.sub(b.unsqueeze(x, {1}), vectors);
  Value distance = a.sum(a.mul(difference, difference), {2});
  return a.exp(a.mul(distance, -gamma));
}

/// Returns the support vectors [count, F].
Value getVectors(Binder &b, Value x, int64_t count) {
  std::vector<double> numbers = getNumbers(b, "support_vectors");
  if (count < 1 || numbers.size() % count != 0) {
    (void)b.fail("expected support_vectors of " + llvm::Twine(count) +
                 " equal rows, but got " + llvm::Twine(numbers.size()));
    return {};
  }
  return makeTable(b, b.getElementType(x), numbers,
                   {count, int64_t(numbers.size()) / count});
}

LogicalResult importSVMRegressor(Binder &b) {
  Arithmetic a(b);
  Value x = getFloatRows(b);
  std::vector<double> numbers = getNumbers(b, "coefficients"),
                      rho = getNumbers(b, "rho");
  if (!x || rho.empty() || numbers.empty())
    return b.fail("expected coefficients and rho");
  int64_t supports = b.getInt("n_supports", 0);
  Value coefficients =
      makeTable(b, b.getElementType(x), numbers, {1, int64_t(numbers.size())});
  Value kernel = supports > 0
                     ? buildKernel(b, x, getVectors(b, x, supports),
                                   b.getString("kernel_type", "LINEAR"))
                     : x;
  Value scores =
      a.add(a.matmul(kernel, coefficients, /*transposeY=*/true), rho[0]);
  if (b.getInt("one_class", 0) != 0)
    scores =
        a.select(a.greater(scores, 0.0), a.like(scores, 1), a.like(scores, -1));
  scores = transformScores(b, scores, b.getString("post_transform", "NONE"));
  return b.done(b.cast(scores, b.builder.getF32Type()));
}

/// A classifier with one vote for each pair of classes.
class SVMClassifier {
public:
  explicit SVMClassifier(Binder &b) : b(b), a(b) {}
  LogicalResult run();

private:
  LogicalResult vote(Value x);
  Value makePairwise();
  Value improve(Value shares, Value products, Value weighted, Value matrix);
  Value couple();
  LogicalResult finish();

  Binder &b;
  Arithmetic a;
  int64_t classes = 1;
  bool hasProbabilities = false;
  std::vector<double> coefficients, rho;
  Value scores; // [N, pairs], or [N, classes]
  Value votes;  // [N, classes]; null without support vectors
};

/// Computes the decision of each pair, and the votes of each class.
LogicalResult SVMClassifier::vote(Value x) {
  auto counts = *b.getInts("vectors_per_class");
  int64_t all = 0;
  llvm::SmallVector<int64_t> starts;
  for (int64_t count : counts) {
    starts.push_back(all);
    all += std::max<int64_t>(count, 0);
  }
  int64_t pairs = classes * (classes - 1) / 2;
  if (int64_t(counts.size()) != classes || int64_t(rho.size()) < pairs ||
      int64_t(coefficients.size()) != (classes - 1) * all || pairs < 1)
    return b.fail("expected vectors_per_class, rho and coefficients of " +
                  llvm::Twine(classes) + " classes");
  // Row p holds what the vectors of both classes of pair p contribute to its
  // decision.
  std::vector<double> table(pairs * all, 0.0), wins(pairs * classes, 0.0),
      losses(pairs * classes, 0.0);
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      for (int64_t v = starts[i]; v < starts[i] + counts[i]; ++v)
        table[pair * all + v] = coefficients[(j - 1) * all + v];
      for (int64_t v = starts[j]; v < starts[j] + counts[j]; ++v)
        table[pair * all + v] = coefficients[i * all + v];
      wins[pair * classes + i] = 1;
      losses[pair * classes + j] = 1;
    }
  mlir::Type type = b.getElementType(x);
  Value kernel = buildKernel(b, x, getVectors(b, x, all),
                             b.getString("kernel_type", "LINEAR"));
  Value sums = a.matmul(kernel, makeTable(b, type, table, {pairs, all}),
                        /*transposeY=*/true);
  scores = a.add(
      sums, makeTable(b, type, llvm::ArrayRef(rho).take_front(pairs), {pairs}));
  Value won = b.cast(a.greater(scores, 0.0), type);
  votes = a.add(
      a.matmul(won, makeTable(b, type, wins, {pairs, classes})),
      a.matmul(a.sub(1.0, won), makeTable(b, type, losses, {pairs, classes})));
  return mlir::success();
}

/// Returns the probabilities of both classes of each pair, r [N, C, C]: r[i][j]
/// is that of i against j, and 0 on the diagonal.
Value SVMClassifier::makePairwise() {
  Value share =
      a.sigmoid(a.neg(a.add(a.mul(scores, getRow(b, "prob_a", scores)),
                            getRow(b, "prob_b", scores))));
  share = a.min(a.max(share, double(1e-7f)), double(1 - 1e-7f));
  // The columns [N, 1 + 2 * pairs] are 0, the probabilities of the first
  // classes, and those of the second ones.
  Value zero = a.mul(b.slice(share, 1, 0, b.expr(1)), 0.0);
  Value all = a.concat({zero, share, a.sub(1.0, share)}, 1);
  int64_t pairs = classes * (classes - 1) / 2, pair = 0;
  llvm::SmallVector<int64_t> places(classes * classes, 0);
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      places[i * classes + j] = 1 + pair;
      places[j * classes + i] = 1 + pairs + pair;
    }
  Value flat = a.gather(all, b.ints(places), 1);
  if (!flat)
    return {};
  return b.reshape(flat,
                   {graph::getDims(flat)[0], b.expr(classes), b.expr(classes)});
}

/// Performs one round over the classes: each probability is set to satisfy its
/// own equation, and all are scaled to a sum of 1. `products` = matrix *
/// probabilities, `weighted` = probabilities' * products.
Value SVMClassifier::improve(Value shares, Value products, Value weighted,
                             Value matrix) {
  Value places = a.iota(classes);
  Binder::Values last = b.createLoop(
      b.scalar(b.builder.getI64Type(), double(classes)), Value(),
      {shares, products, weighted},
      [&](Value i, mlir::ValueRange carried, Binder::LoopBody &body) {
        Value p = carried[0], q = carried[1], w = carried[2];
        Value at = b.reshape(i, {b.expr(1)});
        Value row = a.sum(a.gather(matrix, at, 1), {1}); // [N, C]
        Value diagonal = a.gather(row, at, 1);           // [N, 1]
        Value product = a.gather(q, at, 1);              // [N, 1]
        Value step = a.div(a.sub(w, product), diagonal);
        Value scale = a.add(step, 1.0);
        w = a.add(
            w, a.mul(step, a.add(a.mul(step, diagonal), a.mul(product, 2.0))));
        w = a.div(a.div(w, scale), scale);
        q = a.div(a.add(q, a.mul(step, row)), scale);
        Value isIt = b.cast(a.equal(places, i), b.getElementType(p));
        p = a.div(a.add(p, a.mul(step, isIt)), scale);
        body.carried = {p, q, w};
        return mlir::failure(b.hasFailed());
      });
  return last.empty() ? Value() : last[0];
}

/// Computes the probabilities of all classes from those of pairs, as libsvm
/// does: by rounds until all equations hold to .005 / C, at most 100. This is
/// far from exact, so other solvers would have other results.
Value SVMClassifier::couple() {
  constexpr int64_t mostRounds = 100;
  Value pairwise = makePairwise();
  if (!pairwise)
    return {};
  // Q[i][i] is the sum of r[j][i]^2, and Q[i][j] = -r[j][i] r[i][j].
  Value turned = b.transpose(pairwise, {0, 2, 1});
  Value squares = a.sum(a.mul(turned, turned), {2}, /*keepdims=*/true);
  mlir::Type type = b.getElementType(pairwise);
  std::vector<double> identity(classes * classes, 0.0);
  for (int64_t i = 0; i < classes; ++i)
    identity[i * classes + i] = 1;
  Value matrix =
      a.sub(a.mul(squares, makeTable(b, type, identity, {classes, classes})),
            a.mul(turned, pairwise));
  Value start = b.broadcastTo(b.scalar(type, 1.0 / double(classes)),
                              {graph::getDims(pairwise)[0], b.expr(classes)});
  Binder::Values last = b.createLoop(
      b.scalar(b.builder.getI64Type(), double(mostRounds)), Value(), {start},
      [&](Value, mlir::ValueRange carried, Binder::LoopBody &body) {
        Value shares = carried[0];
        Value products =
            a.sum(a.mul(matrix, b.unsqueeze(shares, {1})), {2}); // [N, C]
        Value weighted =
            a.sum(a.mul(shares, products), {1}, /*keepdims=*/true); // [N, 1]
        Value error = a.reduce<graph::ReduceMaxOp>(
            a.abs(a.sub(products, weighted)), {1}, /*keepdims=*/true);
        Value isDone = a.less(error, 0.005 / double(classes));
        Value next = a.select(isDone, shares,
                              improve(shares, products, weighted, matrix));
        Value open = b.cast(a.notOf(isDone), b.builder.getI64Type());
        body.condition = a.greater(a.sum(open, {0, 1}), 0.0);
        body.carried = {next};
        return mlir::failure(b.hasFailed());
      });
  return last.empty() ? Value() : last[0];
}

LogicalResult SVMClassifier::finish() {
  llvm::StringRef transform = b.getString("post_transform", "NONE");
  mlir::Type i64 = b.builder.getI64Type();
  if (hasProbabilities)
    scores = couple();
  Value index = getGreatest(b, votes ? votes : scores);
  bool isOne = scores && graph::getConstant(graph::getDims(scores)[1]) == 1;
  if (!isOne) {
    scores = transformScores(b, scores, transform);
  } else if (classes == 2) {
    scores = makeBinaryScores(b, scores, false, transform);
  } else {
    index = b.cast(a.greater(a.flatten(scores, 0, 2), 0.0), i64);
    scores = transformScores(b, scores, transform);
    return b.done({index, b.cast(scores, b.builder.getF32Type())});
  }
  return b.done({getLabels(b, index, "classlabels_ints", "classlabels_strings"),
                 b.cast(scores, b.builder.getF32Type())});
}

LogicalResult SVMClassifier::run() {
  Value x = getFloatRows(b);
  auto labels = b.getInts("classlabels_ints");
  const Attribute *names = b.node.find("classlabels_strings");
  if (labels && !labels->empty())
    classes = labels->size();
  else if (names && !names->strings.empty())
    classes = names->strings.size();
  coefficients = getNumbers(b, "coefficients");
  rho = getNumbers(b, "rho");
  if (!x || rho.empty() || coefficients.empty() || classes > 4096)
    return b.fail("expected coefficients and rho");
  auto vectors = b.getInts("vectors_per_class");
  hasProbabilities = vectors && !getNumbers(b, "prob_a").empty();
  auto isPerPair = [&](llvm::StringRef name) {
    return getNumbers(b, name).size() == size_t(classes * (classes - 1) / 2);
  };
  if (hasProbabilities && (!isPerPair("prob_a") || !isPerPair("prob_b")))
    return b.fail("expected prob_a and prob_b of one number a pair of classes");
  if (vectors && !vectors->empty()) {
    if (mlir::failed(vote(x)))
      return mlir::failure();
    return finish();
  }
  if (coefficients.size() % classes != 0)
    return b.fail("expected coefficients of " + llvm::Twine(classes) +
                  " equal rows");
  Value table = makeTable(b, b.getElementType(x), coefficients,
                          {classes, int64_t(coefficients.size()) / classes});
  scores = a.add(a.matmul(x, table, /*transposeY=*/true), rho[0]);
  return finish();
}

LogicalResult importSVMClassifier(Binder &b) { return SVMClassifier(b).run(); }

} // namespace

void adze::importer::addSupportVectorOps(std::vector<OpRow> &rows) {
  auto add = [&](llvm::StringRef name, Handler handler,
                 llvm::StringRef note = "") {
    rows.push_back({name, 1, 1, handler, note, INT32_MAX, "ai.onnx.ml"});
  };
  add("SVMClassifier", importSVMClassifier, "string labels of one class");
  add("SVMRegressor", importSVMRegressor);
}
