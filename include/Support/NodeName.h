// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Which ONNX node a location is of.
#ifndef ADZE_SUPPORT_NODENAME_H
#define ADZE_SUPPORT_NODENAME_H

#include "mlir/IR/Location.h"

namespace adze {

/// The first name in `loc`; empty for none.
llvm::StringRef getNodeName(mlir::Location loc);

} // namespace adze

#endif // ADZE_SUPPORT_NODENAME_H
