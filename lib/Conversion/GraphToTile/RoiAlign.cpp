// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// roi_align for GPUs: a program interpolates elements of one region, adjacent
// ones of the result. The number of samples of a bin may depend on the region.
#include "Dialect/Graph/IR/RegionMath.h"
#include "Families.h"
#include "Lookups.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

class RegionAlign {
public:
  RegionAlign(KernelEmitter &e, RoiAlignOp op)
      : e(e), op(op), b(e.builder()), loc(e.loc()), scalars(e, {}),
        tiles(e, {Own}),
        type(getAccumulatorType(getElementTypeOrSelf(op.getInput()))) {}

  LogicalResult run();

private:
  enum Axis { Own = 0 };
  using Carried = KernelEmitter::Carried;

  /// One dim of the region of the program.
  struct Dim {
    Value size, bins;    // of the image and of the region
    Value bin;           // of each element, a tile of integers
    RegionExtent extent; // tiles
    Value samples;       // of a bin
  };
  /// Samples along one dim, with the pixels before and after them.
  struct Sample : RegionSample {
    Value lowIndex, highIndex;
  };

  LogicalResult setDims();
  LogicalResult setExtent(Dim &dim, int64_t first);
  MaybeValue findImage();
  Sample locate(const Dim &dim, Value i);
  Value interpolate(const Sample &sy, const Sample &sx);

  Value toFloat(Value index) {
    Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    return arith::SIToFPOp::create(b, loc, type, number);
  }
  Value spread(Value scalar) { return e.broadcast({scalar, {}}, {Own}); }
  Value spreadIndex(Value index) {
    return spread(
        b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), index));
  }
  template <typename OpT>
  Value make(Value x, Value y) {
    return OpT::create(b, loc, x, y);
  }

  KernelEmitter &e;
  RoiAlignOp op;
  OpBuilder &b;
  Location loc;
  TileElementBuilder scalars, tiles;
  Type type;                    // of sums
  Value region, start, channel; // channel: of each element
  Value image;                  // the offset of the first element of the image
  Dim y, x;
};

} // namespace

/// Chooses the elements of the program, and finds their channels and bins.
LogicalResult RegionAlign::setDims() {
  constexpr int64_t blockSize = 1024;
  Dims to = getDims(op.getResult());
  Value regions = e.size(to[0]),
        each = e.size(product(op.getContext(), ArrayRef(to).drop_front()));
  for (auto [dim, i] : {std::pair(&y, 2), {&x, 3}}) {
    dim->size = e.size(op.getInput(), i);
    dim->bins = e.size(op.getResult(), i);
    if (!dim->size || !dim->bins)
      return failure();
  }
  if (!regions || !each)
    return failure();
  Value block = e.index(blockSize);
  e.setAxis(Own, block);
  SmallVector<Value> ids = e.programIds({e.ceilDiv(each, block), regions});
  start = e.mul(ids[0], block);
  region = ids[1];
  Value position = make<arith::AddIOp>(
      spreadIndex(start), e.emitPositions(Own, b.getI32Type()).value);
  x.bin = make<arith::RemUIOp>(position, spreadIndex(x.bins));
  Value row = make<arith::DivUIOp>(position, spreadIndex(x.bins));
  y.bin = make<arith::RemUIOp>(row, spreadIndex(y.bins));
  channel = make<arith::DivUIOp>(row, spreadIndex(y.bins));
  return success();
}

/// Computes the extent of the region between columns `first` and `first + 2`.
LogicalResult RegionAlign::setExtent(Dim &dim, int64_t first) {
  auto corner = [&](int64_t i) -> MaybeValue {
    auto number = e.emit(op.getRois(), {point(region), point(e.index(i))});
    if (failed(number))
      return failure();
    return e.convert(*number, type).value;
  };
  auto from = corner(first), to = corner(first + 2);
  if (failed(from) || failed(to))
    return failure();
  RegionExtent extent = buildExtent(scalars, op, *from, *to, toFloat(dim.bins));
  dim.extent = {spread(extent.start), spread(extent.bin)};
  dim.samples = e.index(op.getSamples());
  if (op.getSamples())
    return success();
  Value count = arith::FPToSIOp::create(b, loc, b.getI64Type(),
                                        buildSampleCount(scalars, extent));
  dim.samples = arith::IndexCastOp::create(b, loc, b.getIndexType(), count);
  return success();
}

