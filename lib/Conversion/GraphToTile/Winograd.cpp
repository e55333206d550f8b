// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Winograd convolution in one kernel. A program transforms some patches with
// all channels into scratch memory, multiplies each element of the patches by
// its matrix of the filter, and transforms the products to pixels.
#include "Dialect/Graph/IR/Winograd.h"
#include "Convolution.h"
#include "Dialect/Host/IR/Host.h"
#include "WinogradTransforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {
/// The patches of one row, all patches of a program, input channels, those that
/// are multiplied at once, and channels of the result.
enum Axis { Patch = 0, Row = 1, Input = 2, Depth = 3, Output = 4 };

class WinogradEmitter {
public:
  WinogradEmitter(KernelEmitter &e, WinogradConvOp op, bool hasTwoForms)
      : e(e), op(op), winograd(op.getTile()), hasTwoForms(hasTwoForms),
        element(getSignlessType(getElementTypeOrSelf(op.getResult()))),
        type(getAccumulatorType(element)), patchType(type) {}

  LogicalResult run();

private:
  LogicalResult setTiling();
  void findFew(const WinogradSizes &sizes, const WinogradPlan &plan);
  void tileRows(int64_t inRow, const WinogradPlan &plan);
  void tilePatches(const WinogradPlan &plan);
  void makeScratch(Value depth);
  LogicalResult forEachRow(function_ref<LogicalResult(Value)> body);
  DimRanges getPixel(Value row, int64_t i, int64_t j, ArrayRef<int64_t> shift,
                     DimRange channel);
  LogicalResult transformInput(Value row);
  LogicalResult multiply(Value product, Value firstPatch, Value channel);
  LogicalResult multiplyAll(Value channel);
  LogicalResult transformOutput(Value row, Value channel);
  LogicalResult emitPatches();

  KernelEmitter &e;
  WinogradConvOp op;
  Winograd winograd;
  /// True if there is a second form for few pixels; `few` is the condition for
  /// it.
  bool hasTwoForms;
  Value few;
  FewPixels direct;
  Type element, type;
  /// The type of transformed patches: that of the filter if a unit multiplies
  /// it, else f32.
  Type patchType;
  /// True if the rows of patches are merged, including those of all images. If
  /// the size of an image is dynamic, each patch is a row.
  bool patchesAreRows = false;
  Value patchRows, inRow; // of an image; patches of its rows
  Value rows, columns;    // of patches, of a program
  Value firstRow, firstColumn;
  Value allRows;
  /// The number of patches that are multiplied at once. With a dynamic number
  /// of patches, less than this many are multiplied in vain.
  static constexpr int64_t multipliedRows = 8;
  Value together;
  Value depth, blockK, firstChannel, blockN, steps, outputs;
  Value patches, products; // scratch memory
};

} // namespace

/// Chooses blocks for images of known size: a whole row is a constant, so that
/// the positions of its border are constants.
void WinogradEmitter::tileRows(int64_t patches, const WinogradPlan &plan) {
  bool whole = plan.columns == patches;
  columns = whole ? e.index(patches) : e.param("BLOCK_P", plan.columns);
  rows = whole ? e.param("ROWS", plan.rows) : e.index(1);
  together = e.mul(rows, columns);
}

/// Chooses blocks for images of any size: a program has some patches at any
/// positions, so that there is no remainder at the end of a row.
void WinogradEmitter::tilePatches(const WinogradPlan &plan) {
  patchesAreRows = true;
  columns = e.index(1);
  int64_t patches = plan.rows * plan.columns;
  rows = e.param("ROWS", llvm::alignTo(patches, multipliedRows));
  together = e.index(multipliedRows);
}

