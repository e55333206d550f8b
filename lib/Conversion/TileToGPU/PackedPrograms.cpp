// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Blocks of threads that compute several small programs.
#include "Converter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace adze::togpu {

Value countPrograms(OpBuilder &at, tile::KernelOp kernel,
                    const KernelFrame &frame) {
  Location loc = kernel.getLoc();
  Value programs = arith::ConstantIndexOp::create(at, loc, 1);
  kernel.walk([&](tile::ProgramIdOp ids) {
    for (Value extent : ids.getGrid())
      programs = at.createOrFold<arith::MulIOp>(loc, programs,
                                                frame.map.lookup(extent));
  });
  return programs;
}

int64_t countPacked(tile::KernelOp kernel, KernelPlan &plan) {
  constexpr int64_t blockThreads = 256, mostThreads = 64, perMultiprocessor = 2;
  if (plan.getThreads() > mostThreads || plan.getBlocks() > 1)
    return 1;
  int64_t packed = blockThreads / plan.getThreads();
  int64_t programs = getStaticPrograms(kernel);
  if (programs < 0)
    return packed;
  int64_t blocks = perMultiprocessor * plan.getMultiprocessors();
  return std::min<int64_t>(
      packed,
      llvm::bit_floor(uint64_t(std::max<int64_t>(1, programs / blocks))));
}

void packPrograms(OpBuilder &at, Location loc, const KernelPlan &plan,
                  int64_t packed, KernelFrame &frame) {
  auto number = [&](int64_t value) {
    return arith::ConstantIndexOp::create(at, loc, value);
  };
  int64_t threads = plan.getThreads();
  Value own = arith::ShRUIOp::create(at, loc, frame.threadId,
                                     number(llvm::Log2_64(threads)));
  frame.threadId =
      arith::AndIOp::create(at, loc, frame.threadId, number(threads - 1));
  frame.programId = arith::AddIOp::create(
      at, loc, arith::MulIOp::create(at, loc, frame.programId, number(packed)),
      own);
}

void guardPrograms(tile::KernelOp kernel, const KernelFrame &frame,
                   int64_t packed, Operation *last) {
  int64_t known = getStaticPrograms(kernel);
  if (known >= 0 && known % packed == 0)
    return;
  Block *block = last->getBlock();
  Operation *end = block->getTerminator();
  OpBuilder at(block, std::next(last->getIterator()));
  Location loc = kernel.getLoc();
  Value programs = countPrograms(at, kernel, frame);
  Value exists = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ult,
                                       frame.programId, programs);
  auto branch = scf::IfOp::create(at, loc, exists, /*withElseRegion=*/false);
  Block *then = branch.thenBlock();
  then->getOperations().splice(then->begin(), block->getOperations(),
                               std::next(branch->getIterator()),
                               end->getIterator());
}

bool synchronizes(LLVM::LLVMFuncOp function) {
  return function
      .walk([](Operation *op) {
        return isa<gpu::BarrierOp, NVVM::BarrierOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace adze::togpu
