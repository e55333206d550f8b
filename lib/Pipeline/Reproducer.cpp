// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the IR before a pass that fails. MLIR copies it and adds the pipeline.
// Weights are removed here, as they may be large and confidential, and their
// temporary file will be deleted.
#include "Reproducer.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Support/OutputFile.h"
#include "Support/Version.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace adze {

/// Returns a splat constant of the first element, of the same type.
static std::optional<Attribute> sample(ElementsAttr elements) {
  ShapedType type = elements.getShapedType();
  if (elements.isSplat() || !type.hasStaticShape() ||
      !isa<graph::BlobElementsAttr, DenseElementsAttr>(elements) ||
      graph::getNumBytes(type) <= graph::kMaxDenseBytes)
    return std::nullopt;
  auto ignore = [&] { return InFlightDiagnostic(); };
  std::vector<char> storage;
  FailureOr<ArrayRef<char>> bytes =
      graph::readElements(elements, storage, ignore);
  size_t step = std::max<size_t>(1, type.getElementTypeBitWidth() / 8);
  std::vector<char> sampled(graph::getNumBytes(type));
  if (succeeded(bytes))
    for (size_t i = 0; i < sampled.size(); ++i)
      sampled[i] = (*bytes)[i % step];
  FailureOr<ElementsAttr> splat = graph::makeElements(type, sampled, ignore);
  return succeeded(splat) ? std::optional<Attribute>(*splat) : std::nullopt;
}

/// Replaces the constants of a printed module by splats. The pipeline that MLIR
/// printed after the module is not changed.
static std::string sampleText(StringRef text, MLIRContext *context) {
  size_t end = text.rfind("\n{-#");
  StringRef trailer = end == StringRef::npos ? "" : text.substr(end);
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) {});
  auto module = parseSourceString<ModuleOp>(
      text.drop_back(trailer.size()), ParserConfig(context, /*verify=*/false));
  if (!module)
    return text.str();
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [](ElementsAttr elements) { return sample(elements); });
  replacer.recursivelyReplaceElementsIn(*module);
  std::string result;
  llvm::raw_string_ostream os(result);
  module->print(os);
  os << "\n" << trailer;
  return result;
}

namespace {
/// Collects the output of MLIR, and writes the file at the end.
class Stream final : public ReproducerStream {
public:
  Stream(MLIRContext *context, std::string path, std::string command)
      : context(context), path(std::move(path)), command(std::move(command)),
        stream(text) {}

  ~Stream() override {
    llvm::consumeError(writeOutput(path, [&](llvm::raw_ostream &os) {
      os << "// " << getVersionLine() << "\n// " << command
         << "\n// The pass below failed on this module; run it by\n"
         << "//   aopt --run-reproducer FILE\n"
         << "// Constants of more than " << graph::kMaxDenseBytes
         << " bytes have their first element's value.\n"
         << sampleText(text, context);
      return llvm::Error::success();
    }));
  }

  StringRef description() override { return path; }
  llvm::raw_ostream &os() override { return stream; }

private:
  MLIRContext *context;
  std::string path, command, text;
  llvm::raw_string_ostream stream;
};
} // namespace

void captureReproducer(PassManager &manager, std::string path,
                       std::string command) {
  MLIRContext *context = manager.getContext();
  manager.enableCrashReproducerGeneration(
      [context, path = std::move(path),
       command = std::move(command)](std::string &) {
        return std::make_unique<Stream>(context, path, command);
      },
      /*genLocalReproducer=*/true);
}

} // namespace adze
