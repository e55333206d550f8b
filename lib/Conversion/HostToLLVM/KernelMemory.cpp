// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Memrefs built from pointers, and sizes computed from symbols.
#include "Conversion/HostToLLVM/KernelMemory.h"
#include "Dialect/Host/IR/Host.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace adze {

int64_t getElementBytes(MemRefType type) {
  constexpr int64_t indexBytes = 8, bits = 8;
  return type.getElementType().isIndex()
             ? indexBytes
             : llvm::divideCeil(type.getElementTypeBitWidth(), bits);
}

Value castToI64(OpBuilder &builder, Location loc, Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}

Value castToIndex(OpBuilder &builder, Location loc, Value i64) {
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), i64);
}

Value buildMemRef(OpBuilder &builder, Location loc, MemRefType type,
                  Value pointer, ValueRange dynamicSizes,
                  const LLVMTypeConverter &types) {
  auto descriptor =
      MemRefDescriptor::poison(builder, loc, types.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, pointer);
  descriptor.setAlignedPtr(builder, loc, pointer);
  descriptor.setConstantOffset(builder, loc, 0);
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                    builder.getI64IntegerAttr(value));
  };
  SmallVector<Value> sizes;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(constant(size));
      continue;
    }
    sizes.push_back(castToI64(builder, loc, dynamicSizes.front()));
    dynamicSizes = dynamicSizes.drop_front();
  }
  // Static strides are constants: a stride is a product with a dynamic size
  // only if a dim to the right is dynamic.
  Value stride = constant(1);
  int64_t staticStride = 1;
  bool isStatic = true;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    descriptor.setSize(builder, loc, dim, sizes[dim]);
    descriptor.setStride(builder, loc, dim, stride);
    isStatic &= !type.isDynamicDim(dim);
    if (isStatic) {
      staticStride *= type.getDimSize(dim);
      stride = constant(staticStride);
    } else {
      stride = LLVM::MulOp::create(builder, loc, stride, sizes[dim]);
    }
  }
  return UnrealizedConversionCastOp::create(builder, loc, type,
                                            Value(descriptor))
      .getResult(0);
}

FailureOr<Value> buildMemRef(OpBuilder &builder, Location loc, MemRefType type,
                             Value pointer, AffineMap dims, Formula &formula,
                             const LLVMTypeConverter &types) {
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    if (!dims || dims.getNumResults() != type.getRank())
      return failure();
    sizes.push_back(
        castToIndex(builder, loc, formula.emit(dims.getResult(dim))));
  }
  return buildMemRef(builder, loc, type, pointer, sizes, types);
}

FailureOr<Value> SizeCloner::clone(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op)
    return failure();
  if (isa<memref::DimOp>(op))
    return cloneDim(op);
  if (auto size = dyn_cast<host::SizeOp>(op)) {
    Value number = castToIndex(builder, op->getLoc(),
                               formula.emit(size.getValue().getResult(0)));
    mapping.map(value, number);
    return number;
  }
  bool isArithmetic =
      isa_and_nonnull<arith::ArithDialect, affine::AffineDialect>(
          op->getDialect());
  if (!isArithmetic || op->getNumRegions() || op->getNumResults() != 1)
    return failure();
  for (Value operand : op->getOperands())
    if (failed(clone(operand)))
      return failure();
  return builder.clone(*op, mapping)->getResult(0);
}

FailureOr<Value> SizeCloner::cloneBytes(MemRefType type,
                                        ValueRange dynamicSizes,
                                        int64_t alignment) {
  Location loc = kernel.getLoc();
  int64_t fixed = getElementBytes(type);
  for (int64_t size : type.getShape())
    fixed *= ShapedType::isDynamic(size) ? 1 : size;
  Value total = arith::ConstantIndexOp::create(builder, loc, fixed);
  for (Value size : dynamicSizes) {
    FailureOr<Value> cloned = clone(size);
    if (failed(cloned))
      return failure();
    total = arith::MulIOp::create(builder, loc, total, *cloned);
  }
  Value rest = arith::ConstantIndexOp::create(builder, loc, alignment - 1);
  Value mask = arith::ConstantIndexOp::create(builder, loc, -alignment);
  total = arith::AddIOp::create(builder, loc, total, rest);
  return arith::AndIOp::create(builder, loc, total, mask).getResult();
}

FailureOr<Value> SizeCloner::cloneDim(Operation *op) {
  auto dim = cast<memref::DimOp>(op);
  auto argument = dyn_cast<BlockArgument>(dim.getSource());
  std::optional<int64_t> index = dim.getConstantIndex();
  if (!argument || !index || argument.getArgNumber() >= dims.size() ||
      argument.getOwner() != &kernel.front())
    return failure();
  auto type = cast<MemRefType>(argument.getType());
  Location loc = kernel.getLoc();
  Value size;
  if (!type.isDynamicDim(*index)) {
    size =
        arith::ConstantIndexOp::create(builder, loc, type.getDimSize(*index));
  } else {
    AffineMap map = dims[argument.getArgNumber()];
    if (!map)
      return failure();
    size = castToIndex(builder, loc, formula.emit(map.getResult(*index)));
  }
  mapping.map(dim.getResult(), size);
  return size;
}

} // namespace adze
