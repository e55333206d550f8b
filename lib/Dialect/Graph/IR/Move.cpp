// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Moves: digits are split where reshapes on the way split dims.
#include "Dialect/Graph/IR/Move.h"
#include "Dialect/Graph/IR/Graph.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace adze::graph;

static bool isStep(Operation *op) {
  auto reshape = dyn_cast_or_null<ReshapeOp>(op);
  return isa_and_nonnull<TransposeOp>(op) || (reshape && !reshape.getShape());
}

Value Move::findStart(Value end) {
  while (isStep(end.getDefiningOp()))
    end = end.getDefiningOp()->getOperand(0);
  return end;
}

bool Move::takesDimsApart(Value end) {
  auto real = [](Value value) {
    Dims dims = getDims(value);
    llvm::erase_if(dims, [](AffineExpr dim) { return getConstant(dim) == 1; });
    return dims;
  };
  for (; isStep(end.getDefiningOp()); end = end.getDefiningOp()->getOperand(0))
    if (auto reshape = end.getDefiningOp<ReshapeOp>();
        reshape && !areEqual(real(reshape.getInput()), real(end)))
      return true;
  return false;
}

/// Replaces a digit by two, in all lists.
void Move::split(unsigned digit, AffineExpr outer, AffineExpr inner) {
  unsigned added = sizes.size();
  sizes[digit] = outer;
  sizes.push_back(inner);
  for (SmallVector<Digits> *side : {&from, &to})
    for (Digits &digits : *side)
      if (auto *it = llvm::find(digits, digit); it != digits.end())
        digits.insert(it + 1, added);
}

bool Move::reshape(ArrayRef<AffineExpr> dims) {
  size_t next = 0;
  SmallVector<Digits> result;
  for (AffineExpr left : dims) {
    if (!left)
      return false;
    Digits taken;
    while (getConstant(left) != 1) {
      Digits all; // a copy, as splits change it
      for (const Digits &digits : to)
        all.append(digits);
      if (next == all.size())
        return false;
      unsigned digit = all[next];
      AffineExpr size = sizes[digit];
      if (areEqual(left, size)) {
        left = getAffineConstantExpr(1, context);
      } else if (AffineExpr rest = divideExactly(left, size)) {
        left = rest;
      } else if (AffineExpr inner = divideExactly(size, left)) {
        split(digit, left, inner);
        left = getAffineConstantExpr(1, context);
      } else {
        return false;
      }
      taken.push_back(digit);
      ++next;
    }
    result.push_back(taken);
  }
  size_t count = 0;
  for (const Digits &digits : to)
    count += digits.size();
  to = std::move(result);
  return next == count;
}

std::optional<Move> Move::get(Value start, Value end) {
  SmallVector<Operation *> steps;
  while (end != start) {
    Operation *op = end.getDefiningOp();
    if (!isStep(op))
      return std::nullopt;
    steps.push_back(op);
    end = op->getOperand(0);
  }
  std::reverse(steps.begin(), steps.end());
  return get(start, steps);
}

std::optional<Move> Move::get(Value start, ArrayRef<Operation *> steps) {
  Move move;
  move.context = start.getContext();
  for (AffineExpr size : getDims(start)) {
    if (!size)
      return std::nullopt;
    Digits &digits = move.from.emplace_back();
    if (getConstant(size) == 1)
      continue;
    digits.push_back(move.sizes.size());
    move.sizes.push_back(size);
  }
  move.to = move.from;
  for (Operation *op : steps) {
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      SmallVector<Digits> moved;
      for (int64_t dim : transpose.getPerm())
        moved.push_back(move.to[dim]);
      move.to = std::move(moved);
    } else if (!move.reshape(getDims(op->getResult(0)))) {
      return std::nullopt;
    }
  }
  return move;
}

Move Move::getInverse() const {
  Move inverse = *this;
  std::swap(inverse.from, inverse.to);
  return inverse;
}

unsigned Move::countMerged() const {
  unsigned merged = 0;
  for (const Digits &digits : llvm::reverse(to)) {
    ++merged;
    if (!llvm::all_of(digits,
                      [&](unsigned d) { return getConstant(sizes[d]); }))
      break;
  }
  return merged;
}

int64_t Move::getRun() const {
  Digits source, target;
  for (const Digits &digits : from)
    source.append(digits);
  for (const Digits &digits : to)
    target.append(digits);
  int64_t run = 1;
  while (!source.empty() && source.back() == target.back()) {
    auto size = getConstant(sizes[source.back()]);
    if (!size)
      break;
    run *= *size;
    source.pop_back();
    target.pop_back();
  }
  return run;
}

