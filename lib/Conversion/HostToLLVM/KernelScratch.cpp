// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Memory of kernels: memrefs built from pointers, and the scratch memory of a
// call.
#include "KernelScratch.h"
#include "Conversion/HostToLLVM/Formula.h"
#include "Dialect/Host/IR/Host.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace adze {

/// Smaller allocas stay on the stack, where LLVM can promote them.
static constexpr int64_t stackLimit = 4096;
static constexpr int64_t alignment = 64;

static Value toI64(OpBuilder &builder, Location loc, Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}

static Value toIndex(OpBuilder &builder, Location loc, Value i64) {
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
    sizes.push_back(toI64(builder, loc, dynamicSizes.front()));
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
                             Value pointer, AffineMap dims, Value symbols,
                             const LLVMTypeConverter &types) {
  SmallVector<Value> sizes;
  Formula formula(builder, loc, symbols);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    if (!dims || dims.getNumResults() != type.getRank())
      return failure();
    sizes.push_back(toIndex(builder, loc, formula.emit(dims.getResult(dim))));
  }
  return buildMemRef(builder, loc, type, pointer, sizes, types);
}

/// Indices have the width of pointers.
static int64_t elementBytes(MemRefType type) {
  constexpr int64_t indexBytes = 8, bits = 8;
  return type.getElementType().isIndex()
             ? indexBytes
             : llvm::divideCeil(type.getElementTypeBitWidth(), bits);
}

namespace {
/// Recomputes sizes at another position from dims of arguments, symbols and
/// constants.
class SizeCloner {
public:
  SizeCloner(OpBuilder &builder, func::FuncOp kernel, ArrayRef<AffineMap> dims,
             Value symbols)
      : builder(builder), kernel(kernel), dims(dims),
        formula(builder, kernel.getLoc(), symbols) {}

  FailureOr<Value> clone(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (!op)
      return failure();
    if (auto dim = dyn_cast<memref::DimOp>(op))
      return cloneDim(dim);
    if (auto size = dyn_cast<host::SizeOp>(op)) {
      Value number = toIndex(builder, op->getLoc(),
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

  /// Returns the bytes of `type` as an index, rounded up to the alignment.
  FailureOr<Value> bytes(MemRefType type, ValueRange dynamicSizes) {
    Location loc = kernel.getLoc();
    int64_t fixed = elementBytes(type);
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

private:
  FailureOr<Value> cloneDim(memref::DimOp dim) {
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
      size = toIndex(builder, loc, formula.emit(map.getResult(*index)));
    }
    mapping.map(dim.getResult(), size);
    return size;
  }

  OpBuilder &builder;
  func::FuncOp kernel;
  ArrayRef<AffineMap> dims;
  Formula formula;
  IRMapping mapping;
};

struct Allocation {
  Operation *op;
  MemRefType type;
  ValueRange dynamicSizes;
};
} // namespace

/// Collects the allocations of the kernel in program order. Small static
/// allocas are only moved to the entry block, so that loops do not grow the
/// stack.
static SmallVector<Allocation> collectAllocations(func::FuncOp kernel) {
  SmallVector<Allocation> result;
  kernel.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      result.push_back({op, alloc.getType(), alloc.getDynamicSizes()});
    auto alloca = dyn_cast<memref::AllocaOp>(op);
    if (!alloca)
      return;
    MemRefType type = alloca.getType();
    if (type.hasStaticShape() &&
        type.getNumElements() * elementBytes(type) <= stackLimit) {
      op->moveBefore(&kernel.front(), kernel.front().begin());
      return;
    }
    result.push_back({op, type, alloca.getDynamicSizes()});
  });
  return result;
}

/// Creates @<name>_scratch(syms) -> i64, which returns the sum of all sizes.
static LogicalResult createScratchFormula(func::FuncOp kernel, StringRef name,
                                          ArrayRef<Allocation> allocations,
                                          ArrayRef<AffineMap> dims,
                                          SymbolTable &symbolTable) {
  Location loc = kernel.getLoc();
  OpBuilder builder(kernel.getContext());
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  auto function = func::FuncOp::create(
      loc, (name + "_scratch").str(),
      builder.getFunctionType({pointer}, {builder.getI64Type()}));
  symbolTable.insert(function);
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  SizeCloner cloner(builder, kernel, dims, entry->getArgument(0));
  Value total = arith::ConstantIndexOp::create(builder, loc, 0);
  for (const Allocation &allocation : allocations) {
    FailureOr<Value> bytes =
        cloner.bytes(allocation.type, allocation.dynamicSizes);
    if (failed(bytes))
      return allocation.op->emitError("unsupported: expected a size computed "
                                      "from the kernel's argument shapes");
    total = arith::AddIOp::create(builder, loc, total, *bytes);
  }
  func::ReturnOp::create(builder, loc, toI64(builder, loc, total));
  return success();
}

FailureOr<unsigned> moveAllocationsToScratch(func::FuncOp kernel,
                                             StringRef name,
                                             ArrayRef<AffineMap> dims,
                                             Value symbols, Value scratch,
                                             SymbolTable &symbolTable,
                                             const LLVMTypeConverter &types) {
  kernel.walk([](memref::DeallocOp op) { op.erase(); });
  SmallVector<Allocation> allocations = collectAllocations(kernel);
  if (allocations.empty())
    return 0u;
  if (failed(
          createScratchFormula(kernel, name, allocations, dims, symbolTable)))
    return failure();

  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.front());
  SizeCloner cloner(builder, kernel, dims, symbols);
  SmallVector<Value> places;
  Value offset = arith::ConstantIndexOp::create(builder, loc, 0);
  for (const Allocation &allocation : allocations) {
    Value bytes = toI64(builder, loc, offset);
    places.push_back(LLVM::GEPOp::create(builder, loc, scratch.getType(),
                                         builder.getI8Type(), scratch,
                                         ArrayRef<LLVM::GEPArg>{bytes}));
    FailureOr<Value> size =
        cloner.bytes(allocation.type, allocation.dynamicSizes);
    offset = arith::AddIOp::create(builder, loc, offset, *size);
  }
  for (auto [allocation, place] : llvm::zip(allocations, places)) {
    OpBuilder here(allocation.op);
    Value memref = buildMemRef(here, allocation.op->getLoc(), allocation.type,
                               place, allocation.dynamicSizes, types);
    allocation.op->getResult(0).replaceAllUsesWith(memref);
    allocation.op->erase();
  }
  return unsigned(allocations.size());
}

} // namespace adze
