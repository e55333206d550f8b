// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// cuda-emulate: converts tile kernels for the GPU, runs them block by block on
// the CPU and compares with the interpreter. Arguments are adjacent to
// inaccessible pages, at their start (aligned) and at their end (not aligned)
// in turn.
#include "Conversion/Passes.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "Emulator.h"
#include "Guarded.h"
#include "InitAll.h"
#include "TileInterpreter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include <random>

using namespace mlir;
using namespace adze;
using namespace adze::test;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::desc("<file.mlir>"),
                                  cl::init("-"));
static cl::list<int64_t> symbols("symbols", cl::CommaSeparated,
                                 cl::desc("values of the symbols"));
static cl::opt<std::string> params("params",
                                   cl::desc("bindings for tile-specialize"));
static cl::opt<int64_t> threads("block-threads",
                                cl::desc("threads a block, 0: chosen"),
                                cl::init(0));
static cl::opt<double>
    tolerance("tolerance", cl::desc("error allowed, relative to the range"),
              cl::init(2e-5));
static cl::opt<unsigned> seed("data-seed", cl::init(1));
static cl::opt<int64_t> limit("int-limit",
                              cl::desc("integers are in [-limit, limit]"),
                              cl::init(100));

static unsigned widthOf(Type t) {
  if (isa<IndexType>(t))
    return 8;
  return std::max(1u, t.getIntOrFloatBitWidth() / 8);
}

static void encode(const Memory &m, char *to) {
  unsigned width = widthOf(m.elementType);
  for (int64_t i = 0, n = m.size(); i < n; ++i) {
    if (auto type = dyn_cast<FloatType>(m.elementType)) {
      APFloat v(m.floats[i]);
      bool lost;
      v.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      uint64_t bits = v.bitcastToAPInt().getZExtValue();
      memcpy(to + i * width, &bits, width);
    } else {
      memcpy(to + i * width, &m.ints[i], width);
    }
  }
}

static double decodeFloat(const Memory &m, const char *from, int64_t i) {
  unsigned width = widthOf(m.elementType);
  uint64_t bits = 0;
  memcpy(&bits, from + i * width, width);
  return APFloat(cast<FloatType>(m.elementType).getFloatSemantics(),
                 APInt(width * 8, bits))
      .convertToDouble();
}

static int64_t decodeInt(const Memory &m, const char *from, int64_t i) {
  unsigned width = widthOf(m.elementType);
  int64_t bits = 0;
  memcpy(&bits, from + i * width, width);
  return int64_t(uint64_t(bits) << (64 - width * 8)) >> (64 - width * 8);
}

/// Random contents; the element type represents the floats exactly.
static Memory makeMemory(tile::KernelOp kernel, unsigned arg,
                         std::mt19937 &random, int64_t &nextSymbol) {
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[arg]);
  Memory m;
  m.elementType = type.getElementType();
  auto dims = kernel.getArgAttrOfType<AffineMapAttr>(arg, "adze.dims");
  SmallVector<Attribute> values, sizes;
  for (int64_t s : symbols)
    values.push_back(IntegerAttr::get(IndexType::get(type.getContext()), s));
  if (dims)
    (void)dims.getValue().constantFold(values, sizes);
  for (auto [d, s] : llvm::enumerate(type.getShape()))
    m.shape.push_back(!ShapedType::isDynamic(s) ? s
                      : dims ? cast<IntegerAttr>(sizes[d]).getInt()
                             : symbols[nextSymbol++]);
  m.physical = m.shape;
  if (!type.getLayout().isIdentity()) {
    m.map = type.getLayout().getAffineMap();
    m.physical.clear();
    for (AffineExpr e : m.map.getResults()) {
      auto bin = dyn_cast<AffineBinaryOpExpr>(e);
      int64_t extent =
          m.shape[cast<AffineDimExpr>(bin ? bin.getLHS() : e).getPosition()];
      int64_t c = bin ? cast<AffineConstantExpr>(bin.getRHS()).getValue() : 1;
      m.physical.push_back(!bin ? extent
                           : bin.getKind() == AffineExprKind::Mod
                               ? c
                               : (extent + c - 1) / c);
    }
  }
  bool isFloat = isa<FloatType>(m.elementType);
  for (int64_t i = 0, n = m.size(); i < n; ++i) {
    int64_t v = m.elementType.isInteger(1)
                    ? int64_t(random() & 1)
                    : int64_t(random() % (2 * limit + 1)) - limit;
    if (isFloat)
      m.floats.push_back(int64_t(random() % 257 - 128) / 64.0);
    else
      m.ints.push_back(v);
  }
  return m;
}

/// The largest error relative to the range of `want`; infinite if one is NaN.
static double compare(const Memory &want, const char *got, int64_t &where) {
  double worst = 0, range = 1e-30;
  for (double v : want.floats)
    if (std::isfinite(v))
      range = std::max(range, std::fabs(v));
  for (int64_t i = 0, n = want.size(); i < n; ++i) {
    double error = 0;
    if (isa<FloatType>(want.elementType)) {
      double a = want.floats[i], b = decodeFloat(want, got, i);
      if (std::isnan(a) != std::isnan(b) || std::isinf(a) != std::isinf(b) ||
          (std::isinf(a) && a != b))
        error = INFINITY;
      else if (std::isfinite(a))
        error = std::fabs(a - b) / range;
    } else if (int64_t v = decodeInt(want, got, i);
               want.elementType.isInteger(1) ? (v ^ want.ints[i]) & 1
                                             : v != want.ints[i]) {
      error = INFINITY;
    }
    if (error > worst)
      worst = error, where = i;
  }
  return worst;
}

