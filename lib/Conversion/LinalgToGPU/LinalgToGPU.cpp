// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// convert-linalg-to-gpu: kernels of the reference path to entries of the
// gpu.module.
#include "BlockLoops.h"
#include "Conversion/ByteLookupToLLVM/ByteLookupToLLVM.h"
#include "Conversion/HostToLLVM/FaultRecords.h"
#include "Conversion/HostToLLVM/KernelMemory.h"
#include "Conversion/Passes.h"
#include "Conversion/TileToGPU/EntryTable.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Faults.h"
#include "LoopNest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace adze {
#define GEN_PASS_DEF_CONVERTLINALGTOGPU
#include "Conversion/Passes.h.inc"
} // namespace adze

using namespace mlir;
using namespace adze;
using namespace adze::togpu;

/// The most bytes of memory that a thread has for itself. The driver reserves
/// them for all threads that a device can run at a time.
static constexpr int64_t localLimit = 1024;
static constexpr int64_t sharedAlign = 128;

namespace {
/// How the iterations of a kernel are distributed.
enum class Form {
  Threads, // an iteration for each thread
  Blocks,  // an iteration for each block of threads
  Block    // one block of threads
};

/// Converts one kernel.
class KernelConversion {
public:
  KernelConversion(func::FuncOp kernel, EntryTable &table, int64_t sharedLimit,
                   const LLVMTypeConverter &types);

  /// Creates the entry, or returns the reason why there is none.
  std::string run();

private:
  std::string getSharedSymbol() const { return name + "_shared"; }
  void chooseForm();
  std::string makePrograms();
  void moveBody(LLVM::LLVMFuncOp entry);
  void distributeThreads(Block &block, LLVM::LLVMFuncOp entry);
  void distributeBlock(Block &block);
  std::string placeAllocations(LLVM::LLVMFuncOp entry);

  func::FuncOp kernel;
  EntryTable &table;
  int64_t numSymbols, sharedLimit;
  const LLVMTypeConverter &types;
  SmallVector<AffineMap> dims;
  Form form = Form::Block;
  int64_t threads = 0;
  std::string name;
  std::optional<BlockLoops> team;
};
} // namespace

static StringRef getFormName(Form form) {
  switch (form) {
  case Form::Threads:
    return "a thread for each iteration";
  case Form::Blocks:
    return "a block of threads for each iteration";
  case Form::Block:
    return "one block of threads";
  }
  llvm_unreachable("unknown form");
}

/// Returns the reason why a kernel cannot be converted, or an empty string.
static std::string findObstacle(func::FuncOp kernel) {
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref || !memref.getLayout().isIdentity() ||
        !memref.getElementType().isIntOrIndexOrFloat())
      return "expected arguments that are dense memory of numbers";
    if (!memref.hasStaticShape() &&
        !kernel.getArgAttrOfType<AffineMapAttr>(index, host::dimsAttr))
      return "expected sizes of arguments that are expressions of symbols";
  }
  if (!kernel.getBody().hasOneBlock())
    return "expected structured control flow";
  std::string why;
  kernel.walk([&](Operation *op) {
    auto check = dyn_cast<tile::CheckOp>(op);
    if (check && !check.getPositions().getType().isIndex())
      why = "expected checks of single positions";
    else if (isa<tile::PrintOp>(op))
      why = "expected no tile.print, which prints on CPUs";
    else if (isa<func::CallOp>(op))
      why = "expected no calls";
    else if (isa<memref::GetGlobalOp>(op))
      why = "expected no constants in memory of the module";
    for (Type type : op->getResultTypes())
      if (auto memref = dyn_cast<MemRefType>(type);
          memref && isa<memref::AllocOp, memref::AllocaOp>(op) &&
          !memref.hasStaticShape())
        why = "expected scratch memory of a static size";
  });
  return why;
}

static int64_t getBytes(MemRefType type) {
  return type.getNumElements() * getElementBytes(type);
}

