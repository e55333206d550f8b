// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// One case in this process: compile, run, compare.
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
  bool compileOnly = false; // without a fallback to the CPU
  unsigned threads = 2;     // of a run
};

enum class Status { Passed, Failed, Skipped };

struct Outcome {
  Status status = Status::Failed;
  std::string message; // why it failed or was skipped
  double compileMs = 0, runMs = 0;
};

class Executor {
public:
  /// Readies all that cases share.
  explicit Executor(Column column);

  /// Compiles and runs a model of its own, so that processes forked afterwards
  /// find everything in place. Leaves no thread behind.
  Error warmUp(const std::string &folder);

  /// Files go to `folder`.
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
