// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers an elementwise op to one linalg.generic around its scalar body.
#include "KernelLowering.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// How an operand with dims `from` is read at a point of dims `to`.
enum class Access { Mapped, Checked };

/// Returns the map from the dims of the result to those of the operand: 0 where
/// it is broadcast. The access is checked if it is dynamic whether a dim is 1.
Access getMap(ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to,
              MLIRContext *context, AffineMap &map) {
  Access access = Access::Mapped;
  size_t offset = to.size() - from.size();
  SmallVector<AffineExpr> exprs;
  for (auto [i, dim] : llvm::enumerate(from)) {
    bool repeated = getConstant(dim) == 1 && getConstant(to[offset + i]) != 1;
    exprs.push_back(repeated ? getAffineConstantExpr(0, context)
                             : getAffineDimExpr(offset + i, context));
    if (!repeated && !areEqual(dim, to[offset + i]))
      access = Access::Checked;
  }
  map = AffineMap::get(to.size(), 0, exprs, context);
  return access;
}

/// Loads an operand, with index 0 in dims of size 1.
Value loadChecked(KernelLowering &k, Value memref, AffineMap map,
                  ArrayRef<AffineExpr> from) {
  SmallVector<Value> indices;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim) {
      indices.push_back(k.index(0));
      continue;
    }
    Value at = linalg::IndexOp::create(k.builder, k.loc, dim.getPosition());
    Value isOne =
        k.compare(arith::CmpIPredicate::eq, k.evaluate(from[i]), k.index(1));
    indices.push_back(k.select(isOne, k.index(0), at));
  }
  return k.load(memref, indices);
}

/// Returns the scalar attribute of a splat constant, or null.
TypedAttr getSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!dense || !dense.isSplat())
    return {};
  if (isSmallFloat(dense.getElementType()))
    return {};
  auto scalar = cast<TypedAttr>(dense.getSplatValue<Attribute>());
  if (auto integer = dyn_cast<IntegerAttr>(scalar))
    return IntegerAttr::get(getSignlessType(integer.getType()),
                            integer.getValue());
  return scalar;
}

/// Builds a linalg.generic over the dims of `output`; `body` receives one
/// scalar for each operand.
void buildGeneric(KernelLowering &k, Value output, ValueRange operands,
                  llvm::function_ref<Value(ValueRange)> body) {
  MLIRContext *context = k.builder.getContext();
  Dims to = getDims(output);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<std::optional<unsigned>> argument;
  SmallVector<AffineMap> checked;
  for (Value operand : operands) {
    AffineMap map;
    Access access = getMap(getDims(operand), to, context, map);
    checked.push_back(access == Access::Checked ? map : AffineMap());
    argument.emplace_back();
    if (getSplat(operand) || access == Access::Checked)
      continue;
    argument.back() = inputs.size();
    inputs.push_back(k.get(operand));
    maps.push_back(map);
  }
  maps.push_back(AffineMap::getMultiDimIdentityMap(to.size(), context));
  SmallVector<utils::IteratorType> iterators(to.size(),
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      k.builder, k.loc, inputs, ValueRange(k.getOutput(output)), maps,
      iterators, [&](OpBuilder &b, Location loc, ValueRange scalars) {
        OpBuilder::InsertionGuard guard(k.builder);
        k.builder.setInsertionPoint(b.getInsertionBlock(),
                                    b.getInsertionPoint());
        SmallVector<Value> values;
        for (auto [i, operand] : llvm::enumerate(operands)) {
          if (argument[i])
            values.push_back(scalars[*argument[i]]);
          else if (TypedAttr splat = getSplat(operand))
            values.push_back(k.elements().constant(splat));
          else
            values.push_back(
                loadChecked(k, k.get(operand), checked[i], getDims(operand)));
        }
        Value result = body(values);
        linalg::YieldOp::create(k.builder, loc, result);
      });
}

Type getElementType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Lowers a conversion from or to elements of less than a byte, element by
/// element.
void lowerPackedCast(CastOp op, KernelLowering &k) {
  bool fromPacked = isPacked(getElementType(op.getInput())),
       toPacked = isPacked(getElementType(op.getResult()));
  if (toPacked)
    k.clearPacked(op.getResult());
  Value input = k.get(op.getInput()), output = k.getOutput(op.getResult());
  k.forEach(k.getSizes(op.getResult()), [&](ValueRange at) {
    ElementBuilder b = k.elements();
    Value x = fromPacked ? k.loadPacked(op.getInput(), at) : k.load(input, at);
    Value y = op.buildArith(b, x);
    if (toPacked)
      k.storePacked(y, op.getResult(), at);
    else
      k.store(y, output, at);
  });
}

} // namespace

FamilyResult adze::graph::lowerElementwise(Operation *op, KernelLowering &k) {
  if (auto cast = dyn_cast<CastOp>(op))
    if (isPacked(getElementType(cast.getInput())) ||
        isPacked(getElementType(cast.getResult()))) {
      lowerPackedCast(cast, k);
      return success();
    }
  if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op)) {
    buildGeneric(k, op->getResult(0), op->getOperands(), [&](ValueRange x) {
      ElementBuilder b = k.elements();
      return elementwise.buildBody(b, x);
    });
    return success();
  }
  if (auto broadcast = dyn_cast<BroadcastToOp>(op)) {
    buildGeneric(k, broadcast.getResult(), broadcast.getInput(),
                 [&](ValueRange x) { return x[0]; });
    return success();
  }
  return std::nullopt;
}
