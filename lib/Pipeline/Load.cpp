// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// ONNX models as input of a compilation.
#include "Compilation.h"
#include "Import/ONNX/Import.h"
#include "KernelLibrary.h"
#include "llvm/Support/JSON.h"

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

/// What --check --json writes.
static void writeCheck(StringRef model, llvm::ArrayRef<ImportIssue> issues,
                       llvm::raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("model", model);
    json.attribute("compiles", issues.empty());
    json.attributeArray("issues", [&] {
      for (const ImportIssue &issue : issues)
        json.object([&] {
          if (issue.isNode) {
            json.attribute("node", issue.node);
            json.attribute("index", issue.index);
            json.attribute("op", issue.op);
          }
          json.attribute("kind", issue.unsupported ? "unsupported" : "error");
          json.attribute("reason", issue.text);
        });
    });
  });
  os << "\n";
}

CompileStatus Compilation::check(const ImportOptions &importOptions) {
  std::vector<ImportIssue> issues =
      checkONNX(options.input, context, importOptions);
  CompileStatus status =
      issues.empty() ? CompileStatus::Done : CompileStatus::InputAtFault;
  if (options.json) {
    llvm::Error error = ::adze::writeOutput(
        options.output, [&](llvm::raw_ostream &os) -> llvm::Error {
          writeCheck(options.input, issues, os);
          return llvm::Error::success();
        });
    return error ? reportFileError(std::move(error)) : status;
  }
  for (const ImportIssue &issue : issues)
    report(issue);
  size_t numUnsupported = llvm::count_if(
      issues, [](const ImportIssue &issue) { return issue.unsupported; });
  if (!options.quiet)
    printCheck(issues.size() - numUnsupported, numUnsupported);
  return status;
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
