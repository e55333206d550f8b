// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// adze-import: only imports a model and prints the module, for tests.
#include "Import/ONNX/Import.h"
#include "Support/OutputFile.h"
#include "Support/Version.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::desc("MODEL.onnx"));
static cl::list<std::string> dims("dim", cl::desc("N=1 | N=1..64[:8]"));
static cl::list<std::string> shapes("shape", cl::desc("x=1x3x224x224"));
static cl::opt<bool> check("check",
                           cl::desc("List what keeps it from being compiled"));
static cl::opt<bool> locations("locations", cl::desc("Print locations"));
static cl::opt<bool> quiet("quiet", cl::desc("Do not print the module"));
static cl::opt<bool> opSupport("op-support",
                               cl::desc("Print docs/OpSupport.md"));

template <typename Option, typename Parse>
static bool parseAll(const cl::list<std::string> &texts, Parse parse,
                     std::vector<Option> &options) {
  for (const std::string &text : texts) {
    std::string error;
    auto option = parse(text, error);
    if (!option) {
      llvm::errs() << "error: " << error << "\n";
      return false;
    }
    options.push_back(*option);
  }
  return true;
}

int main(int argc, char **argv) {
  adze::prepareOutputs();
  cl::SetVersionPrinter(adze::printVersion);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Adze's import\n\n  example: adze-import model.onnx --dim N=4\n");
  if (opSupport) {
    adze::printOpSupport(llvm::outs());
    return 0;
  }
  adze::ImportOptions options;
  if (!parseAll(dims, adze::parseDimOption, options.dims) ||
      !parseAll(shapes, adze::parseShapeOption, options.shapes))
    return 2;
  mlir::DialectRegistry registry;
  adze::registerImportDialects(registry);
  mlir::MLIRContext context(registry);
  // MLIR's own handler prints errors only.
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      return mlir::failure();
    bool isNote = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Note;
    llvm::errs() << (isNote ? "note: " : "warning: ") << diagnostic << "\n";
    return mlir::success();
  });
  if (check) {
    auto issues = adze::checkONNX(input, context, options).issues;
    for (const adze::ImportIssue &issue : issues)
      llvm::outs() << (issue.unsupported ? "unsupported: " : "error: ")
                   << issue.message << "\n";
    return issues.empty() ? 0 : 1;
  }
  adze::ImportStatus status;
  auto module = adze::importONNX(input, context, options, &status);
  if (mlir::failed(module))
    return status == adze::ImportStatus::Unsupported ? 3 : 1;
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(locations);
  if (!quiet)
    (*module)->print(llvm::outs(), flags);
  return 0;
}
