// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The public functions.
#include "Import/ONNX/Import.h"
#include "Importer.h"
#include "mlir/IR/Diagnostics.h"

using namespace adze;
using namespace adze::importer;

/// More than these are not told at once; --check lists all.
static constexpr size_t kMaxErrors = 20;

/// Attempts at a model whose branches differ in rank.
static constexpr unsigned kMaxAttempts = 64;

/// Imports a model. Where branches differ in rank and nothing declares which
/// it is, the one choice is taken with which the rest of the model is valid.
static std::unique_ptr<Importer> importModel(llvm::StringRef path,
                                             mlir::MLIRContext &context,
                                             const ImportOptions &options) {
  auto undecided = std::make_unique<Importer>(path, &context, options);
  undecided->run();
  if (!undecided->wantsChoices())
    return undecided;
  std::unique_ptr<Importer> only;
  BranchChoices choices;
  for (unsigned i = 0; i < kMaxAttempts; ++i) {
    auto attempt =
        std::make_unique<Importer>(path, &context, options, &choices);
    attempt->run();
    bool isValid = attempt->issues.empty();
    if (isValid && only)
      break;
    if (isValid)
      only = std::move(attempt);
    if (!choices.advance())
      return only ? std::move(only) : std::move(undecided);
  }
  return undecided;
}

/// What several issues come to, in a line.
static ImportIssue summarize(llvm::StringRef path,
                             llvm::ArrayRef<ImportIssue> issues) {
  size_t numNodes = llvm::count_if(
      issues, [](const ImportIssue &issue) { return issue.isNode; });
  ImportIssue summary;
  llvm::raw_string_ostream os(summary.text);
  if (issues.size() > kMaxErrors)
    os << "and " << (issues.size() - kMaxErrors)
       << " more errors, which --check lists; ";
  if (numNodes == issues.size())
    os << numNodes << " nodes cannot be imported";
  else
    os << issues.size() << " errors keep the model from being imported";
  summary.message = (path + ": " + summary.text).str();
  return summary;
}

void adze::registerImportDialects(mlir::DialectRegistry &registry) {
  registry.insert<graph::GraphDialect, mlir::func::FuncDialect>();
}

mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
adze::importONNX(llvm::StringRef path, mlir::MLIRContext &context,
                 ImportOptions options, ImportStatus *status) {
  std::unique_ptr<Importer> importer = importModel(path, context, options);
  if (status)
    *status = ImportStatus::Done;
  if (importer->issues.empty())
    return std::move(importer->module);
  bool allUnsupported = true;
  auto report = [&](const ImportIssue &issue) {
    if (options.report)
      options.report(issue);
    else
      mlir::emitError(mlir::UnknownLoc::get(&context), issue.message);
  };
  for (auto [i, issue] : llvm::enumerate(importer->issues)) {
    allUnsupported &= issue.unsupported;
    if (i < kMaxErrors)
      report(issue);
  }
  if (importer->issues.size() > 1)
    report(summarize(path, importer->issues));
  if (status)
    *status =
        allUnsupported ? ImportStatus::Unsupported : ImportStatus::InputAtFault;
  return mlir::failure();
}

std::vector<ImportIssue> adze::checkONNX(llvm::StringRef path,
                                         mlir::MLIRContext &context,
                                         ImportOptions options) {
  return std::move(importModel(path, context, options)->issues);
}
