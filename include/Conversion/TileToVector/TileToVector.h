// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The CPU road of tile kernels, as pipelines over a module.
#ifndef ADZE_CONVERSION_TILETOVECTOR_TILETOVECTOR_H
#define ADZE_CONVERSION_TILETOVECTOR_TILETOVECTOR_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace adze {

/// From tile kernels, specialised or not, to func, scf, vector, arith and
/// memref, cleaned up, for the module's CPU. Afterwards no tile op is left.
void buildTileToVectorPipeline(mlir::OpPassManager &manager);

/// From scf, vector, affine and math to what convert-kernel-to-llvm takes.
/// Functions of the C library may be called afterwards (sinf, powf, exp, ...).
void buildVectorToLLVMPipeline(mlir::OpPassManager &manager);

} // namespace adze

#endif // ADZE_CONVERSION_TILETOVECTOR_TILETOVECTOR_H
