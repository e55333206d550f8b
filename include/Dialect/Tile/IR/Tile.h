// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The tile dialect: block programs on small tensors (tiles).
#ifndef ADZE_DIALECT_TILE_IR_TILE_H
#define ADZE_DIALECT_TILE_IR_TILE_H

#include "Dialect/Tile/IR/TileAttrs.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "Dialect/Tile/IR/TileDialect.h.inc"
#include "Dialect/Tile/IR/TileEnums.h.inc"
#define GET_OP_CLASSES
#include "Dialect/Tile/IR/TileOps.h.inc"

namespace adze::tile {

/// An attribute of a kernel argument: a power of two that divides its address.
inline constexpr llvm::StringLiteral kAlignAttribute = "tile.align";
/// A unit attribute of an argument of a kernel: nothing writes to its memory
/// while the module runs.
inline constexpr llvm::StringLiteral kConstantAttribute = "tile.constant";

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_TILE_H
