// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers dot and reduce: loops over the class that is reduced.
#include "Dialect/Tile/IR/Reduction.h"
#include "KernelLowering.h"
#include "MatrixDots.h"
#include "Products.h"
#include "Reader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace adze::tile;

//===--- dot --------------------------------------------------------------===//

/// Extends an operand to the element type of the accumulator.
Value KernelLowering::widen(Value value, Type element, bool isUnsigned) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type to = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = VectorType::get(vector.getShape(), element);
  if (isa<FloatType>(element))
    return from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth()
               ? arith::ExtFOp::create(b, loc, to, value).getResult()
               : arith::TruncFOp::create(b, loc, to, value).getResult();
  if (from.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, loc, to, value);
  return isUnsigned ? arith::ExtUIOp::create(b, loc, to, value).getResult()
                    : arith::ExtSIOp::create(b, loc, to, value).getResult();
}

Value KernelLowering::multiplyAdd(Value x, Value y, Value sum) {
  if (!isa<FloatType>(getElementTypeOrSelf(sum.getType())))
    return arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, x, y),
                                 sum);
  if (isa<VectorType>(sum.getType()))
    return vector::FMAOp::create(b, loc, x, y, sum);
  return math::FmaOp::create(b, loc, x, y, sum);
}

/// Returns true if a dot reads this operand in place as fast as from scratch
/// memory: element by element (lhs) or vector by vector (rhs).
bool KernelLowering::isReadInPlace(Value operand, bool isRhs) {
  Operation *op = operand.getDefiningOp();
  if (!op)
    return false;
  if (auto broadcastOp = dyn_cast<BroadcastOp>(op))
    return !isTile(broadcastOp.getSource());
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  // Words are unpacked at each use by one or two instructions.
  if (isa<arith::AndIOp, arith::ShRUIOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value source) {
      return isReadInPlace(source, isRhs);
    });
  // Vectors are extended as they are read.
  if (Operation *reader = getReader(operand); reader && reader != op)
    return isRhs && isReadInPlace(reader->getResult(0), isRhs);
  std::optional<Window> window = windowOf(op);
  if (!window || isBorder(*window) || window->indices)
    return false;
  if (!isRhs || classes.lanes(classes.of(operand)[1]) == 1)
    return true;
  Layout layout = layoutOf(operand);
  return layout.lanes == 1 || isContiguous(*window, layout);
}

/// Copies computed operands, and windows that are out of bounds, to scratch
/// memory once, so that the loop over k consists of loads and multiply-adds
/// only.
void KernelLowering::prepareOperand(Value operand, bool isRhs) {
  for (Operation *user : operand.getUsers())
    if (auto dot = dyn_cast<DotOp>(user);
        dot && classes.isMatrixBlock(dot) &&
        (isRhs ? dot.getRhs() : dot.getLhs()) == operand)
      return MatrixDots(*this).pack(dot, isRhs);
  if (scratchOf(operand) || operand == borderRows.operand ||
      isReadInPlace(operand, isRhs))
    return;
  auto dot = dyn_cast<DotOp>(*operand.user_begin());
  if (!dot || !operand.hasOneUse())
    return materialise(operand);
  // The only reader ends where the memory of the operand ends.
  int k = classes.of(dot.getLhs())[1];
  if (classes.size(k) % classes.step(k) == 0)
    copyEnds[k] = contractedEnd(dot, {operand});
  materialise(operand);
  copyEnds.erase(k);
}

void KernelLowering::prepareOperands(DotOp op) {
  if (classes.multipliesGroups(op))
    return prepareGroups(op);
  // Each element of the right operand is read once.
  if (classes.runsAlongDepth(op))
    return prepareOperand(op.getLhs(), /*isRhs=*/true);
  prepareOperand(op.getLhs(), /*isRhs=*/false);
  prepareOperand(op.getRhs(), /*isRhs=*/true);
}