struct Subject {
  std::string name, entry;
  Emulator::Shape shape;
  int64_t numSymbols;
};

/// Symbols in adze.dims; those of other dynamic dimensions follow.
static int64_t namedSymbols(ModuleOp module) {
  int64_t named = 0;
  for (auto kernel : module.getOps<tile::KernelOp>())
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      if (auto dims = kernel.getArgAttrOfType<AffineMapAttr>(i, "adze.dims"))
        named = std::max<int64_t>(named, dims.getValue().getNumSymbols());
  return named;
}

static bool runKernel(Emulator &emulator, const Subject &subject,
                      tile::KernelOp kernel) {
  std::mt19937 random(seed);
  int64_t nextSymbol = namedSymbols(kernel->getParentOfType<ModuleOp>());
  std::vector<Memory> before;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    before.push_back(makeMemory(kernel, i, random, nextSymbol));
  std::vector<Memory> want = before;
  if (!interpret(kernel, want))
    return false;
  SmallVector<int64_t> values(symbols.begin(), symbols.end());
  values.resize(subject.numSymbols);
  int64_t blocks = emulator.countPrograms(subject.name, values.data()),
          programs = blocks / subject.shape.blocks;
  if (programs != countPrograms(kernel, before)) {
    llvm::outs() << subject.name << ": expected "
                 << countPrograms(kernel, before) << " programs, but got "
                 << programs << "\n";
    return false;
  }
  double worst = 0;
  for (auto [atEnd, order] : {std::pair(false, ThreadOrder::forward),
                              std::pair(true, ThreadOrder::backward),
                              std::pair(false, ThreadOrder::shuffled)}) {
    std::vector<Guarded> buffers;
    SmallVector<int64_t> arguments;
    for (Memory &m : before) {
      buffers.emplace_back(m.size() * widthOf(m.elementType), atEnd);
      encode(m, buffers.back().data);
      arguments.push_back(reinterpret_cast<int64_t>(buffers.back().data));
    }
    arguments.append(values);
    arguments.push_back(blocks);
    for (int64_t i = 0; i < programs; ++i)
      if (!emulator.runBlock(subject.entry, subject.shape, i, arguments, order))
        return false;
    for (auto [i, m, buffer] : llvm::enumerate(want, buffers)) {
      int64_t where = 0;
      double error = compare(m, buffer.data, where);
      worst = std::max(worst, error);
      if (error > tolerance)
        llvm::outs() << subject.name << ": argument " << i
                     << " differs at element " << where << ", error "
                     << llvm::format("%.2g", error)
                     << (isa<FloatType>(m.elementType)
                             ? llvm::formatv(": expected {0}, but got {1}",
                                             m.floats[where],
                                             decodeFloat(m, buffer.data, where))
                                   .str()
                             : llvm::formatv(": expected {0}, but got {1}",
                                             m.ints[where],
                                             decodeInt(m, buffer.data, where))
                                   .str())
                     << "\n";
    }
  }
  llvm::outs() << subject.name << ": " << programs << " programs of "
               << subject.shape.blocks * subject.shape.threads << " threads "
               << (worst <= tolerance ? "agree" : "DIFFER") << "\n";
  llvm::errs() << subject.name << ": largest error "
               << llvm::format("%.2g", worst) << "\n";
  return worst <= tolerance;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "tile kernels on an emulated GPU\n");
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
  if (!module)
    return 1;
  // The kernels of a whole model.
  for (Operation &op : llvm::make_early_inc_range(module->getOps()))
    if (!isa<tile::KernelOp>(op))
      op.erase();
  PassManager specialize(&context);
  tile::TileSpecializeOptions bind;
  bind.params = params;
  bind.target = "cuda";
  specialize.addPass(tile::createTileSpecialize(bind));
  if (failed(specialize.run(*module)))
    return 1;
  OwningOpRef<ModuleOp> device = module->clone();
  PassManager convert(&context);
  ConvertTileToGPUOptions options;
  options.threads = threads;
  convert.addPass(createConvertTileToGPU(options));
  if (failed(convert.run(*device)))
    return 1;
  std::vector<Subject> subjects;
  device->walk([&](LLVM::LLVMFuncOp f) {
    if (auto kernel = f->getAttrOfType<StringAttr>("adze.kernel")) {
      auto cluster = f->getAttrOfType<DenseI32ArrayAttr>("nvvm.cluster_dim");
      subjects.push_back(
          {kernel.str(),
           f.getName().str(),
           {f->getAttrOfType<IntegerAttr>("adze.threads").getInt(),
            cluster ? cluster[0] : 1},
           llvm::count_if(f.getArgumentTypes(), [](Type t) {
             return t.isInteger(64);
           }) - 1});
    }
  });
  auto emulator = Emulator::create(*device);
  if (!emulator)
    return 1;
  bool good = subjects.size() ==
              size_t(llvm::range_size(module->getOps<tile::KernelOp>()));
  for (const Subject &subject : subjects)
    good &= runKernel(*emulator, subject,
                      module->lookupSymbol<tile::KernelOp>(subject.name));
  return !good;
}
