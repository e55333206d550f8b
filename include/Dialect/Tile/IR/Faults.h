// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ops that raise faults: errors that only the data shows.
#ifndef ADZE_DIALECT_TILE_IR_FAULTS_H
#define ADZE_DIALECT_TILE_IR_FAULTS_H

#include "Dialect/Tile/IR/Tile.h"

#define GET_OP_CLASSES
#include "Dialect/Tile/IR/TileFaultOps.h.inc"

#endif // ADZE_DIALECT_TILE_IR_FAULTS_H
