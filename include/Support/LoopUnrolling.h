// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#ifndef ADZE_SUPPORT_LOOPUNROLLING_H
#define ADZE_SUPPORT_LOOPUNROLLING_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace adze {

/// Prevents LLVM from unrolling a loop. The conversions to branches copy
/// attributes of the LLVM dialect to the latch.
inline void disableUnrolling(mlir::scf::ForOp loop) {
  mlir::MLIRContext *context = loop.getContext();
  auto unroll = mlir::LLVM::LoopUnrollAttr::get(
      context, mlir::BoolAttr::get(context, true), /*count=*/nullptr,
      /*runtimeDisable=*/nullptr, /*full=*/nullptr,
      /*followupUnrolled=*/nullptr, /*followupRemainder=*/nullptr,
      /*followupAll=*/nullptr);
  auto annotation = mlir::LLVM::LoopAnnotationAttr::get(
      context, nullptr, nullptr, nullptr, unroll, nullptr, nullptr, nullptr,
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, {});
  loop->setAttr("loop_annotation", annotation);
}

} // namespace adze

#endif // ADZE_SUPPORT_LOOPUNROLLING_H