SmallVector<int64_t> Move::getRuns() const {
  SmallVector<int64_t> runs;
  int64_t run = 1;
  if (!from.empty() && !from.back().empty())
    for (unsigned digit : llvm::reverse(ArrayRef(from.back()).drop_front()))
      runs.push_back(run *= getConstant(sizes[digit]).value_or(1));
  return runs;
}

int64_t Move::countPieces(int64_t count) const {
  SmallVector<unsigned> apart(from.size(), 1), to(this->to.size(), 1);
  unsigned merged = countMerged();
  if (merged > 0) {
    to.resize(to.size() - merged);
    to.push_back(merged);
  }
  auto map = getMap(apart, to);
  if (!map || from.empty())
    return count;
  Builder b(context);
  SmallVector<SmallVector<int64_t>> places;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Attribute> at(from.size(), b.getIndexAttr(0)), lies;
    at.back() = b.getIndexAttr(i);
    (void)map->constantFold(at, lies);
    SmallVector<int64_t> &place = places.emplace_back();
    for (Attribute index : lies)
      place.push_back(cast<IntegerAttr>(index).getInt());
  }
  llvm::sort(places);
  int64_t pieces = 0;
  ArrayRef<int64_t> begin;
  for (ArrayRef<int64_t> place : places)
    if (begin.empty() || begin.drop_back() != place.drop_back() ||
        place.back() - begin.back() >= count) {
      begin = place;
      ++pieces;
    }
  return pieces;
}

namespace {
/// A digit as a part of one of the merged dims of the start.
struct Part {
  unsigned dim, place; // the index of the digit in it
};
} // namespace

std::optional<AffineMap> Move::getMap(ArrayRef<unsigned> fromSpans,
                                      ArrayRef<unsigned> toSpans) const {
  auto group = [](ArrayRef<Digits> dims, ArrayRef<unsigned> spans) {
    SmallVector<Digits> groups;
    for (unsigned span : spans) {
      Digits &all = groups.emplace_back();
      for (const Digits &digits : dims.take_front(span))
        all.append(digits);
      dims = dims.drop_front(span);
    }
    return groups;
  };
  SmallVector<Digits> source = group(from, fromSpans),
                      target = group(to, toSpans);
  SmallVector<Part> parts(sizes.size());
  for (auto [dim, digits] : llvm::enumerate(source))
    for (auto [place, digit] : llvm::enumerate(digits))
      parts[digit] = {unsigned(dim), unsigned(place)};
  auto count = [&](ArrayRef<unsigned> digits) -> std::optional<int64_t> {
    AffineExpr all = getAffineConstantExpr(1, context);
    for (unsigned digit : digits)
      all = mulExprs(all, sizes[digit]);
    return getConstant(all);
  };
  SmallVector<AffineExpr> results;
  for (ArrayRef<unsigned> digits : target) {
    AffineExpr sum = getAffineConstantExpr(0, context);
    while (!digits.empty()) {
      // As many digits are merged as are adjacent in the start, too.
      Part first = parts[digits.front()];
      size_t length = 1;
      while (length < digits.size() && parts[digits[length]].dim == first.dim &&
             parts[digits[length]].place == first.place + length)
        ++length;
      ArrayRef<unsigned> own(source[first.dim]);
      auto below = count(own.drop_front(first.place + length)),
           stride = count(digits.drop_front(length));
      auto size = first.place == 0 ? std::optional<int64_t>(0)
                                   : count(digits.take_front(length));
      if (!below || !stride || !size)
        return std::nullopt;
      AffineExpr term = getAffineDimExpr(first.dim, context).floorDiv(*below);
      if (first.place > 0)
        term = term % *size;
      sum = sum + term * *stride;
      digits = digits.drop_front(length);
    }
    results.push_back(sum);
  }
  return AffineMap::get(source.size(), 0, results, context);
}

Dims adze::graph::getRealDims(Value value) {
  Dims dims = getDims(value);
  llvm::erase_if(dims, [](AffineExpr size) { return getConstant(size) == 1; });
  return dims;
}

bool adze::graph::canPrecedeMove(Operation *op) {
  Dims result = getRealDims(op->getResult(0));
  return isa<ElementwiseOpInterface>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           Dims real = getRealDims(operand);
           return real.empty() || areEqual(real, result);
         });
}
