// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Faults as passes have them, to see that random graphs find each.
#ifndef ADZE_TESTS_PROPERTY_FAULTS_H
#define ADZE_TESTS_PROPERTY_FAULTS_H

#include "Pipeline/Stages.h"
#include "mlir/IR/BuiltinOps.h"

namespace property {

/// A wrong rewrite of one op.
struct Fault {
  llvm::StringLiteral name, what;
  adze::Stage stage; // after which it is made
  /// Makes it, where the op is one for it.
  bool (*make)(mlir::Operation *op);
};

llvm::ArrayRef<Fault> getFaults();
const Fault *findFault(llvm::StringRef name);

/// Makes a pass known that makes a fault at the first op that is one for it.
void registerFaultPass();
std::string getFaultPass(const Fault &fault);
/// Whether the pass has found such an op since it was asked last.
bool wasFaultMade();

/// Whether some op of a graph as it is generated is one for the fault; what is
/// made of it may still not be.
bool mayHaveFault(mlir::ModuleOp module, const Fault &fault);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_FAULTS_H
