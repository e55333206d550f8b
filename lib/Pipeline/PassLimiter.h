// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Leaves out the passes behind a PassCut.
#ifndef ADZE_LIB_PIPELINE_PASSLIMITER_H
#define ADZE_LIB_PIPELINE_PASSLIMITER_H

#include "Pipeline/PassCut.h"
#include "mlir/IR/Action.h"

namespace adze {

/// Handles the pass actions of a context without threads, as long as it lives.
class PassLimiter {
public:
  PassLimiter(mlir::MLIRContext &context, PassCut &cut);
  ~PassLimiter();

  /// The passes of `manager`, which is about to run, are counted from 0.
  void begin(mlir::OpPassManager &manager);
  /// Passes run without limit from here on.
  void end() { isActive = false; }

private:
  void handle(llvm::function_ref<void()> run,
              const mlir::tracing::Action &action);
  unsigned getNumber(const mlir::Pass &pass);
  unsigned getLimit(mlir::Operation *op) const;

  mlir::MLIRContext &context;
  PassCut &cut;
  bool isActive = false;
  unsigned depth = 0; // of passes that run passes
  unsigned next = 0;
  llvm::DenseMap<const mlir::Pass *, unsigned> numbers;
};

} // namespace adze

#endif // ADZE_LIB_PIPELINE_PASSLIMITER_H