/// Returns the bytes of all static allocations in the kernel.
static int64_t getScratchBytes(func::FuncOp kernel) {
  int64_t bytes = 0;
  kernel.walk([&](Operation *op) {
    if (isa<memref::AllocOp, memref::AllocaOp>(op))
      bytes += getBytes(cast<MemRefType>(op->getResult(0).getType()));
  });
  return bytes;
}

KernelConversion::KernelConversion(func::FuncOp kernel, EntryTable &table,
                                   int64_t sharedLimit,
                                   const LLVMTypeConverter &types)
    : kernel(kernel), table(table), numSymbols(countNamedSymbols(kernel)),
      sharedLimit(sharedLimit), types(types) {
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    auto map = kernel.getArgAttrOfType<AffineMapAttr>(i, host::dimsAttr);
    dims.push_back(map ? map.getValue() : AffineMap());
  }
}

/// Returns the nest around all effects of the block.
static std::optional<LoopNest> findOnlyNest(Block &block) {
  SmallVector<Operation *> writers = getWriters(block);
  if (writers.size() != 1)
    return std::nullopt;
  for (Operation &op : block.without_terminator())
    if (&op != writers.front() && !isMemoryEffectFree(&op) &&
        !isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp>(op))
      return std::nullopt;
  return LoopNest::find(writers.front());
}

/// Rounds up to whole warps.
static int64_t limitThreads(int64_t wanted, int64_t most) {
  constexpr int64_t warp = 32;
  return std::clamp<int64_t>(llvm::alignTo(wanted, warp), warp, most);
}

void KernelConversion::chooseForm() {
  constexpr int64_t threadsOfGrid = 256, threadsOfBlock = 512;
  std::optional<LoopNest> nest = findOnlyNest(kernel.front());
  if (nest && !hasIndependentLoop(nest->getBody()) &&
      getScratchBytes(kernel) <= localLimit) {
    form = Form::Threads;
    threads = limitThreads(nest->getStaticCount().value_or(threadsOfGrid),
                           threadsOfGrid);
    return;
  }
  form = nest ? Form::Blocks : Form::Block;
  Block &body = nest ? nest->getBody() : kernel.front();
  threads =
      limitThreads(BlockLoops::getMostIterations(body).value_or(threadsOfBlock),
                   threadsOfBlock);
}

/// Creates the function that returns the number of blocks of threads.
std::string KernelConversion::makePrograms() {
  Location loc = kernel.getLoc();
  LLVM::LLVMFuncOp function = table.makePrograms(loc, kernel.getName());
  OpBuilder b(kernel.getContext());
  b.setInsertionPointToEnd(function.addEntryBlock(b));
  Value blocks = arith::ConstantIndexOp::create(b, loc, 1);
  if (form != Form::Block) {
    LoopNest nest = *findOnlyNest(kernel.front());
    SizeCloner cloner(b, kernel, dims,
                      Formula(b, loc, function.getArgument(0)));
    SmallVector<Value> counts = nest.emitCounts(b, [&](Value bound) {
      FailureOr<Value> size = cloner.clone(bound);
      return succeeded(size) ? *size : Value();
    });
    if (counts.empty()) {
      function.erase();
      return "expected loops over sizes that are expressions of symbols";
    }
    blocks = multiply(b, loc, counts);
  }
  if (form == Form::Threads)
    blocks = b.createOrFold<arith::CeilDivUIOp>(
        loc, blocks, arith::ConstantIndexOp::create(b, loc, threads));
  LLVM::ReturnOp::create(b, loc, castToI64(b, loc, blocks));
  return "";
}

