// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// libFuzzer target: any bytes as a model.
#include "Import/ONNX/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

/// A file in memory that the importer reads by its name.
static std::string writeFile(const uint8_t *data, size_t size, int &fd) {
  fd = memfd_create("model.onnx", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size))
    abort();
  return "/proc/self/fd/" + std::to_string(fd);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry registry;
    adze::registerImportDialects(registry);
    return registry;
  }();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  unsigned errors = 0;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &) {
    ++errors;
    return mlir::success();
  });
  int fd;
  std::string path = writeFile(data, size, fd);
  adze::ImportStatus status;
  bool done = mlir::succeeded(adze::importONNX(path, context, {}, &status));
  close(fd);
  // A refusal has a reason.
  if (done != (status == adze::ImportStatus::Done) || (!done && !errors))
    abort();
  return 0;
}
