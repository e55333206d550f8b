// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matrix products: blocks of rows and columns, a loop over blocks of k.
#include "Convolution.h"
#include "Dialect/Graph/IR/Precision.h"
#include "FewRows.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Returns the ranges of the batch dims of an operand by those of the result.
static FailureOr<DimRanges> mapBatch(KernelEmitter &e, ArrayRef<Value> ids,
                                     Value result, Value operand) {
  Dims resultDims = getDims(result), dims = getDims(operand);
  DimRanges ranges;
  unsigned skipped = resultDims.size() - dims.size();
  for (unsigned dim = 0; dim + 2 < dims.size(); ++dim) {
    bool repeated = getKnown(dims[dim]) == 1;
    Value at = repeated ? e.index(0) : ids[dim + skipped];
    if (!repeated && !areEqual(dims[dim], resultDims[dim + skipped])) {
      Value extent = e.size(dims[dim]);
      if (!extent)
        return failure();
      at = e.min(at, e.sub(extent, e.index(1))); // 0 where it is broadcast
    }
    ranges.push_back({at, -1, 1, 1});
  }
  return ranges;
}

Value adze::chooseRowStep(KernelEmitter &e, Value rows, Value block) {
  if (!e.tilesEvenly || getConstantIntValue(rows))
    return block;
  Value whole = e.index(rowGranule);
  Value parts = e.max(e.ceilDiv(rows, block), e.index(1));
  Value each = e.ceilDiv(e.ceilDiv(rows, parts), whole);
  return e.max(e.mul(each, whole), whole);
}

Value adze::startRows(KernelEmitter &e, Value id, Value rows, Value block,
                      Value step) {
  Value row = e.mul(id, step);
  if (step != block)
    e.setEnd(M, row, e.min(e.add(row, step), rows));
  return row;
}

Value adze::createDot(KernelEmitter &e, Value lhs, Value rhs, Value acc,
                      tile::ProductAttr product) {
  OperationState state(e.loc(), tile::DotOp::getOperationName());
  state.addOperands({lhs, rhs, acc});
  state.addTypes(acc.getType());
  if (product)
    state.addAttribute("compute", product);
  return e.builder().create(state)->getResult(0);
}

tile::ProductAttr adze::getByteProduct(Builder &b) {
  return tile::ProductAttr::get(b.getContext(), b.getIntegerType(8, false),
                                b.getIntegerType(8, true),
                                b.getIntegerType(32, true));
}

tile::ProductAttr adze::getProduct(Value lhs, Value rhs, Type sum,
                                   std::optional<Type> precision) {
  MLIRContext *context = lhs.getContext();
  if (precision)
    return tile::ProductAttr::get(context, *precision, *precision, sum);
  auto typed = [&](Type type) -> Type {
    if (!type.isSignlessInteger())
      return type;
    return IntegerType::get(context, type.getIntOrFloatBitWidth(),
                            IntegerType::Signed);
  };
  return tile::ProductAttr::get(
      context, typed(getElementTypeOrSelf(lhs.getType())),
      typed(getElementTypeOrSelf(rhs.getType())), typed(sum));
}

tile::ProductAttr adze::getCompute(Value lhs, Value rhs, Type sum,
                                   std::optional<Type> precision) {
  // The product of equal unsigned integers is computed as signed.
  bool hasSigns = getElementTypeOrSelf(lhs.getType()).isUnsignedInteger(8) &&
                  sum.isInteger(32);
  return hasSigns || precision ? getProduct(lhs, rhs, sum, precision)
                               : tile::ProductAttr();
}

