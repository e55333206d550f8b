// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Cumulative sums and products: a loop along the dim carries a tile of the
// later dims. On GPUs, a program scans a row of contiguous elements.
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

/// Scans a row in chunks, which continue the sums of those before them.
static LogicalResult emitRowScan(KernelEmitter &e, const Scan &scan) {
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  Dims dims = getDims(scan.result);
  Value rows =
      e.size(product(b.getContext(), ArrayRef<AffineExpr>(dims).drop_back()));
  Value length = e.size(dims.back());
  if (!rows || !length)
    return failure();
  int64_t known = getKnown(dims.back());
  Value chunk =
      e.index(known >= 1 && known < deviceChunk ? known : deviceChunk);
  e.setAxis(Lane, chunk);
  Value row = e.programIds({rows})[0];
  Type graphType = getElementTypeOrSelf(scan.result);
  Type element = getSignlessType(graphType);
  Type type = getAccumulatorType(element);
  Axes axes{Lane};
  tile::ReduceKind kind = getReduceKind(scan.combiner, graphType);
  Value neutral = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(getNeutral(scan.combiner, type)));
  Value init = toTile(e, neutral);
  auto done = e.loop(
      length, chunk, init,
      [&](Value i, ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
        DimRanges ranges = rowRanges(row, scan.axis, {{i, Lane, 1, 1}});
        auto x = e.emit(scan.input, ranges);
        if (failed(x))
          return failure();
        Value elements = e.broadcast(e.convert(*x, type), axes);
        Value sums =
            tile::ScanOp::create(b, loc, kind, elements, Lane, scan.exclusive);
        TileElementBuilder builder(e, axes), scalars(e, {});
        Value all = buildCombine(builder, scan.combiner, type,
                                 e.broadcast({carried[0], {}}, axes), sums);
        e.define(scan.result, ranges, e.convert({all, axes}, element));
        if (failed(e.storeOutputs(scan.result, ranges)))
          return failure();
        Value total =
            e.reduce(scan.combiner, type, {elements, axes}, Lane).value;
        return KernelEmitter::Carried{
            buildCombine(scalars, scan.combiner, type, carried[0], total)};
      });
  return LogicalResult(done);
}

LogicalResult adze::emitScan(KernelEmitter &e, Operation *op, Tiling tiling) {
  if (tiling != Tiling::Flat)
    return e.fail("a scan has a flat tiling only");
  Scan scan = Scan::get(op);
  Dims dims = getDims(scan.result);
  unsigned rank = dims.size(), after = rank - scan.axis - 1;
  MLIRContext *context = op->getContext();
  ArrayRef<AffineExpr> all(dims);
  AffineExpr inner = product(context, all.take_back(after));
  if (after == 0 && e.gpu && !scan.reverse)
    return emitRowScan(e, scan);
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
        DimRanges ranges = rowRanges(ids[1], scan.axis, {point(at), column});
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
