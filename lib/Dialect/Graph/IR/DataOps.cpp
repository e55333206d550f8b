// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Inference and verification of constants and of ops that rearrange elements.
#include "Dialect/Graph/IR/Insertions.h"
#include "Infer.h"

using namespace mlir;
using namespace adze::graph;
using namespace adze::graph::op_detail;

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  if (auto blob = dyn_cast<BlobElementsAttr>(getValue()))
    return blob.getBytes([&] { return emitOpError(); });
  return success();
}

//===----------------------------------------------------------------------===//
// Same elements
//===----------------------------------------------------------------------===//

/// Verifies that the shape operand of an op has one i64 for each dim of the
/// result.
static LogicalResult verifyShapeOperand(Operation *op, Value shape,
                                        int64_t rank) {
  if (!shape)
    return success();
  Dims dims = getDims(shape);
  AffineExpr expected = getAffineConstantExpr(rank, op->getContext());
  if (dims.size() != 1 || areDifferent(dims[0], expected))
    return op->emitOpError("expected a shape operand of ")
           << rank << " elements, but got " << toString(dims);
  return success();
}

static LogicalResult verifySameElement(Operation *op, Value lhs, Value rhs) {
  if (getElement(lhs) == getElement(rhs))
    return success();
  return op->emitOpError("expected equal element types, but got ")
         << getElement(lhs) << " and " << getElement(rhs);
}

LogicalResult ReshapeOp::verify() {
  if (failed(verifySameElement(*this, getInput(), getResult())) ||
      failed(verifyShapeOperand(*this, getShape(),
                                op_detail::getRank(getResult()))))
    return failure();
  Dims from = getDims(getInput()), to = getDims(getResult());
  if (areDifferent(product(getContext(), from), product(getContext(), to)))
    return emitOpError("expected equal numbers of elements, but got ")
           << toString(from) << " and " << toString(to);
  return success();
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context, Where where,
                                            Adaptor adaptor, Types &types) {
  Dims dims = getDims(adaptor.getInput()), result;
  SmallVector<bool> seen(dims.size(), false);
  for (int64_t i : adaptor.getPerm()) {
    if (i < 0 || i >= int64_t(dims.size()) || seen[i])
      break;
    seen[i] = true;
    result.push_back(dims[i]);
  }
  if (result.size() != dims.size() || adaptor.getPerm().size() != dims.size())
    return inferError<TransposeOp>(where, "expected a permutation of ",
                                   dims.size(), " dims, but got [",
                                   adaptor.getPerm(), "]");
  types.push_back(makeType(getElement(adaptor.getInput()), result));
  return success();
}

LogicalResult BroadcastToOp::verify() {
  if (failed(verifySameElement(*this, getInput(), getResult())) ||
      failed(verifyShapeOperand(*this, getShape(),
                                op_detail::getRank(getResult()))))
    return failure();
  Dims from = getDims(getInput()), to = getDims(getResult());
  std::string error;
  auto dims = broadcastDims({from, to}, error);
  bool same = succeeded(dims) && dims->size() == to.size();
  for (size_t i = 0; same && i < to.size(); ++i)
    same = !areDifferent((*dims)[i], to[i]);
  if (!same)
    return emitOpError("expected a shape that broadcasts to ")
           << toString(to) << ", but got " << toString(from);
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *context, Where where,
                                         Adaptor adaptor, Types &types) {
  if (adaptor.getInputs().empty())
    return inferError<ConcatOp>(where, "expected at least one operand");
  Value first = adaptor.getInputs().front();
  Dims dims = getDims(first);
  size_t axis = adaptor.getAxis();
  if (failed(checkAxis<ConcatOp>(where, axis, dims.size())))
    return failure();
  for (Value input : adaptor.getInputs().drop_front()) {
    Dims other = getDims(input);
    bool same =
        other.size() == dims.size() && getElement(input) == getElement(first);
    for (size_t i = 0; same && i < dims.size(); ++i) {
      if (i == axis)
        dims[i] = addExprs(dims[i], other[i]);
      else if (areDifferent(dims[i], other[i]))
        same = false;
      else if (!dims[i] || (other[i] && getConstant(other[i])))
        dims[i] = other[i];
    }
    if (!same)
      return inferError<ConcatOp>(
          where, "expected equal element types and dims but for axis ", axis,
          ", but got ", first.getType(), " and ", input.getType());
  }
  types.push_back(makeType(getElement(first), dims));
  return success();
}

