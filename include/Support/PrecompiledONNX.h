// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The precompiled header of files that call the ONNX library (with exceptions).
#ifndef ADZE_SUPPORT_PRECOMPILEDONNX_H
#define ADZE_SUPPORT_PRECOMPILEDONNX_H

#include <onnx/onnx_pb.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#endif // ADZE_SUPPORT_PRECOMPILEDONNX_H
