// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The scratch memory of a call of a kernel.
#include "KernelScratch.h"
#include "Conversion/HostToLLVM/KernelMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace adze {

/// Smaller allocas stay on the stack, where LLVM can promote them.
static constexpr int64_t stackLimit = 4096;
static constexpr int64_t alignment = 64;

namespace {
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
        type.getNumElements() * getElementBytes(type) <= stackLimit) {
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
  SizeCloner cloner(builder, kernel, dims,
                    Formula(builder, loc, entry->getArgument(0)));
  Value total = arith::ConstantIndexOp::create(builder, loc, 0);
  for (const Allocation &allocation : allocations) {
    FailureOr<Value> bytes =
        cloner.cloneBytes(allocation.type, allocation.dynamicSizes, alignment);
    if (failed(bytes))
      return allocation.op->emitError("unsupported: expected a size computed "
                                      "from the kernel's argument shapes");
    total = arith::AddIOp::create(builder, loc, total, *bytes);
  }
  func::ReturnOp::create(builder, loc, castToI64(builder, loc, total));
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
  SizeCloner cloner(builder, kernel, dims, Formula(builder, loc, symbols));
  SmallVector<Value> places;
  Value offset = arith::ConstantIndexOp::create(builder, loc, 0);
  for (const Allocation &allocation : allocations) {
    Value bytes = castToI64(builder, loc, offset);
    places.push_back(LLVM::GEPOp::create(builder, loc, scratch.getType(),
                                         builder.getI8Type(), scratch,
                                         ArrayRef<LLVM::GEPArg>{bytes}));
    FailureOr<Value> size =
        cloner.cloneBytes(allocation.type, allocation.dynamicSizes, alignment);
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