/// Checks that the sources are inside of the result and do not overlap, as far
/// as their sizes are known.
static LogicalResult checkOffsets(Where where, size_t axis, AffineMap offsets,
                                  ValueRange sources, Value dest) {
  std::optional<int64_t> whole = getConstant(getDims(dest)[axis]);
  SmallVector<std::pair<int64_t, int64_t>> parts;
  for (auto [source, expr] : llvm::zip_equal(sources, offsets.getResults())) {
    std::optional<int64_t> offset = getConstant(expr);
    if (!offset)
      continue;
    int64_t size = getConstant(getDims(source)[axis]).value_or(0);
    if (*offset < 0 || (whole && *offset + size > *whole))
      return inferError<InsertSliceOp>(where, "expected sources inside of dim ",
                                       axis, " of ", toString(getDims(dest)),
                                       ", but got ", size,
                                       " elements at offset ", *offset);
    parts.push_back({*offset, *offset + size});
  }
  llvm::sort(parts);
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i].first < parts[i - 1].second)
      return inferError<InsertSliceOp>(
          where, "expected sources that do not overlap, but got offset ",
          parts[i].first, " before the end at ", parts[i - 1].second);
  return success();
}

SmallVector<InsertSliceOp> adze::graph::getInsertions(Value result) {
  SmallVector<InsertSliceOp> insertions;
  auto op = result.getDefiningOp<InsertSliceOp>();
  while (op) {
    insertions.push_back(op);
    Value dest = op.getDest();
    op = dest.hasOneUse() ? dest.getDefiningOp<InsertSliceOp>()
                          : InsertSliceOp();
  }
  return insertions;
}

Value adze::graph::getUpdated(Value result) {
  if (Operation *op = result.getDefiningOp();
      isa_and_nonnull<ScatterElementsOp, ScatterNDOp>(op))
    return op->getOperand(0);
  SmallVector<InsertSliceOp> insertions = getInsertions(result);
  return insertions.empty() ? Value() : insertions.back().getDest();
}

std::optional<Combiner> adze::graph::getCombiner(Operation *scatter) {
  auto elements = dyn_cast<ScatterElementsOp>(scatter);
  switch (elements ? elements.getReduction()
                   : cast<ScatterNDOp>(scatter).getReduction()) {
  case ScatterReduction::None:
    return std::nullopt;
  case ScatterReduction::Add:
    return Combiner::Add;
  case ScatterReduction::Mul:
    return Combiner::Mul;
  case ScatterReduction::Max:
    return Combiner::Max;
  case ScatterReduction::Min:
    return Combiner::Min;
  }
  llvm_unreachable("all reductions are handled");
}

bool adze::graph::mayReorderUpdates(Operation *scatter) {
  std::optional<Combiner> combiner = getCombiner(scatter);
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(scatter->getResult(0)));
  return combiner != Combiner::Mul && !(combiner == Combiner::Add && isFloat);
}

LogicalResult InsertSliceOp::inferReturnTypes(MLIRContext *context, Where where,
                                              Adaptor adaptor, Types &types) {
  Value dest = adaptor.getDest();
  Dims dims = getDims(dest);
  size_t axis = adaptor.getAxis();
  if (failed(checkAxis<InsertSliceOp>(where, axis, dims.size())))
    return failure();
  ValueRange sources = adaptor.getSources();
  AffineMap offsets = adaptor.getOffsets();
  if (sources.empty() || sources.size() != offsets.getNumResults() ||
      offsets.getNumDims() != 0)
    return inferError<InsertSliceOp>(
        where, "expected sources and an offset of symbols for each, but got ",
        sources.size(), " sources and ", adaptor.getOffsetsAttr());
  for (Value source : sources) {
    Dims other = getDims(source);
    bool same =
        other.size() == dims.size() && getElement(source) == getElement(dest);
    for (size_t i = 0; same && i < dims.size(); ++i)
      same = i == axis || !areDifferent(dims[i], other[i]);
    if (!same)
      return inferError<InsertSliceOp>(
          where, "expected equal element types and dims but for axis ", axis,
          ", but got ", source.getType(), " and ", dest.getType());
  }
  types.push_back(dest.getType());
  return checkOffsets(where, axis, offsets, sources, dest);
}

