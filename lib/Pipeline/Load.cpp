// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// ONNX models as input of a compilation.
#include "Compilation.h"
#include "Import/ONNX/Import.h"
#include "KernelLibrary.h"

using namespace mlir;

namespace adze {

/// What --dim and --shape say; emits an error at the first that is malformed.
static FailureOr<ImportOptions> getImportOptions(const CompileOptions &options,
                                                 MLIRContext &context) {
  ImportOptions result;
  std::string error;
  auto complain = [&](StringRef flag, StringRef text) {
    return emitError(UnknownLoc::get(&context))
           << flag << " " << text << ": " << error;
  };
  for (const std::string &text : options.dims) {
    std::optional<DimOption> dim = parseDimOption(text, error);
    if (!dim)
      return complain("--dim", text);
    result.dims.push_back(*dim);
  }
  for (const std::string &text : options.shapes) {
    std::optional<ShapeOption> shape = parseShapeOption(text, error);
    if (!shape)
      return complain("--shape", text);
    result.shapes.push_back(*shape);
  }
  return result;
}

/// What --check found: a JSON object on standard output, or messages, a line
/// and a table.
CompileStatus Compilation::printCheck(const ImportReport &check) {
  size_t numUnsupported = llvm::count_if(
      check.issues, [](const ImportIssue &issue) { return issue.unsupported; });
  for (const ImportIssue &issue : check.issues)
    diagnostics << "error: " << issue.message << "\n";
  if (options.json) {
    llvm::Error error = ::adze::writeOutput("-", [&](llvm::raw_ostream &os) {
      printJSON(check, options.input, os);
      return llvm::Error::success();
    });
    if (error)
      return reportFileError(std::move(error));
  } else if (!options.quiet) {
    for (const std::string &warning : check.warnings)
      diagnostics << "warning: " << warning << "\n";
    diagnostics << options.input << ": ";
    if (check.issues.empty())
      diagnostics << "can be compiled\n";
    else
      diagnostics << check.issues.size() - numUnsupported << " errors, "
                  << numUnsupported << " unsupported\n";
  }
  if (check.issues.empty())
    return CompileStatus::Done;
  if (!options.json && check.numNodes) {
    printTable(check, diagnostics);
    diagnostics << options.input << ": " << summarize(check) << "\n";
  }
  return CompileStatus::InputAtFault;
}

CompileStatus Compilation::loadModel() {
  FailureOr<ImportOptions> importOptions = getImportOptions(options, context);
  if (failed(importOptions))
    return CompileStatus::Usage;
  KernelLibrary kernels;
  if (!options.kernels.empty()) {
    if (failed(kernels.load(options.kernels, context)))
      return CompileStatus::InputAtFault;
    importOptions->kernels = &kernels;
  }
  if (options.check)
    return printCheck(checkONNX(options.input, context, *importOptions));
  ImportStatus status = ImportStatus::Done;
  auto imported = importONNX(options.input, context, *importOptions, &status);
  if (failed(imported))
    return status == ImportStatus::Unsupported ? CompileStatus::Unsupported
                                               : CompileStatus::InputAtFault;
  module = std::move(*imported);
  return CompileStatus::Done;
}

} // namespace adze
