// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What an attempt to write a kernel may choose, and by what.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_EMITTERCHOICES_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_EMITTERCHOICES_H

#include "Dialect/Tile/IR/Targets.h"

namespace adze {

struct EmitterChoices {
  /// No choice may depend on how many rows there are.
  bool batchInvariant = false;
  /// Blocks may end at dynamic places.
  bool cutsEvenly = true;
  /// Points of dims taken as one may be taken apart again, by divisions.
  bool splitsPoints = false;
  /// The CPU that the kernel is for; of a kernel for GPUs, a usual one.
  tile::CpuTargetAttr target;
  /// The first GPU that the kernel is for; null of a kernel for CPUs.
  tile::CudaTargetAttr gpu;
};

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_EMITTERCHOICES_H
