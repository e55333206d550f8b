// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// loops-emulate: lowers kernels of graph ops to loops for the GPU, runs them
// block by block on the CPU, and compares with their code for CPUs. Arguments
// lie against pages that fault, at the start and at the end in turn.
#include "Conversion/Passes.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Emulator.h"
#include "Guarded.h"
#include "InitAll.h"
#include "Pipeline/Stages.h"
#include "Target/CUDA/CompileKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace adze;
using namespace adze::test;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::desc("<file.mlir>"),
                                  cl::init("-"));
static cl::list<int64_t> givenSymbols("symbols", cl::CommaSeparated,
                                      cl::desc("values of the first symbols"));
static cl::opt<double>
    tolerance("tolerance", cl::desc("error allowed, relative to the range"),
              cl::init(1e-5));
static cl::opt<unsigned> seed("data-seed", cl::init(1));
static cl::opt<int64_t> limit("int-limit",
                              cl::desc("integers are in [-limit, limit]"),
                              cl::init(4));

/// The values of all symbols.
static SmallVector<int64_t> symbols(/*Size=*/32, /*Value=*/3);

namespace {
/// An argument of a kernel.
struct Argument {
  Type element;
  int64_t count = 1;
  std::vector<char> bytes;
  std::optional<unsigned> tiedTo; // in the memory of this one

  unsigned getWidth() const {
    return std::max(1u, element.getIntOrFloatBitWidth() / 8);
  }
};

/// A kernel's code for CPUs (KernelToLLVM.cpp).
struct Code {
  void (*body)(void *const *, const int64_t *, int64_t, int64_t, void *);
  int64_t (*programs)(const int64_t *);
  int64_t (*scratch)(const int64_t *);
};
} // namespace

static double decode(const Argument &argument, const char *bytes, int64_t i) {
  uint64_t bits = 0;
  unsigned width = argument.getWidth();
  memcpy(&bits, bytes + i * width, width);
  if (auto type = dyn_cast<FloatType>(argument.element))
    return APFloat(type.getFloatSemantics(), APInt(width * 8, bits))
        .convertToDouble();
  return double(int64_t(bits << (64 - width * 8)) >> (64 - width * 8));
}

static Argument makeArgument(func::FuncOp kernel, unsigned i,
                             std::mt19937 &random) {
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[i]);
  Argument argument;
  argument.element = type.getElementType();
  SmallVector<Attribute> values, sizes;
  for (int64_t s : symbols)
    values.push_back(IntegerAttr::get(IndexType::get(type.getContext()), s));
  if (auto dims = kernel.getArgAttrOfType<AffineMapAttr>(i, host::dimsAttr))
    (void)dims.getValue().constantFold(values, sizes);
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    argument.count *= ShapedType::isDynamic(size)
                          ? cast<IntegerAttr>(sizes[dim]).getInt()
                          : size;
  if (auto tied = kernel.getArgAttrOfType<IntegerAttr>(i, host::tiedAttr))
    argument.tiedTo = tied.getInt();
  unsigned width = argument.getWidth();
  argument.bytes.resize(argument.count * width);
  for (int64_t at = 0; at < argument.count; ++at) {
    uint64_t bits = int64_t(random() % (2 * limit + 1)) - limit;
    if (argument.element.isInteger(1))
      bits &= 1;
    if (auto type = dyn_cast<FloatType>(argument.element)) {
      APFloat number(double(int64_t(random() % 257) - 128) / 64);
      bool lost;
      number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                     &lost);
      bits = number.bitcastToAPInt().getZExtValue();
    }
    memcpy(argument.bytes.data() + at * width, &bits, width);
  }
  return argument;
}

/// Returns the pointers of the arguments in the buffers, which get their
/// contents.
static SmallVector<void *> fill(ArrayRef<Argument> arguments, bool atEnd,
                                std::vector<Guarded> &buffers) {
  SmallVector<void *> pointers;
  for (const Argument &argument : arguments) {
    buffers.emplace_back(argument.bytes.size(), atEnd);
    memcpy(buffers.back().data, argument.bytes.data(), argument.bytes.size());
    pointers.push_back(argument.tiedTo ? pointers[*argument.tiedTo]
                                       : buffers.back().data);
  }
  return pointers;
}

static bool compare(StringRef name, ArrayRef<Argument> arguments,
                    ArrayRef<void *> want, ArrayRef<void *> got,
                    double &worst) {
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    auto *left = static_cast<const char *>(want[number]),
         *right = static_cast<const char *>(got[number]);
    double range = 1e-30;
    for (int64_t i = 0; i < argument.count; ++i)
      if (double x = decode(argument, left, i); std::isfinite(x))
        range = std::max(range, std::fabs(x));
    for (int64_t i = 0; i < argument.count; ++i) {
      double x = decode(argument, left, i), y = decode(argument, right, i);
      bool isExact = !isa<FloatType>(argument.element) || !std::isfinite(x);
      bool isEqual = x == y || (std::isnan(x) && std::isnan(y));
      double error = isEqual   ? 0
                     : isExact ? INFINITY
                               : std::fabs(x - y) / range;
      worst = std::max(worst, error);
      if (error <= tolerance)
        continue;
      llvm::outs() << name << ": argument " << number << " differs at element "
                   << i << ": expected " << x << ", but got " << y << "\n";
      return false;
    }
  }
  return true;
}