/// Returns the offset of the image of the region.
MaybeValue RegionAlign::findImage() {
  auto index = e.emit(op.getBatch(), {point(region)});
  Dims dims = getDims(op.getInput());
  Value images = e.size(dims[0]),
        each = e.size(product(op.getContext(), ArrayRef(dims).drop_front()));
  if (failed(index) || !images || !each)
    return failure();
  Value number =
      clampPositions(e, op, countFromEnd(e, *index, images), images).value;
  return e.mul(number, each);
}

/// Returns sample `i` of each bin.
RegionAlign::Sample RegionAlign::locate(const Dim &dim, Value i) {
  Type tile = e.tileType({Own}, type),
       integers = e.tileType({Own}, b.getI32Type());
  Value bin = arith::SIToFPOp::create(b, loc, tile, dim.bin);
  Value position = buildPosition(tiles, dim.extent, bin, spread(toFloat(i)),
                                 spread(toFloat(dim.samples)));
  Sample s{buildSample(tiles, position, spread(toFloat(dim.size))), {}, {}};
  s.lowIndex = arith::FPToSIOp::create(b, loc, integers, s.low);
  s.highIndex = make<arith::MinSIOp>(
      make<arith::AddIOp>(s.lowIndex, tiles.integer(b.getI32Type(), 1)),
      spreadIndex(e.sub(dim.size, e.index(1))));
  return s;
}

/// Returns the values of samples.
Value RegionAlign::interpolate(const Sample &sy, const Sample &sx) {
  Value memory = e.getMemory(op.getInput());
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  Value flat = mergeDims(e, memory, 0, 4);
  auto pixel = [&](Value row, Value column) {
    Value at = make<arith::AddIOp>(
        make<arith::MulIOp>(channel, spreadIndex(y.size)), row);
    at = make<arith::AddIOp>(make<arith::MulIOp>(at, spreadIndex(x.size)),
                             column);
    Value tile = tile::GatherOp::create(
        b, loc, e.tileType({Own}, element), flat, image, at,
        /*static_offsets=*/ArrayRef<int64_t>{ShapedType::kDynamic},
        /*along=*/0, /*dims=*/ArrayRef<int64_t>{-1}, /*strides=*/nullptr,
        /*pad=*/nullptr);
    return e.convert({tile, {Own}}, type).value;
  };
  return buildInterpolation(
      tiles, op, sy, sx,
      {pixel(sy.lowIndex, sx.lowIndex), pixel(sy.lowIndex, sx.highIndex),
       pixel(sy.highIndex, sx.lowIndex), pixel(sy.highIndex, sx.highIndex)});
}

LogicalResult RegionAlign::run() {
  if (!e.getMemory(op.getInput()))
    return e.fail("the image of roi_align is computed in its kernel");
  if (failed(setDims()) || failed(setExtent(y, 1)) || failed(setExtent(x, 0)))
    return failure();
  auto offset = findImage();
  if (failed(offset))
    return failure();
  image = *offset;
  Value one = e.index(1);
  auto folded =
      e.loop(y.samples, one, buildNoSamples(tiles, op, type),
             [&](Value row, ValueRange last) {
               Sample sy = locate(y, row);
               return e.loop(
                   x.samples, one, last,
                   [&](Value column, ValueRange inner) -> FailureOr<Carried> {
                     Value sample = interpolate(sy, locate(x, column));
                     return Carried{buildFold(tiles, op, inner[0], sample)};
                   });
             });
  if (failed(folded))
    return failure();
  Value count = toFloat(e.mul(y.samples, x.samples));
  Value result = buildBin(tiles, op, folded->front(), spread(count));
  Emitted stored =
      e.convert({result, {Own}}, getElementTypeOrSelf(op.getResult()));
  return e.store(stored, e.getOutputMemory(0),
                 {point(region), {start, Own, 1, 3}});
}

LogicalResult adze::emitRoiAlign(KernelEmitter &e, RoiAlignOp op) {
  if (!e.gpu)
    return e.fail("roi_align has a tile form for GPUs only");
  if (!llvm::equal(e.getOutputs(), op->getResults()))
    return e.fail("roi_align has no epilogue");
  return RegionAlign(e, op).run();
}
