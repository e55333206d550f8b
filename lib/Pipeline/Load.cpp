// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// ONNX models as input of a compilation.
#include "Compilation.h"
#include "Import/ONNX/Import.h"
#include "KernelLibrary.h"

using namespace mlir;

namespace adze {

/// Parses --dim and --shape; emits an error for the first malformed one.
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
  result.overridable = options.overridable;
  return result;
}

/// Prints the result of --check: messages, a line and a table.
void Compilation::printCheck(const ImportReport &found) {
  for (const ImportIssue &issue : found.issues)
    report(issue);
  if (options.quiet)
    return;
  for (const ImportIssue &warning : found.warnings)
    diagnostics << "warning: " << warning.message << "\n";
  size_t numUnsupported = llvm::count_if(
      found.issues, [](const ImportIssue &issue) { return issue.unsupported; });
  diagnostics << options.input << ": ";
  if (found.issues.empty()) {
    diagnostics << "can be compiled\n";
  } else {
    size_t numErrors = found.issues.size() - numUnsupported;
    diagnostics << numErrors << (numErrors == 1 ? " error, " : " errors, ")
                << numUnsupported << " unsupported\n";
  }
  if (found.issues.empty() || found.numNodes == 0)
    return;
  printTable(found, diagnostics);
  diagnostics << options.input << ": " << summarize(found) << "\n";
}

CompileStatus Compilation::check(const ImportOptions &importOptions) {
  ImportReport found = checkONNX(options.input, context, importOptions);
  if (!options.json) {
    printCheck(found);
  } else if (llvm::Error error = ::adze::writeOutput(
                 options.output, [&](llvm::raw_ostream &os) {
                   printJSON(found, options.input, os);
                   return llvm::Error::success();
                 })) {
    return reportFileError(std::move(error));
  }
  return found.issues.empty() ? CompileStatus::Done
                              : CompileStatus::InputAtFault;
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
  importOptions->contents = options.contents;
  if (options.check)
    return check(*importOptions);
  importOptions->report = [this](const ImportIssue &issue) { report(issue); };
  ImportStatus status = ImportStatus::Done;
  auto imported = importONNX(options.input, context, *importOptions, &status);
  if (failed(imported))
    return status == ImportStatus::Unsupported ? CompileStatus::Unsupported
                                               : CompileStatus::InputAtFault;
  module = std::move(*imported);
  return CompileStatus::Done;
}

} // namespace adze
