// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#ifndef ADZE_SUPPORT_LOOPANNOTATION_H
#define ADZE_SUPPORT_LOOPANNOTATION_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace adze {

/// An attribute of a loop latch: the loop metadata of LLVM.
inline constexpr llvm::StringLiteral kLoopAnnotation = "loop_annotation";

/// Returns the metadata of a loop; each part may be null.
inline mlir::LLVM::LoopAnnotationAttr
getLoopAnnotation(mlir::MLIRContext *context,
                  mlir::LLVM::LoopInterleaveAttr interleave,
                  mlir::LLVM::LoopUnrollAttr unroll) {
  return mlir::LLVM::LoopAnnotationAttr::get(
      context, nullptr, nullptr, interleave, unroll, nullptr, nullptr, nullptr,
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, {});
}

/// Prevents LLVM from unrolling a loop. The conversions to branches copy
/// attributes of the LLVM dialect to the latch.
inline void disableUnrolling(mlir::scf::ForOp loop) {
  mlir::MLIRContext *context = loop.getContext();
  auto unroll = mlir::LLVM::LoopUnrollAttr::get(
      context, mlir::BoolAttr::get(context, true), /*count=*/nullptr,
      /*runtimeDisable=*/nullptr, /*full=*/nullptr,
      /*followupUnrolled=*/nullptr, /*followupRemainder=*/nullptr,
      /*followupAll=*/nullptr);
  loop->setAttr(kLoopAnnotation,
                getLoopAnnotation(context, /*interleave=*/nullptr, unroll));
}

} // namespace adze

#endif // ADZE_SUPPORT_LOOPANNOTATION_H