void InsertSliceOp::build(OpBuilder &builder, OperationState &state,
                          ValueRange sources, Value dest, int64_t axis,
                          ArrayRef<AffineExpr> offsets) {
  auto map =
      AffineMap::get(0, countSymbols(offsets), offsets, builder.getContext());
  build(builder, state, dest.getType(), sources, dest,
        builder.getI64IntegerAttr(axis), AffineMapAttr::get(map));
}

Attribute SliceOp::makeStarts(MLIRContext *context,
                              ArrayRef<AffineExpr> starts) {
  SmallVector<int64_t> numbers;
  for (AffineExpr start : starts)
    if (auto number = getConstant(start))
      numbers.push_back(*number);
  if (numbers.size() == starts.size())
    return DenseI64ArrayAttr::get(context, numbers);
  return AffineMapAttr::get(
      AffineMap::get(0, countSymbols(starts), starts, context));
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Type result,
                    Value input, ArrayRef<int64_t> starts,
                    ArrayRef<int64_t> steps) {
  build(builder, state, result, input, Value(),
        builder.getDenseI64ArrayAttr(starts),
        builder.getDenseI64ArrayAttr(steps));
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Type result,
                    Value input, ArrayRef<AffineExpr> starts,
                    ArrayRef<int64_t> steps) {
  build(builder, state, result, input, Value(),
        makeStarts(builder.getContext(), starts),
        builder.getDenseI64ArrayAttr(steps));
}

SmallVector<AffineExpr, 4> SliceOp::getStartExprs() {
  if (getBegin())
    return SmallVector<AffineExpr, 4>(getSteps().size());
  if (auto map = dyn_cast<AffineMapAttr>(getStarts()))
    return llvm::map_to_vector<4>(map.getValue().getResults(), normalize);
  return makeDims(getContext(),
                  cast<DenseI64ArrayAttr>(getStarts()).asArrayRef());
}

std::optional<ArrayRef<int64_t>> SliceOp::getConstantStarts() {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(getStarts());
  if (getBegin() || !numbers)
    return std::nullopt;
  return numbers.asArrayRef();
}

