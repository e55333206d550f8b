// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Skips the passes after a PassLimit.
#ifndef ADZE_LIB_PIPELINE_PASSLIMITER_H
#define ADZE_LIB_PIPELINE_PASSLIMITER_H

#include "Pipeline/PassLimit.h"
#include "mlir/IR/Action.h"

namespace adze {

/// Handles the pass actions of a context without threads during its lifetime.
class PassLimiter {
public:
  PassLimiter(mlir::MLIRContext &context, PassLimit &limit);
  ~PassLimiter();

  /// Counts the passes of `manager`, which is about to run, from 0.
  void begin(mlir::OpPassManager &manager);
  /// Ends the limit: all later passes run.
  void end() { isActive = false; }

private:
  void handle(llvm::function_ref<void()> run,
              const mlir::tracing::Action &action);
  unsigned getNumber(const mlir::Pass &pass);
  unsigned getLimit(mlir::Operation *op) const;

  mlir::MLIRContext &context;
  PassLimit &limit;
  bool isActive = false;
  unsigned depth = 0; // of passes that run passes
  unsigned next = 0;
  llvm::DenseMap<const mlir::Pass *, unsigned> numbers;
};

} // namespace adze

#endif // ADZE_LIB_PIPELINE_PASSLIMITER_H
