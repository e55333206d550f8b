// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Non-temporal stores.
#ifndef ADZE_DIALECT_TILE_IR_STREAMS_H
#define ADZE_DIALECT_TILE_IR_STREAMS_H

#include "llvm/ADT/StringRef.h"

namespace adze::tile {

/// Of a kernel: results of more bytes than this are written by non-temporal
/// stores. The caches would have lost them before the next kernel reads them.
inline constexpr llvm::StringLiteral streamBytesAttr = "tile.stream_bytes";

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_STREAMS_H
