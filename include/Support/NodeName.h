// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The ONNX nodes of a location.
#ifndef ADZE_SUPPORT_NODENAME_H
#define ADZE_SUPPORT_NODENAME_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"

namespace adze {

/// Returns the first name in `loc`, or an empty string.
llvm::StringRef getNodeName(mlir::Location loc);

/// Returns the names of ONNX nodes in `loc`, in order, without duplicates.
llvm::SmallVector<llvm::StringRef> getNodeNames(mlir::Location loc);

} // namespace adze

#endif // ADZE_SUPPORT_NODENAME_H