/// Finds the condition under which direct convolution is cheaper, and its
/// programs.
void WinogradEmitter::findFew(const WinogradSizes &sizes,
                              const WinogradPlan &plan) {
  WinogradLimit limit = getWinogradLimit(sizes, winograd.tile);
  Value image = e.mul(e.size(op.getResult(), 1), e.size(op.getResult(), 2));
  direct.pixels = e.mul(e.size(op.getResult(), 0), image);
  Value pixels = e.batchInvariant ? image : direct.pixels;
  Value count = e.batchInvariant ? e.mul(patchRows, inRow) : allRows;
  Value cost = e.mul(pixels, e.index(limit.pixel));
  Value other = e.add(e.mul(count, e.index(limit.patch)), e.index(limit.more));
  few = arith::CmpIOp::create(e.builder(), e.loc(), arith::CmpIPredicate::slt,
                              cost, other);
  // With few channels there are no other programs.
  bool fitsTwo = sizes.outputs % (2 * plan.panel) == 0;
  direct.channels = e.param("CHANNELS", (fitsTwo ? 2 : 1) * plan.panel);
  direct.block = rows;
  direct.depth = depth;
  direct.blockK = blockK;
}

/// Computes sizes, axes, blocks and program ids.
LogicalResult WinogradEmitter::setTiling() {
  Dims result = getDims(op.getResult());
  std::optional<WinogradSizes> sizes =
      getWinogradSizes(op.getInput(), op.getResult(), e.target);
  if (!sizes)
    return e.fail("the number of channels is dynamic, or no vector unit "
                  "multiplies the elements");
  Value batch = e.size(result[0]), height = e.size(result[1]),
        width = e.size(result[2]);
  if (!batch || !height || !width)
    return failure();
  if (sizes->patchBytes == sizes->filterBytes)
    patchType = getElementTypeOrSelf(op.getFilter());
  WinogradPlan plan = planWinograd(*sizes, winograd.tile, e.target);
  Value tile = e.index(winograd.tile);
  patchRows = e.ceilDiv(height, tile);
  inRow = e.ceilDiv(width, tile);
  depth = e.index(sizes->inputs);
  outputs = e.index(sizes->outputs);
  if (getConstant(result[1]) && getConstant(result[2]))
    tileRows(llvm::divideCeil(sizes->columns, winograd.tile), plan);
  else
    tilePatches(plan);
  blockK = e.param("BLOCK_K", plan.depth);
  blockN = e.param("BLOCK_N", plan.outputs);
  steps = e.param("STEPS", plan.steps);
  e.pack(op.getFilter(),
         host::getTransformLayout(op.getContext(), plan.panel, sizes->group));
  allRows = e.mul(patchRows, batch);
  if (patchesAreRows)
    allRows = e.mul(allRows, inRow);
  Value channels = e.mul(blockN, steps);
  Value blocks = patchesAreRows ? e.index(1) : e.ceilDiv(inRow, columns);
  Value count = allRows, parts = e.ceilDiv(outputs, channels), all = parts;
  if (hasTwoForms) {
    findFew(*sizes, plan);
    auto choose = [&](Value one, Value other) -> Value {
      return arith::SelectOp::create(e.builder(), e.loc(), few, one, other);
    };
    count = choose(direct.pixels, count);
    all = choose(e.ceilDiv(outputs, direct.channels), parts);
  }
  SmallVector<Value> ids = e.programIds({blocks, e.ceilDiv(count, rows), all});
  firstColumn = e.mul(ids[0], columns);
  firstRow = direct.pixel = e.mul(ids[1], rows);
  Value part = ids[2];
  if (hasTwoForms) { // the minimum has no effect, but gives a bound
    auto within = [&](Value parts) {
      return e.min(part, e.sub(parts, e.index(1)));
    };
    direct.channel =
        e.mul(within(e.ceilDiv(outputs, direct.channels)), direct.channels);
    part = within(parts);
  }
  firstChannel = e.mul(part, channels);
  return success();
}

