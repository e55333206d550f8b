// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// libFuzzer target: arbitrary bytes as a model.
#include "Import/ONNX/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

/// A context is used for this many inputs, as its creation takes longer than
/// most imports.
static constexpr int kInputs = 64;

static mlir::MLIRContext &getContext(int input) {
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry registry;
    adze::registerImportDialects(registry);
    return registry;
  }();
  static std::unique_ptr<mlir::MLIRContext> context;
  if (input == 0)
    context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
  return *context;
}

/// A file in memory that the importer reads by its name. The name differs for
/// each input of a context, which caches mapped files by name.
static int writeFile(const uint8_t *data, size_t size, int input) {
  int fd = memfd_create("model.onnx", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size))
    abort();
  int file = fcntl(fd, F_DUPFD_CLOEXEC, 100 + input);
  if (file != 100 + input)
    abort();
  close(fd);
  return file;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int input = 0;
  mlir::MLIRContext &context = getContext(input);
  unsigned errors = 0;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &) {
    ++errors;
    return mlir::success();
  });
  int file = writeFile(data, size, input);
  input = (input + 1) % kInputs;
  adze::ImportStatus status;
  bool done = mlir::succeeded(adze::importONNX(
      "/proc/self/fd/" + std::to_string(file), context, {}, &status));
  close(file);
  // A rejection must have a reason.
  if (done != (status == adze::ImportStatus::Done) || (!done && !errors))
    abort();
  return 0;
}
