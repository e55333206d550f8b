// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Registration of the host dialect.
#include "Dialect/Host/IR/Host.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace adze::host;

#include "Dialect/Host/IR/HostDialect.cpp.inc"
#define GET_OP_CLASSES
#include "Dialect/Host/IR/HostOps.cpp.inc"

void HostDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Dialect/Host/IR/HostOps.cpp.inc"
      >();
}
