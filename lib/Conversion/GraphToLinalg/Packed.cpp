// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Elements of less than 8 bits, several in a byte, low bits first. Their
// memrefs only have the shape; bytes are read and written by address.
#include "KernelLowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace adze::graph;

static unsigned getBits(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth();
}

Value KernelLowering::getByteAddress(Value tensor, Value index) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(
      builder, loc, getOutput(tensor));
  Type i64 = builder.getI64Type();
  Value address =
      arith::IndexCastOp::create(builder, loc, i64, add(base, index));
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
}

KernelLowering::PackedElement
KernelLowering::getPackedElement(Value tensor, Indices indices) {
  Value linear = index(0);
  for (auto [at, size] : llvm::zip_equal(indices, getSizes(tensor)))
    linear = add(mul(linear, size), at);
  int64_t bits = getBits(tensor), perByte = 8 / bits;
  Value byte = floorDiv(linear, perByte);
  Value within = mul(sub(linear, mul(byte, perByte)), bits);
  return {
      getByteAddress(tensor, byte),
      arith::IndexCastOp::create(builder, loc, builder.getI8Type(), within)};
}

Value KernelLowering::loadPacked(Value tensor, Indices indices) {
  PackedElement element = getPackedElement(tensor, indices);
  Value byte =
      LLVM::LoadOp::create(builder, loc, builder.getI8Type(), element.address);
  Value shifted = arith::ShRUIOp::create(builder, loc, byte, element.shift);
  return arith::TruncIOp::create(
      builder, loc, builder.getIntegerType(getBits(tensor)), shifted);
}

void KernelLowering::clearPacked(Value tensor) {
  (void)getOutput(tensor); // allocates outside of all loops
  int64_t perByte = 8 / getBits(tensor);
  Value bytes = floorDiv(add(multiply(getSizes(tensor)), perByte - 1), perByte);
  forEach(bytes, [&](Indices at) {
    LLVM::StoreOp::create(builder, loc, number(builder.getI8Type(), 0),
                          getByteAddress(tensor, at[0]));
  });
}

void KernelLowering::storePacked(Value value, Value tensor, Indices indices) {
  PackedElement element = getPackedElement(tensor, indices);
  Type i8 = builder.getI8Type();
  Value byte = LLVM::LoadOp::create(builder, loc, i8, element.address);
  Value wide = arith::ExtUIOp::create(builder, loc, i8, value);
  Value shifted = arith::ShLIOp::create(builder, loc, wide, element.shift);
  LLVM::StoreOp::create(builder, loc,
                        arith::OrIOp::create(builder, loc, byte, shifted),
                        element.address);
}
