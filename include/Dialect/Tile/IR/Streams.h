// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Non-temporal stores.
#ifndef ADZE_DIALECT_TILE_IR_STREAMS_H
#define ADZE_DIALECT_TILE_IR_STREAMS_H

#include "llvm/ADT/StringRef.h"

namespace adze::tile {

/// An attribute of a kernel: larger results, in bytes, are written by
/// non-temporal stores, as they would be evicted from the caches before the
/// next kernel reads them.
inline constexpr llvm::StringLiteral streamBytesAttr = "tile.stream_bytes";

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_STREAMS_H