/// Replaces the arguments of the kernel by memrefs in the entry, and moves its
/// body there.
void KernelConversion::moveBody(LLVM::LLVMFuncOp entry) {
  Location loc = kernel.getLoc();
  OpBuilder b(kernel.getContext());
  Block *block = entry.addEntryBlock(b);
  b.setInsertionPointToEnd(block);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Formula formula(
      b, loc,
      block->getArguments().slice(kernel.getNumArguments(), numSymbols));
  for (BlockArgument argument : kernel.getArguments()) {
    unsigned i = argument.getArgNumber();
    Value address =
        LLVM::AddrSpaceCastOp::create(b, loc, pointer, block->getArgument(i));
    FailureOr<Value> memref =
        buildMemRef(b, loc, cast<MemRefType>(argument.getType()), address,
                    dims[i], formula, types);
    argument.replaceAllUsesWith(*memref);
  }
  kernel.walk([&](host::SizeOp op) {
    Value size = formula.emit(op.getValue().getResult(0));
    op.replaceAllUsesWith(castToIndex(b, loc, size));
    op.erase();
  });
  kernel.walk([](memref::DeallocOp op) { op.erase(); });
  kernel.walk([](Operation *op) { setAccuracy(op, /*isNarrow=*/false); });
  kernel.front().getTerminator()->erase();
  block->getOperations().splice(block->end(), kernel.front().getOperations());
  b.setInsertionPointToEnd(block);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

/// Each thread runs one iteration of the only nest. As no thread reads what
/// others write, LLVM may assume that arguments do not overlap, except those of
/// tied results.
void KernelConversion::distributeThreads(Block &block, LLVM::LLVMFuncOp entry) {
  unsigned numArguments = kernel.getNumArguments();
  auto isTied = [&](unsigned i) {
    return kernel.getArgAttr(i, host::tiedAttr);
  };
  if (llvm::none_of(llvm::seq(numArguments), isTied))
    for (unsigned i = 0; i < numArguments; ++i)
      entry.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                       UnitAttr::get(kernel.getContext()));
  LoopNest nest = *findOnlyNest(block);
  OpBuilder b(nest.getOuter());
  Location loc = kernel.getLoc();
  SmallVector<Value> counts =
      nest.emitCounts(b, [](Value bound) { return bound; });
  Value size = arith::ConstantIndexOp::create(b, loc, threads);
  Value number = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  number = arith::MulIOp::create(b, loc, number, size);
  number = arith::AddIOp::create(
      b, loc, number, gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x));
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                       number, multiply(b, loc, counts));
  auto branch = scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  nest.inlineIteration(b, number, counts);
}

void KernelConversion::distributeBlock(Block &block) {
  Location loc = kernel.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(&block);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  if (form == Form::Blocks) {
    LoopNest nest = *findOnlyNest(block);
    b.setInsertionPoint(nest.getOuter());
    SmallVector<Value> counts =
        nest.emitCounts(b, [](Value bound) { return bound; });
    nest.inlineIteration(b, gpu::BlockIdOp::create(b, loc, gpu::Dimension::x),
                         counts);
  }
  team.emplace(thread, threads);
  team->distribute(block);
}

/// Places allocations in the shared memory of the block, or, if a thread has
/// its own, in local memory. Returns the reason if they are too large.
std::string KernelConversion::placeAllocations(LLVM::LLVMFuncOp entry) {
  SmallVector<Operation *> allocations;
  entry.walk([&](Operation *op) {
    if (isa<memref::AllocOp, memref::AllocaOp>(op))
      allocations.push_back(op);
  });
  int64_t local = 0, shared = 0;
  Location loc = kernel.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(&entry.getBody().front());
  Type byte = b.getI8Type();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  std::string symbol = getSharedSymbol();
  for (Operation *op : allocations) {
    auto type = cast<MemRefType>(op->getResult(0).getType());
    Value place;
    if (!team || team->isOfOneThread(op)) {
      local += getBytes(type);
      place = memref::AllocaOp::create(b, loc, type);
    } else {
      Value address = LLVM::AddrSpaceCastOp::create(
          b, loc, pointer,
          LLVM::AddressOfOp::create(
              b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), symbol));
      address = LLVM::GEPOp::create(b, loc, pointer, byte, address,
                                    ArrayRef<LLVM::GEPArg>{int32_t(shared)});
      shared += llvm::alignTo(getBytes(type), sharedAlign);
      place = buildMemRef(b, loc, type, address, ValueRange(), types);
    }
    op->getResult(0).replaceAllUsesWith(place);
    op->erase();
  }
  if (local > localLimit)
    return "expected at most " + std::to_string(localLimit) +
           " bytes of scratch memory a thread, but got " +
           std::to_string(local);
  if (shared > sharedLimit)
    return "expected at most " + std::to_string(sharedLimit) +
           " bytes of scratch memory, but got " + std::to_string(shared);
  entry->setAttr("adze.shared_bytes", b.getI64IntegerAttr(shared));
  return "";
}

