// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Imports an ONNX file into the graph dialect.
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

/// The known values of a symbolic dim: `N=4`, `N=1..64`, or `N=1..64:8` (8 is
/// common). `N=?` makes each dim of this name a separate symbol.
struct DimOption {
  std::string name;
  int64_t min = 0;
  int64_t max = -1;    // unbounded
  int64_t common = -1; // unknown
  bool isApart = false;
};

/// The shape of an input: `x=1x3x?x224`; -1 keeps a dim of the model.
struct ShapeOption {
  std::string name;
  std::vector<int64_t> dims;
};

/// Parse the arguments of `--dim` and `--shape`. Return nothing, with the
/// reason in `error`, if the text does not have the form above.
std::optional<DimOption> parseDimOption(llvm::StringRef text,
                                        std::string &error);
std::optional<ShapeOption> parseShapeOption(llvm::StringRef text,
                                            std::string &error);

class CustomKernels;

enum class ImportStatus { Done, InputAtFault, Unsupported };

/// The reason why a model cannot be compiled, or a warning.
struct ImportIssue {
  enum class Severity { Error, Warning, Note };
  Severity severity = Severity::Error;
  /// "model.onnx: node 'conv1' (ai.onnx.Conv-22): expected ..., but got ...".
  std::string message;
  bool unsupported = false;
  bool isNode = false; // refers to a node, or to the model
  /// The node of the main graph that contains the issue, and its index:
  /// "conv1". Empty, and -1, outside of nodes.
  std::string node;
  int64_t index = -1;
  /// "ai.onnx.Conv-22" for the node, else empty. The node that failed may be in
  /// a graph attribute or a function.
  std::string op, failedOp;
  bool isMissing = false; // the operator is unknown, in any form
  /// The message without file and node.
  std::string text;
};

struct ImportOptions {
  std::vector<DimOption> dims;
  std::vector<ShapeOption> shapes;
  /// Patterns of names of initializers that become inputs with a default; `*`
  /// matches any text.
  std::vector<std::string> overridable;
  CustomKernels *kernels = nullptr; // may be null; outlives the import
  /// The file with the bytes of the model; if empty, the path of the model.
  /// Messages, locations and external data refer to the path.
  std::string contents;
  /// If set, receives errors, warnings and the summary instead of the
  /// diagnostic engine. The summary has no node.
  std::function<void(const ImportIssue &)> report;
};

/// The result of checking a model.
struct ImportReport {
  std::vector<ImportIssue> issues;   // empty: it can be imported
  std::vector<ImportIssue> warnings; // accepted, but not valid ONNX
  /// The nodes of the graph, of graph attributes and of functions of the model,
  /// and those with an issue. 0 if the file is not a model.
  size_t numNodes = 0, numFailed = 0;
};

/// Summarizes the issues in a line: the number of supported nodes, the missing
/// operators and their counts, and a remedy.
std::string summarize(const ImportReport &report);

/// Prints the issues as a table with one row for each operator.
void printTable(const ImportReport &report, llvm::raw_ostream &os);

/// Prints the report as a JSON object.
void printJSON(const ImportReport &report, llvm::StringRef path,
               llvm::raw_ostream &os);

/// Registers the dialects of an imported module.
void registerImportDialects(mlir::DialectRegistry &registry);

/// Imports the model at `path` as a module with the function @main
/// (docs/architecture.md). Errors are emitted as diagnostics without a
/// location, since their text has file and node; `status` then states whether
/// the model is invalid or unsupported. Large tensors stay in the file.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importONNX(llvm::StringRef path, mlir::MLIRContext &context,
           ImportOptions options = {}, ImportStatus *status = nullptr);

/// Returns all issues that prevent the import of the model at `path`.
ImportReport checkONNX(llvm::StringRef path, mlir::MLIRContext &context,
                       ImportOptions options = {});

/// Prints docs/OpSupport.md: all operators of ONNX and their support.
void printOpSupport(llvm::raw_ostream &os);

} // namespace adze

#endif // ADZE_IMPORT_ONNX_IMPORT_H