FailureOr<Value> adze::accumulate(KernelEmitter &e, Value depth, Value block,
                                  Value init, Value lhs, Value rhs,
                                  function_ref<DimRanges(Value)> lhsRanges,
                                  function_ref<DimRanges(Value)> rhsRanges,
                                  std::optional<Type> precision) {
  e.setSummed(K);
  tile::ProductAttr product =
      getCompute(lhs, rhs, getElementTypeOrSelf(init.getType()), precision);
  auto carried = e.loop(
      depth, block, init,
      [&](Value k, ValueRange acc) -> FailureOr<KernelEmitter::Carried> {
        auto a = e.emitOn(lhs, lhsRanges(k), {M, K});
        if (failed(a))
          return failure();
        auto b = e.emitOn(rhs, rhsRanges(k), {K, N});
        if (failed(b))
          return failure();
        return KernelEmitter::Carried{createDot(e, *a, *b, acc[0], product)};
      });
  if (failed(carried))
    return failure();
  return (*carried)[0];
}

PackedGroup adze::getPackedGroup(KernelEmitter &e, Value rhs, int64_t depth) {
  constexpr int64_t byteBits = 8, byteGroup = 4;
  Builder b(rhs.getContext());
  Type type = getElementTypeOrSelf(rhs.getType());
  bool isByte = type.getIntOrFloatBitWidth() == byteBits;
  int64_t least = isByte ? byteGroup : 1;
  PackedGroup group{least, least};
  if (e.gpu || (!isByte && !isa<FloatType>(type)))
    return group;
  tile::ProductAttr product =
      isByte
          ? getByteProduct(b)
          : tile::ProductAttr::get(b.getContext(), type, type, b.getF32Type());
  if (auto unit = e.target.findUnit(product.getLhs(), product.getRhs(),
                                    product.getAcc()))
    group.size = group.depth = unit.getGroup();
  if (auto unit = e.target.findMatrixUnit(product.getLhs(), product.getRhs(),
                                          product.getAcc()))
    if (depth < 0 || 2 * depth >= unit.getShape()[2])
      group.depth = unit.getShape()[2];
  return group;
}

/// Appends the results of a packing map along the contracted dim.
static void appendDepth(SmallVectorImpl<AffineExpr> &exprs, AffineExpr k,
                        PackedGroup group) {
  if (group.depth > group.size) {
    exprs.push_back(k.floorDiv(group.depth));
    k = k % group.depth;
  }
  exprs.push_back(k.floorDiv(group.size));
}

AffineMap adze::getPanelMap(MLIRContext *context, unsigned rank,
                            bool transposed, int64_t panel, PackedGroup group) {
  AffineExpr n = getAffineDimExpr(rank - (transposed ? 2 : 1), context);
  AffineExpr k = getAffineDimExpr(rank - (transposed ? 1 : 2), context);
  SmallVector<AffineExpr> exprs;
  for (unsigned dim = 0; dim + 2 < rank; ++dim)
    exprs.push_back(getAffineDimExpr(dim, context));
  exprs.push_back(n.floorDiv(panel));
  appendDepth(exprs, k, group);
  exprs.push_back(n % panel);
  if (group.size > 1)
    exprs.push_back(k % group.size);
  return AffineMap::get(rank, 0, exprs, context);
}

AffineMap adze::getFilterMap(MLIRContext *context, unsigned rank, int64_t panel,
                             bool inputsFirst, PackedGroup group) {
  AffineExpr o = getAffineDimExpr(inputsFirst ? 1 : 0, context);
  AffineExpr i = getAffineDimExpr(inputsFirst ? 0 : 1, context);
  if (panel == 0 && inputsFirst)
    std::swap(o, i);
  SmallVector<AffineExpr> exprs;
  if (panel > 0)
    exprs.push_back(o.floorDiv(panel));
  for (unsigned dim = 2; dim < rank; ++dim)
    exprs.push_back(getAffineDimExpr(dim, context));
  appendDepth(exprs, i, group);
  exprs.push_back(panel > 0 ? o % panel : o);
  if (group.size > 1)
    exprs.push_back(i % group.size);
  return AffineMap::get(rank, 0, exprs, context);
}

