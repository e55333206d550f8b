// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Einsum: operands are combined one after the other by matrix products, or by
// elementwise products if nothing is summed.
#include "../OpTable.h"
#include "Arithmetic.h"
#include "Dialect/Graph/IR/Broadcast.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// One label for each dim: letters, and -1, -2, ... for the dims of an
/// ellipsis, counted from the right.
using Labels = llvm::SmallVector<int, 6>;

struct Operand {
  Value value;
  Labels labels;
};

int64_t indexOf(const Labels &labels, int label) {
  auto found = llvm::find(labels, label);
  return found == labels.end() ? -1 : found - labels.begin();
}

bool isInOrder(const Labels &labels, Labels first, const Labels &second,
               const Labels &third) {
  first.append(second);
  first.append(third);
  return labels == first;
}

class Einsum {
public:
  explicit Einsum(Binder &b) : b(b), a(b) {}

  LogicalResult run();

private:
  LogicalResult parse(llvm::StringRef equation);
  LogicalResult parseTerm(llvm::StringRef term, int64_t dots, Labels &labels);
  Value takeDiagonal(Value x, int64_t i, int64_t j);
  void takeDiagonals(Operand &operand);
  void sumAway(Operand &operand, llvm::function_ref<bool(int)> isNeeded);
  Value arrange(const Operand &operand, const Labels &order);
  Operand join(const Operand &lhs, const Operand &rhs,
               llvm::function_ref<bool(int)> isNeeded);
  Value group(const Operand &operand, const Labels &batch, const Labels &rows,
              const Labels &columns);

  Binder &b;
  Arithmetic a;
  llvm::SmallVector<Operand> operands;
  Labels output;
};

/// Parses the labels of one term; `dots` is the number of dims of its ellipsis.
LogicalResult Einsum::parseTerm(llvm::StringRef term, int64_t dots,
                                Labels &labels) {
  while (!term.empty()) {
    if (term.consume_front("...")) {
      for (int64_t i = dots; i > 0; --i)
        labels.push_back(-int(i));
      dots = 0;
      continue;
    }
    if (!llvm::isAlpha(term.front()))
      return b.fail("expected letters and one ellipsis a term, but got '" +
                    term + "'");
    labels.push_back(term.front());
    term = term.drop_front();
  }
  return mlir::success();
}

LogicalResult Einsum::parse(llvm::StringRef equation) {
  std::string text;
  llvm::copy_if(equation, std::back_inserter(text),
                [](char c) { return c != ' '; });
  auto [left, right] = llvm::StringRef(text).split("->");
  bool isExplicit = llvm::StringRef(text).contains("->");
  llvm::SmallVector<llvm::StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != b.getNumOperands())
    return b.fail("expected an equation of " + llvm::Twine(b.getNumOperands()) +
                  " terms, but got '" + equation + "'");
  int64_t longest = 0;
  llvm::SmallVector<std::pair<int, int>> counts; // (letter, count)
  for (auto [i, term] : llvm::enumerate(terms)) {
    Value value = b.operand(i);
    int64_t letters = llvm::count_if(term, llvm::isAlpha);
    int64_t dots = b.getRank(value) - letters;
    if (dots < 0 || (dots > 0 && !term.contains("...")))
      return b.fail("expected a term of rank " + llvm::Twine(b.getRank(value)) +
                    ", but got '" + term + "'");
    longest = std::max(longest, dots);
    Operand &operand = operands.emplace_back();
    operand.value = value;
    if (mlir::failed(parseTerm(term, dots, operand.labels)))
      return mlir::failure();
    for (char c : term)
      if (llvm::isAlpha(c)) {
        auto at = llvm::find_if(counts, [&](auto &p) { return p.first == c; });
        if (at == counts.end())
          counts.push_back({c, 1});
        else
          ++at->second;
      }
  }
  if (isExplicit)
    return parseTerm(right, longest, output);
  // The result has the letters that occur once, in order, after the ellipsis.
  for (int64_t i = longest; i > 0; --i)
    output.push_back(-int(i));
  llvm::sort(counts);
  for (auto [letter, count] : counts)
    if (count == 1)
      output.push_back(letter);
  return mlir::success();
}

/// Returns the elements with equal indices in dims i and j, along dim i: in a
/// merged dim these have the distance of a row and a column. If the sizes are
/// unknown, all other elements are replaced by 0, and all are summed.
Value Einsum::takeDiagonal(Value x, int64_t i, int64_t j) {
  Dims dims = graph::getDims(x);
  int64_t rank = dims.size();
  if (graph::areDifferent(dims[i], dims[j])) {
    (void)b.fail("expected equal sizes of a label, but got " +
                 graph::toString({dims[i], dims[j]}));
    return {};
  }
  if (!graph::areEqual(dims[i], dims[j]))
    b.assume(graph::equalitiesAttr, {dims[i], dims[j]});
  auto size = graph::getConstant(dims[i]);
  if (!size) {
    Value row = a.withTail(a.iota(x, i), rank - 1 - i);
    Value column = a.withTail(a.iota(x, j), rank - 1 - j);
    return a.sum(a.select(a.equal(row, column), x, 0.0), {j});
  }
  llvm::SmallVector<int64_t> perm =
      llvm::to_vector(llvm::seq<int64_t>(0, rank));
  perm.erase(perm.begin() + j);
  perm.insert(perm.begin() + i + 1, j);
  dims.erase(dims.begin() + j);
  Dims merged = dims;
  merged[i] = b.expr(*size * *size);
  x = b.reshape(b.transpose(x, perm), merged);
  llvm::SmallVector<int64_t> starts(rank - 1, 0), steps(rank - 1, 1);
  steps[i] = *size + 1;
  return b.createAs<graph::SliceOp>(
      graph::makeType(Binder::getElementType(x), dims), x,
      {b.attr("starts", starts), b.attr("steps", steps)});
}

