// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// cuda-compile: compiles tile kernels to PTX; with --assemble, prints the
// output of ptxas. For lit tests.
#include "InitAll.h"
#include "Target/CUDA/CompileKernels.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::desc("<file.mlir>"),
                                  cl::init("-"));
static cl::opt<std::string> output("o", cl::desc("where PTX or the cubin goes"),
                                   cl::init("-"));
static cl::opt<std::string> target("target", cl::desc("CUDA target"),
                                   cl::init("cuda:sm_90a"));
static cl::opt<bool>
    assembleIt("assemble",
               cl::desc("run ptxas; -o gets the cubin, stdout its report"));
static cl::opt<bool>
    printSymbols("print-symbols",
                 cl::desc("print the symbols that each kernel reads"));
static cl::opt<bool> noToolkit("no-toolkit",
                               cl::desc("as if there were no CUDA toolkit"));

static LogicalResult write(StringRef bytes, StringRef path) {
  std::string problem;
  auto file = openOutputFile(path, &problem);
  if (!file)
    return llvm::errs() << problem << "\n", failure();
  file->os() << bytes;
  file->keep();
  return success();
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "tile kernels to PTX\n");
  DialectRegistry registry;
  adze::registerAllDialects(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  auto file = openInputFile(input);
  if (!file)
    return 1;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  auto resolved = adze::cuda::CudaTarget::resolve(target);
  if (!module || !resolved) {
    if (!resolved)
      llvm::errs() << llvm::toString(resolved.takeError()) << "\n";
    return 1;
  }
  adze::cuda::CompileOptions options;
  options.target = *resolved;
  if (!noToolkit)
    options.toolkit = adze::cuda::Toolkit::find();
  options.forcePTX = !assembleIt;
  adze::cuda::CompiledImage image;
  if (failed(adze::cuda::compileKernels(*module, options, image)))
    return 1;
  for (const adze::cuda::CompiledKernel &kernel : image.kernels)
    if (!image.isPTX)
      llvm::outs() << kernel.entry << ": " << kernel.registers << " registers, "
                   << kernel.spillBytes << " bytes spilled, "
                   << kernel.sharedBytes << " bytes shared, "
                   << kernel.blockThreads << " threads\n";
  for (const adze::cuda::CompiledKernel &kernel : image.kernels) {
    if (!printSymbols)
      break;
    llvm::outs() << "// " << kernel.entry << " reads symbols";
    for (unsigned i = 0; i < std::min(kernel.numSymbols, 63u); ++i)
      if (kernel.symbolsRead >> i & 1)
        llvm::outs() << " " << i;
    llvm::outs() << "\n";
  }
  StringRef bytes = image.bytes;
  if (image.isPTX)
    bytes.consume_back(StringRef("\0", 1));
  if (!image.isPTX && output == "-")
    return 0;
  return failed(write(bytes, output));
}