/// Allocates the memory between the phases.
void WinogradEmitter::makeScratch(Value depth) {
  Value count = e.mul(rows, columns);
  e.setAxis(Patch, columns);
  e.setAxis(Row, together);
  e.setAxis(Input, depth);
  e.setAxis(Depth, blockK);
  e.setAxis(Output, blockN);
  Value size = e.index(winograd.size * winograd.size);
  patches = e.scratch({size, count, depth}, patchType);
  products = e.scratch({size, count, blockN}, type);
}

/// Emits a phase for each row of patches of the program.
LogicalResult
WinogradEmitter::forEachRow(function_ref<LogicalResult(Value)> body) {
  Value count = e.min(rows, e.sub(allRows, firstRow));
  auto done =
      e.loop(count, e.index(1), {},
             [&](Value row, ValueRange) -> FailureOr<KernelEmitter::Carried> {
               if (failed(e.phase([&] { return body(row); })))
                 return failure();
               return KernelEmitter::Carried{};
             });
  return success(succeeded(done));
}

/// Returns the ranges of pixel (i, j) of the patches of a row, `shift` pixels
/// before them.
DimRanges WinogradEmitter::getPixel(Value row, int64_t i, int64_t j,
                                    ArrayRef<int64_t> shift, DimRange channel) {
  Value tile = e.index(winograd.tile), at = e.add(firstRow, row);
  Value column = firstColumn;
  if (patchesAreRows) {
    column = e.rem(at, inRow);
    at = e.div(at, inRow);
  }
  Value y = e.add(e.mul(e.rem(at, patchRows), tile), e.index(i - shift[0]));
  Value x = e.add(e.mul(column, tile), e.index(j - shift[1]));
  return {{e.div(at, patchRows), -1, 1, 1},
          {y, -1, 1, 1},
          {x, Patch, winograd.tile, 1},
          channel};
}

LogicalResult WinogradEmitter::transformInput(Value row) {
  Axes axes{Patch, Input};
  DimRange channel{e.index(0), Input, 1, 1};
  SmallVector<Value> x;
  int64_t size = winograd.size;
  for (int64_t i = 0; i < size * size; ++i) {
    auto pixel = e.emit(op.getInput(), getPixel(row, i / size, i % size,
                                                op.getPads(), channel));
    if (failed(pixel))
      return failure();
    x.push_back(e.broadcast(e.convert(*pixel, type), axes));
  }
  for (auto [i, value] :
       llvm::enumerate(multiplyBoth(e, type, axes, winograd.input, x))) {
    DimRanges ranges{
        {e.index(i), -1, 1, 1}, {e.mul(row, columns), Patch, 1, 1}, channel};
    if (failed(e.store(e.convert({value, axes}, patchType), patches, ranges)))
      return failure();
  }
  return success();
}

/// Multiplies one element of some patches by its matrix of the filter.
LogicalResult WinogradEmitter::multiply(Value product, Value firstPatch,
                                        Value channel) {
  Value zero =
      e.constant(cast<TypedAttr>(e.builder().getZeroAttr(type)), {Row, Output});
  DimRange matrix{product, -1, 1, 1}, row{firstPatch, Row, 1, 1};
  auto sum =
      e.loop(depth, blockK, zero,
             [&](Value k, ValueRange acc) -> FailureOr<KernelEmitter::Carried> {
               DimRange inner{k, Depth, 1, 1};
               auto left = e.load(patches, {matrix, row, inner});
               auto right = e.emitOn(op.getFilter(),
                                     {matrix, inner, {channel, Output, 1, 1}},
                                     {Depth, Output});
               if (failed(left) || failed(right))
                 return failure();
               Emitted wide = e.convert({*right, {Depth, Output}}, patchType);
               return KernelEmitter::Carried{
                   createDot(e, left->value, wide.value, acc[0])};
             });
  if (failed(sum))
    return failure();
  return e.store({(*sum)[0], {Row, Output}}, products,
                 {matrix, row, {e.index(0), Output, 1, 1}});
}