/// Returns the position where the loop over k may end early, as all later
/// elements of an operand are the pad, which is neutral. Returns null if the
/// loop runs over the whole block.
Value KernelLowering::contractedEnd(DotOp op, ValueRange operands) {
  Value end;
  for (Value operand : operands) {
    Operation *source = getReader(operand);
    std::optional<Window> window =
        source ? windowOf(source) : std::optional<Window>();
    if (!window)
      continue;
    int64_t dim = contractedDim(*window);
    if (dim < 0 || proof(*window, dim) != Proof::none)
      continue;
    Value left = b.createOrFold<arith::SubIOp>(loc, extent(window->memref, dim),
                                               mapped(window->offsets[dim]));
    int64_t size = classes.size(classes.of(op.getLhs())[1]);
    end = b.createOrFold<arith::MinSIOp>(loc, end ? end : index(size), left);
  }
  return end;
}

/// Returns the number of partial sums of each element, so that few elements do
/// not limit throughput: two multiply-adds start in a cycle, with a latency of
/// four cycles.
static int64_t chooseParts(int64_t sums, int64_t depth) {
  constexpr int64_t inFlight = 8, longDepth = 8;
  int64_t parts = 1;
  while (2 * parts * sums <= inFlight && depth >= 2 * parts * longDepth)
    parts *= 2;
  return parts;
}

/// Emits a step of the contracted dimension of one or several elements; `sums`
/// holds the partial sums of each in turn.
void KernelLowering::dotStep(DotOp op, const Layout &layout, Carried &sums) {
  Type element = op.getType().getElementType();
  ProductAttr product = op.getProduct();
  bool isWords = op.getWordElements() > 1;
  auto extend = [&](Value value, Type type) {
    return isWords ? value : widen(value, element, type.isUnsignedInteger());
  };
  int k = classes.of(op.getLhs())[1];
  Slice all = slice(k);
  bool isLoad = op.getLhs().getDefiningOp<LoadOp>() != nullptr;
  for (int64_t at = 0, next = 0; at < all.size; ++at) {
    context[k] = {all.start, all.at + at, 1};
    scopes.emplace_back();
    prefetch(op);
    Registers rhs = emit(op.getRhs(), layout.lanes == 1);
    Registers lhs = op.getLhs() == borderRows.operand
                        ? readBorderRows()
                        : emit(op.getLhs(), /*scalars=*/true);
    SmallVector<Value> columns;
    for (Value value : rhs.values)
      columns.push_back(extend(value, product.getRhs()));
    for (Value value : lhs.values) {
      auto own = MutableArrayRef<Value>(sums).slice(next, columns.size());
      next += columns.size();
      // A row that is out of bounds is padding, and contributes nothing.
      if (isLoad && (matchPattern(value, m_AnyZeroFloat()) ||
                     matchPattern(value, m_Zero())))
        continue;
      Value row = extend(value, product.getLhs());
      for (auto [sum, column] : llvm::zip_equal(own, columns)) {
        Value rows = splat(row, column.getType());
        sum = isWords ? createWordProducts(b, loc, target, product, rows,
                                           column, sum)
                      : multiplyAdd(rows, column, sum);
      }
    }
    scopes.pop_back();
  }
  context[k] = all;
}

Registers KernelLowering::dot(DotOp op, const Layout &layout) {
  bool outer = std::exchange(staging, false);
  BorderRows outerRows = std::exchange(borderRows, BorderRows());
  borderRows = findBorderRows(op);
  prepareOperands(op);
  Registers result = dotOfOperands(op, layout);
  borderRows = outerRows;
  staging = outer;
  return result;
}