/// Replaces labels that occur twice by the diagonal.
void Einsum::takeDiagonals(Operand &operand) {
  for (size_t i = 0; i < operand.labels.size(); ++i)
    for (size_t j = operand.labels.size() - 1; j > i; --j) {
      if (operand.labels[j] != operand.labels[i] || !operand.value ||
          b.hasFailed())
        continue;
      operand.value = takeDiagonal(operand.value, i, j);
      operand.labels.erase(operand.labels.begin() + j);
    }
}

void Einsum::sumAway(Operand &operand, llvm::function_ref<bool(int)> isNeeded) {
  llvm::SmallVector<int64_t> axes;
  Labels kept;
  for (auto [i, label] : llvm::enumerate(operand.labels))
    if (isNeeded(label))
      kept.push_back(label);
    else
      axes.push_back(i);
  if (axes.empty())
    return;
  operand.value = a.sum(operand.value, axes);
  operand.labels = kept;
}

/// Returns the operand with its dims in this order, and 1 for labels that it
/// does not have.
Value Einsum::arrange(const Operand &operand, const Labels &order) {
  llvm::SmallVector<int64_t> perm, missing;
  for (auto [i, label] : llvm::enumerate(order)) {
    int64_t at = indexOf(operand.labels, label);
    if (at < 0)
      missing.push_back(i);
    else
      perm.push_back(at);
  }
  if (b.hasFailed() || !operand.value)
    return {};
  return b.unsqueeze(b.transpose(operand.value, perm), missing);
}

/// Returns [batch.., product of rows, product of columns].
Value Einsum::group(const Operand &operand, const Labels &batch,
                    const Labels &rows, const Labels &columns) {
  Labels order = batch;
  order.append(rows);
  order.append(columns);
  Value value = arrange(operand, order);
  int64_t first = batch.size(), middle = first + rows.size(),
          last = order.size();
  value = a.flatten(value, middle, last);
  return a.flatten(value, first, middle);
}

Operand Einsum::join(const Operand &lhs, const Operand &rhs,
                     llvm::function_ref<bool(int)> isNeeded) {
  Labels batch, rows, columns, summed;
  for (int label : lhs.labels) {
    bool shared = indexOf(rhs.labels, label) >= 0;
    (!shared ? rows : isNeeded(label) ? batch : summed).push_back(label);
  }
  for (int label : rhs.labels)
    if (indexOf(lhs.labels, label) < 0)
      columns.push_back(label);
  Operand result;
  result.labels = batch;
  result.labels.append(rows);
  result.labels.append(columns);
  if (summed.empty()) {
    result.value =
        a.mul(arrange(lhs, result.labels), arrange(rhs, result.labels));
    return result;
  }
  // An operand with reversed dims is transposed by the product.
  bool turnLeft = isInOrder(lhs.labels, batch, summed, rows),
       turnRight = isInOrder(rhs.labels, batch, columns, summed);
  Value product = b.create<graph::MatmulOp>(
      {turnLeft ? group(lhs, batch, summed, rows)
                : group(lhs, batch, rows, summed),
       turnRight ? group(rhs, batch, columns, summed)
                 : group(rhs, batch, summed, columns)},
      {b.attr("transpose_a", turnLeft), b.attr("transpose_b", turnRight)});
  if (!product)
    return result;
  Dims dims = graph::getDims(product);
  dims.resize(batch.size());
  Dims left = graph::getDims(lhs.value), right = graph::getDims(rhs.value);
  for (int label : rows)
    dims.push_back(left[indexOf(lhs.labels, label)]);
  for (int label : columns)
    dims.push_back(right[indexOf(rhs.labels, label)]);
  result.value = b.reshape(product, dims);
  return result;
}

LogicalResult Einsum::run() {
  if (mlir::failed(parse(b.getString("equation", ""))))
    return mlir::failure();
  for (Operand &operand : operands)
    takeDiagonals(operand);
  for (size_t i = 0; i < operands.size() && !b.hasFailed(); ++i) {
    auto isNeeded = [&](int label) {
      if (indexOf(output, label) >= 0)
        return true;
      for (size_t j = i + 1; j < operands.size(); ++j)
        if (indexOf(operands[j].labels, label) >= 0)
          return true;
      return false;
    };
    if (i == 0) {
      sumAway(operands[0], isNeeded);
      continue;
    }
    auto inFirst = [&](int label) {
      return isNeeded(label) || indexOf(operands[0].labels, label) >= 0;
    };
    sumAway(operands[i], inFirst);
    operands[0] = join(operands[0], operands[i], isNeeded);
  }
  if (b.hasFailed() || !operands[0].value)
    return mlir::failure();
  for (int label : output)
    if (indexOf(operands[0].labels, label) < 0)
      return b.fail("expected the output's labels to be those of operands");
  return b.done(arrange(operands[0], output));
}

LogicalResult importEinsum(Binder &b) { return Einsum(b).run(); }

} // namespace

void adze::importer::addEinsumOps(std::vector<OpRow> &rows) {
  rows.push_back({"Einsum", 12, 1, importEinsum});
}
