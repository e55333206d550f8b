// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Executes a case in this process: compiles, runs, compares.
#ifndef ADZE_TESTS_CONFORMANCE_EXECUTE_H
#define ADZE_TESTS_CONFORMANCE_EXECUTE_H

#include "Cases.h"
#include "mlir/IR/MLIRContext.h"

namespace conformance {

struct Column {
  std::string name; // O0, O2, dyn, ...
  unsigned optLevel = 2;
  bool dynamic = false;     // every dim of every input unknown
  std::string cudaTarget;   // "cuda:sm_90a", or empty
  unsigned threads = 2;     // of a run
  bool compileOnly = false; // without a fallback to the CPU
};

enum class Status { Passed, Failed, Skipped };

struct Outcome {
  Status status = Status::Failed;
  std::string message; // the reason of a failure or skip
  double compileMs = 0, runMs = 0;
};

class Executor {
public:
  /// Initialises the state that all cases share.
  explicit Executor(Column column);

  /// Compiles and runs a model, so that processes forked later inherit the
  /// initialised state. Leaves no running thread.
  Error warmUp(const std::string &folder);

  /// Writes files to `folder`.
  Outcome run(const Case &test, const std::string &folder);

private:
  Error runDataSet(const Case &test, const std::string &data,
                   adze_module *module, adze_context *context);
  Error runModule(const Case &test, const std::string &path);

  Column column;
  mlir::MLIRContext context;
};

double nowMs();

} // namespace conformance

#endif // ADZE_TESTS_CONFORMANCE_EXECUTE_H
