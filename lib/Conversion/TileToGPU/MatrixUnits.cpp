// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions by the matrix instruction of a warp, and products of which it
// computes operands.
#include "UnitProduct.h"

using namespace mlir;

namespace adze::togpu {

/// Returns the axes of some dims.
static Axes select(const Axes &axes, ArrayRef<unsigned> dims) {
  return llvm::map_to_vector(dims, [&](unsigned dim) { return axes[dim]; });
}

/// Returns the number of an element over these dims.
static int64_t getNumber(const Axes &axes, ArrayRef<unsigned> dims,
                         Registers regs) {
  int64_t number = 0;
  for (unsigned dim : dims)
    number = number * axes[dim]->regs() + regs[dim];
  return number;
}

/// Returns the sums of a contraction at the registers of the dims that are not
/// summed. The instruction multiplies two blocks of 8 rows and one of 8
/// columns, of each of which a lane has two pairs of elements along the depth.
Fragment KernelLowering::multiplyByUnit(const Contraction &c) {
  constexpr int64_t both = 2, quad = 4;
  using Place = SmallVector<int64_t>; // registers of the dims of the source
  Axes axes = getClassAxes(c.source), rhsAxes = axes;
  rhsAxes[c.columns] = stagingAxis(plan.getOperandColumns(c));
  SmallVector<unsigned> kept;
  for (unsigned dim = 0; dim < axes.size(); ++dim)
    if (!llvm::is_contained(c.summed, dim))
      kept.push_back(dim);
  Fragment rhs = emit(c.rhs.tile, select(rhsAxes, c.rhs.dims)),
           lhs = emit(c.lhs.tile, select(axes, c.lhs.dims));
  SmallVector<Place> depth;
  forEachElement(select(axes, c.summed), [&](Registers regs, int64_t) {
    depth.push_back(llvm::to_vector(regs));
  });
  WarpUnit product(b, loc, c.unit);
  auto getPair = [&](Place at, bool isRight, int64_t first) {
    SmallVector<Value> pair;
    for (const Place &place : ArrayRef(depth).slice(first, both)) {
      for (auto [dim, reg] : llvm::zip_equal(c.summed, place))
        at[dim] = reg;
      pair.push_back(isRight ? rhs[getNumber(rhsAxes, c.rhs.dims, at)]
                             : lhs[getNumber(axes, c.lhs.dims, at)]);
    }
    return product.fromPair(makeVector(pair));
  };
  Fragment sums(countElements(select(axes, kept)),
                arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0)));
  forEachElement(select(axes, kept), [&](Registers regs, int64_t) {
    Place at(axes.size(), 0);
    for (auto [dim, reg] : llvm::zip_equal(kept, regs))
      at[dim] = reg;
    if (at[c.rows] % both || at[c.columns] % both)
      return;
    Place lower = at, right = at;
    ++lower[c.rows];
    right[c.columns] /= both;
    SmallVector<Value *> results;
    for (const Place &row : {at, lower})
      for (int64_t i = 0; i < both; ++i) {
        Place place = row;
        place[c.columns] += i;
        results.push_back(&sums[getNumber(axes, kept, place)]);
      }
    for (int64_t k = 0; k < int64_t(depth.size()); k += quad)
      product.multiply(
          {getPair(at, false, k), getPair(lower, false, k),
           getPair(at, false, k + both), getPair(lower, false, k + both)},
          {getPair(right, true, k), getPair(right, true, k + both)}, results);
  });
  return sums;
}

/// Multiplies chunk by chunk. While one chunk is multiplied, the next one is
/// loaded from global memory to registers.
Fragment KernelLowering::multiplyPipelined(tile::DotOp dot,
                                           const Operands &operands,
                                           Fragment acc, const Axes &out) {
  int64_t k = tileType(dot.getLhs()).getShape()[1], chunk = operands[0].chunk;
  int64_t last = (llvm::divideCeil(k, chunk) - 1) * chunk;
  using Chunks = std::array<Fragment, 2>;
  auto fetchAll = [&](Value start) {
    Chunks chunks;
    for (auto [operand, fetched] : llvm::zip(operands, chunks))
      if (!operand.isWhole())
        fetched = fetch(operand, start);
    return chunks;
  };
  auto putAll = [&](const Chunks &chunks) {
    barrier();
    for (const auto &[operand, fetched] : llvm::zip(operands, chunks))
      if (!operand.isWhole())
        put(operand, fetched);
    barrier();
  };
  auto join = [&](const Chunks &chunks) {
    Fragment all = acc;
    for (const Fragment &fetched : chunks)
      llvm::append_range(all, fetched);
    return all;
  };
  auto take = [](ValueRange &values, Fragment &into) {
    llvm::copy(values.take_front(into.size()), into.begin());
    values = values.drop_front(into.size());
  };
  auto split = [&](ValueRange values, Chunks &chunks) {
    take(values, acc);
    for (Fragment &fetched : chunks)
      take(values, fetched);
  };
  Chunks chunks = fetchAll(constant(0));
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(last),
                                 constant(chunk), join(chunks));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value start = loop.getInductionVar();
    split(loop.getRegionIterArgs(), chunks);
    putAll(chunks);
    chunks = fetchAll(add(start, constant(chunk)));
    UnitProduct(*this, dot, operands, start, out).multiplyAll(acc);
    scf::YieldOp::create(b, loc, join(chunks));
  }
  split(loop.getResults(), chunks);
  putAll(chunks);
  UnitProduct(*this, dot, operands, constant(last), out).multiplyAll(acc);
  return acc;
}

} // namespace adze::togpu