LogicalResult SliceOp::verify() {
  int64_t rank = op_detail::getRank(getInput());
  if (failed(verifySameElement(*this, getInput(), getResult())) ||
      failed(verifyShapeOperand(*this, getBegin(), rank)))
    return failure();
  auto map = dyn_cast<AffineMapAttr>(getStarts());
  if (map && (getBegin() || map.getValue().getNumDims() != 0))
    return emitOpError("expected starts of symbols alone, but got ")
           << (getBegin() ? "an operand 'begin' as well" : "dims");
  int64_t numStarts = map ? map.getValue().getNumResults()
                          : cast<DenseI64ArrayAttr>(getStarts()).size();
  if (op_detail::getRank(getResult()) != rank || numStarts != rank ||
      int64_t(getSteps().size()) != rank)
    return emitOpError("expected a result of rank ")
           << rank << " and as many starts and steps, but got rank "
           << op_detail::getRank(getResult()) << ", " << numStarts
           << " starts and " << getSteps().size() << " steps";
  Dims from = getDims(getInput()), to = getDims(getResult());
  SmallVector<AffineExpr, 4> starts = getStartExprs();
  for (int64_t i = 0; i < rank; ++i) {
    std::optional<int64_t> start = getConstant(starts[i]);
    int64_t step = getSteps()[i];
    if (start.value_or(0) < 0 || step == 0)
      return emitOpError("expected starts >= 0 and steps other than 0, but got "
                         "start ")
             << start.value_or(0) << " and step " << step;
    std::optional<int64_t> in = getConstant(from[i]), out = getConstant(to[i]);
    if (!start || !out || *out == 0)
      continue;
    int64_t last = *start + (*out - 1) * step;
    if (last < 0 || (in && (*start >= *in || last >= *in)))
      return emitOpError("expected a slice within dim ")
             << i << ", but got elements " << *start << " to " << last << " of "
             << toString({from[i]});
  }
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *context, Where where,
                                      Adaptor adaptor, Types &types) {
  Dims dims = getDims(adaptor.getInput());
  if (adaptor.getLow().size() != dims.size() ||
      adaptor.getHigh().size() != dims.size())
    return inferError<PadOp>(
        where, "expected ", dims.size(), " pads on each side, but got ",
        adaptor.getLow().size(), " and ", adaptor.getHigh().size());
  if (Value value = adaptor.getValue())
    if (getElement(value) != getElement(adaptor.getInput()) ||
        getConstant(product(context, getDims(value))).value_or(1) != 1)
      return inferError<PadOp>(where, "expected one ",
                               getElement(adaptor.getInput()),
                               " to pad with, but got ", value.getType());
  Dims result;
  for (auto [dim, low, high] :
       llvm::zip_equal(dims, adaptor.getLow(), adaptor.getHigh())) {
    result.push_back(dim ? normalize(dim + low + high) : AffineExpr());
    if (getConstant(result.back()).value_or(0) < 0)
      return inferError<PadOp>(where,
                               "expected sizes >= 0 after padding, but "
                               "got ",
                               *getConstant(result.back()));
  }
  types.push_back(makeType(getElement(adaptor.getInput()), result));
  return success();
}

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *context, Where where,
                                          Adaptor adaptor, Types &types) {
  for (int64_t axis : adaptor.getAxes())
    if (failed(checkAxis<ReverseOp>(where, axis, getRank(adaptor.getInput()))))
      return failure();
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult TriluOp::inferReturnTypes(MLIRContext *context, Where where,
                                        Adaptor adaptor, Types &types) {
  if (getRank(adaptor.getInput()) < 2)
    return inferError<TriluOp>(where, "expected rank 2 or more, but got ",
                               getRank(adaptor.getInput()));
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult ShapeOp::inferReturnTypes(MLIRContext *context, Where where,
                                        Adaptor adaptor, Types &types) {
  types.push_back(RankedTensorType::get({getRank(adaptor.getInput())},
                                        IntegerType::get(context, 64)));
  return success();
}

template <typename OpT>
static LogicalResult inferScan(Where where, typename OpT::Adaptor adaptor,
                               Types &types) {
  if (failed(checkAxis<OpT>(where, adaptor.getAxis(),
                            getRank(adaptor.getInput()))))
    return failure();
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult CumsumOp::inferReturnTypes(MLIRContext *context, Where where,
                                         Adaptor adaptor, Types &types) {
  return inferScan<CumsumOp>(where, adaptor, types);
}

LogicalResult CumprodOp::inferReturnTypes(MLIRContext *context, Where where,
                                          Adaptor adaptor, Types &types) {
  return inferScan<CumprodOp>(where, adaptor, types);
}

LogicalResult RangeOp::verify() {
  for (Value operand : getOperands())
    if (op_detail::getRank(operand) != 0 ||
        getElement(operand) != getElement(getResult()))
      return emitOpError("expected scalars of the result's element type ")
             << getElement(getResult()) << ", but got " << operand.getType();
  if (op_detail::getRank(getResult()) != 1)
    return emitOpError("expected a result of rank 1, but got ")
           << op_detail::getRank(getResult());
  return success();
}

LogicalResult TopKOp::verify() {
  int64_t rank = op_detail::getRank(getInput());
  if (failed(verifySameElement(*this, getInput(), getValues())) ||
      failed(checkAxis<TopKOp>(getLoc(), getAxis(), rank)))
    return failure();
  Dims from = getDims(getInput()), values = getDims(getValues());
  if (!areCompatible(TypeRange(cast<RankedTensorType>(getValues().getType())
                                   .clone(getElement(getIndices()))),
                     TypeRange(getIndices().getType())))
    return emitOpError("expected results of one shape, but got ")
           << getValues().getType() << " and " << getIndices().getType();
  bool same = values.size() == from.size();
  for (int64_t i = 0; same && i < rank; ++i)
    same = i == int64_t(getAxis()) || !areDifferent(from[i], values[i]);
  if (!same)
    return emitOpError("expected dims other than ")
           << getAxis() << " as of the input " << toString(from) << ", but got "
           << toString(values);
  std::optional<int64_t> size = getConstant(from[getAxis()]),
                         count = getConstant(values[getAxis()]);
  if (size && count && *count > *size)
    return emitOpError("expected at most ")
           << *size << " elements, but got " << *count;
  return success();
}

template <typename OpT>
static LogicalResult inferArg(Where where, typename OpT::Adaptor adaptor,
                              Types &types) {
  Value input = adaptor.getInput();
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis<OpT>(where, axis, getRank(input))))
    return failure();
  Dims dims = getDims(input);
  if (adaptor.getKeepdims())
    dims[axis] = getAffineConstantExpr(1, input.getContext());
  else
    dims.erase(dims.begin() + axis);
  types.push_back(makeType(IntegerType::get(input.getContext(), 64), dims));
  return success();
}

LogicalResult ArgMaxOp::inferReturnTypes(MLIRContext *context, Where where,
                                         Adaptor adaptor, Types &types) {
  return inferArg<ArgMaxOp>(where, adaptor, types);
}

LogicalResult ArgMinOp::inferReturnTypes(MLIRContext *context, Where where,
                                         Adaptor adaptor, Types &types) {
  return inferArg<ArgMinOp>(where, adaptor, types);
}

LogicalResult ResizeOp::verify() {
  size_t rank = op_detail::getRank(getInput());
  if (failed(verifySameElement(*this, getInput(), getResult())))
    return failure();
  if (size_t(op_detail::getRank(getResult())) != rank)
    return emitOpError("expected a result of rank ")
           << rank << ", but got " << op_detail::getRank(getResult());
  if (getScales() && getScales()->size() != rank)
    return emitOpError("expected ")
           << rank << " scales, but got " << getScales()->size();
  bool crops = getCoordinates() == CoordinateMode::TfCropAndResize;
  if (crops != bool(getRoi()) || (crops && getRoi()->size() != 2 * rank))
    return emitOpError("expected a roi of ")
           << 2 * rank << " numbers with tf_crop_and_resize only";
  return success();
}

LogicalResult OneHotOp::verify() {
  Dims indices = getDims(getIndices()), result = getDims(getResult());
  if (failed(verifySameElement(*this, getValues(), getResult())) ||
      failed(checkAxis<OneHotOp>(getLoc(), getAxis(), indices.size() + 1)))
    return failure();
  if (op_detail::getRank(getValues()) != 1)
    return emitOpError("expected values of rank 1, but got ")
           << op_detail::getRank(getValues());
  bool same = result.size() == indices.size() + 1;
  for (size_t i = 0; same && i < indices.size(); ++i)
    same = !areDifferent(indices[i], result[i + (i >= getAxis())]);
  if (!same)
    return emitOpError("expected a dim inserted at ")
           << getAxis() << " into " << toString(indices) << ", but got "
           << toString(result);
  return success();
}

LogicalResult SelectBoxesOp::verify() {
  Dims boxes = getDims(getBoxes()), scores = getDims(getScores()),
       result = getDims(getResult());
  bool areF32 = getElementTypeOrSelf(getBoxes()).isF32() &&
                getElementTypeOrSelf(getScores()).isF32();
  bool fits =
      boxes.size() == 3 && scores.size() == 3 && result.size() == 3 && areF32 &&
      getConstant(boxes[1]) == 5 &&
      areEqual(Dims{boxes[0], boxes[2]}, Dims{scores[0], scores[2]}) &&
      areEqual(ArrayRef(scores).take_front(2), ArrayRef(result).take_front(2));
  if (!fits)
    return emitOpError("expected f32 boxes [B, 5, N], f32 scores [B, C, N] and "
                       "a result [B, C, count], but got ")
           << toString(boxes) << ", " << toString(scores) << " and "
           << toString(result);
  return success();
}

LogicalResult NonZeroOp::verify() {
  Dims dims = getDims(getResult());
  int64_t rank = op_detail::getRank(getInput());
  if (dims.size() != 2 || getConstant(dims[0]) != rank)
    return emitOpError("expected a result of ")
           << rank << " rows, but got " << toString(dims);
  return success();
}
