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
  /// The kernel is for CPUs alone: it may take forms that pay only there.
  bool forCpusAlone = true;
  /// Blocks may end at places that only the run knows.
  bool cutsEvenly = true;
  /// Points of dims taken as one may be taken apart again, by divisions.
  bool splitsPoints = false;
  tile::CpuTargetAttr target;
};

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_EMITTERCHOICES_H
