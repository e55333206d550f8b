// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Records of faults that kernels store.
#include "Conversion/HostToLLVM/FaultRecords.h"
#include "Conversion/HostToLLVM/KernelMemory.h"
#include "adze_module.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

void adze::storeFault(OpBuilder &b, Location loc, Value faults, uint64_t fault,
                      bool isAbsolute, Value position, Value extent) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  Value low = number(0), index = position;
  if (!isAbsolute) {
    // For an index below the range, the sum with the extent is still negative.
    Value isBelow =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, position, low);
    index = arith::SubIOp::create(b, loc, position, extent);
    index = arith::SelectOp::create(b, loc, isBelow, index, position);
    low = arith::SubIOp::create(b, loc, low, extent);
  }
  auto store = [&](Value value, size_t offset) {
    int32_t place = fault * sizeof(adze_fault) + offset;
    Value address = LLVM::GEPOp::create(b, loc, faults.getType(), b.getI8Type(),
                                        faults, ArrayRef<LLVM::GEPArg>{place});
    LLVM::StoreOp::create(b, loc, value, address, /*alignment=*/8,
                          /*isVolatile=*/false, /*isNonTemporal=*/false,
                          /*isInvariantGroup=*/false,
                          LLVM::AtomicOrdering::monotonic);
  };
  size_t offset = offsetof(adze_fault, values);
  for (Value value : {index, low, extent}) {
    store(value, offset);
    offset += sizeof(int64_t);
  }
  store(number(1), offsetof(adze_fault, raised));
}

void adze::raiseOutside(OpBuilder &b, tile::CheckOp check, Value position,
                        Value extent, Value faults) {
  Location loc = check.getLoc();
  Value isOutside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge,
                                          position, extent);
  OpBuilder::InsertionGuard guard(b);
  auto branch = scf::IfOp::create(b, loc, isOutside, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  storeFault(b, loc, faults, check.getFault(), check.getAbsolute(),
             castToI64(b, loc, position), castToI64(b, loc, extent));
}
