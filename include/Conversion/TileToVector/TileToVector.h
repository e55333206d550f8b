// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The CPU road of tile kernels, as pipelines over a module.
#ifndef ADZE_CONVERSION_TILETOVECTOR_TILETOVECTOR_H
#define ADZE_CONVERSION_TILETOVECTOR_TILETOVECTOR_H

#include "Support/CacheSizes.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace adze {

struct TileToVectorPipelineOptions {
  int64_t vectorBytes = 64; // of a vector register of the target
  CacheSizes caches;
  bool byteDots = false;    // x86 vpdpbusd
  bool permutes = false;    // x86 vpermps, vpermi2ps
  bool keepRefused = false; // leave kernels that are not taken, with a remark
};

/// From tile kernels, specialised or not, to func, scf, vector, arith and
/// memref, cleaned up. Afterwards no tile op is left unless `keepRefused`.
void buildTileToVectorPipeline(mlir::OpPassManager &manager,
                               const TileToVectorPipelineOptions &options);

/// From scf, vector, affine and math to what convert-kernel-to-llvm takes.
/// Functions of the C library may be called afterwards (sinf, powf, exp, ...).
void buildVectorToLLVMPipeline(mlir::OpPassManager &manager);

} // namespace adze

#endif // ADZE_CONVERSION_TILETOVECTOR_TILETOVECTOR_H
