// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Typical faults of passes, to check that random graphs detect each of them.
#ifndef ADZE_TESTS_PROPERTY_FAULTS_H
#define ADZE_TESTS_PROPERTY_FAULTS_H

#include "Pipeline/Stages.h"
#include "mlir/IR/BuiltinOps.h"

namespace property {

/// A wrong rewrite of one op.
struct Fault {
  llvm::StringLiteral name, what;
  adze::Stage stage; // after which it is injected
  /// Injects the fault if the op is suitable.
  bool (*make)(mlir::Operation *op);
};

llvm::ArrayRef<Fault> getFaults();
const Fault *findFault(llvm::StringRef name);

/// Registers a pass that injects a fault at the first suitable op.
void registerFaultPass();
std::string getFaultPass(const Fault &fault);
/// Returns true if the pass has found such an op since the last query.
bool wasFaultMade();

/// Returns true if an op of a generated graph is suitable for the fault; passes
/// may still rewrite it.
bool mayHaveFault(mlir::ModuleOp module, const Fault &fault);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_FAULTS_H