static std::unique_ptr<llvm::orc::LLJIT> compileForCPU(ModuleOp module) {
  PassManager manager(module.getContext());
  StageOptions options;
  options.optLevel = 0;
  buildStage(Stage::Kernel, manager, options);
  if (failed(manager.run(module)))
    return nullptr;
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, *context);
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  code->setDataLayout(jit->getDataLayout());
  code->setTargetTriple(jit->getTargetTriple());
  llvm::cantFail(jit->addIRModule(
      llvm::orc::ThreadSafeModule(std::move(code), std::move(context))));
  return jit;
}

template <typename Function>
static Function *find(llvm::orc::LLJIT &jit, const std::string &name) {
  auto symbol = jit.lookup(name);
  if (symbol)
    return symbol->toPtr<Function *>();
  llvm::consumeError(symbol.takeError());
  return nullptr;
}

static Code findCode(llvm::orc::LLJIT &jit, const std::string &name) {
  using Body = std::remove_pointer_t<decltype(Code::body)>;
  using Formula = std::remove_pointer_t<decltype(Code::programs)>;
  return {find<Body>(jit, name), find<Formula>(jit, name + "_programs"),
          find<Formula>(jit, name + "_scratch")};
}

static bool runKernel(func::FuncOp kernel, LLVM::LLVMFuncOp entry,
                      llvm::orc::LLJIT &jit, Emulator &emulator) {
  std::string name = kernel.getName().str();
  std::mt19937 random(seed);
  std::vector<Argument> arguments;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    arguments.push_back(makeArgument(kernel, i, random));
  std::vector<Guarded> wanted;
  SmallVector<void *> want = fill(arguments, /*atEnd=*/false, wanted);
  Code code = findCode(jit, name);
  std::vector<int64_t> scratch(
      (code.scratch ? code.scratch(symbols.data()) : 0) / 8 + 16);
  void *aligned = reinterpret_cast<void *>(
      llvm::alignAddr(scratch.data(), llvm::Align(64)));
  code.body(want.data(), symbols.data(), 0, code.programs(symbols.data()),
            aligned);

  int64_t blocks = emulator.countPrograms(name, symbols.data());
  int64_t threads = entry->getAttrOfType<IntegerAttr>("adze.threads").getInt();
  double worst = 0;
  for (auto [atEnd, order] : {std::pair(false, ThreadOrder::forward),
                              std::pair(true, ThreadOrder::backward),
                              std::pair(false, ThreadOrder::shuffled)}) {
    std::vector<Guarded> buffers;
    SmallVector<void *> got = fill(arguments, atEnd, buffers);
    SmallVector<int64_t> passed;
    for (void *pointer : got)
      passed.push_back(reinterpret_cast<int64_t>(pointer));
    size_t numSymbols =
        entry->getAttrOfType<IntegerAttr>("adze.symbols").getInt();
    llvm::append_range(passed, ArrayRef(symbols).take_front(numSymbols));
    passed.push_back(blocks);
    for (int64_t block = 0; block < blocks; ++block) {
      std::string problem =
          emulator.run(entry.getName(), {threads}, block, passed, order);
      if (problem.empty())
        continue;
      llvm::outs() << name << ": " << problem << "\n";
      return false;
    }
    if (!compare(name, arguments, want, got, worst))
      return false;
  }
  llvm::outs() << name << ": " << blocks << " blocks of " << threads
               << " threads agree\n";
  llvm::errs() << name << ": largest error " << llvm::format("%.2g", worst)
               << "\n";
  return true;
}

/// Converts the kernels of graph ops to loops, for a device or for CPUs.
static OwningOpRef<ModuleOp> lower(ModuleOp module, Attribute target) {
  OwningOpRef<ModuleOp> lowered = module.clone();
  (*lowered)->removeAttr(tile::kTargetsAttribute);
  if (target)
    tile::setTargets(*lowered, target);
  PassManager manager(module.getContext());
  manager.addPass(createConvertGraphToLinalg());
  if (failed(manager.run(*lowered)))
    return nullptr;
  return lowered;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "graph kernels on an emulated GPU\n");
  llvm::copy(givenSymbols, symbols.begin());
  DialectRegistry registry;
  adze::registerAllDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  auto file = openInputFile(input);
  if (!file)
    return 1;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;
  context.loadAllAvailableDialects();
  // Of a whole model, the kernels.
  for (Operation &op : llvm::make_early_inc_range(module->getOps()))
    if (!op.hasAttr(host::kernelAttr))
      op.erase();
  cuda::CompileOptions options;
  options.target = llvm::cantFail(cuda::CudaTarget::resolve("cuda:sm_90a"));
  OwningOpRef<ModuleOp> forCPU = lower(*module, {}),
                        kernels =
                            lower(*module, options.target.getAttr(context));
  if (!forCPU || !kernels)
    return 1;
  std::unique_ptr<llvm::orc::LLJIT> jit = compileForCPU(*forCPU);
  OwningOpRef<ModuleOp> device = kernels->clone();
  PassManager manager(&context);
  cuda::buildLoopPipeline(manager, options);
  if (!jit || failed(manager.run(*device)))
    return 1;
  auto emulator = Emulator::create(*device);
  if (!emulator)
    return 1;
  bool good = true;
  for (auto kernel : kernels->getOps<func::FuncOp>()) {
    LLVM::LLVMFuncOp entry;
    device->walk([&](LLVM::LLVMFuncOp function) {
      if (function->getAttrOfType<StringAttr>("adze.kernel") ==
          kernel.getNameAttr())
        entry = function;
    });
    if (entry)
      good &= runKernel(kernel, entry, *jit, *emulator);
    else
      llvm::outs() << kernel.getName() << ": not converted\n", good = false;
  }
  return !good;
}
