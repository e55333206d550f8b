// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The report of a module: its graph, kernels, memory and refusals.
#ifndef ADZE_LIB_PIPELINE_REPORT_H
#define ADZE_LIB_PIPELINE_REPORT_H

#include "Pipeline/Compile.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace adze {

/// An op of the imported graph, or one of its inputs and outputs.
struct ReportNode {
  std::string op; // "graph.conv", "input", "output"
  std::vector<std::string> nodes;
  std::string type;                 // of the first result: "f32 1x64x56x56"
  std::vector<unsigned> inputs;     // indices of the nodes that it reads
  std::vector<std::string> weights; // types of the constants it reads
};

/// A tensor that a kernel reads or writes.
struct ReportTensor {
  std::string type; // "f32 1x64x56x56"
  int64_t bytes = 0;
  std::string place;          // "input", "output", "weights", "arena" or "box"
  std::string name;           // of an input or output
  int64_t slot = -1;          // in the arena: index in Report::slots
  std::vector<unsigned> from; // the kernels that wrote it
};

/// A part of the arena that holds a tensor during launches `first` to `last`.
/// Sizes are those for Report::symbols.
struct ReportSlot {
  std::string type;
  int64_t offset = 0, bytes = 0;
  unsigned first = 0, last = 0;
};

struct ReportWeight {
  std::string type;
  int64_t bytes = 0;
  std::vector<unsigned> kernels; // that read it
};

/// A compiled function. Several launches may share it.
struct ReportFunction {
  std::string name;
  std::string text;   // its IR before lowering
  std::string sameAs; // the function whose code it calls, or empty
  std::vector<std::pair<std::string, int64_t>> codeBytes; // by CPU
  /// By GPU: threads of a block, bytes of shared memory and, if ptxas assembled
  /// it, registers of a thread and spilled bytes.
  std::map<std::string, std::vector<std::pair<std::string, int64_t>>>
      deviceCode;
};

/// One launch. Sizes are those for Report::symbols.
struct ReportKernel {
  std::string name, function;
  std::vector<std::string> nodes;
  bool isTile = false;         // else on the reference path
  bool isOtherVersion = false; // of the kernel before it, for other sizes
  std::vector<ReportTensor> inputs, outputs;
  int64_t bytesRead = 0, bytesWritten = 0, bytesSaved = 0, flops = 0;
  std::string refusal; // why it has no tile form, if known
  /// Block parameters by target: "" for all, "cuda".
  std::vector<std::pair<std::string, int64_t>> parameters, cudaParameters;
};

/// An op that was almost recognised, merged or fused, and the first condition
/// that failed.
struct ReportRefusal {
  std::string op, node, pattern;
  std::string producer, producerNode; // of the operand, for fusions
  std::string reason;
  bool operator<(const ReportRefusal &other) const {
    auto all = [](const ReportRefusal &r) {
      return std::tie(r.op, r.node, r.pattern, r.producer, r.producerNode,
                      r.reason);
    };
    return all(*this) < all(other);
  }
};

/// A product whose constant weight was quantized.
struct ReportRounding {
  std::string op, node;
  int64_t bits = 0, block = 0;
  double relativeError = 0;
};

struct Report {
  std::string model;
  unsigned optLevel = 2;
  std::vector<std::string> targets;
  /// Of the CPU that block sizes were chosen for.
  std::vector<std::pair<std::string, int64_t>> cacheBytes;
  std::vector<std::string> traits; // of the same CPU
  /// Bytes of its vector registers, and operations of a core in the time of a
  /// byte.
  int64_t vectorBytes = 0, flopsPerByte = 0;
  std::vector<std::pair<std::string, int64_t>> symbols;
  int64_t arenaBytes = 0, arenaLowerBoundBytes = 0, weightsBytes = 0;
  std::vector<ReportNode> nodes;
  std::vector<ReportKernel> kernels;
  std::vector<ReportFunction> functions;
  std::vector<ReportSlot> slots;
  std::vector<ReportWeight> weights;
  std::vector<ReportRefusal> refusals;
  std::vector<ReportRounding> roundings;
  std::vector<ProbedProduct> precision; // of --precision=auto

  /// Returns the entry of a function, or null.
  ReportFunction *findFunction(llvm::StringRef name);
};

/// Returns "f32 1x64x56x56" for a type with a shape, else the text of the type.
std::string describeType(mlir::Type type);

/// Appends refusals and quantized weights of later passes to the report, until
/// the context loses its remark engine.
void collectRemarks(mlir::MLIRContext &context, Report &report);

/// Adds the ops of the graph of an imported module, in program order. Those of
/// regions follow their parent op.
void collectNodes(mlir::ModuleOp module, std::vector<ReportNode> &nodes);

/// Adds the data of a module after plan-memory, for typical values of its
/// symbols; emits an error if it has no host program.
mlir::LogicalResult gatherReport(mlir::ModuleOp module, Report &report);

/// Adds the code sizes of `kernels` in an object of machine code. The names of
/// the functions of a kernel begin with its own name, after `prefix`.
void addCodeBytes(llvm::ArrayRef<char> object,
                  llvm::ArrayRef<llvm::StringRef> kernels,
                  llvm::StringRef prefix, llvm::StringRef cpu, Report &report);

void writeJSON(const Report &report, llvm::raw_ostream &os);
/// Writes the page of Report/Page.h with the report.
void writeHTML(const Report &report, llvm::raw_ostream &os);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_REPORT_H