LogicalResult adze::emitMatmul(KernelEmitter &e, MatmulOp op, Tiling tiling) {
  if (e.version.isFew())
    return emitFewRows(e, op);
  Dims result = getDims(op.getResult()), lhs = getDims(op.getLhs());
  unsigned rank = result.size(), batch = rank - 2;
  MLIRContext *context = op.getContext();
  AffineExpr flatRows = tiling == Tiling::Flat ? getFlatRows(op) : AffineExpr();
  bool flat = bool(flatRows);
  if (tiling == Tiling::Flat && !flat)
    return e.fail("batch dims cannot be merged into rows");
  AffineExpr m = flat ? flatRows : result[rank - 2];
  AffineExpr n = result[rank - 1];
  AffineExpr k = lhs[lhs.size() - (op.getTransposeA() ? 2 : 1)];
  Value rows = e.size(m), columns = e.size(n), depth = e.size(k);
  if (!rows || !columns || !depth)
    return failure();
  RightOperand right = e.isPackable(op.getRhs()) ? RightOperand::Panels
                       : op.getTransposeB()      ? RightOperand::Columns
                                                 : RightOperand::Rows;
  AffineExpr matrices =
      product(context, ArrayRef<AffineExpr>(result).drop_back(2));
  PackedGroup group = getPackedGroup(e, op.getRhs(), getKnown(k));
  ContractionBlocks blocks = chooseContractionBlocks(
      e.target, e.getKnownRows(m), getKnown(n), getKnown(k), e.tilesEvenly,
      right, flat ? 1 : e.getKnownRows(matrices), group.hasMatrixUnit());
  Value blockM = e.param("BLOCK_M", blocks.m);
  Value blockN = e.param("BLOCK_N", blocks.n);
  Value blockK = e.param("BLOCK_K", llvm::alignTo(blocks.k, group.depth));
  e.setAxis(M, blockM);
  e.setAxis(K, blockK);
  e.setAxis(N, blockN);
  e.pack(op.getRhs(), e.version.isAll() ? packMatrix(op, blocks.panel, group)
                                        : packAlongDepth(op));
  Value rowStep = chooseRowStep(e, rows, blockM);
  SmallVector<Value> counts{countForVersion(e, e.ceilDiv(rows, rowStep)),
                            e.ceilDiv(columns, blockN)};
  for (unsigned dim = flat ? 0 : batch; dim-- > 0;)
    counts.push_back(e.size(result[dim]));
  if (llvm::is_contained(counts, Value()))
    return failure();
  SmallVector<Value> ids = e.programIds(
      counts, /*swapped=*/right == RightOperand::Panels &&
                  keepsRowsTogether(e, getKnown(m), getKnown(n), getKnown(k)));
  Value row = startRows(e, ids[0], rows, blockM, rowStep),
        column = e.mul(ids[1], blockN);
  SmallVector<Value> batchIds(
      llvm::reverse(ArrayRef<Value>(ids).drop_front(2)));
  if (flat)
    batchIds.assign(batch, e.index(0));
  auto lhsBatch = flat ? FailureOr<DimRanges>(DimRanges())
                       : mapBatch(e, batchIds, op.getResult(), op.getLhs());
  auto rhsBatch = mapBatch(e, batchIds, op.getResult(), op.getRhs());
  if (failed(lhsBatch) || failed(rhsBatch))
    return failure();
  unsigned rowSpan = flat ? rank - 1 : 1;

  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  Type accType = getAccumulatorType(element);
  Value zero =
      e.constant(cast<TypedAttr>(e.builder().getZeroAttr(accType)), {M, N});
  auto acc = accumulate(
      e, depth, blockK, zero, op.getLhs(), op.getRhs(),
      [&](Value k) {
        DimRanges ranges = *lhsBatch;
        DimRange rowRange{row, M, 1, rowSpan}, depthRange{k, K, 1, 1};
        if (op.getTransposeA())
          std::swap(rowRange, depthRange);
        ranges.append({rowRange, depthRange});
        return ranges;
      },
      [&](Value k) {
        DimRanges ranges = *rhsBatch;
        DimRange depthRange{k, K, 1, 1}, columnRange{column, N, 1, 1};
        if (op.getTransposeB())
          std::swap(depthRange, columnRange);
        ranges.append({depthRange, columnRange});
        return ranges;
      },
      getPrecision(op));
  if (failed(acc))
    return failure();
  DimRanges ranges;
  if (!flat)
    for (Value id : batchIds)
      ranges.push_back({id, -1, 1, 1});
  ranges.push_back({row, M, 1, rowSpan});
  ranges.push_back({column, N, 1, 1});
  e.define(op.getResult(), ranges, e.convert({*acc, {M, N}}, element));
  return e.storeOutputs(op.getResult(), ranges);
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

ConvShape::ConvShape(ConvOp op)
    : op(op), input(getDims(op.getInput())), filter(getDims(op.getFilter())),
      result(getDims(op.getResult())), spatial(input.size() - 2),
      groups(op.getGroup()), groupInputs(getKnown(filter[1])),
      groupOutputs(getKnown(filter[0]) / std::max<int64_t>(groups, 1)) {
  if (op.getLayout() == Layout::NCHW)
    for (Dims *dims : {&input, &result})
      std::rotate(dims->begin() + 1, dims->begin() + 2, dims->end());
}

bool ConvShape::hasPlanes() const {
  return op.getLayout() == Layout::NCHW ||
         op.getInput().getDefiningOp<TransposeOp>() ||
         getKnown(input.back()) == 1;
}

bool ConvShape::isStatic() const {
  return llvm::all_of(filter, [](AffineExpr s) { return getKnown(s) > 0; });
}

bool ConvShape::isPointwise() const {
  for (unsigned d = 0; d < spatial; ++d)
    if (getKnown(kernel(d)) != 1 || op.getStrides()[d] != 1 ||
        op.getPads()[d] != 0 || op.getPads()[d + spatial] != 0)
      return false;
  return groups == 1;
}

LogicalResult adze::defineConv(KernelEmitter &e, Value result, Value bias,
                               Value acc, ArrayRef<int> axes,
                               ArrayRef<DimRange> ranges) {
  Type element = getSignlessType(getElementTypeOrSelf(result));
  Emitted sum{acc, Axes(axes)};
  if (bias) {
    auto conv = result.getDefiningOp<ConvOp>();
    bool planes = conv && conv.getLayout() == Layout::NCHW;
    auto tile = e.emit(bias, {planes ? ranges[1] : ranges.back()});
    if (failed(tile))
      return failure();
    Emitted wide = e.convert(*tile, getElementTypeOrSelf(acc.getType()));
    TileElementBuilder builder(e, axes);
    sum.value = buildCombine(builder, Combiner::Add,
                             getElementTypeOrSelf(acc.getType()), sum.value,
                             e.broadcast(wide, axes));
  }
  e.define(result, ranges, e.convert(sum, element));
  return success();
}

LogicalResult adze::finishConv(KernelEmitter &e, Value result, Value bias,
                               Value acc, ArrayRef<int> axes,
                               ArrayRef<DimRange> ranges) {
  return success(succeeded(defineConv(e, result, bias, acc, axes, ranges)) &&
                 succeeded(e.storeOutputs(result, ranges)));
}

/// Emits a 1x1 convolution of stride 1 as a matrix product over all pixels.
static LogicalResult emitPointwiseConv(KernelEmitter &e,
                                       const ConvShape &conv) {
  ConvOp op = conv.op;
  MLIRContext *context = op.getContext();
  AffineExpr m =
      product(context, ArrayRef<AffineExpr>(conv.result).drop_back());
  AffineExpr n = conv.result.back(), k = conv.input.back();
  Value rows = e.size(m), columns = e.size(n), depth = e.size(k);
  if (!rows || !columns || !depth)
    return failure();
  PackedGroup group = getPackedGroup(e, op.getFilter(), getKnown(k));
  ContractionBlocks blocks = chooseContractionBlocks(
      e.target, e.getKnownRows(m), getKnown(n), getKnown(k), e.tilesEvenly,
      RightOperand::Panels, /*batch=*/1, group.hasMatrixUnit());
  Value blockM = e.param("BLOCK_M", blocks.m);
  Value blockN = e.param("BLOCK_N", blocks.n);
  Value blockK = e.param("BLOCK_K", llvm::alignTo(blocks.k, group.depth));
  e.setAxis(M, blockM);
  e.setAxis(K, blockK);
  e.setAxis(N, blockN);
  e.pack(op.getFilter(), packFilter(op, blocks.panel, group));
  Value rowStep = chooseRowStep(e, rows, blockM);
  SmallVector<Value> ids =
      e.programIds({e.ceilDiv(rows, rowStep), e.ceilDiv(columns, blockN)},
                   keepsRowsTogether(e, getKnown(m), getKnown(n), getKnown(k)));
  Value row = startRows(e, ids[0], rows, blockM, rowStep),
        column = e.mul(ids[1], blockN);
  unsigned span = conv.result.size() - 1;
  Type accType =
      getAccumulatorType(getSignlessType(getElementTypeOrSelf(op.getResult())));
  Value zero =
      e.constant(cast<TypedAttr>(e.builder().getZeroAttr(accType)), {M, N});
  auto acc = accumulate(
      e, depth, blockK, zero, op.getInput(), op.getFilter(),
      [&](Value k) { return DimRanges{{row, M, 1, span}, {k, K, 1, 1}}; },
      [&](Value k) {
        DimRanges ranges{{column, N, 1, 1}, {k, K, 1, 1}};
        ranges.append(conv.spatial, DimRange{e.index(0), -1, 1, 1});
        return ranges;
      },
      getPrecision(op));
  if (failed(acc))
    return failure();
  DimRanges ranges{{row, M, 1, span}, {column, N, 1, 1}};
  return finishConv(e, op.getResult(), op.getBias(), *acc, {M, N}, ranges);
}

FailureOr<KernelEmitter::Carried> adze::loopWindow(
    KernelEmitter &e, const ConvShape &conv, const ConvProgram &program,
    Taps &taps, ValueRange carried,
    function_ref<FailureOr<KernelEmitter::Carried>(ValueRange)> body) {
  unsigned d = taps.filter.size();
  if (d == conv.spatial)
    return body(carried);
  ConvOp op = conv.op;
  if (d == 0)
    taps.input.assign(1, {program.point[0], -1, 1, 1});
  bool last = d + 1 == conv.spatial;
  // Returns the axis of the tile that runs along this dim.
  int axis = last ? M : program.ranges[d + 1].axis;
  int64_t stride = op.getStrides()[d];
  Value at = last ? program.pixel : program.point[d + 1];
  WindowDim dim;
  dim.start = e.sub(e.mul(at, e.index(stride)), e.index(op.getPads()[d]));
  dim.extent = e.size(conv.input[d + 1]);
  if (!dim.extent)
    return failure();
  dim.taps = getKnown(conv.kernel(d));
  dim.dilation = op.getDilations()[d];
  dim.inside = areWindowsInside(conv.input[d + 1], conv.result[d + 1], dim.taps,
                                stride, op.getPads()[d], dim.dilation);
  if (axis >= 0 && !dim.inside && getKnown(conv.input[d + 1]) == 1)
    return e.fail("a window exceeds rows of one pixel");
  auto inner = [&](Value tap, Value position, ValueRange carried) {
    taps.filter.push_back(tap);
    taps.input.push_back({position, axis, axis >= 0 ? stride : 1, 1});
    auto result = loopWindow(e, conv, program, taps, carried, body);
    taps.filter.pop_back();
    taps.input.pop_back();
    return result;
  };
  if (axis < 0)
    return loopTaps(e, dim, carried, inner);
  // With unrolled taps, elements that several taps read are loaded once.
  bool unrolled =
      program.hasLines || (!dim.inside && unrollsTaps(program.row, dim.taps));
  // Many taps of a long window are out of bounds for all pixels of a block.
  constexpr int64_t longWindow = 16;
  if (unrolled || dim.taps < longWindow)
    return loopAllTaps(e, dim, unrolled, carried, inner);
  dim.reach = e.mul(e.sub(e.getAxisSize(axis), e.index(1)), e.index(stride));
  return loopTaps(e, dim, carried, inner);
}

FailureOr<ConvProgram> adze::makeProgram(KernelEmitter &e,
                                         ArrayRef<AffineExpr> result,
                                         AffineExpr width, RowBlock row,
                                         Value blockC, Value channelBlocks,
                                         Value lines, bool channelsInside) {
  Value blockP = getSize(e, row);
  Value pixels = e.size(width);
  if (!pixels)
    return failure();
  SmallVector<Value> counts{e.ceilDiv(pixels, blockP)};
  for (unsigned dim = result.size() - 2; dim-- > 0;) {
    Value count = e.size(result[dim]);
    if (!count)
      return failure();
    if (lines && counts.size() == 1)
      count = e.ceilDiv(count, lines);
    counts.push_back(count);
  }
  // The grid has three dims, so rows of all images are one dim.
  Value rows = e.index(1);
  SmallVector<Value> rowCounts(ArrayRef<Value>(counts).drop_front());
  for (Value count : rowCounts)
    rows = e.mul(rows, count);
  SmallVector<Value> order{counts[0], rows, channelBlocks};
  if (channelsInside)
    std::swap(order[1], order[2]);
  SmallVector<Value> ids = e.programIds(order);
  if (channelsInside)
    std::swap(ids[1], ids[2]);
  ConvProgram program;
  program.row = row;
  program.hasLines = lines != nullptr;
  program.pixel = e.mul(ids[0], blockP);
  // The outermost dim with several positions takes the rest of the id.
  unsigned outermost = 0;
  for (auto [i, count] : llvm::enumerate(rowCounts))
    if (getConstantIntValue(count) != 1)
      outermost = i;
  Value rest = ids[1];
  for (auto [i, count] : llvm::enumerate(rowCounts)) {
    program.point.push_back(i < outermost    ? e.rem(rest, count)
                            : i == outermost ? rest
                                             : e.index(0));
    if (i < outermost)
      rest = e.div(rest, count);
  }
  if (lines)
    program.point.front() = e.mul(program.point.front(), lines);
  std::reverse(program.point.begin(), program.point.end());
  program.group = ids[2];
  program.channel = e.mul(ids[2], blockC);
  for (Value point : program.point)
    program.ranges.push_back({point, -1, 1, 1});
  if (lines)
    program.ranges.back().axis = Line;
  program.ranges.push_back({program.pixel, M, 1, 1});
  program.ranges.push_back({program.channel, N, 1, 1});
  return program;
}

Value adze::multiplyAdd(KernelEmitter &e, const Emitted &lhs,
                        const Emitted &rhs, Value acc, ArrayRef<int> axes) {
  OpBuilder &builder = e.builder();
  Type type = getElementTypeOrSelf(acc.getType());
  Value a = e.broadcast(e.convert(lhs, type), axes);
  Value b = e.broadcast(e.convert(rhs, type), axes);
  if (isa<FloatType>(type))
    return math::FmaOp::create(builder, e.loc(), a, b, acc);
  Value product = arith::MulIOp::create(builder, e.loc(), a, b);
  return arith::AddIOp::create(builder, e.loc(), acc, product);
}

/// Emits blocks of pixels of a row by panels of channels, with loops over the
/// window and the input channels.
static LogicalResult emitDirectConv(KernelEmitter &e, const ConvShape &conv) {
  ConvOp op = conv.op;
  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  Type accType = getAccumulatorType(element);
  int64_t outputs = conv.groupOutputs, inputs = conv.groupInputs;
  int64_t panel = outputs <= 16 ? 16 : 32;
  int64_t blockChannels = panel;
  if (conv.groups > 1) // blocks must not cross groups
    blockChannels = panel =
        !e.gpu ? chooseGroupPanel(outputs) : largestDivisor(outputs, 32);
  RowBlock row = chooseRowBlock(conv.result[conv.spatial], 56);
  // With few channels the loop is not unrolled: LLVM would keep elements that
  // taps share in more registers than there are.
  row.unrolls = inputs > 8;
  // Groups divide the channels, so their blocks are constants, not parameters.
  Value blockN = conv.groups > 1 ? e.index(blockChannels)
                                 : e.param("BLOCK_N", blockChannels);
  // A single channel is broadcast to all lanes, so it is not padded with zeros.
  PackedGroup group = conv.groups > 1 || inputs == 1
                          ? PackedGroup()
                          : getPackedGroup(e, op.getFilter(), inputs);
  int64_t depthBlock = llvm::alignTo(chooseBlock(inputs, 512), group.depth);
  if (conv.groups > 1)
    depthBlock = largestDivisor(inputs, 512);
  Value blockK =
      conv.groups > 1 ? e.index(depthBlock) : e.param("BLOCK_C", depthBlock);
  e.setAxis(M, getSize(e, row));
  e.setAxis(K, blockK);
  e.setAxis(N, blockN);
  e.pack(op.getFilter(), getFilterMap(op.getContext(), conv.filter.size(),
                                      panel, /*inputsFirst=*/false, group));
  MLIRContext *context = op.getContext();
  AffineExpr pixels = product(context, ArrayRef(conv.result).drop_back()),
             window = product(context, ArrayRef(conv.filter).drop_front(2));
  auto program =
      makeProgram(e, conv.result, conv.result[conv.spatial], row, blockN,
                  e.ceilDiv(e.size(conv.result.back()), blockN), {},
                  keepsRowsTogether(e, getKnown(pixels), conv.groups * outputs,
                                    inputs, getKnown(window)));
  if (failed(program))
    return failure();
  Value firstInput = e.index(0);
  if (conv.groups > 1)
    firstInput = e.mul(e.div(program->group, e.index(outputs / blockChannels)),
                       e.index(inputs));
  Value zero =
      e.constant(cast<TypedAttr>(e.builder().getZeroAttr(accType)), {M, N});
  Taps taps;
  auto acc = loopWindow(
      e, conv, *program, taps, zero,
      [&](ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
        auto sum = accumulate(
            e, e.index(inputs), blockK, carried[0], op.getInput(),
            op.getFilter(),
            [&](Value c) {
              DimRanges ranges = taps.input;
              ranges.push_back({e.add(firstInput, c), K, 1, 1});
              return ranges;
            },
            [&](Value c) {
              DimRanges ranges{{program->channel, N, 1, 1}, {c, K, 1, 1}};
              for (Value tap : taps.filter)
                ranges.push_back({tap, -1, 1, 1});
              return ranges;
            },
            getPrecision(op));
        if (failed(sum))
          return failure();
        return KernelEmitter::Carried{*sum};
      });
  if (failed(acc))
    return failure();
  return finishConv(e, op.getResult(), op.getBias(), (*acc)[0], {M, N},
                    program->ranges);
}

LogicalResult adze::emitConv(KernelEmitter &e, ConvOp op, Tiling tiling) {
  ConvShape conv(op);
  if (!conv.isStatic())
    return e.fail("the filter has a dynamic size");
  bool planes = op.getLayout() == Layout::NCHW;
  if (planes && (e.gpu || conv.groups > 1))
    return e.fail("only channels-last convolutions have a tile form");
  if (planes)
    return tiling == Tiling::Dims ? emitDepthwise(e, conv)
                                  : e.fail("planes are tiled by dims only");
  if (tiling == Tiling::Flat)
    return conv.isPointwise() ? emitPointwiseConv(e, conv) : e.fail("windowed");
  if (op.getBand() && !takesImageBlocks(conv))
    return e.fail("only matrix units multiply bands of groups");
  if (tiling == Tiling::Dims)
    return takesImageBlocks(conv)  ? emitImageBlocks(e, conv)
           : takesPatches(e, conv) ? emitPatchConv(e, conv)
           : conv.isDepthwise() || runsInLanes(e, conv) ||
                   (!e.gpu && conv.isPlane())
               ? emitDepthwise(e, conv)
               : emitDirectConv(e, conv);
  return e.fail("a convolution has no elementwise tiling");
}
