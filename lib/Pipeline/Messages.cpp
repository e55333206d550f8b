// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Messages, progress and cancellation of a compilation.
#include "Compilation.h"
#include "Support/NodeName.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace adze {

CompileObserver::~CompileObserver() = default;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static StringRef getName(CompileMessage::Severity severity) {
  switch (severity) {
  case CompileMessage::Severity::Error:
    return "error";
  case CompileMessage::Severity::Warning:
    return "warning";
  case CompileMessage::Severity::Remark:
    return "remark";
  case CompileMessage::Severity::Note:
    return "note";
  }
  llvm_unreachable("a severity");
}

static llvm::raw_ostream::Colors getColor(CompileMessage::Severity severity) {
  switch (severity) {
  case CompileMessage::Severity::Error:
    return llvm::raw_ostream::RED;
  case CompileMessage::Severity::Warning:
    return llvm::raw_ostream::MAGENTA;
  case CompileMessage::Severity::Remark:
    return llvm::raw_ostream::BLUE;
  case CompileMessage::Severity::Note:
    return llvm::raw_ostream::CYAN;
  }
  llvm_unreachable("a severity");
}

void CompileMessage::print(llvm::raw_ostream &os) const {
  // Streams without colors ignore this.
  os.changeColor(getColor(severity), /*Bold=*/true);
  os << getName(severity) << ":";
  os.resetColor();
  os << " " << file;
  if (line)
    os << ":" << line << ":" << column;
  if (!file.empty())
    os << ": ";
  if (!node.empty()) {
    os << "node '" << node << "'";
    if (!op.empty())
      os << " (" << op << ")";
    os << ": ";
  }
  os << text << "\n";
}

/// Sets the file, and either the node or the line and column. The name of the
/// model in locations has no folder, so that modules do not depend on it;
/// messages have the path as given.
static void setPlace(CompileMessage &message, Location loc, StringRef input) {
  SmallVector<StringRef> nodes = getNodeNames(loc);
  FileLineColLoc file;
  loc->walk([&](Location part) {
    file = dyn_cast<FileLineColLoc>(part);
    return file ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!file)
    return;
  StringRef name = file.getFilename().getValue();
  message.file =
      (name == llvm::sys::path::filename(input) ? input : name).str();
  if (!nodes.empty()) {
    message.node = nodes.front().str();
    return;
  }
  message.line = file.getLine();
  message.column = file.getColumn();
}

void Compilation::report(const CompileMessage &message) {
  if (!options.observer)
    return message.print(diagnostics);
  std::lock_guard<std::mutex> guard(observing);
  options.observer->report(message);
}

void Compilation::report(const ImportIssue &issue) {
  using Severity = CompileMessage::Severity;
  CompileMessage message;
  switch (issue.severity) {
  case ImportIssue::Severity::Error:
    sawError = true;
    break;
  case ImportIssue::Severity::Warning:
    message.severity = Severity::Warning;
    if (options.quiet)
      return;
    break;
  case ImportIssue::Severity::Note:
    message.severity = Severity::Note;
    break;
  }
  message.file = options.input;
  message.node = issue.node;
  message.op = issue.op;
  message.text = issue.text;
  report(message);
}

void Compilation::report(Diagnostic &diagnostic) {
  using Severity = CompileMessage::Severity;
  CompileMessage message;
  message.text = diagnostic.str();
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    sawError = true;
    sawUnsupported |= StringRef(message.text).contains("unsupported");
    break;
  case DiagnosticSeverity::Warning:
    message.severity = Severity::Warning;
    if (options.quiet)
      return;
    break;
  case DiagnosticSeverity::Remark:
    message.severity = Severity::Remark;
    if (!options.verbose)
      return;
    break;
  case DiagnosticSeverity::Note:
    message.severity = Severity::Note;
    break;
  }
  setPlace(message, diagnostic.getLocation(), options.input);
  report(message);
  if (!options.verbose)
    return;
  // Short notes of MLIR, such as the text of an op, help developers; the text
  // of a whole function does not.
  constexpr size_t maxNote = 2000;
  for (Diagnostic &added : diagnostic.getNotes()) {
    CompileMessage note;
    note.severity = Severity::Note;
    note.text = StringRef(added.str()).take_front(maxNote).str();
    report(note);
  }
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

void Compilation::progress(StringRef stage, size_t done, size_t all) {
  if (!options.observer)
    return;
  std::lock_guard<std::mutex> guard(observing);
  options.observer->progress(stage, done, all);
}

bool Compilation::isCancelled() {
  if (!sawCancel && options.observer && options.observer->isCancelled())
    sawCancel = true;
  return sawCancel;
}

/// After a cancellation, the remaining passes of a stage on the module do
/// nothing, so the stage ends soon, and fails. Passes on other modules run, as
/// their callers rely on them.
void Compilation::skipPassesOnceCancelled() {
  context.registerActionHandler(
      [this](llvm::function_ref<void()> run, const tracing::Action &action) {
        auto isOf = [&](const Program &program) {
          return llvm::dyn_cast_if_present<Operation *>(
                     action.getContextIRUnits().front()) == *program.module;
        };
        bool isOurs = isa<PassExecutionAction>(action) &&
                      !action.getContextIRUnits().empty() &&
                      llvm::any_of(programs, isOf);
        if (!isOurs || !isCancelled())
          run();
      });
}

} // namespace adze