Registers KernelLowering::dotOfOperands(DotOp op, const Layout &layout) {
  Registers acc = emit(op.getAcc(), layout.lanes == 1);
  if (classes.runsAlongDepth(op))
    return dotAlongDepth(op, acc);
  int k = classes.of(op.getLhs())[1];
  Value end = contractedEnd(op, {op.getLhs(), op.getRhs()});
  bool runsOnce = op->getParentOp() == root;
  // A long loop hides the latency of loading the lines of the result.
  constexpr int64_t longLoop = 32;
  if (runsOnce && layout.lanes > 1 && classes.size(k) >= longLoop)
    prefetchStores(layout);
  if (classes.multipliesGroups(op))
    return dotOfGroups(op, acc, end);
  int64_t count = acc.values.size();
  int64_t parts = end ? 1 : chooseParts(count, classes.size(k));
  Value none =
      splat(arith::ConstantOp::create(
                b, loc,
                cast<TypedAttr>(b.getZeroAttr(op.getType().getElementType()))),
            acc.values.front().getType());
  Carried sums = acc.values;
  sums.resize(parts * count, none);
  sums = ifAnyRow(sums, [&](Carried carried) {
    return forChunks(
        k, parts, carried,
        [&](ArrayRef<Value> before) {
          Carried next(before);
          dotStep(op, layout, next);
          return next;
        },
        end);
  });
  for (; parts > 1; parts /= 2) // pairs, halves, ..
    for (int64_t i = 0, half = parts / 2 * count; i < half; ++i)
      sums[i] = createCombine(b, loc, ReduceKind::add, sums[i], sums[half + i]);
  sums.resize(count);
  return {layout, sums};
}

//===--- reduce -----------------------------------------------------------===//

Value KernelLowering::combine(ReduceOp op, Value x, Value y) {
  ReduceKind kind = op.getKind();
  if (op.getNnan()) { // one instruction, which may drop NaN
    auto predicate = kind == ReduceKind::max ? arith::CmpFPredicate::OGT
                                             : arith::CmpFPredicate::OLT;
    Value first = arith::CmpFOp::create(b, loc, predicate, x, y);
    return arith::SelectOp::create(b, loc, first, x, y);
  }
  Value result = createCombine(b, loc, kind, x, y);
  // The sign of a zero result is unspecified.
  auto flags =
      arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::nsz);
  if (auto max = result.getDefiningOp<arith::MaximumFOp>())
    max.setFastmathAttr(flags);
  if (auto min = result.getDefiningOp<arith::MinimumFOp>())
    min.setFastmathAttr(flags);
  return result;
}

/// Reduces all lanes of each vector to a scalar by combining halves until one
/// lane is left. The halves of two vectors are combined as one vector, so that
/// the order of operations does not depend on the number of vectors.
SmallVector<Value> KernelLowering::horizontal(ReduceOp op,
                                              ArrayRef<Value> vectors) {
  SmallVector<Value> parts(vectors);
  int64_t lanes = cast<VectorType>(parts[0].getType()).getNumElements();
  for (int64_t width = lanes; width > 1; width /= 2) { // lanes of one vector
    SmallVector<Value> next;
    for (size_t i = 0; i < parts.size(); i += 2) {
      Value x = parts[i], y = i + 1 < parts.size() ? parts[i + 1] : x;
      int64_t all = cast<VectorType>(x.getType()).getNumElements();
      SmallVector<int64_t> low, high;
      for (int64_t at = 0; at < (x == y ? all : 2 * all); at += width)
        for (int64_t lane = at; lane < at + width / 2; ++lane) {
          low.push_back(lane);
          high.push_back(lane + width / 2);
        }
      next.push_back(combine(op, vector::ShuffleOp::create(b, loc, x, y, low),
                             vector::ShuffleOp::create(b, loc, x, y, high)));
    }
    parts = next;
  }
  SmallVector<Value> results;
  for (Value part : parts)
    for (int64_t lane = 0,
                 e = cast<VectorType>(part.getType()).getNumElements();
         lane < e; ++lane)
      results.push_back(vector::ExtractOp::create(b, loc, part, lane));
  return results;
}

/// Elements beyond the end of the tile are replaced by the neutral element.
void KernelLowering::neutraliseDead(ReduceOp op, Registers &source) {
  const Layout &layout = source.layout;
  int64_t dim = op.getDim();
  if (layout.slices[dim].start)
    return;
  int64_t size = classes.size(layout.classes[dim]);
  int64_t width = dim == layout.laneDim ? layout.lanes : 1;
  for (auto [i, value] : llvm::enumerate(source.values)) {
    int64_t live = size - layout.slices[dim].at - layout.coordinates(i)[dim];
    if (live >= width)
      continue;
    Value none = splat(
        createNeutral(b, loc, op.getKind(), op.getType().getElementType()),
        value.getType());
    if (live <= 0) {
      value = none;
      continue;
    }
    SmallVector<bool> bits(layout.lanes, false);
    std::fill_n(bits.begin(), live, true);
    auto type = VectorType::get(layout.lanes, b.getI1Type());
    Value mask =
        arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, bits));
    value = arith::SelectOp::create(b, loc, mask, value, none);
  }
}

