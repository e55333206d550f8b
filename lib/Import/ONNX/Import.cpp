// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The public functions.
#include "Import/ONNX/Import.h"
#include "Importer.h"
#include "mlir/IR/Diagnostics.h"

using namespace adze;
using namespace adze::importer;

/// More than these are not told at once; --check lists all.
static constexpr size_t kMaxErrors = 10;

void adze::registerImportDialects(mlir::DialectRegistry &registry) {
  registry.insert<graph::GraphDialect, mlir::func::FuncDialect>();
}

mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
adze::importONNX(llvm::StringRef path, mlir::MLIRContext &context,
                 ImportOptions options, ImportStatus *status) {
  Importer importer(path, &context, options);
  importer.run();
  if (status)
    *status = ImportStatus::Done;
  if (importer.issues.empty())
    return std::move(importer.module);
  bool allUnsupported = true;
  auto loc = mlir::UnknownLoc::get(&context);
  for (auto [i, issue] : llvm::enumerate(importer.issues)) {
    allUnsupported &= issue.unsupported;
    if (i < kMaxErrors)
      mlir::emitError(loc, issue.message);
  }
  if (importer.issues.size() > kMaxErrors)
    mlir::emitRemark(loc) << (importer.issues.size() - kMaxErrors)
                          << " more; --check lists all";
  if (status)
    *status =
        allUnsupported ? ImportStatus::Unsupported : ImportStatus::InputAtFault;
  return mlir::failure();
}

std::vector<ImportIssue> adze::checkONNX(llvm::StringRef path,
                                         mlir::MLIRContext &context,
                                         ImportOptions options) {
  Importer importer(path, &context, options);
  importer.run();
  return std::move(importer.issues);
}
