// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What --report says of a planned module.
#ifndef ADZE_LIB_PIPELINE_REPORT_H
#define ADZE_LIB_PIPELINE_REPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <tuple>
#include <vector>

namespace adze {

/// A tensor that a kernel reads or writes.
struct ReportTensor {
  std::string type; // "f32 1x64x56x56"
  int64_t bytes = 0;
};

/// One launch. Numbers are those at Report::symbols.
struct ReportKernel {
  std::string name, function;
  std::vector<std::string> nodes;
  bool isTile = false; // else of the reference path
  std::vector<ReportTensor> inputs, outputs;
  int64_t bytesRead = 0, bytesWritten = 0, bytesSaved = 0, flops = 0;
  /// Block parameters by target: "" for all, "cuda".
  std::vector<std::pair<std::string, int64_t>> parameters, cudaParameters;
};

/// What was nearly recognised, merged or fused, and the first condition that
/// failed.
struct ReportRefusal {
  std::string op, node, pattern;
  std::string producer, producerNode; // of what the op reads, for fusions
  std::string reason;
  bool operator<(const ReportRefusal &other) const {
    auto all = [](const ReportRefusal &r) {
      return std::tie(r.op, r.node, r.pattern, r.producer, r.producerNode,
                      r.reason);
    };
    return all(*this) < all(other);
  }
};

struct Report {
  std::string model;
  unsigned optLevel = 2;
  std::vector<std::string> targets;
  /// Of the CPU whose blocks were chosen.
  std::vector<std::pair<std::string, int64_t>> cacheBytes;
  std::vector<std::string> traits; // of the same CPU
  std::vector<std::pair<std::string, int64_t>> symbols;
  int64_t arenaBytes = 0, arenaLowerBoundBytes = 0, weightsBytes = 0;
  std::vector<ReportKernel> kernels;
  std::vector<ReportRefusal> refusals;
};

/// From now on, what passes refuse is appended to `refusals`, until the context
/// loses its remark engine.
void collectRefusals(mlir::MLIRContext &context,
                     std::vector<ReportRefusal> &refusals);

/// Of a module after plan-memory, at typical values of its symbols; emits an
/// error if it has no host program.
mlir::FailureOr<Report> makeReport(mlir::ModuleOp module);

void writeJSON(const Report &report, llvm::raw_ostream &os);
/// A page of its own: a table of kernels, the costliest first.
void writeHTML(const Report &report, llvm::raw_ostream &os);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_REPORT_H
