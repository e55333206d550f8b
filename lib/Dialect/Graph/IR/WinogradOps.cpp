// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The matrices of Winograd's algorithm, and inference and cost of its op.
#include "Dialect/Graph/IR/Winograd.h"
#include "Infer.h"

using namespace mlir;
using namespace adze::graph;
using namespace adze::graph::op_detail;

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Returns the coefficients of (x - roots[0]) (x - roots[1]) .., the constant
/// first.
static SmallVector<double, 6> expandProduct(ArrayRef<double> roots) {
  SmallVector<double, 6> result{1};
  for (double root : roots) {
    result.push_back(0);
    for (size_t i = result.size(); i-- > 0;)
      result[i] = (i ? result[i - 1] : 0) - root * result[i];
  }
  return result;
}

/// Points near 1 keep powers, and so rounding errors, small: with 3/4 and 3/2
/// the greatest error of F(4, 3) is a quarter of that with 1 and 2. All
/// coefficients of the input and output matrices are exact in binary.
static SmallVector<double, 6> getPoints(int64_t tile) {
  if (tile == 2)
    return {0, 1, -1};
  return {0, 0.75, -0.75, 1.5, -1.5};
}

Winograd::Winograd(int64_t tile) : tile(tile), size(tile + taps - 1) {
  SmallVector<double, 6> points = getPoints(tile);
  output.assign(tile, SmallVector<double, 6>());
  auto addPoint = [&](double point, double scale) {
    double power = 1;
    filter.emplace_back();
    for (int64_t i = 0; i < std::max<int64_t>(tile, taps); ++i) {
      if (i < taps)
        filter.back().push_back(power / scale);
      if (i < tile)
        output[i].push_back(power);
      power *= point;
    }
  };
  for (double point : points) {
    SmallVector<double, 6> others;
    double scale = 1;
    for (double other : points)
      if (other != point) {
        others.push_back(other);
        scale *= point - other;
      }
    input.push_back(expandProduct(others));
    input.back().push_back(0);
    addPoint(point, scale);
  }
  // The point at infinity has the highest coefficients.
  input.push_back(expandProduct(points));
  filter.push_back({0, 0, 1});
  for (int64_t i = 0; i < tile; ++i)
    output[i].push_back(i + 1 == tile);
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult checkTile(Where where, int64_t tile) {
  return Winograd::isTile(tile)
             ? success()
             : inferError<OpT>(where, "expected a tile of 2 or 4, but got ",
                               tile);
}

/// Adds the height and width of the result of 3x3 windows.
template <typename OpT>
static LogicalResult addWindowSizes(MLIRContext *context, Where where,
                                    const Dims &input, ArrayRef<int64_t> pads,
                                    Dims &dims) {
  if (input.size() != 4 || pads.size() != 4)
    return inferError<OpT>(
        where, "expected an image of rank 4 and 4 pads, but got rank ",
        input.size(), " and ", pads.size(), " pads");
  for (unsigned d = 0; d < 2; ++d) {
    auto size =
        windowDim(input[d + 1], getAffineConstantExpr(Winograd::taps, context),
                  1, pads[d], pads[d + 2], 1,
                  /*ceil=*/false);
    if (failed(size))
      return inferError<OpT>(
          where, "expected a window within the padded image, but got ",
          toString(input));
    dims.push_back(*size);
  }
  return success();
}

LogicalResult WinogradConvOp::inferReturnTypes(MLIRContext *context,
                                               Where where, Adaptor adaptor,
                                               Types &types) {
  Dims input = getDims(adaptor.getInput()),
       filter = getDims(adaptor.getFilter());
  int64_t tile = adaptor.getTile();
  Dims sizes;
  if (failed(checkTile<WinogradConvOp>(where, tile)) ||
      failed(addWindowSizes<WinogradConvOp>(context, where, input,
                                            adaptor.getPads(), sizes)))
    return failure();
  if (filter.size() != 3)
    return inferError<WinogradConvOp>(
        where, "expected a filter of rank 3, but got rank ", filter.size());
  Type element =
      getProductType(getElement(adaptor.getInput()),
                     getElement(adaptor.getFilter()), adaptor.getWideResult());
  if (!element)
    return inferError<WinogradConvOp>(where,
                                      "expected equal element types, but got ",
                                      getElement(adaptor.getInput()), " and ",
                                      getElement(adaptor.getFilter()));
  Dims expected{getAffineConstantExpr((tile + 2) * (tile + 2), context),
                input[3], filter[2]};
  AffineExpr withTaps = expected[0] + Winograd::window;
  if ((areDifferent(filter[0], expected[0]) &&
       areDifferent(filter[0], withTaps)) ||
      areDifferent(filter[1], expected[1]))
    return inferError<WinogradConvOp>(where, "expected a filter of ",
                                      toString(expected), ", but got ",
                                      toString(filter));
  Dims dims{input[0], sizes[0], sizes[1]};
  dims.push_back(filter[2]);
  types.push_back(makeType(element, dims));
  return success();
}

/// Returns the number of patches along a dim of the result.
static AffineExpr countPatches(AffineExpr size, int64_t tile) {
  MLIRContext *context = size.getContext();
  auto number = [&](int64_t n) { return getAffineConstantExpr(n, context); };
  return floorDivExprs(addExprs(size, number(tile - 1)), number(tile));
}

/// Returns the number of places of a patch.
static AffineExpr countPlaces(MLIRContext *context, int64_t tile) {
  return getAffineConstantExpr((tile + 2) * (tile + 2), context);
}

LogicalResult WinogradInputOp::inferReturnTypes(MLIRContext *context,
                                                Where where, Adaptor adaptor,
                                                Types &types) {
  Dims input = getDims(adaptor.getInput());
  int64_t tile = adaptor.getTile();
  Dims sizes;
  if (failed(checkTile<WinogradInputOp>(where, tile)) ||
      failed(addWindowSizes<WinogradInputOp>(context, where, input,
                                             adaptor.getPads(), sizes)))
    return failure();
  Dims dims{countPlaces(context, tile), input[0]};
  for (AffineExpr size : sizes)
    dims.push_back(size ? countPatches(size, tile) : size);
  dims.push_back(input[3]);
  types.push_back(makeType(getElement(adaptor.getInput()), dims));
  return success();
}

LogicalResult WinogradFilterOp::inferReturnTypes(MLIRContext *context,
                                                 Where where, Adaptor adaptor,
                                                 Types &types) {
  Dims filter = getDims(adaptor.getFilter());
  if (failed(checkTile<WinogradFilterOp>(where, adaptor.getTile())))
    return failure();
  if (filter.size() != 4 || getConstant(filter[2]) != Winograd::taps ||
      getConstant(filter[3]) != Winograd::taps)
    return inferError<WinogradFilterOp>(
        where, "expected a filter [O, C, 3, 3], but got ", toString(filter));
  types.push_back(makeType(
      getElement(adaptor.getFilter()),
      {countPlaces(context, adaptor.getTile()), filter[1], filter[0]}));
  return success();
}

LogicalResult WinogradOutputOp::inferReturnTypes(MLIRContext *context,
                                                 Where where, Adaptor adaptor,
                                                 Types &types) {
  Dims products = getDims(adaptor.getProducts());
  int64_t tile = adaptor.getTile();
  ArrayRef<int64_t> size = adaptor.getSize();
  if (failed(checkTile<WinogradOutputOp>(where, tile)))
    return failure();
  if (products.size() != 5 || size.size() != 2 || size[0] < 1 || size[1] < 1 ||
      areDifferent(products[0], countPlaces(context, tile)))
    return inferError<WinogradOutputOp>(
        where, "expected products [", (tile + 2) * (tile + 2),
        ", N, R, Q, O] and a height and width of at least 1, but got ",
        toString(products));
  Dims dims{products[1]};
  for (unsigned d : {0, 1}) {
    dims.push_back(getAffineConstantExpr(size[d], context));
    if (AffineExpr patches = countPatches(dims.back(), tile);
        areDifferent(products[d + 2], patches))
      return inferError<WinogradOutputOp>(
          where, "expected ", toString({patches}), " patches, but got ",
          toString({products[d + 2]}));
  }
  dims.push_back(products[4]);
  types.push_back(makeType(getElement(adaptor.getProducts()), dims));
  return success();
}

/// Returns the operations of a transform: one for each element that it reads or
/// writes, and each row of the matrix.
static AffineExpr getTransformFlops(Value from, Value to, int64_t size) {
  MLIRContext *context = from.getContext();
  AffineExpr elements =
      addExprs(product(context, getDims(from)), product(context, getDims(to)));
  return mulExprs(elements, getAffineConstantExpr(size, context));
}

AffineExpr WinogradInputOp::getFlops() {
  return getTransformFlops(getInput(), getResult(), getTile() + 2);
}
AffineExpr WinogradFilterOp::getFlops() {
  return getTransformFlops(getFilter(), getResult(), getTile() + 2);
}
AffineExpr WinogradOutputOp::getFlops() {
  return getTransformFlops(getProducts(), getResult(), getTile() + 2);
}

LogicalResult TransformFilterOp::inferReturnTypes(MLIRContext *context,
                                                  Where where, Adaptor adaptor,
                                                  Types &types) {
  Dims filter = getDims(adaptor.getFilter());
  ShapedType matrix = adaptor.getMatrix().getShapedType();
  std::optional<int64_t> window = 1;
  for (AffineExpr size :
       ArrayRef(filter).drop_front(std::min<size_t>(filter.size(), 2)))
    window = window && getConstant(size)
                 ? std::optional(*window * *getConstant(size))
                 : std::nullopt;
  if (filter.size() < 3 || matrix.getRank() != 2 ||
      !matrix.getElementType().isF32() || window != matrix.getDimSize(1))
    return inferError<TransformFilterOp>(
        where,
        "expected a filter [O, C, kernel..] and a matrix of f32 with as "
        "many columns as a window has elements, but got ",
        toString(filter), " and ", matrix);
  types.push_back(
      makeType(getElement(adaptor.getFilter()),
               {getAffineConstantExpr(matrix.getDimSize(0), context), filter[1],
                filter[0]}));
  return success();
}

/// A run computes nothing.
AffineExpr TransformFilterOp::getFlops() {
  return getAffineConstantExpr(0, getContext());
}

/// There is a multiply-add for each patch and each element of the filter, and
/// those of the sparse matrices, counted in the generated code.
AffineExpr WinogradConvOp::getFlops() {
  MLIRContext *context = getContext();
  Dims result = getDims(getResult()), filter = getDims(getFilter());
  auto number = [&](int64_t n) { return getAffineConstantExpr(n, context); };
  AffineExpr patches = result[0];
  for (AffineExpr size : {result[1], result[2]})
    patches =
        mulExprs(patches, floorDivExprs(addExprs(size, number(getTile() - 1)),
                                        number(getTile())));
  bool isSmall = getTile() == 2;
  int64_t size = getTile() + 2;
  AffineExpr channels =
      addExprs(addExprs(mulExprs(mulExprs(filter[1], filter[2]), number(2)),
                        mulExprs(filter[1], number(isSmall ? 2 : 8))),
               mulExprs(filter[2], number(isSmall ? 2 : 5)));
  return mulExprs(mulExprs(patches, number(size * size)), channels);
}
