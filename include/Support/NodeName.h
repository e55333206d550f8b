// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Which ONNX node a location is of.
#ifndef ADZE_SUPPORT_NODENAME_H
#define ADZE_SUPPORT_NODENAME_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"

namespace adze {

/// The first name in `loc`; empty for none.
llvm::StringRef getNodeName(mlir::Location loc);

/// The names of ONNX nodes in `loc`, in order, each once.
llvm::SmallVector<llvm::StringRef> getNodeNames(mlir::Location loc);

} // namespace adze

#endif // ADZE_SUPPORT_NODENAME_H
