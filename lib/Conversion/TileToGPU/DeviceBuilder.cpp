// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Builds the scalars and the synchronisation of device code.
#include "DeviceBuilder.h"
#include "Dialect/Tile/IR/Faults.h"
#include "PipelinePlan.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace adze::togpu {

Value DeviceBuilder::at(Value pointer, Value bytes) {
  return create<LLVM::GEPOp>(pointer.getType(), b.getI8Type(), pointer,
                             LLVM::GEPArg(bytes));
}

Value DeviceBuilder::at(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return create<LLVM::GEPOp>(pointer.getType(), b.getI8Type(), pointer,
                             LLVM::GEPArg(int32_t(bytes)));
}

Value DeviceBuilder::makeVector(ArrayRef<Value> elements) {
  Value vector = create<LLVM::UndefOp>(
      VectorType::get(elements.size(), elements[0].getType()));
  for (auto [i, element] : llvm::enumerate(elements))
    vector = create<LLVM::InsertElementOp>(vector, element, i32(i));
  return vector;
}

Value DeviceBuilder::assemble(Type result, ValueRange operands, StringRef text,
                              StringRef constraints) {
  return create<LLVM::InlineAsmOp>(
             result, operands, text, constraints,
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None,
             LLVM::AsmDialectAttr::get(b.getContext(),
                                       LLVM::AsmDialect::AD_ATT),
             /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}

void DeviceBuilder::when(Value condition, llvm::function_ref<void()> body,
                         llvm::function_ref<void()> otherwise) {
  OpBuilder::InsertionGuard guard(b);
  auto branch = scf::IfOp::create(b, loc, condition,
                                  /*withElseRegion=*/bool(otherwise));
  b.setInsertionPointToStart(branch.thenBlock());
  body();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

Value DeviceBuilder::barrierAt(Value bar, Value stage) {
  constexpr int64_t barrierBytes = 8;
  return at(bar, mul(stage, barrierBytes));
}

void DeviceBuilder::waitBarrier(Value bar, Value stage, Value phase) {
  // The instruction waits for at most this many nanoseconds, and is retried.
  constexpr int64_t ticks = 10000000;
  create<NVVM::MBarrierTryWaitParityOp>(barrierAt(bar, stage), phase,
                                        i32(ticks));
}

void DeviceBuilder::arrive(Value bar, Value stage) {
  create<NVVM::MBarrierArriveOp>(b.getI64Type(), barrierAt(bar, stage),
                                 /*count=*/Value());
}

std::pair<Value, Value> DeviceBuilder::advance(Value stage, Value phase,
                                               int64_t stages) {
  Value next = add(stage, 1);
  Value wraps = equal(next, stages);
  return {select(wraps, i32(0), next),
          select(wraps, fold<arith::XOrIOp>(phase, i32(1)), phase)};
}

std::pair<Value, Value> DeviceBuilder::advance(Value stage, Value phase,
                                               int64_t stages, Value number) {
  Value place = add(stage, number), size = i32(stages);
  Value wraps = fold<arith::AndIOp>(fold<arith::DivUIOp>(place, size), i32(1));
  return {fold<arith::RemUIOp>(place, size), fold<arith::XOrIOp>(phase, wraps)};
}

void DeviceBuilder::fenceShared() {
  create<NVVM::FenceProxyOp>(
      NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

void DeviceBuilder::waitNamed(Value number, int64_t threads) {
  create<NVVM::BarrierOp>(/*res=*/Type(), number, i32(threads),
                          /*reductionOp=*/NVVM::BarrierReductionAttr(),
                          /*reductionPredicate=*/Value());
}

void DeviceBuilder::waitWarpgroup(Value number) {
  // Barrier 0 is that of the whole block.
  waitNamed(add(number, 1), kWarpgroupThreads);
}

bool storesNarrow(Operation *kernel) {
  bool isNarrow = true;
  kernel->walk([&](Operation *op) {
    auto store = dyn_cast<tile::StoreOp>(op);
    if (!store) {
      isNarrow &=
          isa<tile::CheckOp>(op) || !hasEffect<MemoryEffects::Write>(op);
      return;
    }
    Type element = store.getValue().getType().getElementType();
    isNarrow &= element.isF16() || element.isBF16();
  });
  return isNarrow;
}

} // namespace adze::togpu
