// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// From an ONNX file to the graph dialect.
#ifndef ADZE_IMPORT_ONNX_IMPORT_H
#define ADZE_IMPORT_ONNX_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace adze {

/// What is known of a symbolic dim: `N=4`, `N=1..64`, or `N=1..64:8` (the
/// common one is 8); or `N=?`: the dims of that name have a size each.
struct DimOption {
  std::string name;
  int64_t min = 0;
  int64_t max = -1;    // no bound
  int64_t common = -1; // not said
  bool isApart = false;
};

/// The shape of an input: `x=1x3x?x224`; -1 leaves a dim as the model has it.
struct ShapeOption {
  std::string name;
  std::vector<int64_t> dims;
};

/// Parse what follows `--dim` and `--shape`; none, with the reason in `error`,
/// if it is not of the form above.
std::optional<DimOption> parseDimOption(llvm::StringRef text,
                                        std::string &error);
std::optional<ShapeOption> parseShapeOption(llvm::StringRef text,
                                            std::string &error);

class CustomKernels;

enum class ImportStatus { Done, InputAtFault, Unsupported };

/// A reason why a model cannot be compiled, or a remark on one that can.
struct ImportIssue {
  enum class Severity { Error, Warning, Note };
  Severity severity = Severity::Error;
  /// "model.onnx: node 'conv1' (ai.onnx.Conv-22): expected ..., but got ...".
  std::string message;
  bool unsupported = false;
  bool isNode = false; // what it is about: a node, or the model around them
  /// The node of the model's graph in which it was found, and its place among
  /// the nodes: "conv1". Empty, and -1, outside of any node.
  std::string node;
  int64_t index = -1;
  /// "ai.onnx.Conv-22", if it is about a node; else empty. What failed may be
  /// a node of its graphs or of its function.
  std::string op, failedOp;
  bool isMissing = false; // Adze has no such operator, whatever its form
  /// The message without file and node.
  std::string text;
};

struct ImportOptions {
  std::vector<DimOption> dims;
  std::vector<ShapeOption> shapes;
  /// Patterns of names of initializers that become inputs with a default; `*`
  /// is any text.
  std::vector<std::string> overridable;
  CustomKernels *kernels = nullptr; // may be null; outlives the import
  /// The file that holds the model's bytes; empty: the model's path itself.
  /// Messages, locations and external data refer to the path.
  std::string contents;
  /// Receives errors, warnings and the summary instead of the diagnostic
  /// engine, if set. The summary has no node.
  std::function<void(const ImportIssue &)> report;
};

/// What an import found.
struct ImportReport {
  std::vector<ImportIssue> issues;   // empty: it can be imported
  std::vector<ImportIssue> warnings; // what is taken though it is not ONNX
  /// Nodes of the graph, of graphs in it and of the model's functions; and
  /// those with an issue. 0 of a file that is no model.
  size_t numNodes = 0, numFailed = 0;
};

/// What the issues come to, in a line: how many nodes are supported, which
/// operators are missing and how often, and what to do.
std::string summarize(const ImportReport &report);

/// The same by operators, as a table with one row each.
void printTable(const ImportReport &report, llvm::raw_ostream &os);

/// All of a report as a JSON object.
void printJSON(const ImportReport &report, llvm::StringRef path,
               llvm::raw_ostream &os);

/// The dialects of an imported module.
void registerImportDialects(mlir::DialectRegistry &registry);

/// Imports the model at `path` as a module with the function @main
/// (docs/architecture.md). What is wrong is emitted as diagnostics without a
/// location, since their text already has file and node; `status` then says
/// whether the model or Adze falls short. Large tensors stay in the file.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importONNX(llvm::StringRef path, mlir::MLIRContext &context,
           ImportOptions options = {}, ImportStatus *status = nullptr);

/// All that keeps the model at `path` from being imported; no issues if
/// nothing.
ImportReport checkONNX(llvm::StringRef path, mlir::MLIRContext &context,
                       ImportOptions options = {});

/// Writes docs/OpSupport.md: all operators of ONNX and what becomes of them.
void printOpSupport(llvm::raw_ostream &os);

} // namespace adze

#endif // ADZE_IMPORT_ONNX_IMPORT_H
