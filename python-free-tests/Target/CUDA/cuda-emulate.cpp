// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// cuda-emulate: converts tile kernels for the GPU, runs them block by block on
// the CPU and compares with the interpreter. Arguments are adjacent to
// inaccessible pages, at their start (aligned) and at their end (not aligned)
// in turn.
#include "Conversion/Passes.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "EmulatedCopies.h"
#include "Emulator.h"
#include "Guarded.h"
#include "InitAll.h"
#include "TileInterpreter.h"
#include "adze_module.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"
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
static cl::opt<int64_t>
    limit("int-limit",
          cl::desc("integers are in [-limit, limit], and of their type"),
          cl::init(100));
static cl::opt<std::string> withoutEach(
    "without-each",
    cl::desc("also run without each operation that synchronises and whose name "
             "matches, which must fail"));

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
  int64_t most = limit;
  if (m.elementType.isInteger(8))
    most = std::min<int64_t>(most, INT8_MAX);
  for (int64_t i = 0, n = m.size(); i < n; ++i) {
    int64_t v = m.elementType.isInteger(1)
                    ? int64_t(random() & 1)
                    : int64_t(random() % (2 * most + 1)) - most;
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

/// A converted kernel.
struct Subject {
  explicit Subject(LLVM::LLVMFuncOp entry)
      : name(entry->getAttrOfType<StringAttr>("adze.kernel").str()),
        entry(entry.getName().str()),
        maps(entry->getAttrOfType<ArrayAttr>("adze.tensor_maps")) {
    auto getInt = [&](StringRef attribute, int64_t otherwise) {
      auto value = entry->getAttrOfType<IntegerAttr>(attribute);
      return value ? value.getInt() : otherwise;
    };
    shape.threads = getInt("adze.threads", 0);
    shape.sharedBytes = getInt("adze.shared_bytes", shape.sharedBytes);
    if (auto cluster = entry->getAttrOfType<DenseI32ArrayAttr>(
            NVVM::NVVMDialect::getClusterDimAttrName()))
      shape.blocks = cluster[0];
    mostShared = getInt("adze.most_shared", 1);
    packed = getInt("adze.packed_programs", 1);
    isPersistent = entry->hasAttr("adze.resident_blocks");
    isOrdered = entry->hasAttr("adze.ordered");
    hasFaults = maps || entry->hasAttr("adze.raises_faults");
    numSymbols = getInt("adze.symbols", 0);
  }

  std::string name, entry;
  ArrayAttr maps;
  LaunchShape shape;
  int64_t numSymbols, mostShared, packed;
  bool isPersistent, isOrdered, hasFaults;
};

/// The arguments before a run, and after one by the interpreter.
struct Arguments {
  std::vector<Memory> before, want;
  std::set<uint64_t> faults; ///< that are raised
  SmallVector<int64_t> symbols;
  ProgramCounts counts;
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

static std::optional<Arguments> makeArguments(tile::KernelOp kernel,
                                              int64_t numSymbols) {
  if (numSymbols > int64_t(symbols.size())) {
    kernel.emitError("expected values of ")
        << numSymbols << " symbols (--symbols), but got " << symbols.size();
    return std::nullopt;
  }
  std::mt19937 random(seed);
  int64_t nextSymbol = namedSymbols(kernel->getParentOfType<ModuleOp>());
  Arguments arguments;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    arguments.before.push_back(makeMemory(kernel, i, random, nextSymbol));
  arguments.want = arguments.before;
  arguments.symbols.assign(symbols.begin(), symbols.begin() + numSymbols);
  if (!interpret(kernel, arguments.want, arguments.symbols, arguments.faults))
    return std::nullopt;
  arguments.counts = countPrograms(kernel, arguments.before, arguments.symbols);
  return arguments;
}

/// Returns the first difference, or an empty string.
static std::string compareAll(ArrayRef<Memory> want, ArrayRef<Guarded> buffers,
                              double &worst) {
  std::string difference;
  for (auto [i, m, buffer] : llvm::enumerate(want, buffers)) {
    int64_t where = 0;
    double error = compare(m, buffer.data, where);
    worst = std::max(worst, error);
    if (error <= tolerance || !difference.empty())
      continue;
    bool isFloat = isa<FloatType>(m.elementType);
    double wanted = isFloat ? m.floats[where] : double(m.ints[where]),
           got = isFloat ? decodeFloat(m, buffer.data, where)
                         : double(decodeInt(m, buffer.data, where));
    llvm::raw_string_ostream(difference)
        << "argument " << i << " differs at element " << where << ", error "
        << llvm::format("%.2g", error) << ": expected " << wanted
        << ", but got " << got;
  }
  return difference;
}

/// Returns the maps of a kernel, in which addresses are those of the buffers.
static std::vector<TensorMap> makeMaps(Emulator &emulator,
                                       const Subject &subject,
                                       ArrayRef<int64_t> symbols,
                                       ArrayRef<Guarded> buffers) {
  std::vector<TensorMap> maps;
  if (!subject.maps)
    return maps;
  std::vector<int64_t> values(subject.maps.size() * ADZE_TENSOR_MAP_VALUES);
  emulator.getMapSizes(subject.name, symbols.data(), values.data());
  for (auto [i, row] :
       llvm::enumerate(subject.maps.getAsRange<DenseI64ArrayAttr>()))
    maps.emplace_back(buffers[row[0]].data, row.asArrayRef(),
                      &values[i * ADZE_TENSOR_MAP_VALUES]);
  return maps;
}

/// Runs all programs, each by `shared` blocks if these may share one. Returns
/// why the results are not those of the interpreter, or an empty string.
static std::string runOnce(Emulator &emulator, const Subject &subject,
                           const Arguments &arguments, int64_t shared,
                           ThreadOrder order, double &worst) {
  constexpr size_t mapAlign = 16;
  constexpr int64_t residentBlocks = 2;
  bool atEnd = order == ThreadOrder::backward;
  std::vector<Guarded> buffers;
  SmallVector<int64_t> passed;
  for (const Memory &m : arguments.before) {
    size_t bytes = m.size() * widthOf(m.elementType);
    // The run time copies tensors that are not aligned.
    buffers.emplace_back(subject.maps ? llvm::alignTo(bytes, mapAlign) : bytes,
                         atEnd);
    encode(m, buffers.back().data);
    passed.push_back(reinterpret_cast<int64_t>(buffers.back().data));
  }
  int64_t blocks =
      emulator.countPrograms(subject.name, arguments.symbols.data());
  // The blocks of a cluster compute one program, or a group of programs that
  // loop over their steps.
  const ProgramCounts &counts = arguments.counts;
  int64_t expected = counts.steps && !subject.isOrdered
                         ? counts.programs / counts.steps
                         : llvm::divideCeil(counts.programs, subject.packed) *
                               subject.shape.blocks;
  if (blocks != expected)
    return llvm::formatv("expected {0} blocks, but got {1}", expected, blocks);
  passed.append(arguments.symbols);
  passed.push_back(subject.isOrdered ? 0 : blocks);
  std::vector<TensorMap> maps =
      makeMaps(emulator, subject, arguments.symbols, buffers);
  constexpr uint64_t mostFaults = 8;
  adze_fault records[mostFaults] = {};
  if (subject.hasFaults)
    passed.push_back(reinterpret_cast<int64_t>(records));
  for (const TensorMap &map : maps) {
    if (std::string problem = map.findProblem(); !problem.empty())
      return problem;
    passed.push_back(reinterpret_cast<int64_t>(&map));
  }
  LaunchShape shape = subject.shape;
  shape.blocks *= shared;
  shape.gridBlocks = blocks * shared;
  if (subject.isPersistent && shared == 1)
    shape.gridBlocks = std::min(blocks, residentBlocks);
  for (int64_t i = 0; i < shape.gridBlocks / shape.blocks; ++i)
    if (std::string problem =
            emulator.run(subject.entry, shape, i, passed, order);
        !problem.empty())
      return problem;
  for (uint64_t fault = 0; fault < mostFaults; ++fault)
    if (bool(records[fault].raised) != bool(arguments.faults.count(fault)))
      return llvm::formatv("fault {0} is {1}", fault,
                           records[fault].raised ? "raised" : "not raised");
  return compareAll(arguments.want, buffers, worst);
}

/// Runs all programs in several orders of their threads.
static std::string runKernel(Emulator &emulator, const Subject &subject,
                             const Arguments &arguments, double &worst) {
  for (int64_t shared = 1; shared <= subject.mostShared; shared *= 2)
    for (ThreadOrder order :
         {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled})
      if (std::string problem =
              runOnce(emulator, subject, arguments, shared, order, worst);
          !problem.empty())
        return problem;
  return "";
}

static bool testKernel(Emulator &emulator, const Subject &subject,
                       const Arguments &arguments) {
  double worst = 0;
  std::string problem = runKernel(emulator, subject, arguments, worst);
  if (!problem.empty())
    llvm::outs() << subject.name << ": " << problem << "\n";
  llvm::outs() << subject.name << ": " << arguments.counts.programs
               << " programs of "
               << subject.shape.blocks * subject.shape.threads / subject.packed
               << " threads " << (problem.empty() ? "agree" : "DIFFER");
  for (uint64_t fault : arguments.faults)
    llvm::outs() << ", fault " << fault;
  llvm::outs() << "\n";
  llvm::errs() << subject.name << ": largest error "
               << llvm::format("%.2g", worst) << "\n";
  return problem.empty();
}

//===--- synchronisation --------------------------------------------------===//

/// Returns true for operations without which a kernel has a race, or waits
/// forever.
static bool synchronizes(Operation *op) {
  return isa<gpu::BarrierOp, NVVM::BarrierOp, NVVM::BarrierArriveOp,
             NVVM::SyncWarpOp, NVVM::ClusterWaitOp, NVVM::MBarrierInitOp,
             NVVM::MBarrierArriveOp, NVVM::MBarrierArriveExpectTxOp,
             NVVM::MBarrierTryWaitParityOp, NVVM::FenceMbarrierInitOp,
             NVVM::FenceProxyOp, NVVM::WgmmaFenceAlignedOp,
             NVVM::WgmmaGroupSyncAlignedOp, NVVM::WgmmaWaitGroupSyncOp,
             NVVM::CpAsyncBulkCommitGroupOp, NVVM::CpAsyncBulkWaitGroupOp,
             NVVM::CpAsyncCommitGroupOp, NVVM::CpAsyncWaitGroupOp>(op);
}

/// Runs the kernel without each of its synchronising operations in turn, and
/// states how the emulator notices that one is missing.
static bool testWithoutEach(ModuleOp device, const Subject &subject,
                            const Arguments &arguments) {
  bool good = true;
  llvm::StringMap<unsigned> numbers;
  auto collect = [&](ModuleOp from) {
    SmallVector<Operation *> found;
    from.walk([&](LLVM::LLVMFuncOp function) {
      if (function.getName() == subject.entry)
        function.walk([&](Operation *op) {
          if (synchronizes(op) &&
              llvm::Regex(withoutEach).match(op->getName().getStringRef()))
            found.push_back(op);
        });
    });
    return found;
  };
  for (auto [i, op] : llvm::enumerate(collect(device))) {
    OwningOpRef<ModuleOp> less = device.clone();
    collect(*less)[i]->erase();
    auto emulator = Emulator::create(*less);
    double worst = 0;
    std::string problem =
        emulator ? runKernel(*emulator, subject, arguments, worst) : "";
    good &= !problem.empty();
    StringRef name = op->getName().getStringRef();
    llvm::outs() << subject.name << ": without " << name << " "
                 << numbers[name]++ << ": "
                 << (problem.empty() ? "NOT NOTICED" : problem) << "\n";
  }
  return good;
}

/// Tests all kernels of the module.
static bool testModule(ModuleOp module) {
  // The kernels of a whole model.
  for (Operation &op : llvm::make_early_inc_range(module.getOps()))
    if (!isa<tile::KernelOp>(op))
      op.erase();
  PassManager specialize(module.getContext());
  tile::TileSpecializeOptions bind;
  bind.params = params;
  bind.target = "cuda";
  specialize.addPass(tile::createTileSpecialize(bind));
  if (failed(specialize.run(module)))
    return false;
  OwningOpRef<ModuleOp> device = module.clone();
  PassManager convert(module.getContext());
  ConvertTileToGPUOptions options;
  options.threads = threads;
  convert.addPass(tile::createTileFuseSteps());
  convert.addPass(createConvertTileToGPU(options));
  if (failed(convert.run(*device)))
    return false;
  std::vector<Subject> subjects;
  device->walk([&](LLVM::LLVMFuncOp function) {
    if (function->hasAttr("adze.kernel"))
      subjects.emplace_back(function);
  });
  auto emulator = Emulator::create(*device);
  if (!emulator)
    return false;
  bool good = subjects.size() ==
              size_t(llvm::range_size(module.getOps<tile::KernelOp>()));
  for (const Subject &subject : subjects) {
    std::optional<Arguments> arguments = makeArguments(
        module.lookupSymbol<tile::KernelOp>(subject.name), subject.numSymbols);
    good &= arguments.has_value();
    if (!arguments)
      continue;
    good &= testKernel(*emulator, subject, *arguments);
    if (!withoutEach.empty())
      good &= testWithoutEach(*device, subject, *arguments);
  }
  return good;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "tile kernels on an emulated GPU\n");
  DialectRegistry registry;
  adze::registerAllDialects(registry);
  auto file = openInputFile(input);
  if (!file)
    return 1;
  auto testChunk = [&](std::unique_ptr<llvm::MemoryBuffer> chunk,
                       raw_ostream &) {
    MLIRContext context(registry);
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(std::move(chunk), llvm::SMLoc());
    SourceMgrDiagnosticHandler handler(sources, &context);
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
    return success(module && testModule(*module));
  };
  return failed(
      splitAndProcessBuffer(std::move(file), testChunk, llvm::outs()));
}
