// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The public functions of the importer.
#include "Import/ONNX/Import.h"
#include "Importer.h"
#include "mlir/IR/Diagnostics.h"

using namespace adze;
using namespace adze::importer;

/// The number of errors that are reported at once; --check lists all.
static constexpr size_t kMaxErrors = 20;

/// The number of attempts for a model whose branches differ in rank.
static constexpr unsigned kMaxAttempts = 64;

/// Imports a model. If branches differ in rank and no declaration selects one,
/// the only choice for which the rest of the model is valid is taken; if
/// several are, the following nodes are put into both branches.
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
    if (choices.advance())
      continue;
    if (only)
      return only;
    break;
  }
  auto both = std::make_unique<Importer>(path, &context, options);
  both->duplicatesTails = true;
  both->run();
  return both->issues.empty() ? std::move(both) : std::move(undecided);
}

/// Emits a summary of the issues in a line: an error if there are several, else
/// a note.
static void emitSummary(llvm::StringRef path, const ImportReport &report,
                        llvm::function_ref<void(const ImportIssue &)> notify) {
  size_t count = report.issues.size();
  if (count == 1 && report.numNodes == 0)
    return; // no model
  ImportIssue summary;
  llvm::raw_string_ostream os(summary.text);
  if (count > kMaxErrors)
    os << "and " << (count - kMaxErrors)
       << " more errors, which --check lists; ";
  os << summarize(report);
  summary.message = (path + ": " + summary.text).str();
  if (count == 1)
    summary.severity = ImportIssue::Severity::Note;
  notify(summary);
}

static mlir::DiagnosticSeverity getSeverity(ImportIssue::Severity severity) {
  switch (severity) {
  case ImportIssue::Severity::Error:
    return mlir::DiagnosticSeverity::Error;
  case ImportIssue::Severity::Warning:
    return mlir::DiagnosticSeverity::Warning;
  case ImportIssue::Severity::Note:
    return mlir::DiagnosticSeverity::Note;
  }
  llvm_unreachable("a severity of an issue");
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
  auto notify = [&](const ImportIssue &issue) {
    if (options.report)
      return options.report(issue);
    mlir::Diagnostic diagnostic(mlir::UnknownLoc::get(&context),
                                getSeverity(issue.severity));
    diagnostic << issue.message;
    context.getDiagEngine().emit(std::move(diagnostic));
  };
  llvm::for_each(importer->warnings, notify);
  if (importer->issues.empty())
    return std::move(importer->module);
  bool allUnsupported = true;
  ImportReport report = importer->takeReport();
  for (auto [i, issue] : llvm::enumerate(report.issues)) {
    allUnsupported &= issue.unsupported;
    if (i < kMaxErrors)
      notify(issue);
  }
  emitSummary(path, report, notify);
  if (status)
    *status =
        allUnsupported ? ImportStatus::Unsupported : ImportStatus::InputAtFault;
  return mlir::failure();
}

ImportReport adze::checkONNX(llvm::StringRef path, mlir::MLIRContext &context,
                             ImportOptions options) {
  return importModel(path, context, options)->takeReport();
}
