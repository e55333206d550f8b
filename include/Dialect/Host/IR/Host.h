// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The host dialect's classes.
#ifndef ADZE_DIALECT_HOST_IR_HOST_H
#define ADZE_DIALECT_HOST_IR_HOST_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Dialect/Host/IR/HostDialect.h.inc"
#define GET_OP_CLASSES
#include "Dialect/Host/IR/HostOps.h.inc"

#endif // ADZE_DIALECT_HOST_IR_HOST_H
