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

/// What --check found, in a line.
void Compilation::printCheck(size_t numErrors, size_t numUnsupported) {
  diagnostics << options.input << ": ";
  if (numErrors + numUnsupported == 0)
    diagnostics << "can be compiled\n";
  else
    diagnostics << numErrors << " errors, " << numUnsupported
                << " unsupported\n";
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
  if (options.check) {
    std::vector<ImportIssue> issues =
        checkONNX(options.input, context, *importOptions);
    unsigned numUnsupported = 0;
    for (const ImportIssue &issue : issues) {
      numUnsupported += issue.unsupported;
      diagnostics << "error: " << issue.message << "\n";
    }
    if (!options.quiet)
      printCheck(issues.size() - numUnsupported, numUnsupported);
    return issues.empty() ? CompileStatus::Done : CompileStatus::InputAtFault;
  }
  ImportStatus status = ImportStatus::Done;
  auto imported = importONNX(options.input, context, *importOptions, &status);
  if (failed(imported))
    return status == ImportStatus::Unsupported ? CompileStatus::Unsupported
                                               : CompileStatus::InputAtFault;
  module = std::move(*imported);
  return CompileStatus::Done;
}

} // namespace adze