Registers KernelLowering::reduce(ReduceOp op, const Layout &layout) {
  Value source = op.getSource();
  int64_t dim = op.getDim();
  int c = classes.of(source)[dim];
  int64_t step = classes.step(c);
  // The accumulators are the registers of the source for one step.
  auto outer = context.find(c) == context.end()
                   ? std::optional<Slice>()
                   : std::optional<Slice>(context[c]);
  context[c] = {Value(), 0, step};
  Layout sums = layoutOf(source);
  context.erase(c);
  if (outer)
    context[c] = *outer;
  ReduceKind kind = op.getKind();
  Value none = splat(createNeutral(b, loc, kind, op.getType().getElementType()),
                     registerType(source, sums));
  Carried accumulators(sums.total(), none);
  SmallVector<RowsAhead, 2> asked = rowsAsked(op);
  accumulators = forChunks(c, step, accumulators, [&](ArrayRef<Value> before) {
    Carried next(before);
    Registers values = emit(source);
    prefetchRows(values.layout, asked);
    neutraliseDead(op, values);
    for (auto [i, value] : llvm::enumerate(values.values)) {
      Value &sum = next[sums.indexOf(values.layout.coordinates(i))];
      sum = combine(op, sum, value);
    }
    return next;
  });
  return foldAccumulators(op, layout, {sums, accumulators});
}

/// Combines the accumulators along the reduced dimension, and then the lanes if
/// they are along it.
Registers KernelLowering::foldAccumulators(ReduceOp op, const Layout &layout,
                                           const Registers &sums) {
  int64_t dim = op.getDim();
  bool alongLanes = sums.layout.laneDim == dim;
  auto folded = [&](SmallVector<int64_t> at) {
    at.insert(at.begin() + dim, 0);
    Value value;
    for (int64_t i = 0; i < sums.layout.counts[dim]; ++i) {
      at[dim] = i * (alongLanes ? sums.layout.lanes : 1);
      Value part = sums.values[sums.layout.indexOf(at)];
      value = value ? combine(op, value, part) : part;
    }
    return value;
  };
  Registers result{layout, {}};
  if (alongLanes && layout.lanes == 1) {
    SmallVector<Value> rows;
    for (int64_t i = 0, e = layout.total(); i < e; ++i)
      rows.push_back(folded(layout.coordinates(i)));
    while (!rows.empty()) { // as many as one step of lanes takes
      size_t count =
          std::min<size_t>(llvm::bit_floor(rows.size()), sums.layout.lanes);
      result.values.append(
          horizontal(op, ArrayRef<Value>(rows).take_front(count)));
      rows.erase(rows.begin(), rows.begin() + count);
    }
    return result;
  }
  for (int64_t i = 0, e = layout.total(); i < e; ++i) {
    SmallVector<int64_t> at = layout.coordinates(i);
    bool direct = !alongLanes && layout.lanes == sums.layout.lanes;
    if (direct) {
      result.values.push_back(folded(at));
      continue;
    }
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < layout.lanes; ++lane) {
      Value value = folded(at);
      if (alongLanes)
        value = horizontal(op, value).front();
      else if (sums.layout.lanes > 1)
        value = vector::ExtractOp::create(
            b, loc, value,
            at[sums.layout.laneDim - (sums.layout.laneDim > dim)] %
                sums.layout.lanes);
      elements.push_back(value);
      if (layout.laneDim >= 0)
        ++at[layout.laneDim];
    }
    result.values.push_back(
        layout.lanes == 1
            ? elements.front()
            : vector::FromElementsOp::create(
                  b, loc,
                  cast<VectorType>(registerType(op.getResult(), layout)),
                  elements)
                  .getResult());
  }
  return result;
}