/// Stores records of faults for positions out of range.
static void lowerChecks(LLVM::LLVMFuncOp entry) {
  SmallVector<tile::CheckOp> checks;
  entry.walk([&](tile::CheckOp check) { checks.push_back(check); });
  if (checks.empty())
    return;
  OpBuilder b = OpBuilder::atBlockBegin(&entry.getBody().front());
  Value faults = makeFaults(b, entry);
  for (tile::CheckOp check : checks) {
    b.setInsertionPoint(check);
    raiseOutside(b, check, check.getPositions(), check.getExtent(), faults);
    check.erase();
  }
}

std::string KernelConversion::run() {
  if (std::string why = findObstacle(kernel); !why.empty())
    return why;
  chooseForm();
  name = table.chooseName(kernel.getName());
  // The body moves from a copy, as a host program may launch the kernel.
  func::FuncOp original = kernel;
  LLVM::LLVMFuncOp entry =
      table.make(kernel, name, {numSymbols, threads, /*numMaps=*/0});
  kernel = original.clone();
  moveBody(entry);
  kernel.erase();
  kernel = original;
  Block &block = entry.getBody().front();
  if (form == Form::Threads)
    distributeThreads(block, entry);
  else
    distributeBlock(block);
  lowerChecks(entry);
  std::string why = placeAllocations(entry);
  if (why.empty())
    why = makePrograms();
  entry->setAttr("adze.loops",
                 StringAttr::get(kernel.getContext(), getFormName(form)));
  if (Attribute reason = kernel->getAttr(host::refusalAttr))
    entry->setAttr(host::refusalAttr, reason);
  if (!why.empty())
    entry.erase();
  else if (entry->getAttrOfType<IntegerAttr>("adze.shared_bytes").getInt())
    table.addShared(entry, getSharedSymbol(), sharedAlign);
  return why;
}

namespace {
struct ConvertLinalgToGPUPass final
    : adze::impl::ConvertLinalgToGPUBase<ConvertLinalgToGPUPass> {
  using ConvertLinalgToGPUBase::ConvertLinalgToGPUBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    LowerToLLVMOptions options(&getContext());
    options.overrideIndexBitwidth(64);
    LLVMTypeConverter types(&getContext(), options);
    EntryTable table(module);
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, module);
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (kernel->hasAttr(host::kernelAttr) && !kernel.isExternal() &&
          !module.lookupSymbol(table.getProgramsName(kernel.getName())))
        convert(kernel, table, types, users);
    table.finish();
    lowerDeviceByteLookups(module);
  }

  void convert(func::FuncOp kernel, EntryTable &table,
               const LLVMTypeConverter &types, const SymbolUserMap &users) {
    KernelConversion conversion(kernel, table, sharedLimit, types);
    if (std::string why = conversion.run(); !why.empty()) {
      kernel.emitRemark("kernel stays on the host: ") << why;
      kernel->setAttr(host::refusalAttr, StringAttr::get(&getContext(), why));
      ++numRefused;
      return;
    }
    ++numKernels;
    if (users.useEmpty(kernel))
      kernel.erase();
  }
};
} // namespace