/// Multiplies all elements of all patches of the program.
LogicalResult WinogradEmitter::multiplyAll(Value channel) {
  using Carried = KernelEmitter::Carried;
  auto done = e.loop(
      e.index(winograd.size * winograd.size), e.index(1), {},
      [&](Value product, ValueRange) -> FailureOr<Carried> {
        if (!patchesAreRows) {
          if (failed(e.phase(
                  [&] { return multiply(product, e.index(0), channel); })))
            return failure();
          return Carried{};
        }
        Value count = e.min(rows, e.sub(allRows, firstRow));
        return e.loop(count, together, {},
                      [&](Value patch, ValueRange) -> FailureOr<Carried> {
                        if (failed(e.phase([&] {
                              return multiply(product, patch, channel);
                            })))
                          return failure();
                        return Carried{};
                      });
      });
  return success(succeeded(done));
}

LogicalResult WinogradEmitter::transformOutput(Value row, Value channel) {
  Axes axes{Patch, Output};
  SmallVector<Value> x;
  int64_t size = winograd.size, tile = winograd.tile;
  for (int64_t i = 0; i < size * size; ++i) {
    auto product = e.load(products, {{e.index(i), -1, 1, 1},
                                     {e.mul(row, columns), Patch, 1, 1},
                                     {e.index(0), Output, 1, 1}});
    if (failed(product))
      return failure();
    x.push_back(product->value);
  }
  for (auto [i, value] :
       llvm::enumerate(multiplyBoth(e, type, axes, winograd.output, x))) {
    DimRanges ranges =
        getPixel(row, i / tile, i % tile, {0, 0}, {channel, Output, 1, 1});
    e.define(op.getResult(), ranges, e.convert({value, axes}, element));
    if (failed(e.storeOutputs(op.getResult(), ranges)))
      return failure();
  }
  return success();
}

LogicalResult WinogradEmitter::emitPatches() {
  if (failed(forEachRow([&](Value row) { return transformInput(row); })))
    return failure();
  using Carried = KernelEmitter::Carried;
  Value end = e.min(e.mul(blockN, steps), e.sub(outputs, firstChannel));
  auto done =
      e.loop(end, blockN, {}, [&](Value at, ValueRange) -> FailureOr<Carried> {
        Value channel = e.add(firstChannel, at);
        if (failed(multiplyAll(channel)) || failed(forEachRow([&](Value row) {
              return transformOutput(row, channel);
            })))
          return failure();
        return Carried{};
      });
  return success(succeeded(done));
}

LogicalResult WinogradEmitter::run() {
  if (failed(setTiling()))
    return failure();
  makeScratch(depth);
  if (!few)
    return emitPatches();
  direct.memory = patches; // which are more than the taps
  auto choice = scf::IfOp::create(e.builder(), e.loc(), few, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(e.builder());
  e.builder().setInsertionPoint(choice.thenYield());
  if (failed(emitFewPixels(e, op, direct)))
    return failure();
  e.builder().setInsertionPoint(choice.elseYield());
  return emitPatches();
}

LogicalResult adze::emitWinogradConv(KernelEmitter &e, WinogradConvOp op,
                                     Tiling tiling) {
  // Few pixels are merged into one dim, which later ops may not allow.
  Winograd winograd(op.getTile());
  Dims filter = getDims(op.getFilter()), result = getDims(op.getResult());
  bool isKnown = getConstant(result[1]) && getConstant(result[2]);
  bool hasTaps = getConstant(filter[0]) != winograd.size * winograd.size;
  bool hasTwoForms =
      tiling == Tiling::Flat && !e.gpu && hasTaps && !isKnown && e.tilesEvenly;
  if (tiling != Tiling::Dims && !hasTwoForms)
    return e.fail("a Winograd convolution has a tiling by dims only");
  return WinogradEmitter(e, op, hasTwoForms).run();
}
