// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Cumulative sums and products: a loop along the dim carries a tile of the
// later dims.
#include "Families.h"
#include "TileElementBuilder.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {
enum Axis { Lane = 0 };

/// cumsum or cumprod.
struct Scan {
  Value input, result;
  unsigned axis;
  bool exclusive, reverse;
  Combiner combiner;

  static Scan get(Operation *op) {
    auto make = [](auto op, Combiner combiner) {
      return Scan{op.getInput(),     op.getResult(),  unsigned(op.getAxis()),
                  op.getExclusive(), op.getReverse(), combiner};
    };
    if (auto sum = dyn_cast<CumsumOp>(op))
      return make(sum, Combiner::Add);
    return make(cast<CumprodOp>(op), Combiner::Mul);
  }
};
} // namespace

LogicalResult adze::emitScan(KernelEmitter &e, Operation *op, Tiling tiling) {
  if (tiling != Tiling::Flat)
    return e.fail("a scan has a flat tiling only");
  Scan scan = Scan::get(op);
  Dims dims = getDims(scan.result);
  unsigned rank = dims.size(), after = rank - scan.axis - 1;
  MLIRContext *context = op->getContext();
  ArrayRef<AffineExpr> all(dims);
  AffineExpr inner = product(context, all.take_back(after));
  if (after == 0 || getKnown(inner) == 1)
    return e.fail("the scan is along the innermost dim");
  Value columns = e.size(inner), length = e.size(dims[scan.axis]);
  Value rows = e.size(product(context, all.take_front(scan.axis)));
  if (!columns || !length || !rows)
    return failure();
  constexpr int64_t lanes = 256; // carried values stay in registers
  Value block = e.param("BLOCK_N", chooseLanes(getKnown(inner), lanes));
  e.setAxis(Lane, block);
  SmallVector<Value> ids = e.programIds({e.ceilDiv(columns, block), rows});
  DimRange column{e.mul(ids[0], block), Lane, 1, after};
  Type graphType = getElementTypeOrSelf(scan.result);
  Type element = getSignlessType(graphType);
  Type accType = getAccumulatorType(element);
  Type combined = accType == element ? graphType : accType;
  Axes axes{Lane};
  Value init = e.constant(getNeutral(scan.combiner, combined), axes);
  auto done = e.loop(
      length, e.index(1), init,
      [&](Value i, ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
        Value at = scan.reverse ? e.sub(e.sub(length, e.index(1)), i) : i;
        DimRanges ranges;
        if (scan.axis > 0)
          ranges.push_back({ids[1], -1, 1, scan.axis});
        ranges.append({{at, -1, 1, 1}, column});
        auto x = e.emit(scan.input, ranges);
        if (failed(x))
          return failure();
        TileElementBuilder builder(e, axes);
        Value next = buildCombine(builder, scan.combiner, combined, carried[0],
                                  e.broadcast(e.convert(*x, accType), axes));
        Emitted here{scan.exclusive ? carried[0] : next, axes};
        e.define(scan.result, ranges, e.convert(here, element));
        if (failed(e.storeOutputs(scan.result, ranges)))
          return failure();
        return KernelEmitter::Carried{next};
      });
  return LogicalResult(done);
}
