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
    for (const ImportIssue &issue : issues)
      diagnostics << "error: " << issue.message << "\n";
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
