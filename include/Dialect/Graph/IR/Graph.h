// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The graph dialect's classes.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPH_H
#define ADZE_DIALECT_GRAPH_IR_GRAPH_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Dialect/Graph/IR/GraphDialect.h.inc"
#define GET_OP_CLASSES
#include "Dialect/Graph/IR/GraphOps.h.inc"

#endif // ADZE_DIALECT_GRAPH_IR_GRAPH_H
