// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The lowering of tile kernels for CPUs, as pipelines on a module.
#ifndef ADZE_CONVERSION_TILETOVECTOR_TILETOVECTOR_H
#define ADZE_CONVERSION_TILETOVECTOR_TILETOVECTOR_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace adze {

/// Lowers tile kernels, specialised or not, to func, scf, vector, arith and
/// memref for the CPU of the module, with cleanups. Afterwards there are no
/// tile ops.
void buildTileToVectorPipeline(mlir::OpPassManager &manager);

/// Lowers scf, vector, affine and math to the input of convert-kernel-to-llvm.
/// The code may call functions of the C library afterwards (sinf, powf, exp).
void buildVectorToLLVMPipeline(mlir::OpPassManager &manager);

} // namespace adze

#endif // ADZE_CONVERSION_TILETOVECTOR_TILETOVECTOR_H
